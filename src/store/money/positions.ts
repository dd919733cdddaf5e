import type { Spend } from '../../domain/money/holding.ts';
import type { Posting } from '../../domain/money/position-entries.ts';
import type { PaidEnding } from '../../domain/money/terms.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** The money of a payment, as it was last computed. */
export interface StoredPosition {
  readonly paymentId: string;
  readonly isStale: boolean;
  /** What paid the payment, if it was a deposit address. It is written once. */
  readonly ending: PaidEnding | undefined;
  /** The lines that were booked for it. */
  readonly booked: readonly Posting[];
  /** What an older version had done with its money. */
  readonly adopted: Adopted | undefined;
}

/** Orders of an older version, which kept no lots, and the unexpected money that it had named. */
export interface Adopted {
  readonly spends: readonly {
    readonly order: string;
    readonly purpose: Spend['purpose'];
    readonly network: string;
    readonly asset: string;
    readonly units: string;
  }[];
  readonly told: readonly {
    readonly stray: string;
    readonly network: string;
    readonly asset: string;
    readonly units: string;
  }[];
  /** The lots that it had named, by ids of its own. */
  readonly named?: readonly string[];
}

/** It has been applied to the lots. */
export async function putAdopted(tx: Tx, paymentId: string, adopted: Adopted): Promise<void> {
  await tx`update positions set adopted = ${tx.json(adopted as never)} where payment_id = ${paymentId}`;
}

/** The payment has money that is computed. It is computed in the next round. The caller may have locked it. */
export async function markPositionsStale(tx: Tx, paymentIds: readonly string[], at: Date): Promise<void> {
  if (paymentIds.length === 0) return;
  await tx`
    insert into positions (payment_id, updated_at)
    select distinct id, ${at}::timestamptz from unnest(${paymentIds as string[]}::text[]) as id
    on conflict (payment_id) do update set is_stale = true where not positions.is_stale`;
}

/** The same for payments that have a position. */
export async function touchPositions(tx: Tx, paymentIds: readonly string[]): Promise<void> {
  await tx`
    update positions set is_stale = true where payment_id = any(${paymentIds as string[]}::text[]) and not is_stale`;
}

/** The payments whose money has to be computed again, those that wait longest first. */
export async function listStalePositions(db: Reader, limit: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select payment_id as id from positions where is_stale order by updated_at, payment_id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** The money of a payment could not be computed. Others come first in the next round. */
export async function passPosition(tx: Tx, paymentId: string, at: Date): Promise<void> {
  await tx`update positions set updated_at = ${at} where payment_id = ${paymentId}`;
}

export async function hasStalePosition(db: Reader, paymentId: string): Promise<boolean> {
  const rows = await db`select from positions where payment_id = ${paymentId} and is_stale`;
  return rows.length > 0;
}

/** Locks the position of a payment, which the transaction has locked before. */
export async function lockPosition(tx: Tx, paymentId: string): Promise<StoredPosition | undefined> {
  const [row] = await tx<StoredRow[]>`
    select payment_id as "paymentId", is_stale as "isStale", ending, booked, adopted from positions
    where payment_id = ${paymentId} for update`;
  if (row === undefined) return undefined;
  const { ending, booked, adopted, ...rest } = row;
  return {
    ...rest,
    adopted: adopted ?? undefined,
    ending: ending === null ? undefined : { is: 'paid', ...ending, amount: BigInt(ending.amount) },
    booked: booked.map(({ lines, ...about }) => ({
      ...about,
      lines: lines.map(({ account, units }) => ({ account, units: BigInt(units) })),
    })),
  };
}

interface StoredRow {
  readonly paymentId: string;
  readonly isStale: boolean;
  readonly ending: JsonEnding | null;
  readonly booked: readonly JsonPosting[];
  readonly adopted: Adopted | null;
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

/** Stores the position that was just booked. It is not stale any more. */
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

/** Stores what paid the payment. An ending that is there stays. */
export async function putEnding(tx: Tx, paymentId: string, ending: PaidEnding): Promise<void> {
  const { network, commitment, amount, lots } = ending;
  const json = { network, commitment, amount: amount.toString(), lots };
  await tx`update positions set ending = ${tx.json(json as never)} where payment_id = ${paymentId} and ending is null`;
}

/** Undefined if the money of the payment is not computed: it was paid straight to the merchant, or held by an item. */
export async function findPosition(
  db: Reader,
  paymentId: string,
): Promise<Pick<StoredPosition, 'isStale'> | undefined> {
  const [row] = await db<Pick<StoredPosition, 'isStale'>[]>`
    select is_stale as "isStale" from positions where payment_id = ${paymentId}`;
  return row;
}
