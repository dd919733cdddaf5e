import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import {
  BASE_SEPOLIA,
  DESTINATION,
  ETH,
  openPayingShop,
  type PayingShop,
  refusal,
  result,
  SANDBOX,
  USDC,
} from '../e2e/paying-shop.ts';
import { happen, ORDER, openShop, type Shop } from '../e2e/shop.ts';
import { freshKey, startTestGateway } from '../gateway.ts';
import { WAYS_TO_STOP } from './stopping.ts';

const FUNDS = { [USDC]: 10_000_000n, [ETH]: 10n ** 18n };
const BY = { actor: 'operator', reason: 'a bridge was hacked' };

describe('a thief with the key of a stopped merchant', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA] });
  });
  after(() => paying.gateway.stop());

  const stoppedOf = (shop: Shop) => ({ merchantId: shop.merchant.id, partnerId: shop.partner.id });
  /** Every node has read its rows again by then. */
  const later = () => paying.time.advance(5_000);
  const settlements = (shop: Shop, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path = '', payload?: object) =>
    paying.gateway.call({
      method,
      url: `/v1/merchants/${shop.merchant.id}/settlements${path}`,
      headers: { ...shop.headers, ...(method === 'POST' && { 'idempotency-key': freshKey() }) },
      ...(payload && { payload }),
    });
  const pair = { asset: USDC, destination: `${SANDBOX}:${DESTINATION}` };

  for (const { name, stop, release } of WAYS_TO_STOP) {
    it(`creates no payment and changes no destination while it is ${name}`, async () => {
      const shop = await openShop(paying.gateway);
      const registered = await settlements(shop, 'POST', '/crypto', { settlements: [pair] });
      const [{ id }] = registered.json().settlements;
      await stop(paying.gateway, stoppedOf(shop));
      assert.deepEqual(await refusal(shop.create(ORDER)), [403, 'forbidden']);
      const other = { destination: `${SANDBOX}:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed` };
      const attempts = [
        settlements(shop, 'POST', '/crypto', { settlements: [{ ...pair, asset: ETH }] }),
        settlements(shop, 'PUT', `/crypto/${id}`, other),
        settlements(shop, 'DELETE', `/crypto/${id}`),
      ];
      for (const attempt of attempts) assert.deepEqual(await refusal(attempt), [403, 'forbidden']);
      assert.deepEqual((await settlements(shop, 'GET')).json().crypto, [{ id, ...pair }]);
      await release(paying.gateway, stoppedOf(shop));
      await later();
      assert.equal((await shop.create(ORDER)).statusCode, 201);
      assert.equal((await settlements(shop, 'PUT', `/crypto/${id}`, other)).statusCode, 200);
    });

    it(`gets no option and no signature accepted while it is ${name}, and payers see the reason`, async () => {
      const shop = await openShop(paying.gateway);
      const payer = paying.newPayer(FUNDS);
      const id = await paying.created({}, shop);
      const option = await paying.wallet.option(id, payer.account, USDC);
      const coin = await paying.wallet.option(id, payer.account, ETH);
      const signature = await payer.sign(option);
      await stop(paying.gateway, stoppedOf(shop));
      const confirm = () => paying.wallet.confirm(id, option.id, [result(signature)]);
      // The transaction that would accept it reads the freeze, whatever the node has in memory.
      assert.deepEqual(await refusal(confirm()), [400, 'invalid_state']);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, coin.id)), [400, 'invalid_state']);
      await later();
      assert.deepEqual(await refusal(confirm()), [400, 'invalid_state']);
      const { options, info } = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
      assert.deepEqual(options, []);
      assert.deepEqual([info.status, info.accepted, info.stopped.reason], ['requires_action', [], 'merchant_stopped']);
      assert.match(info.stopped.message, /takes no payments/);
      assert.equal((await paying.payment(id)).status, 'requires_action');
      await release(paying.gateway, stoppedOf(shop));
      await later();
      assert.equal((await confirm()).json().status, 'processing');
      assert.equal((await confirm()).statusCode, 200, 'an accepted confirmation can be repeated');
      await stop(paying.gateway, stoppedOf(shop));
      await later();
      assert.equal((await confirm()).json().status, 'processing', 'also while the merchant is stopped');
    });

    it(`refunds nothing while it is ${name}`, async () => {
      const shop = await openShop(paying.gateway);
      const { paymentId } = await shop.created();
      await happen(paying.gateway, paymentId, 'confirmed', 'succeeded');
      await stop(paying.gateway, stoppedOf(shop));
      const refund = paying.gateway.call({
        method: 'POST',
        url: '/v1/refunds',
        headers: shop.headers,
        payload: { paymentId },
      });
      assert.deepEqual(await refusal(refund), [403, 'forbidden']);
    });
  }

  it('is stopped on every other node within five seconds', async () => {
    const other = await startTestGateway({ ...paying.wiring, databaseUrl: paying.gateway.databaseUrl });
    try {
      const shop = await openShop(paying.gateway);
      const payer = paying.newPayer(FUNDS);
      const id = await paying.created({}, shop);
      const options = () =>
        other.call({
          method: 'POST',
          url: `/v1/gateway/payment/${id}/options`,
          headers: { 'api-key': shop.secret },
          payload: { accounts: [payer.account] },
        });
      assert.notDeepEqual((await options()).json().options, []);
      await freeze(paying.gateway, { scope: 'merchant', subject: shop.merchant.id, ...BY });
      await later();
      assert.deepEqual((await options()).json().options, []);
    } finally {
      await other.stop();
    }
  });

  it('cannot use a frozen network, while others go on', async () => {
    const shop = await openShop(paying.gateway);
    const payer = paying.newPayer(FUNDS);
    const id = await paying.created({}, shop);
    const option = await paying.wallet.option(id, payer.account, USDC);
    const signature = await payer.sign(option);
    const network = { scope: 'network', subject: SANDBOX, ...BY } as const;
    await freeze(paying.gateway, network);
    const confirm = () => refusal(paying.wallet.confirm(id, option.id, [result(signature)]));
    for (const wait of [async () => {}, later]) {
      await wait();
      assert.deepEqual(await confirm(), [409, 'executor_not_found'], 'the wallet asks for options again');
    }
    const { options, info } = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
    assert.deepEqual(options, []);
    assert.equal(info.stopped, undefined);
    assert.deepEqual(
      [...new Set(info.accepted.map((token: { networkName: string }) => token.networkName))],
      ['Base Sepolia'],
    );
    const second = { ...network, subject: BASE_SEPOLIA };
    await freeze(paying.gateway, second);
    await later();
    const all = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
    assert.deepEqual([all.info.accepted, all.info.stopped.reason], [[], 'networks_stopped']);
    await unfreeze(paying.gateway, network);
    await unfreeze(paying.gateway, second);
    await later();
    assert.equal((await paying.wallet.confirm(id, option.id, [result(signature)])).json().status, 'processing');
  });
});
