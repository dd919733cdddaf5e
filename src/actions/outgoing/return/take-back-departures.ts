import { ACCOUNTS, type Entry, entry, type Line, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { type AccountMovement, lockDeparturesTo, setOwn } from '../../../store/chain/account-movements.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { followFloats } from '../float/follow-floats.ts';
import { departureKey } from './book-departures.ts';

/** Takes back what was booked for departures. The bearers get their money back, as far as the operator has not filled it meanwhile. */
export async function takeBackDepartures(
  tx: Tx,
  { network, departures }: { readonly network: string; readonly departures: readonly AccountMovement[] },
  at: Date,
): Promise<void> {
  const booked = await positionsOf(
    tx,
    departures.map((departure) => departureKey(network, departure)),
  );
  const entries: Entry[] = [];
  for (const departure of departures) {
    const reference = departureKey(network, departure);
    const lines = booked.get(reference) ?? [];
    if (lines.length === 0) continue;
    const { asset, sender: account } = departure;
    const back = backLines(lines, { account, lacking: BigInt(departure.lacking) });
    const units = back.find((line) => line.account === ACCOUNTS.float(OPERATOR_FLOAT))?.units ?? 0n;
    const change = { owner: OPERATOR_FLOAT, network, asset, kind: 'restored', subject: reference, account } as const;
    await changeFloats(tx, [{ ...change, units }], at);
    entries.push(entry('departed', { network, asset, subject: account, reference, merchantId: null }, back));
    await deleteAlert(tx, { name: 'money_left', subject: reference });
  }
  await recordEntries(tx, entries, at);
}

/**
 * Intermediate accounts that have just become known. Money that an operator has moved to them before is no departure: what was
 * booked for it is taken back, and floats follow their money.
 */
export async function takeBackDeparturesTo(
  tx: Tx,
  { network, accounts }: { readonly network: string; readonly accounts: readonly string[] },
  at: Date,
): Promise<void> {
  if (accounts.length === 0) return;
  const departures = await lockDeparturesTo(tx, network, accounts);
  if (departures.length === 0) return;
  await takeBackDepartures(tx, { network, departures }, at);
  await setOwn(tx, network, departures);
  for (const { asset, sender: from, recipient: to, amount, transactionHash } of departures) {
    await followFloats(tx, [{ asset, from, to, amount: BigInt(amount), transactionHash }], at);
    const detail = { asset, amount, to, transactionHash };
    await appendAudit(tx, { at, actor: 'watcher', action: 'money.moved', subject: from, detail });
  }
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
