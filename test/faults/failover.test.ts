import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { migrate } from '../../src/store/plumbing/migrate.ts';
import { connectTo } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { missingReplication, type ReplicatedPostgres, startReplicatedPostgres } from '../replicated-postgres.ts';
import { until } from '../until.ts';

const PRICE = { unit: 'iso4217/USD', value: '500' };
const log = pino({ level: 'silent' });

for (const fault of ['is killed', 'hangs, and goes on later'] as const) {
  describe(`a primary that ${fault}`, { skip: missingReplication() }, () => {
    let servers: ReplicatedPostgres;
    let gateway: TestGateway;
    before(async () => {
      servers = await startReplicatedPostgres();
      await migrate({ log }, servers.url);
      gateway = await startTestGateway({ databaseUrl: servers.url, losesDatabase: true });
    });
    after(async () => {
      await gateway?.stop();
      await servers?.stop();
    });

    it('is replaced by its standby: nothing that was answered is lost, and nothing is written to the old one', async () => {
      const partner = await createTestPartner(gateway);
      const { id: merchantId } = await createTestMerchant(gateway, partner.headers);
      const create = async (key: string) => {
        const answer = await gateway.call({
          method: 'POST',
          url: '/v1/payments',
          headers: { ...partner.headers, 'merchant-id': merchantId, 'idempotency-key': key },
          payload: { referenceId: key, amount: PRICE },
        });
        assert.ok([201, 503].includes(answer.statusCode), answer.body);
        return answer.statusCode === 201 ? (answer.json().paymentId as string) : undefined;
      };
      const answered = new Map<string, string>();
      const keys: string[] = [];
      let isOver = false;
      // A client that repeats a request until it is answered, and then sends the next one.
      const client = async () => {
        while (!isOver) {
          const key = freshKey();
          keys.push(key);
          for (let id: string | undefined; id === undefined && !isOver; ) {
            id = await create(key);
            if (id !== undefined) answered.set(key, id);
          }
        }
      };
      const clients = Promise.all(Array.from({ length: 5 }, client));
      await until('payments are created', () => answered.size > 50);
      await servers.primary.signal(fault === 'is killed' ? 'SIGKILL' : 'SIGSTOP');
      await servers.promoteStandby();
      const before = answered.size;
      await until('payments are created on the new primary', () => answered.size > before + 50);
      isOver = true;
      await clients;

      if (fault !== 'is killed') await servers.primary.signal('SIGCONT');
      const standby = connectTo(servers.standby.url);
      // Connections that break now find two servers that take writes.
      await standby`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = 'till' and pid <> pg_backend_pid()`;
      const late = freshKey();
      let lateId: string | undefined;
      await until('payments are created again', async () => {
        lateId = await create(late);
        return lateId !== undefined;
      });
      for (const key of keys) {
        const id = await create(key);
        assert.ok(id);
        if (answered.has(key)) assert.equal(id, answered.get(key), 'the answer stands');
        answered.set(key, id);
      }
      const ids = [...answered.values()];
      const stored = await standby`select id from payments where id = any(${ids}::text[])`;
      assert.equal(stored.length, keys.length, 'one payment for each key');
      if (fault !== 'is killed') {
        const old = connectTo(servers.primary.url);
        const found = await old`select from payments where id = ${lateId ?? ''}`;
        assert.equal(found.length, 0);
        await old.end();
      }
      await standby.end();
    });
  });
}
