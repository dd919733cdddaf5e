import type { Reader, Tx } from './database.ts';

/** Clocks of nodes that are looked after differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** The right to do work that only one node may do at a time. */
export interface Lease {
  readonly name: string;
  /** Grows with every holder. A write that names an old one is refused, however late it comes. */
  readonly fencing: number;
}

/**
 * Takes the lease, unless another node still has it. A lease with an impossibly late end was written by a node with a
 * wrong clock, or this node's clock is wrong. It is taken over, so that no node waits hours for a dead one. Two live
 * nodes then take it from each other, which is slow and safe.
 */
export async function takeLease(
  tx: Tx,
  { name, holder, now, until }: { name: string; holder: string; now: Date; until: Date },
): Promise<Lease | undefined> {
  // The subquery reads the row as it was before the statement.
  const [row] = await tx<{ fencing: string }[]>`
    with taken as (
      insert into leases (name, holder, fencing, until, taken_by)
      values (${name}, ${holder}, 1, ${until}, ${`${VERSION} ${holder}`})
      on conflict (name) do update
        set holder = excluded.holder, fencing = leases.fencing + 1, until = excluded.until, taken_by = excluded.taken_by
        where leases.until <= ${now} or leases.until > ${new Date(until.getTime() + MAX_CLOCK_DIFFERENCE_MS)}
      returning fencing
    ), noted as (
      insert into lease_takeovers (name, fencing, at, is_released)
      select ${name}, fencing, ${now}::timestamptz,
        coalesce((select l.holder = ${NOBODY} from leases l where l.name = ${name}), true)
      from taken
      on conflict do nothing
    )
    select fencing from taken`;
  return row && { name, fencing: Number(row.fencing) };
}

/** A trigger refuses leaders that do not name the way in which they keep money: nodes of an older version. */
const VERSION = 'lots';

/** The holder of a lease that was released. */
const NOBODY = '';

/** Releases the lease, so that the next holder can take it at once. */
export async function releaseLease(tx: Tx, { name, fencing }: Lease, now: Date): Promise<void> {
  await tx`update leases set until = ${now}, holder = ${NOBODY} where name = ${name} and fencing = ${fencing}`;
}

/** Prolongs the lease. Returns false if it is not held any more. */
export async function extendLease(tx: Tx, { name, fencing }: Lease, until: Date): Promise<boolean> {
  const { count } = await tx`update leases set until = ${until} where name = ${name} and fencing = ${fencing}`;
  return count === 1;
}

/** Returns true if the lease is still held. Nobody can take it over before this transaction ends. */
export async function lockLease(tx: Tx, { name, fencing }: Lease): Promise<boolean> {
  const rows = await tx`select from leases where name = ${name} and fencing = ${fencing} for share`;
  return rows.length === 1;
}

/** The state of a lease. */
export interface LeaseState {
  readonly name: string;
  readonly until: Date;
}

/** All leases that were ever taken: a few for each network. */
export function listLeases(db: Reader): Promise<LeaseState[]> {
  return db<LeaseState[]>`select name, until from leases`;
}

/** True if a node holds the lease. */
export function isHeld(leases: readonly LeaseState[], name: string, nowMs: number): boolean {
  return leases.some((lease) => lease.name === name && lease.until.getTime() > nowMs);
}

/** A lease that passed to another holder. */
export interface Takeover {
  readonly name: string;
  readonly fencing: number;
  readonly at: Date;
  /** False if the holder before did not release it: that node died, stood still or lost the database. */
  readonly isReleased: boolean;
}

/**
 * Takeovers of leases whose names begin with these words, each ended by a blank, within the period, the newest first. The
 * first holder took nothing over.
 */
export async function findTakeovers(
  db: Reader,
  { names, from, to, limit }: { names: readonly string[]; from: Date; to: Date; limit: number },
): Promise<Takeover[]> {
  const rows = await db<(Omit<Takeover, 'fencing'> & { fencing: string })[]>`
    select name, fencing, at, is_released as "isReleased" from lease_takeovers
    where at between ${from} and ${to} and fencing > 1
      and exists (select from unnest(${names as string[]}::text[]) as wanted where starts_with(name || ' ', wanted))
    order by at desc limit ${limit}`;
  return rows.map((row) => ({ ...row, fencing: Number(row.fencing) }));
}

/** Deletes at most `limit` takeovers from before then, and returns their number. */
export async function pruneTakeovers(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from lease_takeovers where ctid = any(array(
      select ctid from lease_takeovers where at < ${before} order by at limit ${limit} for update skip locked))`;
  return count;
}
