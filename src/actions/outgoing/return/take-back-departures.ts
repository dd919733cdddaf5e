import { ACCOUNTS, type Entry, entry, type Line, OPERATOR_FLOAT } from '../../../domain/books.ts';
import {
  type AccountMovement,
  lockMovementsWith,
  setDeparted,
  setOwn,
} from '../../../store/chain/account-movements.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { followFloats } from '../float/follow-floats.ts';
import { departureKey } from './book-departures.ts';

interface TakeBack {
  readonly network: string;
  readonly departures: readonly AccountMovement[];
  /** The units of a departure that stay departed. A departure that is not in the map is taken back as a whole. */
  readonly kept?: ReadonlyMap<AccountMovement, bigint>;
}

/**
 * Reverses the book entries of departures. The fees and the float that bore a departure get their money back, and the missing amount is
 * no longer missing. The part that the operator has replaced meanwhile goes to the operator's float.
 */
export async function takeBackDepartures(tx: Tx, { network, departures, kept }: TakeBack, at: Date): Promise<void> {
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
    const keptUnits = kept?.get(departure) ?? 0n;
    const { back, left } = backLines(lines, { account, lacking: BigInt(departure.lacking), kept: keptUnits });
    const units = back.find((line) => line.account === ACCOUNTS.float(OPERATOR_FLOAT))?.units ?? 0n;
    const change = { owner: OPERATOR_FLOAT, network, asset, kind: 'restored', subject: reference, account } as const;
    await changeFloats(tx, [{ ...change, units }], at);
    entries.push(entry('departed', { network, asset, subject: account, reference, merchantId: null }, back));
    if (keptUnits > 0n) await setDeparted(tx, network, departure, left);
    if (left.lacking === 0n) await deleteAlert(tx, { name: 'money_left', subject: reference });
  }
  await recordEntries(tx, entries, at);
}

/**
 * Takes back the departures to intermediate accounts that have just become known: an operator has moved that money, so it has not
 * departed. Floats follow their money. Money that has come back from these accounts since is in the books already, as an arrival, so the
 * same amount of the departures stays booked.
 */
export async function takeBackDeparturesTo(
  tx: Tx,
  { network, accounts }: { readonly network: string; readonly accounts: readonly string[] },
  at: Date,
): Promise<void> {
  if (accounts.length === 0) return;
  const kept = cameBack(await lockMovementsWith(tx, network, accounts));
  const departures = [...kept.keys()].filter((departure) => stillThere(departure, kept) > 0n);
  if (departures.length === 0) return;
  await takeBackDepartures(tx, { network, departures, kept }, at);
  const whole = departures.filter((departure) => kept.get(departure) === 0n);
  if (whole.length > 0) await setOwn(tx, network, whole);
  for (const departure of departures) {
    const { asset, sender: from, recipient: to, transactionHash } = departure;
    const amount = stillThere(departure, kept);
    await followFloats(tx, [{ asset, from, to, amount, transactionHash }], at);
    const detail = { asset, amount: `${amount}`, to, transactionHash };
    await appendAudit(tx, { at, actor: 'watcher', action: 'money.moved', subject: from, detail });
  }
}

/**
 * The units of each departure that have come back from its recipient since. If several departures had the same recipient, the units count
 * for the oldest one first.
 */
function cameBack(movements: readonly AccountMovement[]): Map<AccountMovement, bigint> {
  const back = new Map<AccountMovement, bigint>();
  for (const movement of movements) {
    if (movement.senderOwner === 'nobody') {
      back.set(movement, 0n);
      continue;
    }
    let left = BigInt(movement.amount);
    for (const departure of back.keys()) {
      if (departure.recipient !== movement.sender || departure.asset !== movement.asset) continue;
      const part = least(left, stillThere(departure, back));
      back.set(departure, (back.get(departure) ?? 0n) + part);
      left -= part;
    }
  }
  return back;
}

function stillThere(departure: AccountMovement, back: ReadonlyMap<AccountMovement, bigint>): bigint {
  return BigInt(departure.amount) - (back.get(departure) ?? 0n);
}

/**
 * The book lines that take a departure back, and the parts of the departure that stay. Units that the operator has replaced meanwhile are
 * no longer missing, so they go to the operator's float. Of the units that stay departed, the replaced ones come first, because the money
 * that came back has probably replaced them. The missing units come next.
 */
function backLines(
  lines: readonly Line[],
  { account, lacking, kept }: { readonly account: string; readonly lacking: bigint; readonly kept: bigint },
) {
  const unitsOf = (name: string) => lines.find((line) => line.account === name)?.units ?? 0n;
  const float = ACCOUNTS.float(OPERATOR_FLOAT);
  const missing = -unitsOf(ACCOUNTS.missing(account));
  const filled = missing > lacking ? missing - lacking : 0n;
  const keptFilled = least(kept, filled);
  const keptMissing = least(kept - keptFilled, missing - filled);
  const keptFloat = least(kept - keptFilled - keptMissing, -unitsOf(float));
  const keptFees = kept - keptFilled - keptMissing - keptFloat;
  const back: Line[] = [
    { account: ACCOUNTS.fees, units: -unitsOf(ACCOUNTS.fees) - keptFees },
    { account: float, units: filled - keptFilled - unitsOf(float) - keptFloat },
    { account: ACCOUNTS.missing(account), units: missing - filled - keptMissing },
    { account: ACCOUNTS.outside, units: kept - unitsOf(ACCOUNTS.outside) },
  ];
  return { back, left: { fromFees: keptFees, fromFloat: keptFloat, lacking: keptMissing } };
}

function least(a: bigint, b: bigint): bigint {
  const smaller = a < b ? a : b;
  return smaller > 0n ? smaller : 0n;
}
