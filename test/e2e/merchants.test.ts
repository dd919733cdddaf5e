import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';

describe('merchants', () => {
  let gateway: TestGateway;
  let headers: Record<string, string>;
  before(async () => {
    gateway = await startTestGateway();
    headers = (await createTestPartner(gateway)).headers;
  });
  after(() => gateway.stop());

  it('are created, read, changed and deleted', async () => {
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { merchantName: 'Café Zoë 🍩', merchantEmail: 'zoe@example.com' },
    });
    assert.equal(created.statusCode, 201);
    const { merchant } = created.json();
    assert.deepEqual(Object.keys(merchant), ['id', 'name', 'email', 'status', 'createdAt']);
    assert.match(merchant.id, /^mrch_[0-9A-HJKMNP-TV-Z]{26}$/);

    const url = `/v1/merchants/${merchant.id}`;
    const read = await gateway.call({ url, headers });
    assert.deepEqual(read.json().merchant, { ...merchant, iconUrl: null, settlements: { crypto: [], fiat: [] } });

    const payload = { iconUrl: 'https://example.com/logo.png', merchantName: 'שלום' };
    const changed = await gateway.call({ method: 'PATCH', url, headers, payload });
    assert.deepEqual(changed.json().merchant, { ...merchant, name: 'שלום', iconUrl: 'https://example.com/logo.png' });
    const unset = await gateway.call({ method: 'PATCH', url, headers, payload: { iconUrl: null } });
    assert.equal(unset.json().merchant.iconUrl, null);

    for (let times = 0; times < 2; times += 1) {
      const deleted = await gateway.call({ method: 'DELETE', url, headers });
      assert.deepEqual(deleted.json(), { id: merchant.id, deleted: true });
    }
    const gone = await gateway.call({ url, headers });
    assert.equal(gone.statusCode, 404);
    assert.equal(gone.json().code, 'merchant_not_found');
  });

  it('appear on pages that stay stable while others are added', async () => {
    const own = await createTestPartner(gateway);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.unshift((await createTestMerchant(gateway, own.headers)).id);
    const first = await gateway.call({ url: '/v1/merchants?limit=2', headers: own.headers });
    await createTestMerchant(gateway, own.headers);
    const seen = first.json().merchants.map(({ id }: { id: string }) => id);
    let cursor = first.json().nextCursor;
    while (cursor !== null) {
      const next = await gateway.call({ url: `/v1/merchants?limit=2&cursor=${cursor}`, headers: own.headers });
      seen.push(...next.json().merchants.map(({ id }: { id: string }) => id));
      cursor = next.json().nextCursor;
      assert.equal(next.json().totalCount, 6);
    }
    assert.deepEqual(seen, made);
  });
});
