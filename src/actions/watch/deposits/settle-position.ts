import type { RegistryDeps } from '../../../chains/registry.ts';
import { unitsOfWeight } from '../../../chains/weight.ts';
import type { Fact } from '../../../domain/money/fact.ts';
import { countOwed, holdingsOf } from '../../../domain/money/holding.ts';
import { judge, position } from '../../../domain/money/judge.ts';
import { chooseSweeps, type PayoutRules } from '../../../domain/money/money-out.ts';
import { bookedPosition, type Posting, positionEntries } from '../../../domain/money/position-entries.ts';
import type { Ending, Lot, PaidEnding } from '../../../domain/money/terms.ts';
import { isFinal } from '../../../domain/payment.ts';
import { listPlacesToCheckOf } from '../../../store/chain/deposit-places.ts';
import { findPayingItem } from '../../../store/chain/items.ts';
import { residualName } from '../../../store/chain/movements.ts';
import { findSpendsOf, itemLotId, putLots } from '../../../store/money/lots.ts';
import {
  listOutdatedPositions,
  lockPosition,
  postponePosition,
  putEnding,
  putPosition,
  renameEnding,
  type StoredPosition,
} from '../../../store/money/positions.ts';
import { wakeRefunds } from '../../../store/money/refunds.ts';
import { findReturning } from '../../../store/money/unexpected-money.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import { savepoint, type Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { eachIsolated, isItsOwnFault } from '../../each-isolated.ts';
import { commandOfLeader } from '../../lease.ts';
import { stoppedLots } from '../../released-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { mostPerRound, provedKey, type WatchDeps, type Watcher } from '../watcher.ts';
import { adoptPosition } from './adopt-position.ts';
import { orderSweeps } from './order-sweeps.ts';
import { payByDeposit } from './pay-by-deposit.ts';
import { type PositionFacts, readPosition } from './read-position.ts';
import { recordUnexpected, renewFees } from './record-unexpected.ts';
import { settleDirect } from './settle-direct.ts';

/** The times up to which the money at deposit addresses is proved, by `provedKey`. */
type ProvedTimes = ReadonlyMap<string, number>;

export interface PositionDeps extends RegistryDeps, RowKeyDeps {
  readonly settings: WatchDeps['settings'];
}

/** Computes again the money of every payment whose facts have changed. */
export async function settlePositions(deps: WatchDeps, watcher: Watcher): Promise<void> {
  const { provedTimes } = watcher.memory;
  await eachIsolated(
    await listOutdatedPositions(deps.db.sql, mostPerRound(deps)),
    async (paymentId) => {
      await commandOfLeader(deps, watcher.lease, (tx, at) => settlePosition(tx, deps, { paymentId, provedTimes }, at));
      deps.world.crashPoint?.('deposit.paid');
    },
    (paymentId, err) => {
      deps.log.error({ payment: paymentId, err }, UNCOMPUTED);
      return commandOfLeader(deps, watcher.lease, async (tx, at) => {
        await postponePosition(tx, paymentId, at);
        await alertUncomputed(tx, paymentId, at);
      });
    },
  );
}

/**
 * Runs `settlePosition` in a database transaction that contains several payments. The caller has marked the position as outdated: if
 * it cannot be computed, it stays outdated, and the transaction continues with the other payments and the cursor.
 */
export async function settleOrLeaveOutdated(tx: Tx, deps: WatchDeps, paymentId: string, at: Date): Promise<void> {
  try {
    await savepoint(tx, (inner) => settlePosition(inner, deps, { paymentId, provedTimes: new Map() }, at));
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
    deps.log.error({ payment: paymentId, err: error }, UNCOMPUTED);
    await alertUncomputed(tx, paymentId, at);
  }
}

const UNCOMPUTED = 'the money of a payment cannot be computed';

/**
 * Raises the alert about a payment whose money cannot be computed, again in each round that fails. `recheckRefusals` clears the alert
 * when the money has been computed.
 */
async function alertUncomputed(tx: Tx, subject: string, at: Date): Promise<void> {
  const message = `The money of ${subject} cannot be computed, and is tried again in each round. Until then new money for it is not swept, paid out or given back. The log has the error.`;
  await upsertAlert(tx, { name: 'money_uncomputed', subject, message, lastSeen: at });
}

/**
 * Handles all arriving money of a payment: reads the stored facts, decides whether they pay the payment, computes its lots, books the
 * difference to the earlier entries, reports unexpected money, and orders sweeps. Watching, reorgs, rebuilds and searches only change
 * facts and then call this function. It runs in one database transaction, so no part is ever missing.
 */
async function settlePosition(
  tx: Tx,
  deps: PositionDeps,
  { paymentId, provedTimes }: { readonly paymentId: string; readonly provedTimes: ProvedTimes },
  at: Date,
): Promise<void> {
  const [locked] = await lockPayments(tx, [paymentId]);
  const stored = await lockPosition(tx, paymentId);
  if (locked === undefined || stored === undefined) return;
  const known = await readPosition(tx, deps.registry, locked, deps.settings.toleranceBasisPoints?.() ?? 0);
  const { payment, ending } = await endingOf(tx, { payment: locked, stored, known, provedTimes }, at);
  const lots = await withoutUnread(tx, paymentId, position(known.terms, known.facts, ending));
  const kept = lots.filter((lot) => lot.address !== null || lot.isHeld || lot.reason !== null);
  await putLots(tx, { paymentId, merchantId: payment.merchantId }, kept, at);
  const { adopted } = stored;
  const named = adopted === undefined ? undefined : await adoptPosition(tx, { paymentId, adopted, lots: kept });
  await book(tx, { payment, stored, known, lots: kept }, at);
  await wakeRefunds(tx, paymentId);
  const counted = kept.map(countOwed);
  const late = counted.filter((lot) => isOurs(lot) && named?.has(lot.id) !== true);
  await recordUnexpected(tx, { payment, lots: late }, at);
  if (ending?.is === 'paid') await settleDirect(tx, { payment, ending, lots: counted }, at);
  const returning = await findReturning(tx, paymentId);
  await renewFees(tx, returning, counted);
  const ids = new Set(returning.map(({ lotId }) => lotId));
  const rules = rulesOf(deps, await stoppedLots(deps, tx, paymentId, kept), ids);
  await orderSweeps(tx, { known, lots: kept, sweeps: chooseSweeps(kept, rules) }, at);
}

/**
 * Leaves out lots that were made from a sweep whose deposit address was not checked yet. A sweep can be read before the transfers that it
 * took. The check later replaces such a lot by the lots of the transfers, which have other ids, and the replaced lot may have been spent
 * by then.
 */
async function withoutUnread(tx: Tx, paymentId: string, lots: readonly Lot[]): Promise<readonly Lot[]> {
  if (!lots.some(({ isUnexplained }) => isUnexplained)) return lots;
  const places = await listPlacesToCheckOf(tx, paymentId);
  const isUnread = ({ network, commitment }: Lot) =>
    places.some((place) => place.network === network && place.commitment === commitment);
  return lots.filter((lot) => !lot.isUnexplained || !isUnread(lot));
}

/** True if this computation reports and books the lot. The lot of an item's first event is booked when the item is closed. */
function isOurs({ address, network, commitment, id }: Lot): boolean {
  return address !== null || id !== itemLotId(network, commitment);
}

interface Judged {
  readonly payment: Payment;
  readonly ending: Ending | undefined;
}

/** The stored ending, or else the ending that follows from the facts now. If the facts pay an open payment, it succeeds here. */
async function endingOf(
  tx: Tx,
  ask: {
    readonly payment: Payment;
    readonly stored: StoredPosition;
    readonly known: PositionFacts;
    readonly provedTimes: ProvedTimes;
  },
  at: Date,
): Promise<Judged> {
  const { payment, stored, known, provedTimes } = ask;
  if (stored.ending !== undefined) {
    const { ending } = stored;
    const renamed = withoutLostResiduals(ending, known);
    if (renamed !== undefined) await renameEnding(tx, payment.id, renamed);
    return { payment, ending: renamed ?? ending };
  }
  if (!isFinal(payment.status)) {
    const judged = judgeDeposits(known, provedTimes);
    if (judged === undefined) return { payment, ending: undefined };
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

/**
 * The ending if money at a deposit address pays the payment; undefined otherwise. Less than the requested amount is tolerated only at
 * an address whose money is proved up to a time after its deadline: any money that is not proved yet comes too late.
 */
function judgeDeposits({ terms, facts }: PositionFacts, provedTimes: ProvedTimes): PaidEnding | undefined {
  const ways = terms.ways.filter(({ kind }) => kind === 'deposit');
  const filled = judge({ ...terms, ways }, facts, new Map());
  if (filled?.is === 'paid') return filled;
  for (const way of ways) {
    const provedS = provedTimes.get(provedKey(way));
    const tolerated = provedS && judge({ ...terms, ways: [way] }, facts, new Map([[way.network, provedS]]));
    if (tolerated && tolerated.is === 'paid') return tolerated;
  }
  return undefined;
}

/**
 * The stored ending with other lots; undefined if it needs no change. It changes if it names money without a log, and the log has
 * appeared since. The lots that are made from logs have other ids, and replace the lot without a log. That lot had counted as if it
 * had come in time, so the new lots count, too. Orders that spent it are a debt, which the new lots fill.
 */
function withoutLostResiduals(ending: PaidEnding, { terms, facts }: PositionFacts): PaidEnding | undefined {
  const { network, commitment, amount, lots } = ending;
  if (!lots.some((id) => id.startsWith(`${network}/${residualName('balance', commitment)}`))) return undefined;
  const named = position(terms, facts, undefined).filter(({ id }) => lots.includes(id));
  if (named.reduce((sum, lot) => sum + lot.amount, 0n) >= amount) return undefined;
  const ways = terms.ways.filter((way) => way.network === network && way.commitment === commitment);
  const asked = ways.map((way) => ({ ...way, asked: amount, deadlineS: Number.MAX_SAFE_INTEGER }));
  const judged = judge({ ...terms, ways: asked }, facts, new Map());
  return judged?.is === 'paid' ? judged : undefined;
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

/** The highest block of a posting's facts, and the transaction of its last sweep or collection, if there is one. */
function latestOf({ network, asset, reference }: Posting, facts: readonly Fact[]) {
  const own = facts.filter((fact) => fact.network === network && fact.asset === asset && fact.commitment === reference);
  const block = own.reduce((latest, fact) => Math.max(latest, fact.block), 0);
  const last = own
    .filter(({ is }) => is !== 'arrived')
    .toSorted((a, b) => a.block - b.block || a.index - b.index)
    .at(-1);
  return own.length === 0 ? undefined : { block, transaction: last?.transaction ?? own.at(-1)?.transaction ?? '' };
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
