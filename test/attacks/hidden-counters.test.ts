import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserOf, ofMerchant, signIn } from '../e2e/people-scene.ts';
import { openShop, type Shop } from '../e2e/shop.ts';
import { createTestKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { openApi } from '../openapi.ts';

describe('somebody who would count the work of others', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());

  async function ownerOf({ partner, merchant }: Shop) {
    const { headers } = await signIn(gateway, { belonging: ofMerchant(partner.id, merchant.id), role: 'owner' });
    return browserOf(gateway, headers);
  }
  type Browser = Awaited<ReturnType<typeof ownerOf>>;
  const idsOf = async (call: Browser, url: string, list: string): Promise<string[]> =>
    (await call('GET', url)).json()[list].map(({ id }: { id: string }) => id);

  it('finds no number of all partners in the ids of the audit log and of the log of requests', async () => {
    const shop = await openShop(gateway);
    const owner = await ownerOf(shop);
    const key = { merchantIds: [shop.merchant.id] };
    const { secret } = await createTestKey(gateway, shop.partner.id, { key });
    await gateway.call({ url: '/v1/payments', headers: { 'api-key': secret } });
    await gateway.requestLog.flush(gateway);
    for (const [url, list] of [
      ['/v1/audit-log', 'entries'],
      ['/v1/request-log', 'requests'],
    ] as const) {
      const ids = await idsOf(owner, url, list);
      assert.ok(ids.length > 0);
      assert.equal(new Set(ids).size, ids.length);
      for (const id of ids) {
        assert.doesNotMatch(id, /^\d+$/);
        assert.doesNotMatch(Buffer.from(id, 'base64url').toString('latin1'), /"\d+"/);
      }
      const again = await idsOf(owner, url, list);
      assert.deepEqual(
        ids.filter((id) => !again.includes(id)),
        [],
        'the same entry has the same id',
      );
    }
  });

  it('finds no such id in any answer that the API describes', () => {
    const found: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        // Networks have numbers that everybody knows.
        const isId = /^id$|Id$/.test(name) && !['networkId', 'chainId'].includes(name);
        if (isId && /^\d+$/.test(String(member))) found.push(`${at}.${name}: ${member}`);
        walk(member, `${at}.${name}`);
      }
    };
    for (const [path, methods] of Object.entries(openApi.paths)) walk(methods, path);
    assert.deepEqual(found, []);
  });
});
