import { unlessUnavailable } from '../../chains/chain-errors.ts';
import type { Block, ChainEvent, ChainReader, Witness } from '../../chains/chain-reader.ts';
import { finalityOf, isSmall } from '../../chains/finality.ts';
import type { FinalityTag } from '../../chains/network.ts';
import type { RegistryDeps } from '../../chains/registry.ts';
import { type Heights, LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import type { StoredEvent } from '../../store/chain/chain-events.ts';
import type { StoredItem } from '../../store/chain/items.ts';
import { askHeights, askWitnesses, describeStatements } from '../evidence.ts';
import { storedEvent } from './read-events.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

export interface KnownEvent {
  readonly event: StoredEvent;
  readonly item: StoredItem;
}

export interface ProvedEvents {
  /** Events that are deep enough and confirmed by enough endpoints. */
  readonly proved: readonly KnownEvent[];
  /** Events that enough endpoints deny, although these endpoints have the blocks. */
  readonly refuted: readonly KnownEvent[];
}

/** The pause between two requests about a contradiction, which does not disappear in a moment. */
const ASK_AGAIN_MS = 2_000;

/**
 * Compares stored events with the receipts of their transactions, from each endpoint. The events came from one endpoint, which may
 * have forged them.
 */
export async function proveEvents(
  deps: WatchDeps,
  watcher: Watcher,
  view: View,
  known: readonly KnownEvent[],
): Promise<ProvedEvents> {
  const { chain, memory } = watcher;
  const nowMs = deps.world.clock.nowMs();
  const depths = depthChecker(deps, watcher, view);
  const keys = new Set(known.map(({ event }) => keyOf(event)));
  for (const key of memory.askAgainAtMs.keys()) if (!keys.has(key)) memory.askAgainAtMs.delete(key);
  const isDue = ({ event }: KnownEvent) => view.hasNews || nowMs >= (memory.askAgainAtMs.get(keyOf(event)) ?? 0);
  const deep = (
    await Promise.all(known.filter(isDue).map(async (each) => ({ ...each, ...(await depths(each)) })))
  ).filter(({ isDeep, isDeepAlone }) => isDeep || isDeepAlone);
  const show = showings(
    chain.reader,
    deep.map(({ event }) => event),
  );
  const proved: KnownEvent[] = [];
  const refuted: KnownEvent[] = [];
  const disputes: string[] = [];
  await Promise.all(
    deep.map(async ({ event, item, isDeep, isDeepAlone }) => {
      const { finding, statements } = await askWitnesses(chain.reader, (witness) => show(witness, event));
      memory.askAgainAtMs.delete(keyOf(event));
      if (finding.is === 'disputed') {
        disputes.push(`Transaction ${event.transactionHash} of ${item.subject}: ${describeStatements(statements)}`);
        memory.askAgainAtMs.set(keyOf(event), nowMs + ASK_AGAIN_MS);
        return;
      }
      if (finding.is === 'open') return;
      if (finding.is === 'agreed' ? !isDeep && !isDeepAlone : !isDeepAlone) return;
      if (finding.value === SHOWN) proved.push({ event, item });
      if (finding.value === HIDDEN) refuted.push({ event, item });
    }),
  );
  const more = disputes.length > 1 ? ` There are ${disputes.length - 1} more.` : '';
  if (disputes.length > 0) memory.disputes.set('events', `${disputes[0]}.${more}`);
  else if (memory.askAgainAtMs.size === 0) memory.disputes.delete('events');
  return { proved, refuted };
}

/** Returns a function that checks whether an event is deep enough according to two endpoints, or to a single one. */
function depthChecker(deps: RegistryDeps, { chain, depth: ownDepth }: Watcher, { heights }: View) {
  const tagged = new Map<FinalityTag, Promise<Heights>>();
  const heightsOf = (tag: FinalityTag) => {
    const known = tagged.get(tag) ?? askHeights(chain.reader, (witness) => witness.block(tag));
    tagged.set(tag, known);
    return known;
  };
  return async ({ event, item }: KnownEvent) => {
    // Only a paid event may need more than the network's own depth.
    const { depth, tag } =
      event.type === 'paid' ? finalityOf(deps, chain.network, item) : { depth: ownDepth, tag: undefined };
    const named = tag && (await heightsOf(tag));
    const depthBy = (height = -1) => height - event.blockNumber + 1;
    const isNamed = (height: number | undefined) => named === undefined || depthBy(height) > 0;
    return {
      isDeep: depthBy(heights.agreed) >= depth && isNamed(named?.agreed),
      isDeepAlone:
        isSmall(deps, chain.network, item) &&
        depthBy(heights.alone) >= depth * LONE_DEPTH_FACTOR &&
        isNamed(named?.agreed ?? named?.alone),
    };
  };
}

/** The possible answers of an endpoint about an event. */
export const SHOWN = 'its receipt shows the payment';
const HIDDEN = 'it has the block, and the payment is not in it';
const ELSEWHERE = 'it has another block';

/** Asks each endpoint for all events at once, so that its calls share a request. */
export function showings(reader: ChainReader, events: readonly StoredEvent[]) {
  const asked = new Map<string, Promise<Seen>>();
  // If a single endpoint suffices, it has reported the event itself. Only its block has to be checked.
  const needsReceipts = !(reader.network.isTrustedAlone && reader.witnesses().length === 1);
  return async (witness: Witness, event: StoredEvent): Promise<string | undefined> => {
    const seeing = asked.get(witness.name) ?? see(witness, events, needsReceipts);
    asked.set(witness.name, seeing);
    const { receipts, blocks } = await seeing;
    const block = blocks.get(event.blockNumber);
    const receipt = receipts.get(event.transactionHash);
    if (block === undefined || (needsReceipts && receipt === undefined)) return undefined;
    if (block.hash !== event.blockHash) return ELSEWHERE;
    if (!needsReceipts) return SHOWN;
    const reported = receipt?.get(event.logIndex);
    return reported !== undefined && isSame(storedEvent(reported), event) ? SHOWN : HIDDEN;
  };
}

interface Seen {
  /**
   * The events of each transaction by their log index: an empty map if the endpoint has no receipt, undefined if it gave no answer. They
   * are in a map, because anybody can put thousands of events of known items into one transaction, and searching a list for each would be
   * slow.
   */
  readonly receipts: ReadonlyMap<string, ReadonlyMap<number, ChainEvent> | undefined>;
  readonly blocks: ReadonlyMap<number, Block | undefined>;
}

async function see(witness: Witness, events: readonly StoredEvent[], needsReceipts: boolean): Promise<Seen> {
  const hashes = needsReceipts ? [...new Set(events.map(({ transactionHash }) => transactionHash))] : [];
  const numbers = [...new Set(events.map(({ blockNumber }) => blockNumber))];
  const [receipts, blocks] = await Promise.all([
    Promise.all(
      hashes.map((hash) =>
        unlessUnavailable(
          witness.receipt(hash).then((receipt) => new Map(receipt?.events.map((each) => [each.logIndex, each]))),
        ),
      ),
    ),
    Promise.all(numbers.map((number) => unlessUnavailable(witness.block(number)))),
  ]);
  return {
    receipts: new Map(hashes.map((hash, index) => [hash, receipts[index]])),
    blocks: new Map(numbers.map((number, index) => [number, blocks[index]])),
  };
}

function isSame(reported: StoredEvent, stored: StoredEvent): boolean {
  const { fields, ...place } = reported;
  const { fields: storedFields, ...storedPlace } = stored;
  const names = new Set([...Object.keys(fields), ...Object.keys(storedFields)]);
  return (
    keyOf(reported) === keyOf(stored) &&
    place.blockHash === storedPlace.blockHash &&
    place.commitment === storedPlace.commitment &&
    place.type === storedPlace.type &&
    names.values().every((name) => fields[name] === storedFields[name])
  );
}

function keyOf({ transactionHash, logIndex }: StoredEvent): string {
  return `${transactionHash}:${logIndex}`;
}
