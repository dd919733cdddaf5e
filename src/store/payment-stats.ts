import { one, type Tx } from './database.ts';

/**
 * Moves at most `limit` rows from the changes into the totals, and says how many. The totals are locked in one order, so
 * that two nodes folding at once wait for each other instead of meeting head on.
 */
export async function foldStatChanges(tx: Tx, limit: number): Promise<number> {
  const rows = await tx<{ folded: number }[]>`
    with taken as (
      delete from payment_stat_changes where id = any(array(
        select id from payment_stat_changes order by id limit ${limit} for update skip locked))
      returning *
    ), folded as (
      insert into payment_stats
        (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, status, amount_unit, min(amount_decimals), sum(payments), sum(value)
      from taken
      group by partner_id, mode, merchant_id, status, amount_unit
      order by partner_id, mode, merchant_id, status, amount_unit
      on conflict (partner_id, mode, merchant_id, status, amount_unit) do update
        set payments = payment_stats.payments + excluded.payments, value = payment_stats.value + excluded.value
    )
    select count(*)::int as folded from taken`;
  return one(rows).folded;
}
