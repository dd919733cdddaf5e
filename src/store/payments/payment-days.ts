import type { PaymentStatus } from '../../domain/payment.ts';
import { VETOED } from '../../domain/refund.ts';
import type { Reader } from '../plumbing/database.ts';
import type { Fragment } from './payment-filter.ts';
import type { StepRange } from './payment-steps.ts';

/** The number and value of payments created on one day (UTC), by stored status, token and unit of price. */
export interface DayCount {
  readonly day: string;
  readonly status: PaymentStatus;
  /** The token as a CAIP-19 id. Empty for payments without a token. */
  readonly tokenAsset: string;
  readonly unit: string;
  readonly decimals: number;
  readonly payments: number;
  /** The sum of the prices less the refunded parts, in minor units. */
  readonly value: bigint;
}

/** The daily totals, with the changes that are not yet in the totals, from one snapshot. */
export async function countDays(db: Reader, range: StepRange): Promise<DayCount[]> {
  const { partnerId, mode, merchantIds, fromDay, untilDay } = range;
  const isOwn = db`partner_id = ${partnerId} and mode = ${mode}
    and ${merchantIds === null ? db`true` : db`merchant_id = any(${merchantIds as string[]}::text[])`}
    and day between ${fromDay}::date and ${untilDay}::date`;
  const isOfPartner = db`partner_id = ${partnerId} and mode = ${mode}
    and day between ${fromDay}::date and ${untilDay}::date`;
  const columns = db`day, status, token_asset, amount_unit, amount_decimals, payments, value`;
  const totals =
    merchantIds === null
      ? db`select ${columns} from payment_partner_day_stats where ${isOfPartner}`
      : db`select ${columns} from payment_day_stats where ${isOwn}`;
  const rows = await db<(Omit<DayCount, 'payments' | 'value'> & { payments: string; value: string })[]>`
    select day::text as day, status, token_asset as "tokenAsset", amount_unit as unit, min(amount_decimals) as decimals,
      sum(payments) as payments, sum(value) as value
    from (${totals} union all select ${columns} from payment_stat_changes where ${isOwn}) counted
    group by day, status, token_asset, amount_unit having sum(payments) <> 0 or sum(value) <> 0
    order by day, status, token_asset, amount_unit`;
  return rows.map(({ payments, value, ...row }) => ({ ...row, payments: Number(payments), value: BigInt(value) }));
}

/** The numbers of a partner's refunds, payments and amounts that wait for a person. */
export interface Attention {
  readonly waitingRefunds: number;
  readonly failedRefunds: number;
  readonly heldPayments: number;
  readonly lateMoney: number;
  readonly slowPayments: number;
}

/** The highest number that is counted. Nobody needs an exact larger one. */
const MOST_COUNTED = 1_000;

export async function countAttention(
  db: Reader,
  input: Pick<StepRange, 'partnerId' | 'mode' | 'merchantIds'> & { readonly slowBefore: string },
): Promise<Attention> {
  const { partnerId, mode, merchantIds, slowBefore } = input;
  const isAmong = db`m.partner_id = ${partnerId} and m.mode = ${mode}
    and ${merchantIds === null ? db`true` : db`m.id = any(${merchantIds as string[]}::text[])`}`;
  const refunds = (isWanted: Fragment) => db`(
    select count(*)::int from (
      select from refunds r join merchants m on m.id = r.merchant_id where ${isWanted} and ${isAmong} limit ${MOST_COUNTED}
    ) found)`;
  // The first condition repeats that of a partial index, so that PostgreSQL can use the index.
  const isWaiting = db`r.state in ('requested', 'awaiting_funds') and r.state = 'awaiting_funds'`;
  const [row] = await db<Attention[]>`
    select ${refunds(isWaiting)} as "waitingRefunds", ${refunds(db`r.state = 'failed' and r.problem is distinct from ${VETOED}`)} as "failedRefunds",
      (select count(*)::int from (
        select distinct o.payment_id from lots o join merchants m on m.id = o.merchant_id
        where o.is_open and (o.address is not null or o.is_paying) and ${isAmong} limit ${MOST_COUNTED}
      ) found) as "heldPayments",
      (select count(*)::int from (
        select from merchants m cross join lateral (
          select from strays s where s.merchant_id = m.id and s.payment_id is not null and s.state = 'unclaimed'
          limit ${MOST_COUNTED}
        ) s where ${isAmong} limit ${MOST_COUNTED}
      ) found) as "lateMoney",
      (select count(*)::int from (
        select from merchants m cross join lateral (
          select from payments p where p.merchant_id = m.id and p.status = 'processing' and p.id < ${slowBefore}
          limit ${MOST_COUNTED}
        ) p where ${isAmong} limit ${MOST_COUNTED}
      ) found) as "slowPayments"`;
  if (row === undefined) throw new Error('The counts have one row.');
  return row;
}
