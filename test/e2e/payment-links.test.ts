import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { deleteFreeze, insertFreeze } from '../../src/store/parties/freezes.ts';
import type { PaymentPage } from '../../web/src/checkout/page-state.ts';
import { freshKey } from '../gateway.ts';
import { pngOfText } from '../pictures.ts';
import { until } from '../until.ts';
import { linkIn, standInPage, stateIn } from './checkout-page.ts';
import { ETH, openPayingShop, type PayingShop, refusal, result, SANDBOX, USDC } from './paying-shop.ts';
import { countPayments, openShop, type Shop } from './shop.ts';

const FUNDS = { [USDC]: 100_000_000n, [ETH]: 10n ** 18n };
const FIVE_DOLLARS = { unit: 'iso4217/USD', value: '500' };
const COFFEE = { description: 'Flat white', amount: FIVE_DOLLARS };
const PNG = pngOfText('a picture');

interface Link {
  readonly id: string;
  readonly url: string;
  readonly stock: number | null;
  readonly taken: number | null;
  readonly pictureUrl: string | null;
}

describe('payment links', () => {
  let paying: PayingShop;
  before(async () => {
    const depositMinimum = { everywhere: 0n, on: new Map() };
    paying = await openPayingShop({ page: standInPage(), config: { depositMinimum } });
  });
  after(() => paying.gateway.stop());

  const send = (method: 'GET' | 'POST' | 'PATCH', path = '', payload?: object, on: Shop = paying.shop, more = {}) =>
    paying.gateway.call({
      method,
      url: `/v1/payment-links${path}`,
      headers: { ...on.headers, ...more },
      ...(payload && { payload }),
    });
  const made = async (fields: object = {}, on?: Shop): Promise<Link> => {
    const response = await send('POST', '', { ...COFFEE, ...fields }, on);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().paymentLink;
  };
  const read = async ({ id }: Link): Promise<Link> => (await send('GET', `/${id}`)).json().paymentLink;
  const pathOf = ({ url }: Link) => new URL(url).pathname;
  const open = (link: Link, headers = {}) => paying.gateway.app.inject({ url: pathOf(link), headers });
  const press = (link: Link, form: Record<string, string> = {}, { remoteAddress = '203.0.113.1', query = '' } = {}) =>
    paying.gateway.app.inject({
      method: 'POST',
      url: pathOf(link) + query,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
      remoteAddress,
    });
  /** The payment that the button has created. */
  const ordered = async (link: Link, form: Record<string, string> = {}): Promise<string> => {
    const response = await press(link, form);
    assert.equal(response.statusCode, 303, response.body);
    return new URL(String(response.headers.location)).searchParams.get('pid') ?? '';
  };
  /** A payer who has signed, and is about to confirm. */
  const signed = async (id: string) => {
    const payer = paying.newPayer(FUNDS);
    const option = await paying.wallet.option(id, payer.account, USDC);
    const signature = await payer.sign(option);
    return () => paying.wallet.confirm(id, option.id, [result(signature)]);
  };
  /** Ends the attempt of a payment as the chain's proof would. */
  const move = async (paymentId: string, type: 'lapsed' | 'failed') => {
    const [item] = await paying.items(paymentId);
    assert.ok(item);
    const proof = { finalBlockAtMs: paying.time.clock.nowMs() };
    const outcome = await paying.gateway.movePayment({
      paymentId,
      event: type === 'lapsed' ? { type, proof } : { type, failureCode: null },
      actor: 'test',
      evidence: {},
      items: { ended: [{ key: item.key, state: 'unpaid', reason: null }] },
    });
    assert.ok(outcome.ok, JSON.stringify(outcome));
  };

  it('with a stock give their payments no address to send to: such a transfer could not be refused', async () => {
    const ask = (id: string) => paying.wallet.post(id, 'address', { asset: USDC });
    assert.equal((await ask(await ordered(await made()))).statusCode, 200);
    const onStock = await ordered(await made({ stock: 1 }));
    assert.deepEqual(await refusal(ask(onStock)), [400, 'invalid_state']);
    const shown = async (id: string) =>
      stateIn((await paying.gateway.app.inject({ url: `/?pid=${id}` })).body) as PaymentPage;
    assert.ok((await shown(await ordered(await made()))).sendable.length > 0);
    assert.deepEqual((await shown(onStock)).sendable, [], 'nor does the page offer one');
    assert.equal((await shown(onStock)).referenceId, '', 'the id of the link is no reference for payers');
  });

  it('are created, read, listed by pages and changed', async () => {
    const shop = await openShop(paying.gateway);
    const first = await made({ stock: 20, referenceId: 'TASTING' }, shop);
    assert.match(first.url, /^http:\/\/localhost:8080\/l\/[0-9A-Z]{26}$/);
    assert.deepEqual(first, {
      id: first.id,
      url: first.url,
      description: 'Flat white',
      referenceId: 'TASTING',
      amount: { ...FIVE_DOLLARS, display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 } },
      minimum: null,
      maximum: null,
      stock: 20,
      taken: 0,
      status: 'active',
      expiresAt: null,
      acceptedAssets: null,
      pictureUrl: null,
      createdAt: new Date(paying.time.clock.nowMs()).toISOString(),
    });
    await paying.time.advance(1);
    const second = await made({}, shop);
    const page = (await send('GET', '?limit=1', undefined, shop)).json();
    assert.deepEqual([page.paymentLinks[0].id, page.paymentLinks[0].referenceId], [second.id, second.id]);
    const next = (await send('GET', `?limit=1&cursor=${page.nextCursor}`, undefined, shop)).json();
    assert.deepEqual([next.paymentLinks[0].id, next.nextCursor], [first.id, null]);
    const change = { description: 'Tasting', stock: null, status: 'inactive', expiresAt: 2_000_000_000 };
    const changed = await send('PATCH', `/${first.id}`, change, shop);
    assert.deepEqual(changed.json().paymentLink, { ...first, ...change, taken: null });
    const { entries } = {
      entries: await paying.gateway.db.sql`select action from audit_log where subject = ${first.id}`,
    };
    assert.deepEqual(entries.map(({ action }) => action).sort(), ['payment_link.changed', 'payment_link.created']);
  });

  it('report their creation, their changes and their last piece, in the feed as well', async () => {
    const link = await made({ stock: 2 });
    await send('PATCH', `/${link.id}`, { stock: 1, expiresAt: 2_000_000_000 });
    const confirm = await signed(await ordered(link));
    assert.equal((await confirm()).statusCode, 200);
    const events = await listEvents(paying.gateway.db.sql, link.id);
    assert.deepEqual(
      events.map(({ type, data }) => ({ type, stock: data.stock, taken: data.taken })),
      [
        { type: 'payment_link.created', stock: 2, taken: 0 },
        { type: 'payment_link.updated', stock: 1, taken: 0 },
        { type: 'payment_link.sold_out', stock: 1, taken: 1 },
      ],
    );
    const feed = async () => {
      const answer = await paying.gateway.call({
        url: '/v1/events?types=payment_link.*&limit=100',
        headers: { 'api-key': paying.shop.headers['api-key'] },
      });
      return (answer.json().events as { type: string; data: Link }[]).filter(({ data }) => data.id === link.id);
    };
    await until('its events are placed', async () => (await feed()).length === 3);
    const [created, updated, soldOut] = await feed();
    assert.deepEqual(created?.data, link);
    assert.deepEqual(updated?.data, { ...link, stock: 1, expiresAt: 2_000_000_000 });
    assert.deepEqual(soldOut?.data, await read(link));
  });

  it('are created once for an Idempotency-Key', async () => {
    const key = { 'idempotency-key': freshKey() };
    const [one, two] = [await send('POST', '', COFFEE, undefined, key), await send('POST', '', COFFEE, undefined, key)];
    assert.equal(one.json().paymentLink.id, two.json().paymentLink.id);
    assert.equal(two.headers['idempotent-replayed'], 'true');
    const other = send('POST', '', { ...COFFEE, stock: 1 }, undefined, key);
    assert.deepEqual(await refusal(other), [409, 'idempotency_conflict']);
  });

  const bad: readonly [string, object, string][] = [
    ['no price', { description: 'x' }, 'amount'],
    ['two prices', { ...COFFEE, minimum: FIVE_DOLLARS, maximum: FIVE_DOLLARS }, 'minimum'],
    ['one bound', { description: 'x', minimum: FIVE_DOLLARS }, 'maximum'],
    [
      'bounds in the wrong order',
      { description: 'x', minimum: FIVE_DOLLARS, maximum: { ...FIVE_DOLLARS, value: '1' } },
      'maximum.value',
    ],
    [
      'bounds of two units',
      { description: 'x', minimum: FIVE_DOLLARS, maximum: { unit: 'iso4217/EUR', value: '900' } },
      'maximum.unit',
    ],
    ['an unknown currency', { description: 'x', amount: { unit: 'iso4217/XXQ', value: '1' } }, 'amount.unit'],
    ['a stock of nothing', { ...COFFEE, stock: 0 }, 'stock'],
    ['a stock for coin', { ...COFFEE, amount: { unit: `caip19/${ETH}`, value: '1' }, stock: 1 }, 'stock'],
    ['an expiry in the past', { ...COFFEE, expiresAt: 1 }, 'expiresAt'],
    ['an expiry after all calendars', { ...COFFEE, expiresAt: 9_007_199_254_740 }, 'expiresAt'],
    ['a picture that is a script', { ...COFFEE, picture: btoa('<svg onload=alert(1)>') }, 'picture'],
    ['a picture that is not base64', { ...COFFEE, picture: 'https://shop.example/a.png' }, 'picture'],
    ['a blank description', { ...COFFEE, description: '  ' }, 'description'],
    ['an unknown field', { ...COFFEE, colour: 'red' }, 'colour'],
  ];
  for (const [title, body, field] of bad) {
    it(`are refused with ${title}`, async () => {
      const response = await send('POST', '', body);
      assert.equal(response.statusCode, 400, response.body);
      const fields = (response.json().issues as { field: string }[]).map((issue) => issue.field);
      assert.ok(fields.includes(field), response.body);
    });
  }

  it('create nothing when they are opened, and an ordinary payment by their button', async () => {
    const shop = await openShop(paying.gateway);
    const link = await made({ stock: 3 }, shop);
    const page = await open(link);
    assert.equal(page.statusCode, 200);
    assert.match(
      String(page.headers['content-security-policy']),
      /script-src 'self'.*form-action 'self' http:\/\/localhost/,
    );
    assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/);
    assert.doesNotMatch(page.body, /<script (?!type="application\/json")/);
    const state = linkIn(page.body);
    assert.deepEqual(
      [state.left, state.closed, state.amount?.value, state.merchant.name],
      [3, null, '500', 'Test shop'],
    );
    assert.equal(await countPayments(paying.gateway, shop.merchant.id), 0);

    const once = state.form.once;
    const id = await ordered(link, { once });
    assert.equal(await ordered(link, { once }), id, 'the same form twice is one payment');
    assert.equal(await countPayments(paying.gateway, shop.merchant.id), 1);
    const details = (await shop.details(id)).json();
    assert.deepEqual(
      [details.amount.value, details.referenceId, details.description, details.metadata],
      ['500', link.id, 'Flat white', { paymentLinkId: link.id }],
    );
    const translated = await press(link, {}, { query: '?lang=ar' });
    assert.match(String(translated.headers.location), /&lang=ar$/);
  });

  it('give an old form whose payment is over a new form', async () => {
    const link = await made();
    const once = 'a'.repeat(22);
    const id = await ordered(link, { once });
    await paying.shop.cancel(id);
    const again = await press(link, { once });
    assert.deepEqual([again.statusCode, again.headers.location], [303, pathOf(link)]);
  });

  it('take an amount of the payer between the bounds', async () => {
    const bounds = { minimum: { unit: 'iso4217/USD', value: '100' }, maximum: { unit: 'iso4217/USD', value: '10000' } };
    const link = await made({ amount: undefined, ...bounds });
    const id = await ordered(link, { amount: '12,5' });
    assert.equal((await paying.payment(id)).amount_value, '1250');
    for (const amount of ['0.99', '100.01', '', '1,000', '-5', '1e2', '"><script>alert(1)</script>']) {
      const response = await press(link, { amount });
      assert.equal(response.statusCode, 422, amount);
      assert.equal(linkIn(response.body).form.refused, amount);
    }
  });

  it('take no payment when they are inactive, expired or unknown, or their merchant is', async () => {
    const shop = await openShop(paying.gateway);
    const expiresAt = Math.floor(paying.time.clock.nowMs() / 1000) + 60;
    const link = await made({ expiresAt }, shop);
    const headers = { ...shop.headers, 'idempotency-key': freshKey() };
    const again = () =>
      paying.gateway.call({ method: 'POST', url: '/v1/payment-links', headers, payload: { ...COFFEE, expiresAt } });
    const { paymentLink: retried } = (await again()).json();
    const expectClosed = async (reason: string) => {
      assert.equal(linkIn((await open(link)).body).closed, reason);
      const pressed = await press(link);
      assert.deepEqual([pressed.statusCode, linkIn(pressed.body).closed], [409, reason]);
    };
    await send('PATCH', `/${link.id}`, { status: 'inactive' }, shop);
    await expectClosed('inactive');
    await send('PATCH', `/${link.id}`, { status: 'active' }, shop);
    await paying.time.advance(60_000);
    await expectClosed('expired');
    assert.deepEqual((await again()).json().paymentLink, retried, 'a retry finds the link, although it has expired');
    await send('PATCH', `/${link.id}`, { expiresAt: null }, shop);
    const changes = { status: 'suspended' } as const;
    await changeMerchant(paying.gateway, { owner: null, actor: 'test', merchantId: shop.merchant.id, changes });
    await paying.time.advance(5_000);
    await expectClosed('merchant');
    assert.equal(await countPayments(paying.gateway, shop.merchant.id), 0);
    for (const path of ['/l/0123456789ABCDEFGHJKMNPQRS', '/l/x', '/l/%00', '/l/..%2f']) {
      assert.equal((await paying.gateway.app.inject({ url: path })).statusCode, 404, path);
    }
  });

  it('are limited for each address', async () => {
    const link = await made();
    for (let count = 0; count < 30; count += 1) await press(link, {}, { remoteAddress: '203.0.113.9' });
    const refused = await press(link, {}, { remoteAddress: '203.0.113.9' });
    assert.equal(refused.statusCode, 429);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal((await press(link, {}, { remoteAddress: '203.0.113.10' })).statusCode, 303);
    const other = await made();
    assert.equal((await press(other, {}, { remoteAddress: '203.0.113.9' })).statusCode, 303);
  });

  it('are limited for each address, also when all presses come at the same moment', async () => {
    const link = await made();
    const presses = Array.from({ length: 45 }, () => press(link, {}, { remoteAddress: '203.0.113.11' }));
    const statuses = (await Promise.all(presses)).map(({ statusCode }) => statusCode);
    assert.equal(statuses.filter((status) => status === 303).length, 30);
    assert.equal(statuses.filter((status) => status === 429).length, 15);
  });

  it('count a press against the limit only if it creates a payment', async () => {
    const link = await made();
    const again = { once: 'abcdefghijklmnopqrstuv' };
    for (let count = 0; count < 40; count += 1) {
      assert.equal((await press(link, again, { remoteAddress: '203.0.113.12' })).statusCode, 303);
    }
  });

  it('sell the last piece once when ten people pay it at the same time', async () => {
    const link = await made({ stock: 1 });
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) ids.push(await ordered(link));
    const confirms = [];
    for (const id of ids) confirms.push(await signed(id));
    const answers = await Promise.all(confirms.map((confirm) => confirm()));
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(9).fill(400)]);
    const refused = answers.filter(({ statusCode }) => statusCode === 400).map((answer) => answer.json());
    // Whether anything was charged before, for example by a transaction in coin, is not known here.
    const words = 'Sold out: others have taken the last piece.';
    assert.ok(refused.every(({ code, message }) => code === 'invalid_state' && message === words));
    const states = await Promise.all(ids.map(async (id) => (await paying.payment(id)).status));
    assert.equal(states.filter((status) => status === 'processing').length, 1);
    // A refused signature is not stored, so it can never be carried out.
    const items = await Promise.all(ids.map((id) => paying.items(id)));
    assert.equal(items.flat().length, 1);
    assert.equal((await read(link)).taken, 1);

    assert.equal(linkIn((await open(link)).body).closed, 'sold_out');
    assert.equal((await press(link)).statusCode, 409);
    const late = ids[states.indexOf('requires_action')] ?? '';
    const { options, info } = (
      await paying.wallet.options(late, [paying.newPayer(FUNDS).account], '?includePaymentInfo=true')
    ).json();
    assert.deepEqual([options, info.accepted, info.stopped.reason], [[], [], 'sold_out']);
  });

  it('with a stock sell nothing from a restore until the rebuild, because sold pieces may be unknown', async () => {
    const [link, unlimited] = [await made({ stock: 3 }), await made()];
    const [id, other, free] = [await ordered(link), await ordered(link), await ordered(unlimited)];
    const [confirm, confirmFree] = [await signed(id), await signed(free)];
    const restored = { scope: 'restored', subject: SANDBOX, reason: 'test', actor: 'test', since: new Date() } as const;
    await command(paying.gateway, (tx) => insertFreeze(tx, restored));
    try {
      const refused = await confirm();
      assert.deepEqual(
        [refused.statusCode, refused.json().code, refused.json().message],
        [400, 'invalid_state', 'The stock is being counted again. Try again in some minutes.'],
      );
      assert.deepEqual(await paying.items(id), []);
      const { options, info } = (
        await paying.wallet.options(other, [paying.newPayer(FUNDS).account], '?includePaymentInfo=true')
      ).json();
      assert.deepEqual([options, info.accepted, info.stopped.reason], [[], [], 'stock_uncertain']);
      assert.equal((await confirmFree()).statusCode, 200, 'a link without a stock goes on');
    } finally {
      await command(paying.gateway, (tx) => deleteFreeze(tx, restored));
    }
    assert.equal((await confirm()).statusCode, 200, 'the same signature is good after the rebuild');
    assert.equal((await read(link)).taken, 1);
  });

  it('hold no more pieces for an account than it can pay for', async () => {
    const link = await made({ stock: 5 });
    const payer = paying.newPayer({ [USDC]: 5_000_000n });
    const confirms = [];
    for (let count = 0; count < 5; count += 1) {
      const id = await ordered(link);
      const option = await paying.wallet.option(id, payer.account, USDC);
      const results = [result(await payer.sign(option))];
      confirms.push(() => paying.wallet.confirm(id, option.id, results));
    }
    const answers = await Promise.all(confirms.map((confirm) => confirm()));
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 429, 429, 429, 429]);
    assert.equal((await read(link)).taken, 1);
  });

  it('get a piece back when its payment lapses or ends unpaid, and not when it is paid', async () => {
    const link = await made({ stock: 1 });
    const [first, second] = [await ordered(link), await ordered(link)];
    const [confirmFirst, confirmSecond] = [await signed(first), await signed(second)];
    assert.equal((await confirmFirst()).statusCode, 200);
    assert.equal((await confirmSecond()).statusCode, 400);
    await move(first, 'lapsed');
    assert.equal((await read(link)).taken, 0);
    assert.equal((await confirmSecond()).statusCode, 200);
    assert.equal((await confirmSecond()).statusCode, 200, 'a repeated confirmation takes no second piece');
    assert.equal((await read(link)).taken, 1);
    await move(second, 'failed');
    assert.equal((await read(link)).taken, 0);
    const third = await ordered(link);
    assert.equal((await (await signed(third))()).statusCode, 200);
    const [item] = await paying.items(third);
    const token = { asset: USDC, value: 5_000_000n };
    const buyer = { account: item?.account ?? '', name: 'Wallet', icon: null };
    const transaction = { hash: `0x${'cd'.repeat(32)}`, nonce: 1 };
    const event = { type: 'succeeded', buyer, token, transaction } as const;
    await paying.gateway.movePayment({ paymentId: third, event, actor: 'test', evidence: {} });
    assert.equal((await read(link)).taken, 1);
  });

  it('with a stock are not paid in coin, which could arrive after the last piece is gone', async () => {
    const [limited, endless] = [await made({ stock: 5 }), await made()];
    const payer = paying.newPayer(FUNDS);
    const unitsOf = async (id: string) =>
      (await paying.wallet.listed(id, [payer.account])).map(({ amount }) => amount.unit);
    assert.ok(!(await unitsOf(await ordered(limited))).includes(`caip19/${ETH}`));
    const id = await ordered(endless);
    const coin = await paying.wallet.option(id, payer.account, ETH);
    await send('PATCH', `/${endless.id}`, { stock: 5 });
    assert.deepEqual(await refusal(paying.wallet.fetch(id, coin.id)), [400, 'quote_expired']);
  });

  it('show their picture from the gateway itself', async () => {
    const link = await made({ picture: Buffer.concat([PNG, Buffer.from('and a note')]).toString('base64') });
    const picture = await paying.gateway.app.inject({ url: new URL(link.pictureUrl ?? '').pathname });
    assert.deepEqual([picture.statusCode, picture.headers['content-type']], [200, 'image/png']);
    assert.deepEqual(picture.rawPayload, PNG);
    const { paymentLink } = (await send('PATCH', `/${link.id}`, { picture: null })).json();
    assert.equal(paymentLink.pictureUrl, null);
    assert.equal((await paying.gateway.app.inject({ url: new URL(link.pictureUrl ?? '').pathname })).statusCode, 404);
  });
});
