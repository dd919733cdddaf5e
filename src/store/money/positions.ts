import type { Spend } from '../../domain/money/holding.ts';
import type { Posting } from '../../domain/money/position-entries.ts';
import type { PaidEnding } from '../../domain/money/terms.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** The stored result of the last computation of a payment's money. */
export interface StoredPosition {
  readonly paymentId: string;
  readonly isOutdated: boolean;
  /**
   * The deposit address and the lots that paid the payment. A stored ending does not change, with one exception: lots of money
   * without a Transfer log are replaced when the log appears.
   */
  readonly ending: PaidEnding | undefined;
  /** The book entries' lines that were booked for the payment, by asset and reference. */
  readonly booked: readonly Posting[];
  /** Orders and unexpected money that an older version, which had no table `lots`, stored for the payment. Undefined for newer payments. */
  readonly adopted: Adopted | undefined;
}

/**
 * Orders and unexpected money that an older version, which had no table `lots`, stored for a payment. The upgrade turns them into spends
 * and lots.
 */
export interface Adopted {
  readonly spends: readonly {
    readonly order: string;
    readonly purpose: Spend['purpose'];
    readonly network: string;
    readonly asset: string;
    readonly units: string;
  }[];
  /** Unexpected money that the older version had already reported to the partner. */
  readonly reported: readonly {
    readonly stray: string;
    readonly network: string;
    readonly asset: string;
    readonly units: string;
  }[];
  /** The ids that the older version gave to lots. */
  readonly named?: readonly string[];
}

/** Stores the part of `adopted` that has not been turned into spends and lots yet. */
export async function putAdopted(tx: Tx, paymentId: string, { reported, ...rest }: Adopted): Promise<void> {
  const json: JsonAdopted = { ...rest, told: reported };
  await tx`update positions set adopted = ${tx.json(json as never)} where payment_id = ${paymentId}`;
}

/**
 * Marks the positions of these payments as outdated, so that their money is computed again. Payments without a position get one. The caller
 * may have locked the payments.
 */
export async function markPositionsOutdated(tx: Tx, paymentIds: readonly string[], at: Date): Promise<void> {
  if (paymentIds.length === 0) return;
  await tx`
    insert into positions (payment_id, updated_at)
    select distinct id, ${at}::timestamptz from unnest(${paymentIds as string[]}::text[]) as id
    on conflict (payment_id) do update set is_stale = true where not positions.is_stale`;
}

/** Marks the positions of these payments as outdated, so that their money is computed again. Payments without a position are skipped. */
export async function touchPositions(tx: Tx, paymentIds: readonly string[]): Promise<void> {
  await tx`
    update positions set is_stale = true where payment_id = any(${paymentIds as string[]}::text[]) and not is_stale`;
}

/** The payments whose position is outdated, the longest waiting first. */
export async function listOutdatedPositions(db: Reader, limit: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select payment_id as id from positions where is_stale order by updated_at, payment_id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Moves a payment whose money could not be computed behind the other outdated payments. */
export async function postponePosition(tx: Tx, paymentId: string, at: Date): Promise<void> {
  await tx`update positions set updated_at = ${at} where payment_id = ${paymentId}`;
}

export async function hasOutdatedPosition(db: Reader, paymentId: string): Promise<boolean> {
  const rows = await db`select from positions where payment_id = ${paymentId} and is_stale`;
  return rows.length > 0;
}

/** Locks the position of a payment. The database transaction must have locked the payment before. */
export async function lockPosition(tx: Tx, paymentId: string): Promise<StoredPosition | undefined> {
  const [row] = await tx<StoredRow[]>`
    select payment_id as "paymentId", is_stale as "isOutdated", ending, booked, adopted from positions
    where payment_id = ${paymentId} for update`;
  if (row === undefined) return undefined;
  const { ending, booked, adopted, ...rest } = row;
  return {
    ...rest,
    adopted: adopted === null ? undefined : readAdopted(adopted),
    ending: ending === null ? undefined : { is: 'paid', ...ending, amount: BigInt(ending.amount) },
    booked: booked.map(({ lines, ...about }) => ({
      ...about,
      lines: lines.map(({ account, units }) => ({ account, units: BigInt(units) })),
    })),
  };
}

interface StoredRow {
  readonly paymentId: string;
  readonly isOutdated: boolean;
  readonly ending: JsonEnding | null;
  readonly booked: readonly JsonPosting[];
  readonly adopted: JsonAdopted | null;
}

/** The stored form of `Adopted`. The migration that wrote these rows chose the name `told`. */
type JsonAdopted = Omit<Adopted, 'reported'> & { readonly told: Adopted['reported'] };

function readAdopted({ told, ...rest }: JsonAdopted): Adopted {
  return { ...rest, reported: told };
}

interface JsonEnding {
  readonly network: string;
  readonly commitment: string;
  readonly amount: string;
  readonly lots: readonly string[];
}

interface JsonPosting {
  readonly network: string;
  readonly asset: string;
  readonly reference: string;
  readonly lines: readonly { readonly account: string; readonly units: string }[];
}

/** Stores the lines that were just booked for the payment, and marks its position as up to date. */
export async function putPosition(
  tx: Tx,
  { paymentId, booked }: Pick<StoredPosition, 'paymentId' | 'booked'>,
  at: Date,
): Promise<void> {
  const json = booked.map(({ lines, ...about }) => ({
    ...about,
    lines: lines.map(({ account, units }) => ({ account, units: units.toString() })),
  }));
  await tx`
    update positions set is_stale = false, booked = ${tx.json(json as never)}, updated_at = ${at}
    where payment_id = ${paymentId}`;
}

/** Stores the ending of a payment. An ending that is already stored stays. */
export async function putEnding(tx: Tx, paymentId: string, ending: PaidEnding): Promise<void> {
  const { network, commitment, amount, lots } = ending;
  const json = { network, commitment, amount: amount.toString(), lots };
  await tx`update positions set ending = ${tx.json(json as never)} where payment_id = ${paymentId} and ending is null`;
}

/** Replaces the lots of a stored ending. The deposit address and the amount of the ending stay. */
export async function renameEnding(tx: Tx, paymentId: string, { lots }: PaidEnding): Promise<void> {
  await tx`
    update positions set ending = ending || ${tx.json({ lots: [...lots] })} where payment_id = ${paymentId}`;
}

/** The stored money of a payment. Undefined if an item has paid it, directly to the merchant or to the intermediate account. */
export async function findPosition(
  db: Reader,
  paymentId: string,
): Promise<Pick<StoredPosition, 'isOutdated'> | undefined> {
  const [row] = await db<Pick<StoredPosition, 'isOutdated'>[]>`
    select is_stale as "isOutdated" from positions where payment_id = ${paymentId}`;
  return row;
}
