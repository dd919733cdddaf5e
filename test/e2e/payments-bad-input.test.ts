import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { type Headers, ORDER, openShop, type Shop } from './shop.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const DAY_S = 24 * 3600;
const GOOD_URLS = { successUrl: 'https://shop.example/thanks', errorUrl: 'https://shop.example/sorry' };

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly issues?: readonly { readonly field: string; readonly message: string }[];
}

describe('a bad request about payments', () => {
  let gateway: TestGateway;
  let shop: Shop;
  let live: Shop;
  let paymentId: string;
  const { clock } = manualTime();
  const nowS = clock.nowMs() / 1000;
  before(async () => {
    gateway = await startTestGateway({ world: { clock } });
    shop = await openShop(gateway);
    live = await openShop(gateway, { mode: 'live' });
    paymentId = (await shop.created()).paymentId;
  });
  after(() => gateway.stop());

  /** Everything a request about payments could leave behind. */
  const traces = async () => {
    const [row] = await gateway.db.sql`
      select (select json_agg(p order by id) from payments p) as payments,
        (select count(*) from events) as events, (select count(*) from payment_keys) as keys,
        (select coalesce(sum(payments), 0) from payment_stat_changes)
          + (select coalesce(sum(payments), 0) from payment_stats) as counted`;
    return JSON.stringify(row);
  };
  async function leavesNoTrace(request: () => Promise<void>): Promise<void> {
    const before = await traces();
    await request();
    assert.equal(await traces(), before, 'nothing is written');
  }
  const fieldsOf = ({ issues = [] }: Refusal) => issues.map(({ field }) => field).sort();
  const refusal = async (response: Promise<{ statusCode: number; body: string }>): Promise<[number, Refusal]> => {
    const { statusCode, body } = await response;
    return [statusCode, JSON.parse(body)];
  };

  /** Tries to create with the field set so, and expects to hear of that field and of nothing else. */
  async function isRefused(fields: object, expected: readonly string[], { at = shop } = {}): Promise<Refusal> {
    const key = { 'idempotency-key': freshKey() };
    const [status, body] = await refusal(at.create({ ...ORDER, ...fields }, key));
    const what = JSON.stringify(fields).slice(0, 200);
    assert.deepEqual([status, body.code], [400, 'params_validation'], what);
    assert.deepEqual(fieldsOf(body), [...expected].sort(), what);
    for (const { field, message } of body.issues ?? []) {
      assert.ok(body.message.includes(`${field} ${message}`), `${what}: the message says it too: ${body.message}`);
      assert.doesNotMatch(message, /\^|pattern|keyword/, 'in words, not in code');
    }
    return body;
  }

  describe('to create one', () => {
    const VALUES = [
      ...['1.5', '-1', '1e3', '007', ' 1', 1, '１２３', '1'.repeat(200), '9'.repeat(79)],
      ...['', '0', '00', '+1', '1 ', '1\n', '1_000', '1,000', '0x10', '١٢', '∞', 'NaN', '1.0', null, true, ['1'], {}],
    ];
    for (const value of VALUES) {
      it(`is refused for the amount ${JSON.stringify(value).slice(0, 30)}`, () =>
        leavesNoTrace(async () => {
          const { issues } = await isRefused({ amount: { unit: 'iso4217/USD', value } }, ['amount.value']);
          if (typeof value === 'string') assert.match(issues?.[0]?.message ?? '', /whole number of minor units/);
          else assert.equal(issues?.[0]?.message, 'must be string');
        }));
    }

    const UNITS: [unit: unknown, rule: RegExp][] = [
      ['USD', /iso4217\/.*caip19\//],
      ['iso4217/usd', /ISO 4217/],
      ['iso4217/ZZZ', /ISO 4217/],
      ['iso4217/', /ISO 4217/],
      ['iso4217/USD ', /ISO 4217/],
      ['iso4217/XAU', /ISO 4217/],
      ['iso4217/XXX', /ISO 4217/],
      ['iso4217/constructor', /ISO 4217/],
      ['ISO4217/USD', /must begin with/],
      ['Iso4217/USD', /must begin with/],
      [' iso4217/USD', /must begin with/],
      [`CAIP19/${USDC}`, /must begin with/],
      [USDC, /must begin with/],
      ['caip19/', /CAIP-19/],
      ['caip19/eip155:8453', /CAIP-19/],
      [`caip19/${USDC}x`, /40 hexadecimal digits/],
      [`caip19/${USDC.replace('833589fCD', '833589FcD')}`, /checksum/],
      [`caip19/eip155:8453/erc20:0x${'1'.repeat(40)}`, /unknown asset/],
      ['caip19/eip155:999999/slip44:60', /unknown asset/],
      [`caip19/${USDC.replace('erc20', 'erc721')}`, /asset namespace/],
      ['', /must not have fewer than 1 characters/],
      ['x'.repeat(257), /must not have more than 256 characters/],
      [840, /must be string/],
      [null, /must be string/],
    ];
    for (const [unit, rule] of UNITS) {
      it(`is refused for the unit ${JSON.stringify(unit).slice(0, 70)}`, () =>
        leavesNoTrace(async () => {
          const { issues } = await isRefused({ amount: { unit, value: '1' } }, ['amount.unit']);
          assert.match(issues?.[0]?.message ?? '', rule);
        }));
    }

    const EXPIRIES: [name: string, expiresAt: unknown, rule: RegExp][] = [
      ['in milliseconds', (nowS + 300) * 1000, /30 days.*seconds since the epoch/],
      ['in the past', nowS - 1, /future/],
      ['now', nowS, /future/],
      ['before the epoch', -1, /future/],
      ['0', 0, /future/],
      ['30 days and a second ahead', nowS + 30 * DAY_S + 1, /30 days/],
      ['beyond all numbers', 1e300, /30 days/],
      ['as a string', String(nowS + 300), /integer/],
      ['as a date', '2026-03-01T00:05:00Z', /integer/],
      ['with a fraction', nowS + 0.5, /integer/],
      ['true', true, /integer/],
    ];
    for (const [name, expiresAt, rule] of EXPIRIES) {
      it(`is refused for an expiry ${name}`, () =>
        leavesNoTrace(async () => {
          const { issues } = await isRefused({ expiresAt }, ['expiresAt']);
          assert.match(issues?.[0]?.message ?? '', rule);
        }));
    }

    const URLS = [
      ...[
        'javascript:alert(1)',
        'JavaScript:alert(1)',
        'java\nscript:alert(1)',
        'data:text/html,x',
        'ftp://shop.example/',
      ],
      ...[
        'http://shop.example/',
        'http://localhost.shop.example/',
        'http://127.0.0.1@shop.example/',
        '//shop.example/',
      ],
      ...[
        '/thanks',
        'shop.example/thanks',
        'https://',
        'https:// shop.example',
        ' https://shop.example',
        'about:blank',
      ],
      ...[
        'https://user:secret@shop.example/',
        'https://user@shop.example/',
        'https://shop.example/\u0000',
        '',
        7,
        null,
      ],
      `https://shop.example/${'a'.repeat(2048 - 20)}`,
    ];
    for (const url of URLS) {
      it(`is refused for the checkout URL ${JSON.stringify(url).slice(0, 50)}`, () =>
        leavesNoTrace(async () => {
          await isRefused({ checkout: { ...GOOD_URLS, successUrl: url } }, ['checkout.successUrl']);
          await isRefused({ checkout: { ...GOOD_URLS, errorUrl: url } }, ['checkout.errorUrl']);
        }));
    }

    it('is refused for an incomplete or invalid checkout', () =>
      leavesNoTrace(async () => {
        await isRefused({ checkout: { successUrl: GOOD_URLS.successUrl } }, ['checkout.errorUrl']);
        await isRefused({ checkout: { errorUrl: GOOD_URLS.errorUrl } }, ['checkout.successUrl']);
        await isRefused({ checkout: {} }, ['checkout.errorUrl', 'checkout.successUrl']);
        for (const checkout of ['https://shop.example', [GOOD_URLS], 1, true])
          await isRefused({ checkout }, ['checkout']);
      }));

    it('is refused for a checkout in plain HTTP from a live key, on localhost too', () =>
      leavesNoTrace(async () => {
        for (const host of ['localhost:3000', '127.0.0.1', '[::1]:80']) {
          const checkout = { successUrl: `http://${host}/`, errorUrl: `http://${host}/` };
          const { message } = await isRefused({ checkout }, ['checkout.successUrl', 'checkout.errorUrl'], { at: live });
          assert.doesNotMatch(message, /localhost/);
        }
      }));

    for (const referenceId of [
      '',
      'x'.repeat(256),
      'a\nb',
      'a\u0000b',
      'a\tb',
      '\u007f',
      'a\u0085b',
      '\ud800',
      42,
      null,
      ['x'],
    ]) {
      it(`is refused for the order id ${JSON.stringify(referenceId).slice(0, 30)}`, () =>
        leavesNoTrace(async () => void (await isRefused({ referenceId }, ['referenceId']))));
    }

    it('names everything that is missing', () =>
      leavesNoTrace(async () => {
        const whole: [unknown, string[]][] = [
          [{}, ['amount', 'referenceId']],
          [{ amount: {} }, ['amount.unit', 'amount.value', 'referenceId']],
          [{ amount: '10', referenceId: 'x' }, ['amount']],
          [{ Amount: ORDER.amount, reference_id: 'x' }, ['Amount', 'amount', 'referenceId', 'reference_id']],
          [[ORDER], ['body']],
          [null, ['body']],
          ['"x"', ['body']],
          ['1', ['body']],
        ];
        for (const [body, fields] of whole) {
          const [status, refused] = await refusal(shop.create(typeof body === 'string' ? body : JSON.stringify(body)));
          assert.deepEqual([status, refused.code], [400, 'params_validation'], JSON.stringify(body));
          assert.deepEqual(fieldsOf(refused), fields, JSON.stringify(body));
        }
      }));

    it('names every broken field, whatever its problem', () =>
      leavesNoTrace(async () => {
        const amount = { unit: 'iso4217/ZZZ', value: '1.5' };
        const checkout = { successUrl: 'javascript:alert(1)', errorUrl: 7 };
        const fields = ['amount.unit', 'amount.value', 'checkout.errorUrl', 'checkout.successUrl', 'expiresAt'];
        await isRefused({ amount, checkout, expiresAt: nowS * 1000 }, fields);
        await isRefused({ amount, referenceId: '' }, ['amount.unit', 'amount.value', 'referenceId']);
        await isRefused({ amount: undefined, expiresAt: nowS - 1 }, ['amount', 'expiresAt']);
        await isRefused({ checkout, referenceId: 'a\nb' }, ['checkout.errorUrl', 'checkout.successUrl', 'referenceId']);
      }));

    it('is refused when it cannot be read at all', () =>
      leavesNoTrace(async () => {
        const json = JSON.stringify(ORDER);
        const raw: [number, string, headers: Headers, payload: string | Buffer | undefined][] = [
          [400, 'invalid_params', {}, '{'],
          [400, 'invalid_params', {}, `${json},`],
          [400, 'invalid_params', {}, json.replace('"referenceId"', '"__proto__":{"a":1},"referenceId"')],
          [400, 'invalid_params', {}, Buffer.from(json.replace('ORDER', '\u00ff'), 'latin1')],
          [400, 'params_validation', {}, undefined],
          [415, 'invalid_params', { 'content-type': 'text/plain' }, json],
          [415, 'invalid_params', { 'content-type': 'application/x-www-form-urlencoded' }, 'amount=1'],
          [413, 'invalid_params', {}, JSON.stringify({ ...ORDER, more: 'x'.repeat(64 * 1024) })],
        ];
        for (const [status, code, headers, payload] of raw) {
          const [answered, body] = await refusal(
            gateway.call({
              method: 'POST',
              url: '/v1/payments',
              headers: { ...shop.headers, 'content-type': 'application/json', ...headers },
              ...(payload !== undefined && { payload }),
            }),
          );
          assert.deepEqual([answered, body.code], [status, code], String(payload).slice(0, 60));
        }
      }));

    it('is refused by the singular path in the same words', () =>
      leavesNoTrace(async () => {
        const body = { ...ORDER, amount: { unit: 'USD', value: '1.5' } };
        const send = (url: string) =>
          refusal(gateway.call({ method: 'POST', url, headers: shop.headers, payload: body }));
        assert.deepEqual(await send('/v1/merchant/payment'), await send('/v1/payments'));
      }));

    it('is refused without a key or a merchant of one’s own, before its body is checked', () =>
      leavesNoTrace(async () => {
        const { 'api-key': apiKey = '', 'merchant-id': merchantId = '' } = shop.headers;
        const cases: [Headers, number, string][] = [
          [{ 'merchant-id': merchantId }, 401, 'missing_api_key'],
          [{ 'api-key': apiKey }, 401, 'missing_merchant_id'],
          [{ 'api-key': apiKey, 'merchant-id': 'mrch_x' }, 404, 'merchant_not_found'],
          [{ 'api-key': apiKey, 'merchant-id': "' or true --" }, 404, 'merchant_not_found'],
          [{ 'api-key': apiKey, 'merchant-id': live.merchant.id }, 404, 'merchant_not_found'],
          [{ 'api-key': live.secret, 'merchant-id': merchantId }, 404, 'merchant_not_found'],
        ];
        for (const [headers, status, code] of cases) {
          for (const request of [
            { method: 'POST', url: '/v1/payments', payload: {} },
            { method: 'POST', url: '/v1/merchant/payment', payload: {} },
            { method: 'GET', url: `/v1/payments/${paymentId}` },
            { method: 'GET', url: `/v1/payments/${paymentId}/status?maxPollMs=x` },
            { method: 'POST', url: `/v1/payments/${paymentId}/cancel` },
          ] as const) {
            const [answered, body] = await refusal(gateway.call({ ...request, headers }));
            assert.deepEqual([answered, body.code], [status, code], `${request.url} ${JSON.stringify(headers)}`);
          }
        }
      }));

    it('uses up no Idempotency-Key', async () => {
      const key = { 'idempotency-key': freshKey() };
      assert.equal((await shop.create({ ...ORDER, referenceId: '' }, key)).statusCode, 400);
      assert.equal((await shop.create({ ...ORDER, amount: { unit: 'USD', value: '1' } }, key)).statusCode, 400);
      const created = await shop.create(ORDER, key);
      assert.equal(created.statusCode, 201);
      assert.equal(created.headers['idempotent-replayed'], undefined);
    });
  });

  describe('for a status', () => {
    const HOLDS = ['-1', '1.5', '-0.5', '1e3', 'abc', '%201', '0x10', 'NaN', 'Infinity', '1,2', 'NULL'];
    for (const maxPollMs of HOLDS) {
      it(`is refused for maxPollMs=${maxPollMs}`, () =>
        leavesNoTrace(async () => {
          for (const url of ['/v1/payments', '/v1/merchant/payment', '/v1/gateway/payment']) {
            const request = { url: `${url}/${paymentId}/status?maxPollMs=${maxPollMs}`, headers: shop.headers };
            const [status, body] = await refusal(gateway.call(request));
            assert.deepEqual([status, body.code], [400, 'params_validation']);
            assert.deepEqual(fieldsOf(body), ['maxPollMs']);
          }
        }));
    }

    it('is refused when maxPollMs comes twice', async () => {
      const request = { url: `/v1/payments/${paymentId}/status?maxPollMs=1&maxPollMs=2`, headers: shop.headers };
      const [status, body] = await refusal(gateway.call(request));
      assert.deepEqual([status, fieldsOf(body)], [400, ['maxPollMs']]);
    });
  });
});
