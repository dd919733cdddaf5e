import type { ChainEvent, Witness } from '../../chains/chain-reader.ts';
import { slotWord } from '../../domain/addresses/families.ts';
import type { ReportedSlots } from '../../domain/quorum.ts';
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
import {
  askUsedSlots,
  askWitnesses,
  describeStatements,
  NO_RECEIPT,
  type ReceiptAnswer,
  type Reported,
  reportedReceipt,
} from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { retryDelayMs } from '../relay/relayer.ts';
import { clearFound, storedEvent } from './read-events.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

/** The number of failures after which the backoff of an item stops growing. */
const MAX_DOUBLINGS = 8;

/**
 * The pause of a payer's items after a failure on chain. It doubles with each failure within the hour, so a payer whose items keep
 * failing causes less than a dozen transactions an hour.
 */
const PAYER_PAUSE = { firstMs: 5_000, maxMs: 3_600_000 };

/**
 * Closes the sends that are mined at final depth. Runs after the events of those blocks were applied: an item of a closed send that
 * is still open was not paid by that send, and is due again.
 */
export async function finishMinedSends(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  const { chain, network, lease } = watcher;
  watcher.memory.disputes.delete('sends');
  const open = await listSendsToFinish(deps.db.sql, network);
  if (open.length === 0) return;
  const signers = [...new Set(open.map(({ signer }) => signer))];
  const slots = new Map(
    await Promise.all(signers.map(async (signer) => [signer, await askUsedSlots(chain.reader, signer)] as const)),
  );
  // The count of one endpoint suffices to read the receipts, because two endpoints must then show the same receipt.
  const passed = open.filter(({ signer, slot }) => slot < (slots.get(signer)?.highest ?? 0));
  const finished = await Promise.all(
    passed.map((send) => finishedVersion(watcher, send, { view, reported: slots.get(send.signer) })),
  );
  const sends = await withoutUnread(
    deps,
    watcher,
    finished.filter((send) => send !== undefined),
  );
  if (sends.length === 0) return;
  const delaysMs = Array.from({ length: MAX_DOUBLINGS }, (_, attempts) => retryDelayMs(deps.world, attempts));
  const released = await commandOfLeader(deps, lease, async (tx, now) => {
    await recordGas(tx, deps.registry, network, sends, now);
    const items = await finishSends(tx, network, sends, { at: now, delaysMs });
    // Failures count only for payers of payments. The payer of our own transfers is an account of ours, which must not be slowed
    // down.
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
 * Removes sends whose receipt has events that were missing in the list of logs, because an endpoint omitted them. Those events are
 * stored here, and the send is closed after they have been applied. If two endpoints show the same events, those of a third do not
 * count: a made-up event would be deleted and found again in each round.
 */
async function withoutUnread<T extends FinishedSend>(
  deps: WatchDeps,
  { chain, network, lease }: Watcher,
  sends: readonly T[],
): Promise<T[]> {
  const checked = await Promise.all(
    sends.map(async (send) => {
      const { hash, signer, slot } = send;
      if (hash === null || (await findLiveItems(deps.db.sql, { network, signer }, slot)).length === 0) return send;
      const { finding, statements } = await askWitnesses(chain.reader, (witness) => eventsOf(witness, hash), eventsKey);
      if (finding.is === 'open') return undefined;
      // If the endpoints contradict each other, the events of all of them are stored. The proof of events then reports which endpoint
      // shows what.
      const reported = statements.flatMap(({ answer }) => answer ?? []);
      const events = finding.is === 'disputed' ? reported : finding.value;
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

async function eventsOf(witness: Witness, hash: string): Promise<readonly ChainEvent[] | undefined> {
  return (await witness.receipt(hash))?.events;
}

/** A key that is equal for lists with the same events, in any order, even if an endpoint lists an event twice. */
function eventsKey(events: readonly ChainEvent[]): string {
  return [...new Set(events.map((event) => JSON.stringify(storedEvent(event))))].sort().join();
}

/**
 * The mined version of a send. Its `hash` is null if another transaction used the slot. Undefined while the mined transaction is not
 * final, or while the endpoints do not agree. The answer must be certain, because afterwards its cost is booked and relayers send its
 * unpaid items again.
 */
async function finishedVersion(
  { chain, network, memory }: Watcher,
  { signer, slot, hashes }: SendToFinish,
  { view, reported }: { readonly view: View; readonly reported: ReportedSlots | undefined },
): Promise<(FinishedSend & SpentGas) | undefined> {
  const found = await Promise.all(hashes.map((hash) => reportedReceipt(chain.reader, hash)));
  const values = found.map(({ finding }) =>
    finding.is === 'agreed' || finding.is === 'alone' ? finding.value : undefined,
  );
  const key = `${signer} ${slot}`;
  const index = values.findIndex((value) => value !== undefined && value !== NO_RECEIPT);
  const receipt = values[index];
  const hash = hashes[index];
  if (receipt !== undefined && receipt !== NO_RECEIPT && hash !== undefined) {
    memory.foreign.delete(key);
    const { block, workSpent, coinSpent } = receipt;
    if (block.number > view.finalNumber) return undefined;
    return { signer, slot, hash, hashes, workSpent, coinSpent, block: block.number };
  }
  const isGone =
    values.every((value) => value === NO_RECEIPT) &&
    slot < (reported?.atLeast ?? (reported?.isAlone ? reported.soleCount : 0) ?? 0);
  if (!isGone) {
    const dispute = found.find((each) => isDisputed(each, view));
    if (dispute !== undefined) memory.disputes.set('sends', disputeText(network, slot, dispute));
    return undefined;
  }
  // An endpoint may lag behind, so a foreign transaction counts only when all blocks that were read at its discovery are final.
  const seenAt = memory.foreign.get(key) ?? view.readNumber + 1;
  memory.foreign.set(key, seenAt);
  if (view.finalNumber < seenAt) return undefined;
  memory.foreign.delete(key);
  return { signer, slot, hash: null, hashes, workSpent: 0n, coinSpent: 0n, block: view.finalNumber };
}

/**
 * True if the endpoints contradict each other about a receipt in a final block. Near the head a contradiction proves nothing: an
 * endpoint may be one block behind.
 */
function isDisputed({ finding, statements }: Reported<ReceiptAnswer>, { finalNumber }: View): boolean {
  if (finding.is !== 'disputed') return false;
  return statements.some(
    ({ answer }) => answer !== undefined && answer !== NO_RECEIPT && answer.block.number <= finalNumber,
  );
}

function disputeText(network: string, slot: number, { statements }: Reported<ReceiptAnswer>): string {
  const answers = describeStatements(statements, (each) =>
    each === NO_RECEIPT
      ? 'that it has no receipt'
      : `that block ${each.block.number} has it, at a cost of ${each.coinSpent}`,
  );
  return `The transaction with ${slotWord(network)} ${slot}: ${answers}.`;
}
