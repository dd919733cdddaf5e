import type { ChainEvent } from '../../chains/chain.ts';
import type { StoredEvent } from '../../store/chain/chain-events.ts';
import { raiseAlert } from '../alerts.ts';
import { isItsOwnFault, type WatchDeps, type Watcher } from './watcher.ts';

/**
 * The events of these blocks. A block that cannot be read although the chain answers is found by halving, and set aside
 * with an alert: one of them must not stop the rest. A payment in it is not lost, because no item ends as unpaid while
 * the chain says that its authorization was used.
 */
export async function readEvents(
  deps: WatchDeps,
  watcher: Watcher,
  from: number,
  to: number,
): Promise<readonly ChainEvent[]> {
  const { chain, network } = watcher;
  try {
    return await chain.events(from, to);
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
    if (from < to) {
      const middle = Math.floor((from + to) / 2);
      const left = await readEvents(deps, watcher, from, middle);
      return [...left, ...(await readEvents(deps, watcher, middle + 1, to))];
    }
    deps.log.error({ network, block: from, err: error }, 'the events of a block cannot be read');
    const message = 'The events of this block cannot be read; it was set aside.';
    await raiseAlert(deps, { name: 'block_set_aside', subject: `${network}:${from}`, message });
    return [];
  }
}

export function storedEvent(event: ChainEvent): StoredEvent {
  const { block, transactionHash, logIndex, commitment } = event;
  const fields: Record<string, string> =
    event.type === 'refused'
      ? { reason: event.reason }
      : {
          subject: event.subject,
          payer: event.payer,
          asset: event.asset,
          amount: event.amount.toString(),
          fee: event.fee.toString(),
          recipient: event.recipient,
        };
  return {
    transactionHash,
    logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    commitment,
    type: event.type,
    fields,
  };
}
