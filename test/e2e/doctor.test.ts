import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { raiseAlert } from '../../src/actions/alerts.ts';
import { createAnnouncement } from '../../src/actions/announce-node.ts';
import { examineGateway } from '../../src/cli/examine-gateway.ts';
import type { Diagnosis, Finding, Section } from '../../src/domain/doctor/diagnosis.ts';
import type { CheckName } from '../../src/domain/doctor/facts.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { selfSignedCertificate } from '../certificate.ts';
import { connectTo, createEmptyDatabase, createUnusedDatabase } from '../database.ts';
import { createTestMerchant, createTestPartner, startTestGateway } from '../gateway.ts';
import { startNodeProcess } from '../node-process.ts';
import { startRpcProxy } from '../rpc-proxy.ts';
import { runCommand } from '../run-command.ts';
import { until } from '../until.ts';
import { OF_OPERATOR, signIn } from './people-scene.ts';
import { openWebhookScene } from './webhook-scene.ts';

const NETWORK = 'eip155:31337';
const SECRET = randomBytes(32).toString('base64');
const OTHER_SECRET = randomBytes(32).toString('base64');
const TWO_MINUTES_MS = 120_000;
const EXPIRED = { until: '210101000000Z' };

interface Examination extends Diagnosis {
  readonly exitCode: number;
  readonly output: string;
  section(check: CheckName): Section;
  /** The findings of a check, each as one line. */
  lines(check: CheckName): string[];
}

async function examine(env: Record<string, string>, { clockOffMs = 0 } = {}): Promise<Examination> {
  const { exitCode, output } = await till(['doctor', '--json'], env, clockOffMs);
  const diagnosis = JSON.parse(output) as Diagnosis;
  const section = (check: CheckName) => diagnosis.sections.find((each) => each.check === check) as Section;
  const line = ({ level, message, remedy }: Finding) => `${level}: ${message} ${remedy}`;
  return { ...diagnosis, exitCode, output, section, lines: (check) => section(check).findings.map(line) };
}

async function till(argv: readonly string[], env: Record<string, string>, clockOffMs = 0) {
  const machineClock = { nowMs: () => systemWorld.clock.nowMs() + clockOffMs };
  const { exitCode, stdout: output, stderr } = await runCommand(argv, { env, machineClock });
  assert.equal(stderr, '');
  return { exitCode, output };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

describe('till doctor', () => {
  let folder: string;
  let sandbox: SandboxChain;
  const stops: (() => Promise<unknown> | unknown)[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-doctor-'));
    const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
    sandbox = await startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: 100 });
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function listening<T extends Server>(server: T): Promise<T> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    stops.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return server;
  }

  it('finds nothing to do on a gateway that runs', async () => {
    const settings = { TILL_HOME: join(folder, 'well') };
    const node = await startNodeProcess(settings);
    stops.push(async () => {
      node.signal('SIGTERM');
      await node.ended;
    });
    await node.ready();
    // The disk is that of the machine of the test.
    const badOf = ({ sections }: Examination) =>
      sections.filter(({ check, level }) => check !== 'disk' && !['well', 'remark'].includes(level));
    let found = await examine(settings);
    // Some seconds after its start a node announces itself.
    const isWell = async () => {
      found = await examine(settings);
      return badOf(found).length === 0;
    };
    await until('the node leads all work and is announced', isWell).catch(() => {});
    assert.deepEqual(
      badOf(found).flatMap(({ findings }) => findings),
      [],
    );
    if (found.section('disk').level === 'well') assert.equal(found.exitCode, 0);
    const facts = (check: CheckName) =>
      found
        .section(check)
        .facts.map(({ name, value }) => `${name}: ${value}`)
        .join('\n');
    assert.match(facts('program'), /^Till: \d+\.\d+\.\d+\nNode: v\d+/);
    assert.match(facts('settings'), /^TILL_HOME: .*well$/m);
    assert.match(
      facts('database'),
      /^PostgreSQL: \d+[\s\S]*^size: \d[\s\S]*^connections: \d+ of \d+$[\s\S]*^extensions: .*pg_trgm/m,
    );
    assert.match(facts('schema'), /^migrations: \d+ migrations, the last is 00\d\d_\w+\.sql$/);
    assert.match(facts('secret'), /yes/);
    assert.match(facts('nodes'), /: up since .*, roles api, relay, watch, jobs$/m);
    assert.match(facts('leases'), new RegExp(`^watch ${NETWORK}: \\S+/[0-9a-f]{24} since 20`, 'm'));
    assert.match(
      facts('networks'),
      new RegExp(`^${NETWORK}, endpoint 1: up, block \\d+, .* old, answers in \\d+ ms$`, 'm'),
    );
    assert.match(facts('accounts'), /^relayer eip155:31337:0x\w+: [\d.]+ coin, \d+ transactions? in flight$/m);
    const own = await examine({ ...settings, PUBLIC_URL: node.baseUrl });
    assert.deepEqual(own.section('publicUrl').facts, [{ name: node.baseUrl, value: 'leads to this gateway' }]);
    const other = await listening(createHttp((_, response) => response.end('Welcome!')));
    const url = `http://localhost:${portOf(other)}`;
    assert.deepEqual((await examine({ ...settings, PUBLIC_URL: url })).lines('publicUrl'), [
      `fault: PUBLIC_URL (${url}) leads elsewhere: another program answers there, with status 200. Set PUBLIC_URL to the origin whose proxy leads to a node of this gateway, or let this one lead there.`,
    ]);
    const words = await till(['doctor'], settings);
    assert.match(
      words.output,
      /^Program: well\n[\s\S]*\n(All is well\.|All is well\. There are remarks\.|There is something to do\.)\n$/,
    );
  });

  it('has one line for each fault, with what to do, and shows no secret', async () => {
    const scene = await openWebhookScene();
    stops.push(() => scene.close());
    const { gateway } = scene;
    const wrong = await startRpcProxy({ targetUrl: sandbox.rpcUrl });
    stops.push(() => wrong.close());
    wrong.lie({ as: 'result', of: (call, truth) => (call.method === 'eth_chainId' ? '0x1' : truth) });
    const stopped = await startRpcProxy({ targetUrl: sandbox.rpcUrl });
    await stopped.close();
    const pages = await listening(createHttps(selfSignedCertificate(EXPIRED), (_, response) => response.end()));
    const { headers } = await createTestPartner(gateway);
    const endpoint = await scene.subscribe(headers, '/hooks/secret-of-the-partner');
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    await createTestMerchant(gateway, headers);
    await scene.deliver();
    await raiseAlert(gateway, { name: 'screening_list', subject: 'file', message: 'The list cannot be read.' });
    const announce = createAnnouncement({
      ...gateway,
      world: systemWorld,
      host: 'worker-2',
      config: { roles: ['api', 'relay', 'watch'] },
      secrets: { ids: ['other'] },
    });
    await announce();

    const env = {
      TILL_HOME: join(folder, 'faults'),
      DATABASE_URL: gateway.databaseUrl,
      RPC_URLS: `${NETWORK}=${sandbox.rpcUrl},${wrong.url},${stopped.url}/v2/secret-of-the-provider`,
      PUBLIC_URL: `https://localhost:${portOf(pages)}`,
      TILL_SECRET: OTHER_SECRET,
    };
    const found = await examine(env, { clockOffMs: TWO_MINUTES_MS });
    assert.equal(found.exitCode, 3);
    const only = (check: CheckName) => {
      assert.equal(found.lines(check).length, 1, found.lines(check).join('\n'));
      return found.lines(check)[0] ?? '';
    };
    assert.match(only('clocks'), /^warning: The clock of this machine is 120 s ahead of the database\..*\(NTP\)/);
    const [second = '', third = ''] = found.lines('networks');
    assert.match(second, /endpoint 2 is down: it is on another chain, 1 and not 31337: .*RPC_URLS/);
    assert.match(third, /endpoint 3 is down: it cannot be reached\..* RPC_URLS/);
    assert.match(
      only('certificates'),
      /^fault: The certificate of PUBLIC_URL expired at 2021-01-01T00:00:00Z\. Renew it/,
    );
    const [own = '', other = ''] = found.lines('secret');
    assert.match(own, /^fault: .* another master secret than the one of this machine\. Set TILL_SECRET/);
    assert.match(other, /^fault: The node \w+ on worker-2 has another master secret .* same TILL_SECRET/);
    assert.match(only('nodes'), /^fault: No running node has the role jobs\. Start a node with `--role jobs`/);
    assert.match(
      only('alerts'),
      /^warning: screening_list \(file\), .*The list cannot be read\. See docs\/operating\.md#alert-screening_list/,
    );
    assert.match(only('leases'), /^fault: No node does this work: .*watching Till Sandbox/);
    const webhook = new RegExp(
      `^warning: The webhook endpoint ${endpoint.id} of .* deliver(y|ies) waits?; the last answer: .*500`,
    );
    assert.match(only('webhooks'), webhook);
    for (const secret of ['secret-of-the-partner', 'secret-of-the-provider', OTHER_SECRET]) {
      assert.equal(found.output.includes(secret), false, secret);
    }
    const words = await till(['doctor'], env);
    assert.equal(words.exitCode, 3);
    assert.match(
      words.output,
      /\nFAULT Certificates: The certificate of PUBLIC_URL expired .*\n[\s\S]*\nSomething does not work\.\n$/,
    );
  });

  it('examines everything else when the database is out of reach, and shows no password', async () => {
    const silent = await listening(createServer(() => {}));
    const postgres = (port: number, more = '') => `postgres://till:hunter2secret@127.0.0.1:${port}/till${more}`;
    const common = { TILL_HOME: join(folder, 'none'), RPC_URLS: `${NETWORK}=${sandbox.rpcUrl}`, TILL_SECRET: SECRET };
    for (const url of [postgres(1), postgres(portOf(silent), '?connect_timeout=1')]) {
      const found = await examine({ ...common, DATABASE_URL: url });
      assert.equal(found.exitCode, 3);
      assert.equal(found.lines('database').length, 1);
      assert.match(
        found.lines('database')[0] ?? '',
        /^fault: The database is out of reach: .* See that the server runs/,
      );
      assert.equal(found.section('networks').level, 'well');
      for (const check of ['schema', 'nodes', 'leases', 'alerts', 'webhooks', 'accounts'] as const) {
        assert.equal(found.section(check).level, 'unknown', check);
        assert.equal(found.lines(check).length, 1);
      }
      assert.equal(found.output.includes('hunter2secret'), false);
    }
  });

  it('reads the certificate of a database that clients refuse', async () => {
    const { key, cert } = selfSignedCertificate(EXPIRED);
    const server = await listening(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => {
          socket.write('S');
          new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {});
        });
      }),
    );
    const found = await examine({
      TILL_HOME: join(folder, 'none'),
      RPC_URLS: `${NETWORK}=${sandbox.rpcUrl}`,
      DATABASE_URL: `postgres://till:x@localhost:${portOf(server)}/till?sslmode=verify-full`,
    });
    assert.match(found.lines('database')[0] ?? '', /^fault: The database is out of reach: /);
    const [line = ''] = found.lines('certificates');
    assert.match(
      line,
      /^fault: The certificate of the database \(localhost:\d+\) expired at 2021-01-01T00:00:00Z\. Renew/,
    );
  });

  it('answers people of the operator by HTTP as the command does, and shows no secret', async () => {
    const unused = await createUnusedDatabase();
    const url = new URL(unused.url);
    const env = {
      TILL_HOME: join(folder, 'page'),
      DATABASE_URL: url.href,
      RPC_URLS: `${NETWORK}=${sandbox.rpcUrl},http://127.0.0.1:1/v2/secret-of-the-provider`,
      TILL_SECRET: OTHER_SECRET,
    };
    const read = readConfig(env);
    assert.ok('config' in read);
    const own = { config: read.config, environment: env, world: systemWorld };
    const gateway = await startTestGateway({ databaseUrl: url.href, examine: () => examineGateway(own) });
    stops.push(
      () => unused.drop(),
      () => gateway.stop(),
    );
    const { headers } = await signIn(gateway, { belonging: OF_OPERATOR });
    const ask = () => gateway.call({ method: 'GET', url: '/v1/operator/examination', headers });
    const [answer, atOnce] = await Promise.all([ask(), ask()]);
    assert.equal(answer.statusCode, 200, answer.body);
    assert.equal(atOnce.body, answer.body);
    const shown = answer.json() as Diagnosis;
    const command = await examine(env);
    assert.equal(shown.level, 'fault');
    const findings = ({ sections }: Diagnosis) =>
      sections
        .filter(({ check }) => check !== 'disk')
        .map(({ check, title, findings: all }) => ({ check, title, findings: all }));
    assert.deepEqual(findings(shown), findings(command));
    assert.match(answer.body, /endpoint 2 is down: it cannot be reached/);
    for (const secret of ['secret-of-the-provider', OTHER_SECRET]) assert.equal(answer.body.includes(secret), false);
  });

  it('says which version a database needs: of a newer one, or without its migrations', async () => {
    const [newer, empty] = await Promise.all([createUnusedDatabase(), createEmptyDatabase()]);
    stops.push(
      () => newer.drop(),
      () => empty.drop(),
    );
    const sql = connectTo(newer.url);
    await sql`insert into migrations (id, name, sha256) select max(id) + 1, '9999_to_come.sql', 'x' from migrations`;
    await sql.end();
    const env = { TILL_HOME: join(folder, 'none'), RPC_URLS: `${NETWORK}=${sandbox.rpcUrl}`, TILL_SECRET: SECRET };
    const late = await examine({ ...env, DATABASE_URL: newer.url });
    assert.equal(late.exitCode, 3);
    assert.match(
      late.lines('schema')[0] ?? '',
      /newer version of Till \(it has 9999_to_come\.sql\).* version that migrated/,
    );
    const bare = await examine({ ...env, DATABASE_URL: empty.url });
    assert.match(
      bare.lines('schema')[0] ?? '',
      /^fault: \d+ migrations of this version are missing: 0001_.* `till migrate`/,
    );
    assert.match(bare.lines('alerts')[0] ?? '', /^unknown: .*the database does not have the schema of this version/);
  });
});
