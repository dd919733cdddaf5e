import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { Block } from '../../chains/chain-reader.ts';
import type { ReportedSlots } from '../../domain/quorum.ts';
import { isOutside, type JournalSlots, placeSlots, SLOT_REACH, withFinal } from '../../domain/slots.ts';
import { findCursors } from '../../store/chain/chain-cursors.ts';
import { lastFinalSlot, lastSlot, listOpenSends, reopenSends } from '../../store/chain/sends.ts';
import { askUsedSlots } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { alarmSubject } from './check-relayer.ts';
import type { Journal, RelayDeps, Relayer } from './relayer.ts';

/**
 * The stored sends that are not mined, and the next slot. A final send that is not mined is reopened, because its bytes are still
 * valid and all later slots wait for it. Either a deep reorg has removed it, or it was given up while the relayer's key was missing.
 */
export async function readJournal(deps: RelayDeps, relayer: Relayer, head: Block): Promise<Journal> {
  const { id, lease, alarms } = relayer;
  const { sql } = deps.db;
  // The chain is asked before the rows are read: a send is stored before it is broadcast, so every mined send is among the rows.
  const reported = await askUsedSlots(relayer.chain.reader, id.signer);
  const [last, lastFinal] = await Promise.all([lastSlot(sql, id), lastFinalSlot(sql, id)]);
  const placed = placeSlots(await confirmed(deps, relayer, { reported, slots: { last, lastFinal }, head }), {
    last,
    lastFinal,
  });
  if (placed === undefined) {
    throw new ChainUnavailableError(id.network, `too few endpoints say how many transactions ${id.signer} has sent`);
  }
  const { used, reopenFrom, mayTake } = placed;
  const range = { from: used, to: used + SLOT_REACH };
  if (reopenFrom !== undefined) {
    const reopened = await commandOfLeader(deps, lease, (tx) => reopenSends(tx, id, range));
    const message = 'sends that were final or given up are not mined: sending them again';
    if (reopened > 0) deps.log.warn({ ...id, usedSlots: used, reopened }, message);
  }
  const dispute = `One endpoint says that ${reported.soleCount} transactions are mined, more than were ever signed, and no second endpoint confirms it. Nothing new is sent.`;
  await alarms.counts.set(alarmSubject(id), mayTake ? undefined : dispute);
  const [open, taken = -1] = await Promise.all([listOpenSends(sql, id, range), lastSlot(sql, id, range.to)]);
  return { open, usedSlots: used, nextSlot: Math.max(used, taken + 1), mayTake };
}

/**
 * The reported counts of used slots. If the only endpoint contradicts the journal, its count must be confirmed by its count at a final
 * block, because a single answer may be wrong.
 */
async function confirmed(
  { db }: RelayDeps,
  { chain, id }: Relayer,
  { reported, slots, head }: { reported: ReportedSlots; slots: JournalSlots; head: Block },
): Promise<ReportedSlots> {
  if (!reported.isAlone || !isOutside(reported, slots)) return reported;
  const cursor = (await findCursors(db.sql)).find(({ network }) => network === id.network);
  const depth = chain.network.finality?.depth ?? 1;
  const final = cursor?.finalNumber ?? Math.max(0, head.number - depth + 1);
  for (const witness of chain.reader.witnesses()) {
    try {
      return withFinal(reported, await witness.usedSlots(id.signer, final));
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
  }
  return reported;
}
