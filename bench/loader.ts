import type { Reader } from '../src/store/plumbing/database.ts';
import { addTotals } from '../test/add-totals.ts';

/** The number of payments to load. Every merchant gets the same number, in the same order of statuses. */
export interface LoadPlan {
  readonly merchants: number;
  readonly perMerchant: number;
  /** The payments of one further merchant, the one after the others. */
  readonly largest?: number;
}

/** The payments are spread over this time up to now; Idempotency-Keys are kept for the end of it. */
const DAYS = 100;
const KEYS_KEPT_DAYS = 8;
/** Payments that each merchant gets in one batch; a batch holds them in random order. */
const BATCH_PER_MERCHANT = 100;

/**
 * Writes payments as years of business would have left them: the rows of one merchant are interleaved with those of all
 * others, 60 of 100 succeeded, 20 expired, 10 were cancelled, 5 failed and 5 are open. Indexes are built afterwards,
 * which takes a fraction of the time; the statistics are computed from the rows. The event log of each payment has only
 * its creation, placed.
 */
export async function loadPayments(sql: Reader, plan: LoadPlan): Promise<void> {
  const indexes = await dropIndexes(sql);
  for (let done = 0; done < plan.perMerchant; done += BATCH_PER_MERCHANT) await insertBatch(sql, plan, done);
  for (const statement of indexes) await sql.unsafe(statement);
  await addKeys(sql);
  await addTotals(sql);
  await addEvents(sql);
  for (const table of [
    'payments',
    'payment_keys',
    'events',
    'event_batches',
    'payment_stats',
    'payment_day_stats',
    'payment_customers',
    'payment_day_customers',
    'merchants',
  ]) {
    await sql.unsafe(`vacuum (analyze) ${table}`);
  }
}

async function insertBatch(
  sql: Reader,
  { merchants, perMerchant, largest = 0 }: LoadPlan,
  done: number,
): Promise<void> {
  const count = Math.min(BATCH_PER_MERCHANT, perMerchant - done);
  const stepMs = (DAYS * 24 * 3_600_000) / (merchants * perMerchant + largest);
  const largestDone = Math.round((largest * done) / perMerchant);
  const largestUntil = Math.round((largest * (done + count)) / perMerchant);
  await sql`
    insert into payments
      (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals, status, version,
       created_at, updated_at, expires_at, failure_code, token_asset, token_value, buyer_account, buyer_name,
       transaction_hash)
    select 'pay_' || ${base32Time(sql)} || upper(substr(md5(random()::text), 1, 16)), partner.id, 'test',
      'mrch_' || lpad(merchant::text, 26, '0'), 'ORDER-' || lpad(k::text, 8, '0'), 'iso4217/USD',
      100 + k::bigint * 7919 % 100000, 2, status, case status when 'requires_action' then 0 else 2 end, made_at,
      made_at + interval '1 minute',
      case status when 'requires_action' then now() + interval '20 days' else made_at + interval '5 minutes' end,
      case status when 'failed' then 'declined_user' end,
      case when has_buyer then 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' end,
      case when has_buyer then (100 + k::bigint * 7919 % 100000) * 10000 end,
      case when has_buyer then 'eip155:8453:0x' || substr(md5(merchant || ' ' || k % 1000) || md5(k % 1000 || ''), 1, 40) end,
      case when has_buyer then 'Wallet' end,
      case when has_buyer then '0x' || md5(merchant || ' ' || k) || md5(k || ' ' || merchant) end
    from (select id from partners limit 1) partner, (
      select *, status in ('succeeded', 'failed') as has_buyer, to_timestamp(ms / 1000.0) as made_at
      from (
        select *, (extract(epoch from now()) * 1000)::bigint - ${DAYS * 24 * 3_600_000}::bigint
            + ((${done * merchants + largestDone}::bigint + row_number() over ()) * ${stepMs}::float8)::bigint - 3600000 as ms,
          (array['succeeded', 'succeeded', 'succeeded', 'expired', 'succeeded', 'cancelled', 'succeeded', 'succeeded',
            'expired', 'succeeded', 'requires_action', 'succeeded', 'expired', 'succeeded', 'succeeded', 'cancelled',
            'succeeded', 'expired', 'failed', 'succeeded'])[1 + k % 20] as status
        from (
          select * from (
            select 1 + n % ${merchants}::int as merchant, ${done}::int + 1 + n / ${merchants}::int as k
            from generate_series(0, ${count * merchants - 1}::int) n
            union all
            select ${merchants + 1}::int, k from generate_series(${largestDone + 1}::int, ${largestUntil}::int) k
          ) numbered order by random()
        ) shuffled
      ) timed
    ) row`;
}

/** The first ten characters of an id: 48 bits of time in the alphabet of `domain/ids.ts`. */
function base32Time(sql: Reader) {
  const digit = (shift: number) => `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> ${shift}) & 31)::int + 1, 1)`;
  return sql.unsafe([45, 40, 35, 30, 25, 20, 15, 10, 5, 0].map(digit).join(' || '));
}

async function addKeys(sql: Reader): Promise<void> {
  await sql`
    insert into payment_keys (claim, request_hash, payment_id, created_at)
    select gen_random_uuid(), gen_random_uuid(), id, created_at from payments
    where created_at > now() - ${`${KEYS_KEPT_DAYS} days`}::interval`;
}

async function addEvents(sql: Reader): Promise<void> {
  await sql`
    insert into events (batch, ordinal, id, type, object_id, sequence, merchant_id, at, actor)
    select 1 + n / 1000, n % 1000, 'evt_' || substr(id, 5), 'payment.created', id, 1, merchant_id, created_at, 'bench'
    from (select *, row_number() over (order by id) - 1 as n from payments) ordered`;
  await sql`
    insert into event_batches (position, batch, partner_id, mode, size)
    select 1 + (batch - 1) * 1000, batch, partner.id, 'test', count(*)
    from events, (select id from partners limit 1) partner group by batch, partner.id`;
  await sql`select setval(pg_get_serial_sequence('outbox', 'batch'), max(batch)) from events`;
}

/** Drops every index and key that the table has, and returns the statements that recreate them. */
async function dropIndexes(sql: Reader): Promise<string[]> {
  const constraints = await sql<{ name: string; table: string; definition: string; kind: string }[]>`
    select conname as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition, contype as kind
    from pg_constraint
    where contype in ('p', 'u', 'f') and ('payments'::regclass in (conrelid, confrelid))
    order by contype = 'f' desc`;
  for (const { name, table } of constraints) await sql.unsafe(`alter table ${table} drop constraint ${name}`);
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes where tablename = 'payments'`;
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`);
  return [
    ...constraints
      .toReversed()
      .filter(({ kind }) => kind !== 'f')
      .map(addConstraint),
    ...indexes.map(({ definition }) => definition),
    ...constraints.filter(({ kind }) => kind === 'f').map(addConstraint),
  ];
}

function addConstraint({ name, table, definition }: { name: string; table: string; definition: string }): string {
  return `alter table ${table} add constraint ${name} ${definition}`;
}
