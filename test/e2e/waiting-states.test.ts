import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/domain/payment.ts';
import { REFUND_TRANSITIONS } from '../../src/domain/refund.ts';
import { FLAGS, RESTING_STATES, WAITING_STATES } from '../../src/domain/waiting-states.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { createTestDatabase } from '../database.ts';
import { WAITING_ENDS } from '../waiting-ends.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAITING = Object.fromEntries(
  Object.entries(WAITING_STATES).map(([table, states]) => [table, Object.keys(states)]),
);

const flagsOf = (table: string): readonly string[] =>
  (FLAGS as Readonly<Record<string, readonly string[]>>)[table] ?? [];
const statesOf = (table: string) => (WAITING[table] ?? []).filter((state) => !flagsOf(table).includes(state));

/** Partial indexes whose rows wait for nothing. */
const WITHOUT_WAIT = [
  // Lists, and questions about one object.
  ...['api_requests_with_errors', 'audit_log_by_partner', 'book_entries_by_block', 'chain_events_by_subject'],
  'chain_events_sweeps',
  ...['items_by_payer', 'mails_by_inbox', 'mails_by_merchant', 'merchant_brands_by_logo', 'merchant_logos_by_hash'],
  ...['merchants_by_partner', 'merchants_search', 'movements_without_log', 'outgoing_begun', 'outgoing_by_transaction'],
  ...['outgoing_of_merchant', 'outgoing_of_payment', 'payment_links_by_picture', 'payments_by_payer'],
  ...['payments_by_transaction', 'people_by_email', 'people_by_partner', 'receipt_keys_signing', 'refunds_from_held'],
  ...['sessions_by_person', 'sign_in_links_by_person', 'strays_by_merchant', 'strays_by_payment', 'strays_of_lot'],
  'webhook_endpoints_by_owner',
  // The next round of a job takes or deletes all of them, whatever they are.
  ...[
    'past_alerts_unmailed',
    'payment_customers_without_days',
    'payment_visits_uncounted',
    'webhook_endpoints_narrowed',
  ],
  // History: no code reads these tables as queues any more.
  ...['deposit_strays_due', 'deposit_strays_unswept', 'deposits_due', 'deposits_unswept', 'payouts_held'],
  // Of a sandbox.
  'rehearsals_open',
];

describe('the table of states that wait', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('has every state of the schema, as one that waits or as one that rests', async () => {
    const db = openDatabase({ url: database.url, poolSize: 1, applicationName: 'till-test' });
    const rows = await db.sql<{ table: string; definition: string }[]>`
      select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition from pg_constraint
      where contype = 'c' and pg_get_constraintdef(oid) ~ '^CHECK [(][(](state|status) = ANY'`;
    await db.close();
    const inSchema = rows.map(({ table, definition }) => [
      table,
      [...definition.matchAll(/'(\w+)'::text/g)].map(([, state]) => state).sort(),
    ]);
    const tables = new Set([...Object.keys(WAITING), ...Object.keys(RESTING_STATES)]);
    const inTable = [...tables]
      .map((table) => [table, [...statesOf(table), ...(RESTING_STATES[table] ?? [])].sort()] as const)
      .filter(([, states]) => states.length > 0);
    assert.deepEqual(Object.fromEntries(inSchema), Object.fromEntries(inTable));
  });

  it('has every flag of a queue: a partial index is about a state, a flag of the table, or no wait', async () => {
    const db = openDatabase({ url: database.url, poolSize: 1, applicationName: 'till-test' });
    const rows = await db.sql<{ name: string; table: string; condition: string }[]>`
      select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as table,
        pg_get_expr(i.indpred, i.indrelid) as condition
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
      where i.indpred is not null and n.nspname = 'public'`;
    await db.close();
    const others = rows.filter(({ table, condition }) => {
      const columns = [...statesOf(table).flatMap(() => ['state', 'status']), ...flagsOf(table)];
      return !columns.some((column) => new RegExp(`\\b${column}\\b`).test(condition));
    });
    assert.deepEqual(others.map(({ name }) => name).toSorted(), WITHOUT_WAIT.toSorted());
    const hasIndex = (table: string, flag: string) =>
      rows.some((row) => row.table === table && new RegExp(`\\b${flag}\\b`).test(row.condition));
    const missing = Object.entries(FLAGS).flatMap(([table, flags]) => flags.filter((flag) => !hasIndex(table, flag)));
    assert.deepEqual(missing, []);
  });

  it('has a test for the end of each wait', () => {
    const waits = Object.entries(WAITING).flatMap(([table, states]) => states.map((state) => `${table}.${state}`));
    assert.deepEqual(Object.keys(WAITING_ENDS).toSorted(), waits.toSorted());
    const missing = Object.values(WAITING_ENDS).filter(([file, title]) => {
      const text = readFileSync(join(ROOT, `test/${file}.test.ts`), 'utf8').replace(/it\(\s+/g, 'it(');
      return !["it('", 'it("', 'it(`'].some((call) => text.includes(call + title));
    });
    assert.deepEqual(missing, []);
  });

  it('has no statement that writes to a table of history', () => {
    const sources = globSync('src/store/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'));
    assert.ok(!sources.some((text) => /\b(update|insert into|delete from) payouts\b/.test(text)));
  });

  it('calls a payment or a refund waiting exactly if its transitions lead out of the state', () => {
    const left = (transitions: Record<string, object>) =>
      Object.entries(transitions).flatMap(([state, moves]) => (Object.keys(moves).length > 0 ? [state] : []));
    assert.deepEqual(WAITING.payments, left(TRANSITIONS));
    const ofRefunds = left(REFUND_TRANSITIONS).filter((state) => state !== 'refunded');
    assert.deepEqual(WAITING.refunds?.toSorted(), ofRefunds.toSorted());
  });

  for (const [table, flags] of Object.entries(FLAGS))
    it(`has a statement that takes the flag off rows of ${table}`, () => {
      const statements = globSync('src/store/**/*.ts', { cwd: ROOT }).flatMap((file) =>
        readFileSync(join(ROOT, file), 'utf8').split('`'),
      );
      for (const flag of flags) {
        const changes = new RegExp(`\\bupdate ${table}\\b[^;]*\\bset\\b[^;]*\\b${flag} =|\\bdelete from ${table}\\b`);
        assert.ok(
          statements.some((text) => changes.test(text)),
          `no statement takes ${flag} off a row of ${table}`,
        );
      }
    });

  for (const table of Object.keys(WAITING).filter((each) => statesOf(each).length > 0))
    it(`has a statement that takes rows of ${table} out of each state`, () => {
      const statements = globSync('src/store/**/*.ts', { cwd: ROOT })
        .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').split('`'))
        .filter((text) => new RegExp(`\\bupdate ${table}\\b[^;]*\\bset\\b[^;]*\\b(state|status|is_open) =`).test(text));
      for (const state of statesOf(table)) {
        const isLeft = statements.some((text) => {
          const guards = [...text.matchAll(/(?:where|and)[^;]*?\b(?:state|status) (?:=|in) \(?((?:'\w+'(?:, )?)+)/g)];
          return guards.length === 0 || guards.some(([, names]) => names?.includes(`'${state}'`));
        });
        assert.ok(isLeft, `no statement takes a row of ${table} out of ${state}`);
      }
    });
});
