import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { nearMiss } from '../../src/http/entry/unknown-fields.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { operations } from '../openapi.ts';
import { ORDER, openShop, type Shop } from './shop.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ACCOUNT = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe('a field that a request does not have', () => {
  let gateway: TestGateway;
  let shop: Shop;
  before(async () => {
    gateway = await startTestGateway();
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());

  const call = (options: InjectOptions & { url: string }) =>
    gateway.call({ ...options, headers: { ...shop.headers, 'idempotency-key': freshKey() } });
  /** The answer's message about one field. */
  async function refusalOf(field: string, options: InjectOptions & { url: string }): Promise<string | undefined> {
    const answer = await call(options);
    assert.deepEqual([answer.statusCode, answer.json().code], [400, 'params_validation'], answer.body);
    const issues: { field: string; message: string }[] = answer.json().issues;
    return issues.find((issue) => issue.field === field)?.message;
  }

  it('is refused if it is a near miss, by name and with the suggested field', async () => {
    const created = (body: object) => ({ method: 'POST', url: '/v1/payments', payload: body }) as const;
    const settlements = `/v1/merchants/${shop.merchant.id}/settlements/crypto`;
    const { paymentId } = await shop.created();
    const misses: [field: string, meant: string, request: InjectOptions & { url: string }][] = [
      ['refrenceId', 'referenceId', created({ amount: ORDER.amount, refrenceId: 'x' })],
      ['reference_id', 'referenceId', created({ ...ORDER, reference_id: 'x' })],
      ['expires_at', 'expiresAt', created({ ...ORDER, expires_at: 1 })],
      ['ExpireAt', 'expiresAt', created({ ...ORDER, ExpireAt: 1 })],
      ['amount.valeu', 'value', created({ ...ORDER, amount: { ...ORDER.amount, valeu: '1' } })],
      [
        'checkout.successURL',
        'successUrl',
        created({ ...ORDER, checkout: { successURL: 'https://a.example', errorUrl: 'https://b.example' } }),
      ],
      [
        'settlements[1].destinaton',
        'destination',
        {
          method: 'POST',
          url: settlements,
          payload: {
            settlements: [
              { asset: USDC, destination: ACCOUNT },
              { asset: USDC, destinaton: ACCOUNT },
            ],
          },
        },
      ],
      [
        'account',
        'accounts',
        { method: 'POST', url: `/v1/gateway/payment/${paymentId}/options`, payload: { account: [ACCOUNT] } },
      ],
      ['start_ts', 'startTs', { url: '/v1/payments?start_ts=2026-01-01T00:00:00Z' }],
      ['statuss', 'status', { url: '/v1/payments?statuss=failed' }],
      ['statuses', 'status', { url: '/v1/merchants/payments?statuses=succeeded' }],
      ['status[eq]', 'status', { url: '/v1/merchants/payments?status[eq]=succeeded' }],
      ['stauts[eq]', 'status', { url: '/v1/merchants/payments?stauts[eq]=succeeded' }],
      ['statuss', 'status', { url: '/v1/merchants/payments?statuss[]=succeeded' }],
      ['netwrok[in]', 'network', { url: '/v1/payments?netwrok[in]=eip155:1' }],
      ['symbol', 'token_symbol', { url: '/v1/merchants/payments?symbol=USDC' }],
      ['reference', 'referenceId', { url: '/v1/payments?reference=ORDER' }],
      ['type', 'types', { url: '/v1/events?type=payment.succeeded' }],
      ['urll', 'url', { method: 'POST', url: '/v1/webhook-endpoints', payload: { urll: 'https://a.example' } }],
    ];
    for (const [field, meant, request] of misses) {
      assert.equal(await refusalOf(field, request), `is not a field of this request; did you mean ${meant}?`, field);
    }
  });

  it('is a repeated parameter where it has brackets, as many clients write it', async () => {
    const { paymentId } = await shop.created();
    assert.equal((await shop.cancel(paymentId)).statusCode, 200);
    const of = (query: string) => call({ url: `/v1/merchants/payments?${query}` });
    const plain = (await of('status=requires_action&status=failed')).json();
    assert.ok(plain.data.length > 0 && plain.data.every((item: { status: string }) => item.status !== 'cancelled'));
    for (const query of [
      'status[]=requires_action&status[]=failed',
      'status%5B%5D=requires_action,failed',
      'status[0]=requires_action&status[1]=failed',
      'status=requires_action&status[]=failed',
    ]) {
      const { data, stats } = (await of(query)).json();
      assert.deepEqual({ data, stats }, { data: plain.data, stats: plain.stats }, query);
    }
    assert.deepEqual((await of('network[]=eip155:999999')).json().data, []);
    assert.equal((await of('limit[]=1')).json().data.length, 1);
    for (const [query, field] of [
      ['status[]=x', 'status[0]'],
      ['limit[]=1&limit[]=2', 'limit'],
      ['network[0]=x', 'network[0]'],
      ['filter[status]=succeeded', 'filter[status]'],
      ['where[network][]=x', 'where[network][]'],
    ] as const) {
      assert.ok(await refusalOf(field, { url: `/v1/merchants/payments?${query}` }), query);
    }
  });

  it('is refused by name in every query, however short the parameter and wherever the slip is', () => {
    for (const { method, path, parameters } of operations('/v1/')) {
      for (const name of parameters) {
        const slips = [...name].flatMap((letter, at) => [
          name.slice(0, at) + name.slice(at + 1),
          name.slice(0, at) + letter + name.slice(at),
          `${name.slice(0, at)}x${name.slice(at + 1)}`,
        ]);
        for (const slip of [`${name}s`, `${name}es`, name.toUpperCase(), ...slips]) {
          for (const written of [slip, `${slip}[x]`, `${slip}[$in][0]`, `filter[${slip}]`, `where[${slip}][]`]) {
            if (parameters.includes(written)) continue;
            assert.ok(nearMiss(written, parameters, true), `${method} ${path}?${written}=`);
          }
        }
      }
    }
  });

  it('is refused by name in a body, also in the singular or plural of a short name', () => {
    for (const [written, meant] of [
      ['address', 'addresses'],
      ['addresses', 'address'],
      ['amount[value]', 'amount'],
      ['asset-es', 'asset'],
    ] as const) {
      assert.equal(nearMiss(written, ['lineItems', meant], false), meant, written);
    }
  });

  it('is named together with everything else that is wrong', async () => {
    const answer = await call({ method: 'POST', url: '/v1/payments', payload: { amount: 1, refrenceId: 'x' } });
    const fields = answer.json().issues.map(({ field }: { field: string }) => field);
    assert.deepEqual(fields.sort(), ['amount', 'referenceId', 'refrenceId']);
  });

  it('is ignored where it is something else: clients send more than is asked for', async () => {
    const extras = { note: 'x', account: 'y', sdk: { name: 'z' }, refunds: [], constructor: 1 };
    assert.equal((await shop.create({ ...ORDER, ...extras, amount: { ...ORDER.amount, uri: 'x' } })).statusCode, 201);
    assert.equal((await call({ url: '/v1/payments?note=x&page=2&_=1' })).statusCode, 200);
  });

  it('is refused on refunds, whatever it is', async () => {
    const refund = (fields: object) =>
      ({ method: 'POST', url: '/v1/refunds', payload: { paymentId: 'pay_1', ...fields } }) as const;
    assert.equal(await refusalOf('note', refund({ note: 'x' })), 'is not a field of this request');
    const meant = 'is not a field of this request; did you mean paymentId?';
    assert.equal(await refusalOf('payment_id', refund({ payment_id: 'pay_1' })), meant);
    assert.equal((await call(refund({}))).json().code, 'payment_not_found');
    const long = await call(refund(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}`.repeat(40), n]))));
    assert.equal(long.json().issues.length, 50);
    assert.ok(long.body.length < 20_000);
  });

  it('is a part of a payment in a form that is not one, and no refund of the whole is made instead', async () => {
    const refund = (amount: unknown) =>
      ({ method: 'POST', url: '/v1/refunds', payload: { paymentId: 'pay_1', amount } }) as const;
    const dollars = { unit: 'iso4217/USD', value: '100' };
    for (const part of ['100', 100, null]) assert.ok(await refusalOf('amount', refund(part)));
    for (const value of ['0', '-1', '1.5', '007', '', '9'.repeat(79)]) {
      assert.match(
        (await refusalOf('amount.value', refund({ ...dollars, value }))) ?? '',
        /whole number of minor units/,
      );
    }
    assert.match((await refusalOf('amount.unit', refund({ ...dollars, unit: 'USD' }))) ?? '', /must begin with/);
    const unknown = refund({ ...dollars, currency: 'USD' });
    assert.equal(await refusalOf('amount.currency', unknown), 'is not a field of this request');
  });

  it('does not show in the description of the API', () => {
    const described = operations('/v1/payments').find(({ method }) => method === 'POST');
    assert.ok(described?.members.includes('referenceId'));
    assert.doesNotMatch(JSON.stringify(gateway.app.swagger()), /x-names/);
  });
});
