import type { Chain } from '../../chains/chain.ts';
import { conclude, fateOf, type ItemFate } from '../../domain/evidence.ts';
import { type ChainCursor, findCursors } from '../../store/chain/chain-cursors.ts';
import { findPaidCommitments, reconsiderEvents } from '../../store/chain/chain-events.ts';
import { findOpenItemsOf, type OpenItem } from '../../store/chain/due-items.ts';
import { type ItemEnd, itemOf, type StoredItem } from '../../store/chain/items.ts';
import { closeItems } from '../books/record.ts';
import { command } from '../command.ts';
import { findMissedEvent } from './find-missed-event.ts';
import { isItsOwnFault, type WatchDeps, type Watcher } from './watcher.ts';

/**
 * Finds out which payments the chains prove to have no attempt left. Those lapse back if there is time to pay again, and
 * expire otherwise. Every item of the payment is asked about, on its own network and at that network's last final block.
 * Whatever cannot be found out leaves the payment as it is.
 */
export async function judgePayments(deps: WatchDeps, watcher: Watcher, subjects: readonly string[]): Promise<void> {
  if (subjects.length === 0) return;
  const items = await findOpenItemsOf(deps.db.sql, subjects);
  const views = await finalViews(deps, items);
  await Promise.all(
    [...Map.groupBy(items, ({ subject }) => subject)].map(([subject, own]) =>
      judge(deps, watcher, own, views).catch((error: unknown) => {
        if (!isItsOwnFault(error)) throw error;
        deps.log.error({ payment: subject, err: error }, 'a payment cannot be judged');
      }),
    ),
  );
}

/** A chain at its last final block. */
export interface FinalView {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly paid: ReadonlySet<string>;
}

/** Of the networks that can be asked, and whose final block is agreed upon. */
export async function finalViews(deps: WatchDeps, items: readonly StoredItem[]): Promise<Map<string, FinalView>> {
  const cursors = await findCursors(deps.db.sql);
  const views = [...Map.groupBy(items, ({ network }) => network)].map(async ([network, own]) => {
    const chain = deps.chains.find(network)?.chain;
    const cursor = cursors.find((each) => each.network === network);
    if (chain === undefined || cursor === undefined) return [];
    const block = await chain.block(cursor.finalNumber);
    if (block === undefined || !(await chain.isAgreed(block))) return [];
    const commitments = own.map(({ commitment }) => commitment);
    const paid = await findPaidCommitments(deps.db.sql, { network, commitments });
    return [[network, { chain, cursor, paid }] as const];
  });
  return new Map((await Promise.all(views)).flat());
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
  const ended = items.map(({ commitment }, index) => endOf(commitment, fates[index]));
  if (conclusion === 'over_anyway') await command(deps, (tx, now) => closeItems(tx, ended, now));
  if (conclusion !== 'over') return;
  const finalBlockAtMs = Math.max(...items.map(({ network }) => views.get(network)?.cursor.finalAt.getTime() ?? 0));
  const isInTime = paymentStatus === 'processing' && deps.world.clock.nowMs() < paymentExpiresAt.getTime();
  // A refused move is no loss: another attempt was accepted, or the time ran out just now. The payment comes up again.
  await deps.movePayment({
    paymentId,
    event: { type: isInTime ? 'lapsed' : 'expired', proof: { finalBlockAtMs } },
    actor: 'watcher',
    evidence: { items: ended, finalBlocks: finalBlocksOf(items, views) },
    items: { ended },
  });
}

/** What has become of an item, as its chain proves it. */
export async function fateOfItem(
  deps: WatchDeps,
  watcher: Watcher,
  stored: StoredItem,
  view: FinalView | undefined,
): Promise<ItemFate> {
  if (view === undefined) return { is: 'unclear' };
  const { chain, cursor, paid } = view;
  const { commitment, network } = stored;
  const item = itemOf(stored);
  const isUsed = await chain.isUsed(item, commitment, cursor.finalNumber);
  let isReportedPaid = paid.has(commitment);
  if (isReportedPaid) {
    // Reported before the item was known, it was taken for a look-alike then.
    await command(deps, (tx) => reconsiderEvents(tx, network, [commitment]));
  } else if (isUsed) {
    isReportedPaid = await findMissedEvent(deps, watcher, { chain, cursor, stored });
  }
  return fateOf({
    isNative: item.method === 'native',
    deadlineMs: stored.deadline.getTime(),
    finalAtMs: cursor.finalAt.getTime(),
    isUsed,
    isReportedPaid,
  });
}

function endOf(commitment: string, fate: ItemFate | undefined): ItemEnd {
  return { commitment, state: 'unpaid', reason: fate?.is === 'over' ? fate.reason : null };
}

function finalBlocksOf(items: readonly OpenItem[], views: ReadonlyMap<string, FinalView>) {
  return Object.fromEntries(items.map(({ network }) => [network, views.get(network)?.cursor.finalNumber]));
}
