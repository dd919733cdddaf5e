import type { Chains } from '../../../chains/chains.ts';
import { outgoingId } from '../../../domain/ids.ts';
import { coverOf } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { NO_SCREENING, type Screening } from '../../../screening/screening.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { takeForRefund } from '../../../store/money/payouts.ts';
import type { NewRefund } from '../../../store/money/refunds.ts';
import { findStopped } from '../../../store/parties/freezes.ts';
import { findPayments, lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type Answer, type CommandDeps, type IdempotentRequest, idempotentCommand } from '../../command.ts';
import { openRefund } from './move-refund.ts';
import { screenRefund } from './screen-refund.ts';

export interface RequestRefundInput {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly actor: string;
  /** True if an operator requests it, who alone may refund payments of a suspended or frozen merchant. */
  readonly isOperators: boolean;
}

/**
 * Accepts a full refund of a payment to the account that paid. The payment's row is locked, so of many requests at once
 * the first is taken and the others see it. The held amount of the payment is claimed in the same transaction: from
 * then on it cannot be paid out. Workers do the rest.
 */
export function requestRefund(
  deps: CommandDeps & { chains: Chains; screening: Screening },
  input: RequestRefundInput,
  request: IdempotentRequest | undefined,
  answer: (paymentId: string) => Answer,
) {
  return idempotentCommand(deps, request, async (tx, now) => {
    const [payment] = await lockPayments(tx, [input.paymentId]);
    if (payment === undefined || payment.merchantId !== input.merchantId) throw paymentNotFound();
    if (payment.status !== 'succeeded') {
      throw new ApiError('payment_not_succeeded', 'Only a payment that has succeeded can be refunded.');
    }
    const { isOperators } = input;
    if (!isOperators && (await findStopped(tx, [input.merchantId])).size > 0) throw leftToOperator();
    const refund = await refundOf(deps, tx, payment, now);
    const opened = await openRefund(tx, { ...refund, isOperators }, { actor: input.actor, at: now });
    if (opened === undefined) throw new ApiError('already_refunded', 'The payment was refunded before.');
    const { id, paymentId, asset, amount, recipient } = refund;
    const detail = { before: null, after: { paymentId, asset, amount, recipient, state: opened.state } };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'refund.requested', subject: id, detail });
    await screenRefund(tx, deps.screening, { refund: opened, actor: 'screening', at: now });
    return answer(payment.id);
  });
}

/** Requests a refund for an operator, also while the merchant is suspended or frozen. Workers screen the payer before they send it. */
export async function requestAsOperator(
  deps: CommandDeps & { chains: Chains },
  { paymentId, actor }: { readonly paymentId: string; readonly actor: string },
): Promise<void> {
  const [payment] = await findPayments(deps.db.sql, [paymentId]);
  if (payment === undefined) throw paymentNotFound();
  const input = { paymentId, merchantId: payment.merchantId, actor, isOperators: true };
  await requestRefund({ ...deps, screening: NO_SCREENING }, input, undefined, () => ({ status: 200, body: null }));
}

async function refundOf(
  deps: { chains: Chains },
  tx: Tx,
  payment: Payment,
  now: Date,
): Promise<Omit<NewRefund, 'isOperators'>> {
  const item = await findPayingItem(tx, payment.id);
  if (item === undefined) throw new Error('A succeeded payment has no item that paid it.');
  const { network, asset, method, payer, amount } = item;
  // A held amount that is on its way to the merchant is the merchant's: then floats pay.
  const isHeld = await takeForRefund(tx, payment.id, now);
  const cover = coverOf({ amount: BigInt(amount), fee: BigInt(item.fee), isHeld });
  return {
    id: outgoingId('rfnd_', payment.id),
    paymentId: payment.id,
    merchantId: payment.merchantId,
    network,
    asset,
    method,
    recipient: payer,
    amount,
    fromHeld: cover.held.toString(),
    fromMerchant: cover.merchant.toString(),
    fromOperator: cover.operator.toString(),
    account: isHeld ? item.recipient : floatAccount(deps.chains, network),
  };
}

/** Floats are on the configured account. A held amount is on the account it arrived at. */
function floatAccount(chains: Chains, network: string): string {
  const connected = chains.find(network);
  if (connected === undefined) {
    throw new ApiError('internal_error', 'The network of the payment is not connected.', UNAVAILABLE);
  }
  return connected.intermediateAccount;
}

function leftToOperator(): ApiError {
  return new ApiError('forbidden', 'The merchant is suspended or frozen: only the operator can refund its payments.');
}

const UNAVAILABLE = { status: 503, retryAfterS: 60 };

function paymentNotFound(): ApiError {
  return new ApiError('payment_not_found', 'The payment was not found.');
}
