import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createTestMerchant } from '../gateway.ts';
import { until } from '../until.ts';
import { browserOf, invite, ofMerchant, ofPartner, signIn } from './people-scene.ts';
import { ORDER, openShop } from './shop.ts';
import { newCourier, openWebhookScene, type WebhookScene } from './webhook-scene.ts';

describe('a merchant of a partner', () => {
  let scene: WebhookScene;
  before(async () => {
    scene = await openWebhookScene();
  });
  after(() => scene.close());
  afterEach(() => scene.receiver.answerWith());

  /** A partner with merchants A and B, each with a developer, and an owner of the partner. */
  async function stage() {
    const { gateway } = scene;
    const shop = await openShop(gateway);
    const partnerId = shop.partner.id;
    const second = await createTestMerchant(gateway, shop.headers);
    const developerOf = async (merchantId: string) =>
      browserOf(
        gateway,
        (await signIn(gateway, { belonging: ofMerchant(partnerId, merchantId), role: 'owner' })).headers,
      );
    const boss = browserOf(
      gateway,
      (await signIn(gateway, { belonging: ofPartner(partnerId), role: 'owner' })).headers,
    );
    const [a, b] = [await developerOf(shop.merchant.id), await developerOf(second.id)];
    return { shop, partnerId, a, b, boss, aId: shop.merchant.id, bId: second.id };
  }
  type Browser = ReturnType<typeof browserOf>;
  /** Posts until it is refused, and returns the number that were accepted. */
  async function fill(call: Browser, url: string, payload: () => object): Promise<number> {
    for (let count = 0; count < 150; count += 1) {
      const response = await call('POST', url, payload());
      if (response.statusCode === 409) return count;
      assert.equal(response.statusCode, 201, response.body);
    }
    return 150;
  }

  it('cannot use up the webhook endpoints of others', async () => {
    const { a, b, boss, aId } = await stage();
    const endpoint = () => ({ url: `${scene.receiver.origin}/quota`, events: ['payment.*'] });
    assert.equal(await fill(a, '/v1/webhook-endpoints', endpoint), 5);
    assert.equal(await fill(b, '/v1/webhook-endpoints', endpoint), 5);
    assert.equal(await fill(boss, '/v1/webhook-endpoints', endpoint), 20);
    const [own] = (await a('GET', '/v1/webhook-endpoints')).json().webhookEndpoints;
    assert.equal((await a('DELETE', `/v1/webhook-endpoints/${own.id}`)).statusCode, 200);
    const listed = (await boss('GET', '/v1/webhook-endpoints')).json().webhookEndpoints;
    const wide = listed.filter(({ merchantIds }: { merchantIds: string[] | null }) => merchantIds === null);
    const narrow = (id: string) => boss('PATCH', `/v1/webhook-endpoints/${id}`, { merchantIds: [aId] });
    assert.equal((await narrow(wide[0].id)).statusCode, 200);
    assert.equal((await narrow(wide[1].id)).statusCode, 409, 'a change counts as well');
  });

  it('cannot use up the keys of others, and rotates its own at every limit', async () => {
    const { a, b, boss } = await stage();
    const key = () => ({ label: 'Shop', scopes: ['payments:read'] });
    assert.equal(await fill(a, '/v1/api-keys', key), 20);
    assert.equal((await b('POST', '/v1/api-keys', key())).statusCode, 201);
    assert.equal((await boss('POST', '/v1/api-keys', key())).statusCode, 201);
    const [first] = (await a('GET', '/v1/api-keys')).json().apiKeys;
    let id = first.id;
    for (let turn = 0; turn < 5; turn += 1) {
      const rotated = await a('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 3_600 });
      assert.equal(rotated.statusCode, 201, rotated.body);
      id = rotated.json().apiKey.id;
    }
    const beyond = await a('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 3_600 });
    assert.equal(beyond.statusCode, 409, 'five keys of one line work beside their successor');
    assert.equal((await a('POST', '/v1/api-keys', key())).statusCode, 409, 'a rotation frees no place');
    const again = await a('POST', `/v1/api-keys/${first.id}/rotate`, { overlapSeconds: 3_600 });
    assert.equal(again.json().code, 'invalid_state', 'a key has one successor in force');
  });

  it('cannot hide the people of its partner behind its own, nor invite without an end', async () => {
    const { a, boss, partnerId, aId } = await stage();
    for (let count = 0; count < 199; count += 1) {
      await invite(scene.gateway, { belonging: ofMerchant(partnerId, aId), role: 'cashier' });
    }
    const person = { name: 'Ada', email: 'ada-of-quotas@shop.example', role: 'cashier' };
    assert.equal((await a('POST', '/v1/people', person)).statusCode, 409);
    await invite(scene.gateway, { belonging: ofPartner(partnerId), name: 'Late', role: 'support' });
    const seen: { merchantId: string | null }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await boss('GET', `/v1/people?limit=50${query}`)).json();
      assert.ok(page.people.length <= 50);
      seen.push(...page.people);
      cursor = page.nextCursor;
    }
    assert.equal(seen.length, 203);
    assert.deepEqual(
      seen.slice(0, 3).map(({ merchantId }) => merchantId),
      [null, null, seen[2]?.merchantId],
      'the people of the partner come first',
    );
  });

  it('gets its webhooks while the endpoints of others keep all places of the partner busy', async () => {
    const { shop, b, bId } = await stage();
    const slow = Array.from({ length: 20 }, (_, index) => `/slow-${index}`);
    for (const path of slow) await scene.subscribe(shop.headers, path, { events: ['payment.created'] });
    for (let count = 0; count < 12; count += 1) await shop.created();
    await scene.fanOut();
    const held: (() => void)[] = [];
    scene.receiver.answerWith((request, response) => {
      if (slow.includes(request.path)) held.push(() => response.end());
      else response.end();
    });
    const courier = newCourier(scene.gateway);
    await courier.takeDue();
    await until('the places of the partner are in use', () => held.length === 128);
    const made = await b('POST', '/v1/webhook-endpoints', {
      url: `${scene.receiver.origin}/of-b`,
      events: ['payment.created'],
    });
    assert.equal(made.statusCode, 201, made.body);
    const ordered = await scene.call('POST', '/v1/payments', { ...shop.headers, 'merchant-id': bId }, ORDER);
    assert.equal(ordered.statusCode, 201, ordered.body);
    await scene.fanOut();
    await courier.takeDue();
    await until('the other merchant has its event', () => scene.receiver.at('/of-b').length === 1);
    assert.equal(held.length, 128, 'none of the slow ones has answered');
    for (const release of held.splice(0)) release();
    scene.receiver.answerWith();
    await courier.stop();
  });
});
