import { type Entry, entry } from '../../../domain/books.ts';
import { unexpectedId } from '../../../domain/unexpected-money.ts';
import { type AccountMovement, deleteAccountMovementsAbove } from '../../../store/chain/account-movements.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { deleteUnclaimed, findUnexpected } from '../../../store/money/unexpected-money.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { endStrayAlert } from './stray-alert.ts';
import { takeBackDepartures } from './take-back-departures.ts';

/**
 * Deletes the movements of our accounts above a block, and reverses the book entries of movements without an owner. Called only after a
 * reorg deeper than final depth; the watcher then reads the blocks again. Unexpected money that was claimed (as a float or by a return)
 * stays claimed. Until its transfer is mined again, the account holds less than the books say, which the solvency check reports.
 */
export async function undoAccountMovements(
  tx: Tx,
  { network, above }: { readonly network: string; readonly above: number },
  at: Date,
): Promise<void> {
  const gone = await deleteAccountMovementsAbove(tx, network, above);
  if (gone.length === 0) return;
  const arrived = gone.filter(({ recipientOwner }) => recipientOwner === 'nobody');
  const left = gone.filter(({ senderOwner }) => senderOwner === 'nobody');
  const idOf = (movement: AccountMovement) => unexpectedId({ ...movement, network, source: 'transfer' });
  const booked = await positionsOf(tx, arrived.map(idOf));
  const entries: Entry[] = [];
  for (const movement of arrived) {
    const id = idOf(movement);
    if (await deleteUnclaimed(tx, id)) {
      const { asset, recipient: account } = movement;
      await endStrayAlert(tx, { id, account, asset });
      const about = { network, asset, subject: id, reference: id, merchantId: null };
      const lines = (booked.get(id) ?? []).map(({ account: line, units }) => ({ account: line, units: -units }));
      if (lines.length > 0) entries.push(entry('stray_received', about, lines));
    } else if ((await findUnexpected(tx, [id])).length > 0) {
      const message = `A reorganisation deeper than final depth removed transaction ${movement.transactionHash}, whose money somebody has claimed or got back.`;
      await upsertAlert(tx, { name: 'deep_reorg', subject: id, message, lastSeen: at });
    }
  }
  await takeBackDepartures(tx, { network, departures: left }, at);
  await recordEntries(tx, entries, at);
}
