import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import type { Diagnosis, Section } from '../../src/domain/doctor/diagnosis.ts';
import { createGauges } from '../../src/http/gauges.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { applyRoles } from '../../src/store/plumbing/database-roles.ts';
import { migrate } from '../../src/store/plumbing/migrate.ts';
import { connectTo } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { missingReplication, type ReplicatedPostgres, startReplicatedPostgres } from '../replicated-postgres.ts';
import { runCommand } from '../run-command.ts';
import { until } from '../until.ts';

const log = pino({ level: 'silent' });
/** Every list that a replica may answer. */
const REPLICATED = [
  '/v1/payments',
  '/v1/merchants/payments',
  '/v1/merchants/{merchant}/payments',
  '/v1/exports/payments',
  '/v1/statistics/payments',
  '/v1/refunds',
  '/v1/late-money',
  '/v1/payouts',
  '/v1/payment-links',
];
/** Lists of rights, of what waits for a person, and of rows whose changes are no events. */
const OF_THE_PRIMARY = ['/v1/merchants', '/v1/statistics/attention'];

describe('a read replica', { skip: missingReplication() }, () => {
  let servers: ReplicatedPostgres;
  let gateway: TestGateway;
  let readUrl: string;
  let replica: ReturnType<typeof connectTo>;
  before(async () => {
    servers = await startReplicatedPostgres({ isSynchronous: false });
    await migrate({ log }, servers.primary.url);
    await applyRoles(servers.primary.url);
    // The role that only reads is enough.
    readUrl = servers.standby.url.replace('till@', 'till_read@');
    gateway = await open(readUrl);
    replica = connectTo(servers.standby.url);
  });
  after(async () => {
    await replica?.end();
    await gateway?.stop();
    await servers?.stop();
  });

  const open = (readDatabaseUrl: string, readMaxLagMs = 60_000) =>
    startTestGateway({
      databaseUrl: servers.primary.url,
      losesDatabase: true,
      config: { readDatabaseUrl, readMaxLagMs },
    });

  type Shop = Awaited<ReturnType<typeof openShop>>;
  async function openShop() {
    const partner = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, partner.headers);
    return { headers: { ...partner.headers, 'merchant-id': id, 'x-api-key': partner.secret }, merchantId: id };
  }

  async function create({ headers }: Shop): Promise<string> {
    const answer = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { referenceId: freshKey(), amount: { unit: 'iso4217/USD', value: '500' } },
    });
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.json().paymentId;
  }

  async function list({ headers, merchantId }: Shop, url = '/v1/payments', on = gateway) {
    const answer = await on.call({ method: 'GET', url: url.replace('{merchant}', merchantId), headers });
    assert.equal(answer.statusCode, 200, answer.body);
    const from = String(answer.headers['read-from'] ?? '');
    const [source, lag] = from.split(';lag=');
    return { source, lagMs: Number(lag), from, answer };
  }
  const idsIn = ({ answer }: Awaited<ReturnType<typeof list>>) =>
    (answer.json().data as { paymentId: string }[]).map(({ paymentId }) => paymentId);

  const paused = async (work: () => Promise<void>) => {
    await replica`select pg_wal_replay_pause()`;
    await until('the replay is paused', async () => {
      const [row] = await replica<{ state: string }[]>`select pg_get_wal_replay_pause_state() as state`;
      return row?.state === 'paused';
    });
    try {
      await work();
    } finally {
      await replica`select pg_wal_replay_resume()`;
    }
  };

  it('answers lists, exports and statistics, and no list of rights', async () => {
    const shop = await openShop();
    const id = await create(shop);
    for (const url of REPLICATED) {
      await until(`the replica answers ${url}`, async () => (await list(shop, url)).source === 'replica');
    }
    const seen = await list(shop);
    assert.deepEqual(idsIn(seen), [id]);
    for (const url of OF_THE_PRIMARY) assert.equal((await list(shop, url)).from, '', url);
  });

  it('never answers without the last event of the partner: the primary does, and others still read from the replica', async () => {
    const [busy, idle] = [await openShop(), await openShop()];
    const other = await create(idle);
    await until('the replica has both shops', async () => {
      return (await list(busy)).source === 'replica' && (await list(idle)).source === 'replica';
    });
    await paused(async () => {
      const id = await create(busy);
      for (const url of REPLICATED) assert.equal((await list(busy, url)).from, 'primary', url);
      assert.deepEqual(idsIn(await list(busy)), [id]);
      const [row] = await replica`select from payments where id = ${id}`;
      assert.equal(row, undefined, 'the replica does not have the payment');

      const still = await list(idle);
      assert.equal(still.source, 'replica');
      assert.deepEqual(idsIn(still), [other]);
    });
    await until('the replica answers again', async () => (await list(busy)).source === 'replica');
  });

  it('shows a payment to its maker on every node, and on a node that has begun since', async () => {
    const [shop, idle] = [await openShop(), await openShop()];
    await until('the replica has both shops', async () => (await list(idle)).source === 'replica');
    await paused(async () => {
      const id = await create(shop);
      const second = await open(readUrl);
      try {
        // The replica is behind all that this node has seen, so nobody knows how far.
        assert.equal((await list(idle, '/v1/payments', second)).source, 'primary');
        const seen = await list(shop, '/v1/payments', second);
        assert.equal(seen.from, 'primary');
        assert.deepEqual(idsIn(seen), [id]);
      } finally {
        await second.stop();
      }
    });
  });

  it('that falls behind its bound answers nobody, and says how far it is', async () => {
    const bounded = await open(readUrl, 1_500);
    const shop = await openShop();
    try {
      await until('the replica answers', async () => (await list(shop, '/v1/payments', bounded)).source === 'replica');
      await paused(async () => {
        // Something is written, or an unmoved replica would be up to date.
        await create(await openShop());
        await until('the primary answers', async () => {
          const { source, lagMs } = await list(shop, '/v1/payments', bounded);
          assert.ok(source === 'primary' || lagMs <= 1_500);
          return source === 'primary';
        });
        await createGauges(bounded)();
        const text = await bounded.metrics.registry.metrics();
        assert.match(text, /till_read_replica_up\{reason="behind"\} 0\n/);
        assert.match(text, /till_read_replica_lag_seconds [1-9]/);
        assert.match(text, /till_list_reads_total\{from="primary",reason="behind"\} [1-9]/);
      });
      await until('it answers again', async () => (await list(shop, '/v1/payments', bounded)).source === 'replica');
      await until('the metric shows it', async () => {
        await createGauges(bounded)();
        return (await bounded.metrics.registry.metrics()).includes('till_read_replica_up{reason=""} 1\n');
      });
    } finally {
      await bounded.stop();
    }
  });

  it('that is the primary itself is not used', async () => {
    const wrong = await open(servers.primary.url);
    const shop = await openShop();
    const id = await create(shop);
    const seen = await list(shop, '/v1/payments', wrong);
    assert.equal(seen.from, 'primary');
    assert.deepEqual(idsIn(seen), [id]);
    await until('its first beat is judged', async () => {
      await list(shop, '/v1/payments', wrong);
      const text = await wrong.metrics.registry.metrics();
      return text.includes('till_list_reads_total{from="primary",reason="not_a_replica"}');
    });
    await wrong.stop();
  });

  it('is found among several hosts', async () => {
    const { host } = new URL(servers.primary.url);
    const several = await open(readUrl.replace('@', `@${host},`));
    const shop = await openShop();
    await until('the standby answers', async () => (await list(shop, '/v1/payments', several)).source === 'replica');
    await several.stop();
  });

  it('is examined by till doctor', async () => {
    const examined = async (readDatabaseUrl: string) => {
      const settings = { SANDBOX: '1', DATABASE_URL: servers.primary.url, READ_MAX_LAG_MS: '1000' };
      const { stdout } = await runCommand(['doctor', '--json'], {
        env: { ...settings, READ_DATABASE_URL: readDatabaseUrl },
        machineClock: systemWorld.clock,
      });
      const { sections } = JSON.parse(stdout) as Diagnosis;
      const { level, facts, findings } = sections.find(({ check }) => check === 'replica') as Section;
      return [level, ...facts.map(({ value }) => value), ...findings.map(({ message }) => message)].join('\n');
    };
    await until('the replica has everything', async () => (await list(await openShop())).source === 'replica');
    assert.match(await examined(readUrl), /^well\nPostgreSQL 15\.\d+ .*, as till_read, at most .* behind$/);
    assert.match(await examined(servers.primary.url), /^warning\n.*\nREAD_DATABASE_URL leads to no streaming replica/);
    assert.match(await examined(readUrl.replace(/:\d+\//, ':1/')), /^warning\nThe read replica is out of reach/);
    await paused(async () => {
      await create(await openShop());
      assert.match(
        await examined(readUrl),
        /^warning\n.* behind\nThe read replica has not reached the primary within 1/,
      );
    });
  });

  it('that cannot carry out a statement is no fault of the list: the primary answers', async () => {
    const shop = await openShop();
    const id = await create(shop);
    await until('the replica answers', async () => (await list(shop)).source === 'replica');
    // The replica still has the lock of a migration that the primary has released.
    const primary = openDatabase({ url: servers.primary.url, poolSize: 1, applicationName: 'till-test' });
    await primary.begin(systemWorld.random, async (tx) => {
      await tx`lock table payments in access exclusive mode`;
      await until('the lock is replayed', async () => {
        const rows = await replica`
          select from pg_locks where relation = 'payments'::regclass and mode = 'AccessExclusiveLock' and granted`;
        return rows.length === 1;
      });
      await replica`select pg_wal_replay_pause()`;
    });
    await paused(async () => {
      const seen = await list(shop);
      assert.equal(seen.from, 'primary');
      assert.deepEqual(idsIn(seen), [id]);
    });
    const text = await gateway.metrics.registry.metrics();
    assert.match(text, /till_list_reads_total\{from="primary",reason="failed"\} [1-9]/);
    await primary.close();
  });

  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
    it(`harms nobody when it ${signal === 'SIGSTOP' ? 'hangs' : 'is killed'}: payments and lists go on`, async () => {
      const shop = await openShop();
      const ids = [await create(shop)];
      await until('the replica answers', async () => (await list(shop)).source === 'replica');
      await servers.standby.signal(signal);
      // Some lists are on their way to the replica, and some come later.
      for (const _ of [1, 2, 3]) {
        const asked = [list(shop), list(shop, '/v1/exports/payments'), list(shop, '/v1/statistics/payments')];
        ids.unshift(await create(shop));
        for (const { from } of await Promise.all(asked)) assert.equal(from, 'primary');
        assert.deepEqual(new Set(idsIn(await list(shop))), new Set(ids));
      }
      if (signal === 'SIGKILL') return;
      await servers.standby.signal('SIGCONT');
      await until('the replica answers again', async () => (await list(shop)).source === 'replica');
    });
  }
});

describe('a read replica after a failover', { skip: ONLY_LONG.skip || missingReplication() }, () => {
  it('is not used if it was promoted, or if it still has the timeline of the former primary', async () => {
    const servers = await startReplicatedPostgres();
    const gateways: TestGateway[] = [];
    const open = async (databaseUrl: string, readDatabaseUrl: string) => {
      const gateway = await startTestGateway({ databaseUrl, config: { readDatabaseUrl, readMaxLagMs: 60_000 } });
      gateways.push(gateway);
      return gateway;
    };
    try {
      await migrate({ log }, servers.primary.url);
      const gateway = await open(servers.url, servers.standby.url);
      const { headers } = await createTestPartner(gateway);
      const from = async (on: TestGateway) => {
        const answer = await on.call({ method: 'GET', url: '/v1/payments', headers });
        return answer.statusCode === 200 ? String(answer.headers['read-from']) : '';
      };
      const reads = async (on: TestGateway) => on.metrics.registry.metrics();
      await until('the replica answers', async () => (await from(gateway)).startsWith('replica'));

      await servers.primary.signal('SIGKILL');
      await servers.promoteStandby();
      await until('the promoted server answers as the primary', async () => {
        await from(gateway);
        return (await reads(gateway)).includes('till_list_reads_total{from="primary",reason="not_a_replica"}');
      });
      await until('lists are answered', async () => (await from(gateway)) === 'primary');

      const former = await servers.startFormerPrimary();
      const later = await open(servers.standby.url, former.url);
      await until('the former primary is judged', async () => {
        assert.ok(['primary', ''].includes(await from(later)));
        return (await reads(later)).includes('till_list_reads_total{from="primary",reason="other_timeline"}');
      });
    } finally {
      for (const gateway of gateways) await gateway.stop();
      await servers.stop();
    }
  });
});
