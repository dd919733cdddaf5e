import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { foldStats } from '../../src/actions/paying/fold-stats.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import {
  expectedItem,
  expectedStats,
  type ModelPayment,
  type ModelQuery,
  matches,
  NOW_MS,
  ordered,
  T0_MS,
} from './payment-list-model.ts';
import { type PaymentPlan, paymentPlan, queryPlan, searchOf } from './payment-list-plans.ts';
import type { Headers } from './shop.ts';

const RUNS = IS_LONG ? 400 : 25;

/**
 * Random payments and random questions: every page and all statistics must be what a naive model says, while other
 * payments are being made, changes folded and overdue payments swept.
 */
describe('lists of payments, whatever was paid and asked', () => {
  let clockMs = T0_MS;
  let gateway: TestGateway;
  /** A second node, whose clock is at the moment of the questions. */
  let other: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ world: { clock: { nowMs: () => clockMs } } });
    other = await startTestGateway({
      databaseUrl: gateway.databaseUrl,
      world: { clock: { nowMs: () => NOW_MS } },
    });
  });
  after(async () => {
    await other.stop();
    await gateway.stop();
  });

  it('agree with a naive model', { timeout: 1_200_000 }, async () => {
    const plans = fc.array(paymentPlan, { minLength: 1, maxLength: IS_LONG ? 60 : 30 });
    const queries = fc.array(queryPlan, { minLength: 4, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(plans, queries, async (payments, questions) => {
        const world = await build(payments);
        for (const question of questions) await compare(world, question);
      }),
      { numRuns: RUNS },
    );
  });

  interface Built {
    readonly key: Headers;
    /** A key for the first two merchants alone. */
    readonly restricted: Headers;
    readonly merchants: readonly { id: string; partnerId: string }[];
    readonly stranger: { id: string; partnerId: string };
    readonly payments: ModelPayment[];
  }

  async function build(plans: readonly PaymentPlan[]): Promise<Built> {
    clockMs = T0_MS;
    const { partner, headers } = await createTestPartner(gateway);
    const strangers = await createTestPartner(gateway);
    const shop = async (as: Headers, partnerId: string) => ({ ...(await createTestMerchant(gateway, as)), partnerId });
    const merchants = [];
    for (let count = 0; count < 3; count += 1) merchants.push(await shop(headers, partner.id));
    const stranger = await shop(strangers.headers, strangers.partner.id);
    const merchantIds = merchants.slice(0, 2).map(({ id }) => id);
    const { secret } = await createTestKey(gateway, partner.id, { key: { merchantIds } });
    const payments: ModelPayment[] = [];
    for (const plan of plans) {
      const merchant = merchants[plan.merchant] ?? stranger;
      payments.push(await carryOut(plan, merchant));
    }
    return { key: headers, restricted: { 'api-key': secret }, merchants, stranger, payments };
  }

  async function carryOut(plan: PaymentPlan, merchant: { id: string; partnerId: string }): Promise<ModelPayment> {
    clockMs = plan.createdMs;
    const id = await create(gateway, plan, merchant);
    const payment: ModelPayment = {
      ...plan,
      id,
      merchantId: merchant.id,
      status: 'requires_action',
      updatedMs: plan.createdMs,
      nativeDeadline: plan.isNative,
      buyer: undefined,
      token: plan.unit.asset === undefined ? undefined : { asset: plan.unit.asset, value: plan.value },
      hash: undefined,
    };
    if (plan.isNative) {
      await gateway.db.sql`update payments set native_deadline = ${new Date(plan.expiresMs)} where id = ${id}`;
    }
    for (const [index, event] of plan.events.entries()) {
      clockMs = event.type === 'expired' ? plan.expiresMs + index : plan.createdMs + 100 * (index + 1);
      const outcome = await gateway.movePayment({ paymentId: id, event, actor: 'test', evidence: {} });
      assert.ok(outcome.ok, `${event.type}: ${outcome.ok || outcome.refusal}`);
      payment.status = outcome.payment.status;
      payment.updatedMs = clockMs;
      if ('buyer' in event) Object.assign(payment, { buyer: event.buyer.account, token: event.token });
      if (event.type === 'succeeded') payment.hash = event.transaction.hash;
    }
    return payment;
  }

  function create(node: TestGateway, plan: PaymentPlan, merchant: { id: string; partnerId: string }): Promise<string> {
    const made = node.createPayment({
      merchant: { ...merchant, mode: 'test', status: 'active', deletedAt: null },
      referenceId: plan.referenceId,
      amountUnit: plan.unit.id,
      amountValue: String(plan.value),
      amountDecimals: plan.unit.decimals,
      tokenAsset: plan.unit.asset ?? null,
      expiresAtMs: plan.expiresMs,
      successUrl: null,
      errorUrl: null,
      actor: 'key:test',
      acceptedAssets: null,
      details: null,
      idempotency: null,
    });
    return made.then(({ id }) => id);
  }

  async function compare(built: Built, plan: ModelQuery): Promise<void> {
    const query = { ...plan, merchantIds: merchantIdsOf(built, plan) };
    const expected = ordered(
      built.payments.filter((payment) => matches(payment, query)),
      query,
    );
    const noise = makeNoise(built, query);
    try {
      await comparePages(built, query, expected);
    } finally {
      built.payments.push(...(await noise.stop()));
    }
  }

  async function comparePages(built: Built, query: ModelQuery, expected: readonly ModelPayment[]): Promise<void> {
    const headers = query.scope === 'restricted' ? built.restricted : built.key;
    const url = query.scope === 'merchant' ? '/v1/merchants/payments' : '/v1/payments';
    const merchant = built.merchants[0]?.id ?? '';
    const found = [];
    let cursor: string | null = null;
    do {
      const search = searchOf(query, { ids: asked(built, query), cursor });
      const response = await other.call({ url: `${url}?${search}`, headers: { ...headers, 'merchant-id': merchant } });
      assert.equal(response.statusCode, 200, response.body);
      const body = parseExactly(response.body);
      assert.ok(body.data.length === query.limit || body.nextCursor === null, 'only the last page is short');
      assert.deepEqual(body.stats, expectedStats(expected), String(search));
      found.push(...body.data);
      cursor = body.nextCursor;
      assert.ok(found.length <= expected.length, `too many: ${search}`);
    } while (cursor !== null);
    assert.deepEqual(found, expected.map(expectedItem), JSON.stringify(searchOf(query, { ids: [], cursor: null })));
  }

  /** Every merchant the answer may be about, as the model sees it. */
  function merchantIdsOf(built: Built, { scope, wanted }: ModelQuery): readonly string[] {
    const all = built.merchants.map(({ id }) => id);
    if (scope === 'merchant') return all.slice(0, 1);
    const allowed = scope === 'restricted' ? all.slice(0, 2) : all;
    return wanted === undefined ? allowed : allowed.filter((_id, index) => wanted.includes(index));
  }

  /** Values of `merchantId`: own merchants, merchants of others, and garbage. */
  function asked({ merchants, stranger }: Built, { scope, wanted }: ModelQuery): readonly string[] {
    if (scope === 'merchant' || wanted === undefined) return [];
    return wanted.map((index) => merchants[index]?.id ?? (index === 3 ? stranger.id : 'mrch_none'));
  }

  /** Makes payments that the question is not about, folds and sweeps, until it is stopped. */
  function makeNoise(built: Built, query: ModelQuery) {
    const made: ModelPayment[] = [];
    const specimens = [built.stranger, ...built.merchants].flatMap((merchant) => {
      const noise = noisePayment(merchant.id);
      return matches(noise, query) ? [] : [{ merchant, noise }];
    });
    let isOver = false;
    const work = (async () => {
      for (let round = 0; !isOver && round < 200; round += 1) {
        const batch = specimens.map(async ({ merchant, noise }) => {
          made.push({ ...noise, id: await create(other, noise, merchant) });
        });
        await Promise.all([...batch, foldStats(other), ...(round % 3 === 0 ? [expirePayments(other)] : [])]);
      }
    })();
    return {
      async stop(): Promise<ModelPayment[]> {
        isOver = true;
        await work;
        return made.filter(({ merchantId }) => merchantId !== built.stranger.id);
      },
    };
  }

  function noisePayment(merchantId: string): ModelPayment & PaymentPlan {
    return {
      id: '',
      merchantId,
      merchant: 0,
      createdMs: NOW_MS,
      updatedMs: NOW_MS,
      expiresMs: NOW_MS + 600_000,
      referenceId: 'noise',
      unit: { id: 'iso4217/USD', symbol: 'USD', decimals: 2, asset: undefined },
      value: 1n,
      status: 'requires_action',
      isNative: false,
      nativeDeadline: false,
      events: [],
      buyer: undefined,
      token: undefined,
      hash: undefined,
    };
  }
});

/** Numbers as they were written. */
function parseExactly(text: string) {
  const reviver = (_key: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}
