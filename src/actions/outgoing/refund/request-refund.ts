import { tokenText } from '../../../chains/amount-text.ts';
import type { Chains } from '../../../chains/chains.ts';
import { destinationProblem } from '../../../chains/destinations.ts';
import type { Registry } from '../../../chains/registry.ts';
import { storedUnit, tokenUnitId } from '../../../chains/units.ts';
import type { Account } from '../../../domain/caip.ts';
import { MAX_REFUNDS } from '../../../domain/ids.ts';
import { symbolText } from '../../../domain/money.ts';
import { type AskedShare, planShare, type Share } from '../../../domain/refund.ts';
import { ApiError, validationError } from '../../../errors.ts';
import { NO_SCREENING, type Screening } from '../../../screening/screening.ts';
import { findPayingItem, type StoredItem } from '../../../store/chain/items.ts';
import { findRefundsOf, type Refund } from '../../../store/money/refunds.ts';
import { findStopped } from '../../../store/parties/freezes.ts';
import { findPayments, lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type Answer, type CommandDeps, type IdempotentRequest, idempotentCommand } from '../../command.ts';
import { refuseOwnPlaces } from '../../parties/refuse-own-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { openRefund } from './move-refund.ts';
import { planRefund, shareLeft, shareOfPayment } from './plan-refund.ts';
import { findFreeNumber, findRefundable, type Refundable } from './refundable.ts';
import { screenRefund } from './screen-refund.ts';

export interface RequestRefundInput {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly actor: string;
  /** The amount to refund; undefined for all that is left. The unit is in canonical spelling, the value in minor units. */
  readonly amount?: { readonly unit: string; readonly value: bigint } | undefined;
  /** The account that gets the refund; undefined for the account that paid. */
  readonly destination?: Account | undefined;
  readonly reason?: string | undefined;
  /** The cooling-off period of a refund to an account other than the payer's. */
  readonly coolingOffMs?: number;
  /** True if an operator requests the refund. Only operators may refund payments of a suspended or frozen merchant. */
  readonly isOperators: boolean;
  /**
   * Throws if the caller may not have this much of the payment refunded. The total is in the unit of the price, and includes
   * earlier refunds.
   */
  readonly approve?: (total: { readonly unit: string; readonly value: bigint }) => void;
}

export interface Requested {
  readonly refund: Refund;
  readonly payment: Payment;
  /** The part of the payment that is left after this refund. */
  readonly refundable: Refundable | null;
  /** True if this refund alone returns the whole payment. */
  readonly isWhole: boolean;
}

type RequestDeps = CommandDeps & RowKeyDeps & { readonly chains: Chains };

/**
 * Accepts a refund of a payment, or of a part of it. The payment's row is locked, so concurrent requests cannot take more than is left.
 * The held part is taken in the same database transaction: from then on it cannot be paid out. Workers cover and send the refund.
 */
export function requestRefund(
  deps: RequestDeps & { readonly screening: Screening },
  input: RequestRefundInput,
  request: IdempotentRequest | undefined,
  answer: (requested: Requested) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const { actor, isOperators, reason = null } = input;
    const [payment] = await lockPayments(tx, [input.paymentId]);
    if (payment === undefined || payment.merchantId !== input.merchantId) throw paymentNotFound();
    if (payment.status !== 'succeeded') {
      throw new ApiError('payment_not_succeeded', 'Only a payment that has succeeded can be refunded.');
    }
    if (!isOperators && (await findStopped(tx, [input.merchantId])).size > 0) throw leftToOperator();
    const item = await findPayingItem(tx, payment.id);
    if (item === undefined) throw takenBack();
    const refunds = await findRefundsOf(tx, [payment.id]);
    const whole = shareOfPayment(payment, item);
    const left = shareLeft(whole, refunds);
    if (left.amount === 0n) throw new ApiError('already_refunded', 'The payment was refunded before.');
    const free = await findFreeNumber(tx, refunds);
    if (free === undefined) throw tooMany();
    const share = shareFor(deps.registry, { payment, item, whole, left }, input.amount);
    input.approve?.({ unit: payment.amountUnit, value: whole.price - left.price + share.price });
    const recipient = recipientOf(deps, item, input.destination);
    if (input.destination !== undefined) {
      await refuseOwnPlaces(tx, deps, [{ field: 'destination', account: input.destination }]);
    }
    const floatAccount = (network: string) => floatAccountOf(deps.chains, network);
    const isRedirected = recipient !== item.payer && !isOperators;
    const sendAfter = isRedirected ? new Date(now.getTime() + (input.coolingOffMs ?? 0)) : null;
    const plan = { payment, item, number: free.number, share, recipient, reason, isOperators, sendAfter, floatAccount };
    const planned = await planRefund(tx, deps, plan);
    const opened = await openRefund(tx, planned, { vetoed: free.vetoed, actor, at: now });
    // A node of the previous version inserts refunds without checking numbers, so the number may be taken.
    if (opened === undefined) throw new ApiError('already_refunded', 'The payment was refunded before.');
    const { id, paymentId, asset, amount, state } = opened;
    const detail = { before: null, after: { paymentId, asset, amount, recipient, state, ...(reason && { reason }) } };
    await appendAudit(tx, { at: now, actor, action: 'refund.requested', subject: id, detail });
    const refund = await screenRefund(tx, deps.registry, deps.screening, {
      refund: opened,
      actor: 'screening',
      at: now,
    });
    const refundable = await findRefundable(tx, payment);
    return answer({ refund: refund ?? opened, payment, refundable, isWhole: share.amount === whole.amount });
  });
}

/**
 * Requests a refund of the rest of a payment in the name of an operator, also while the merchant is suspended or frozen. Workers screen
 * the recipient before they send the refund.
 */
export async function requestAsOperator(
  deps: RequestDeps,
  { paymentId, actor }: { readonly paymentId: string; readonly actor: string },
): Promise<string> {
  const [payment] = await findPayments(deps.db.sql, [paymentId]);
  if (payment === undefined) throw paymentNotFound();
  const input = { paymentId, merchantId: payment.merchantId, actor, isOperators: true };
  const { body } = await requestRefund({ ...deps, screening: NO_SCREENING }, input, undefined, ({ refund }) => ({
    status: 200,
    body: refund.id,
  }));
  return String(body);
}

interface Divided {
  readonly payment: Payment;
  readonly item: StoredItem;
  readonly whole: Share;
  readonly left: Share;
}

/** The requested part of the payment. Throws if more is requested than is left, and names the amount that is left. */
function shareFor(
  registry: Registry,
  { payment, item, whole, left }: Divided,
  amount: RequestRefundInput['amount'],
): Share {
  const { amountUnit, amountDecimals } = payment;
  const asked = askedShare({ payment, item }, amount);
  const plan = planShare(whole, left, asked);
  if (plan.ok) return plan.share;
  if (plan.problem === 'rounds_to_nothing') {
    throw wrong('amount.value', `is less than the smallest unit of the paid asset, ${item.asset}`);
  }
  const isPriced = amount?.unit === amountUnit;
  const { symbol, decimals } = storedUnit(registry, amountUnit, amountDecimals);
  const text = isPriced
    ? symbolText({ units: left.price, decimals }, symbol)
    : tokenText(registry, item.asset, left.amount);
  const units = isPriced ? left.price : left.amount;
  throw wrong('amount.value', `is more than is left of the payment: ${units} (${text})`);
}

function askedShare(
  { payment, item }: Pick<Divided, 'payment' | 'item'>,
  amount: RequestRefundInput['amount'],
): AskedShare {
  if (amount === undefined) return 'all';
  const { unit, value } = amount;
  if (unit === payment.amountUnit) return { unit: 'price', value };
  const paidUnit = tokenUnitId(item.asset);
  if (unit === paidUnit) return { unit: 'asset', value };
  throw wrong('amount.unit', `must be the unit of the price, ${payment.amountUnit}, or the paid asset, ${paidUnit}`);
}

function recipientOf(deps: RequestDeps, { network, asset, payer, method }: StoredItem, destination?: Account): string {
  if (destination === undefined && method === 'deposit') {
    throw wrong('destination', 'is required: the payment was sent to an address, and its sender may be an exchange');
  }
  if (destination === undefined) return payer;
  if (destination.chainId !== network)
    throw wrong('destination', `must be an account on ${network}, the chain of the payment`);
  const problem = destinationProblem(deps, destination, asset);
  if (problem !== undefined) throw wrong('destination', problem);
  return destination.address;
}

/** The account that holds the floats: the configured intermediate account. */
function floatAccountOf(chains: Chains, network: string): string {
  const connected = chains.find(network);
  if (connected === undefined) {
    throw new ApiError('internal_error', 'The network of the payment is not connected.', UNAVAILABLE);
  }
  return connected.intermediateAccount;
}

function wrong(field: string, message: string): ApiError {
  return validationError([{ field, message }]);
}

function tooMany(): ApiError {
  return new ApiError('invalid_state', `The payment has ${MAX_REFUNDS} refunds, and cannot have more.`);
}

function leftToOperator(): ApiError {
  return new ApiError('forbidden', 'The merchant is suspended or frozen: only the operator can refund its payments.');
}

function takenBack(): ApiError {
  const message = 'A reorganisation of the chain took the transfer that paid the payment. It is being sent again.';
  return new ApiError('invalid_state', message);
}

const UNAVAILABLE = { status: 503, retryAfterS: 60 };

function paymentNotFound(): ApiError {
  return new ApiError('payment_not_found', 'The payment was not found.');
}
