import { ChainUnavailableError } from '../../chains/chain.ts';
import type { StoredEvent } from '../../store/chain/chain-events.ts';
import { lockFreezes } from '../../store/parties/freezes.ts';
import { hearEvents } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { ownAccounts } from '../outgoing/stray/record-strays.ts';
import { putFreeze } from '../parties/freeze.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * Looks for transfers out of our own accounts among final events without a stored item. Only the holder of the account's
 * key can cause one. So the database was restored from an older backup, or somebody else uses the key: payouts and refunds
 * on the network are frozen. Returns the events that endpoints could not confirm or refute yet.
 */
export async function noticeRestore(
  deps: WatchDeps,
  watcher: Watcher,
  unknown: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const connected = deps.chains.find(watcher.network);
  if (connected === undefined) return [];
  const own = new Set(ownAccounts(connected).map((account) => account.toLowerCase()));
  const left = unknown.filter(({ type, fields }) => type === 'paid' && own.has(fields.payer?.toLowerCase() ?? ''));
  const open: StoredEvent[] = [];
  for (const event of left) {
    const isShown = await isShownByEnough(watcher, event);
    if (isShown === undefined) open.push(event);
    if (isShown) await freezeRestored(deps, watcher, event);
  }
  return open;
}

/** Undefined when the endpoints could not be asked. One endpoint alone must not stop payouts by a lie. */
async function isShownByEnough({ chain }: Watcher, event: StoredEvent): Promise<boolean | undefined> {
  try {
    const { agreed } = await hearEvents(chain, event.blockNumber, event.blockNumber);
    return agreed.some(
      ({ commitment, transactionHash }) => commitment === event.commitment && transactionHash === event.transactionHash,
    );
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

async function freezeRestored(deps: WatchDeps, { network, lease }: Watcher, event: StoredEvent): Promise<void> {
  const { transactionHash, blockNumber } = event;
  const reason = `transaction ${transactionHash} in block ${blockNumber} left an account of ours, and the database does not know it. Run till rebuild from that block or an earlier one`;
  await commandOfLeader(deps, lease, async (tx, since) => {
    await lockFreezes(tx);
    await putFreeze(tx, { scope: 'restored', subject: network, reason, actor: 'watcher', since });
  });
}
