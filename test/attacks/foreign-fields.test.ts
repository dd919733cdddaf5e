import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ETH, openPayingShop, type PayingShop } from '../e2e/paying-shop.ts';
import { browserOf, ofMerchant, ofPartner, signIn } from '../e2e/people-scene.ts';
import { createTestMerchant, createTestPartner } from '../gateway.ts';

describe('a field that the request does not have', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  it('shows nobody the audit log of another partner or merchant', async () => {
    const { gateway, shop } = paying;
    const other = await createTestPartner(gateway);
    const sibling = await createTestMerchant(gateway, { 'api-key': shop.secret });
    const { headers: victim } = await signIn(gateway, { belonging: ofMerchant(shop.partner.id, shop.merchant.id) });
    await browserOf(gateway, victim)('DELETE', '/v1/sessions/current');
    const stranger = await signIn(gateway, { belonging: ofPartner(other.partner.id) });
    const neighbour = await signIn(gateway, { belonging: ofMerchant(shop.partner.id, sibling.id) });
    for (const { headers } of [stranger, neighbour]) {
      for (const query of [`partnerId=${shop.partner.id}`, `merchantId=${shop.merchant.id}`, 'since=2020-01-01']) {
        const response = await browserOf(gateway, headers)('GET', `/v1/audit-log?${query}`);
        assert.equal(response.statusCode, 400, response.body);
        assert.deepEqual(
          [response.json().code, response.json().issues[0].field],
          ['params_validation', query.split('=')[0]],
        );
      }
    }
  });

  it('does not stand in for the payment that fetch and confirm have found', async () => {
    const { gateway, shop, wallet, created, newPayer } = paying;
    const payer = newPayer({ [ETH]: 10n ** 20n });
    const id = await created();
    const { id: optionId } = await wallet.option(id, payer.account, ETH);
    const found = await gateway.readPayment(id);
    assert.ok(found);
    await shop.cancel(id);
    const asText = JSON.parse(
      JSON.stringify(found, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)),
    );
    const answers = async (more: object) => {
      const fetched = await wallet.post(id, 'fetch', { optionId, data: '', ...more });
      const confirmed = await wallet.post(id, 'confirm', { optionId, results: [], ...more });
      return [fetched, confirmed].map(({ statusCode, body }) => [statusCode, body]);
    };
    const plain = await answers({});
    assert.deepEqual(
      plain.map(([status]) => status),
      [400, 200],
    );
    for (const more of [{ payment: asText }, { payment: {} }, { payment: null }, { buyer: null, actor: 'key:other' }]) {
      assert.deepEqual(await answers(more), plain);
    }
  });
});
