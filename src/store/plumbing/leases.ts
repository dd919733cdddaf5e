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
  const [row] = await tx<{ fencing: string }[]>`
    insert into leases (name, holder, fencing, until) values (${name}, ${holder}, 1, ${until})
    on conflict (name) do update
      set holder = excluded.holder, fencing = leases.fencing + 1, until = excluded.until
      where leases.until <= ${now} or leases.until > ${new Date(until.getTime() + MAX_CLOCK_DIFFERENCE_MS)}
    returning fencing`;
  return row && { name, fencing: Number(row.fencing) };
}

/** Ends the lease, so that the next holder can take it at once. Returns false if it was not held any more. */
export async function extendLease(tx: Tx, { name, fencing }: Lease, until: Date): Promise<boolean> {
  const { count } = await tx`update leases set until = ${until} where name = ${name} and fencing = ${fencing}`;
  return count === 1;
}

/** Returns true if the lease is still held. Nobody can take it over before this transaction ends. */
export async function lockLease(tx: Tx, { name, fencing }: Lease): Promise<boolean> {
  const rows = await tx`select from leases where name = ${name} and fencing = ${fencing} for share`;
  return rows.length === 1;
}

/** The end of the lease. */
export async function leaseEnd(db: Reader, name: string): Promise<Date | undefined> {
  const [row] = await db<{ until: Date }[]>`select until from leases where name = ${name}`;
  return row?.until;
}
