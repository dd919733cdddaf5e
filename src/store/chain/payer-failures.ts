import type { Tx } from '../plumbing/database.ts';

const HOUR_MS = 3_600_000;

/** The time since which failures of a payer count: an hour before `now`. */
export function countsSince(now: Date): Date {
  return new Date(now.getTime() - HOUR_MS);
}

/** The pause of a payer after its first failure, and the longest pause. The pause doubles with each further failure within the hour. */
export interface PayerPause {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Counts one failure on the chain for each time that a payer is in `payers`, and deletes failures that no longer count. */
export async function countPayerFailures(
  tx: Tx,
  { network, payers, at, pause }: { network: string; payers: readonly string[]; at: Date; pause: PayerPause },
): Promise<void> {
  if (payers.length === 0) return;
  await tx`delete from payer_failures where network = ${network} and failed_at <= ${countsSince(at)}`;
  await tx`
    with counted as (
      select p.payer, count(*) + coalesce(max(f.failures), 0) as failures
      from unnest(${payers as string[]}::text[]) as p(payer)
      left join payer_failures f on f.network = ${network} and f.payer = p.payer
      group by p.payer
    )
    insert into payer_failures (network, payer, failures, failed_at, retry_at)
    select ${network}, payer, failures, ${at}, ${at}::timestamptz
      + least(${pause.maxMs}::float8, ${pause.firstMs}::float8 * power(2, least(failures, 30) - 1)) * interval '1 ms'
    from counted
    on conflict (network, payer) do update
    set failures = excluded.failures, failed_at = excluded.failed_at, retry_at = excluded.retry_at`;
}

/** Deletes the failures of a payer that are too old to count. Returns their number. */
export async function deletePastFailures(
  tx: Tx,
  { network, address, at }: { readonly network: string; readonly address: string; readonly at: Date },
): Promise<number> {
  const { count } = await tx`
    delete from payer_failures where network = ${network} and payer = ${address} and failed_at <= ${countsSince(at)}`;
  return count;
}
