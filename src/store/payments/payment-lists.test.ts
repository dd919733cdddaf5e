import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { type Database, openDatabase } from '../plumbing/database.ts';
import { textOf } from '../plumbing/statement.ts';
import { listPayments, type PaymentFilter, type PaymentPageQuery } from './payment-lists.ts';
import { statsFromMatches, statsFromTotals } from './payment-stats.ts';

const ROWS = Number(process.env.TILL_TEST_LONG === undefined ? 60_000 : 400_000);
const MERCHANTS = 100;
const CHUNK = 20_000;
const WAY = ['Index Only Scan payments_by_merchant', 'Index Scan payments_pkey'];

/**
 * What an answer reads must depend on the merchant, not on how many payments others have. Timing belongs in the
 * benchmarks; here the plans are looked at, and the pages they touch counted.
 */
describe('lists among the payments of many merchants', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: 1, applicationName: 'test' });
    await fill(db);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const filter: PaymentFilter = {
    partnerId: 'prtn_1',
    mode: 'test',
    merchantIds: ['mrch_7'],
    fromMs: undefined,
    untilMs: undefined,
    assets: undefined,
    networks: undefined,
    statuses: undefined,
    referencePart: undefined,
    now: new Date('2026-06-01T00:00:00Z'),
  };
  const page: PaymentPageQuery = { ...filter, sortBy: 'date', sortDir: 'desc', afterId: undefined, limit: 51 };
  const middle = `pay_${String(ROWS / 2)
    .padStart(10, '0')
    .padEnd(26, '0')}`;
  // The time in an id is a number in base 32; those here count in tens.
  const aMiddleThird = { fromMs: 2 * 32 ** 4, untilMs: 4 * 32 ** 4 };

  for (const [name, query] of Object.entries<Partial<PaymentPageQuery>>({
    'the first page': {},
    'the last page': { sortDir: 'asc' },
    'a page in the middle': { afterId: middle },
    'a status': { statuses: ['failed'] },
    'a status that nobody has': { statuses: ['processing'] },
    'a part of the reference': { referencePart: 'ORDER-1007' },
    'a part that no reference has': { referencePart: 'nothing' },
    'a range of time': aMiddleThird,
    'a token that few pay with': { assets: ['eip155:1/slip44:60', 'eip155:10/slip44:60'] },
    'a network that nobody uses': { networks: ['eip155:10'] },
    'the largest amounts': { sortBy: 'amount' },
    'amounts of some statuses': { sortBy: 'amount', sortDir: 'asc', statuses: ['failed', 'expired'] },
    'three merchants': { merchantIds: ['mrch_7', 'mrch_8', 'mrch_9'], statuses: ['failed'] },
  })) {
    it(`${name}: decided in the index, then only the rows of the page are read`, async () => {
      const statement = () => listPayments(db.sql, { ...page, ...query });
      const scans = paymentScans(await explain(db, statement()));
      assert.deepEqual(scans.map(wayOf), WAY);
      assert.deepEqual(paymentScans(await explainGeneric(db, statement())).map(wayOf), WAY);
      assert.equal(scans[0]?.['Heap Fetches'], 0);
      const [index = 0, both = 0] = scans.map(pagesOf);
      const merchants = query.merchantIds?.length ?? 1;
      // An entry has some 250 bytes; the rows of the page cost some reads each, to find and to read it.
      assert.ok(index <= 10 + (merchants * ROWS) / MERCHANTS / 10, `${index} pages of the index`);
      assert.ok(both - index <= 51 * 8, `${both - index} pages for the rows`);
    });
  }

  it('the first page of all merchants: the newest rows, and no others', async () => {
    const plan = await explain(db, listPayments(db.sql, { ...page, merchantIds: null }));
    assert.ok(pagesOf(plan) <= 51 * 8, `${pagesOf(plan)} pages`);
  });

  it('few matching payments of all merchants: found by the index', async () => {
    for (const more of [{ referencePart: 'ORDER-1007' }, { statuses: ['processing' as const] }]) {
      const statement = () => listPayments(db.sql, { ...page, merchantIds: null, ...more });
      assert.deepEqual(paymentScans(await explain(db, statement())).map(wayOf), WAY);
      assert.deepEqual(paymentScans(await explainGeneric(db, statement())).map(wayOf), WAY);
    }
  });

  it('the sum of some statuses: from the totals, and the few that are overdue', async () => {
    const statement = () => statsFromTotals(db.sql, { ...filter, statuses: ['expired'] });
    const plan = await explain(db, statement());
    for (const either of [plan, await explainGeneric(db, statement())]) {
      const indexes = new Set(paymentScans(either).map((scan) => scan['Index Name']));
      assert.deepEqual(indexes, new Set(['payments_open', 'payments_native']));
    }
    const customers = nodesOf(plan).find((node) => node['Relation Name'] === 'payment_customers');
    assert.equal(customers?.['Node Type'], 'Index Only Scan');
    assert.equal(customers?.['Heap Fetches'], 0);
    assert.ok(pagesOf(plan) < 40 + ROWS / MERCHANTS / 10, `${pagesOf(plan)} pages`);
  });

  it('the sum of everything: from the totals alone', async () => {
    const plan = await explain(db, statsFromTotals(db.sql, filter));
    assert.deepEqual(paymentScans(plan), []);
  });

  for (const [name, more] of Object.entries<Partial<PaymentFilter>>({
    'what a search finds': { referencePart: 'ORDER-1007' },
    'a range of time': aMiddleThird,
    'a token and a status': { assets: ['eip155:1/slip44:60'], statuses: ['succeeded'] },
    'a network': { networks: ['eip155:1'] },
  })) {
    it(`the sum of ${name}: from the index alone`, async () => {
      const statement = () => statsFromMatches(db.sql, { ...filter, ...more });
      const scans = paymentScans(await explain(db, statement()));
      assert.deepEqual(scans.map(wayOf), [WAY[0]]);
      assert.deepEqual(paymentScans(await explainGeneric(db, statement())).map(wayOf), [WAY[0]]);
      assert.equal(scans[0]?.['Heap Fetches'], 0);
    });
  }
});

/** Each merchant has every hundredth payment: all of its rows lie on different pages. */
async function fill({ sql }: Database): Promise<void> {
  await sql`set statement_timeout = 0`;
  await sql`insert into partners (id, name, pinned_version, created_at) values ('prtn_1', 'P', '2026-02-18', now())`;
  await sql`
    insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
    select 'mrch_' || n, 'prtn_1', 'test', 'M', 'active', now(), now() from generate_series(0, ${MERCHANTS - 1}::int) n`;
  for (let start = 0; start < ROWS; start += CHUNK) {
    await sql`
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        status, created_at, updated_at, expires_at, token_asset, token_value, buyer_account, transaction_hash)
      select 'pay_' || rpad(lpad(n::text, 10, '0'), 26, '0'), 'prtn_1', 'test', 'mrch_' || n % ${MERCHANTS}::int, 'ORDER-' || n,
        'iso4217/USD', 1000, 2, (array['succeeded', 'failed', 'expired'])[1 + n % 3], at, at, at + interval '5 minutes',
        'eip155:1/slip44:60', 1000, 'eip155:1:0x' || lpad(n::text, 40, '0'), '0x' || lpad(n::text, 64, '0')
      from generate_series(${start}::int, ${start + CHUNK - 1}::int) n, lateral (select timestamptz '2026-03-01' as at)`;
  }
  await sql`
    insert into payment_customers (partner_id, mode, merchant_id, buyer_account, status, payments)
    select partner_id, mode, merchant_id, buyer_account, status, 1 from payments`;
  await sql`
    insert into payment_stats (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
    select partner_id, mode, merchant_id, status, amount_unit, 2, count(*), sum(amount_value) from payments
    group by partner_id, mode, merchant_id, status, amount_unit`;
  for (const table of ['payments', 'payment_customers', 'payment_stats', 'merchants']) {
    await sql.unsafe(`vacuum analyze ${table}`);
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Heap Fetches'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

type Statement = ReturnType<typeof listPayments> | ReturnType<typeof statsFromMatches>;

/** The plan, and what it did. */
async function explain({ sql }: Database, statement: Statement): Promise<PlanNode> {
  const rows = await sql<PlanRow[]>`explain (analyze, buffers, format json) ${statement}`;
  return planIn(rows);
}

/** The plan for whatever values: the one the server goes over to when a statement is used often. */
async function explainGeneric({ sql }: Database, statement: Statement): Promise<PlanNode> {
  return planIn(await sql.unsafe<PlanRow[]>(`explain (generic_plan, format json) ${textOf(statement).text}`));
}

interface PlanRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
}

function planIn(rows: readonly PlanRow[]): PlanNode {
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  assert.ok(plan);
  return plan;
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function wayOf(scan: PlanNode): string {
  return `${scan['Node Type']} ${scan['Index Name']}`;
}

function paymentScans(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter((node) => node['Relation Name'] === 'payments');
}

function pagesOf(node: PlanNode): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
}
