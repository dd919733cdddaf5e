import type { Chain } from '../../chains/chain.ts';
import type { ChainReader } from '../../chains/chain-reader.ts';
import { isSmall } from '../../chains/finality.ts';
import { conclude, fateOf, type ItemFate } from '../../domain/evidence.ts';
import { isAuthorized } from '../../domain/item.ts';
import { isFinal } from '../../domain/payment.ts';
import { LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import { type ChainCursor, findCursors, listSeenBlocks } from '../../store/chain/chain-cursors.ts';
import { findPaidCommitments, reconsiderEvents } from '../../store/chain/chain-events.ts';
import { findOpenItemsOf, type OpenItem } from '../../store/chain/due-items.ts';
import { type ItemEnd, itemOf, type StoredItem } from '../../store/chain/items.ts';
import { isRestoring } from '../../store/parties/freezes.ts';
import { closeItems } from '../books/record.ts';
import { allIsolated } from '../each-isolated.ts';
import { askWitnesses, blockKey, describeStatements, disputedBlock, type ReportedBlock } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { fateOfDeposit, isShortAddress } from './deposits/fate-of-deposit.ts';
import { findMissedEvent } from './find-missed-event.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * Lapses or expires payments whose chains prove that no valid attempt is left. A payment lapses if there is time to pay again, and
 * expires otherwise. Every item of the payment is checked, on its own network and at that network's last final block. An unknown
 * answer leaves the payment unchanged.
 */
export async function judgePayments(deps: WatchDeps, watcher: Watcher, subjects: readonly string[]): Promise<void> {
  if (subjects.length === 0) return;
  const items = await findOpenItemsOf(deps.db.sql, subjects);
  const views = await finalViews(deps, watcher, items);
  await allIsolated(
    [...Map.groupBy(items, ({ subject }) => subject)],
    ([, own]) => judge(deps, watcher, own, views),
    ([payment], err) => deps.log.error({ payment, err }, 'a payment cannot be judged'),
  );
}

/** A chain and its last final block. */
export interface FinalView extends ReportedBlock {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly paid: ReadonlySet<string>;
}

/** The reachable networks whose endpoints agree on the final block. */
export async function finalViews(
  deps: WatchDeps,
  watcher: Watcher,
  items: readonly StoredItem[],
): Promise<Map<string, FinalView>> {
  const cursors = await findCursors(deps.db.sql);
  const views = [...Map.groupBy(items, ({ network }) => network)].map(async ([network, own]) => {
    const chain = deps.chains.find(network)?.chain;
    const cursor = cursors.find((each) => each.network === network);
    if (chain === undefined || cursor === undefined) return [];
    const final = await askFinal(deps, watcher, chain.reader, cursor);
    if (final === undefined) return [];
    const commitments = own.map(({ commitment }) => commitment);
    const paid = await findPaidCommitments(deps.db.sql, { network, commitments });
    return [[network, { chain, cursor, paid, ...final }] as const];
  });
  return new Map((await Promise.all(views)).flat());
}

/**
 * The final block that enough endpoints confirm, each with the required depth. Undefined while they do not agree, or if the watcher
 * has stored another block at that height.
 */
async function askFinal(
  deps: WatchDeps,
  watcher: Watcher,
  reader: ChainReader,
  cursor: ChainCursor,
): Promise<ReportedBlock | undefined> {
  const { finalNumber, network } = cursor;
  const depth = reader.network.finality?.depth ?? 1;
  const { finding, statements } = await askWitnesses(
    reader,
    async (witness) => {
      const [head, block] = await Promise.all([witness.head(), witness.block(finalNumber)]);
      return block && head.number >= finalNumber + depth - 1 ? { block, head } : undefined;
    },
    ({ block }) => blockKey(block),
  );
  // The watchers of other networks report the disputes about their own final blocks.
  if (finding.is === 'disputed' && network === watcher.network) {
    const blocks = statements.map((each) => ({ ...each, answer: each.answer?.block }));
    watcher.memory.disputes.set('endings', disputedBlock(finalNumber, blocks));
  }
  if (finding.is !== 'agreed' && finding.is !== 'alone') return undefined;
  const { block, head } = finding.value;
  const isAlone = finding.is === 'alone';
  if (isAlone && head.number < finalNumber + LONE_DEPTH_FACTOR * depth - 1) return undefined;
  const read = (await listSeenBlocks(deps.db.sql, network)).find(({ number }) => number === finalNumber);
  return read === undefined || read.hash === block.hash ? { block, isAlone } : undefined;
}

async function judge(
  deps: WatchDeps,
  watcher: Watcher,
  items: readonly OpenItem[],
  views: ReadonlyMap<string, FinalView>,
): Promise<void> {
  const fates = await Promise.all(items.map((item) => fateOfItem(deps, watcher, item, views.get(item.network))));
  const [first] = items;
  if (first === undefined) return;
  const { subject: paymentId, paymentStatus, paymentExpiresAt } = first;
  const conclusion = conclude(paymentStatus, fates);
  const ended = items.map((item, index) => endOf(item, fates[index]));
  const isInTime = deps.world.clock.nowMs() < paymentExpiresAt.getTime();
  const isMoving = conclusion === 'over' && !(paymentStatus === 'requires_action' && isInTime);
  const alone = isMoving ? [] : endingAlone(items, fates);
  if (alone.length > 0) await commandOfLeader(deps, watcher.lease, (tx, now) => closeItems(tx, alone, now));
  if (!isFinal(paymentStatus) && (await isSweptUnseen(deps, watcher, items, { fates, views }))) return;
  if (!isMoving) return lapseBesideAddresses(deps, watcher, items, { fates, views });
  // After a restore from a backup, an item may look unpaid although it was paid since the backup. So the payment does not expire.
  if (!isInTime && (await isRestoring(deps.db.sql))) return;
  const finalBlockAtMs = Math.max(...items.map(({ network }) => timeOf(views.get(network))));
  // The payment may refuse this transition, because another attempt was accepted or the time ran out meanwhile. That is harmless: the
  // payment is checked again later.
  await deps.movePayment({
    paymentId,
    event: { type: isInTime ? 'lapsed' : 'expired', proof: { finalBlockAtMs } },
    actor: 'watcher',
    evidence: { items: endEvidence(items, ended), finalBlocks: finalBlocksOf(items, views) },
    items: { ended },
    lease: watcher.lease,
  });
}

/**
 * Items that end while their payment keeps its status. An item of an ended payment need not wait for other items. A coin action ends
 * if the payment has an open item with a later deadline; otherwise open coin actions would accumulate. The item with the last
 * deadline changes the status when it ends. While the payment is `processing`, the later item must be an attempt that can still be
 * carried out.
 */
function endingAlone(items: readonly OpenItem[], fates: readonly ItemFate[]): readonly ItemEnd[] {
  return items.flatMap((item, index) => {
    const { paymentStatus, method } = item;
    if (fates[index]?.is !== 'over') return [];
    const isOutlived = items.some(
      (other, at) =>
        isLater(other, item) &&
        (paymentStatus === 'requires_action' || (other.method !== 'deposit' && fates[at]?.is !== 'over')),
    );
    return isFinal(paymentStatus) || (method === 'native' && isOutlived) ? [endOf(item, fates[index])] : [];
  });
}

function isLater(one: OpenItem, other: OpenItem): boolean {
  const byMs = one.deadline.getTime() - other.deadline.getTime();
  return byMs > 0 || (byMs === 0 && one.key > other.key);
}

/**
 * True if a used authorization may have paid a deposit address, and a sweep that we do not know may have taken the money. The address
 * then looks as if nothing had arrived. So all blocks are searched for the sweep, and a sweep that is found is decided in the next
 * round. A single endpoint that has hidden the sweep may hide it again, so its answer ends nothing before the payment expires.
 */
async function isSweptUnseen(
  deps: WatchDeps,
  { lease, memory }: Watcher,
  items: readonly OpenItem[],
  { fates, views }: Judged,
): Promise<boolean> {
  const used = items.filter(({ method }, index) => isAuthorized(method) && isUsed(fates[index]));
  const isPayee = ({ method, network, asset }: OpenItem) =>
    method === 'deposit' && used.some((item) => item.network === network && item.asset === asset);
  for (const stored of items.filter(isPayee)) {
    const view = views.get(stored.network);
    if (view === undefined) return true;
    const { searches, reads } = memory;
    const ask = { ...view, stored, lease, searches, reads, type: 'swept' } as const;
    const { isNew, isAlone, isDone } = await findMissedEvent(deps, ask);
    const isInTime = deps.world.clock.nowMs() < stored.paymentExpiresAt.getTime();
    if (isNew || !isDone || (isAlone && isInTime)) return true;
  }
  return false;
}

function isUsed(fate: ItemFate | undefined): boolean {
  return fate?.is === 'over' && fate.reason === 'used';
}

/** The fates of a payment's items, in the order of the items, and the final blocks by which they were judged. */
interface Judged {
  readonly fates: readonly ItemFate[];
  readonly views: ReadonlyMap<string, FinalView>;
}

/**
 * Lapses a payment whose attempts can never be carried out while its deposit addresses are open. The addresses were open before the
 * attempts, and anybody can open them, so an address alone must not keep the payment `processing`. Only an address with enough money
 * does, because that money pays.
 */
async function lapseBesideAddresses(
  deps: WatchDeps,
  watcher: Watcher,
  items: readonly OpenItem[],
  { fates, views }: Judged,
): Promise<void> {
  const [first] = items;
  const addresses = items.filter(({ method }) => method === 'deposit');
  const isOver = items.every(({ method }, index) => method === 'deposit' || fates[index]?.is === 'over');
  if (first === undefined || addresses.length === items.length || !isOver) return;
  if (first.paymentStatus !== 'processing' || deps.world.clock.nowMs() >= first.paymentExpiresAt.getTime()) return;
  const areShort = await Promise.all(
    addresses.map((item) => isShortAddress(deps, watcher, item, views.get(item.network))),
  );
  if (!areShort.every(Boolean)) return;
  const ended = items.flatMap((item, index) => (item.method === 'deposit' ? [] : [endOf(item, fates[index])]));
  const finalBlockAtMs = Math.max(...items.map(({ network }) => timeOf(views.get(network))));
  await deps.movePayment({
    paymentId: first.subject,
    event: { type: 'lapsed', proof: { finalBlockAtMs }, keepsAddresses: true },
    actor: 'watcher',
    evidence: { items: endEvidence(items, ended), finalBlocks: finalBlocksOf(items, views) },
    items: { ended },
    lease: watcher.lease,
  });
}

/** The outcome of an item, as proven by its chain. */
export async function fateOfItem(
  deps: WatchDeps,
  watcher: Watcher,
  stored: StoredItem,
  view: FinalView | undefined,
): Promise<ItemFate> {
  if (view === undefined) return { is: 'unclear' };
  if (stored.method === 'deposit') return fateOfDeposit(deps, watcher, stored, view);
  const { chain, cursor, block, paid } = view;
  const { commitment, network } = stored;
  const item = itemOf(stored);
  const used = await askUse(watcher, view, stored);
  if (used === undefined) return { is: 'unclear' };
  let { isAlone } = used;
  let isReportedPaid = paid.has(commitment);
  if (isReportedPaid) {
    // The paid event was read before the item was stored, so it was decided as an unknown event. It has to be decided again.
    await commandOfLeader(deps, watcher.lease, (tx) => reconsiderEvents(tx, network, [commitment]));
  } else if (used.isUsed && !isAuthorized(item.method)) {
    const { lease, memory } = watcher;
    const { searches, reads } = memory;
    const search = await findMissedEvent(deps, { chain, cursor, block, stored, lease, searches, reads });
    if (!search.isDone) return { is: 'unclear' };
    isReportedPaid = search.isFound;
    isAlone ||= search.isAlone;
  }
  // A single endpoint may end small items. Larger ones wait for a second endpoint.
  if (isAlone && !isReportedPaid && !isSmall(deps, chain.network, stored)) return { is: 'unclear' };
  return fateOf({
    isNative: item.method === 'native',
    deadlineMs: stored.deadline.getTime(),
    finalAtMs: timeOf(view),
    isUsed: used.isUsed,
    isReportedPaid,
  });
}

/**
 * Whether the authorization is used at the final block, and whether only one endpoint says so. Undefined while the endpoints do not
 * agree.
 */
async function askUse({ memory }: Watcher, view: FinalView, stored: StoredItem) {
  const { chain, block, isAlone } = view;
  const { commitment, subject } = stored;
  const { finding, statements } = await askWitnesses(chain.reader, (witness) =>
    witness.isUsed(itemOf(stored), commitment, block.number),
  );
  if (finding.is === 'disputed') {
    const answers = describeStatements(statements, (isUsed) => (isUsed ? 'used' : 'not used'));
    memory.disputes.set('endings', `Whether the authorization of ${subject} was used: ${answers}.`);
  }
  if (finding.is !== 'agreed' && finding.is !== 'alone') return undefined;
  return { isUsed: finding.value, isAlone: isAlone || finding.is === 'alone' };
}

function timeOf(view: FinalView | undefined): number {
  return (view?.block.timestampS ?? 0) * 1000;
}

/** The ended items as they appear in the evidence of an event. The evidence names items by commitment, as the chain does. */
function endEvidence(items: readonly StoredItem[], ended: readonly ItemEnd[]) {
  const commitments = new Map(items.map(({ key, commitment }) => [key, commitment]));
  return ended.map(({ key, state, reason }) => ({ commitment: commitments.get(key), state, reason }));
}

function endOf({ key }: StoredItem, fate: ItemFate | undefined): ItemEnd {
  return { key, state: 'unpaid', reason: fate?.is === 'over' ? fate.reason : null };
}

function finalBlocksOf(items: readonly OpenItem[], views: ReadonlyMap<string, FinalView>) {
  return Object.fromEntries(items.map(({ network }) => [network, views.get(network)?.cursor.finalNumber]));
}
