import type { ChainEvent } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { ACCOUNTS } from '../../../domain/books.ts';
import { mostFeesOf } from '../../../domain/deposit.ts';
import { findPaidEvent } from '../../../store/chain/chain-events.ts';
import { findDeposit } from '../../../store/chain/deposits.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { findMerchantsOf } from '../../../store/events/events.ts';
import { positionsOf } from '../../../store/money/books.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { findRefundsOf, type Refund } from '../../../store/money/refunds.ts';
import { findUnexpected } from '../../../store/money/unexpected-money.ts';
import type { CommandDeps } from '../../command.ts';
import { subjectOfEvent } from '../../event-subject.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { paymentOfOutgoing } from '../order/about-outgoing.ts';
import { isOrdered } from '../order/order-outgoing.ts';
import { isOwnRefund } from '../refund/refund-rows.ts';
import { checkReturn } from '../return/check-return.ts';
import { isMixedCoin } from '../return/unexpected-entries.ts';
import { type Check, refused } from './check.ts';
import { checkLots, checkReceipt, checkSweeps } from './check-lots.ts';

/** The event by which the Collector reports that an item was carried out. */
type PaidEvent = Extract<ChainEvent, { type: 'paid' }>;

type CheckDeps = Pick<CommandDeps, 'db' | 'registry'> & RowKeyDeps & SubjectKeyDeps;

/**
 * Checks a transfer before it is signed, because write access to the database must not suffice to spend money. The order of the transfer
 * must have a valid MAC. The reason of the order (lots, a refund or a return) must have the same terms. The books must have set the
 * amount aside and not paid it yet. The chain must show the payment that brought the money.
 */
export async function checkOutgoing(deps: CheckDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<Check> {
  if (!isOrdered(deps, outgoing)) return refused('its row was not written by this gateway, or was changed');
  const isBooked = await isSetAside(deps, outgoing);
  if (!isBooked) return refused('the books have not set this amount aside for it, or have paid it before');
  if (outgoing.purpose === 'return') return checkReturn(deps, connected, outgoing);
  const paymentId = paymentOfOutgoing(outgoing);
  const merchants = await findMerchantsOf(deps.db.sql, paymentId);
  if (merchants.some((merchant) => merchant !== outgoing.merchantId)) {
    return refused('its payment belongs to another merchant');
  }
  if (outgoing.purpose === 'payout') {
    return checkLots(deps, connected, { outgoing, paymentId, units: BigInt(outgoing.amount) });
  }
  const refunds = await findRefundsOf(deps.db.sql, [paymentId]);
  const refund = refunds.find(({ id }) => id === outgoing.id);
  if (!isRefund(refund, outgoing)) return refused('it differs from the refund that was requested');
  // A recipient other than the payer must have been named in the request for the refund. The refund's MAC proves that.
  const isRedirected = refund !== undefined && isOwnRefund(deps, refund);
  const sent = refunds.filter(({ state }) => state === 'sending' || state === 'refunded');
  const total = sent.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const held = await checkLots(deps, connected, { outgoing, paymentId, units: BigInt(refund?.fromHeld ?? '0') });
  if (held.is !== 'good') return held;
  return checkPayment(
    deps,
    connected,
    outgoing,
    (event) =>
      total <= event.amount && (isRedirected || isSameAddress(outgoing.network, event.payer, outgoing.recipient)),
  );
}

/** True if the books show the amount as outgoing: neither arrived nor given up. */
async function isSetAside({ db }: CheckDeps, { id, payer, amount, purpose }: Outgoing): Promise<boolean> {
  const lines = (await positionsOf(db.sql, [id])).get(id) ?? [];
  const ways: readonly string[] = [ACCOUNTS.outgoing, ACCOUNTS.relayerOutgoing(payer)];
  if (lines.some(({ account, units }) => ways.includes(account) && units === BigInt(amount))) return true;
  const [unexpected] = purpose === 'return' ? await findUnexpected(db.sql, [id]) : [];
  // Unexpected tokens on a relayer's account have no book entries, so the state of their row decides.
  return (
    unexpected !== undefined && !unexpected.isBooked && !isMixedCoin(unexpected) && unexpected.state === 'returning'
  );
}

function isRefund(refund: Refund | undefined, outgoing: Outgoing): boolean {
  return (
    refund?.state === 'sending' &&
    refund.network === outgoing.network &&
    refund.asset === outgoing.asset &&
    refund.account === outgoing.payer &&
    refund.recipient === outgoing.recipient &&
    refund.amount === outgoing.amount &&
    refund.merchantId === outgoing.merchantId
  );
}

/** Asks the chain for the payment that must be the reason for the refund. */
async function checkPayment(
  deps: CheckDeps,
  { chain }: ConnectedChain,
  outgoing: Outgoing,
  isReason: (event: PaidEvent) => boolean,
): Promise<Check> {
  const { sql } = deps.db;
  const paymentId = paymentOfOutgoing(outgoing);
  const isOfPayment = (event: ChainEvent): event is PaidEvent =>
    event.type === 'paid' &&
    event.asset === outgoing.asset &&
    subjectOfEvent(deps, chain.payerSide, event) === paymentId;
  const item = await findPayingItem(sql, paymentId);
  const deposit = await findDeposit(sql, { paymentId, asset: outgoing.asset });
  if (deposit !== undefined && (item === undefined || item.key === deposit.item.key)) {
    const { commitment, item: terms } = deposit;
    // The sweep may have left its fee at the deposit address, so only the net amount must be swept.
    const amount = BigInt(outgoing.amount);
    const units = amount - mostFeesOf(terms, amount);
    return checkSweeps(deps, chain, { ...outgoing, network: terms.network, commitment, units, isNet: false });
  }
  const event = item && (await findPaidEvent(sql, item));
  if (event === undefined) return refused('no event on the chain is known that paid its payment');
  return checkReceipt(deps, chain, {
    event,
    outgoing,
    isMatch: (reported) => isOfPayment(reported) && isReason(reported),
  });
}
