import type { Reader, Tx } from './database.ts';

/** The shift of a sandbox's time. The chain is first moved to `wantedMs`. When it has got there, `aheadMs` is set to the same value. */
export interface ClockShift {
  readonly wantedMs: number;
  readonly aheadMs: number;
}

/** The present time of the database, which all nodes use. */
export async function readDatabaseTime(db: Reader): Promise<number> {
  const [row] = await db<{ ms: string }[]>`select (extract(epoch from clock_timestamp()) * 1000)::text as ms`;
  return Number(row?.ms);
}

export async function findClockShift(db: Reader): Promise<ClockShift> {
  const [row] = await db<{ wanted: string; ahead: string }[]>`
    select wanted_ms as wanted, ahead_ms as ahead from sandbox_clock`;
  return { wantedMs: Number(row?.wanted ?? 0), aheadMs: Number(row?.ahead ?? 0) };
}

/** Adds `byMs` to the wanted shift, and returns the sum. Concurrent requests add up. Undefined if the sum would exceed `mostMs`. */
export async function requestClockShift(
  tx: Tx,
  { byMs, mostMs }: { byMs: number; mostMs: number },
): Promise<number | undefined> {
  const [row] = await tx<{ wanted: string }[]>`
    insert into sandbox_clock as c (wanted_ms) values (${byMs})
    on conflict (is_only) do update set wanted_ms = c.wanted_ms + excluded.wanted_ms
      where c.wanted_ms + excluded.wanted_ms <= ${mostMs}
    returning wanted_ms as wanted`;
  return row && Number(row.wanted);
}

/** Records how far ahead the chain was moved. */
export async function reachClockShift(tx: Tx, aheadMs: number): Promise<void> {
  await tx`update sandbox_clock set ahead_ms = greatest(ahead_ms, ${aheadMs}::bigint)`;
}
