import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { addTotals } from '../../../test/add-totals.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { IS_LONG } from '../../../test/long.ts';
import { explain, nodesOf, type PlanNode, pagesOf, wayOf } from '../../../test/query-plan.ts';
import { REGISTRY } from '../../../test/registry.ts';
import { UNFILTERED } from '../../../test/unfiltered.ts';
import { command } from '../../actions/command.ts';
import { firstIdAt } from '../../domain/ids.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type Database, LIST_SETTINGS, one, openDatabase } from '../plumbing/database.ts';
import type { PaymentPageQuery } from './page-order.ts';
import type { PaymentFilter } from './payment-filter.ts';
import { listPayments } from './payment-lists.ts';
import { findDaysOfCustomers, paymentStats, readPaymentStats } from './payment-stats.ts';

const ROWS = IS_LONG ? 400_000 : 40_000;
const CHUNK = 20_000;
/** Half of the payments are of one merchant, the others of these. */
const SMALL_MERCHANTS = 1_000;
const LARGE = 'mrch_large';
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
/** The payments are spread evenly over these days. */
const DAYS = 100;
const PER_DAY = ROWS / 2 / DAYS;
const LIMIT = 51;
/** Payers of all merchants, with the same number of payments each. */
const PAYERS = 500;
const hashOf = (n: number) => `0x${String(n).padStart(64, '0')}`;
/** An entry of the largest index has some 250 bytes, so a page has some 30 of them. */
const ENTRIES_PER_PAGE = 25;

/**
 * The work for an answer must depend on the page, not on the number of payments that the merchant or others have. Timing
 * belongs in the benchmarks; here the plans are examined, and the pages that they touch are counted.
 */
describe('lists of a merchant with many payments', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    const { url } = database;
    db = openDatabase({ url, poolSize: 1, applicationName: 'test', settings: LIST_SETTINGS, statementTimeoutMs: 0 });
    await fill(db);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const filter: PaymentFilter = {
    ...UNFILTERED,
    partnerId: 'prtn_1',
    mode: 'test',
    merchantIds: [LARGE],
    now: new Date('2026-06-01T00:00:00Z'),
  };
  const page: PaymentPageQuery = { ...filter, sortBy: 'date', sortDir: 'desc', afterId: undefined, limit: LIMIT };
  const middle = firstIdAt('pay_', START_MS + 50.5 * DAY_MS);
  const range = { fromMs: START_MS + 20.3 * DAY_MS, untilMs: START_MS + 70.7 * DAY_MS };
  const RARE = ['eip155:10/slip44:60'];

  const PAGES: Readonly<Record<string, Partial<PaymentPageQuery>>> = {
    'the first page': {},
    'the last page': { sortDir: 'asc' },
    'a page in the middle': { afterId: middle },
    'a common status': { statuses: ['failed'] },
    'a status that no payment has': { statuses: ['cancelled'] },
    'overdue payments': { statuses: ['expired'] },
    'open payments': { statuses: ['requires_action'] },
    'several statuses': { statuses: ['failed', 'processing', 'cancelled'] },
    'a range of time': range,
    'a range of time and a status': { ...range, statuses: ['failed'] },
    'a common token': { assets: ['eip155:1/slip44:60'] },
    'a rare token': { assets: RARE },
    'a network that few use': { networks: ['eip155:10'] },
    'a network that no payment uses': { networks: ['eip155:56'] },
    'a part of few references': { referencePart: 'ORDER-20042' },
    'a part in another case': { referencePart: 'order-20042' },
    'a part that no reference has': { referencePart: 'nothing' },
    'the largest amounts': { sortBy: 'amount' },
    'the smallest amounts': { sortBy: 'amount', sortDir: 'asc' },
    'amounts from the middle on': { sortBy: 'amount', afterId: middle },
    'amounts of a status': { sortBy: 'amount', statuses: ['failed'] },
    'amounts of a status that no payment has': { sortBy: 'amount', statuses: ['cancelled'] },
    'amounts of a range of time': { sortBy: 'amount', ...range },
  };
  for (const [name, query] of Object.entries(PAGES)) {
    it(`${name}: an index leads to the page, and only the rows of the page are read`, async () => {
      const at = query.afterId === middle ? await idNear(db, middle) : undefined;
      const plan = await explain(db, listPayments(db.sql, { ...page, ...query, ...(at && { afterId: at }) }));
      const scans = paymentScans(plan);
      const pages = searchedPages(scans);
      const most = query.referencePart === undefined ? MOST_PAGES : MOST_PAGES_OF_SEARCH;
      assert.ok(pages <= most, `${pages} of at most ${most} pages, by ${scans.map(wayOf)}`);
      assert.ok(pagesOf(plan) <= most + LIMIT * PAGES_OF_ROW, `${pagesOf(plan)} pages in all`);
    });
  }

  for (const sortBy of ['date', 'amount'] as const) {
    it(`payments under way, by ${sortBy}: of the open payments only overdue ones are read`, async () => {
      const plan = await explain(db, listPayments(db.sql, { ...page, sortBy, statuses: ['processing'] }));
      const scans = paymentScans(plan);
      const refused = scans.filter((scan) => (scan['Rows Removed by Filter'] ?? 0) > 0);
      assert.deepEqual(refused.map(wayOf), []);
      assert.ok(scans.some((scan) => scan['Index Name'] === 'payments_open'));
    });
  }

  for (const [name, query] of Object.entries(PAGES)) {
    // A search reads the index of each merchant.
    if (query.referencePart !== undefined) continue;
    it(`${name} of all merchants: the same, with two looks at each merchant for open payments`, async () => {
      const at = query.afterId === undefined ? undefined : await idNear(db, query.afterId);
      const wanted = { ...page, ...query, merchantIds: null, ...(at && { afterId: at }) };
      const scans = paymentScans(await explain(db, listPayments(db.sql, wanted)));
      const { statuses } = wanted;
      const lookups = statuses?.includes('requires_action') === false ? 0 : 2 * SMALL_MERCHANTS;
      const most = MOST_PAGES + lookups * PAGES_PER_LOOKUP;
      assert.ok(searchedPages(scans) <= most, `${searchedPages(scans)} pages, by ${scans.map(wayOf)}`);
    });
  }

  const PAYER = { by: 'payer', address: `0x${'42'.padStart(40, '0')}`, chainId: undefined } as const;
  for (const [name, index, named] of [
    ['a payment', 'payments_pkey', { by: 'id', id: middle }],
    ['a transaction', 'payments_by_transaction', { by: 'transaction', hash: hashOf(42), paymentIds: [] }],
    ['a payer', 'payments_by_payer', PAYER],
  ] as const) {
    for (const merchantIds of [null, [LARGE]]) {
      it(`${name} among ${merchantIds === null ? 'all merchants' : 'one'}: its index leads to the page, and to the sum`, async () => {
        for (const statement of [
          listPayments(db.sql, { ...page, merchantIds, named }),
          paymentStats(db.sql, { ...filter, merchantIds, named }),
        ]) {
          const plan = await explain(db, statement);
          const indexes = new Set(nodesOf(plan).map((node) => node['Index Name']));
          assert.ok(indexes.has(index), [...indexes].join());
          assert.ok(!indexes.has('payments_of_partner') && !indexes.has('payments_by_status'), [...indexes].join());
          assert.ok(pagesOf(plan) <= (ROWS / PAYERS + LIMIT) * 8, `${pagesOf(plan)} pages`);
        }
      });
    }
  }

  for (const [name, more] of Object.entries<Partial<PaymentFilter>>({
    everything: {},
    'a token': { assets: ['eip155:1/slip44:60'] },
    'a network': { networks: ['eip155:1'] },
    'whole days': { fromMs: START_MS + 20 * DAY_MS, untilMs: START_MS + 70 * DAY_MS },
    'whole days and a token': { fromMs: START_MS + 20 * DAY_MS, assets: RARE },
  })) {
    it(`the sum of ${name}: from the totals alone`, async () => {
      const plan = await explain(db, paymentStats(db.sql, { ...filter, ...more }));
      assert.deepEqual(paymentScans(plan), []);
    });
  }

  for (const [name, more] of Object.entries<Partial<PaymentFilter>>({
    'some statuses': { statuses: ['expired', 'failed'] },
    'a status and a token': { statuses: ['processing'], assets: RARE },
    'whole days and a status': { fromMs: START_MS + 20 * DAY_MS, statuses: ['expired'] },
  })) {
    it(`the sum of ${name}: from the totals, and the few payments that are overdue`, async () => {
      const plan = await explain(db, paymentStats(db.sql, { ...filter, ...more }));
      const indexes = new Set(paymentScans(plan).map((scan) => scan['Index Name']));
      assert.deepEqual(indexes, new Set(['payments_open', 'payments_native']));
    });
  }

  it('the sum of a range of time: from the totals of its days, and the payments at both ends', async () => {
    const plan = await explain(db, paymentStats(db.sql, { ...filter, ...range }));
    // The few payments that were refunded are read by their ids.
    const scans = paymentScans(plan).filter((scan) => scan['Index Name'] !== 'payments_pkey');
    assert.deepEqual(new Set(scans.map(wayOf)), new Set(['Index Only Scan payments_by_status']));
    const pages = scans.reduce((sum, scan) => sum + pagesOf(scan), 0);
    assert.ok(pages <= 60 + (2 * PER_DAY) / ENTRIES_PER_PAGE, `${pages} pages`);
    for (const scan of scans) assert.equal(scan['Heap Fetches'], 0);
  });

  it('the sum of a search: only from rows that may match', async () => {
    const plan = await explain(db, paymentStats(db.sql, { ...filter, referencePart: 'ORDER-20042' }));
    const scans = paymentScans(plan);
    assert.ok(nodesOf(plan).some((node) => node['Index Name'] === 'payments_by_folded_reference'));
    const pages = scans.reduce((sum, scan) => sum + pagesOf(scan), 0);
    assert.ok(pages <= MOST_PAGES_OF_SEARCH, `${pages} pages, by ${scans.map(wayOf)}`);
  });

  for (const [name, more] of Object.entries<Partial<PaymentFilter>>({
    everything: {},
    'a range of time': range,
    'a range within one day': { fromMs: START_MS + 1.2 * DAY_MS, untilMs: START_MS + 1.4 * DAY_MS },
    'the end of a range': { fromMs: range.untilMs },
    'the beginning of a range': { untilMs: range.fromMs },
    'the beginning of a range and a status': { untilMs: range.fromMs, statuses: ['failed'] },
    'a time before all payments': { untilMs: START_MS - DAY_MS },
    'a range, overdue payments and a token': { ...range, statuses: ['expired'], assets: ['eip155:1/slip44:60'] },
    'a rare token of a range': { ...range, networks: ['eip155:10'] },
    'open payments': { statuses: ['requires_action'] },
    'a search in a range': { ...range, referencePart: '42' },
    'a search that also finds open payments': { referencePart: '002' },
    'everything of all merchants': { merchantIds: null },
    'a range and overdue payments of all merchants': { ...range, statuses: ['expired'], merchantIds: null },
    'a rare token of a range of all merchants': { ...range, networks: ['eip155:10'], merchantIds: null },
  })) {
    it(`the sum of ${name}: the same as a recount of the rows`, async () => {
      const wanted = { ...filter, ...more };
      const stats = await readPaymentStats(db.sql, wanted);
      const revenue = stats.revenue.reduce((sum, { units }) => sum + units, 0n);
      assert.deepEqual([stats.transactions, stats.customers, revenue], await recount(db, wanted));
      const totals = await readPaymentStats(db.sql, wanted, { countsCustomers: false });
      assert.deepEqual(totals, { ...stats, customers: undefined });
    });
  }

  it('the sum of any range of time: the same as a recount of the rows, whatever the parts of days at its ends', async () => {
    const ms = fc.integer({ min: START_MS - DAY_MS, max: START_MS + (DAYS + 1) * DAY_MS });
    const hour = fc.integer({ min: 0, max: DAYS * 24 }).map((hours) => START_MS + (hours * DAY_MS) / 24);
    const end = fc.option(fc.oneof(ms, hour), { nil: undefined });
    const nearEnd = fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS });
    const ranges = fc.oneof(
      fc.record({ fromMs: end, untilMs: end }),
      fc.tuple(hour, nearEnd).map(([fromMs, more]) => ({ fromMs, untilMs: fromMs + more })),
    );
    const wanted = fc.record({
      range: ranges,
      statuses: fc.constantFrom(undefined, ['succeeded'] as const, ['expired', 'failed'] as const),
      assets: fc.constantFrom(undefined, RARE),
      now: fc.constantFrom(filter.now, new Date(START_MS + 40.3 * DAY_MS)),
      mostLookedUp: fc.constantFrom(0, 1_000),
      merchantIds: fc.constantFrom(filter.merchantIds, null),
    });
    const check = fc.asyncProperty(wanted, async ({ range: ends, mostLookedUp, ...more }) => {
      const asked = { ...filter, ...ends, ...more };
      const rows = await paymentStats(db.sql, asked, { mostLookedUp });
      const { transactions, customers } = one(rows);
      const revenue = rows.reduce((sum, { value }) => sum + BigInt(value ?? 0), 0n);
      assert.deepEqual([Number(transactions), Number(customers), revenue], await recount(db, asked));
    });
    // Each run of the long form counts 400,000 rows twice: a thousand runs took twelve minutes.
    await fc.assert(check, { numRuns: IS_LONG ? 200 : 60 });
  });

  const inMarch = new Date(START_MS + 70.2 * DAY_MS);
  const OPEN = { statuses: ['requires_action', 'expired'] } satisfies Partial<PaymentFilter>;
  const ORDERED: Readonly<Record<string, Partial<PaymentPageQuery>>> = {
    'the largest amounts': { sortBy: 'amount' },
    'the smallest amounts': { sortBy: 'amount', sortDir: 'asc' },
    'the smallest amounts of open payments': { ...OPEN, sortBy: 'amount', sortDir: 'asc' },
    'the same, while some are new': { ...OPEN, sortBy: 'amount', sortDir: 'asc', now: inMarch },
    'the same, in a range of time': { ...OPEN, ...range, sortBy: 'amount', now: inMarch },
    'a search in open payments': { ...OPEN, referencePart: '002', now: inMarch },
    'a search in open payments by amount': { ...OPEN, referencePart: '002', sortBy: 'amount', now: inMarch },
    'open payments with a token': { ...OPEN, networks: ['eip155:1'], now: inMarch },
    'open payments with a token by amount': { ...OPEN, networks: ['eip155:1'], sortBy: 'amount' },
  };
  const ALL = { merchantIds: null } as const;
  for (const [name, query] of [
    ...Object.entries(ORDERED),
    ...Object.entries(ORDERED).map(([each, asked]) => [`${each}, of all merchants`, { ...asked, ...ALL }] as const),
    ['the newest of all merchants', { ...ALL, now: inMarch }],
    ['open ones of all merchants', { ...ALL, ...OPEN, now: inMarch }],
    ['a token and two statuses of all merchants', { ...ALL, statuses: ['failed', 'expired'], assets: RARE }],
  ] satisfies (readonly [string, Partial<PaymentPageQuery>])[]) {
    it(`${name}: the same as computed from the rows`, async () => {
      const wanted: PaymentPageQuery = { ...page, ...query, limit: 200 };
      const rows = await listPayments(db.sql, wanted);
      const direction = db.sql.unsafe(wanted.sortDir);
      const order = wanted.sortBy === 'amount' ? db.sql`amount_value ${direction}, id ${direction}` : db.sql`id desc`;
      const expected = await db.sql<{ id: string }[]>`
        select id from payments where ${isWanted(db, wanted)} order by ${order} limit 200`;
      assert.ok(expected.length > 0);
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected.map(({ id }) => id),
      );
    });
  }

  it('customers whose first and last days are unknown are counted by their days', async () => {
    const ranges = [{ fromMs: range.fromMs }, { untilMs: range.untilMs }, { untilMs: START_MS + 0.01 * DAY_MS }];
    const read = () => Promise.all(ranges.map((each) => readPaymentStats(db.sql, { ...filter, ...each })));
    const before = await read();
    await db.sql`update payment_customers set first_day = null, last_day = null where buyer_account like '%7'`;
    assert.deepEqual(await read(), before);
    while ((await command({ registry: REGISTRY, db, world: systemWorld }, (tx) => findDaysOfCustomers(tx, 100))) > 0) {
      // Until all are known.
    }
    assert.deepEqual(await read(), before);
    const [row] = await db.sql`select count(*)::int as count from payment_customers where first_day is null`;
    assert.equal(row?.count, 0);
  });
});

/** A scan of the large merchant's part of an index would take far more: some 700 pages of the 20,000 payments. */
const MOST_PAGES = 200;
/** A row and its index of three levels, and the indexes of its settlement, refunds and late money. */
const PAGES_OF_ROW = 10;
/** The list of a part that most references have grows with them: by a page for some thousand payments. */
const MOST_PAGES_OF_SEARCH = MOST_PAGES + ROWS / 2_000;
/** From the root of an index to an entry. */
const PAGES_PER_LOOKUP = 4;

/** The sums from the rows alone. */
async function recount(db: Database, filter: PaymentFilter): Promise<[number, number, bigint]> {
  const rows = await db.sql<{ transactions: string; customers: string; revenue: string }[]>`
    select count(*) as transactions, count(distinct buyer_account) as customers,
      coalesce(sum(amount_value - coalesce(refunded, 0)) filter (where status = 'succeeded'), 0) as revenue
    from payments left join lateral (
      select sum(coalesce(price_value, amount_value)) as refunded from refunds
      where payment_id = payments.id and state = 'refunded'
    ) r on true
    where ${isWanted(db, filter)}`;
  const { transactions, customers, revenue } = one(rows);
  return [Number(transactions), Number(customers), BigInt(revenue)];
}

/** The filter, written once more and without regard to indexes. */
function isWanted({ sql }: Database, filter: PaymentFilter) {
  const { fromMs = 0, untilMs = 2 ** 47, assets, networks, statuses, referencePart = '', now } = filter;
  return sql`(${filter.merchantIds === null} or merchant_id = ${LARGE}) and id >= ${firstIdAt('pay_', fromMs)} and id < ${firstIdAt('pay_', untilMs)}
    and reference_id ilike ${`%${referencePart}%`}
    and (${assets === undefined} or token_asset = any(${(assets ?? []) as string[]}::text[]))
    and (${networks === undefined} or split_part(token_asset, '/', 1) = any(${(networks ?? []) as string[]}::text[]))
    and (${statuses === undefined} or case when status = 'requires_action' and expires_at <= ${now} then 'expired'
      else status end = any(${(statuses ?? []) as string[]}::text[]))`;
}

async function idNear({ sql }: Database, bound: string): Promise<string> {
  const rows = await sql<
    { id: string }[]
  >`select id from payments where merchant_id = ${LARGE} and id > ${bound} limit 1`;
  return one(rows).id;
}

/**
 * The rows of a merchant lie on different pages. 40 of the large merchant's are open, ten of them overdue. Amounts are not
 * in the order of time.
 */
async function fill({ sql }: Database): Promise<void> {
  await sql`insert into partners (id, name, pinned_version, created_at) values ('prtn_1', 'P', '2026-02-18', now())`;
  await sql`
    insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
    select id, 'prtn_1', 'test', 'M', 'active', now(), now()
    from (select 'mrch_' || n from generate_series(0, ${SMALL_MERCHANTS - 1}::int) n union all select ${LARGE}) m(id)`;
  const stepMs = (DAYS * DAY_MS) / ROWS;
  for (let start = 0; start < ROWS; start += CHUNK) {
    const numbers = Array.from({ length: CHUNK }, (_, index) => start + index);
    const ids = numbers.map((n) => `${firstIdAt('pay_', Math.floor(START_MS + n * stepMs)).slice(0, -8)}${digits(n)}`);
    await sql`
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        status, created_at, updated_at, expires_at, token_asset, token_value, buyer_account, transaction_hash)
      select id, 'prtn_1', 'test', case when n % 2 = 0 then ${LARGE} else 'mrch_' || n % ${SMALL_MERCHANTS}::int end,
        'ORDER-' || n, 'iso4217/USD', 1000 + n::bigint * 7919 % 100003, 2, status, at, at,
        case when n % 8000 = 2 then at + interval '1 hour' when n % 4000 = 2 then timestamptz '2026-05-01'
          else timestamptz '2026-07-01' end,
        case when n % 30000 = 10 then 'eip155:10/slip44:60' else 'eip155:1/slip44:60' end, 1000,
        case when n % 1000 <> 2 then 'eip155:1:0x' || lpad((n % ${PAYERS}::int)::text, 40, '0') end, '0x' || lpad(n::text, 64, '0')
      from unnest(${ids}::text[], ${numbers.map(String)}::text[]::int[]) as i(id, n),
        lateral (
          select to_timestamp((${START_MS}::bigint + floor(n * ${stepMs}::float8)) / 1000.0) as at,
            case when n % 1000 = 2 then 'requires_action' else (array['succeeded', 'failed', 'expired'])[1 + n % 3] end
              as status
        ) more`;
  }
  await addTotals(sql);
  await refundSome(sql);
  for (const table of [...TOTALS, 'payments', 'refunds', 'merchants']) await sql.unsafe(`vacuum analyze ${table}`);
}

/** Refunds the whole of some payments and a part of others. Further refunds have failed. */
async function refundSome(sql: Database['sql']): Promise<void> {
  await sql`
    insert into refunds (id, payment_id, merchant_id, number, network, asset, method, recipient, amount, price_value, state,
      from_held, from_merchant, from_operator, account, transaction_hash, requested_at, updated_at)
    select 'rfnd_' || p.id || r.number, p.id, p.merchant_id, r.number, 'eip155:1', p.token_asset, 'native', '0x', 1, r.price,
      r.state, 0, 1, 0, '0x', '0x', p.created_at, p.created_at
    from payments p, lateral (values
      (1, case when right(p.id, 8)::int % 102 = 0 then null else 10 end, 'refunded'),
      (2, 7, case when right(p.id, 8)::int % 102 = 0 then 'failed' else 'refunded' end)) as r(number, price, state)
    where p.status = 'succeeded' and right(p.id, 8)::int % 51 = 0`;
  await sql`
    insert into payment_stat_changes
      (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
    select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date, p.status, p.token_asset,
      p.amount_unit, p.amount_decimals, 0, -coalesce(r.price_value, p.amount_value)
    from refunds r join payments p on p.id = r.payment_id where r.state = 'refunded'`;
}

const TOTALS = ['payment_stats', 'payment_day_stats', 'payment_customers', 'payment_day_customers'];
const digits = (n: number) => String(n).padStart(8, '0');

function paymentScans(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter((node) => node['Relation Name'] === 'payments');
}

/** The pages that led to the page of the list. Its own rows are read by their ids. */
function searchedPages(scans: readonly PlanNode[]): number {
  const searched = scans.filter((scan) => scan['Index Name'] !== 'payments_pkey').map(pagesOf);
  return searched.reduce((sum, count) => sum + count, 0);
}
