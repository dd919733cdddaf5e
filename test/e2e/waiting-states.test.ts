import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TRANSITIONS } from '../../src/domain/payment.ts';
import { REFUND_TRANSITIONS } from '../../src/domain/refund.ts';
import { RESTING_STATES, WAITING_STATES } from '../../src/domain/waiting-states.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { createTestDatabase } from '../database.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAITING = Object.fromEntries(
  Object.entries(WAITING_STATES).map(([table, states]) => [table, Object.keys(states)]),
);

/** Tables whose rows wait by a flag, not by a state. */
const FLAGGED = ['lots'];

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
      .filter((table) => !FLAGGED.includes(table))
      .map((table) => [table, [...(WAITING[table] ?? []), ...(RESTING_STATES[table] ?? [])].sort()]);
    assert.deepEqual(Object.fromEntries(inSchema), Object.fromEntries(inTable));
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

  for (const [table, states] of Object.entries(WAITING))
    it(`has a statement that takes rows of ${table} out of each state`, () => {
      const statements = globSync('src/store/**/*.ts', { cwd: ROOT })
        .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').split('`'))
        .filter((text) => new RegExp(`\\bupdate ${table}\\b[^;]*\\bset\\b[^;]*\\b(state|status|is_open) =`).test(text));
      for (const state of states) {
        const isLeft = statements.some((text) => {
          const guards = [...text.matchAll(/(?:where|and)[^;]*?\b(?:state|status) (?:=|in) \(?((?:'\w+'(?:, )?)+)/g)];
          return guards.length === 0 || guards.some(([, names]) => names?.includes(`'${state}'`));
        });
        assert.ok(isLeft, `no statement takes a row of ${table} out of ${state}`);
      }
    });
});
