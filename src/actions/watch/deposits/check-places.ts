import { amountText } from '../../../chains/amount-text.ts';
import type { Chain } from '../../../chains/chain.ts';
import { assetsOf, type Registry } from '../../../chains/registry.ts';
import { isFinal } from '../../../domain/payment.ts';
import { listDecidedSweeps, type StoredEvent } from '../../../store/chain/chain-events.ts';
import {
  type DepositPlace,
  findDepositCursor,
  listPlacesToCheck,
  postponePlace,
  putChecked,
} from '../../../store/chain/deposit-places.ts';
import { findDepositsBy, type OpenDeposit } from '../../../store/chain/deposits.ts';
import { deleteMovements, deleteResidual, proveMovements, putResidual } from '../../../store/chain/movements.ts';
import { isCheckpointDue, putCheckpoint, sumMovements } from '../../../store/chain/place-checkpoints.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { allIsolated } from '../../each-isolated.ts';
import { commandOfLeader } from '../../lease.ts';
import { mostPerRound, provedKey, type View, type WatchDeps, type Watcher } from '../watcher.ts';
import { type Explained, explainPlace, finalNumberFor } from './explain-place.ts';
import { noticeDeposit } from './notice-deposit.ts';
import { beginEarlierRound, type CheckedPlace, readEarlier } from './read-earlier.ts';
import { dustLimitsOf } from './read-position.ts';

/**
 * After this many proved movements to a deposit address, they are added up in a new checkpoint. So a check reads at most this many
 * older movements one by one.
 */
const PER_CHECKPOINT = 100;

/**
 * Checks deposit addresses whose money has moved, and proves their movements up to the highest block that is final for the requested
 * amount. The payment's lots are computed from the movements afterwards.
 */
export async function checkPlaces(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  watcher.memory.disputes.delete('deposits');
  beginEarlierRound(watcher.memory);
  const places = await listPlacesToCheck(deps.db.sql, { network: watcher.network, limit: mostPerRound(deps) });
  const deposits = await findDepositsBy(deps.db.sql, [...new Set(places.map(({ commitment }) => commitment))]);
  const postpone = (place: DepositPlace) =>
    commandOfLeader(deps, watcher.lease, (tx, at) => postponePlace(tx, place, at));
  await allIsolated(
    places,
    async (place) => {
      const same = deposits.filter(({ commitment }) => commitment === place.commitment);
      const deposit = same.find(({ network }) => network === place.network) ?? same[0];
      if (deposit === undefined) return postpone(place);
      await noticeDeposit(deps, watcher, deposit);
      const final = await finalNumberFor(deps, watcher, view, deposit.item);
      const isDone = final !== undefined && (await checkPlace(deps, watcher, { place, deposit, ...final }));
      if (!isDone) await postpone(place);
    },
    (place, err) => {
      deps.log.error({ payment: place.paymentId, err }, 'a deposit address cannot be judged');
      return postpone(place);
    },
  );
}

/** The tokens whose balance is read even if no transfer of them is known, because an endpoint may have omitted the log. */
function tokensAt(
  registry: Registry,
  { network, isSearched }: PlaceCheck['place'],
  { asset }: OpenDeposit,
): readonly string[] {
  const asked = asset.startsWith(`${network}/`) ? [asset] : [];
  if (isSearched !== true) return asked;
  const served = assetsOf(registry, network).filter(({ pay }) => pay !== undefined && pay.method !== 'native');
  return [...asked, ...served.map(({ id }) => id)];
}

export interface PlaceCheck {
  readonly place: CheckedPlace;
  readonly deposit: OpenDeposit;
  readonly number: number;
  /** True if a single endpoint suffices for this amount at this block. */
  readonly isAloneEnough: boolean;
}

/**
 * Compares the stored movements of an address with the chain at a block, and stores the result. Returns true if all movements up to
 * the block are proved.
 */
export async function checkPlace(
  deps: WatchDeps,
  { chain, memory, lease }: Pick<Watcher, 'memory' | 'lease'> & { readonly chain: Chain },
  { place, deposit, number, isAloneEnough }: PlaceCheck,
): Promise<boolean> {
  const found = await explainPlace(deps.db.sql, chain.reader, place, {
    number,
    tokens: tokensAt(deps.registry, place, deposit),
  });
  if (found.is === 'disputed') memory.disputes.set('deposits', found.answers);
  if (found.is !== 'known' || (found.isAlone && !isAloneEnough)) return false;
  const hasSurplus = [...found.unlisted.values()].some((units) => units > 0n);
  if (hasSurplus && !(await areTransfersRead(deps, place.network, number))) return false;
  if (hasSurplus && !(await readEarlier(deps, { chain, memory, lease }, place, number))) return false;
  await commandOfLeader(deps, lease, async (tx, at) => {
    await lockPayments(tx, [place.paymentId]);
    await proveMovements(tx, place.network, found.proved);
    if (found.refuted.length > 0) await deleteMovements(tx, place.network, found.refuted);
    await explainRest(tx, deps.registry, { place, deposit, found }, at);
    await putChecked(tx, place, { block: number, at });
    if (await isCheckpointDue(tx, place, deps.settings.movementsPerCheckpoint ?? PER_CHECKPOINT)) {
      await putCheckpoint(tx, place, await dustLimitsOf(tx, deps.registry, place.paymentId));
    }
    await markPositionsOutdated(tx, [place.paymentId], at);
  });
  for (const { transactionHash: transaction, logIndex } of found.refuted) {
    deps.log.error(
      { network: place.network, transaction, logIndex },
      'a forged transfer: the endpoints do not show it',
    );
  }
  memory.earlier.read.delete(provedKey(place));
  if (found.isWhole) memory.provedTimes.set(provedKey(place), found.block.timestampS);
  deps.world.crashPoint?.('deposit.recorded');
  return found.isWhole;
}

/**
 * True if the transfers to deposit addresses are read up to the block. Until then a surplus must not count as money without a log:
 * its log may be in a block that is not read yet, and would show that the money was late.
 */
async function areTransfersRead({ db }: WatchDeps, network: string, number: number): Promise<boolean> {
  const cursor = await findDepositCursor(db.sql, network);
  return cursor !== undefined && cursor.finalNumber >= number;
}

/**
 * Stores the difference between the balance that enough endpoints report and the sum of the logs. A surplus is stored as a movement
 * without a log. While the payment is open, the surplus counts as if it had come in time, because a lost log must not end a payment
 * that was paid. A shortfall is a loss: the token keeps a part of each transfer, or money has left without a sweep. An alert asks a
 * person to examine a loss.
 */
async function explainRest(
  tx: Tx,
  registry: Registry,
  { place, deposit, found }: { readonly place: DepositPlace; readonly deposit: OpenDeposit; readonly found: Explained },
  at: Date,
): Promise<void> {
  const { network, commitment, paymentId, address } = place;
  const { number: blockNumber, hash: blockHash, timestampS } = found.block;
  const latestMs = isFinal(deposit.paymentStatus) ? Number.POSITIVE_INFINITY : deposit.item.deadline.getTime();
  const time = { at: new Date(Math.min(timestampS * 1000, latestMs)), blockNumber, blockHash };
  const alert = { name: 'deposit_differs', subject: `${network}:${address}` } as const;
  const losses: string[] = [];
  for (const [asset, units] of found.unlisted) {
    const about = { network, commitment, paymentId, asset };
    if (units === 0n) await deleteResidual(tx, about);
    if (units > 0n) {
      const sweep = await firstUnexplained(tx, about);
      const before = sweep && { blockNumber: sweep.blockNumber, blockHash: sweep.blockHash };
      await putResidual(tx, { ...about, ...time, ...before, amount: units.toString(), source: 'balance' });
    }
    if (units < 0n) await putResidual(tx, { ...about, ...time, amount: (-units).toString(), source: 'loss' });
    if (units < 0n) losses.push(amountText(registry, asset, -units));
  }
  const message = `The deposit address ${address} of ${paymentId} holds ${losses.join(' and ')} less than its transfers and sweeps show.`;
  if (losses.length > 0) await upsertAlert(tx, { ...alert, message, lastSeen: at });
  else await deleteAlert(tx, alert);
}

/**
 * The first sweep that took more than the logged transfers had brought until then. So the money without a log arrived before that
 * sweep.
 */
async function firstUnexplained(
  tx: Tx,
  { network, commitment, asset }: { readonly network: string; readonly commitment: string; readonly asset: string },
): Promise<StoredEvent | undefined> {
  let swept = 0n;
  for (const event of await listDecidedSweeps(tx, { network, commitment, asset })) {
    swept += BigInt(event.fields.amount ?? '0');
    const listed = await sumMovements(tx, { network, commitment, upTo: event.blockNumber });
    if ((listed.get(asset) ?? 0n) < swept) return event;
  }
  return undefined;
}
