import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MODES } from '../../src/domain/mode.ts';
import { NO_RATES } from '../../src/rates/rates.ts';
import { standInPage } from './checkout-page.ts';
import { EURC, openPayingShop, type PayingShop, SANDBOX } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const PATHS = ['/pos', '/dashboard'];
/** A live network with a dollar token and without a euro token. */
const OPTIMISM = 'eip155:10';

async function shownAt({ gateway }: PayingShop, path: string) {
  const { body } = await gateway.call({ url: path, headers: { host: 'localhost' } });
  const [, text = 'null'] = /id="state">(.*?)<\/script>/s.exec(body) ?? [];
  return (JSON.parse(text) as { currencies: { code: string; decimals: number; modes: string[] }[] }).currencies;
}

describe('the currencies to choose from', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ page: standInPage() });
  });
  after(() => paying.gateway.stop());

  for (const path of PATHS) {
    it(`of ${path} are those that somebody could pay, with the decimals of the gateway`, async () => {
      const currencies = await shownAt(paying, path);
      assert.deepEqual(
        currencies.slice(0, 2).map(({ code }) => code),
        ['USD', 'EUR'],
      );
      for (const { code, decimals } of currencies) {
        const value = `${10n ** BigInt(decimals)}00`;
        const id = await paying.created({ amount: { unit: `iso4217/${code}`, value } });
        const { amount } = (await paying.shop.details(id)).json();
        assert.equal(amount.display.decimals, decimals, code);
      }
      const codes = currencies.map(({ code }) => code);
      assert.equal(codes.includes('KPW'), false);
    });
  }
});

describe('the currencies of two modes', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ page: standInPage(), chainIds: [SANDBOX, OPTIMISM], rates: NO_RATES });
  });
  after(() => paying.gateway.stop());

  for (const path of PATHS) {
    it(`of ${path} are named with the modes whose payments take them, and no others`, async () => {
      const currencies = await shownAt(paying, path);
      assert.deepEqual(currencies, [
        { code: 'USD', decimals: 2, modes: ['test', 'live'] },
        { code: 'EUR', decimals: 2, modes: ['test'] },
      ]);
      for (const mode of MODES) {
        const shop = await openShop(paying.gateway, { mode });
        for (const { code, modes } of currencies) {
          const { statusCode } = await shop.create({
            amount: { unit: `iso4217/${code}`, value: '1000' },
            referenceId: `${mode}-${code}`,
          });
          assert.equal(statusCode, modes.includes(mode) ? 201 : 400, `${mode} ${code}`);
        }
      }
    });
  }
});

describe('the currencies of a merchant', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ page: standInPage(), chainIds: [SANDBOX, OPTIMISM], rates: NO_RATES });
  });
  after(() => paying.gateway.stop());

  const listed = async ({ merchant, headers }: Shop) => {
    const { currencies } = (
      await paying.gateway.call({ url: `/v1/merchants/${merchant.id}/currencies`, headers })
    ).json();
    return currencies.map(({ code }: { code: string }) => code);
  };

  it('are those that its accepted assets can pay', async () => {
    const { shop } = paying;
    assert.deepEqual(await listed(shop), ['USD', 'EUR']);
    const url = `/v1/merchants/${shop.merchant.id}`;
    const payload = { acceptedAssets: [EURC] };
    const { statusCode } = await paying.gateway.call({ method: 'PATCH', url, headers: shop.headers, payload });
    assert.equal(statusCode, 200);
    assert.deepEqual(await listed(shop), ['EUR']);
    for (const code of ['USD', 'EUR']) {
      const made = await shop.create({ amount: { unit: `iso4217/${code}`, value: '1000' }, referenceId: code });
      assert.equal(made.statusCode, code === 'EUR' ? 201 : 400, made.body);
    }
  });

  it('are those of its mode', async () => {
    assert.deepEqual(await listed(await openShop(paying.gateway, { mode: 'live' })), ['USD']);
  });
});
