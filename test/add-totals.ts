import type { Reader } from '../src/store/plumbing/database.ts';

/** Computes the totals of all payments, for tests and benchmarks that insert payments directly. None was refunded. */
export async function addTotals(sql: Reader): Promise<void> {
  await sql`
    insert into payment_day_stats
      (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
    select partner_id, mode, merchant_id, (created_at at time zone 'UTC')::date, status, coalesce(token_asset, ''),
      amount_unit, min(amount_decimals), count(*), sum(amount_value)
    from payments group by 1, 2, 3, 4, 5, 6, 7`;
  await sql`
    insert into payment_stats
      (partner_id, mode, merchant_id, status, token_asset, amount_unit, amount_decimals, payments, value)
    select partner_id, mode, merchant_id, status, token_asset, amount_unit, min(amount_decimals), sum(payments), sum(value)
    from payment_day_stats group by 1, 2, 3, 4, 5, 6`;
  await sql`
    insert into payment_day_customers (partner_id, mode, merchant_id, day, buyer_account, status, token_asset, payments)
    select partner_id, mode, merchant_id, (created_at at time zone 'UTC')::date, buyer_account, status,
      coalesce(token_asset, ''), count(*)
    from payments where buyer_account is not null group by 1, 2, 3, 4, 5, 6, 7`;
  await sql`
    insert into payment_customers
      (partner_id, mode, merchant_id, buyer_account, status, token_asset, payments, first_day, last_day)
    select partner_id, mode, merchant_id, buyer_account, status, token_asset, sum(payments), min(day), max(day)
    from payment_day_customers group by 1, 2, 3, 4, 5, 6`;
}
