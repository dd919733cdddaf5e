import { type ChainEvent, ChainUnavailableError, type Witness } from '../../chains/chain.ts';
import { addEvents } from '../../store/chain/chain-events.ts';
import { countPayerFailures } from '../../store/chain/payer-failures.ts';
import {
  type FinishedSend,
  findLiveItems,
  finishSends,
  listSendsToFinish,
  type SendToFinish,
} from '../../store/chain/sends.ts';
import { recordGas, type SpentGas } from '../books/record-gas.ts';
import { commandOfLeader } from '../lease.ts';
import { retryDelayMs } from '../relay/relayer.ts';
import { clearFound, storedEvent } from './read-events.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

const MAX_SENDS = 500;
/** The failures after which the backoff of an item no longer grows. */
const MAX_DOUBLINGS = 8;

/** A payer whose items keep failing on the chain is tried less than a dozen times an hour. */
const PAYER_PAUSE = { firstMs: 5_000, maxMs: 3_600_000 };

/**
 * Closes the sends that are mined at final depth. It runs after the events of those blocks were applied. An item of
 * such a send that is still open then was not paid by it, and is due again.
 */
export async function finishMinedSends(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  const { chain, network, lease } = watcher;
  const open = await listSendsToFinish(deps.db.sql, network, MAX_SENDS);
  if (open.length === 0) return;
  const signers = [...new Set(open.map(({ signer }) => signer))];
  const mined = new Map(
    await Promise.all(signers.map(async (signer) => [signer, await chain.minedNonce(signer)] as const)),
  );
  const passed = open.filter(({ signer, nonce }) => nonce < (mined.get(signer) ?? 0));
  const finished = await Promise.all(passed.map((send) => finishedVersion(watcher, send, view)));
  const sends = await withoutUnread(
    deps,
    watcher,
    finished.filter((send) => send !== undefined),
  );
  if (sends.length === 0) return;
  const delaysMs = Array.from({ length: MAX_DOUBLINGS }, (_, attempts) => retryDelayMs(deps.world, attempts));
  const released = await commandOfLeader(deps, lease, async (tx, now) => {
    await recordGas(tx, network, sends, now);
    const items = await finishSends(tx, network, sends, { at: now, delaysMs });
    // The payer of our own transfers is an account of ours.
    const payers = items.flatMap(({ payer, purpose, isFailure }) =>
      purpose === 'payment' && isFailure ? [payer] : [],
    );
    await countPayerFailures(tx, { network, payers, at: now, pause: PAYER_PAUSE });
    return items.length;
  });
  deps.world.crashPoint?.('watch.finished');
  deps.log.debug({ network, sends: sends.length, released }, 'sends are final');
}

/**
 * Leaves out sends whose receipt has events that the list of logs did not have, because an endpoint omitted them. Those
 * events are stored here, and the send is closed after they have been applied.
 */
async function withoutUnread<T extends FinishedSend>(
  deps: WatchDeps,
  { chain, network, lease }: Watcher,
  sends: readonly T[],
): Promise<T[]> {
  const checked = await Promise.all(
    sends.map(async (send) => {
      const { hash, signer, nonce } = send;
      if (hash === null || (await findLiveItems(deps.db.sql, { network, signer }, nonce)).length === 0) return send;
      const events = (await Promise.all(chain.witnesses().map((witness) => eventsOf(witness, hash)))).flat();
      if (events.length === 0) return send;
      const added = await commandOfLeader(deps, lease, (tx, at) => addEvents(tx, network, events.map(storedEvent), at));
      if (added === 0) return send;
      await clearFound(deps, network, events);
      deps.log.warn(
        { network, transaction: hash, events: added },
        'events were found in a receipt that no endpoint had listed',
      );
      return undefined;
    }),
  );
  return checked.filter((send) => send !== undefined);
}

async function eventsOf(witness: Witness, hash: string): Promise<readonly ChainEvent[]> {
  try {
    return (await witness.receipt(hash))?.events ?? [];
  } catch (error) {
    if (error instanceof ChainUnavailableError) return [];
    throw error;
  }
}

/** The version that was mined, or none if another transaction used the nonce. Undefined while it is not final. */
async function finishedVersion(
  { chain, memory }: Watcher,
  { signer, nonce, hashes }: SendToFinish,
  view: View,
): Promise<(FinishedSend & SpentGas) | undefined> {
  const states = await Promise.all(hashes.map((hash) => chain.findTransaction(hash)));
  const key = `${signer} ${nonce}`;
  const index = states.findIndex(({ is }) => is === 'mined');
  const state = states[index];
  const hash = hashes[index];
  if (state?.is === 'mined' && hash !== undefined) {
    memory.foreign.delete(key);
    if (state.block.number > view.finalNumber) return undefined;
    return {
      signer,
      nonce,
      hash,
      hashes,
      gasSpent: state.gasSpent,
      coinSpent: state.coinSpent,
      block: state.block.number,
    };
  }
  // An endpoint may lag behind, so this counts only when all blocks read so far are final.
  const seenAt = memory.foreign.get(key) ?? view.readNumber + 1;
  memory.foreign.set(key, seenAt);
  if (view.finalNumber < seenAt) return undefined;
  memory.foreign.delete(key);
  return { signer, nonce, hash: null, hashes, gasSpent: 0n, coinSpent: 0n, block: view.finalNumber };
}
