import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { sealLeaseName, sealOnce } from '../../src/actions/books/seal-entries.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { command } from '../../src/actions/command.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { applyRoles, openRunRole, renewGrants } from '../../src/store/plumbing/database-roles.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { migrate, SchemaMismatchError } from '../../src/store/plumbing/migrate.ts';
import {
  connectTo,
  createEmptyDatabase,
  createTestDatabase,
  type TestConnection,
  type TestDatabase,
} from '../database.ts';
import { openPayingShop, result, USDC } from '../e2e/paying-shop.ts';
import { DOLLAR, openRefundScene } from '../e2e/refund-scene.ts';
import { runCommand } from '../run-command.ts';

/** SQLSTATE `insufficient_privilege`: a trigger that refuses has another one. */
const NO_RIGHT = '42501';
const log = pino({ level: 'silent' });

const APPEND_ONLY = [
  'audit_log',
  'book_entries',
  'events',
  'event_batches',
  'float_changes',
  'screened_movements',
] as const;

const MIGRATIONS = join(import.meta.dirname, '../../migrations');
/** The number of migrations of version 0.1.0. */
const LAST_OF_OLDER = 46;

const FORBIDDEN = [
  'alter table payments add column mine text',
  'alter table freezes rename to melted',
  'create table mine (id int)',
  'drop table freezes',
  'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
  'drop function refuse_change cascade',
  "set session_replication_role = 'replica'",
  'alter role till_run superuser',
  'delete from payments',
  'truncate payments',
  'delete from webhook_endpoints',
  'delete from webhook_cursor',
  'alter table payments disable trigger payments_never_removed',
  "update book_entries set note = 'mine'",
  'alter table book_entries disable trigger book_entries_unchanging',
  'drop trigger book_entries_unchanging on book_entries',
  "update migrations set name = 'mine'",
  "insert into migrations (id, name, sha256) values (9999, 'mine', '')",
  ...APPEND_ONLY.flatMap((table) => [
    `delete from ${table}`,
    `truncate ${table}`,
    `alter table ${table} disable trigger all`,
    `alter table ${table} owner to till_run`,
  ]),
  "update audit_log set actor = 'mine'",
  "update events set actor = 'mine'",
  'update event_batches set position = position + 1',
  'update float_changes set units = units + 1',
];

describe('the run role of the database', () => {
  let database: TestDatabase;
  let runUrl: string;
  let sql: TestConnection;
  before(async () => {
    database = await createTestDatabase();
    runUrl = await openRunRole(systemWorld, database.url);
    sql = connectTo(runUrl);
  });
  after(async () => {
    await sql.end();
    await database.drop();
  });

  for (const statement of FORBIDDEN) {
    it(`may not ${statement}`, async () => {
      await assert.rejects(sql.unsafe(statement), { code: NO_RIGHT });
    });
  }

  it('reads with the read role, and writes nothing with it', async () => {
    const owner = connectTo(database.url);
    try {
      await owner.unsafe('set role till_read');
      assert.ok((await owner`select id from migrations`).length > 0);
      for (const statement of ['insert into freezes default values', 'update payments set status = status']) {
        await assert.rejects(owner.unsafe(statement), { code: NO_RIGHT });
      }
    } finally {
      await owner.end();
    }
  });

  it('starts on a schema that is up to date, and only on such a schema', async () => {
    await migrate({ log }, runUrl);
    const owner = connectTo(database.url);
    try {
      // As if the newest migration were still to come.
      const [row] = await owner`delete from migrations where id = (select max(id) from migrations) returning *`;
      await assert.rejects(migrate({ log }, runUrl), SchemaMismatchError);
      await owner`insert into migrations (id, name, sha256) values (${row?.id}, ${row?.name}, ${row?.sha256})`;
    } finally {
      await owner.end();
    }
  });

  it('gets rights on the tables of later migrations', async () => {
    const owner = connectTo(database.url);
    try {
      await owner`create table newcomers (id integer)`;
      await assert.rejects(sql`insert into newcomers values (1)`, { code: NO_RIGHT });
      await renewGrants(owner);
      await sql`insert into newcomers values (1)`;
    } finally {
      await owner.end();
    }
  });

  it('keeps its rights while the database of an older version is migrated', async () => {
    const older = await createEmptyDatabase();
    const owner = connectTo(older.url);
    try {
      await owner`create table migrations (id integer primary key, name text, sha256 text, applied_at timestamptz default now())`;
      for (const name of (await readdir(MIGRATIONS)).sort().slice(0, LAST_OF_OLDER)) {
        const text = await readFile(join(MIGRATIONS, name), 'utf8');
        const sha256 = createHash('sha256').update(text).digest('hex');
        await owner.unsafe(text.replaceAll(' concurrently ', ' '));
        await owner`insert into migrations values (${Number(name.slice(0, 4))}, ${name}, ${sha256})`;
      }
      await applyRoles(older.url);
      await migrate({ log }, older.url);
      for (const table of ['screened_movements', 'known_records']) {
        const [row] = await owner`
          select has_table_privilege('till_run', ${table}, 'insert') as "mayInsert",
            has_table_privilege('till_run', ${table}, 'delete') as "mayDelete"`;
        assert.deepEqual(row, { mayInsert: true, mayDelete: false }, table);
      }
    } finally {
      await owner.end();
      await older.drop();
    }
  });

  it('is printed and applied by the command `database roles`', async () => {
    const till = async (...argv: string[]) => {
      const env = { DATABASE_URL: runUrl, DATABASE_MIGRATE_URL: database.url };
      const { exitCode, stdout, stderr } = await runCommand(argv, { env, world: systemWorld });
      assert.equal(exitCode, 0, stderr);
      return stdout;
    };
    const printed = await till('database', 'roles');
    const owner = connectTo(database.url);
    try {
      await owner.unsafe(printed);
      await owner`revoke insert on freezes from till_run`;
      assert.match(await till('database', 'roles', '--apply'), /till_run and till_read exist/);
      const [row] = await owner`select has_table_privilege('till_run', 'freezes', 'insert') as "mayInsert"`;
      assert.equal(row?.mayInsert, true);
      assert.match(await till('migrate'), /up to date/);
    } finally {
      await owner.end();
    }
  });

  it('cannot make the first schema', async () => {
    const empty = await createEmptyDatabase();
    try {
      const url = Object.assign(new URL(runUrl), { pathname: new URL(empty.url).pathname }).href;
      await assert.rejects(migrate({ log }, url), /set DATABASE_MIGRATE_URL/);
      await migrate({ log }, empty.url);
      await applyRoles(empty.url);
      await applyRoles(empty.url);
      await migrate({ log }, url);
    } finally {
      await empty.drop();
    }
  });
});

describe('a gateway that runs as the run role', () => {
  it('takes a payment, pays a held one out, refunds one, and seals its books', async () => {
    const scene = await openRefundScene({ isRunRole: true });
    try {
      const node = await scene.newNode();
      const destination = scene.payers.newAccount();
      const held = await scene.paid(node, { isHeld: true });
      const refunded = await scene.paid(node);
      await scene.register(destination);
      await scene.fill(node, scene.merchantId, 990n);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      await scene.request(refunded.id);
      await scene.live(node, 6);
      assert.equal((await scene.payout(held.id))?.state, 'paid');
      assert.equal((await scene.refund(refunded.id)).state, 'refunded');
      assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
      assert.deepEqual(await scene.differences(), []);
      const name = sealLeaseName(scene.network);
      const until = new Date(scene.nowMs() + 60_000);
      const lease = await command(scene, (tx, now) => takeLease(tx, { name, holder: 'test', now, until }));
      await sealOnce(scene, scene.network, lease ?? assert.fail('The lease was not to be had.'));
      const reports = await verifyBooks(scene.db.sql);
      assert.ok(reports.every(({ sealed }) => sealed > 0));
      assert.deepEqual(
        reports.flatMap(({ problems }) => problems),
        [],
      );
    } finally {
      await scene.close();
    }
  });

  it('serves a wallet from the creation of a payment to its confirmation', async () => {
    const database = await createTestDatabase();
    const paying = await openPayingShop({ databaseUrl: await openRunRole(systemWorld, database.url) });
    try {
      const payer = paying.newPayer({ [USDC]: 10_000_000n });
      const id = await paying.created();
      const option = await paying.wallet.option(id, payer.account, USDC);
      const confirmed = await paying.wallet.confirm(id, option.id, [result(await payer.sign(option))]);
      assert.equal(confirmed.statusCode, 200, confirmed.body);
      assert.equal((await paying.payment(id)).status, 'processing');
    } finally {
      await paying.gateway.stop();
      await database.drop();
    }
  });
});
