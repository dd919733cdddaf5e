import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { entryHash, firstHash } from '../../src/domain/book-chain.ts';
import { listSealed } from '../../src/store/money/books.ts';
import { appendAudit } from '../../src/store/plumbing/audit-log.ts';
import { type BooksScene, openBooksScene } from '../e2e/books-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';
import { runCommand } from '../run-command.ts';

const HOUR_MS = 3_600_000;
const SECRET = hash('sha256', 'a master secret', 'base64');

describe('an attacker who rewrites history in the database', () => {
  let scene: BooksScene;
  let node: TestNode;
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-heads-'));
    file = join(folder, 'head.json');
    scene = await openBooksScene();
    node = await scene.newNode();
    await live();
    scene.pass(HOUR_MS);
    await writeFile(file, (await till('books', 'head', '--json')).stdout);
  });
  afterEach(async () => {
    await scene.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A payment, its sealed entries, and entries of the audit log. */
  async function live(): Promise<void> {
    await scene.accept();
    await node.turn(2);
    await scene.seal();
    for (const subject of ['first', 'second', 'third']) {
      const detail = { before: 1, after: { z: 1, a: 'é' } };
      await command(scene, (tx, at) => appendAudit(tx, { at, actor: 'operator', action: 'test', subject, detail }));
    }
  }

  const till = (...argv: string[]) =>
    runCommand(argv, { env: { DATABASE_URL: scene.databaseUrl, TILL_SECRET: SECRET }, world: scene.world });
  const verify = (...more: string[]) => till('books', 'verify', ...more);

  /** Gives every entry the hash of its present content, and the head the last one. */
  async function hashAnew(): Promise<void> {
    const { network } = scene;
    let last = firstHash(network);
    for (const entry of await listSealed(scene.db.sql, network, 0, 1_000)) {
      last = entryHash(last, entry);
      await scene.tamper(`update book_entries set hash = '${last}' where id = ${entry.id}`);
    }
    await scene.tamper(`update book_chains set hash = '${last}' where network = '${network}'`);
  }

  it('is not noticed while nothing is rewritten: entries that are added keep the head', async () => {
    assert.equal((await verify('--head', file)).exitCode, 0);
    await live();
    const { exitCode, stdout } = await verify('--head', file);
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /The books and the audit log contain the head of 2026-03-01T/);
  });

  it('passes `verify` with a changed entry and all hashes computed anew, and fails `verify --head`', async () => {
    await scene.tamper("update book_entries set note = 'rewritten' where sequence = 1");
    assert.equal((await verify()).exitCode, 1);
    await hashAnew();
    assert.equal((await verify()).exitCode, 0);
    const { exitCode, stdout } = await verify('--head', file);
    assert.equal(exitCode, 1);
    assert.match(stdout, /has another hash than in the head: history was rewritten/);
    const json = JSON.parse((await verify('--head', file, '--json')).stdout);
    assert.deepEqual(
      json.books.flatMap(({ problems }: { problems: string[] }) => problems),
      [],
    );
    assert.equal(json.head.problems.length, 1);
  });

  for (const [name, statement, problem] of [
    ['changes', "update audit_log set actor = 'nobody' where subject = 'second'", /was changed since the head/],
    ['removes', "delete from audit_log where subject = 'third'", /entries up to \d+, and the head has/],
    [
      'slips in',
      "insert into audit_log (id, at, actor, action, subject, detail) overriding system value values (-5, now(), 'x', 'x', 'x', '{}')",
      /entries up to \d+, and the head has/,
    ],
  ] as const) {
    it(`is noticed when it ${name} an entry of the audit log`, async () => {
      await scene.tamper(statement);
      assert.equal((await verify()).exitCode, 0);
      const { exitCode, stdout } = await verify('--head', file);
      assert.equal(exitCode, 1);
      assert.match(stdout, problem);
    });
  }

  it('is noticed when the newest entries are cut off', async () => {
    const { db, network } = scene;
    const entries = await listSealed(db.sql, network, 0, 1_000);
    const last = entries.at(-2) ?? assert.fail('There are too few entries.');
    await scene.tamper(`delete from book_entries where sequence > ${last.sequence}`);
    await scene.tamper(`update book_chains set sequence = ${last.sequence}, hash = '${last.hash}'`);
    const { exitCode, stdout } = await verify('--head', file);
    assert.equal(exitCode, 1);
    assert.match(stdout, new RegExp(`entry ${last.sequence + 1} of the head is missing`));
  });

  it('gets no head of its own accepted: the signature covers the file, by a key of this gateway', async () => {
    const { stdout } = await till('books', 'head', '--json');
    const signed = JSON.parse(stdout);
    const changed = { ...signed, head: { ...signed.head, at: '2020-01-01T00:00:00.000Z' } };
    await writeFile(file, JSON.stringify(changed));
    assert.match((await verify('--head', file)).stdout, /The signature of the head is wrong/);
    await writeFile(file, JSON.stringify({ ...signed, signature: { ...signed.signature, keyId: 'other' } }));
    assert.match((await verify('--head', file)).stdout, /which is not stored here/);
    await writeFile(file, '{}');
    const refused = await verify('--head', file);
    assert.deepEqual([refused.exitCode, refused.stdout], [1, '']);
    assert.match(refused.stderr, /is no head of/);
  });

  it('cannot blame late transactions: the newest entries of the audit log are left to the next head', async () => {
    await live();
    const signed = JSON.parse((await till('books', 'head', '--json')).stdout);
    assert.equal(signed.head.auditLog.lastId, '3');
    scene.pass(HOUR_MS);
    assert.equal(JSON.parse((await till('books', 'head', '--json')).stdout).head.auditLog.lastId, '6');
    assert.match((await till('books', 'head')).stdout, /audit log +6 +[0-9a-f]{64}/);
  });
});
