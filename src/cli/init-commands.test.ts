import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { selfSignedCertificate } from '../../test/certificate.ts';
import { mountSmallDisk } from '../../test/crash/small-disk.ts';
import { connectTo, createEmptyDatabase, createUnusedDatabase, type TestDatabase } from '../../test/database.ts';
import { startRpcProxy } from '../../test/rpc-proxy.ts';
import { runCommand } from '../../test/run-command.ts';
import { openReceiptKey } from '../actions/open-receipt-key.ts';
import { createSecrets } from '../runtime/secrets.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../sandbox/chain-process.ts';
import { findPort } from '../sandbox/free-port.ts';
import { readEnvText } from '../settings/env-file.ts';
import { openDatabase } from '../store/plumbing/database.ts';

const NETWORK = 'eip155:31337';
const OTHER = '0x3333333333333333333333333333333333333333';
const FEES = '0x2222222222222222222222222222222222222222';
const TWO_MINUTES_MS = 120_000;

type Answers = Readonly<Record<string, unknown>>;

describe('till init', () => {
  let folder: string;
  let chain: SandboxChain;
  let database: TestDatabase;
  let port: number;
  /** A port on which nobody listens. */
  let closed: number;
  let file: string;
  const stops: (() => unknown)[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-init-'));
    const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
    chain = await startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: 100 });
    database = await createUnusedDatabase();
    port = await findPort(systemWorld.random);
    closed = await findPort(systemWorld.random);
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
    await database.drop();
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    file = join(await mkdtemp(join(folder, 'home-')), 'till.env');
  });

  const good = (): Answers => ({
    networks: [NETWORK],
    DATABASE_URL: database.url,
    PORT: port,
    PUBLIC_URL: `http://localhost:${port}`,
    RPC_URLS: { [NETWORK]: [chain.rpcUrl] },
    FEE_ACCOUNT: FEES,
    RATES: null,
  });

  async function init(answers: Answers | string, { clockOffMs = 0, env = {} } = {}) {
    const path = `${file}.json`;
    await writeFile(path, typeof answers === 'string' ? answers : JSON.stringify(answers));
    const machineClock = { nowMs: () => systemWorld.clock.nowMs() + clockOffMs };
    const ran = await runCommand(['init', '--answers', path, '--yes', '--file', file], { env, machineClock });
    return { ...ran, path };
  }

  const read = () => readFile(file, 'utf8');
  const values = async () => ({ ...readEnvText(await read()) });

  async function listening(server: Server): Promise<number> {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    stops.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  /** The list at the end, without its numbers. */
  const missingIn = (stdout: string) =>
    (stdout.split('Missing before the first payment:\n')[1] ?? '')
      .trimEnd()
      .replace(/^\d+\. /gm, '')
      .split('\n');

  it('writes a private file with an explanation of each setting, and says what is missing', async () => {
    const operator = { name: 'Ada', email: 'ada@till.example' };
    const { exitCode, stdout, stderr } = await init({ ...good(), operator, partner: { name: 'Shop Ltd' } });
    assert.equal(stderr, '');
    assert.equal(exitCode, 0);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const {
      TILL_SECRET: secret = '',
      RELAYER_KEYS: relayer = '',
      INTERMEDIATE_KEY: key = '',
      ...open
    } = await values();
    assert.match(relayer, /^0x[0-9a-f]{64}$/);
    assert.match(key, /^0x[0-9a-f]{64}$/);
    assert.equal(Buffer.from(secret, 'base64').length, 32);
    assert.deepEqual(open, {
      PORT: String(port),
      HOST: '127.0.0.1',
      PUBLIC_URL: `http://localhost:${port}`,
      DATABASE_URL: database.url,
      RPC_URLS: `${NETWORK}=${chain.rpcUrl}`,
      INTERMEDIATE_ACCOUNT: open.INTERMEDIATE_ACCOUNT,
      FEE_ACCOUNT: FEES,
    });
    assert.match(await read(), /\n# Port of the API and the pages\.\n# Default: 8080\.\nPORT=\d+\n/);
    assert.match(await read(), /\n#SMTP_URL=\n/);
    for (const hidden of [secret, relayer, relayer.slice(2), key, new URL(database.url).password || 'no password']) {
      assert.equal(stdout.includes(hidden), false, 'a secret is shown');
    }
    assert.match(stdout, new RegExp(`\\nrelayer ${NETWORK}:0x[0-9a-fA-F]{40}: 0 coin\\n`));
    assert.match(stdout, new RegExp(`intermediate account ${NETWORK}:${open.INTERMEDIATE_ACCOUNT}: 0 coin`));
    assert.match(stdout, /\nPerson invited\.\n[\s\S]*ada@till\.example/);
    assert.match(stdout, /\nPartner created\.\n[\s\S]*Shop Ltd/);
    const [coin = '', ...rest] = missingIn(stdout).filter((line) => !line.startsWith('fsync'));
    assert.match(
      coin,
      new RegExp(`^The relayer ${NETWORK}:0x\\w{40} has no coin, so it sends nothing\\. Send native coin to it\\.$`),
    );
    assert.deepEqual(
      rest.map((line) => line.replace(/prtn_\w+/, 'prtn_…')),
      [
        'No partner has an API key. Run `till keys create --partner prtn_… --mode test --label …`.',
        'No node runs. Run `npm start` in this folder, or the unit of docs/operating.md.',
        'There is no merchant. Create one with the key (`POST /v1/merchants`), and its settlement destinations: docs/partners.md.',
      ],
    );
    // Nothing is done twice.
    const again = await init({ ...good(), operator, partner: { name: 'Shop Ltd' } });
    assert.match(
      again.stdout,
      new RegExp(`\\nNothing differs: ${file} is as it was\\.\\n\\nSchema of the database: Nothing to do`),
    );
    assert.equal(/invited|created/.test(again.stdout), false, again.stdout);
  });

  it('changes nothing the second time, and later the line of a changed answer alone', async () => {
    await init(good());
    const first = await read();
    const text = `# A note of mine.\n${first}\nLANG=C\n`;
    await writeFile(file, text);
    await chmod(file, 0o644);
    const { stdout } = await init({});
    assert.match(stdout, /Nothing differs/);
    const open = `Other accounts of this machine can read ${file}, which has secrets. Run \`chmod 600 ${file}\`.`;
    assert.ok(missingIn(stdout).includes(open), stdout);
    assert.equal(await read(), text);
    const other = `http://127.0.0.1:${port}`;
    const changed = await init({ PUBLIC_URL: other });
    assert.match(changed.stdout, new RegExp(`\\n {2}PUBLIC_URL: http://localhost:${port} → ${other}\\n\\n`));
    assert.equal(await read(), text.replace(`PUBLIC_URL=http://localhost:${port}`, `PUBLIC_URL=${other}`));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(join(file, '..'))).sort(), ['till.env', 'till.env.json']);
  });

  it('keeps the earlier file if a secret of it is replaced', async () => {
    await init(good());
    const first = await read();
    const { stdout } = await init({ RELAYER_KEYS: 'make' });
    const [, copy = ''] = /It is kept: (\S+)/.exec(stdout) ?? [];
    assert.equal(await readFile(copy, 'utf8'), first);
    assert.equal((await stat(copy)).mode & 0o777, 0o600);
    assert.notEqual((await values()).RELAYER_KEYS, readEnvText(first).RELAYER_KEYS);
  });

  it('takes settings that no question asks for, and a proxy that it saw', async () => {
    const proxy = createServer(async (request, response) => {
      const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
        headers: { 'x-forwarded-for': '192.0.2.1' },
      });
      response.writeHead(answer.status).end(await answer.text());
    });
    const publicUrl = `http://127.0.0.1:${await listening(proxy)}`;
    const answers = { ...good(), PUBLIC_URL: publicUrl, FINALITY_DEPTHS: `${NETWORK}=7` };
    const { stdout } = await init(answers);
    assert.match(stdout, new RegExp(`A request to ${publicUrl} arrives at 127\\.0\\.0\\.1:${port}\\.`));
    const { TRUST_PROXY: trusted, FINALITY_DEPTHS: depths } = await values();
    assert.deepEqual([trusted, depths], ['127.0.0.1', `${NETWORK}=7`]);
    const without = await init({ ...answers, TRUST_PROXY: null });
    const [line] = missingIn(without.stdout).filter((each) => /TRUST_PROXY/.test(each));
    assert.equal(
      line,
      'Requests to PUBLIC_URL come through a proxy at 127.0.0.1, which TRUST_PROXY does not name: all payers share its rate limit. Add 127.0.0.1 to TRUST_PROXY.',
    );
  });

  it('makes no key for an account that somebody chose, and joins no rates to own ones', async () => {
    const sources = ['a', 'b'].map((name) => `${name} https://${name}.invalid/{base}-{quote}#/price ETH/USD`).join(';');
    await writeFile(file, `INTERMEDIATE_ACCOUNT=${OTHER}\nRATE_SOURCES='${sources}'\n`);
    const { RATES: _, ...answers } = good();
    const { exitCode, stderr } = await init(answers);
    assert.deepEqual([exitCode, stderr], [0, '']);
    const { INTERMEDIATE_ACCOUNT: account, INTERMEDIATE_KEY: key, RATES: rates } = await values();
    assert.deepEqual([account, key, rates], [OTHER, undefined, undefined]);
  });

  it('says when the environment has precedence over the file', async () => {
    const { stdout } = await init(good(), { env: { PORT: '1234' } });
    assert.ok(
      missingIn(stdout).includes(
        'The environment has another PORT, which has precedence over the file. Unset PORT, or set it to the same value.',
      ),
      stdout,
    );
  });

  interface Bad {
    readonly answers: Answers | string;
    readonly line: string;
    readonly clockOffMs?: number;
    /** True if the set-up goes on, and the line is among what is missing. */
    readonly isKept?: boolean;
    readonly args?: readonly string[];
  }

  /** Input that cannot be used: one line, with what to do, and nothing lost. */
  const BAD: Readonly<Record<string, () => Promise<Bad>>> = {
    'a half-written answers file': async () => ({
      answers: JSON.stringify(good(), null, 1).slice(0, 60),
      line: 'The answers file FILE.json is no whole JSON (line 5): was it cut off? Write it again. Nothing was changed.',
    }),
    'an answers file that is no object': async () => ({
      answers: '[]',
      line: 'The answers file FILE.json must be one JSON object, such as {"PUBLIC_URL": "https://till.example.com"}. Nothing was changed.',
    }),
    'a name that no question has': async () => ({
      answers: { ...good(), DATABSE_URL: 'x' },
      line: 'No question is named "DATABSE_URL". Did you mean "DATABASE_URL"? Nothing was changed.',
    }),
    'an answer of another type': async () => ({
      answers: { ...good(), PORT: true },
      line: 'The answer to "PORT" must be a text, a whole number, a list of texts, or null. Nothing was changed.',
    }),
    'an answer that is missing': async () => ({
      answers: { ...good(), FEE_ACCOUNT: undefined },
      line: 'FEE_ACCOUNT has no answer, and there is no default: give one. Nothing was changed.',
    }),
    'a wrong value': async () => ({
      answers: { ...good(), PORT: 70_000 },
      line: 'PORT must be a whole number from 1 to 65535 (it is "70000"). Nothing was changed.',
    }),
    'a network that nobody knows': async () => ({
      answers: { ...good(), networks: ['eip155:4242'] },
      line: 'networks must list networks that take payments, and "eip155:4242" is none. Nothing was changed.',
    }),
    'a setting that no question asks for, with a wrong value': async () => ({
      answers: { ...good(), LOG_LEVEL: 'loud' },
      line: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, silent (it is "loud"). Nothing was changed.',
    }),
    'a database that is out of reach': async () => ({
      answers: { ...good(), DATABASE_URL: 'postgres://till:hunter2secret@127.0.0.1:1/till' },
      line: 'The database is out of reach: connect ECONNREFUSED 127.0.0.1:1. See that the server runs, and that DATABASE_URL names it with the right user and password. Nothing was changed.',
    }),
    'a database of a newer version': async () => {
      const newer = await createUnusedDatabase();
      stops.push(() => newer.drop());
      const sql = connectTo(newer.url);
      await sql`insert into migrations (id, name, sha256) select max(id) + 1, '9999_to_come.sql', 'x' from migrations`;
      await sql.end();
      return {
        answers: { ...good(), DATABASE_URL: newer.url },
        line: 'The database was migrated by a newer version of Till (it has 9999_to_come.sql): start that version instead. Run this command, and the nodes, with the version that migrated the database. Nothing was changed.',
      };
    },
    'a database without rights': async () => {
      const empty = await createEmptyDatabase();
      const sql = connectTo(empty.url);
      const role = `app_${randomBytes(4).toString('hex')}`;
      await sql.unsafe(`create role ${role} login password 'hunter2secret'`);
      // The last one is run first.
      stops.push(
        () => empty.drop(),
        async () => {
          await sql.unsafe(`drop role ${role}`);
          await sql.end();
        },
      );
      const url = Object.assign(new URL(empty.url), { username: role, password: 'hunter2secret' });
      return {
        answers: { ...good(), DATABASE_URL: url.href },
        line: `The role ${role} may not create tables in the schema public of the database ${url.pathname.slice(1)}. Run \`GRANT CREATE ON SCHEMA public TO ${role}\` as its owner, or name the role that owns the tables in DATABASE_MIGRATE_URL. Nothing was changed.`,
      };
    },
    'two gateways with different secrets on one database': async () => {
      const used = await createUnusedDatabase();
      stops.push(() => used.drop());
      const db = openDatabase({ url: used.url, poolSize: 1, applicationName: 'till-test' });
      await openReceiptKey({ world: systemWorld, db, secrets: createSecrets([randomBytes(32)]) } as never);
      await db.close();
      return {
        answers: { ...good(), DATABASE_URL: used.url },
        line: 'The secrets of the database were wrapped with another master secret than the one of this machine. Set TILL_SECRET or TILL_SECRET_FILE to the master secret of the nodes of this database. Nothing was changed.',
      };
    },
    'a file of the master secret that is missing': async () => ({
      answers: { ...good(), TILL_SECRET_FILE: join(folder, 'no-secret') },
      line: 'The file that TILL_SECRET_FILE names cannot be read (ENOENT). Name another file, or none. Nothing was changed.',
    }),
    'a clock two minutes off': async () => ({
      answers: good(),
      clockOffMs: TWO_MINUTES_MS,
      isKept: true,
      line: 'The clock of this machine is 120 s ahead of the database. The node goes by the time of the database. Repair the time synchronisation (NTP) of the machine.',
    }),
    'an expired certificate': async () => {
      const server = createHttps(selfSignedCertificate({ until: '210101000000Z' }), (_, response) => response.end());
      return {
        answers: { ...good(), PUBLIC_URL: `https://localhost:${await listening(server)}` },
        line: 'The certificate of PUBLIC_URL expired at 2021-01-01T00:00:00Z. Renew it, and load it where TLS ends. Nothing was changed.',
      };
    },
    'a certificate that clients refuse': async () => {
      const server = createHttps(selfSignedCertificate(), (_, response) => response.end());
      return {
        answers: { ...good(), PUBLIC_URL: `https://localhost:${await listening(server)}` },
        line: 'Clients refuse the certificate of PUBLIC_URL: DEPTH_ZERO_SELF_SIGNED_CERT. Use a certificate of a known authority, for this name, with its whole chain. Nothing was changed.',
      };
    },
    'a public URL that leads elsewhere': async () => {
      const url = `http://localhost:${await listening(createServer((_, response) => response.end('Welcome!')))}`;
      return {
        answers: { ...good(), PUBLIC_URL: url },
        line: `PUBLIC_URL (${url}) leads elsewhere: another program answers there, with status 200. Set PUBLIC_URL to the origin whose proxy leads to 127.0.0.1:${port}, or let this one lead there. Nothing was changed.`,
      };
    },
    'a public URL that redirects': async () => {
      const moved = createServer((_, response) => response.writeHead(301, { location: 'https://www.example/x' }).end());
      const url = `http://localhost:${await listening(moved)}`;
      return {
        answers: { ...good(), PUBLIC_URL: url },
        line: `PUBLIC_URL (${url}) leads elsewhere: it leads to https://www.example. Set PUBLIC_URL to the origin whose proxy leads to 127.0.0.1:${port}, or let this one lead there. Nothing was changed.`,
      };
    },
    'a public URL whose proxy is not up yet': async () => ({
      answers: { ...good(), PUBLIC_URL: `http://127.0.0.1:${closed}` },
      isKept: true,
      line: `Nothing answers at PUBLIC_URL (http://127.0.0.1:${closed}) yet: ECONNREFUSED. Let its name and its proxy lead to 127.0.0.1:${port}, then run \`till init\` again: it asks once more.`,
    }),
    'a proxy that does not reach this machine': async () => {
      const server = createServer((_, response) => response.writeHead(502).end());
      const url = `http://localhost:${await listening(server)}`;
      return {
        answers: { ...good(), PUBLIC_URL: url },
        isKept: true,
        line: `The proxy of PUBLIC_URL (${url}) answers with status 502: it does not reach 127.0.0.1:${port}. Let it lead to 127.0.0.1:${port}, or set HOST to an address that it reaches; then run \`till init\` again.`,
      };
    },
    'a port that another program has': async () => {
      const taken = await listening(createServer((_, response) => response.writeHead(404).end()));
      return {
        answers: { ...good(), PORT: taken, PUBLIC_URL: `http://localhost:${taken}` },
        isKept: true,
        line: `Another program listens on port ${taken}, so PUBLIC_URL could not be asked back. End it or set PORT to a free port, then run \`till init\` again.`,
      };
    },
    'an address that is not of this machine': async () => ({
      answers: { ...good(), HOST: '192.0.2.1' },
      line: `Nothing can listen on 192.0.2.1, port ${port} (EADDRNOTAVAIL). Set HOST to an address of this machine, and PORT to one that this account may use. Nothing was changed.`,
    }),
    'an RPC that lies about its chain': async () => {
      const proxy = await startRpcProxy({ targetUrl: chain.rpcUrl });
      stops.push(() => proxy.close());
      proxy.lie({ as: 'result', of: (call, truth) => (call.method === 'eth_chainId' ? '0x1' : truth) });
      return {
        answers: { ...good(), RPC_URLS: { [NETWORK]: [chain.rpcUrl, proxy.url] } },
        line: `Till Sandbox (${NETWORK}), endpoint 2 is down: it is on another chain, 1 and not 31337: correct RPC_URLS, or the id in the file of the network. 2 endpoints must agree, so payments there wait, or go on at three times the depth. Check its URL in RPC_URLS, its key and its limits. \`till networks check\` asks it again. Nothing was changed.`,
      };
    },
    'a database of another host without TLS, for real money': async () => ({
      answers: {
        ...good(),
        networks: ['eip155:8453'],
        DATABASE_URL: 'postgres://app:hunter2secret@db.example.com/till',
      },
      line: 'DATABASE_URL names another host without TLS: anybody on the way can read and change the database. Set sslmode=verify-full. To accept the risk, add database_without_tls to ACCEPT_RISKS. Nothing was changed.',
    }),
    'a screening list that is missing': async () => ({
      answers: { ...good(), SCREENING_LIST: join(folder, 'no-list') },
      line: `The screening list does not exist (${join(folder, 'no-list')}). Name a list in the form of docs/rates-and-screening.md, or none. Nothing was changed.`,
    }),
    'a mail server that does not answer': async () => ({
      answers: { ...good(), SMTP_URL: 'smtp://user:hunter2secret@127.0.0.1:1', MAIL_FROM: 'till@till.example' },
      isKept: true,
      line: 'Mail cannot be sent: The server could not be used: ECONNREFUSED. Correct SMTP_URL, or look at the server.',
    }),
    'an account that is not that of its key': async () => ({
      answers: { ...good(), INTERMEDIATE_ACCOUNT: OTHER, INTERMEDIATE_KEY: `0x${'11'.repeat(32)}` },
      line: `INTERMEDIATE_KEY is the key of 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A, and INTERMEDIATE_ACCOUNT is ${OTHER}: leave one of them out. Nothing was changed.`,
    }),
    'an external signer that does not answer': async () => ({
      answers: {
        ...good(),
        EXTERNAL_SIGNER_URL: 'http://127.0.0.1:9/hunter2secret',
        RELAYER_KEYS: FEES,
        INTERMEDIATE_KEY: FEES,
      },
      isKept: true,
      line: 'The external signer does not answer. Start it, and see that this machine reaches it: docs/external-signer.md.',
    }),
    'keys to be made, with an external signer': async () => ({
      answers: { ...good(), EXTERNAL_SIGNER_URL: 'http://127.0.0.1:9' },
      line: 'RELAYER_KEYS has no answer, and there is no default: give one. Nothing was changed.',
    }),
  };

  for (const [title, make] of Object.entries(BAD)) {
    it(`says in one line what to do about ${title}`, async () => {
      const { answers, line, isKept = false, clockOffMs = 0 } = await make();
      const before = '# The file before.\nOTHER=1\n';
      await writeFile(file, before);
      const { exitCode, stdout, stderr } = await init(answers, { clockOffMs });
      const expected = line.replace('FILE.json', `${file}.json`);
      assert.equal(`${stdout}${stderr}`.includes('hunter2secret'), false, 'a secret is shown');
      if (isKept) {
        assert.equal(exitCode, 0, stderr);
        assert.ok(missingIn(stdout).includes(expected), stdout);
        return;
      }
      assert.deepEqual(
        { exitCode, stdout, stderr },
        { exitCode: 1, stdout: '', stderr: `invalid_params: ${expected}\n` },
      );
      assert.equal(await read(), before);
    });
  }

  it('says what to do about a file that cannot be written, and loses nothing', async () => {
    const nowhere = join(folder, 'no-folder', 'till.env');
    await writeFile(`${file}.json`, JSON.stringify(good()));
    const argv = ['init', '--answers', `${file}.json`, '--yes', '--file', nowhere];
    const { exitCode, stdout, stderr } = await runCommand(argv, { env: {} });
    assert.deepEqual(
      { exitCode, stdout, stderr },
      {
        exitCode: 1,
        stdout: '',
        stderr: `invalid_state: ${nowhere} cannot be written (ENOENT), and is as it was. Make its folder, and run init again.\n`,
      },
    );
  });

  it('says what to do about a file that cannot be read', async () => {
    await writeFile(`${file}.json`, JSON.stringify(good()));
    const { exitCode, stderr } = await runCommand(['init', '--answers', `${file}.json`, '--yes', '--file', folder], {
      env: {},
    });
    const line = `invalid_state: ${folder} cannot be read (EISDIR), and is as it was. Name a file by --file, and run init again.\n`;
    assert.deepEqual([exitCode, stderr], [1, line]);
  });

  it('says what to do about a full disk, and loses nothing', async (context) => {
    const disk = mountSmallDisk(join(folder, 'disk'), 1);
    if (disk === undefined) return context.skip('Only root may mount a small disk.');
    stops.push(() => disk.unmount());
    file = join(disk.dir, 'till.env');
    await init(good());
    const before = await read();
    await disk.fill();
    await writeFile(join(folder, 'more.json'), JSON.stringify({ FEE_ACCOUNT: OTHER }));
    const argv = ['init', '--answers', join(folder, 'more.json'), '--yes', '--file', file];
    const { exitCode, stderr } = await runCommand(argv, { env: {} });
    const line = `invalid_state: ${file} cannot be written (ENOSPC), and is as it was. Free space on its disk, and run init again.\n`;
    assert.deepEqual([exitCode, stderr], [1, line]);
    assert.equal(await read(), before);
    assert.deepEqual((await readdir(disk.dir)).sort(), ['ballast', 'till.env', 'till.env.json']);
  });

  it('changes nothing when it is interrupted between two questions', async () => {
    const before = '# The file before.\n';
    await writeFile(file, before);
    await writeFile(`${file}.json`, JSON.stringify(good()));
    const stop = new AbortController();
    const silent = createTcpServer(() => stop.abort());
    const mute = `postgres://till:x@127.0.0.1:${await listening(silent)}/till`;
    await writeFile(`${file}.json`, JSON.stringify({ ...good(), DATABASE_URL: mute }));
    const argv = ['init', '--answers', `${file}.json`, '--yes', '--file', file];
    const { exitCode, stderr } = await runCommand(argv, { env: {}, untilInterrupted: () => stop.signal });
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^invalid_state: The set-up was interrupted: .* and the database are unchanged\. Run init again/,
    );
    assert.equal(await read(), before);
  });

  it('refuses to ask without a terminal', async () => {
    const { exitCode, stderr } = await runCommand(['init', '--file', file], { env: {} });
    assert.equal(exitCode, 1);
    assert.equal(
      stderr,
      'invalid_params: init asks questions, and this is no terminal: give --answers <file> --yes. Nothing was changed.\n',
    );
  });

  it('runs although the settings are wrong, because it mends them', async () => {
    const { exitCode, stderr } = await init(good(), { env: { RPC_URLS: 'eip155:1=https://a.example', PORT: 'x' } });
    assert.deepEqual([exitCode, stderr], [0, '']);
  });
});
