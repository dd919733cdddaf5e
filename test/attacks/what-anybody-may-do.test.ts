import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { OPEN_ROUTES, OTHER_ACTS, openRoutes } from '../../scripts/security-tables.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import type { Database } from '../../src/store/plumbing/database.ts';
import { type BooksScene, openBooksScene } from '../e2e/books-scene.ts';
import {
  appWallet,
  ETH,
  openPayingShop,
  type PayingShop,
  result,
  SANDBOX,
  USDC,
  type Wallet,
} from '../e2e/paying-shop.ts';
import { IS_LONG } from '../long.ts';

const ROOT = join(import.meta.dirname, '../..');
/** How often each act is repeated. */
const TIMES = IS_LONG ? 1_000 : 60;
const AT_ONCE = 10;

/** Rows that a stranger's act may never change: those of other payments, and everything that holds for all. */
async function others({ sql }: Pick<Database, 'sql'>, paymentId: string): Promise<unknown> {
  const [row] = await sql`
    select
      (select md5(string_agg(p::text, '' order by id)) from payments p where id <> ${paymentId}) as payments,
      (select md5(string_agg(i::text, '' order by commitment)) from items i where subject <> ${paymentId}) as items,
      (select md5(string_agg(d::text, '' order by commitment)) from deposits d where payment_id <> ${paymentId}) as deposits,
      (select count(*)::int from freezes) as freezes, (select count(*)::int from alerts) as alerts,
      (select count(*)::int from outgoing) as outgoing, (select count(*)::int from relay_sends) as sends,
      (select count(*)::int from payouts) as payouts, (select count(*)::int from refunds) as refunds,
      (select count(*)::int from payer_failures) as failures, (select count(*)::int from mails) as mails,
      (select count(*)::int from sessions) as sessions, (select count(*)::int from passkeys) as passkeys,
      (select count(*)::int from people) as people, (select count(*)::int from webhook_deliveries) as deliveries`;
  return row;
}

async function repeat(act: (index: number) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < TIMES; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => act(done + index)));
  }
}

describe('the table of what anybody may do', () => {
  it('has every route of the API that takes callers without a key, and no other', () => {
    const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
    assert.deepEqual(Object.keys(OPEN_ROUTES).sort(), openRoutes(document).sort());
  });

  it('names tests that exist', () => {
    const tests = [...Object.values(OPEN_ROUTES), ...Object.values(OTHER_ACTS)].map(({ test }) => test);
    for (const test of new Set(tests)) assert.ok(existsSync(join(ROOT, test)), test);
  });
});

describe('anybody, at the routes', () => {
  let paying: PayingShop;
  let wallet: Wallet;
  let appHeaders: Record<string, string>;
  before(async () => {
    const depositMinimum = { everywhere: undefined, on: new Map([[SANDBOX, 0n]]) };
    paying = await openPayingShop({ config: { depositMinimum } });
    wallet = await appWallet(paying.gateway);
    const [app] = await paying.gateway.db.sql<{ id: string }[]>`select id from wallet_apps limit 1`;
    appHeaders = { 'app-id': app?.id ?? '', 'client-id': 'test' };
  });
  after(() => paying.gateway.stop());

  const funds = { [USDC]: 10n ** 9n, [ETH]: 10n ** 18n };
  const get = (url: string) => paying.gateway.app.inject({ url, headers: appHeaders });
  /** From another address each time: the limits of an address must not be what bounds the act. */
  const post = (url: string, payload: object = {}) => {
    const remoteAddress = (index: number) => `198.51.${Math.floor(index / 250)}.${index % 250}`;
    return (index: number) =>
      paying.gateway.app.inject({
        method: 'POST',
        url,
        payload,
        headers: appHeaders,
        remoteAddress: remoteAddress(index),
      });
  };
  const refund = (paymentId: string) => `/v1/gateway/refund/${refundIdOf(paymentId, 1)}`;
  const MADE_UP = { result: `0x${'ab'.repeat(64)}1b` };

  /** What a stranger does at a route, with a payment and the account of a payer who has not asked for it. */
  const ACTS: Readonly<Record<string, (id: string, victim: string) => (index: number) => Promise<unknown>>> = {
    'GET /health': () => () => get('/health'),
    'GET /versions': () => () => get('/versions'),
    'GET /ready': () => () => get('/ready'),
    'GET /.well-known/till-receipts.json': () => () => get('/.well-known/till-receipts.json'),
    'POST /v1/sessions/challenge': () => post('/v1/sessions/challenge'),
    'POST /v1/sessions': () => post('/v1/sessions', { link: 'made-up' }),
    'GET /v1/gateway/refund/{id}': (id) => () => get(refund(id)),
    'POST /v1/gateway/refund/{id}/actions': (id) => post(`${refund(id)}/actions`),
    'POST /v1/gateway/refund/{id}/confirm': (id) => post(`${refund(id)}/confirm`, MADE_UP),
    'POST /v1/gateway/payment/{id}/receipt-email': (id) =>
      post(`/v1/gateway/payment/${id}/receipt-email`, { email: 'stranger@elsewhere.example' }),
    'GET /v1/gateway/payment/{id}': (id) => () => get(`/v1/gateway/payment/${id}`),
    'GET /v1/gateway/payment/{id}/status': (id) => () => get(`/v1/gateway/payment/${id}/status`),
    'POST /v1/gateway/payment/{id}/cancel': (id) => () => wallet.post(id, 'cancel', {}),
    'POST /v1/gateway/payment/{id}/options': (id, victim) => () => wallet.options(id, [victim]),
    'POST /v1/gateway/payment/{id}/fetch': (id, victim) => async () => {
      await paying.time.advance(100);
      const { id: optionId } = await wallet.option(id, victim, ETH);
      await wallet.fetch(id, optionId);
    },
    // A made-up hash of coin is looked for, for ten seconds: `test/e2e/paying-coin.test.ts` has it.
    'POST /v1/gateway/payment/{id}/confirm': (id, victim) => async () => {
      const { id: token } = await wallet.option(id, victim, USDC);
      await wallet.confirm(id, token, [result(`0x${'ab'.repeat(64)}1b`)]);
    },
    'POST /v1/gateway/payment/{id}/address': (id) => () => wallet.post(id, 'address', { asset: USDC }),
    'GET /x402/{id}': (id) => () => get(`/x402/${id}`),
  };

  for (const [route, act] of Object.entries(ACTS))
    it(`${route}, ${TIMES} times: no other payment, payer or list of work changes`, async () => {
      const payer = paying.newPayer(funds);
      const [own, other] = [await paying.created(), await paying.created()];
      const before = await others(paying.gateway.db, own);
      await repeat(act(own, payer.account));
      assert.deepEqual(await others(paying.gateway.db, own), before);
      const open = (await paying.items(own)).filter(({ state }) => state === 'offered');
      assert.ok(open.length <= 50, `${open.length} open items`);
      assert.ok(
        open.every(({ state }) => state === 'offered'),
        'nothing is due that nobody has signed',
      );
      // The payer whose account was named pays another payment as ever.
      const option = await wallet.option(other, payer.account, USDC);
      const confirmed = await wallet.confirm(other, option.id, [result(await payer.sign(option))]);
      assert.deepEqual([confirmed.statusCode, confirmed.json().status], [200, 'processing']);
    });

  it('is in the list of acts above for every route', () => {
    assert.deepEqual(Object.keys(ACTS).sort(), Object.keys(OPEN_ROUTES).sort());
  });

  it(`an order at a payment link, ${TIMES} times from one address: so many payments of that link, and nothing else`, async () => {
    const made = await paying.gateway.call({
      method: 'POST',
      url: '/v1/payment-links',
      headers: paying.shop.headers,
      payload: { description: 'Flat white', amount: { unit: 'iso4217/USD', value: '500' } },
    });
    const { pathname } = new URL(made.json().paymentLink.url);
    const other = await paying.created();
    const count = async () => Number((await paying.gateway.db.sql`select count(*) from payments`)[0]?.count);
    const [was, before] = [await count(), await othersThan(other)];
    await repeat(() =>
      paying.gateway.app.inject({
        method: 'POST',
        url: pathname,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: '',
        remoteAddress: '203.0.113.77',
      }),
    );
    assert.equal((await count()) - was, 30);
    assert.deepEqual(await othersThan(other), before);
    assert.equal((await paying.payment(other)).status, 'requires_action');
  });

  /** Everything that a new payment of somebody else may not change. */
  async function othersThan(paymentId: string) {
    const { payments: _, ...rest } = (await others(paying.gateway.db, paymentId)) as Record<string, unknown>;
    return rest;
  }
});

describe('anybody, on the chain', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  /** Does the act before and while a payment of somebody else is paid, and checks that nothing else has happened. */
  async function check(prepare: () => Promise<(index: number) => unknown>): Promise<void> {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n } });
    const node = await scene.newNode();
    await node.watch();
    const act = await prepare();
    const victim = await scene.accept();
    for (let done = 0; done < TIMES; done += 1) act(done);
    await node.turn(3);
    assert.equal(await scene.status(victim.id), 'succeeded');
    for (let done = 0; done < AT_ONCE; done += 1) act(done);
    await node.turn(3);
    assert.deepEqual(await scene.alerts(), []);
    const [{ freezes } = { freezes: -1 }] = await scene.db.sql<{ freezes: number }[]>`
      select count(*)::int as freezes from freezes`;
    assert.equal(freezes, 0);
    assert.deepEqual(await scene.differences(), []);
  }

  it('calls the Collector with items of its own, and with the subject of another payment', () =>
    check(async () => {
      const foreign = await scene.accept();
      const own = await scene.payers.payable('eip3009-vrs');
      return (index) => {
        // The seal of another payment is public, one of its own needs a key of the gateway.
        const isForeign = index % 2 === 0;
        const seal = isForeign ? (foreign.item.seal ?? '') : '77'.repeat(32);
        const item = { ...own.item, seal, ...(isForeign && { subject: foreign.id }) };
        scene.control.emitLookAlike(item, `0x${String(index).padStart(64, '7')}`);
      };
    }));

  it('calls the Collector with an item of a payer and a signature that is made up', () =>
    check(async () => {
      const { signed } = await scene.accept();
      const other = await scene.payers.payable('eip3009-vrs');
      return () => scene.control.relayAsStranger([{ ...signed, signature: other.signed.signature }]);
    }));

  it('sweeps a deposit address', () =>
    check(async () => {
      const { item, send } = await scene.deposit();
      send(1_000n);
      return () => scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    }));

  it('sends dust to a deposit address', () =>
    check(async () => {
      const { send } = await scene.deposit();
      return () => send(1n);
    }));
});
