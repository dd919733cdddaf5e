import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { Incoming } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { coinOf } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { relayerFundedEntry } from '../../../domain/books.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { findFirstUndecided } from '../../../store/chain/chain-events.ts';
import { findCoinCursor, putCoinCursor } from '../../../store/money/book-comparison.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { findUnexpected, type NewUnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { isRestoring } from '../../../store/parties/freezes.ts';
import type { Lease } from '../../../store/plumbing/leases.ts';
import type { CommandDeps } from '../../command.ts';
import { askHolding, askTransfers } from '../../evidence.ts';
import { commandOfLeader, type LeaseDeps } from '../../lease.ts';
import { storeUnexpected, unexpectedOf } from '../../outgoing/return/record-unexpected-transfers.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { type BookedPlace, coinSurpluses, isStillBooked, ownPlaces, type Surplus } from '../account-surplus.ts';
import { recordEntries } from '../record.ts';

export interface CoinInput {
  readonly connected: ConnectedChain;
  readonly lease: Lease;
}

/**
 * Finds native coin that reached accounts of ours outside of payments, in final blocks, and records it as unexpected money. Most of
 * it is the operator's own coin for gas. A coin transfer leaves no log, so the balance of each account is compared with the books,
 * and only a surplus is examined further. The balance of an account at its first check is its opening balance, not unexpected money.
 * After a restore from a backup the search waits for the rebuild, because coin of lost payments and lost entries of gas must not
 * change an opening balance.
 */
export async function recordCoin(deps: LeaseDeps & RowKeyDeps, { connected, lease }: CoinInput): Promise<void> {
  const network = connected.chain.network.chainId;
  const cursor = (await findCursors(deps.db.sql)).find((each) => each.network === network);
  if (cursor === undefined) return;
  const block = cursor.finalNumber;
  const undecided = await findFirstUndecided(deps.db.sql, network);
  if ((undecided !== undefined && undecided <= block) || (await isRestoring(deps.db.sql, network))) return;
  for (const found of await coinSurpluses(deps.db.sql, connected, block, await ownPlaces(deps, connected))) {
    const { accounts } = found;
    const cursors = await Promise.all(accounts.map((account) => findCoinCursor(deps.db.sql, network, account)));
    const explained = cursors.filter((cursor) => cursor !== undefined);
    const explainedTo = explained.length === 0 ? undefined : Math.max(...explained);
    const first = accounts.filter((_, index) => cursors[index] === undefined);
    const openings = await openingsOf(connected, { found, first, hasCursor: explainedTo !== undefined });
    const asset = coinOf(deps.registry, network);
    const opening = openings.map(({ account, units }) =>
      relayerFundedEntry({ network, asset, signer: account }, units, block),
    );
    const search = { found, openings, from: explainedTo ?? block, to: block };
    const unexpectedMoney = await unexpectedFrom(deps, connected, search);
    if (unexpectedMoney === undefined || block <= (explainedTo ?? -1)) continue;
    await commandOfLeader(deps, lease, async (tx, now) => {
      if (!(await isStillBooked(tx, connected, found))) return;
      await recordEntries(tx, opening, now);
      await storeUnexpected(tx, deps.registry, unexpectedMoney, now);
      for (const account of accounts) await putCoinCursor(tx, { network, account, block });
    });
  }
}

interface Opening {
  readonly account: string;
  readonly units: bigint;
}

/**
 * The native coin that accounts had before their first check. When an account joins a place that was checked before, such as a new
 * intermediate account, its opening balance is at most its own balance: the rest of the place's surplus has arrived since.
 */
async function openingsOf(
  { chain }: ConnectedChain,
  { found, first, hasCursor }: { found: Surplus; first: readonly string[]; hasCursor: boolean },
): Promise<Opening[]> {
  const { account, asset, block } = found;
  if (found.surplus <= 0n || first.length === 0) return [];
  if (!hasCursor) return [{ account, units: found.surplus }];
  let left = found.surplus;
  const openings: Opening[] = [];
  for (const each of first) {
    const held = await askHolding(chain.reader, { account: each, asset, block });
    const units = held < left ? held : left;
    left -= units;
    if (units > 0n) openings.push({ account: each, units });
  }
  return openings;
}

interface Search {
  readonly found: Surplus;
  /** The opening balances, which do not count as arrivals. */
  readonly openings: readonly Opening[];
  /** The first block of the search. The balance at this block was explained by an earlier check. */
  readonly from: number;
  /** The last block of the search. The balance at this block has the surplus. */
  readonly to: number;
}

/**
 * The unexpected money that makes up the surplus. Undefined if the search must be repeated, because endpoints did not answer or the rows
 * of a payment are lost.
 */
async function unexpectedFrom(
  deps: CommandDeps,
  connected: ConnectedChain,
  search: Search,
): Promise<NewUnexpectedMoney[] | undefined> {
  if (surplusOf(search) <= 0n || search.from >= search.to) return [];
  try {
    const unexpectedMoney: NewUnexpectedMoney[] = [];
    for (const arrival of await locate(deps, connected, search)) {
      const attributed = await attribute(deps, connected, arrival);
      if (attributed === undefined) return undefined;
      unexpectedMoney.push(...attributed);
    }
    return unexpectedMoney;
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

/** The surplus minus the opening balances. */
function surplusOf({ found, openings }: Search): bigint {
  return openings.reduce((left, { units }) => left - units, found.surplus);
}

interface Arrival extends BookedPlace {
  readonly account: string;
  readonly block: number;
  readonly units: bigint;
}

/**
 * The maximum number of requests of one search: enough for a dozen arrivals in a day of blocks. Transfers that the search cannot
 * separate with so many requests are recorded as one.
 */
const MAX_QUESTIONS = 200;
/** Balances must be readable for this many of the latest blocks. Many endpoints keep them for about the last hundred blocks only. */
const KEPT_BLOCKS = 64;

/** Finds by bisection the blocks in which the surplus appeared. */
async function locate({ db }: CommandDeps, connected: ConnectedChain, search: Search): Promise<Arrival[]> {
  const { found, openings, from, to } = search;
  const { account, accounts, asset } = found;
  let questions = 0;
  const surplusAt = async (block: number): Promise<bigint | undefined> => {
    questions += 1;
    if (questions > MAX_QUESTIONS) return undefined;
    try {
      const [at] = await coinSurpluses(db.sql, connected, block, [{ account, accounts }]);
      let surplus = at?.surplus;
      for (const each of openings) {
        const held = await askHolding(connected.chain.reader, { account: each.account, asset, block });
        if (surplus !== undefined) surplus -= held < each.units ? held : each.units;
      }
      return surplus;
    } catch (error) {
      if (error instanceof ChainUnavailableError && to - block > KEPT_BLOCKS) return undefined;
      throw error;
    }
  };
  const between = async (low: number, had: bigint, high: number, has: bigint): Promise<Arrival[]> => {
    if (has <= had) return [];
    const middle = Math.floor((low + high) / 2);
    const surplus = high - low === 1 ? undefined : await surplusAt(middle);
    if (surplus === undefined) return [{ account, accounts, block: high, units: has - had }];
    const then = surplus < had ? had : surplus > has ? has : surplus;
    return [...(await between(low, had, middle, then)), ...(await between(middle, then, high, has))];
  };
  // An earlier check has explained the balance at `from`. A surplus at that block comes from later changes of the books, so it is not an
  // arrival.
  const before = await surplusAt(from);
  return between(from, before === undefined || before < 0n ? 0n : before, to, surplusOf(search));
}

/**
 * The coin that arrived in a block, as one amount of unexpected money for each transaction. A remainder came from a contract call,
 * whose sender is unknown. Undefined if the Collector sent some of the coin and the books have no entry for it: the rows of that
 * payment are lost.
 */
async function attribute(
  { db }: CommandDeps,
  connected: ConnectedChain,
  arrival: Arrival,
): Promise<NewUnexpectedMoney[] | undefined> {
  const { chain } = connected;
  const { accounts, block, units } = arrival;
  const [transfers, events] = await Promise.all([
    chain.reader.coinTransfers(accounts, block),
    chain.reader.events(block, block),
  ]);
  const coin = chain.network.coin.id;
  const isAmong = (address: string) => accounts.some((account) => isSameAddress(coin, address, account));
  const paid = events.filter((event) => event.type === 'paid' && event.asset === coin && isAmong(event.recipient));
  const commitments = paid.map(({ commitment }) => commitment);
  const booked = paid.length === 0 ? new Map() : await positionsOf(db.sql, commitments);
  if (commitments.some((commitment) => !booked.has(commitment))) return undefined;
  const proved: Incoming[] = [];
  for (const transfer of transfers) {
    const { transfers: shown } = await askTransfers(chain.reader, transfer.transactionHash);
    if (shown.some((each) => isSameTransfer(each, transfer))) proved.push(transfer);
  }
  const candidates = proved.map((transfer) => unexpectedOf(connected, [], transfer, 'unclaimed'));
  const known = new Set(
    (
      await findUnexpected(
        db.sql,
        candidates.map(({ id }) => id),
      )
    ).map(({ id }) => id),
  );
  // A transfer counts in full even if the surplus is smaller: the missing part has left for a reason that is not in the books yet.
  const unexpectedMoney = candidates.filter(({ id }) => !known.has(id));
  const left = unexpectedMoney.reduce((rest, { amount }) => rest - BigInt(amount), units);
  return left <= 0n ? unexpectedMoney : [...unexpectedMoney, unexplainedCoin(connected, { ...arrival, units: left })];
}

/**
 * True if two reports show the same transfer. The coin may be returned to its sender, so one endpoint alone must not determine the
 * sender's address.
 */
function isSameTransfer(a: Incoming, b: Incoming): boolean {
  return a.from === b.from && a.to === b.to && a.asset === b.asset && a.amount === b.amount;
}

function unexplainedCoin(connected: ConnectedChain, { account, block, units }: Arrival): NewUnexpectedMoney {
  const { network } = connected.chain;
  const place: Incoming = {
    block: { number: block, hash: '' },
    transactionHash: `${account} ${block}`,
    logIndex: -1,
    asset: network.coin.id,
    from: '',
    to: account,
    amount: units,
  };
  return { ...unexpectedOf(connected, [], place, 'unclaimed'), transactionHash: null, sender: null };
}
