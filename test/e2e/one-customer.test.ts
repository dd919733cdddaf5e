import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPayingShop, type PayingShop, result, USDC } from './paying-shop.ts';
import { happen } from './shop.ts';

describe('the customers of a merchant', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  it('are counted once, however a wallet spells its address', async () => {
    const payer = paying.newPayer({ [USDC]: 100_000_000n });
    for (const account of [payer.account, payer.account.toLowerCase()]) {
      const id = await paying.created({});
      const option = await paying.wallet.option(id, account, USDC);
      assert.equal(option.account, account, 'the wallet sees its own spelling');
      const confirmed = await paying.wallet.confirm(id, option.id, [result(await payer.sign(option))]);
      assert.equal(confirmed.statusCode, 200, confirmed.body);
    }
    // A payment of a version that kept the spelling.
    const old = await paying.created({});
    await happen(paying.gateway, old, 'confirmed');
    for (const table of ['payments', 'payment_customers', 'payment_day_customers']) {
      await paying.gateway.db.sql.unsafe(
        `update ${table} set buyer_account = '${payer.account.toLowerCase()}' where buyer_account not ilike '${payer.account}'`,
      );
    }
    const response = await paying.gateway.call({ url: '/v1/payments', headers: paying.shop.headers });
    assert.equal(response.json().stats.totalCustomers, 1, response.body);
  });
});
