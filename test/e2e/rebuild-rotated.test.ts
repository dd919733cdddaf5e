import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { openReceiptKey } from '../../src/actions/open-receipt-key.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import { rowKeysOf } from '../../src/actions/row-keys.ts';
import { openSubjectKeys } from '../../src/actions/subject-keys.ts';
import { runTill } from '../../src/cli/till.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { copyDatabase } from '../database-copy.ts';
import { openRefundScene, type RefundScene } from './refund-scene.ts';

const OLD = randomBytes(32);

describe('a database from before a payment and before a rotation of the master secret', () => {
  let scene: RefundScene;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-rotated-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => scene.close());

  /** Runs a command of an operator with these master secrets. */
  async function till(secrets: readonly Buffer[], ...argv: string[]) {
    let output = '';
    const sink = { write: (text: string) => (output += text) };
    const env = {
      DATABASE_URL: scene.databaseUrl,
      TILL_SECRET: secrets.map((each) => each.toString('base64')).join(' '),
    };
    const code = await runTill(argv, { env, stdout: sink, stderr: sink });
    return { code, output };
  }

  /** What commands do with these master secrets. */
  async function keysOf(given: readonly [Buffer, ...Buffer[]]) {
    const secrets = createSecrets(given);
    return {
      rowKeys: rowKeysOf(secrets),
      subjectKeys: await openSubjectKeys({ ...scene, secrets }, { needsAll: true }),
    };
  }
  async function rebuilt(given: readonly [Buffer, ...Buffer[]], from: number) {
    const keys = await keysOf(given);
    const input = { from, merchantId: scene.merchantId };
    const report = await rebuild({ ...scene, ...keys }, scene.connected, input);
    assert.ok(report);
    // The watcher decides the payments whose sweeps were found.
    const node = await scene.newNode(undefined, keys);
    await node.turn(4);
    return report;
  }
  async function differences(given: readonly [Buffer, ...Buffer[]]) {
    const report = await reconcile({ ...scene, ...(await keysOf(given)) }, scene.connected, { from: 0 });
    return report?.differences.map(({ message }) => message);
  }

  /** Pays by a signature and by a deposit address, rotates the secret, and restores the database of before. */
  async function openRotated() {
    scene = await openRefundScene({ masterSecret: OLD, watching: { sweepFrom: () => 0n } });
    await openReceiptKey({ ...scene, secrets: createSecrets([OLD]) });
    const node = await scene.newNode();
    await node.turn();
    const copy = await copyDatabase(scene.db);
    const { number: from } = await scene.chain.reader.head();
    const paid = await scene.paid(node, { isHeld: true });
    const deposit = await scene.deposit({ isHeld: true });
    deposit.send(1_000n);
    await node.turn(4);
    const ids = [paid.id, deposit.id].toSorted();
    const statuses = async () => Promise.all(ids.map((id) => scene.status(id)));
    assert.deepEqual(await statuses(), ['succeeded', 'succeeded']);
    const books = await scene.books();
    assert.equal(books[ACCOUNTS.payable(scene.merchantId)], 1_980n);
    const renewed = randomBytes(32);
    const head = join(folder, `${renewed.toString('hex')}.json`);
    const rotated = await till([renewed, OLD], 'secret', 'rotate', '--head', head);
    assert.equal(rotated.code, 0, rotated.output);
    assert.match(rotated.output, /wait ten minutes, then leave only the first secret in TILL_SECRET on every node/);
    assert.deepEqual(await differences([renewed]), [], 'the rotated database opens the seals of before');
    await copy.restore();
    await (await scene.newNode()).watch();
    assert.deepEqual(await statuses(), [undefined, undefined]);
    return { from, renewed, head, ids, statuses, books };
  }

  it('is rebuilt with both secrets in TILL_SECRET', async () => {
    const { from, renewed, head, ids, statuses, books } = await openRotated();
    const { rebuilt: found, unplaced } = await rebuilt([renewed, OLD], from);
    assert.deepEqual([ids.filter((id) => !found.includes(id)), unplaced], [[], []]);
    assert.deepEqual([await statuses(), await scene.books()], [['succeeded', 'succeeded'], books]);
    assert.deepEqual(await differences([renewed, OLD]), []);
    const again = await till([renewed, OLD], 'secret', 'rotate', '--head', `${head}.again`);
    assert.equal(again.code, 0, again.output);
    assert.deepEqual(await differences([renewed]), [], 'the old secret may go');
  });

  it('is rebuilt with the head that the rotation wrote, after the old secret is gone', async () => {
    const { from, renewed, head, ids, statuses, books } = await openRotated();
    const early = await till([renewed], 'secret', 'import', '--head', head);
    assert.equal(early.code, 1);
    assert.match(early.output, /another master secret/);
    const accepted = await till([renewed], 'secret', 'rotate', '--lost');
    assert.equal(accepted.code, 0, accepted.output);
    const imported = await till([renewed], 'secret', 'import', '--head', head);
    assert.equal(imported.code, 0, imported.output);
    const { rebuilt: found, unplaced } = await rebuilt([renewed], from);
    assert.deepEqual([ids.filter((id) => !found.includes(id)), unplaced], [[], []]);
    assert.deepEqual([await statuses(), await scene.books()], [['succeeded', 'succeeded'], books]);
    assert.deepEqual(await differences([renewed]), []);
  });

  it('is not taken for money of nobody by a rebuild without the old key, and is found as soon as the key is there', async () => {
    const { from, renewed, head, statuses, books } = await openRotated();
    const frozen = { scope: 'restored', subject: scene.network } as const;
    assert.equal((await till([renewed], 'secret', 'rotate', '--lost')).code, 0);
    await freeze({ ...scene, ...(await keysOf([renewed])) }, { ...frozen, reason: 'a restore', actor: 'operator' });
    const blind = await rebuilt([renewed], from);
    assert.equal(blind.unplaced.length, 2);
    for (const { problem } of blind.unplaced) assert.match(problem, /no known key.*till secret import/);
    assert.deepEqual([blind.rebuilt, blind.isLifted, await statuses()], [[], false, [undefined, undefined]]);
    assert.deepEqual([await scene.books(), await scene.alerts()], [{}, [`frozen restored ${scene.network}`]]);
    assert.equal((await till([renewed], 'secret', 'import', '--head', head)).code, 0);
    const { unplaced, isLifted } = await rebuilt([renewed], from);
    assert.deepEqual([unplaced, isLifted], [[], true]);
    assert.deepEqual([await statuses(), await scene.books()], [['succeeded', 'succeeded'], books]);
    assert.deepEqual(await differences([renewed]), []);
  });
});
