import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_RATES, type Rates } from '../../src/rates/rates.ts';
import { freshKey } from '../gateway.ts';
import {
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  BASE_USDC,
  EURC,
  openPayingShop,
  type PayingShop,
  SANDBOX,
  USDC,
} from './paying-shop.ts';
import { countPayments, happen, ORDER, openShop, payer as walletOf } from './shop.ts';

const price = (currency: string) => ({ amount: { unit: `iso4217/${currency}`, value: '1000' } });
const inToken = (asset: string) => ({ amount: { unit: `caip19/${asset}`, value: '1000' } });

/** Sources for a dollar in euros, which do not answer now. */
const SILENT_RATES: Rates = {
  rateOf: () => undefined,
  wasInForce: () => false,
  covers: (base, quote) => base === 'USD' && quote === 'EUR',
};

describe('an unpayable payment', () => {
  let dollars: PayingShop;
  let silent: PayingShop;
  before(async () => {
    dollars = await openPayingShop({ chainIds: [BASE_SEPOLIA], rates: NO_RATES });
    silent = await openPayingShop({ chainIds: [BASE_SEPOLIA], rates: SILENT_RATES });
  });
  after(async () => {
    await dollars.gateway.stop();
    await silent.gateway.stop();
  });

  it('is refused with the reason: no token is pegged to the currency, and no rate source has it', async () => {
    const { gateway, shop } = dollars;
    for (const currency of ['EUR', 'JPY']) {
      const key = { 'idempotency-key': freshKey() };
      const response = await shop.create({ ...ORDER, ...price(currency) }, key);
      assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation'], response.body);
      const [issue, ...others] = response.json().issues;
      assert.deepEqual([issue.field, others.length], ['amount.unit', 0]);
      assert.match(issue.message, new RegExp(`${currency}.*rate source`));
      assert.equal(await countPayments(gateway, shop.merchant.id), 0);
    }
    assert.equal((await shop.create({ ...ORDER, ...price('USD') })).statusCode, 201, 'a dollar token pays dollars');
  });

  it('is refused when its token is on a network that is not served', async () => {
    const response = await dollars.shop.create({ ...ORDER, ...inToken(USDC) });
    assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
    assert.match(response.json().message, /amount\.unit .*network/);
    assert.equal((await dollars.shop.create({ ...ORDER, ...inToken(BASE_SEPOLIA_USDC) })).statusCode, 201);
  });

  it('is not the result of an outage, of rates or of a chain', async () => {
    assert.equal((await silent.shop.create({ ...ORDER, ...price('EUR') })).statusCode, 201);
    assert.equal((await silent.shop.create({ ...ORDER, ...price('JPY') })).statusCode, 400);
    const { control, settings } = silent.network(BASE_SEPOLIA);
    control.goDown();
    settings.withheld.add(BASE_SEPOLIA_USDC);
    assert.equal((await silent.shop.create({ ...ORDER, ...price('USD') })).statusCode, 201);
    control.comeBack();
    settings.withheld.clear();
  });

  it('is accepted by a test key in a live token, and in a mode whose networks are yet to be set up', async () => {
    assert.equal((await dollars.shop.create({ ...ORDER, ...inToken(BASE_USDC) })).statusCode, 201);
    const live = await openShop(dollars.gateway, { mode: 'live' });
    assert.equal((await live.create({ ...ORDER, ...price('EUR') })).statusCode, 201);
  });
});

describe('the accepted assets of a payment', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA] });
  });
  after(() => paying.gateway.stop());

  const on = (networkName: string, ...symbols: string[]) => symbols.map((symbol) => ({ symbol, networkName }));
  const info = async (id: string) => {
    const response = await paying.wallet.options(id, [paying.newPayer().account], '?includePaymentInfo=true');
    assert.deepEqual(response.json().options, []);
    return response.json().info;
  };

  it('are shown to a payer without any of them, with the options and with the payment', async () => {
    const id = await paying.created();
    const expected = [...on('Till Sandbox', 'ETH', 'USDC', 'EURC', 'USDT'), ...on('Base Sepolia', 'USDC')];
    assert.deepEqual((await info(id)).accepted, expected);
    const wallet = walletOf(paying.gateway, { 'api-key': paying.shop.secret });
    assert.deepEqual((await wallet.info(id)).json().accepted, expected);
  });

  it('are its own token alone for a payment priced in a token', async () => {
    assert.deepEqual((await info(await paying.created(inToken(EURC)))).accepted, on('Till Sandbox', 'EURC'));
  });

  it('omit assets that failed the check of their chain, and assets without a rate', async () => {
    const { settings } = paying.network();
    settings.withheld.add(USDC);
    const accepted = (await info(await paying.created())).accepted;
    settings.withheld.clear();
    assert.deepEqual(accepted, [...on('Till Sandbox', 'ETH', 'EURC', 'USDT'), ...on('Base Sepolia', 'USDC')]);
    const unrated = await openPayingShop({ rates: SILENT_RATES });
    try {
      const response = await unrated.wallet.options(
        await unrated.created(price('EUR')),
        [unrated.newPayer().account],
        '?includePaymentInfo=true',
      );
      assert.deepEqual(response.json().info.accepted, on('Till Sandbox', 'EURC'));
    } finally {
      await unrated.gateway.stop();
    }
  });

  it('are not shown for a payment that cannot be paid any more', async () => {
    const id = await paying.created();
    await happen(paying.gateway, id, 'confirmed');
    assert.equal('accepted' in (await info(id)), false);
  });
});
