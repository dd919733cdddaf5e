import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recheckRefusals } from '../../src/actions/outgoing/check/recheck-refusals.ts';
import { revokeKey, rotateKey } from '../../src/actions/parties/issue-key.ts';
import { adoptKeys } from '../../src/actions/parties/key-rows.ts';
import { formatApiKey, hashApiKey } from '../../src/domain/api-key.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { connectTo, type TestConnection } from '../database.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { until } from '../until.ts';

const FAR = new Date('2100-01-01T00:00:00Z');

describe('an attacker who writes API keys into the database', () => {
  let gateway: TestGateway;
  let sql: TestConnection;
  let partner: Awaited<ReturnType<typeof createTestPartner>>;
  let other: Awaited<ReturnType<typeof createTestPartner>>;
  before(async () => {
    gateway = await startTestGateway();
    sql = connectTo(gateway.databaseUrl);
    partner = await createTestPartner(gateway);
    other = await createTestPartner(gateway);
  });
  after(async () => {
    await sql.end();
    await gateway.stop();
  });

  /** The answer to a read with this key, as the database is this moment. */
  async function read(secret: string): Promise<number> {
    gateway.keys.forget(hashApiKey(secret));
    return (await gateway.call({ url: '/v1/merchants', headers: { 'api-key': secret } })).statusCode;
  }
  const alertsAbout = async (id: string) => (await listAlerts(sql)).filter(({ subject }) => subject === id);
  async function assertRefused(secret: string, id: string): Promise<void> {
    assert.equal(await read(secret), 401);
    await until('an alert names the key', async () => (await alertsAbout(id))[0]?.name === 'key_refused');
  }
  /** Puts a row of api_keys in the state of an earlier copy. */
  const putBack = (id: string, row: unknown) => sql`
    update api_keys set (scopes, merchant_ids, addresses, expires_at, revoked_at, mac) = (
      select scopes, merchant_ids, addresses, expires_at, revoked_at, mac
      from jsonb_populate_record(null::api_keys, ${sql.json(row as never)}::jsonb))
    where id = ${id}`;
  const copyOf = async (id: string) => (await sql`select to_jsonb(k) as row from api_keys k where id = ${id}`)[0]?.row;

  it('has no key of its own accepted', async () => {
    const secret = formatApiKey('test', new Uint8Array(24).fill(3));
    await sql`
      insert into api_keys (id, partner_id, mode, hash, hint, label, created_at)
      values ('key_forged', ${partner.partner.id}, 'test', ${hashApiKey(secret)}, 'hint', 'Forged', now())`;
    await assertRefused(secret, 'key_forged');
    await sql`update api_keys set mac = (select mac from api_keys where id = ${partner.key.id}) where id = 'key_forged'`;
    await assertRefused(secret, 'key_forged');
  });

  it('does not have it accepted at a later start: keys of an older version are taken over once', async () => {
    await sql`update api_keys set mac = null where id = 'key_forged'`;
    await adoptKeys(gateway);
    assert.equal(await read(formatApiKey('test', new Uint8Array(24).fill(3))), 401);
  });

  for (const [name, change] of [
    ['scopes', (id: string) => sql`update api_keys set scopes = null where id = ${id}`],
    ['merchants', (id: string) => sql`update api_keys set merchant_ids = null where id = ${id}`],
    ['addresses', (id: string) => sql`update api_keys set addresses = null where id = ${id}`],
    ['end', (id: string) => sql`update api_keys set expires_at = null where id = ${id}`],
    ['mode', (id: string) => sql`update api_keys set mode = 'live' where id = ${id}`],
    ['partner', (id: string) => sql`update api_keys set partner_id = ${other.partner.id} where id = ${id}`],
    [
      'secret',
      (id: string) =>
        sql`update api_keys set hash = ${hashApiKey(formatApiKey('test', new Uint8Array(24).fill(4)))} where id = ${id}`,
    ],
  ] as const) {
    it(`gets nothing by a change of the ${name} of a key, which works again when the change is taken back`, async () => {
      const merchant = await createTestMerchant(gateway, partner.headers);
      const limits = { scopes: ['merchants:read'], merchantIds: [merchant.id], addresses: ['127.0.0.1'] } as const;
      const { key, secret } = await createTestKey(gateway, partner.partner.id, { key: { ...limits, expiresAt: FAR } });
      assert.equal(await read(secret), 200);
      const [before] =
        await sql`select mode, partner_id, hash, to_jsonb(k) as row from api_keys k where id = ${key.id}`;
      await change(key.id);
      await assertRefused(name === 'secret' ? formatApiKey('test', new Uint8Array(24).fill(4)) : secret, key.id);
      await sql`
        update api_keys set mode = ${before?.mode}, partner_id = ${before?.partner_id}, hash = ${before?.hash}
        where id = ${key.id}`;
      await putBack(key.id, before?.row);
      assert.equal(await read(secret), 200);
      await recheckRefusals(gateway);
      assert.deepEqual(await alertsAbout(key.id), []);
    });
  }

  it('brings no revoked or replaced key back, not even by an older copy of its row', async () => {
    const revoked = await createTestKey(gateway, partner.partner.id);
    const replaced = await createTestKey(gateway, partner.partner.id);
    const copies = await Promise.all([copyOf(revoked.key.id), copyOf(replaced.key.id)]);
    await revokeKey(gateway, { actor: 'test', keyId: revoked.key.id });
    await rotateKey(gateway, { actor: 'test', keyId: replaced.key.id, overlapMs: 0, expiresAt: null });
    await putBack(revoked.key.id, copies[0]);
    await putBack(replaced.key.id, copies[1]);
    assert.deepEqual([await read(revoked.secret), await read(replaced.secret)], [401, 401]);
    for (const statement of [
      'delete from api_key_ends',
      'update api_key_ends set at = now()',
      'truncate api_key_ends',
    ]) {
      await assert.rejects(sql.unsafe(statement), /are never changed/, statement);
    }
  });

  it('does not keep an operator from revoking a key, by marking it as revoked for a moment', async () => {
    const { key, secret } = await createTestKey(gateway, partner.partner.id);
    await sql`update api_keys set revoked_at = now() where id = ${key.id}`;
    await revokeKey(gateway, { actor: 'test', keyId: key.id });
    await sql`update api_keys set revoked_at = null where id = ${key.id}`;
    assert.equal(await read(secret), 401);
  });

  it('gets no successor with the rights that it has given to a key', async () => {
    const { key } = await createTestKey(gateway, partner.partner.id, { key: { scopes: ['payments:read'] } });
    await sql`update api_keys set scopes = null where id = ${key.id}`;
    const rotation = rotateKey(gateway, { actor: 'test', keyId: key.id, overlapMs: 0, expiresAt: null });
    await assert.rejects(rotation, { code: 'invalid_state' });
    await revokeKey(gateway, { actor: 'test', keyId: key.id });
  });
});
