import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { ApiError, ConnectionError, TillError, WaitTimeoutError } from '../../sdk/src/errors.ts';
import { pauseMs } from '../../sdk/src/retry.ts';
import { createTill, type Till, type TillEvent, type TillOptions } from '../../sdk/src/till.ts';
import { ORDER, openShop } from '../e2e/shop.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { fetchFrom, tillOf } from './in-process.ts';

type Fetch = NonNullable<TillOptions['fetch']>;

const KEY = 'till_test_0000000000000000000000000000000000000000';

describe('the client library, on the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());

  const open = async (options: Partial<TillOptions> = {}) => {
    const shop = await openShop(gateway);
    return { shop, till: tillOf(gateway, shop.secret, { merchantId: shop.merchant.id, ...options }) };
  };
  const listed = async (till: Till) => (await till.payments.list().page()).data.map(({ paymentId }) => paymentId);

  /** Carries out each request and loses the first answers. */
  function losingAnswers(count: number): { fetch: Fetch; keys: (string | null)[] } {
    const keys: (string | null)[] = [];
    const fetch: Fetch = async (url, init) => {
      keys.push(new Headers(init.headers).get('idempotency-key'));
      const response = await fetchFrom(gateway)(url, init);
      if (keys.length <= count) throw new TypeError('fetch failed');
      return response;
    };
    return { fetch, keys };
  }

  it('creates one payment, however many answers are lost', async () => {
    const { fetch, keys } = losingAnswers(2);
    const { till } = await open({ fetch });
    const { paymentId } = await till.payments.create(ORDER);
    assert.deepEqual(await listed(till), [paymentId]);
    assert.equal(keys.length, 4);
    assert.equal(new Set(keys.slice(0, 3)).size, 1, 'each attempt has the same key');
    assert.match(keys[0] ?? '', /^till-sdk-[0-9a-f]{32}$/);
  });

  it('reports an unknown outcome as unknown, with the key to find it out', async () => {
    const { shop, till } = await open({ ...losingAnswers(1), maxRetries: 0 });
    const error = await till.payments.create(ORDER, { idempotencyKey: 'order-7' }).catch((thrown) => thrown);
    assert.ok(error instanceof ConnectionError && error instanceof TillError);
    assert.equal(error.idempotencyKey, 'order-7');
    const { paymentId } = await till.payments.create(ORDER, { idempotencyKey: error.idempotencyKey });
    assert.deepEqual(await listed(tillOf(gateway, shop.secret)), [paymentId]);
  });

  it('does not repeat a cancellation whose answer was lost', async () => {
    const { shop, till } = await open();
    const { paymentId } = await till.payments.create(ORDER);
    const { fetch, keys } = losingAnswers(1);
    const merchantId = shop.merchant.id;
    const flaky = tillOf(gateway, shop.secret, { merchantId, fetch });
    await assert.rejects(flaky.payments.cancel(paymentId), ConnectionError);
    assert.equal(keys.length, 1);
    assert.equal((await till.payments.get(paymentId)).status, 'cancelled');
  });

  it('throws refusals with code, status, request id and issues', async () => {
    const { till } = await open();
    const error = await till.payments
      .create({ amount: { unit: 'iso4217/USD', value: '0' }, referenceId: '' })
      .catch((thrown) => thrown);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.name, error.code, error.status], ['ApiError', 'params_validation', 400]);
    assert.deepEqual(
      error.issues.map(({ field }) => field),
      ['amount.value', 'referenceId'],
    );
    assert.ok(error.requestId);
    await assert.rejects(tillOf(gateway, KEY).merchants.get('mrch_1'), { code: 'invalid_api_key', status: 401 });
    await assert.rejects(till.payments.get('pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'), { code: 'payment_not_found' });
  });

  it('goes through lists of many pages', async () => {
    const { till } = await open();
    const created: string[] = [];
    for (let count = 0; count < 5; count += 1) created.push((await till.payments.create(ORDER)).paymentId);
    const seen: string[] = [];
    for await (const { paymentId } of till.payments.list({ limit: 2, status: ['requires_action', 'cancelled'] })) {
      seen.push(paymentId);
    }
    assert.deepEqual(seen, created.toReversed());
    const sizes: number[] = [];
    for await (const { data } of till.payments.list({ limit: 2 }).pages()) sizes.push(data.length);
    assert.deepEqual(sizes, [2, 2, 1]);
    const merchants: string[] = [];
    for await (const { name } of till.merchants.list({ limit: 1 })) merchants.push(name);
    assert.deepEqual(merchants, ['Test shop']);
  });

  it('follows the feed in order, without a gap, over lost connections', async () => {
    const { fetch } = losingAnswers(0);
    let requests = 0;
    const flaky: Fetch = (url, init) => {
      requests += 1;
      return requests % 3 === 2 ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init);
    };
    const { shop, till } = await open({ fetch: flaky, maxRetries: 0 });
    const steady = tillOf(gateway, shop.secret, { merchantId: shop.merchant.id });
    const stop = new AbortController();
    const seen: TillEvent[] = [];
    let interruptions = 0;
    const following = (async () => {
      const onInterruption = () => {
        interruptions += 1;
      };
      const options = { signal: stop.signal, onInterruption };
      for await (const event of till.events.follow({ types: 'payment.*', limit: 2 }, options)) seen.push(event);
    })();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { paymentId } = await steady.payments.create(ORDER);
      await steady.payments.cancel(paymentId);
      ids.push(paymentId);
    }
    await until('all events were seen', () => seen.length >= 6);
    stop.abort(new Error('enough'));
    await assert.rejects(following, /enough/);
    assert.deepEqual(
      seen.map(({ type, data }) => [type, data.id]),
      ids.flatMap((id) => [
        ['payment.created', id],
        ['payment.cancelled', id],
      ]),
    );
    assert.ok(interruptions > 0);
    const [first] = seen;
    // The type of an event tells what its data is.
    assert.ok(first?.type === 'payment.created' && first.data.gatewayUrl.includes(first.data.id));
    assert.deepEqual(await steady.events.get(first?.id ?? ''), first);
  });

  it('begins at the latest event, and keeps that place if the first connection is lost', async () => {
    const { shop, till } = await open();
    await till.payments.create(ORDER);
    await until('it is in the feed', async () => (await till.events.page({ types: 'payment.*' })).events.length === 1);
    let isLost = true;
    const fetch: Fetch = (url, init) => {
      // The first request that is held.
      if (isLost && url.includes('maxPollMs')) {
        isLost = false;
        return Promise.reject(new TypeError('fetch failed'));
      }
      return fetchFrom(gateway)(url, init);
    };
    const flaky = tillOf(gateway, shop.secret, { merchantId: shop.merchant.id, fetch });
    let paymentId = '';
    const onInterruption = () => void flaky.payments.create(ORDER).then((created) => (paymentId = created.paymentId));
    for await (const { data } of flaky.events.follow({ after: 'latest' }, { onInterruption })) {
      await until('the answer has come', () => paymentId !== '');
      assert.equal(data.id, paymentId);
      break;
    }
  });

  it('waits for the end of a payment, and reports each status', async () => {
    const { till } = await open();
    const { paymentId } = await till.payments.create(ORDER);
    const statuses: string[] = [];
    const waiting = till.payments.waitUntilFinal(paymentId, { onStatus: ({ status }) => statuses.push(status) });
    await until('the first status is known', () => statuses.length === 1);
    await till.payments.cancel(paymentId);
    assert.deepEqual([(await waiting).status, statuses], ['cancelled', ['requires_action', 'cancelled']]);
    assert.equal((await till.payments.waitUntilFinal(paymentId)).status, 'cancelled', 'an end is known at once');
  });

  it('says that a payment is not final yet, and stops when it is told to', async () => {
    const { till } = await open();
    const { paymentId } = await till.payments.create(ORDER);
    const timedOut = till.payments.waitUntilFinal(paymentId, { timeoutMs: 50 });
    await assert.rejects(timedOut, (error) => error instanceof WaitTimeoutError && error.paymentId === paymentId);
    const stopped = till.payments.waitUntilFinal(paymentId, { signal: AbortSignal.abort(new Error('closing')) });
    await assert.rejects(stopped, /closing/);
  });
});

describe('the client library, on answers that fail', () => {
  const answers = (...given: (() => Response)[]) => {
    const requests: { url: string; init: RequestInit }[] = [];
    const fetch: Fetch = async (url, init) => {
      requests.push({ url, init });
      const next = given[Math.min(requests.length, given.length) - 1];
      if (next === undefined) throw new TypeError('fetch failed');
      return next();
    };
    return {
      requests,
      till: createTill({ baseUrl: 'https://till.example/', apiKey: KEY, merchantId: 'mrch_1', maxRetries: 2, fetch }),
    };
  };
  const error =
    (status: number, code: string, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ code, message: 'No.' }, { status, headers });
  const payment = () => Response.json({ paymentId: 'pay_1' }, { status: 201 });

  it('tries again after passing failures, a bounded number of times', async () => {
    for (const passing of [
      error(429, 'rate_limited'),
      error(503, 'internal_error'),
      () => new Response('<html>', { status: 502 }),
    ]) {
      const { till, requests } = answers(passing, passing, payment);
      assert.equal((await till.payments.create(ORDER)).paymentId, 'pay_1');
      assert.equal(requests.length, 3);
    }
    const running = error(409, 'idempotency_conflict', { 'Retry-After': '0' });
    assert.equal((await answers(running, payment).till.payments.create(ORDER)).paymentId, 'pay_1');
    const { till, requests } = answers(error(503, 'internal_error'));
    await assert.rejects(till.payments.create(ORDER), { code: 'internal_error', status: 503 });
    assert.equal(requests.length, 3);
  });

  it('does not try again what would be refused again, or what may have been done', async () => {
    for (const [status, code] of [
      [400, 'params_validation'],
      [409, 'idempotency_conflict'],
      [500, 'internal_error'],
    ] as const) {
      const { till, requests } = answers(error(status, code));
      await assert.rejects(till.payments.create(ORDER), { code, status });
      assert.equal(requests.length, 1, code);
    }
    const { till, requests } = answers(error(503, 'internal_error'));
    await assert.rejects(till.payments.cancel('pay_1'), ApiError);
    assert.equal(requests.length, 1);
    const long = answers(error(429, 'rate_limited', { 'Retry-After': '3600' }));
    await assert.rejects(long.till.payments.create(ORDER), { retryAfterS: 3600 });
    assert.equal(long.requests.length, 1, 'an hour is for the caller to wait');
  });

  it('waits at least for Retry-After, and longer after each failure', () => {
    const refusal = (retryAfterS?: number) =>
      new ApiError({ code: 'rate_limited', message: '' }, { status: 429, retryAfterS });
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const pause = pauseMs(attempt, refusal(), false) ?? 0;
      const most = Math.min(15_000, 250 * 2 ** attempt);
      assert.ok(pause >= most / 2 - 1 && pause <= most, `${pause} after ${attempt}`);
    }
    assert.ok((pauseMs(0, refusal(3), false) ?? 0) > 3_000);
    assert.ok((pauseMs(0, refusal(999_999_999), true) ?? 0) < 2 ** 31 / 1_000, 'a timer can wait that long');
  });

  it('follows no redirect, and says when the answer is not Till’s', async () => {
    const moved = () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } });
    const { till, requests } = answers(moved);
    await assert.rejects(till.payments.get('pay_1'), { code: 'unreadable_answer', status: 302 });
    assert.deepEqual([requests.length, requests[0]?.init.redirect], [1, 'manual']);
    const page = answers(() => new Response('<html>'), payment);
    assert.equal((await page.till.payments.create(ORDER)).paymentId, 'pay_1', 'the request may have been carried out');
    assert.equal(page.requests.length, 2);
    await assert.rejects(answers(() => new Response('<html>')).till.payments.cancel('pay_1'), ConnectionError);
  });

  it('sends nothing that the caller could not have meant', async () => {
    const { till, requests } = answers(payment);
    for (const id of ['', '..', 'pay_1/cancel', 'pay_1?x=1', 'a'.repeat(129)]) {
      await assert.rejects(async () => till.payments.get(id), TypeError);
    }
    const options = { baseUrl: 'https://till.example', apiKey: KEY };
    await assert.rejects(async () => createTill(options).payments.create(ORDER), /merchantId is missing/);
    for (const baseUrl of [
      'till.example',
      'ftp://till.example',
      'https://user:pass@till.example',
      'https://till.example?x',
    ]) {
      assert.throws(() => createTill({ ...options, baseUrl }), TypeError);
    }
    assert.equal(requests.length, 0);
  });

  it('shows the key to nobody', async () => {
    const { till, requests } = answers();
    const thrown = await till.payments.get('pay_1').catch((problem) => problem);
    assert.equal(new Headers(requests[0]?.init.headers).get('api-key'), KEY);
    assert.ok(!inspect([till, thrown], { depth: 9, showHidden: true }).includes(KEY));
    assert.throws(
      () => createTill({ baseUrl: 'https://till.example', apiKey: `${KEY}\n` }),
      (problem) => !inspect(problem).includes(KEY),
    );
  });

  it('stops at once when it is told to', async () => {
    const { till, requests } = answers(error(429, 'rate_limited', { 'Retry-After': '60' }));
    const stop = new AbortController();
    const asking = till.payments.get('pay_1', { signal: stop.signal });
    await until('the first attempt was made', () => requests.length === 1);
    stop.abort(new Error('closing'));
    await assert.rejects(asking, /closing/);
    await assert.rejects(till.payments.get('pay_1', { signal: stop.signal }), /closing/);
    assert.equal(requests.length, 1);
  });

  it('gives up an attempt that is not answered', async () => {
    const silent: Fetch = (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const till = createTill({
      baseUrl: 'https://till.example',
      apiKey: KEY,
      fetch: silent,
      timeoutMs: 10,
      maxRetries: 1,
    });
    await assert.rejects(till.merchants.get('mrch_1'), ConnectionError);
  });
});
