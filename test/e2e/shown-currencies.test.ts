import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { standInPage } from './checkout-page.ts';
import { openPayingShop, type PayingShop } from './paying-shop.ts';

describe('the currencies to choose from', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ page: standInPage() });
  });
  after(() => paying.gateway.stop());

  for (const path of ['/pos', '/dashboard']) {
    it(`of ${path} are those that somebody could pay, with the decimals of the gateway`, async () => {
      const { body } = await paying.gateway.call({ url: path, headers: { host: 'localhost' } });
      const [, text = 'null'] = /id="state">(.*?)<\/script>/s.exec(body) ?? [];
      const { currencies } = JSON.parse(text) as { currencies: { code: string; decimals: number }[] };
      assert.deepEqual(currencies.slice(0, 2), [
        { code: 'USD', decimals: 2 },
        { code: 'EUR', decimals: 2 },
      ]);
      const codes = currencies.map(({ code }) => code);
      for (const { code, decimals } of currencies) {
        const value = (10n ** BigInt(decimals)).toString();
        await paying.created({ amount: { unit: `iso4217/${code}`, value: `${value}00` } });
      }
      assert.equal(codes.includes('KPW'), false);
    });
  }
});
