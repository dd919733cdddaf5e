import type { Reader, Tx } from './database.ts';

/** The difference between the clocks of two nodes above which one of them must be wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** The right to do a kind of work that only one node may do at a time. */
export interface Lease {
  readonly name: string;
  /** Grows with each new holder. A write with an old number is refused, however late it arrives. */
  readonly fencing: number;
}

/**
 * Takes a lease, unless another node still holds it. If a lease ends later than any correct clock could have set it, the clock of its
 * holder or of this node is wrong. Such a lease is taken over, so that no node waits for hours for a holder that has died. If both nodes
 * live, they take the lease from each other again and again, which is slow but safe.
 */
export async function takeLease(
  tx: Tx,
  { name, holder, now, until }: { name: string; holder: string; now: Date; until: Date },
): Promise<Lease | undefined> {
  // The subquery in `noted` sees the row of the lease as it was before the statement.
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

/** The word that `taken_by` begins with. A database trigger refuses nodes of an older version, which do not write it. */
const VERSION = 'lots';

/** The value of `holder` after a lease was released. */
const NOBODY = '';

/** Releases a lease, so that another node can take it at once. */
export async function releaseLease(tx: Tx, { name, fencing }: Lease, now: Date): Promise<void> {
  await tx`update leases set until = ${now}, holder = ${NOBODY} where name = ${name} and fencing = ${fencing}`;
}

/** Extends a lease. Returns false if another node has taken it. */
export async function extendLease(tx: Tx, { name, fencing }: Lease, until: Date): Promise<boolean> {
  const { count } = await tx`update leases set until = ${until} where name = ${name} and fencing = ${fencing}`;
  return count === 1;
}

/** Returns true if the lease is still held. No other node can take it before this database transaction ends. */
export async function lockLease(tx: Tx, { name, fencing }: Lease): Promise<boolean> {
  const rows = await tx`select from leases where name = ${name} and fencing = ${fencing} for share`;
  return rows.length === 1;
}

export interface LeaseState {
  readonly name: string;
  readonly until: Date;
}

/** All leases that were ever taken: a few for each network. */
export function listLeases(db: Reader): Promise<LeaseState[]> {
  return db<LeaseState[]>`select name, until from leases`;
}

export interface LeaseHolder extends LeaseState {
  /** The host of the node and a random name. Empty if the last holder released the lease. */
  readonly holder: string;
  /** The time at which the holder took the lease. Null if that was so long ago that its row was pruned. */
  readonly since: Date | null;
}

/** All leases that were ever taken, with their last holders. */
export function listLeaseHolders(db: Reader): Promise<LeaseHolder[]> {
  return db<LeaseHolder[]>`
    select l.name, l.until, l.holder, t.at as since
    from leases l left join lease_takeovers t on t.name = l.name and t.fencing = l.fencing
    order by l.name`;
}

export function isHeld(leases: readonly LeaseState[], name: string, nowMs: number): boolean {
  return leases.some((lease) => lease.name === name && isHeldAt(lease, nowMs));
}

export function isHeldAt({ until }: LeaseState, nowMs: number): boolean {
  return until.getTime() > nowMs;
}

/** The change of a lease from one holder to another. */
export interface Takeover {
  readonly name: string;
  readonly fencing: number;
  readonly at: Date;
  /** False if the previous holder did not release the lease, because it had died, hung or lost the database. */
  readonly isReleased: boolean;
}

/**
 * Takeovers within a period of leases whose names begin with one of these words and a blank, the newest first. The first time that a lease
 * is taken does not count as a takeover.
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

/** Deletes at most `limit` takeovers from before `before`, and returns their number. */
export async function pruneTakeovers(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from lease_takeovers where ctid = any(array(
      select ctid from lease_takeovers where at < ${before} order by at limit ${limit} for update skip locked))`;
  return count;
}
