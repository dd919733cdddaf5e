import { ChainUnavailableError, type Incoming } from '../../../chains/chain.ts';
import { listSeenBlocks } from '../../../store/chain/chain-cursors.ts';
import {
  type DepositCursor,
  type DepositTransfer,
  findDepositCursor,
  putDepositCursor,
  putDepositTransfers,
} from '../../../store/chain/deposit-transfers.ts';
import { listDeposits } from '../../../store/chain/deposits.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import { commandOfLeader } from '../../lease.ts';
import type { View, WatchDeps, Watcher } from '../watcher.ts';

/** Addresses are watched this long: money may come late, or twice. */
const WATCHED_MS = 30 * 86_400_000;
const MAX_LOADED = 10_000;
/** No transaction of a request is open this long: PostgreSQL ends its statements and pauses after 15 s each. */
const COMMITTED_MS = 60_000;

/**
 * Reads the transfers to deposit addresses: the new blocks, and once more those that have become final. All tokens and
 * addresses are read together, so the number of calls does not depend on the number of addresses.
 */
export async function readTransfers(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  await loadDeposits(deps, watcher);
  const { network, lease, memory } = watcher;
  if (memory.deposits.byAddress.size === 0) return;
  const cursor = await findDepositCursor(deps.db.sql, network);
  const { readNumber, finalNumber } = cursor ?? (await firstCursor(deps, network));
  const next: DepositCursor = {
    readNumber: Math.max(readNumber, view.readNumber),
    finalNumber: Math.max(finalNumber, view.finalNumber),
  };
  if (cursor !== undefined && next.readNumber === readNumber && next.finalNumber === finalNumber) return;
  const found = await Promise.all([
    readRange(watcher, readNumber + 1, next.readNumber),
    readRange(watcher, finalNumber + 1, Math.min(next.finalNumber, readNumber)),
  ]);
  const transfers = await storable(deps, watcher, found.flat());
  await commandOfLeader(deps, lease, async (tx, at) => {
    const added = new Set((await putDepositTransfers(tx, network, transfers, at)).map(keyOf));
    for (const transfer of transfers.filter((each) => each.isScreened && added.has(keyOf(each)))) {
      const message = `Money came to a deposit address from ${transfer.sender}, which is on the screening list. It does not count, and is not swept.`;
      await upsertAlert(tx, { name: 'screened_payer', subject: transfer.commitment, message, lastSeen: at });
    }
    await putDepositCursor(tx, network, next);
  });
  if (transfers.length > 0) deps.world.crashPoint?.('deposit.stored');
}

/** The first address was handed out before the chain was read for the first time: all known blocks are read. */
async function firstCursor(deps: WatchDeps, network: string): Promise<DepositCursor> {
  const lowest = (await listSeenBlocks(deps.db.sql, network)).at(-1)?.number ?? 0;
  return { readNumber: lowest - 1, finalNumber: lowest - 1 };
}

/**
 * Adds new addresses to memory. They leave it with the lease. A row may be committed after one with a higher number, so
 * those of the last seconds are read in every round.
 */
async function loadDeposits(deps: WatchDeps, { network, memory: { deposits } }: Watcher): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  const since = new Date(nowMs - WATCHED_MS);
  for (let after = deposits.settledNumber; ; ) {
    const rows = await listDeposits(deps.db.sql, { network, after, since, limit: MAX_LOADED });
    for (const row of rows) {
      deposits.byAddress.set(row.address, row);
      after = row.number;
      if (row.openedAt.getTime() < nowMs - COMMITTED_MS) deposits.settledNumber = row.number;
    }
    if (rows.length < MAX_LOADED) return;
  }
}

async function readRange({ chain, memory }: Watcher, from: number, to: number): Promise<readonly Incoming[]> {
  if (from > to) return [];
  return chain.incoming(memory.deposits.byAddress, from, to);
}

/** The transfers with the times of their blocks, and whether their senders are on the screening list. */
async function storable(
  deps: WatchDeps,
  { chain, network, memory }: Watcher,
  found: readonly Incoming[],
): Promise<DepositTransfer[]> {
  const numbers = [...new Set(found.map(({ block }) => block.number))];
  const blocks = new Map(
    await Promise.all(numbers.map(async (number) => [number, await chain.block(number)] as const)),
  );
  return found.flatMap((transfer): DepositTransfer[] => {
    const { block, transactionHash, logIndex, asset, from, to, amount } = transfer;
    const header = blocks.get(block.number);
    if (header?.hash !== block.hash) {
      throw new ChainUnavailableError(network, 'its blocks and transfers do not belong together');
    }
    const deposit = memory.deposits.byAddress.get(to);
    if (deposit === undefined) return [];
    const { hits } = deps.screening.decide([`${network}:${from}`]);
    return [
      {
        transactionHash,
        logIndex,
        blockNumber: block.number,
        blockHash: block.hash,
        at: new Date(header.timestampS * 1000),
        commitment: deposit.commitment,
        asset,
        sender: from,
        amount: amount.toString(),
        isScreened: hits.length > 0,
      },
    ];
  });
}

function keyOf({ transactionHash, logIndex }: Pick<DepositTransfer, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash} ${logIndex}`;
}
