import { ACCOUNTS, type Entry, entry, type Line, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { unexpectedId } from '../../../domain/unexpected-money.ts';
import { type AccountMovement, deleteAccountMovementsAbove } from '../../../store/chain/account-movements.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteUnclaimed, findUnexpected } from '../../../store/money/unexpected-money.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { departureKey } from './book-departures.ts';
import { endStrayAlert } from './stray-alert.ts';

/**
 * Deletes the movements of our accounts above a block, and takes back what was booked for those of nobody. They are read again. Only
 * a reorganisation below final depth reaches them. Unexpected money that somebody has claimed stays claimed: its account lacks the
 * money, which the solvency check finds, until the transfer is mined again.
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
  const references = [...arrived.map(idOf), ...left.map((movement) => departureKey(network, movement))];
  const booked = await positionsOf(tx, references);
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
  for (const movement of left) {
    const reference = departureKey(network, movement);
    const lines = booked.get(reference) ?? [];
    if (lines.length === 0) continue;
    const { asset, sender: account } = movement;
    const back = backLines(lines, { account, lacking: BigInt(movement.lacking) });
    const units = back.find((line) => line.account === ACCOUNTS.float(OPERATOR_FLOAT))?.units ?? 0n;
    const change = { owner: OPERATOR_FLOAT, network, asset, kind: 'restored', subject: reference, account } as const;
    await changeFloats(tx, [{ ...change, units }], at);
    entries.push(entry('departed', { network, asset, subject: account, reference, merchantId: null }, back));
    await deleteAlert(tx, { name: 'money_left', subject: reference });
  }
  await recordEntries(tx, entries, at);
}

/** What the operator has filled meanwhile is the operator's: it is not missing any more, and comes back as a float. */
function backLines(
  lines: readonly Line[],
  { account, lacking }: { readonly account: string; readonly lacking: bigint },
): Line[] {
  const missing = lines.find((line) => line.account === ACCOUNTS.missing(account))?.units ?? 0n;
  const filled = -missing > lacking ? -missing - lacking : 0n;
  const float = ACCOUNTS.float(OPERATOR_FLOAT);
  const isMoved = (line: Line) => line.account === ACCOUNTS.missing(account) || line.account === float;
  const floatUnits = lines.find((line) => line.account === float)?.units ?? 0n;
  return [
    ...lines.filter((line) => !isMoved(line)).map((line) => ({ account: line.account, units: -line.units })),
    { account: float, units: filled - floatUnits },
    { account: ACCOUNTS.missing(account), units: -missing - filled },
  ];
}
