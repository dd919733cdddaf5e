import type { Chain } from '../../../chains/chain.ts';
import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { DepositPlace, PlaceToCheck } from '../../../store/chain/deposit-places.ts';
import { hasMoneyWithoutLog } from '../../../store/chain/movements.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import { commandOfLeader } from '../../lease.ts';
import { type EarlierBlocks, provedKey, type WatchDeps, type Watcher } from '../watcher.ts';
import { storable, storeMovements, WATCHED_MS } from './read-movements.ts';

const PAGE = 500;
/** The pages of a round for all addresses together: strangers can sweep any number of addresses that nobody watched. */
const PAGES_PER_ROUND = 20;
/** The time by which the clock of a chain may differ from ours. */
const CLOCK_MS = 3_600_000;

export type CheckedPlace = DepositPlace & Partial<Pick<PlaceToCheck, 'isSearched' | 'openedAt'>>;

export function beginEarlierRound({ earlier }: Watcher['memory']): void {
  earlier.pagesLeft = PAGES_PER_ROUND;
}

/**
 * Reads the transfers to a deposit address in blocks that the watcher skipped, because the address was not watched then. It reads
 * backward from the block of the check to the time when the payment was created, and stops where it finds something new. So money that a
 * search or a sweep has shown gets the ids of its transfers, no matter when it was noticed. Returns true if every block was read and
 * contains nothing new. If false, the address must be checked again.
 */
export async function readEarlier(
  deps: WatchDeps,
  watcher: Pick<Watcher, 'memory' | 'lease'> & { readonly chain: Chain },
  place: CheckedPlace,
  number: number,
): Promise<boolean> {
  const isWatched = place.openedAt === undefined || place.openedAt.getTime() > deps.world.clock.nowMs() - WATCHED_MS;
  if (isWatched && place.isSearched !== true) return true;
  // Money that is already stored without its log keeps its ids, so its log is not searched any more.
  if (await hasMoneyWithoutLog(deps.db.sql, place)) return true;
  const { earlier } = watcher.memory;
  for (;;) {
    const read = earlier.read.get(provedKey(place)) ?? { from: number + 1, to: number, isWhole: false };
    const page = pageBeside(read, number);
    if (page === undefined) return true;
    if (earlier.pagesLeft <= 0) return false;
    earlier.pagesLeft -= 1;
    const hasNew = await readPage(deps, watcher, place, { read, page });
    if (hasNew !== false) return false;
  }
}

type Page = Pick<EarlierBlocks, 'from' | 'to'>;

/** The next page: first the blocks that have become final since the last check, then the blocks before those that were read. */
function pageBeside({ from, to, isWhole }: EarlierBlocks, number: number): Page | undefined {
  if (to < number) return { from: to + 1, to: Math.min(number, to + PAGE) };
  return isWhole ? undefined : { from: Math.max(0, from - PAGE), to: from - 1 };
}

/** Stores the transfers of a page. Returns true if one of them is new, and undefined if the page cannot be read. */
async function readPage(
  deps: WatchDeps,
  { chain, memory, lease }: Pick<Watcher, 'memory' | 'lease'> & { readonly chain: Chain },
  place: CheckedPlace,
  { read, page }: { readonly read: EarlierBlocks; readonly page: Page },
): Promise<boolean | undefined> {
  const { network, address, paymentId } = place;
  const places = new Map([[address, place]]);
  try {
    const [payment] = await findPayments(deps.db.sql, [paymentId]);
    const createdMs = payment?.createdAt.getTime() ?? 0;
    const first = await chain.reader.block(page.from);
    if (first === undefined) throw new ChainUnavailableError(network, `an endpoint lacks block ${page.from}`);
    const found = await chain.reader.incoming(places, page.from, page.to);
    const movements = await storable(deps, { chain, network, places }, found);
    const added = await commandOfLeader(deps, lease, (tx, at) => storeMovements(tx, { network, movements }, at));
    memory.earlier.read.set(provedKey(place), {
      from: Math.min(read.from, page.from),
      to: Math.max(read.to, page.to),
      isWhole: read.isWhole || page.from === 0 || first.timestampS * 1000 < createdMs - CLOCK_MS,
    });
    return added.length > 0;
  } catch (error) {
    // A missing answer about these blocks is logged and not thrown: other addresses do not need these blocks, so their checks continue.
    if (!(error instanceof ChainUnavailableError)) throw error;
    deps.log.error({ payment: paymentId, err: error }, 'earlier transfers to a deposit address cannot be read');
    const message = `The transfers to the deposit address ${address} of ${paymentId} in the blocks ${page.from} to ${page.to} cannot be read, so its new money is not swept, paid out or given back. Give RPC_URLS an endpoint that has the logs of these blocks.`;
    const alert = { name: 'deposit_differs', subject: `${network}:${address}`, message } as const;
    await commandOfLeader(deps, lease, (tx, at) => upsertAlert(tx, { ...alert, lastSeen: at }));
    return undefined;
  }
}
