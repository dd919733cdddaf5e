import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import type { EventView } from '../../src/http/views/event.ts';
import { findPartner } from '../../src/store/parties/partners.ts';
import { freshKey } from '../gateway.ts';
import { until } from '../until.ts';
import { paymentIn, standInPage } from './checkout-page.ts';
import {
  BASE,
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  BASE_USDC,
  ETH,
  EURC,
  openPayingShop,
  type PayingShop,
  SANDBOX,
  USDC,
  USDT,
} from './paying-shop.ts';
import { browserOf, ofMerchant, ofPartner, signIn } from './people-scene.ts';
import { ORDER, openShop, type Shop } from './shop.ts';

const ALL = [ETH, USDC, EURC, USDT, BASE_SEPOLIA_USDC];
/** The tokens at par with a dollar, which can be sent to an address. */
const AT_PAR = [USDC, USDT, BASE_SEPOLIA_USDC];
/** Of these, the tokens that take authorizations (EIP-3009). */
const AUTHORIZED = [USDC, BASE_SEPOLIA_USDC];
/** On a network that Till knows and this gateway has not configured. */
const POLYGON_USDC = 'eip155:80002/erc20:0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582';
/** The same for live payments. */
const POLYGON_USDT = 'eip155:137/erc20:0xc2132D05D31c914a87C6611C10748AEb04B58e8F';
const UNKNOWN = `${SANDBOX}/erc20:0x1111111111111111111111111111111111111111`;

type Level = 'partner' | 'merchant' | 'payment' | 'link';
type Lists = Readonly<Partial<Record<Level, readonly string[] | null>>>;

describe('accepted assets', () => {
  let paying: PayingShop;
  before(async () => {
    const depositMinimum = { everywhere: 0n, on: new Map() };
    paying = await openPayingShop({
      chainIds: [SANDBOX, BASE_SEPOLIA, BASE],
      page: standInPage(),
      config: { depositMinimum, walletConnectProjectId: 'project' },
    });
  });
  after(() => paying.gateway.stop());

  const send = (shop: Shop, method: 'GET' | 'PUT' | 'PATCH' | 'POST', url: string, payload?: object) =>
    paying.gateway.call({ method, url, headers: shop.headers, ...(payload && { payload }) });

  /** Sets the list of a partner or merchant. A node reads a merchant again within some seconds; the test does not wait. */
  async function set(shop: Shop, level: 'partner' | 'merchant', acceptedAssets: readonly string[] | null) {
    const answer =
      level === 'partner'
        ? await send(shop, 'PUT', '/v1/accepted-assets', { acceptedAssets })
        : await send(shop, 'PATCH', `/v1/merchants/${shop.merchant.id}`, { acceptedAssets });
    paying.gateway.merchants.forget(shop.merchant.id);
    return answer;
  }

  async function shopWith({ partner, merchant }: Lists): Promise<Shop> {
    const shop = await openShop(paying.gateway);
    if (partner !== undefined) assert.equal((await set(shop, 'partner', partner)).statusCode, 200);
    if (merchant !== undefined) assert.equal((await set(shop, 'merchant', merchant)).statusCode, 200);
    return shop;
  }

  const press = (url: string) =>
    paying.gateway.app.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: '',
    });

  /** A payment of ten dollars under these lists: by a link if there is a list of a link, else by the API. */
  async function created(lists: Lists): Promise<{ shop: Shop; id: string }> {
    const shop = await shopWith(lists);
    if (lists.link === undefined) {
      const { payment: acceptedAssets } = lists;
      return { shop, id: (await shop.created(acceptedAssets === undefined ? {} : { acceptedAssets })).paymentId };
    }
    const terms = { description: 'Tea', amount: ORDER.amount, acceptedAssets: lists.link };
    const made = await send(shop, 'POST', '/v1/payment-links', terms);
    assert.equal(made.statusCode, 201, made.body);
    const pressed = await press(made.json().paymentLink.url);
    assert.equal(pressed.statusCode, 303, pressed.body);
    return { shop, id: new URL(String(pressed.headers.location)).searchParams.get('pid') ?? '' };
  }

  /** Every way to pay, and the assets that it offers. */
  const WAYS: Readonly<Record<string, (id: string, shop: Shop) => Promise<readonly string[]>>> = {
    options: async (id) => {
      const payer = paying.newPayer({ [ETH]: 10n ** 20n, [USDC]: 10n ** 9n, [EURC]: 10n ** 9n, [USDT]: 10n ** 9n });
      paying.network(BASE_SEPOLIA).control.setBalance(payer.address, BASE_SEPOLIA_USDC, 10n ** 9n);
      const accounts = [payer.account, `${BASE_SEPOLIA}:${payer.address}`];
      const listed = await paying.wallet.listed(id, accounts);
      return listed.map(({ amount }) => amount.unit.slice('caip19/'.length));
    },
    'the payment as wallets see it': async (id) => {
      const answer = await paying.gateway.call({
        url: `/v1/gateway/payment/${id}`,
        headers: { 'api-key': paying.shop.secret },
      });
      return assetsNamed(answer.json().accepted);
    },
    'the checkout': async (id) => {
      const { body } = await paying.gateway.app.inject({ url: `/?pid=${id}` });
      const { accepted = [] } = paymentIn(body).payment as { accepted?: Parameters<typeof assetsNamed>[0] };
      return assetsNamed(accepted);
    },
    'transfers on the checkout': async (id) => {
      const { body } = await paying.gateway.app.inject({ url: `/?pid=${id}` });
      return paymentIn(body).sendable.map(({ unit }) => unit.slice('caip19/'.length));
    },
    'deposit addresses': async (id) => {
      const asked = await Promise.all(
        ALL.map(async (asset) =>
          (await paying.wallet.post(id, 'address', { asset })).statusCode === 200 ? [asset] : [],
        ),
      );
      return asked.flat();
    },
    x402: async (id) => {
      const answer = await paying.gateway.call({ url: `/x402/${id}` });
      if (answer.statusCode !== 402) return [];
      return answer
        .json()
        .accepts.map(({ network, asset }: { network: string; asset: string }) => `${network}/erc20:${asset}`);
    },
  };
  const OFFERED: Readonly<Record<string, readonly string[]>> = {
    'transfers on the checkout': AT_PAR,
    'deposit addresses': AT_PAR,
    x402: AUTHORIZED,
  };

  const NAMES = new Map([
    ['ETH Till Sandbox', ETH],
    ['USDC Till Sandbox', USDC],
    ['EURC Till Sandbox', EURC],
    ['USDT Till Sandbox', USDT],
    ['USDC Base Sepolia', BASE_SEPOLIA_USDC],
  ]);
  const assetsNamed = (tokens: readonly { symbol: string; networkName: string }[]) =>
    tokens.map(({ symbol, networkName }) => NAMES.get(`${symbol} ${networkName}`) ?? `unknown ${symbol}`);

  /** The lists, the list of the payment, and the assets that it is offered in. */
  const CASES: readonly (readonly [Lists, readonly string[] | null, readonly string[]])[] = [
    [{}, null, ALL],
    [{ partner: [USDC] }, [USDC], [USDC]],
    [{ merchant: [USDC] }, [USDC], [USDC]],
    [{ payment: [USDC] }, [USDC], [USDC]],
    [{ link: [USDC] }, [USDC], [USDC]],
    [{ partner: null, merchant: null, payment: null }, null, ALL],
    [{ merchant: [BASE_SEPOLIA] }, [BASE_SEPOLIA], [BASE_SEPOLIA_USDC]],
    [{ merchant: [SANDBOX], payment: [USDC, BASE_SEPOLIA] }, [USDC], [USDC]],
    [{ partner: [SANDBOX], merchant: [USDC, USDT, BASE_SEPOLIA], payment: [USDT, EURC] }, [USDT], [USDT]],
    [{ partner: [USDC, USDT], link: [SANDBOX] }, [USDC, USDT], [USDC, USDT]],
    [{ merchant: [USDC, USDC.toLowerCase(), SANDBOX] }, [SANDBOX], [ETH, USDC, EURC, USDT]],
  ];
  for (const [lists, stored, offered] of CASES) {
    const words = Object.entries(lists).map(
      ([level, list]) => `${level} ${list?.map(short).join(' and ') ?? 'no limit'}`,
    );
    it(`with ${words.join(', ') || 'no list'} are ${offered.map(short).join(', ')}, by every way to pay`, async () => {
      const { shop, id } = await created(lists);
      assert.deepEqual((await shop.details(id)).json().acceptedAssets, stored && [...stored].sort());
      for (const [way, read] of Object.entries(WAYS)) {
        const possible = OFFERED[way] ?? ALL;
        const expected = offered.filter((asset) => possible.includes(asset));
        assert.deepEqual([...(await read(id, shop))].sort(), [...expected].sort(), way);
      }
    });
  }

  it('hold at the point of sale, where a cashier creates the payment', async () => {
    const shop = await shopWith({ merchant: [USDC] });
    const { partner, merchant } = shop;
    const { headers } = await signIn(paying.gateway, {
      belonging: ofMerchant(partner.id, merchant.id),
      role: 'cashier',
    });
    const made = await browserOf(paying.gateway, headers)('POST', '/v1/payments', ORDER, {
      'merchant-id': merchant.id,
    });
    assert.equal(made.statusCode, 201, made.body);
    const { paymentId } = made.json();
    for (const [way, read] of Object.entries(WAYS)) assert.deepEqual(await read(paymentId, shop), [USDC], way);
    const shown = await browserOf(paying.gateway, headers)('GET', `/v1/payments/${paymentId}`, undefined, {
      'merchant-id': merchant.id,
    });
    assert.deepEqual(shown.json().lateMoney, [], 'a cashier may read the late money of a payment');
  });

  it('stay as they were for payments under way, and hold for new ones', async () => {
    const { shop, id } = await created({ merchant: [USDC] });
    assert.equal((await set(shop, 'merchant', [USDT])).statusCode, 200);
    assert.equal((await set(shop, 'partner', [USDT])).statusCode, 200);
    const later = (await shop.created()).paymentId;
    for (const [way, read] of Object.entries(WAYS)) {
      assert.deepEqual(await read(id, shop), [USDC], way);
      assert.deepEqual(await read(later, shop), way === 'x402' ? [] : [USDT], way);
    }
  });

  it('are not widened by an option of another asset: its signature is refused', async () => {
    const { shop, id } = await created({});
    const payer = paying.newPayer({ [EURC]: 10n ** 9n });
    const option = await paying.wallet.option(id, payer.account, EURC);
    // As if the list had been there when the payment was created.
    await paying.gateway.db.sql`update payments set accepted_assets = ${[USDC]} where id = ${id}`;
    const confirmed = await paying.wallet.confirm(id, option.id, [
      { type: 'walletRpc', data: [await payer.sign(option)] },
    ]);
    assert.deepEqual([confirmed.statusCode, confirmed.json().code], [400, 'quote_expired'], confirmed.body);
    assert.equal((await shop.status(id)).json().status, 'requires_action');
  });

  /** Wrong lists at every level, with the answer that each gets. */
  const WRONG: readonly (readonly [string, unknown, number, string, RegExp])[] = [
    [
      'is empty',
      [],
      400,
      'params_validation',
      /acceptedAssets must name at least one asset or network; null is no limit/,
    ],
    [
      'names an unknown asset',
      [USDC, UNKNOWN],
      400,
      'params_validation',
      /acceptedAssets\[1\] names an asset that this gateway/,
    ],
    [
      'names an asset of a network that is not configured',
      [POLYGON_USDC],
      400,
      'params_validation',
      /this gateway takes no pay/,
    ],
    [
      'names a network that is not configured',
      ['eip155:80002'],
      400,
      'params_validation',
      /names a network that this gateway/,
    ],
    ['names a live asset', [BASE_USDC], 400, 'params_validation', /is on a live network, where no test payment/],
    ['names no asset', ['USDC'], 400, 'params_validation', /acceptedAssets\[0\] is not a CAIP-2 chain id/],
    ['has a wrong checksum', [`${USDC.slice(0, -1)}0`], 400, 'params_validation', /checksum/],
    ['is no list', USDC, 400, 'params_validation', /acceptedAssets must be array or null/],
  ];
  for (const [what, acceptedAssets, status, code, message] of WRONG) {
    it(`are refused at every level if the list ${what}`, async () => {
      const shop = await openShop(paying.gateway);
      const answers = await everyLevel(shop, acceptedAssets);
      for (const [level, answer] of Object.entries(answers)) {
        assert.deepEqual([answer.statusCode, answer.json().code], [status, code], `${level}: ${answer.body}`);
        assert.match(answer.json().message, message, level);
      }
    });
  }

  async function everyLevel(shop: Shop, acceptedAssets: unknown): Promise<Record<string, LightMyRequestResponse>> {
    const tea = { description: 'Tea', amount: ORDER.amount };
    const link = (await send(shop, 'POST', '/v1/payment-links', tea)).json().paymentLink;
    const newMerchant = { merchantName: 'Shop', merchantEmail: 'shop@example.com', acceptedAssets };
    return {
      partner: await send(shop, 'PUT', '/v1/accepted-assets', { acceptedAssets }),
      merchant: await send(shop, 'PATCH', `/v1/merchants/${shop.merchant.id}`, { acceptedAssets }),
      'new merchant': await paying.gateway.call({
        method: 'POST',
        url: '/v1/merchants',
        headers: { ...shop.headers, 'idempotency-key': freshKey() },
        payload: newMerchant,
      }),
      payment: await shop.create({ ...ORDER, acceptedAssets }),
      link: await send(shop, 'POST', '/v1/payment-links', { ...tea, acceptedAssets }),
      'changed link': await send(shop, 'PATCH', `/v1/payment-links/${link?.id}`, { acceptedAssets }),
    };
  }

  it('of a live key are on live networks that are configured', async () => {
    const live = await openShop(paying.gateway, { mode: 'live' });
    for (const asset of [USDC, SANDBOX]) {
      for (const [level, answer] of Object.entries(await everyLevel(live, [asset]))) {
        assert.deepEqual(
          [answer.statusCode, answer.json().code],
          [403, 'not_sandbox_api_key'],
          `${level}: ${answer.body}`,
        );
      }
    }
    for (const other of [POLYGON_USDT, 'eip155:137']) {
      for (const [level, answer] of Object.entries(await everyLevel(live, [other]))) {
        assert.equal(answer.statusCode, 400, level);
        assert.match(answer.json().message, /that this gateway takes no payments (in|on)/, level);
      }
    }
    for (const [level, answer] of Object.entries(await everyLevel(live, [BASE_USDC]))) {
      assert.ok(answer.statusCode < 300, `${level}: ${answer.body}`);
    }
  });

  it('of a partner are set for each mode alone', async () => {
    const test = await openShop(paying.gateway);
    await changePartner(paying.gateway, {
      actor: 'test',
      partnerId: test.partner.id,
      changes: { accepted: { live: [BASE_USDC] } },
    });
    assert.equal((await send(test, 'GET', '/v1/accepted-assets')).json().acceptedAssets, null);
    assert.equal((await set(test, 'partner', [USDC])).statusCode, 200);
    const partner = await findPartner(paying.gateway.db.sql, test.partner.id);
    assert.deepEqual(partner?.accepted, { test: [USDC], live: [BASE_USDC] });
  });

  it('that have nothing in common refuse the payment, with the lists', async () => {
    const shop = await shopWith({ partner: [USDC, USDT], merchant: [USDC] });
    const answer = await shop.create({ ...ORDER, acceptedAssets: [EURC] });
    assert.deepEqual([answer.statusCode, answer.json().code], [400, 'params_validation']);
    assert.deepEqual(answer.json().issues, [
      {
        field: 'acceptedAssets',
        message: `leaves nothing to pay with: the partner accepts ${[USDC, USDT].sort().join(', ')}; the merchant accepts ${USDC}; the payment accepts ${EURC}`,
      },
    ]);
    const link = await send(shop, 'POST', '/v1/payment-links', {
      description: 'Tea',
      amount: ORDER.amount,
      acceptedAssets: [EURC],
    });
    assert.match(link.json().message, /the link accepts/);
  });

  it('that exclude the token of the price refuse the payment, whoever has the list', async () => {
    const amount = { unit: `caip19/${EURC}`, value: '1000000' };
    for (const lists of [{ partner: [USDC] }, { merchant: [USDC] }, { payment: [USDC] }] as const) {
      const shop = await shopWith(lists);
      const own = 'payment' in lists ? { acceptedAssets: lists.payment } : {};
      const answer = await shop.create({ ...ORDER, amount, ...own });
      assert.equal(answer.statusCode, 400, answer.body);
      const [level] = Object.keys(lists);
      assert.match(
        answer.json().message,
        new RegExp(`acceptedAssets must include ${EURC}, the token of the price: the ${level} accepts`),
      );
    }
    const shop = await shopWith({ merchant: [SANDBOX] });
    assert.equal((await shop.create({ ...ORDER, amount })).statusCode, 201);
  });

  it('of a link with a stock need a token, because coin cannot be refused when the last piece is gone', async () => {
    const shop = await openShop(paying.gateway);
    const tea = { description: 'Tea', amount: ORDER.amount, acceptedAssets: [ETH] };
    const refused = await send(shop, 'POST', '/v1/payment-links', { ...tea, stock: 3 });
    assert.equal(refused.statusCode, 400);
    assert.match(refused.json().message, /has no token that USD can be paid with/);
    const { id } = (await send(shop, 'POST', '/v1/payment-links', tea)).json().paymentLink;
    assert.equal((await send(shop, 'PATCH', `/v1/payment-links/${id}`, { stock: 3 })).statusCode, 400);
    const both = { stock: 3, acceptedAssets: [USDC] };
    const changed = await send(shop, 'PATCH', `/v1/payment-links/${id}`, both);
    assert.deepEqual(changed.json().paymentLink.acceptedAssets, [USDC], changed.body);
  });

  it('of a partner do not leave a merchant without any, and of a merchant do not leave the partner’s', async () => {
    const shop = await shopWith({ partner: [USDC, USDT], merchant: [USDC] });
    const emptied = await set(shop, 'partner', [USDT]);
    assert.deepEqual([emptied.statusCode, emptied.json().code], [400, 'params_validation']);
    assert.match(emptied.json().message, new RegExp(`nothing to pay with for ${shop.merchant.id} .*accepts ${USDC}`));
    assert.deepEqual((await send(shop, 'GET', '/v1/accepted-assets')).json().acceptedAssets, [USDC, USDT].sort());
    const outside = await set(shop, 'merchant', [EURC]);
    assert.match(outside.json().message, /leaves nothing to pay with: the partner accepts .*; the merchant accepts/);
    assert.equal((await set(shop, 'merchant', null)).statusCode, 200);
    assert.equal((await set(shop, 'partner', [USDT])).statusCode, 200, 'a merchant without a list has the partner’s');
  });

  it('of a partner let the later of two people know what the earlier one has changed', async () => {
    const shop = await shopWith({ partner: [USDC, USDT] });
    const change = (acceptedAssets: readonly string[] | null, seen: readonly string[] | null) =>
      send(shop, 'PUT', '/v1/accepted-assets', { acceptedAssets, ifUnchanged: { acceptedAssets: seen } });
    const read = async () => (await send(shop, 'GET', '/v1/accepted-assets')).json();
    const refused = await change([EURC], null);
    assert.deepEqual([refused.statusCode, refused.json().code], [409, 'invalid_state'], refused.body);
    assert.deepEqual(refused.json().details.current, await read());
    assert.deepEqual(await read(), { acceptedAssets: [USDC, USDT].sort() }, 'nothing was changed');
    const both = await Promise.all([change([USDC], [USDC, USDT].sort()), change([USDT], [USDC, USDT].sort())]);
    assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [200, 409], 'one of two at the same moment');
    const { acceptedAssets: kept } = await read();
    assert.deepEqual((await change(null, kept)).json(), { acceptedAssets: null });
    assert.equal((await change([EURC], null)).statusCode, 200, 'no limit is a value, too');
  });

  it('of partner and merchant that change at the same time keep something in common', async () => {
    const shop = await shopWith({ partner: [USDC, USDT] });
    for (let round = 0; round < 5; round += 1) {
      await set(shop, 'merchant', null);
      await set(shop, 'partner', [USDC, USDT]);
      const [partner, merchant] = await Promise.all([set(shop, 'partner', [USDT]), set(shop, 'merchant', [USDC])]);
      assert.deepEqual([partner.statusCode, merchant.statusCode].sort(), [200, 400]);
    }
  });

  it('are part of an order’s meaning, in any spelling, and of its retry', async () => {
    const shop = await openShop(paying.gateway);
    const key = { 'idempotency-key': freshKey() };
    const first = await shop.create({ ...ORDER, acceptedAssets: [USDC, USDT] }, key);
    const again = await shop.create({ ...ORDER, acceptedAssets: [USDT.toLowerCase(), USDC, USDC] }, key);
    assert.equal(again.json().paymentId, first.json().paymentId, again.body);
    for (const acceptedAssets of [undefined, null, [USDC]]) {
      const other = await shop.create({ ...ORDER, acceptedAssets }, key);
      assert.deepEqual([other.statusCode, other.json().code], [409, 'idempotency_conflict']);
    }
    const plain = { 'idempotency-key': freshKey() };
    const without = await shop.create(ORDER, plain);
    assert.equal(
      (await shop.create({ ...ORDER, acceptedAssets: null }, plain)).json().paymentId,
      without.json().paymentId,
    );
    // The merchant's list has changed meanwhile, and would refuse a new order.
    await set(shop, 'merchant', [EURC]);
    assert.equal(
      (await shop.create({ ...ORDER, acceptedAssets: [USDC, USDT] }, key)).json().paymentId,
      first.json().paymentId,
    );
  });

  it('are in the export, and in the events of payments, merchants and links', async () => {
    const { shop, id } = await created({ merchant: [USDC, USDT], payment: [USDC] });
    const exported = await send(shop, 'GET', '/v1/exports/payments?format=jsonl');
    const line = exported.body.split('\n').find((text) => text.includes(id)) ?? '{}';
    assert.equal(JSON.parse(line).acceptedAssets, USDC);
    const terms = { description: 'Tea', amount: ORDER.amount, acceptedAssets: [USDC] };
    assert.equal((await send(shop, 'POST', '/v1/payment-links', terms)).statusCode, 201);
    const lists = async () => {
      const { events } = (await send(shop, 'GET', '/v1/events')).json();
      return events.map(({ type, data }: EventView) => [type, (data as { acceptedAssets: unknown }).acceptedAssets]);
    };
    await until('all events have their positions', async () => (await lists()).length === 4);
    assert.deepEqual(await lists(), [
      ['merchant.created', null],
      ['merchant.updated', [USDC, USDT].sort()],
      ['payment.created', [USDC]],
      ['payment_link.created', [USDC]],
    ]);
  });

  it('of a link are refused again when its merchant stops accepting them', async () => {
    const { shop } = await created({ link: [USDC] });
    const terms = { description: 'Tea', amount: ORDER.amount, acceptedAssets: [USDC] };
    const { url } = (await send(shop, 'POST', '/v1/payment-links', terms)).json().paymentLink;
    await set(shop, 'merchant', [USDT]);
    assert.equal((await press(url)).statusCode, 409);
  });

  it('limit the networks on which a wallet of another device is paired', async () => {
    const { id } = await created({ merchant: [BASE_SEPOLIA_USDC] });
    const { body } = await paying.gateway.app.inject({ url: `/?pid=${id}` });
    assert.deepEqual(paymentIn(body).pairing?.networks, [BASE_SEPOLIA]);
  });

  it('of a partner are changed only by callers who may act for all its merchants', async () => {
    const shop = await openShop(paying.gateway);
    const { headers } = await signIn(paying.gateway, { belonging: ofMerchant(shop.partner.id, shop.merchant.id) });
    const call = browserOf(paying.gateway, headers);
    const refused = await call('PUT', '/v1/accepted-assets', { acceptedAssets: [USDC] });
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'forbidden']);
    assert.equal((await call('GET', '/v1/accepted-assets')).statusCode, 200);
  });

  it('are changed by people who have just shown their passkey', async () => {
    const shop = await openShop(paying.gateway);
    const { headers } = await signIn(paying.gateway, { belonging: ofPartner(shop.partner.id) });
    const call = browserOf(paying.gateway, headers);
    const merchant = `/v1/merchants/${shop.merchant.id}`;
    assert.equal((await call('PATCH', merchant, { acceptedAssets: [USDC] })).statusCode, 200);
    await paying.time.advance(6 * 60_000);
    assert.equal((await call('PATCH', merchant, { merchantName: 'Tea' })).statusCode, 200);
    for (const refused of [
      await call('PATCH', merchant, { acceptedAssets: null }),
      await call('PUT', '/v1/accepted-assets', { acceptedAssets: null }),
    ]) {
      assert.deepEqual([refused.statusCode, refused.json().details], [403, { needs: 'passkey' }]);
    }
  });
});

function short(id: string): string {
  return id.split('/')[1]?.slice(0, 12) ?? id;
}
