import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { type Ran, runCommand } from '../../test/run-command.ts';
import { raiseAlert } from '../actions/alerts.ts';
import { command } from '../actions/command.ts';
import { API_KEY_PATTERN, hashApiKey } from '../domain/api-key.ts';
import { newId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { Log, World } from '../runtime/world.ts';
import { startEmbeddedPostgres } from '../sandbox/embedded-postgres.ts';
import { lockHome } from '../sandbox/home-lock.ts';
import { findKeyHolders } from '../store/parties/api-keys.ts';
import { insertMerchant } from '../store/parties/merchants.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');
const world: World = { ...systemWorld, clock: { nowMs: () => NOW_MS } };
const MASTER_SECRET = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64');
const SECRET = new RegExp(API_KEY_PATTERN);
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

let database: TestDatabase;
let db: Database;
before(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'test' });
});
after(async () => {
  await db.close();
  await database.drop();
});

describe('partners and their keys', () => {
  test('a partner gets a key, the key gets a successor, and both end', async () => {
    const partner = await json('partners', 'create', '--name', 'Shop Ltd');
    assert.equal(partner.name, 'Shop Ltd');

    const issued = await till('keys', 'create', '--partner', partner.id, '--mode', 'test', '--label', 'Backend');
    assert.equal(issued.exitCode, 0);
    assert.match(issued.stdout, /The secret is shown only now/);
    const secret = SECRET.exec(issued.stdout)?.[0] ?? '';
    const [old] = await findKeyHolders(db.sql, [hashApiKey(secret)]);
    assert.ok(old);
    assert.deepEqual([old.partnerId, old.mode, old.scopes, old.expiresAt], [partner.id, 'test', null, null]);

    const rotated = await json('keys', 'rotate', old.id, '--overlap', '1h');
    assert.deepEqual(rotated.replaced, { id: old.id, expiresAt: '2026-11-15T13:00:00.000Z' });
    const holders = await findKeyHolders(db.sql, [hashApiKey(secret), hashApiKey(rotated.secret)]);
    const ends = Object.fromEntries(holders.map(({ id, expiresAt }) => [id, expiresAt]));
    assert.deepEqual(ends, { [old.id]: new Date(NOW_MS + 3_600_000), [rotated.id]: null });

    assert.deepEqual(await json('keys', 'revoke', old.id), { id: old.id, revoked: true });
    const keys = await json('keys', 'list', '--partner', partner.id);
    const states = Object.fromEntries(keys.map((key: Json) => [key.id, key.revokedAt]));
    assert.deepEqual(states, { [old.id]: '2026-11-15T12:00:00.000Z', [rotated.id]: null });

    const again = await till('keys', 'rotate', old.id);
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /^invalid_state: Key key_\w+ is revoked or expired/);
    assert.equal(again.stderr.trim().split('\n').length, 1);
  });

  test('lists show which key is which, and never a secret', async () => {
    const partner = await json('partners', 'create', '--name', 'Quiet');
    const options = ['--scope', 'payments:read', '--expires', '90d'];
    const key = await json('keys', 'create', '--partner', partner.id, '--mode', 'live', '--label', 'L', ...options);
    assert.deepEqual([key.scopes, key.expiresAt], [['payments:read'], '2027-02-13T12:00:00.000Z']);
    for (const flags of [[], ['--json']]) {
      const { stdout } = await till('keys', 'list', ...flags);
      assert.doesNotMatch(stdout, SECRET);
      assert.ok(stdout.includes(key.hint) && stdout.includes(key.id));
    }
    const table = await till('keys', 'list', '--partner', partner.id);
    assert.match(
      table.stdout,
      new RegExp(`^ID +MODE.*\n${key.id}  live  …${key.hint}  L +active  2027-02-13T12:00:00Z  - .*all +any\n$`),
    );
  });

  test('a key gets addresses, and the end that the setting or its operator gives', async () => {
    const partner = await json('partners', 'create', '--name', 'Fenced');
    const create = async (settings: Record<string, string>, ...options: string[]) => {
      const argv = ['keys', 'create', '--partner', partner.id, '--mode', 'live', '--label', 'L', ...options, '--json'];
      const { exitCode, stdout, stderr } = await run(argv, { ...own(), ...settings });
      return exitCode === 0 ? JSON.parse(stdout) : stderr;
    };
    const year = { API_KEY_LIFETIME_DAYS: '365' };
    const addresses = ['203.0.113.0/28', '2001:db8::1'];
    const fenced = await create(year, ...addresses.flatMap((address) => ['--address', address]));
    assert.deepEqual([fenced.addresses, fenced.expiresAt], [addresses, '2027-11-15T12:00:00.000Z']);
    assert.equal((await create(year, '--expires', '1h')).expiresAt, '2026-11-15T13:00:00.000Z');
    assert.equal((await create(year, '--expires', 'never')).expiresAt, null);
    assert.equal((await create({})).expiresAt, null);
    assert.match(await create({}, '--address', 'shop.example'), /--address must be an IP address or a network/);
    const rotated = await run(['keys', 'rotate', fenced.id, '--json'], { ...own(), ...year });
    assert.deepEqual(
      [JSON.parse(rotated.stdout).addresses, JSON.parse(rotated.stdout).expiresAt],
      [addresses, '2027-11-15T12:00:00.000Z'],
    );
  });

  test('an audit of keys names what is wrong with them, and fails until nothing is', async () => {
    const partner = await json('partners', 'create', '--name', 'Audited');
    const audit = async (...options: string[]) => {
      const { exitCode, stdout } = await till('keys', 'audit', '--partner', partner.id, ...options, '--json');
      // Keys of one millisecond come in any order.
      const found = JSON.parse(stdout).map((key: Json) => [key.label, key.findings.join(' ')]);
      return [exitCode, ...found.sort()];
    };
    const create = (label: string, ...options: string[]) =>
      json('keys', 'create', '--partner', partner.id, '--mode', 'live', '--label', label, ...options);
    const limits = ['--scope', 'payments:write', '--address', '203.0.113.7', '--expires', '180d'];
    await create('good', ...limits);
    assert.deepEqual(await audit(), [0]);
    assert.match((await till('keys', 'audit', '--partner', partner.id)).stdout, /^No remarks/);
    const wide = await create('wide');
    await create('ending', ...limits.slice(0, -1), '7d');
    assert.deepEqual(await audit(), [1, ['ending', 'ends_soon'], ['wide', 'no_expiry every_scope any_address']]);
    assert.deepEqual(await audit('--mode', 'test'), [0]);
    assert.deepEqual(
      (await audit('--unused', '0s', '--old', '0s')).slice(1).map(([, findings]: string) => findings),
      ['never_used old ends_soon', 'never_used old', 'never_used old no_expiry every_scope any_address'],
    );
    await json('keys', 'revoke', wide.id);
    assert.deepEqual(await audit(), [1, ['ending', 'ends_soon']], 'a key that is over is no finding');
  });

  test('a partner is renamed, framed, disabled and enabled, and the audit log names the operator', async () => {
    const { id } = await json('partners', 'create', '--name', 'Before');
    const origins = ['--frame-origin', 'https://shop.example', '--frame-origin', 'http://localhost:3000'];
    const set = await json('partners', 'set', id, '--name', 'After', '--pin', '2026-02-18', ...origins);
    assert.deepEqual([set.name, set.frameOrigins], ['After', ['https://shop.example', 'http://localhost:3000']]);
    assert.deepEqual((await json('partners', 'set', id, '--no-frame-origins')).frameOrigins, []);
    assert.equal((await json('partners', 'disable', id)).disabledAt, '2026-11-15T12:00:00.000Z');
    assert.equal((await json('partners', 'enable', id)).disabledAt, null);
    const listed = (await json('partners', 'list')).find((partner: Json) => partner.id === id);
    assert.equal(listed.name, 'After');
    const rows = await db.sql<
      { actor: string; action: string }[]
    >`select actor, action from audit_log where subject = ${id} order by id`;
    assert.deepEqual(new Set(rows.map(({ actor }) => actor)), new Set(['operator']));
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['partner.created', ...Array(4).fill('partner.changed')],
    );
  });

  test('keys and freezes need the master secret, the one of the nodes', async () => {
    const partner = await json('partners', 'create', '--name', 'Secret');
    const commands = [
      ['keys', 'create', '--partner', partner.id, '--mode', 'live', '--label', 'L'],
      ['freeze', 'partner', partner.id, '--reason', 'case 42'],
    ];
    for (const argv of commands) {
      const account = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
      const accounts = { FEE_ACCOUNT: account, INTERMEDIATE_ACCOUNT: account };
      const live = { DATABASE_URL: database.url, RPC_URLS: 'eip155:8453=https://rpc.example', ...accounts };
      const without = await run(argv, live);
      assert.deepEqual([without.exitCode, without.stdout], [2, '']);
      assert.match(without.stderr, /TILL_SECRET/);
    }
    assert.deepEqual(await json('keys', 'list', '--partner', partner.id), []);
  });

  test('an unknown id is refused with its code', async () => {
    const cases: [string[], string][] = [
      [['partners', 'disable', 'prtn_unknown'], 'partner_not_found'],
      [['keys', 'list', '--partner', 'prtn_unknown'], 'partner_not_found'],
      [['keys', 'create', '--partner', 'prtn_unknown', '--mode', 'test', '--label', 'L'], 'partner_not_found'],
      [['keys', 'rotate', 'key_unknown'], 'api_key_not_found'],
      [['keys', 'revoke', 'key_unknown'], 'api_key_not_found'],
      [['apps', 'remove', 'app_unknown'], 'invalid_app_id'],
      [['merchants', 'suspend', 'mrch_unknown'], 'merchant_not_found'],
      [['merchants', 'list', '--partner', 'prtn_unknown'], 'partner_not_found'],
      [['fiat', 'list', 'mrch_unknown'], 'merchant_not_found'],
      [['fiat', 'remove', 'fiat_unknown'], 'invalid_params'],
    ];
    for (const [argv, code] of cases) {
      const { exitCode, stdout, stderr } = await till(...argv, '--json');
      assert.deepEqual(
        { exitCode, stdout, code: JSON.parse(stderr).code },
        { exitCode: 1, stdout: '', code },
        argv.join(' '),
      );
      assert.deepEqual(Object.keys(JSON.parse(stderr)), ['code', 'message']);
    }
  });
});

describe('merchants, apps, bank arrangements and alerts', () => {
  test('a merchant is suspended, deactivated and activated', async () => {
    const id = await addMerchant({ name: 'Corner Café', mode: 'test' });
    assert.equal((await json('merchants', 'suspend', id)).status, 'suspended');
    assert.deepEqual(
      (await json('merchants', 'list', '--status', 'suspended')).map((found: Json) => found.id),
      [id],
    );
    assert.equal((await json('merchants', 'deactivate', id)).status, 'inactive');
    const { stdout } = await till('merchants', 'activate', id);
    assert.equal(stdout, `Merchant ${id} (Corner Café) is active.\n`);
  });

  test('merchants of all partners are found by partner, mode and text', async () => {
    const partner = await json('partners', 'create', '--name', 'Big');
    const live = await addMerchant({ name: '100% Tea', mode: 'live', partnerId: partner.id });
    const other = await addMerchant({ name: '100 Teas', mode: 'test' });
    const ids = async (...options: string[]) =>
      (await json('merchants', 'list', ...options)).map((found: Json) => found.id);
    assert.deepEqual(await ids('--partner', partner.id), [live]);
    assert.deepEqual(await ids('--search', '100% t'), [live]);
    assert.deepEqual(await ids('--search', other.toLowerCase()), [other]);
    assert.deepEqual(await ids('--mode', 'live', '--search', 'tea'), [live]);
    assert.deepEqual((await ids('--search', 'tea')).toSorted(), [live, other].toSorted());
    assert.equal((await till('merchants', 'list', '--search', 'no such')).stdout, 'No merchants found.\n');
  });

  test('a long list is cut, and says so', async () => {
    const partner = await json('partners', 'create', '--name', 'Many');
    await command({ registry: REGISTRY, db, world }, async (tx, now) => {
      for (let count = 0; count < 201; count += 1) await insertMerchant(tx, merchant({ partnerId: partner.id, now }));
    });
    const { stdout, stderr } = await till('merchants', 'list', '--partner', partner.id);
    assert.equal(stdout.trim().split('\n').length, 1 + 200);
    assert.match(stderr, /^Only the newest 200 are shown/);
    const program = await till('merchants', 'list', '--partner', partner.id, '--json');
    assert.equal(JSON.parse(program.stdout).length, 200);
    assert.match(JSON.parse(program.stderr).note, /^Only the newest 200/);
  });

  test('wallet apps come and go', async () => {
    assert.equal((await till('apps', 'list')).stdout, 'No wallet apps yet.\n');
    const app = await json('apps', 'create', '--name', 'W', '--mode', 'test', '--icon-url', 'https://w.example/i.png');
    assert.deepEqual(
      (await json('apps', 'list')).map((found: Json) => found.id),
      [app.id],
    );
    assert.deepEqual(await json('apps', 'remove', app.id), { id: app.id, removed: true });
    assert.deepEqual(await json('apps', 'list'), []);
  });

  test('bank arrangements come and go', async () => {
    const merchantId = await addMerchant({ name: 'Banked', mode: 'live' });
    const record = await json('fiat', 'add', merchantId, '--bank-type', 'ACH');
    assert.deepEqual(await json('fiat', 'list', merchantId), [
      { id: record.id, merchantId, status: 'active', bankType: 'ACH' },
    ]);
    assert.deepEqual(await json('fiat', 'remove', record.id), { id: record.id, removed: true });
    assert.equal((await till('fiat', 'list', merchantId)).stdout, 'No bank arrangements yet.\n');
  });

  test('alerts are listed while they are raised', async () => {
    assert.equal((await till('alerts')).stdout, 'No alerts: all is well.\n');
    await raiseAlert(
      { registry: REGISTRY, db, world, log: silent },
      { name: 'job_failing', subject: 'prune', message: 'Look\nhere.' },
    );
    const { stdout } = await till('alerts');
    assert.match(
      stdout,
      /^NAME .*\njob_failing +prune +2026-11-15T12:00:00Z +2026-11-15T12:00:00Z +Look here\. +docs\/operating\.md#alert-job_failing\n$/,
    );
    const [alert] = await json('alerts');
    assert.deepEqual([alert?.name, alert?.runbook], ['job_failing', 'docs/operating.md#alert-job_failing']);
  });
});

describe('usage, configuration and help', () => {
  test('all problems of a line are reported at once, with exit code 2', async () => {
    const argv = ['keys', 'create', '--mode', 'prod', '--label', '', '--expires', 'yesterday'];
    const { exitCode, stdout, stderr } = await till(...argv);
    assert.deepEqual([exitCode, stdout], [2, '']);
    for (const name of ['--partner', '--mode', '--label', '--expires', 'keys create --help'])
      assert.ok(stderr.includes(name), stderr);
    const program = await till(...argv, '--json');
    assert.equal(program.exitCode, 2);
    assert.deepEqual(
      [JSON.parse(program.stderr).code, JSON.parse(program.stderr).problems.length],
      ['params_validation', 4],
    );
  });

  test('a secret typed in place of an id is not repeated', async () => {
    const partner = await json('partners', 'create', '--name', 'Hasty');
    const { secret } = await json('keys', 'create', '--partner', partner.id, '--mode', 'test', '--label', 'L');
    for (const argv of [
      ['keys', 'revoke', secret],
      ['keys', secret],
      ['keys', 'revoke', `${secret}x`],
    ]) {
      const { exitCode, stderr } = await till(...argv);
      assert.notEqual(exitCode, 0);
      assert.doesNotMatch(stderr, SECRET);
    }
  });

  test('all problems of the settings are reported at once, with exit code 2', async () => {
    const { exitCode, stderr } = await run(['partners', 'list'], { PORT: 'x', DATABASE_URL: 'mysql://a:geheim@b' });
    assert.equal(exitCode, 2);
    assert.match(stderr, /^The configuration is invalid:\n {2}PORT .*\n {2}DATABASE_URL /);
    assert.ok(!stderr.includes('geheim'));
  });

  test('settings that look misspelt are named: the command might work on another database than the one meant', async () => {
    const { exitCode, stderr } = await run(['config'], { DATABSE_URL: 'postgres://a:geheim@b/till' });
    assert.equal(exitCode, 0);
    assert.equal(JSON.parse(stderr).msg, 'DATABSE_URL is not a setting of Till. Did you mean DATABASE_URL?');
  });

  test('settings are shown without secrets', async () => {
    const { stdout } = await till('config');
    assert.match(stdout, /^SETTING +VALUE\nPORT +8080\n/);
    assert.match(stdout, /\nDATABASE_URL +\*\*\*\n/);
    assert.ok((await json('config')).some(({ setting, value }: Json) => setting === 'DATABASE_URL' && value === '***'));
  });

  test('help needs no settings and is one JSON value for programs', async () => {
    const { exitCode, stdout } = await run(['keys', 'rotate', '--help', '--json'], { PORT: 'x' });
    assert.equal(exitCode, 0);
    assert.match(JSON.parse(stdout).help, /--overlap/);
  });

  test('as a program it ends with the exit code', async () => {
    const program = (...argv: string[]) =>
      new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
        const file = join(import.meta.dirname, 'till.ts');
        execFile(process.execPath, [file, ...argv], { env: { DATABASE_URL: database.url } }, (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, stdout, stderr }),
        );
      });
    const [listed, refused] = await Promise.all([
      program('apps', 'list', '--json'),
      program('keys', 'revoke', 'key_unknown'),
    ]);
    assert.deepEqual(listed, { code: 0, stdout: '[]\n', stderr: '' });
    assert.deepEqual(refused, { code: 1, stdout: '', stderr: 'api_key_not_found: There is no API key key_unknown.\n' });
  });
});

describe('the database', () => {
  test('without a schema it is refused until it is migrated', async () => {
    const empty = await createEmptyDatabase();
    try {
      const env = { DATABASE_URL: empty.url };
      const refused = await run(['partners', 'list'], env);
      assert.equal(refused.exitCode, 1);
      assert.match(refused.stderr, /run `npm run till -- migrate` first/);
      assert.match((await run(['migrate'], env)).stdout, /^Applied 0001_\w+\.sql/);
      assert.equal((await run(['migrate'], env)).stdout, 'Nothing to do: the schema is up to date.\n');
      assert.deepEqual(JSON.parse((await run(['migrate', '--json'], env)).stdout), { applied: [] });
      assert.equal((await run(['partners', 'list'], env)).stdout, 'No partners yet.\n');
    } finally {
      await empty.drop();
    }
  });

  test('an unreachable one is reported without a stack or the password', async () => {
    const { exitCode, stderr } = await run(['partners', 'list'], {
      DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/till',
    });
    assert.equal(exitCode, 1);
    assert.match(stderr, /^internal_error: The database is out of reach \(.*ECONNREFUSED.*\)/);
    assert.ok(!stderr.includes('geheim') && !stderr.includes('    at '));
  });

  test('with none configured, the embedded one is started for the command, or that of a running gateway used, and links lead to that gateway', async () => {
    const home = await mkdtemp(join(tmpdir(), 'till-cli-'));
    try {
      const env = { TILL_HOME: home };
      assert.equal((await run(['partners', 'create', '--name', 'Kept'], env)).exitCode, 0);
      assert.deepEqual(await readdir(home), ['postgres']);
      const release = await lockHome(home);
      const server = await startEmbeddedPostgres({ world: systemWorld, log: silent }, { dir: join(home, 'postgres') });
      try {
        const { exitCode, stdout } = await run(['partners', 'list', '--json'], env);
        assert.equal(exitCode, 0);
        assert.deepEqual(
          JSON.parse(stdout).map((partner: Json) => partner.name),
          ['Kept'],
        );
        await inviteWithoutPort(home);
      } finally {
        await server.stop();
        await release();
      }
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

/** The gateway of the home folder listens where its own file says, and links of people lead there. */
async function inviteWithoutPort(home: string): Promise<void> {
  const originOf = async (argv: readonly string[], env: Record<string, string>) => {
    const { exitCode, stdout, stderr } = await run([...argv, '--json'], env);
    assert.equal(exitCode, 0, stderr);
    const { id, link } = JSON.parse(stdout);
    return { id, origin: new URL(link.url).origin };
  };
  const baseUrl = 'http://localhost:18123';
  await writeFile(join(home, 'sandbox.json'), JSON.stringify({ baseUrl, apiKey: 'till_test_x' }));
  const person = ['--operator', '--name', 'Ada', '--email', 'ada@till.example', '--role', 'owner'];
  const invited = await originOf(['people', 'invite', ...person], { TILL_HOME: home });
  assert.equal(invited.origin, baseUrl, 'people invite');
  const link = ['people', 'link', invited.id];
  assert.equal((await originOf(link, { TILL_HOME: home })).origin, baseUrl, 'people link');
  const PUBLIC_URL = 'https://pay.example';
  assert.equal((await originOf(link, { TILL_HOME: home, PUBLIC_URL })).origin, PUBLIC_URL, 'a setting comes first');
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a program outside would read them, without types.
type Json = any;

function run(argv: readonly string[], env: Record<string, string>): Promise<Ran> {
  return runCommand(argv, { env, world });
}

/** The settings of a gateway with a database. */
const own = () => ({ DATABASE_URL: database.url, TILL_SECRET: MASTER_SECRET });

function till(...argv: string[]): Promise<Ran> {
  return run(argv, own());
}

async function json(...argv: string[]): Promise<Json> {
  const { exitCode, stdout, stderr } = await till(...argv, '--json');
  assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function addMerchant(input: { name: string; mode: Mode; partnerId?: string }): Promise<string> {
  const partnerId = input.partnerId ?? (await json('partners', 'create', '--name', 'Some')).id;
  return command({ registry: REGISTRY, db, world }, async (tx, now) => {
    const row = { ...merchant({ partnerId, now }), ...input, partnerId };
    await insertMerchant(tx, row);
    return row.id;
  });
}

function merchant({ partnerId, now }: { partnerId: string; now: Date }) {
  const id = newId('mrch_', now.getTime(), world.random.bytes(10));
  const times = { createdAt: now, updatedAt: now };
  return {
    id,
    partnerId,
    mode: 'test' as Mode,
    name: 'M',
    email: null,
    status: 'active' as const,
    iconUrl: null,
    ...times,
  };
}
