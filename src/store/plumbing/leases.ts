import type { Reader, Tx } from './database.ts';

/** Clocks of nodes that are looked after differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** The right to do what nobody may do twice at once. */
export interface Lease {
  readonly name: string;
  /** Grows with every holder. A write that names an old one is refused, however late it comes. */
  readonly fencing: number;
}

/**
 * The lease, unless somebody else still has it. One that lasts far longer than any that is asked for was written by a node
 * whose clock is wrong, theirs or ours: it is taken, so that nobody waits hours for a node that is gone. Two that both live
 * then take it from each other, which is slow and safe.
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

/** Whether the lease is still held. Ending it now lets the next holder in at once. */
export async function extendLease(tx: Tx, { name, fencing }: Lease, until: Date): Promise<boolean> {
  const { count } = await tx`update leases set until = ${until} where name = ${name} and fencing = ${fencing}`;
  return count === 1;
}

/** Whether the lease is still held; nobody can take it over before this transaction ends. */
export async function lockLease(tx: Tx, { name, fencing }: Lease): Promise<boolean> {
  const rows = await tx`select from leases where name = ${name} and fencing = ${fencing} for share`;
  return rows.length === 1;
}

/** Until when somebody holds it. */
export async function leaseEnd(db: Reader, name: string): Promise<Date | undefined> {
  const [row] = await db<{ until: Date }[]>`select until from leases where name = ${name}`;
  return row?.until;
}
