import type { Chains } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { FloorError } from '../../../domain/book-floors.ts';
import { OPERATOR_FLOAT, refundCoveredEntry, refundEntry } from '../../../domain/books.ts';
import type { RefundHold } from '../../../domain/refund.ts';
import type { Screening } from '../../../screening/screening.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { findOutgoing } from '../../../store/money/outgoing.ts';
import {
  findCoverable,
  findRefund,
  lockFreeRefund,
  postponeRefund,
  type Refund,
  replanRefund,
} from '../../../store/money/refunds.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { eachIsolated } from '../../each-isolated.ts';
import { intermediateInForce } from '../../own-accounts.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { accountOfFloats, type Lack, lackText, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order/order-outgoing.ts';
import { alertOfHold, alertOfWait } from './alert-of-wait.ts';
import { type HeldCover, HOLD_TEXTS, takeHeld } from './held-cover.ts';
import { aboutRefund, moveRefund } from './move-refund.ts';
import { shareOfPayment } from './plan-refund.ts';
import { screenRefund } from './screen-refund.ts';
import { isForgotten } from './signed/forgotten-refund.ts';

const MAX_COVERED = 200;
/** The time until an uncovered refund is checked again. A change of the payment's money checks it earlier. */
const CHECK_AGAIN_MS: Readonly<Record<RefundHold | 'funds' | 'books', number>> = {
  position: 1_000,
  sweep: 10_000,
  debt: 60_000,
  arrival: 60_000,
  funds: 10_000,
  books: 60_000,
};

type CoverDeps = CommandDeps & RowKeyDeps & SubjectKeyDeps & { readonly screening: Screening; readonly chains: Chains };

/** Covers refunds from held amounts and floats, and sends the covered refunds. Returns true if there are more to cover. */
export async function coverRefunds(deps: CoverDeps): Promise<boolean> {
  const ids = await findCoverable(deps.db.sql, { limit: MAX_COVERED, now: new Date(deps.world.clock.nowMs()) });
  await eachIsolated(
    ids,
    async (id) => {
      await command(deps, (tx, now) => cover(tx, deps, id, now));
      deps.world.crashPoint?.('refund.covered');
    },
    (id, error) => {
      if (!(error instanceof FloorError)) throw error;
      return command(deps, (tx, now) => holdUnheld(tx, deps.registry, id, now));
    },
  );
  return ids.length === MAX_COVERED;
}

/** Covers a refund completely or not at all: a float that covers only a part is left for refunds that it covers completely. */
async function cover(tx: Tx, deps: CoverDeps, id: string, at: Date): Promise<void> {
  await shareFreezes(tx, deps);
  const found = await findRefund(tx, id);
  // The payment is locked before the refund, as in every database transaction that locks both.
  const [payment] = await lockPayments(tx, found === undefined ? [] : [found.paymentId]);
  const refund = await lockFreeRefund(tx, { id, now: at });
  if (payment === undefined || (refund?.state !== 'requested' && refund?.state !== 'awaiting_funds')) return;
  // An outgoing row means that the merchant's account was asked to sign. That request must expire before a float pays.
  if ((await findOutgoing(tx, id)) !== undefined || (await isForgotten(tx, deps, refund, at))) return;
  if (await screenRefund(tx, deps.registry, deps.screening, { refund, actor: 'payer-out', at })) {
    await deleteAlert(tx, { name: 'refund_awaiting_funds', subject: id });
    return;
  }
  const held = await holdFor(tx, refund, payment);
  if (held.is === 'waiting') {
    await hold(tx, deps.registry, refund, held.for, at);
    return;
  }
  const planned = await replan(tx, deps, refund, held);
  const taken = await takeFromFloats(
    tx,
    {
      network: planned.network,
      asset: planned.asset,
      subject: planned.id,
      payer: planned.account,
      kind: 'covered',
      parts: [
        { owner: planned.merchantId, units: BigInt(planned.fromMerchant) },
        { owner: OPERATOR_FLOAT, units: BigInt(planned.fromOperator) },
      ],
    },
    at,
  );
  if (taken.ok) await send(tx, deps, planned, at);
  else await wait(tx, deps.registry, { refund: planned, before: refund, missing: taken.missing }, at);
}

async function holdFor(tx: Tx, refund: Refund, payment: Payment): Promise<HeldCover> {
  const { id, amount, fee } = refund;
  const item = await findPayingItem(tx, payment.id);
  // A deep reorg removed the paying item. The relayer sends the item again.
  if (item === undefined) return { is: 'waiting', for: 'arrival' };
  const paid = shareOfPayment(payment, item).amount;
  return takeHeld(tx, { id, payment, item, paid, share: { amount: BigInt(amount), fee: BigInt(fee) } });
}

/**
 * Plans the refund again: the part that lots pay now, and the account that pays. That is the account of the lots, or else of the floats,
 * or else the present intermediate account. The operator's float keeps the part that an operator assigned to it, as far as needed.
 */
async function replan(
  tx: Tx,
  deps: CoverDeps,
  refund: Refund,
  held: Extract<HeldCover, { is: 'covered' }>,
): Promise<Refund> {
  const fee = BigInt(refund.fee);
  const rest = BigInt(refund.amount) - fee - held.units;
  const given = BigInt(refund.fromOperator) - fee;
  const byOperator = given < rest ? given : rest;
  const parts = [
    { owner: refund.merchantId, units: rest - byOperator },
    { owner: OPERATOR_FLOAT, units: fee + byOperator },
  ];
  const connected = deps.chains.find(refund.network);
  const account =
    held.spends[0]?.account ??
    (connected && (await accountOfFloats(tx, connected, { asset: refund.asset, parts }))) ??
    (await intermediateInForce(tx, deps, refund.network)) ??
    refund.account;
  const isSame = account === refund.account && held.units === BigInt(refund.fromHeld);
  if (isSame && refund.waitsFor === null) return refund;
  const planned = {
    ...refund,
    fromHeld: held.units.toString(),
    fromMerchant: (rest - byOperator).toString(),
    fromOperator: (fee + byOperator).toString(),
    account,
    waitsFor: null,
  };
  await replanRefund(tx, refund.id, planned);
  return planned;
}

/** Postpones a refund whose held part cannot be taken yet. No money is missing, so its alert names the cause of the wait. */
async function hold(tx: Tx, registry: Registry, refund: Refund, waitsFor: RefundHold, at: Date): Promise<void> {
  const { id } = refund;
  await postponeRefund(tx, { id, waitsFor, checkAt: new Date(at.getTime() + CHECK_AGAIN_MS[waitsFor]) });
  // No alert, because the position is computed within seconds.
  if (waitsFor === 'position' || (refund.state === 'awaiting_funds' && refund.waitsFor === waitsFor)) return;
  const evidence = { waitsFor };
  const problem = HOLD_TEXTS[waitsFor];
  await moveRefund(tx, { ...refund, waitsFor }, { event: 'short', actor: 'payer-out', evidence, problem }, at);
  await alertOfHold(tx, registry, refund, problem, at);
}

const UNHELD = 'the books hold less of its money than its records say';

/** Postpones a refund whose lots or floats contain money that never came. It waits for a person. */
async function holdUnheld(tx: Tx, registry: Registry, id: string, at: Date): Promise<void> {
  const found = await findRefund(tx, id);
  await lockPayments(tx, found === undefined ? [] : [found.paymentId]);
  const refund = await lockFreeRefund(tx, { id, now: at });
  if (refund?.state !== 'requested' && refund?.state !== 'awaiting_funds') return;
  await postponeRefund(tx, { id, waitsFor: null, checkAt: new Date(at.getTime() + CHECK_AGAIN_MS.books) });
  if (refund.state === 'awaiting_funds' && refund.problem === UNHELD) return;
  const event = { event: 'short', actor: 'payer-out', evidence: { problem: 'not_held' }, problem: UNHELD } as const;
  await moveRefund(tx, { ...refund, waitsFor: null }, event, at);
  await alertOfHold(tx, registry, refund, UNHELD, at);
}

async function send(tx: Tx, deps: RowKeyDeps, refund: Refund, at: Date): Promise<void> {
  const { id, network, asset, method, account, recipient, merchantId, fromHeld, fromMerchant, fromOperator } = refund;
  const evidence = { held: fromHeld, merchantFloat: fromMerchant, operatorFloat: fromOperator };
  await moveRefund(tx, refund, { event: 'covered', actor: 'payer-out', evidence }, at);
  const amount = BigInt(refund.amount);
  const outgoing = { id, purpose: 'refund', network, asset, method, payer: account, recipient, amount } as const;
  const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], at);
  if (begun.length !== 1) throw new Error('A refund is on its way already.');
  const taken = { payable: BigInt(fromHeld), merchantFloat: BigInt(fromMerchant), operatorFloat: BigInt(fromOperator) };
  const about = aboutRefund(refund);
  await recordEntries(tx, [refundCoveredEntry(about, taken), refundEntry('sent', about, amount)], at);
  await deleteAlert(tx, { name: 'refund_awaiting_funds', subject: id });
}

interface Short {
  readonly refund: Refund;
  readonly before: Refund;
  readonly missing: readonly Lack[];
}

async function wait(tx: Tx, registry: Registry, { refund, before, missing }: Short, at: Date): Promise<void> {
  const checkAt = new Date(at.getTime() + CHECK_AGAIN_MS.funds);
  await postponeRefund(tx, { id: refund.id, waitsFor: null, checkAt });
  const isKnown = before.waitsFor === null && before.fromHeld === refund.fromHeld;
  if (before.state === 'awaiting_funds' && isKnown) return;
  const problem = lackText(registry, refund.asset, missing);
  const evidence = { missing: missing.map(({ owner }) => owner) };
  await moveRefund(tx, refund, { event: 'short', actor: 'payer-out', evidence, problem }, at);
  await alertOfWait(tx, registry, refund, problem, at);
}
