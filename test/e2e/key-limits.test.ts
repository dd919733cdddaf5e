import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { rotateKey } from '../../src/actions/parties/issue-key.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { listApiKeys } from '../../src/store/parties/api-keys.ts';
import { listAudit } from '../../src/store/plumbing/audit-log.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { migrate } from '../../src/store/plumbing/migrate.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { readOlderVersion, restoreDatabase } from '../older-version.ts';

describe('the limits of an API key', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ config: { trustProxy: ['10.0.0.0/8'] } });
  });
  after(() => gateway.stop());

  const list = async (secret: string, remoteAddress: string, forwarded?: string, on = gateway) => {
    const headers = { 'api-key': secret, ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) };
    const { statusCode, body } = await on.call({ url: '/v1/merchants', headers, remoteAddress });
    return { status: statusCode, code: JSON.parse(body).code, message: JSON.parse(body).message };
  };

  it('are the addresses it works from, seen behind trusted proxies only', async () => {
    const addresses = ['203.0.113.7', '198.51.100.0/24', '2001:db8:1::/48'];
    const { secret, key } = await createTestPartner(gateway, { key: { addresses } });
    for (const [address, forwarded] of [
      ['203.0.113.7'],
      ['::ffff:203.0.113.7'],
      ['198.51.100.255'],
      ['2001:db8:1:ffff::1'],
      ['10.0.0.1', '203.0.113.7'],
    ] as const) {
      assert.equal((await list(secret, address, forwarded)).status, 200, `${address} ${forwarded}`);
    }
    for (const [address, forwarded] of [
      ['203.0.113.8'],
      ['10.0.0.1'],
      ['2001:db8:2::1'],
      ['10.0.0.1', '192.0.2.1'],
      // Not a trusted proxy: its word does not count.
      ['192.0.2.66', '203.0.113.7'],
      ['10.0.0.1', '203.0.113.7, 192.0.2.66'],
    ] as const) {
      const answer = await list(secret, address, forwarded);
      assert.deepEqual([answer.status, answer.code], [403, 'forbidden'], `${address} ${forwarded}`);
      assert.match(answer.message, /may not be used from the address/);
    }
    const successor = await rotateKey(gateway, { actor: 'test', keyId: key.id, overlapMs: 0, expiresAt: null });
    assert.deepEqual(successor.key.addresses, addresses, 'a successor has the same addresses');
    assert.equal((await list(successor.secret, '203.0.113.8')).status, 403);
  });

  it('keep a stranger who has the key from using up the limit of its owner', async () => {
    const config = { keyRequestsPerSecond: 2, addressRequestsPerSecond: 3 };
    const limited = await startTestGateway({ world: manualTime(), config });
    const { secret } = await createTestPartner(limited, { key: { addresses: ['203.0.113.7'] } });
    const statuses = [];
    for (let count = 0; count < 5; count += 1) {
      statuses.push((await list(secret, '192.0.2.66', undefined, limited)).status);
    }
    assert.deepEqual(statuses.slice(-2), [429, 429], 'the stranger is limited by address');
    assert.equal((await list(secret, '203.0.113.7', undefined, limited)).status, 200);
    assert.equal((await list(secret, '203.0.113.7', undefined, limited)).status, 200, 'the owner has the whole limit');
    const metrics = await limited.metrics.registry.metrics();
    assert.match(metrics, /till_http_refusals_total\{reason="address_not_allowed"\} [1-9]/);
    await limited.stop();
  });

  it('part destinations from the other data of merchants', async () => {
    const { partner, headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const asset = 'eip155:1/slip44:60';
    const attempts = async (...scopes: Scope[]) => {
      const { secret } = await createTestKey(gateway, partner.id, { key: { scopes } });
      const as = { 'api-key': secret, 'idempotency-key': freshKey() };
      const register = await gateway.call({
        method: 'POST',
        url: `/v1/merchants/${id}/settlements/crypto`,
        headers: as,
        payload: { settlements: [{ asset, destination: `eip155:1:0x${'1'.repeat(40)}` }] },
      });
      const rename = await gateway.call({
        method: 'PATCH',
        url: `/v1/merchants/${id}`,
        headers: as,
        payload: { merchantName: 'Renamed' },
      });
      return [register.statusCode, rename.statusCode];
    };
    assert.deepEqual(await attempts('merchants:read', 'payments:write', 'refunds:write'), [403, 403]);
    assert.deepEqual(await attempts('merchants:write'), [403, 200], 'a thief of this key cannot redirect money');
    assert.deepEqual(await attempts('destinations:write'), [201, 403]);
  });

  it('stay what they were for keys of an older version: who could change destinations still can', async () => {
    const older = await readOlderVersion('d940b99');
    const database = await restoreDatabase(older);
    const db = openDatabase({ url: database.url, poolSize: 1, applicationName: 'till-test' });
    const scopesBefore = { writer: ['merchants:read', 'merchants:write'], reader: ['merchants:read'], all: null };
    await db.begin(systemWorld.random, async (tx) => {
      for (const [id, scopes] of Object.entries(scopesBefore)) {
        await tx`
          insert into api_keys (id, partner_id, mode, hash, hint, label, scopes, created_at)
          select ${id}, id, 'test', ${id}, 'hint', 'Older', ${scopes}, now() from partners limit 1`;
      }
    });
    await migrate({ log: pino({ level: 'silent' }) }, database.url);
    const keys = (await listApiKeys(db.sql, {})).filter(({ label }) => label === 'Older');
    assert.deepEqual(Object.fromEntries(keys.map(({ id, scopes }) => [id, scopes])), {
      writer: ['merchants:read', 'merchants:write', 'destinations:write'],
      reader: ['merchants:read'],
      all: null,
    });
    assert.ok(keys.every(({ addresses }) => addresses === null));
    const [entry] = await listAudit(db.sql, { limit: 1 });
    assert.deepEqual([entry?.origin, entry?.databaseUser], [{}, null], 'an older entry has no origin');
    await db.close();
    await database.drop();
  });
});
