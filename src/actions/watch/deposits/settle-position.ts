import type { RegistryDeps } from '../../../chains/registry.ts';
import { unitsOfWeight } from '../../../chains/weight.ts';
import type { Fact } from '../../../domain/money/fact.ts';
import { holdingsOf } from '../../../domain/money/holding.ts';
import { type FinalTimes, judge, position } from '../../../domain/money/judge.ts';
import { chooseSweeps, type PayoutRules } from '../../../domain/money/money-out.ts';
import { bookedPosition, type Posting, positionEntries } from '../../../domain/money/position-entries.ts';
import type { Ending, Lot, PaidEnding } from '../../../domain/money/terms.ts';
import { isFinal } from '../../../domain/payment.ts';
import { listPlacesToCheckOf } from '../../../store/chain/deposit-places.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { findSpendsOf, itemLotId, putLots } from '../../../store/money/lots.ts';
import {
  listOutdatedPositions,
  lockPosition,
  postponePosition,
  putEnding,
  putPosition,
  type StoredPosition,
} from '../../../store/money/positions.ts';
import { wakeRefunds } from '../../../store/money/refunds.ts';
import { findReturningLots } from '../../../store/money/unexpected-money.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { type Reader, savepoint, type Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { eachIsolated, isItsOwnFault } from '../../each-isolated.ts';
import { commandOfLeader } from '../../lease.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { finalTimesOf, mostPerRound, type WatchDeps, type Watcher } from '../watcher.ts';
import { adoptPosition } from './adopt-position.ts';
import { orderSweeps } from './order-sweeps.ts';
import { payByDeposit } from './pay-by-deposit.ts';
import { type PositionFacts, readPosition } from './read-position.ts';
import { recordUnexpected } from './record-unexpected.ts';
import { ownReleases } from './released-places.ts';
import { settleDirect } from './settle-direct.ts';

export interface PositionDeps extends RegistryDeps, RowKeyDeps {
  readonly settings: WatchDeps['settings'];
}

/** Recomputes the money of payments whose facts have changed. */
export async function settlePositions(deps: WatchDeps, watcher: Watcher): Promise<void> {
  const finalTimes = finalTimesOf(watcher);
  await eachIsolated(
    await listOutdatedPositions(deps.db.sql, mostPerRound(deps)),
    async (paymentId) => {
      await commandOfLeader(deps, watcher.lease, (tx, at) => settlePosition(tx, deps, { paymentId, finalTimes }, at));
      deps.world.crashPoint?.('deposit.paid');
    },
    (paymentId, err) => {
      deps.log.error({ payment: paymentId, err }, 'the money of a payment cannot be computed');
      return commandOfLeader(deps, watcher.lease, (tx, at) => postponePosition(tx, paymentId, at));
    },
  );
}

/**
 * `settlePosition` as a part of a transaction about several payments. The caller has marked the position as outdated: if it
 * cannot be computed it stays outdated, and the transaction continues with the other payments and the cursor.
 */
export async function settleOrLeaveOutdated(
  tx: Tx,
  deps: WatchDeps,
  ask: { readonly paymentId: string; readonly finalTimes: FinalTimes },
  at: Date,
): Promise<void> {
  try {
    await savepoint(tx, (inner) => settlePosition(inner, deps, ask, at));
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
    deps.log.error({ payment: ask.paymentId, err: error }, 'the money of a payment cannot be computed');
  }
}

/**
 * The only path of arriving money: reads all facts of a payment, judges it, computes its lots, books the difference to the earlier
 * entries, reports unexpected money, and orders sweeps. Watching, reorgs, rebuilds and searches only change facts and then call
 * this. It is one transaction, so no part is ever missing.
 */
async function settlePosition(
  tx: Tx,
  deps: PositionDeps,
  { paymentId, finalTimes }: { readonly paymentId: string; readonly finalTimes: FinalTimes },
  at: Date,
): Promise<void> {
  const [locked] = await lockPayments(tx, [paymentId]);
  const stored = await lockPosition(tx, paymentId);
  if (locked === undefined || stored === undefined) return;
  const known = await readPosition(tx, deps.registry, locked, deps.settings.toleranceBasisPoints?.() ?? 0);
  const { payment, ending } = await endingOf(tx, { payment: locked, stored, known, finalTimes }, at);
  const lots = await withoutUnread(tx, paymentId, position(known.terms, known.facts, ending));
  const kept = lots.filter((lot) => lot.address !== null || lot.isHeld || lot.reason !== null);
  await putLots(tx, { paymentId, merchantId: payment.merchantId }, kept, at);
  const { adopted } = stored;
  const named = adopted === undefined ? undefined : await adoptPosition(tx, { paymentId, adopted, lots: kept });
  await book(tx, { payment, stored, known, lots: kept }, at);
  await wakeRefunds(tx, paymentId);
  await recordUnexpected(tx, { payment, lots: kept.filter((lot) => isOurs(lot) && named?.has(lot.id) !== true) }, at);
  if (ending?.is === 'paid') await settleDirect(tx, { payment, ending, lots }, at);
  const rules = rulesOf(deps, await stoppedLots(deps, tx, paymentId, kept), await findReturningLots(tx, paymentId));
  await orderSweeps(tx, { known, lots: kept, sweeps: chooseSweeps(kept, rules) }, at);
}

/**
 * Leaves out lots of sweeps whose deposit address was not checked yet. A sweep can be read before the transfers that it took. A
 * lot made from the sweep would later be replaced by the lots of the transfers, which have other ids, although it may have been
 * spent.
 */
async function withoutUnread(tx: Tx, paymentId: string, lots: readonly Lot[]): Promise<readonly Lot[]> {
  if (!lots.some(({ isUnexplained }) => isUnexplained)) return lots;
  const places = await listPlacesToCheckOf(tx, paymentId);
  const isUnread = ({ network, commitment }: Lot) =>
    places.some((place) => place.network === network && place.commitment === commitment);
  return lots.filter((lot) => !lot.isUnexplained || !isUnread(lot));
}

/** True if the position reports and books the lot. The first payment of an item is booked with the item. */
function isOurs({ address, network, commitment, id }: Lot): boolean {
  return address !== null || id !== itemLotId(network, commitment);
}

interface Judged {
  readonly payment: Payment;
  readonly ending: Ending | undefined;
}

/** The stored ending, or else the ending that follows from the facts now. A payment that they pay succeeds here. */
async function endingOf(
  tx: Tx,
  ask: {
    readonly payment: Payment;
    readonly stored: StoredPosition;
    readonly known: PositionFacts;
    readonly finalTimes: FinalTimes;
  },
  at: Date,
): Promise<Judged> {
  const { payment, stored, known, finalTimes } = ask;
  if (stored.ending !== undefined) return { payment, ending: stored.ending };
  const ways = known.terms.ways.filter(({ kind }) => kind === 'deposit');
  if (!isFinal(payment.status)) {
    const judged = judge({ ...known.terms, ways }, known.facts, finalTimes);
    if (judged?.is !== 'paid') return { payment, ending: undefined };
    const paid = await payByDeposit(tx, { payment, ending: judged, known }, at);
    if (paid !== undefined) await putEnding(tx, payment.id, judged);
    return { payment: paid ?? payment, ending: paid && judged };
  }
  if (payment.status !== 'succeeded') {
    const end = payment.status === 'expired' ? payment.expiresAt : payment.updatedAt;
    return { payment, ending: { is: 'unpaid', untilS: Math.floor(end.getTime() / 1000) } };
  }
  const ending = await endingOfItem(tx, payment, known);
  if (ending !== undefined) await putEnding(tx, payment.id, ending);
  return { payment, ending };
}

/** The ending of a payment that had succeeded before its money was computed for the first time. */
async function endingOfItem(tx: Tx, payment: Payment, known: PositionFacts): Promise<PaidEnding | undefined> {
  const item = await findPayingItem(tx, payment.id);
  if (item === undefined) return undefined;
  const { network, commitment } = item;
  const amount = BigInt(payment.tokenValue ?? item.amount);
  if (item.method !== 'deposit')
    return { is: 'paid', network, commitment, amount, lots: [itemLotId(network, commitment)] };
  const ways = known.terms.ways.filter((way) => way.commitment === commitment && way.network === network);
  const asked = ways.map((way) => ({ ...way, asked: amount }));
  const judged = judge({ ...known.terms, ways: asked }, known.facts, new Map());
  return judged?.is === 'paid' ? judged : { is: 'paid', network, commitment, amount, lots: [] };
}

async function book(
  tx: Tx,
  ask: {
    readonly payment: Payment;
    readonly stored: StoredPosition;
    readonly known: PositionFacts;
    readonly lots: readonly Lot[];
  },
  at: Date,
): Promise<void> {
  const { payment, stored, known, lots } = ask;
  const { id, merchantId } = payment;
  const { debts } = holdingsOf(lots, await findSpendsOf(tx, [id]));
  const next = bookedPosition({ payment: id, merchant: merchantId }, { lots: lots.filter(isOurs), debts });
  const entries = positionEntries({ subject: id, merchantId }, stored.booked, next, (posting) =>
    latestOf(posting, known.facts),
  );
  await recordEntries(tx, entries, at);
  await putPosition(tx, { paymentId: id, booked: next }, at);
}

/** The newest fact of a posting: its sweep, if there is one. */
function latestOf({ network, asset, reference }: Posting, facts: readonly Fact[]) {
  const own = facts.filter((fact) => fact.network === network && fact.asset === asset && fact.commitment === reference);
  const block = own.reduce((latest, fact) => Math.max(latest, fact.block), 0);
  const last = own
    .filter(({ is }) => is !== 'arrived')
    .toSorted((a, b) => a.block - b.block || a.index - b.index)
    .at(-1);
  return own.length === 0 ? undefined : { block, transaction: last?.transaction ?? own.at(-1)?.transaction ?? '' };
}

/** The lots of screened senders, which wait for a person unless they are dust. A person may have released their place. */
export async function stoppedLots(
  deps: RowKeyDeps,
  db: Reader,
  paymentId: string,
  lots: readonly Lot[],
): Promise<ReadonlySet<string>> {
  const screened = lots.filter(({ isScreened }) => isScreened);
  const released = screened.length === 0 ? [] : await ownReleases(deps, db, paymentId);
  const isReleased = ({ network, commitment }: Lot) =>
    released.some((place) => place.network === network && place.commitment === commitment);
  return new Set(screened.filter((lot) => !isReleased(lot)).map(({ id }) => id));
}

function rulesOf(
  { settings, registry }: PositionDeps,
  stopped: ReadonlySet<string>,
  returning: ReadonlySet<string>,
): PayoutRules {
  return {
    stopped,
    returning,
    minimum: (asset) => unitsOfWeight(registry.asset(asset), settings.sweepFrom?.(asset.split('/')[0] ?? '') ?? 1n),
  };
}
