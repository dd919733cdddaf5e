import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { SentTransaction } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { coinOf } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { ACCOUNTS } from '../../../domain/books.ts';
import {
  findSentSlots,
  findSlotGaps,
  firstSlot,
  listSendsToFinish,
  type SenderId,
  type SlotGap,
} from '../../../store/chain/sends.ts';
import { findGasWithoutSend, lockBalance, positionsOf } from '../../../store/money/books.ts';
import { type CommandDeps, command } from '../../command.ts';
import { askReceipt, askUsedSlots } from '../../evidence.ts';
import { ownAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { recordGas } from '../record-gas.ts';

export interface GasSearch {
  readonly from: number;
  readonly to: number;
  /**
   * Transactions that may have carried items of ours, with their blocks. Transactions of strangers are excluded later, by their
   * sender.
   */
  readonly carriers: ReadonlyMap<string, number>;
}

export interface RestoredGas {
  readonly gas: readonly string[];
  readonly unplaced: readonly { readonly id: string; readonly problem: string }[];
}

/**
 * The maximum number of blocks that one search reads, because each block is read in full. Another search can continue from a later
 * block.
 */
const MAX_BLOCKS = 20_000;
const ASKED_AT_ONCE = 8;

/**
 * Books the gas of transactions of our accounts whose rows were lost. The Collector's events show the transactions with items.
 * Every other transaction leaves a gap in the account's slots: it was mined between the blocks of its neighbours, so only those
 * blocks are read.
 */
export async function restoreGas(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  search: GasSearch,
): Promise<RestoredGas> {
  const budget = { blocks: MAX_BLOCKS };
  const gas: string[] = [];
  const unplaced: { id: string; problem: string }[] = [];
  const unsent = await findUnsent(deps, connected, search);
  for (const account of await ownAccounts(deps, connected)) {
    const own = unsent.filter(({ from }) => from === account);
    const { found, missing } = await fillGaps(deps, connected, { ...search, account, own, budget });
    gas.push(...(await book(deps, connected, account, [...own, ...found])));
    if (missing > 0) {
      const transactions = missing === 1 ? '1 transaction' : `${missing} transactions`;
      unplaced.push({
        id: account,
        problem: `sent ${transactions} whose gas is not in the books, in other blocks than these`,
      });
    }
  }
  return { gas, unplaced };
}

/**
 * Transactions without a stored send, in two groups: transactions with items of ours (`carriers`) whose gas is not booked, and
 * transactions whose gas an earlier rebuild booked. Open sends are left out, because the watcher books their gas.
 */
async function findUnsent(
  { db }: CommandDeps,
  { chain }: ConnectedChain,
  { carriers }: GasSearch,
): Promise<SentTransaction[]> {
  const network = chain.network.chainId;
  const hashes = [...carriers.keys()];
  const [booked, open, restored] = await Promise.all([
    positionsOf(db.sql, hashes),
    listSendsToFinish(db.sql, network),
    findGasWithoutSend(db.sql, network),
  ]);
  const isOpen = new Set(open.flatMap((send) => send.hashes));
  const unsent = [...restored, ...hashes.filter((hash) => !booked.has(hash) && !isOpen.has(hash))];
  const found: SentTransaction[] = [];
  for (let start = 0; start < unsent.length; start += ASKED_AT_ONCE) {
    const some = unsent.slice(start, start + ASKED_AT_ONCE);
    const sent = await Promise.all(some.map((hash) => chain.reader.sentTransaction(hash)));
    found.push(...sent.filter((each) => each !== undefined));
  }
  return found;
}

interface GapSearch extends GasSearch {
  readonly account: string;
  /** The transactions of the account that are already found and have no stored send. */
  readonly own: readonly SentTransaction[];
  /** The number of blocks that may still be read. */
  readonly budget: { blocks: number };
}

/**
 * Transactions of the account that have no stored row, found by gaps in the slots, and the number of slots in these gaps whose
 * transaction was not found.
 */
async function fillGaps(
  { db }: CommandDeps,
  { chain }: ConnectedChain,
  { account, own, carriers, from, to, budget }: GapSearch,
): Promise<{ found: readonly SentTransaction[]; missing: number }> {
  const sender = { network: chain.network.chainId, signer: account };
  // The chain is asked before the rows are read: a send is stored before it is broadcast, so every mined send is among the rows.
  const { atLeast, soleCount } = await askUsedSlots(chain.reader, account);
  const end = atLeast ?? soleCount;
  if (end === undefined) throw new ChainUnavailableError(sender.network, `no endpoint counts what ${account} has sent`);
  const gaps = await findSlotGaps(db.sql, sender, { found: own.map(({ slot }) => slot), end });
  const stored = await findSentSlots(db.sql, sender, [...carriers.keys()]);
  const places = [
    ...stored.map(({ hash, slot }) => ({ slot, block: carriers.get(hash) ?? from })),
    ...own.map(({ slot, block }) => ({ slot, block: block.number })),
  ].toSorted((a, b) => a.slot - b.slot);
  const found: SentTransaction[] = [];
  let missing = 0;
  /** Searches the blocks for the account's transactions with slots between `after` and `before`, until all are found. */
  const search = async (low: number, high: number, { after, before }: SlotGap) => {
    const lost: SentTransaction[] = [];
    for (let block = low; block <= high && lost.length < before - after - 1 && budget.blocks > 0; block += 1) {
      budget.blocks -= 1;
      const sent = await chain.reader.sentTransactions([account], block);
      lost.push(...sent.filter(({ slot }) => slot > after && slot < before));
    }
    found.push(...lost);
    return lost;
  };
  for (const { after, before } of gaps) {
    const low = Math.max(from, places.findLast(({ slot }) => slot <= after)?.block ?? from);
    const high = Math.min(to, places.find(({ slot }) => slot >= before)?.block ?? to);
    missing += before - after - 1 - (await search(low, high, { after, before })).length;
  }
  // The rows of the lowest slots may be lost, too. These slots are not among the gaps, because no known slot lies below them, so their
  // transactions are searched here. Slots below the oldest transaction that is found do not count as missing, because their blocks may be
  // before the search.
  const first = await firstAccounted(db, sender, own, end);
  const place = first === end ? { block: to } : places.find(({ slot }) => slot === first);
  if (first > 0 && place !== undefined) {
    const lost = await search(from, Math.min(to, place.block), { after: -1, before: first });
    const [oldest = first] = lost.map(({ slot }) => slot).toSorted((a, b) => a - b);
    missing += first - oldest - lost.length;
  }
  return { found, missing };
}

/** The lowest slot that belongs to a stored send or a found transaction; the next slot of the account if there is none. */
async function firstAccounted(
  db: CommandDeps['db'],
  sender: SenderId,
  own: readonly SentTransaction[],
  end: number,
): Promise<number> {
  const stored = await firstSlot(db.sql, sender);
  return Math.min(end, stored ?? end, ...own.map(({ slot }) => slot));
}

/**
 * Books the gas of the found transactions and returns their hashes. One endpoint has found the transactions; two must show the cost
 * of each. A concurrent rebuild waits for the lock, and then finds the gas booked.
 */
async function book(
  deps: CommandDeps,
  { chain }: ConnectedChain,
  account: string,
  found: readonly SentTransaction[],
): Promise<string[]> {
  const network = chain.network.chainId;
  const lost: (Pick<SentTransaction, 'block' | 'coinSpent'> & { readonly hash: string })[] = [];
  for (let start = 0; start < found.length; start += ASKED_AT_ONCE) {
    const some = found.slice(start, start + ASKED_AT_ONCE);
    const receipts = await Promise.all(some.map(({ hash }) => askReceipt(chain.reader, hash)));
    for (const [index, { hash }] of some.entries()) {
      const receipt = receipts[index];
      if (receipt === undefined || !isSameAddress(chain.network.chainId, receipt.from, account)) continue;
      lost.push({ hash, block: receipt.block, coinSpent: receipt.coinSpent });
    }
  }
  return command(deps, async (tx, at) => {
    await lockBalance(tx, ACCOUNTS.relayer(account), coinOf(deps.registry, network));
    const hashes = lost.map(({ hash }) => hash);
    const booked = await positionsOf(tx, hashes);
    const unbooked = lost.filter(({ hash }) => !booked.has(hash));
    const spent = unbooked.map(({ hash, block, coinSpent }) => {
      return { signer: account, hash, hashes: [hash], coinSpent, block: block.number };
    });
    await recordGas(tx, deps.registry, network, spent, at);
    return unbooked.map(({ hash }) => hash);
  });
}
