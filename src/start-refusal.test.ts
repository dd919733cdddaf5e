import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttp, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { selfSignedCertificate } from '../test/certificate.ts';
import { connectTo, createTestDatabase, type TestDatabase } from '../test/database.ts';
import { listenForMetrics } from './http/metrics-server.ts';
import { startRefusal } from './start-refusal.ts';
import { connect, connectionSettings, send } from './store/plumbing/connection.ts';
import { migrate } from './store/plumbing/migrate.ts';

const SILENT = { log: pino({ level: 'silent' }) };

describe('a node that cannot start', () => {
  let database: TestDatabase;
  let folder: string;
  let authority: string;
  const servers: Server[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-refusal-'));
    authority = join(folder, 'authority.pem');
    database = await createTestDatabase();
  });
  after(async () => {
    for (const server of servers) server.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => assert.fail('nothing was refused'),
      (error: unknown) => error,
    );
  const atStart = (url: string) => errorOf(migrate(SILENT, url));
  const named = (parts: Partial<URL>) => Object.assign(new URL(database.url), parts).href;

  /** The error of a statement that fails with this SQLSTATE. */
  async function failing(state: string, words: string): Promise<unknown> {
    const client = await connect(connectionSettings({ url: database.url, applicationName: 'till-test' }));
    const text = `do $$ begin raise exception '${words}' using errcode = '${state}'; end $$`;
    try {
      return await errorOf(send(client, { text, values: [] }));
    } finally {
      await client.end();
    }
  }

  /** A server that offers TLS with a certificate of its own, as PostgreSQL does. Its authority is written to a file. */
  function encrypted(options: { until?: string } = {}): Server {
    const { key, cert } = selfSignedCertificate(options);
    writeFileSync(authority, cert);
    return createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('S');
        new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {});
      });
    });
  }

  async function listening(server: Server): Promise<number> {
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function listenOn(port: number, host: string): Promise<unknown> {
    const [error] = await once(createHttp().listen(port, host), 'error');
    return error;
  }

  /** A server as of an account that may use no low port. */
  function withoutRights(): HttpServer {
    const server = createHttp();
    const refuse = () => server.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' }));
    return Object.assign(server, { listen: refuse });
  }

  const CASES: Readonly<Record<string, { error(): Promise<unknown>; line: RegExp }>> = {
    'a database that is out of reach': {
      error: () => atStart('postgres://till:hunter2@127.0.0.1:1/till'),
      line: /^The database is out of reach \(connect ECONNREFUSED 127\.0\.0\.1:1\)\. See that the server runs, and that DATABASE_URL names it with the right user and password\.$/,
    },
    'a database that does not exist': {
      error: () => atStart(named({ pathname: '/nowhere' })),
      line: /^The database does not exist \(database "nowhere" does not exist\)\. Create it, or correct its name in DATABASE_URL\.$/,
    },
    'a role that may not sign in': {
      error: async () => {
        const role = `mute_${process.pid}`;
        const sql = connectTo(database.url);
        await sql.unsafe(`create role ${role} nologin password 'hunter2'`);
        try {
          return await atStart(named({ username: role, password: 'hunter2' }));
        } finally {
          await sql.unsafe(`drop role ${role}`);
          await sql.end();
        }
      },
      line: /^The database refuses the user \(role "mute_\d+" is not permitted to log in\)\. Correct the user in DATABASE_URL, or the rules in pg_hba\.conf\.$/,
    },
    'a wrong password': {
      error: () => atStart(named({ password: 'hunter2' })),
      line: /^The database refuses the password \(password authentication failed for user .*\)\. Correct the password in DATABASE_URL\.$/,
    },
    'a full disk of the database': {
      error: () => failing('53100', 'could not extend file "base/1/2": No space left on device'),
      line: /^The disk of the database is full \(could not extend file .*\)\. Free space there, and try again\.$/,
    },
    'a role without rights': {
      error: () => failing('42501', 'permission denied for table nodes'),
      line: /^The role of DATABASE_URL may not do this \(permission denied for table nodes\)\. Name the role that the nodes run as, or the owner of the tables\.$/,
    },
    'an expired certificate of the database': {
      error: async () => {
        const port = await listening(encrypted({ until: '210101000000Z' }));
        return atStart(`postgres://till:hunter2@localhost:${port}/till?sslmode=verify-full&sslrootcert=${authority}`);
      },
      line: /^The certificate of the database has expired \(.*\)\. Renew it, and load it in the server\.$/,
    },
    'a certificate of the database by an unknown authority': {
      error: async () =>
        atStart(`postgres://till:hunter2@localhost:${await listening(encrypted())}/till?sslmode=verify-full`),
      line: /^The certificate of the database is refused \(.*\)\. Name its authority by sslrootcert in DATABASE_URL, and the host as the certificate does\.$/,
    },
    'a port that another program has': {
      error: async () => listenOn(await listening(createServer()), '127.0.0.1'),
      line: /^listen EADDRINUSE: .*\. Set PORT to a free port\.$/,
    },
    'an address that is not of this machine': {
      error: () => listenOn(0, '192.0.2.1'),
      line: /^listen EADDRNOTAVAIL: .*\. Set HOST to an address of this machine\.$/,
    },
    'a port for metrics that another program has': {
      error: async () => {
        const port = await listening(createServer());
        return errorOf(listenForMetrics(createHttp(), { host: '127.0.0.1', port }));
      },
      line: /^Port \d+ for metrics is in use\. Set METRICS_PORT to a free port\.$/,
    },
    'an address for metrics that is not of this machine': {
      error: () => errorOf(listenForMetrics(createHttp(), { host: '192.0.2.1', port: undefined })),
      line: /^192\.0\.2\.1 for metrics is no address of this machine\. Correct METRICS_HOST\.$/,
    },
    'a port for metrics that this account may not use': {
      error: () => errorOf(listenForMetrics(withoutRights(), { host: '127.0.0.1', port: 80 })),
      line: /^This account may not use port 80 for metrics\. Set METRICS_PORT to another, such as 9464\.$/,
    },
  };

  for (const [title, { error, line }] of Object.entries(CASES)) {
    it(`says in one line what to do about ${title}`, async () => {
      const said = startRefusal(await error());
      assert.match(said, line);
      assert.doesNotMatch(said, /hunter2|\n/);
    });
  }

  it('shows the stack of an error that nobody expected', () => {
    const { stack } = new Error('impossible');
    assert.match(stack ?? '', /\n {4}at /);
    const error = new Error('impossible');
    assert.equal(startRefusal(error), error.stack);
  });
});
