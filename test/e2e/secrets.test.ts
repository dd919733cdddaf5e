import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAnnouncement } from '../../src/actions/announce-node.ts';
import { command } from '../../src/actions/command.ts';
import { OtherMasterSecretError } from '../../src/actions/open-receipt-key.ts';
import { orderOutgoing } from '../../src/actions/outgoing/order/order-outgoing.ts';
import { adoptAccount } from '../../src/actions/own-accounts.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { rowKeysOf } from '../../src/actions/row-keys.ts';
import { subjectKeysOf } from '../../src/actions/subject-keys.ts';
import { runTill } from '../../src/cli/till.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { connectTo, createTestDatabase, type TestConnection, type TestDatabase } from '../database.ts';
import {
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
  type TestGatewayInput,
} from '../gateway.ts';
import { until } from '../until.ts';
import { EURC, SANDBOX, USDC } from './paying-shop.ts';

const FIRST = `${SANDBOX}:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed`;
const SECOND = `${SANDBOX}:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359`;

const OWN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';

/** The jobs of housekeeping that report rows with a wrong MAC. */
const JUDGING = ['apply-destinations', 'check-accounts', 'check-freezes', 'recheck-refusals'];

/** The tables with a MAC or a wrapped secret, and what a rotation calls their rows. Secrets of webhook endpoints are in a list. */
const PROVED = {
  account_states: 'accountStates',
  api_keys: 'keys',
  crypto_settlements: 'destinations',
  deposit_places: 'releases',
  deposits: 'deposits',
  destination_history: 'history',
  freeze_heads: 'freezes',
  mails: 'mails',
  outgoing: 'outgoing',
  own_accounts: 'accounts',
  passkeys: 'passkeys',
  people: 'people',
  receipt_keys: 'a key of its own',
  refunds: 'refunds',
  sessions: 'short-lived',
  sign_in_links: 'short-lived',
  solvency_readings: 'read again',
  strays: 'returns',
  subject_keys: 'before the rows',
} as const;
/** Rows that end with the older secret, or that the rotation writes before or after the others. */
const WITHOUT_ROWS = { 'a key of its own': 1, 'short-lived': 1, 'read again': 1, 'before the rows': 1 };

describe('the secrets of a gateway', () => {
  const stops: (() => Promise<unknown>)[] = [];
  let folder: string;
  let heads = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-secrets-'));
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  });

  interface Place {
    readonly database: TestDatabase;
    readonly sql: TestConnection;
    start(input?: TestGatewayInput): Promise<TestGateway>;
  }
  async function newPlace(): Promise<Place> {
    const database = await createTestDatabase();
    const sql = connectTo(database.url);
    stops.push(
      () => database.drop(),
      () => sql.end(),
    );
    const start = async (input: TestGatewayInput = {}) => {
      const gateway = await startTestGateway({ databaseUrl: database.url, ...input });
      stops.push(() => gateway.stop());
      return gateway;
    };
    return { database, sql, start };
  }

  const publishedBy = async (gateway: TestGateway): Promise<string[]> => {
    const response = await gateway.call({ url: '/.well-known/till-receipts.json' });
    return response.json().keys.map(({ kid }: { kid: string }) => kid);
  };
  const auditOf = (sql: TestConnection) =>
    sql<{ actor: string; action: string; detail: object }[]>`
      select actor, action, detail from audit_log where subject = 'secrets' order by id`;

  async function rotate(database: TestDatabase, secrets: readonly Buffer[], ...more: string[]) {
    let output = '';
    const sink = { write: (text: string) => (output += text) };
    const TILL_SECRET = secrets.map((secret) => secret.toString('base64')).join(' ');
    const env = { DATABASE_URL: database.url, TILL_SECRET };
    heads += 1;
    const head = join(folder, `head-${heads}.json`);
    const argv = ['secret', 'rotate', '--json', '--head', head, ...more];
    const code = await runTill(argv, { env, stdout: sink, stderr: sink });
    return { code, output, head };
  }

  it('are the same on nodes that start together', async () => {
    const { start } = await newPlace();
    const nodes = await Promise.all([start(), start(), start()]);
    const ids = nodes.map(({ receiptKey }) => receiptKey.publicJwk.kid);
    assert.equal(new Set(ids).size, 1);
    assert.deepEqual(await publishedBy(nodes[1] as TestGateway), [ids[0]]);
  });

  it('of an older version are wrapped at the first start, and their clear copies are gone', async () => {
    const { sql, start } = await newPlace();
    const clear = { cursor: randomBytes(32), option: randomBytes(32), receipt: randomBytes(32) };
    for (const [name, value] of Object.entries(clear)) {
      await sql`insert into shared_values (name, value) values (${name}, ${value})`;
    }
    const gateway = await start();
    const { kid } = receiptKeyOf(clear.receipt).publicJwk;
    assert.equal(gateway.receiptKey.publicJwk.kid, kid, 'receipts are signed as before');
    assert.deepEqual(await sql`select name from shared_values`, []);
    const [row] = await sql<{ wrapped: string }[]>`select wrapped_seed as wrapped from receipt_keys`;
    assert.ok(!row?.wrapped.includes(clear.receipt.toString('base64url')));
    const [{ actor, action, detail } = { actor: '', action: '', detail: {} }] = await auditOf(sql);
    assert.deepEqual([actor, action], ['gateway', 'secret.wrapped']);
    assert.deepEqual(detail, { names: ['cursor', 'option', 'receipt'] });

    // A node of the older version, started by mistake, has made keys of its own again and may have signed with them.
    const unexpected = randomBytes(32);
    await sql`insert into shared_values (name, value) values ('receipt', ${unexpected})`;
    const next = await start();
    assert.equal(next.receiptKey.publicJwk.kid, kid);
    assert.deepEqual((await publishedBy(next)).sort(), [kid, receiptKeyOf(unexpected).publicJwk.kid].sort());
    assert.deepEqual(await sql`select name from shared_values`, []);
  });

  it('do not open with another master secret: the node does not start, and nothing is changed', async () => {
    const { sql, start } = await newPlace();
    await start();
    const before = await sql`select * from receipt_keys`;
    await assert.rejects(start({ masterSecret: randomBytes(32) }), OtherMasterSecretError);
    assert.deepEqual(await sql`select * from receipt_keys`, before);
  });

  it('keep the keys of seals through rotations, in the database and in the exported head', async () => {
    const { database, start } = await newPlace();
    const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const keyOf = (secret: Buffer) => Buffer.from(subjectKeysOf(createSecrets([secret]))[0]).toString('hex');
    const ringOf = async (gateway: TestGateway) => gateway.subjectKeys.map((key) => Buffer.from(key).toString('hex'));
    await start({ masterSecret: first });

    const env = {
      DATABASE_URL: database.url,
      TILL_SECRET: [second, first].map((each) => each.toString('base64')).join(' '),
    };
    let output = '';
    const sink = { write: (text: string) => (output += text) };
    assert.equal(await runTill(['secret', 'rotate'], { env, stdout: sink, stderr: sink }), 1);
    assert.match(output, /Name a file with --head/);
    await start({ masterSecret: first });

    assert.equal((await rotate(database, [second, first])).code, 0);
    const { code, head } = await rotate(database, [third, second]);
    assert.equal(code, 0);
    const ring = [third, second, first].map(keyOf);
    assert.deepEqual((await ringOf(await start({ masterSecret: third }))).toSorted(), ring.toSorted());
    const text = await readFile(head, 'utf8');
    for (const key of ring) assert.ok(!text.includes(key), 'the head holds no key in clear');
    const again = await rotate(database, [third]);
    assert.equal(again.code, 0, again.output);
    assert.equal(JSON.parse(await readFile(again.head, 'utf8')).head.subjectKeys.length, 2);

    // A database that has lost everything gets the keys from the head.
    const empty = await newPlace();
    await empty.start({ masterSecret: third });
    const importing = { DATABASE_URL: empty.database.url, TILL_SECRET: third.toString('base64') };
    assert.equal(
      await runTill(['secret', 'import', '--head', head], { env: importing, stdout: sink, stderr: sink }),
      0,
      output,
    );
    assert.deepEqual((await ringOf(await empty.start({ masterSecret: third }))).toSorted(), ring.toSorted());
  });

  it('are rotated: the old master secret opens nothing any more, and old receipts can still be checked', async () => {
    const { database, sql, start } = await newPlace();
    const [old, renewed] = [randomBytes(32), randomBytes(32)];
    const till = (secrets: readonly Buffer[], ...more: string[]) => rotate(database, secrets, ...more);
    const first = (await start({ masterSecret: old })).receiptKey.publicJwk.kid;

    const wrong = await till([renewed]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.output, /another master secret/);

    const { code, output } = await till([renewed, old]);
    assert.equal(code, 0, output);
    const { receiptKeyId } = JSON.parse(output);
    assert.notEqual(receiptKeyId, first);
    await assert.rejects(start({ masterSecret: old }), OtherMasterSecretError);
    const gateway = await start({ masterSecret: renewed });
    assert.equal(gateway.receiptKey.publicJwk.kid, receiptKeyId);
    assert.deepEqual(await publishedBy(gateway), [receiptKeyId, first]);
    const [kept] = await sql`select wrapped_seed from receipt_keys where id = ${first}`;
    assert.deepEqual(kept, { wrapped_seed: null }, 'the old private key is gone');
    const entries = await auditOf(sql);
    assert.deepEqual(
      entries.map(({ actor, action, detail }) => [actor, action, detail]),
      [
        [
          'operator',
          'secret.rotated',
          {
            receiptKey: { before: first, after: receiptKeyId },
            rows: {
              accountStates: 0,
              accounts: 0,
              freezes: 0,
              outgoing: 0,
              refunds: 0,
              returns: 0,
              people: 0,
              passkeys: 0,
              webhooks: 0,
              destinations: 0,
              deposits: 0,
              releases: 0,
              mails: 0,
              history: 0,
              keys: 0,
            },
            isLost: false,
          },
        ],
      ],
    );

    // The secret is lost: an operator who has checked the rows starts anew with another one.
    const another = randomBytes(32);
    assert.equal((await till([another])).code, 1);
    assert.equal((await till([another], '--lost')).code, 0);
    const restarted = await start({ masterSecret: another });
    assert.deepEqual((await publishedBy(restarted)).slice(1), [receiptKeyId, first]);
  });

  it('are rotated in every table whose rows they prove or wrap', async () => {
    const { database, sql, start } = await newPlace();
    const old = randomBytes(32);
    await start({ masterSecret: old });
    const { code, output } = await rotate(database, [randomBytes(32), old]);
    assert.equal(code, 0, output);
    const [entry] = await auditOf(sql);
    assert.ok(entry);
    const { rows } = entry.detail as { rows: Record<string, number> };
    const found = await sql<{ name: string }[]>`
      select distinct c.table_name as name from information_schema.columns c
      where c.table_schema = current_schema() and (c.column_name like '%mac' or c.column_name like 'wrapped%')`;
    assert.deepEqual(found.map(({ name }) => name).toSorted(), Object.keys(PROVED).toSorted());
    const renewed = Object.values(PROVED).filter((kind) => !(kind in WITHOUT_ROWS));
    assert.deepEqual([...renewed, 'webhooks'].toSorted(), Object.keys(rows).toSorted());
  });

  it('are not rotated while a running node lacks the new one, and a node that lacks the newest is not ready', async () => {
    const { database, sql, start } = await newPlace();
    const [old, renewed] = [randomBytes(32), randomBytes(32)];
    const node = await start({ masterSecret: old, config: { coolingOffHours: 24 } });
    const { headers, partner } = await createTestPartner(node);
    const merchant = await createTestMerchant(node, headers);
    const url = `/v1/merchants/${merchant.id}/settlements/crypto`;
    const registered = await node.call({
      method: 'POST',
      url,
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: FIRST }] },
    });
    assert.equal(registered.statusCode, 201, registered.body);
    const [{ id }] = registered.json().settlements;
    const change = { method: 'PUT', url: `${url}/${id}`, headers, payload: { destination: SECOND } } as const;
    assert.equal((await node.call(change)).statusCode, 200);
    const frozen = { scope: 'partner', subject: partner.id, reason: 'case 42', actor: 'test' } as const;
    await freeze(node, frozen);
    await adoptAccount(node, { network: SANDBOX, address: OWN, actor: 'test' });
    // The change of the destination is due.
    const clock = { ...node.world.clock, nowMs: () => node.world.clock.nowMs() + 25 * 3_600_000 };
    const jobs = housekeepingJobs({ ...node, world: { ...node.world, clock }, metrics: createMetrics() });
    const judged = jobs.filter(({ name }) => JUDGING.includes(name));
    assert.equal(judged.length, JUDGING.length);
    const readiness = async () => (await node.app.inject({ url: '/ready' })).json();
    await createAnnouncement({ ...node, host: 'till-7' })();
    const early = await rotate(database, [renewed, old]);
    assert.equal(early.code, 1);
    assert.match(early.output, /till-7/);
    assert.equal((await readiness()).ready, true);

    // The node has stopped announcing itself, and still runs.
    await sql`update nodes set seen_at = now() - interval '1 minute'`;
    assert.equal((await rotate(database, [renewed, old])).code, 0);
    const { ready, secret, remarks } = await readiness();
    assert.deepEqual([ready, secret], [false, 'outdated']);
    assert.match(remarks.join(' '), /TILL_SECRET/);
    await until('the key is read again', async () => {
      const response = await node.call({ url: '/v1/merchants', headers });
      return response.statusCode === 401;
    });
    for (const job of judged) await job.run();
    const next = await start({ masterSecret: renewed });
    await unfreeze(next, frozen);
    for (const job of judged) await job.run();
    assert.deepEqual(await listAlerts(node.db.sql), [], 'nobody looks for an intruder');
    assert.equal((await next.app.inject({ url: '/ready' })).json().secret, 'ok');
  });

  it('are rotated in pages: payments wait for no row, and for no freeze, while the rotation goes on or waits', async () => {
    const { database, sql, start } = await newPlace();
    const [old, renewed] = [randomBytes(32), randomBytes(32)];
    const gateway = await start({ masterSecret: old });
    const ids = Array.from({ length: 450 }, (_, index) => `pout_${String(index).padStart(26, '0')}`);
    const order = {
      purpose: 'payout',
      network: SANDBOX,
      asset: USDC,
      method: 'eip3009-vrs',
      payer: 'p',
      recipient: 'r',
    } as const;
    const orders = ids.map((id) => ({ ...order, id, amount: 1n, merchantId: null, floatOwner: null }));
    const rowKeys = rowKeysOf(createSecrets([old]));
    await command(gateway, (tx, at) => orderOutgoing(tx, { rowKeys }, orders, at));
    const macOf = async (id = '') => (await sql<{ mac: string }[]>`select mac from outgoing where id = ${id}`)[0]?.mac;
    const [first, last] = [await macOf(ids[0]), await macOf(ids.at(-1))];
    const holder = connectTo(database.url);
    const payer = connectTo(database.url);
    stops.push(
      () => holder.end(),
      () => payer.end(),
    );
    const hold = (statement: () => Promise<unknown>) => holder`begin`.then(statement);
    const pay = async () => {
      await payer`begin`;
      // The rotation gives up its own wait after a moment. If payments waited for it, they would wait until the holder commits.
      await payer`set local lock_timeout = '3s'`;
      await payer`lock table freezes in row share mode`;
      await payer`select from outgoing where id = ${ids[0] ?? ''} for update`;
      await payer`commit`;
    };

    // Another transaction has a row of the last page.
    await hold(() => holder`select from outgoing where id = ${ids.at(-1) ?? ''} for update`);
    const rotation = rotate(database, [renewed, old]);
    await until('the first page is written', async () => (await macOf(ids[0])) !== first);
    for (let turn = 0; turn < 20; turn += 1) await pay();
    assert.equal(await macOf(ids.at(-1)), last);
    await holder`commit`;
    const { code, output } = await rotation;
    assert.equal(code, 0, output);
    assert.notEqual(await macOf(ids.at(-1)), last);

    // A payment under way shares the freezes for long.
    await hold(() => holder`lock table freezes in row share mode`);
    const another = rotate(database, [randomBytes(32), renewed]);
    const isWaiting = async () =>
      (await sql`select from pg_locks where relation = 'freezes'::regclass and not granted`).length > 0;
    for (let turn = 0; turn < 5; turn += 1) {
      await until('the rotation asks for the freezes', isWaiting);
      await pay();
    }
    await holder`commit`;
    assert.equal((await another).code, 0);
  });

  it('are rotated together with the proofs of keys, destinations and freezes, which stay in force', async () => {
    const { database, start } = await newPlace();
    const [old, renewed, another] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const before = await start({ masterSecret: old });
    const { partner, headers } = await createTestPartner(before);
    const merchant = await createTestMerchant(before, headers);
    const url = `/v1/merchants/${merchant.id}/settlements/crypto`;
    const register = (gateway: TestGateway, asset: string, destination: string) =>
      gateway.call({
        method: 'POST',
        url,
        headers: { ...headers, 'idempotency-key': freshKey() },
        payload: { settlements: [{ asset, destination }] },
      });
    const registered = await register(before, USDC, FIRST);
    assert.equal(registered.statusCode, 201, registered.body);
    const [{ id: removed }] = registered.json().settlements;
    await register(before, EURC, FIRST);
    await before.call({ method: 'DELETE', url: `${url}/${removed}`, headers });
    const frozen = { scope: 'partner', subject: partner.id, reason: 'case 42', actor: 'test' } as const;
    await freeze(before, frozen);

    for (const [secrets, ...more] of [[[renewed, old]], [[another], '--lost']] as const) {
      assert.equal((await rotate(database, secrets, ...more)).code, 0);
      const gateway = await start({ masterSecret: secrets[0], config: { coolingOffHours: 24 } });
      const answer = await register(gateway, USDC, SECOND);
      assert.deepEqual([answer.statusCode, answer.json().code], [403, 'forbidden'], 'the key works, the freeze holds');
      assert.equal((await gateway.readDestinations(merchant.id)).get(EURC), FIRST);
    }
    const gateway = await start({ masterSecret: another, config: { coolingOffHours: 24 } });
    await unfreeze(gateway, frozen);
    const [next] = (await register(gateway, USDC, SECOND)).json().settlements;
    assert.deepEqual(
      [next.destination, next.pendingDestination],
      [FIRST, SECOND],
      'a removed destination is remembered',
    );
    // The first node still has the old secret. It may have seen the renewed key, which it cannot believe.
    const alerts = (await listAlerts(gateway.db.sql)).filter(({ name }) => name !== 'key_refused');
    assert.deepEqual(alerts, []);
  });
});
