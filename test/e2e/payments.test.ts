import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changeMerchant, deleteMerchant } from '../../src/actions/parties/change-merchant.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { isId } from '../../src/domain/ids.ts';
import type { MerchantStatus } from '../../src/domain/merchant.ts';
import type { Mode } from '../../src/domain/mode.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startJobs } from '../../src/workers/loop.ts';
import {
  createTestApp,
  createTestKey,
  createTestMerchant,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { until } from '../until.ts';
import {
  BUYER,
  type CreatedBody,
  countPayments,
  type Headers,
  happen,
  ORDER,
  openShop,
  payer,
  type Shop,
  TOKEN,
  TX_HASH,
} from './shop.ts';

const PAYMENT_ID = /^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const USDC = 'caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SANDBOX_ETH = 'caip19/eip155:31337/slip44:60';
const SOLANA_USDC = 'caip19/solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

describe('payments', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  /** The shop's own key, used as a wallet would. */
  let wallet: ReturnType<typeof payer>;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock } });
    shop = await openShop(gateway);
    wallet = payer(gateway, { 'api-key': shop.secret });
  });
  after(() => gateway.stop());

  const nowS = () => Math.floor(time.clock.nowMs() / 1000);
  const seconds = (ms: number) => time.advance(ms * 1000);
  const stored = async (id: string) => {
    const [row] = await gateway.db.sql`select * from payments where id = ${id}`;
    return row as Record<string, unknown>;
  };
  async function refused(
    response: Promise<{ statusCode: number; json(): { code: string } }>,
  ): Promise<[number, string]> {
    const { statusCode, json } = await response;
    return [statusCode, json().code];
  }
  const fieldsOf = ({ issues }: { issues?: { field: string }[] }) => issues?.map(({ field }) => field);

  describe('are created', () => {
    it('with the gateway URL and the id for later reads', async () => {
      const response = await shop.create();
      assert.equal(response.statusCode, 201);
      const body: CreatedBody = response.json();
      assert.match(body.paymentId, PAYMENT_ID);
      assert.deepEqual(body, {
        paymentId: body.paymentId,
        status: 'requires_action',
        expiresAt: nowS() + 300,
        isFinal: false,
        gatewayUrl: `http://localhost:8080/?pid=${body.paymentId}`,
        pollInMs: 1000,
      });
      assert.equal(response.headers['idempotent-replayed'], undefined);
      const another = await shop.created();
      assert.notEqual(another.paymentId, body.paymentId, 'nothing but a key makes two requests one');
    });

    it('and answered alike in every version of the API', async () => {
      for (const version of ['2026-02-18', '2026-02-19.preview']) {
        const checkout = { successUrl: 'https://shop.example/thanks', errorUrl: 'https://shop.example/sorry' };
        const response = await shop.create({ ...ORDER, checkout }, { 'pay-version': version });
        assert.equal(response.statusCode, 201, response.body);
        assert.equal(response.headers['pay-version'], version);
        assert.deepEqual(Object.keys(response.json()).sort(), Object.keys(await shop.created()).sort());
      }
    });

    for (const [code, decimals, name] of [
      ['JPY', 0, 'Yen'],
      ['USD', 2, 'US Dollar'],
      ['KWD', 3, 'Kuwaiti Dinar'],
    ] as const) {
      it(`in ${code}, whose amounts have ${decimals} decimals`, async () => {
        const amount = { unit: `iso4217/${code}`, value: '1234' };
        const { paymentId } = await shop.created({ amount });
        const display = { assetSymbol: code, assetName: name, decimals };
        assert.deepEqual((await wallet.info(paymentId)).json().amount, { ...amount, display });
      });
    }

    it('in a token, however its address is spelled, and shown in the one canonical spelling', async () => {
      const [prefix, digits = ''] = USDC.split('0x');
      const display = {
        assetSymbol: 'USDC',
        assetName: 'USD Coin',
        decimals: 6,
        networkName: 'Base',
        iconUrl: 'http://localhost:8080/icons/token/USDC.svg',
        networkIconUrl: 'http://localhost:8080/icons/network/eip155-8453.svg',
      };
      for (const unit of [USDC, `${prefix}0x${digits.toLowerCase()}`, `${prefix}0x${digits.toUpperCase()}`]) {
        const { paymentId } = await shop.created({ amount: { unit, value: '10000000' } });
        const { amount, buyer } = (await wallet.info(paymentId)).json();
        assert.deepEqual(amount, { unit: USDC, value: '10000000', display });
        assert.equal(buyer, null);
      }
      for (const [unit, symbol, decimals] of [
        [SANDBOX_ETH, 'ETH', 18],
        [SOLANA_USDC, 'USDC', 6],
      ] as const) {
        const { paymentId } = await shop.created({ amount: { unit, value: '1' } });
        const { amount } = (await wallet.info(paymentId)).json();
        assert.deepEqual([amount.unit, amount.display.assetSymbol, amount.display.decimals], [unit, symbol, decimals]);
      }
    });

    it('but not in a token whose address has a wrong checksum', async () => {
      const before = await countPayments(gateway, shop.merchant.id);
      const wrong = USDC.replace('0x833589fCD', '0x833589FCD');
      const response = await shop.create({ ...ORDER, amount: { unit: wrong, value: '1' } });
      assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
      assert.deepEqual(fieldsOf(response.json()), ['amount.unit']);
      assert.match(response.json().message, /checksum/);
      assert.equal(await countPayments(gateway, shop.merchant.id), before);
    });

    it('with amounts of any size up to 78 digits, to the last digit', async () => {
      for (const value of ['1', '9007199254740993', '9'.repeat(78)]) {
        const { paymentId } = await shop.created({ amount: { unit: 'iso4217/USD', value } });
        assert.equal((await wallet.info(paymentId)).json().amount.value, value);
      }
    });

    it('with any order id of 1 to 255 characters', async () => {
      for (const referenceId of [
        'x',
        ' ',
        'Größe 42 / наушники 🎧',
        '🎧'.repeat(255),
        "'; drop table payments; --",
        '\\"{}%_',
      ]) {
        const { paymentId } = await shop.created({ referenceId });
        assert.equal((await shop.details(paymentId)).json().referenceId, referenceId);
      }
    });

    it('with where to send the payer at the end: both URLs or none', async () => {
      const checkout = { successUrl: 'https://shop.example/thanks?o=1#top', errorUrl: 'https://shop.example/sorry' };
      const local = { successUrl: 'http://localhost:3000/ok', errorUrl: 'http://127.0.0.1/no' };
      const long = { ...checkout, successUrl: `https://shop.example/${'a'.repeat(2048 - 21)}` };
      for (const urls of [checkout, local, long]) {
        const row = await stored((await shop.created({ checkout: urls })).paymentId);
        assert.deepEqual([row.success_url, row.error_url], [urls.successUrl, urls.errorUrl]);
      }
      for (const none of [undefined, null]) {
        const row = await stored((await shop.created({ checkout: none })).paymentId);
        assert.deepEqual([row.success_url, row.error_url], [null, null]);
      }
    });

    it('to end when the merchant says, from the next second to 30 days ahead, or in five minutes', async () => {
      await time.advance(400);
      for (const expiresAt of [nowS() + 1, nowS() + 3600, nowS() + 30 * 24 * 3600]) {
        const { paymentId, expiresAt: announced } = await shop.created({ expiresAt });
        assert.equal(announced, expiresAt);
        assert.equal((await wallet.info(paymentId)).json().expiresAt, expiresAt);
      }
      assert.equal((await shop.created({ expiresAt: null })).expiresAt, nowS() + 300);
    });

    it('by the singular paths too, which shipped point-of-sale software calls', async () => {
      const key = { ...shop.headers, 'idempotency-key': freshKey() };
      const response = await gateway.call({
        method: 'POST',
        url: '/v1/merchant/payment',
        headers: key,
        payload: ORDER,
      });
      assert.equal(response.statusCode, 201);
      const { paymentId } = response.json();
      const again = await gateway.call({ method: 'POST', url: '/v1/payments', headers: key, payload: ORDER });
      assert.equal(again.body, response.body, 'both paths are one route: a key used on one is used on the other');
      const status = await gateway.call({ url: `/v1/merchant/payment/${paymentId}/status`, headers: shop.headers });
      assert.equal(status.statusCode, 200);
      assert.deepEqual(status.json(), (await shop.status(paymentId)).json());
      assert.equal(status.headers.etag, '"requires_action"');
    });

    it('only by keys that may', async () => {
      const keyWith = async (key: Parameters<typeof createTestKey>[2]) => ({
        ...shop.headers,
        'api-key': (await createTestKey(gateway, shop.partner.id, key)).secret,
      });
      const other = await createTestMerchant(gateway, { 'api-key': shop.secret });
      const reader = await keyWith({ key: { scopes: ['payments:read'] } });
      const elsewhere = await keyWith({ key: { merchantIds: [other.id] } });
      const writer = await keyWith({ key: { scopes: ['payments:write'], merchantIds: [shop.merchant.id] } });
      for (const headers of [reader, elsewhere]) {
        assert.deepEqual(await refused(shop.create(ORDER, headers)), [403, 'forbidden']);
      }
      const { paymentId } = (await shop.create(ORDER, writer)).json();
      assert.equal((await shop.status(paymentId, reader)).statusCode, 200);
      assert.deepEqual(await refused(shop.status(paymentId, writer)), [403, 'forbidden']);
      assert.deepEqual(await refused(shop.cancel(paymentId, reader)), [403, 'forbidden']);
      assert.equal((await shop.cancel(paymentId, writer)).statusCode, 200);
    });

    it('but not by a live key in an asset of a test network', async () => {
      const live = await openShop(gateway, { mode: 'live' });
      const response = await live.create({ ...ORDER, amount: { unit: SANDBOX_ETH, value: '1' } });
      assert.deepEqual([response.statusCode, response.json().code], [403, 'not_sandbox_api_key']);
      assert.equal(await countPayments(gateway, live.merchant.id), 0);
      assert.equal((await live.create({ ...ORDER, amount: { unit: USDC, value: '1' } })).statusCode, 201);
      await shop.created({ amount: { unit: USDC, value: '1' } });
    });

    it('but not below their fees', async () => {
      const { merchant, partner, create } = await openShop(gateway);
      const insertFees = (merchantId: string | null, percentage: string, value: string) => gateway.db.sql`
        insert into fees (partner_id, merchant_id, percentage, fixed, starts_at, created_at)
        values (${partner.id}, ${merchantId}, ${percentage},
          ${gateway.db.sql.json([{ unit: 'iso4217/USD', value }])}, now() - interval '10 years', now())`;
      const pay = (value: string, unit = 'iso4217/USD') => create({ ...ORDER, amount: { unit, value } });
      await insertFees(null, '1.5', '14');
      const low = await pay('13');
      assert.deepEqual([low.statusCode, low.json().code], [400, 'params_validation']);
      assert.match(low.json().message, /Amount must be at least 14\b/);
      assert.deepEqual(fieldsOf(low.json()), ['amount.value']);
      assert.equal(await countPayments(gateway, merchant.id), 0);
      assert.equal((await pay('14')).statusCode, 201);
      assert.equal((await pay('1', 'iso4217/EUR')).statusCode, 201, 'where no fixed part is listed, none is taken');

      await insertFees(merchant.id, '0', '100');
      await seconds(5);
      assert.match((await pay('99')).json().message, /Amount must be at least 100\b/, 'its own terms win');
      assert.equal((await pay('100')).statusCode, 201);
    });
  });

  describe('are created once per Idempotency-Key', () => {
    const isReplay = ({ headers }: { headers: Record<string, unknown> }) => headers['idempotent-replayed'] === 'true';

    it('when the request is sent again, however it is spelled', async () => {
      const { create, merchant } = await openShop(gateway);
      const key = freshKey();
      const order = { ...ORDER, amount: { unit: USDC, value: '5' } };
      const first = await create(order, { 'idempotency-key': key });
      assert.equal(first.statusCode, 201);
      await seconds(2);
      const spellings: [object | string, string][] = [
        [order, key],
        [order, `"${key}"`],
        [{ ...order, checkout: null, expiresAt: null }, key],
        [{ ...order, amount: { value: '5', unit: USDC.toLowerCase() } }, key],
        [{ ...order, unknown: 'members mean nothing' }, key],
      ];
      for (const [body, spelled] of spellings) {
        const retry = await create(body, { 'idempotency-key': spelled });
        assert.equal(retry.statusCode, 201);
        assert.equal(retry.body, first.body);
        assert.ok(isReplay(retry));
      }
      assert.equal(await countPayments(gateway, merchant.id), 1);
    });

    it('and refused when the key was used for something else', async () => {
      const { create, merchant } = await openShop(gateway);
      const key = { 'idempotency-key': freshKey() };
      await create(ORDER, key);
      for (const fields of [
        { referenceId: 'ORDER-43' },
        { amount: { unit: 'iso4217/USD', value: '1001' } },
        { amount: { unit: 'iso4217/EUR', value: '1000' } },
        { expiresAt: nowS() + 300 },
        { checkout: { successUrl: 'https://shop.example/a', errorUrl: 'https://shop.example/b' } },
      ]) {
        assert.deepEqual(await refused(create({ ...ORDER, ...fields }, key)), [409, 'idempotency_conflict']);
      }
      assert.equal(await countPayments(gateway, merchant.id), 1);
      assert.equal((await create({ ...ORDER, referenceId: '' }, key)).statusCode, 400, 'what is wrong is told first');
    });

    it('to a retry after the expiry that it asked for', async () => {
      const key = { 'idempotency-key': freshKey() };
      const order = { ...ORDER, expiresAt: nowS() + 60 };
      const first = await shop.create(order, key);
      await time.advance(61_000);
      const again = await shop.create(order, key);
      assert.equal(again.statusCode, 201, again.body);
      assert.ok(isReplay(again));
      const { paymentId } = first.json();
      assert.deepEqual(again.json(), { ...first.json(), status: 'expired', isFinal: true, pollInMs: null });
      assert.equal((await shop.details(paymentId)).json().status, 'expired');
      assert.equal((await shop.create(order, { 'idempotency-key': freshKey() })).json().code, 'params_validation');
      const other = await shop.create({ ...order, referenceId: 'OTHER' }, key);
      assert.deepEqual([other.statusCode, other.json().code], [409, 'idempotency_conflict']);
    });

    it('where another merchant’s key of the same spelling is another key', async () => {
      const key = { 'idempotency-key': freshKey() };
      const { headers, create } = await openShop(gateway);
      const sibling = await createTestMerchant(gateway, headers);
      const ids = new Set<string>();
      for (const answer of [
        await create(ORDER, key),
        await create(ORDER, { ...key, 'merchant-id': sibling.id }),
        await (await openShop(gateway)).create(ORDER, key),
        await (await openShop(gateway, { mode: 'live' })).create(ORDER, key),
      ]) {
        assert.equal(answer.statusCode, 201);
        assert.ok(!isReplay(answer));
        ids.add(answer.json().paymentId);
      }
      assert.equal(ids.size, 4);
    });

    it('when a hundred clients send it at once to two nodes: one payment, a hundred equal answers', async () => {
      const other = await startTestGateway({ databaseUrl: gateway.databaseUrl, world: { clock: time.clock } });
      try {
        const { create, merchant } = await openShop(gateway);
        const key = { 'idempotency-key': freshKey() };
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, index) => create(ORDER, key, index % 2 === 0 ? gateway : other)),
        );
        assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([201]));
        assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
        assert.equal(answers.filter(isReplay).length, 99);
        assert.equal(await countPayments(gateway, merchant.id), 1);
      } finally {
        await other.stop();
      }
    });

    it('and a retry returns the current status', async () => {
      const key = { 'idempotency-key': freshKey() };
      const first: CreatedBody = (await shop.create(ORDER, key)).json();
      await seconds(300);
      const late = await shop.create(ORDER, key);
      assert.equal(late.statusCode, 201);
      assert.deepEqual(late.json(), { ...first, status: 'expired', isFinal: true, pollInMs: null });
    });

    it('unless the key is not one', async () => {
      const { create, merchant } = await openShop(gateway);
      for (const key of ['""', 'x'.repeat(256), 'tab\there']) {
        const response = await create(ORDER, { 'idempotency-key': key });
        assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation'], key);
        assert.deepEqual(fieldsOf(response.json()), ['Idempotency-Key']);
      }
      assert.equal(await countPayments(gateway, merchant.id), 0);
    });
  });

  describe('are read', () => {
    /** The same payment by every route that shows it. */
    async function views(id: string) {
      const [details, status, info, payerStatus] = await Promise.all([
        shop.details(id),
        shop.status(id),
        wallet.info(id),
        wallet.status(id),
      ]);
      for (const { statusCode } of [details, status, info, payerStatus]) assert.equal(statusCode, 200);
      assert.deepEqual(payerStatus.json(), status.json(), 'merchant and payer read one status');
      for (const { headers } of [status, payerStatus]) assert.equal(headers.etag, `"${status.json().status}"`);
      return { details: specified(details.json()), status: status.json(), info: info.json() };
    }

    /** The fields of the specification; the others never change. */
    function specified(body: Record<string, unknown>): Record<string, unknown> {
      const fields = ['referenceId', 'status', 'failureCode', 'info', 'settlement'];
      return Object.fromEntries(fields.flatMap((name) => (name in body ? [[name, body[name]]] : [])));
    }

    it('while they wait for the payer', async () => {
      const { paymentId, expiresAt } = await shop.created();
      assert.deepEqual(await views(paymentId), {
        details: { referenceId: 'ORDER-42', status: 'requires_action', info: null, settlement: null },
        status: { status: 'requires_action', isFinal: false, pollInMs: 1000, info: null },
        info: {
          status: 'requires_action',
          amount: { ...ORDER.amount, display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 } },
          expiresAt,
          merchant: { name: 'Test shop', iconUrl: null },
          buyer: null,
          accepted: [],
          transaction: null,
          attempt: null,
          lateMoney: [],
        },
      });
    });

    it('while the payer’s money is on its way', async () => {
      const { paymentId } = await shop.created();
      await happen(gateway, paymentId, 'confirmed');
      const { details, status, info } = await views(paymentId);
      assert.deepEqual(details, { referenceId: 'ORDER-42', status: 'processing', info: null, settlement: null });
      assert.deepEqual(status, { status: 'processing', isFinal: false, pollInMs: 2000, info: null });
      assert.deepEqual(info.buyer, {
        accountCaip10: BUYER.account,
        accountProviderName: 'Wallet',
      });
      await seconds(301);
      assert.equal((await views(paymentId)).status.status, 'processing', 'what was signed in time is not expired');
    });

    it('with the paid amount, only when they have succeeded', async () => {
      const { paymentId } = await shop.created();
      await happen(gateway, paymentId, 'confirmed', 'succeeded');
      const display = {
        assetSymbol: 'USDC',
        assetName: 'USD Coin',
        decimals: 6,
        networkName: 'Base',
        iconUrl: 'http://localhost:8080/icons/token/USDC.svg',
        networkIconUrl: 'http://localhost:8080/icons/network/eip155-8453.svg',
      };
      const paid = { optionAmount: { unit: `caip19/${TOKEN.asset}`, value: '10000000', display }, txId: TX_HASH };
      const { details, status, info } = await views(paymentId);
      assert.deepEqual(details, { referenceId: 'ORDER-42', status: 'succeeded', info: paid, settlement: null });
      assert.deepEqual(status, { status: 'succeeded', isFinal: true, pollInMs: null, info: paid });
      assert.equal(info.status, 'succeeded');
      const explorerUrl = `https://basescan.org/tx/${TX_HASH}`;
      assert.deepEqual(info.transaction, { chainId: 'eip155:8453', txId: TX_HASH, explorerUrl });
    });

    it('with why, when they have failed and only then', async () => {
      for (const [event, failureCode] of [
        ['failed', null],
        ['declined', 'declined_user'],
      ] as const) {
        const { paymentId } = await shop.created();
        await happen(gateway, paymentId, 'confirmed', event);
        const { details, status, info } = await views(paymentId);
        assert.deepEqual(details, {
          referenceId: 'ORDER-42',
          status: 'failed',
          failureCode,
          info: null,
          settlement: null,
        });
        assert.deepEqual(status, { status: 'failed', isFinal: true, pollInMs: null, info: null, failureCode });
        assert.equal(info.status, 'failed');
      }
    });

    it('as expired from their last second on, whether or not the sweeper has been by', async () => {
      const { paymentId, expiresAt } = await shop.created();
      const statuses = async () => {
        const { details, status, info } = await views(paymentId);
        return [details.status, status.status, info.status];
      };
      await time.advance(expiresAt * 1000 - 1 - time.clock.nowMs());
      assert.deepEqual(await statuses(), ['requires_action', 'requires_action', 'requires_action']);
      await time.advance(1);
      assert.deepEqual(await statuses(), ['expired', 'expired', 'expired']);
      assert.deepEqual((await views(paymentId)).status, {
        status: 'expired',
        isFinal: true,
        pollInMs: null,
        info: null,
      });
      assert.equal((await stored(paymentId)).status, 'requires_action', 'nobody has swept');
      await expirePayments(gateway);
      assert.equal((await stored(paymentId)).status, 'expired');
      assert.deepEqual(await statuses(), ['expired', 'expired', 'expired']);
    });

    it('as processing past their expiry while a native transaction may still arrive', async () => {
      const { paymentId, expiresAt } = await shop.created();
      await gateway.db.sql`
        update payments set native_deadline = ${new Date(expiresAt * 1000)} where id = ${paymentId}`;
      assert.equal((await views(paymentId)).status.status, 'requires_action');
      await seconds(600);
      await expirePayments(gateway);
      const { details, status, info } = await views(paymentId);
      assert.deepEqual(status, { status: 'processing', isFinal: false, pollInMs: 2000, info: null });
      assert.deepEqual([details.status, info.status], ['processing', 'processing']);
      const refusal = await shop.cancel(paymentId);
      assert.deepEqual([refusal.statusCode, refusal.json().code], [400, 'invalid_state']);
      assert.match(refusal.json().message, /processing/, 'the refusal tells the status that everybody sees');

      const finalBlockAtMs = expiresAt * 1000 + 1;
      const event = { type: 'expired', proof: { finalBlockAtMs } } as const;
      assert.ok((await gateway.movePayment({ paymentId, event, actor: 'watcher', evidence: { finalBlockAtMs } })).ok);
      assert.equal((await views(paymentId)).status.status, 'expired');
    });

    it('by their own merchant alone', async () => {
      const { paymentId } = await shop.created();
      const sibling = await createTestMerchant(gateway, { 'api-key': shop.secret });
      const live = await openShop(gateway, { mode: 'live' });
      const strangers: Headers[] = [
        { ...shop.headers, 'merchant-id': sibling.id },
        (await openShop(gateway)).headers,
        live.headers,
      ];
      for (const headers of strangers) {
        for (const read of [shop.details, shop.status, shop.cancel]) {
          assert.deepEqual(await refused(read(paymentId, headers)), [404, 'payment_not_found']);
        }
      }
      const livePayment = await live.created();
      assert.deepEqual(await refused(shop.status(livePayment.paymentId)), [404, 'payment_not_found']);
      assert.equal((await shop.status(paymentId)).json().status, 'requires_action');
    });

    it('not when there is none', async () => {
      const { paymentId } = await shop.created();
      const others = [
        paymentId.toLowerCase(),
        paymentId.slice(0, -1),
        `${paymentId}0`,
        'pay_',
        'pay_%00',
        '%F0%9F%8D%A9',
        'x'.repeat(500),
      ];
      for (const id of ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', ...others]) {
        for (const read of [shop.details, shop.status, shop.cancel, wallet.info, wallet.status, wallet.cancel]) {
          assert.deepEqual(await refused(read(id)), [404, 'payment_not_found'], id);
        }
      }
    });
  });

  describe('are open to the payer', () => {
    const clientId = 'did:key:z6Mk';
    const appOf = async (mode: Mode) => ({ 'app-id': (await createTestApp(gateway, mode)).id, 'client-id': clientId });

    it('by any key or wallet app of their mode: the id is the capability', async () => {
      const { paymentId } = await shop.created();
      const stranger = await openShop(gateway);
      for (const headers of [{ 'api-key': stranger.secret }, await appOf('test')] as Headers[]) {
        const { info, status } = payer(gateway, headers);
        assert.equal((await info(paymentId)).json().merchant.name, 'Test shop');
        assert.equal((await status(paymentId)).json().status, 'requires_action');
      }
      const live = await openShop(gateway, { mode: 'live' });
      for (const headers of [{ 'api-key': live.secret }, await appOf('live')] as Headers[]) {
        const { info, status, cancel } = payer(gateway, headers);
        for (const call of [info, status, cancel]) {
          assert.deepEqual(await refused(call(paymentId)), [404, 'payment_not_found']);
        }
      }
      const nobody = payer(gateway, {});
      assert.deepEqual(await refused(nobody.status(paymentId)), [401, 'missing_auth_headers']);
    });

    it('under the gateway URL itself, percent-encoded once or twice, in place of the id', async () => {
      const once = encodeURIComponent;
      const twice = (text: string) => encodeURIComponent(encodeURIComponent(text));
      for (const urlOf of [
        ({ gatewayUrl }: CreatedBody) => gatewayUrl,
        ({ paymentId }: CreatedBody) => `http://localhost:8080/${paymentId}`,
        ({ paymentId }: CreatedBody) => `http://localhost:8080/${paymentId}?pid=`,
        ({ gatewayUrl }: CreatedBody) => `${gatewayUrl}&returnUrl=myapp%3A%2F%2Fback&preferUniversalLinks=1#top`,
        ({ gatewayUrl }: CreatedBody) => gatewayUrl.replace('http://localhost', 'HTTP://LOCALHOST'),
      ]) {
        for (const encode of [once, twice]) {
          const payment = await shop.created();
          const id = encode(urlOf(payment));
          assert.equal((await wallet.info(id)).json().expiresAt, payment.expiresAt, id);
          assert.equal((await wallet.status(id)).json().status, 'requires_action');
          assert.equal((await wallet.cancel(id)).json().paymentId, payment.paymentId);
        }
      }
    });

    it('but not under the URL of another place', async () => {
      const { paymentId, gatewayUrl } = await shop.created();
      for (const url of [
        `https://pay.example.com/?pid=${paymentId}`,
        gatewayUrl.replace('http:', 'https:'),
        gatewayUrl.replace(':8080', ':8081'),
        gatewayUrl.replace('localhost', 'localhost.example.com'),
        gatewayUrl.replace('localhost', 'localhost@example.com'),
        gatewayUrl.replace(paymentId, 'x'),
        'http://localhost:8080/',
        `javascript:${paymentId}`,
        `/?pid=${paymentId}`,
        `%${paymentId}`,
      ]) {
        for (const id of [encodeURIComponent(url), encodeURIComponent(encodeURIComponent(url))]) {
          for (const call of [wallet.info, wallet.status, wallet.cancel]) {
            assert.deepEqual(await refused(call(id)), [404, 'payment_not_found'], id);
          }
        }
      }
      assert.deepEqual(
        await refused(shop.status(encodeURIComponent(gatewayUrl))),
        [404, 'payment_not_found'],
        'merchants have the id',
      );
    });
  });

  describe('are cancelled', () => {
    it('by the merchant, while they wait for the payer', async () => {
      const { paymentId } = await shop.created();
      await time.advance(1_234);
      const cancelledAt = new Date(time.clock.nowMs()).toISOString();
      const response = await shop.cancel(paymentId);
      assert.equal(response.statusCode, 200);
      const reason = { cancelledReason: 'cancelled_by_merchant', cancelledAt };
      assert.deepEqual(response.json(), { paymentId, status: 'cancelled', ...reason });
      const { status } = (await shop.details(paymentId)).json();
      assert.equal(status, 'cancelled');
      assert.deepEqual((await wallet.status(paymentId)).json(), {
        status: 'cancelled',
        isFinal: true,
        pollInMs: null,
        info: null,
      });
      const events = await listEvents(gateway.db.sql, paymentId);
      assert.deepEqual(
        events.map(({ id: _, ...event }) => event),
        [
          {
            type: 'payment.created',
            sequence: 1,
            at: new Date(Date.parse(cancelledAt) - 1_234),
            actor: `key:${shop.key.id}`,
            data: {},
            evidence: {},
          },
          {
            type: 'payment.cancelled',
            sequence: 2,
            at: new Date(cancelledAt),
            actor: `key:${shop.key.id}`,
            data: { status: 'cancelled', updatedAt: cancelledAt },
            evidence: { by: 'merchant' },
          },
        ],
      );
      for (const { id } of events) assert.ok(isId('evt_', id), id);
    });

    it('by the payer, whose wallet is remembered', async () => {
      const { paymentId } = await shop.created();
      const app = await createTestApp(gateway);
      const { cancel } = payer(gateway, { 'app-id': app.id, 'client-id': 'x' });
      const response = await cancel(paymentId);
      assert.equal(response.statusCode, 200);
      assert.deepEqual([response.json().status, response.json().cancelledReason], ['cancelled', 'cancelled_by_user']);
      const [, event] = await listEvents(gateway.db.sql, paymentId);
      assert.deepEqual([event?.actor, event?.evidence], [`app:${app.id}`, { by: 'user' }]);
    });

    it('once, when twenty ask at the same moment on two nodes', async () => {
      const other = await startTestGateway({ databaseUrl: gateway.databaseUrl, world: { clock: time.clock } });
      try {
        const nodeOf = (index: number) => (index % 2 === 0 ? gateway : other);
        const askers: ((id: string, index: number) => ReturnType<typeof shop.cancel>)[] = [
          (id, index) => shop.cancel(id, shop.headers, nodeOf(index)),
          (id, index) => wallet.cancel(id, nodeOf(index)),
          (id, index) =>
            index % 4 < 2 ? shop.cancel(id, shop.headers, nodeOf(index)) : wallet.cancel(id, nodeOf(index)),
        ];
        for (const ask of askers) {
          const { paymentId } = await shop.created();
          const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(paymentId, index)));
          const refusals = answers.filter(({ statusCode }) => statusCode !== 200);
          assert.equal(refusals.length, 19);
          for (const refusal of refusals) {
            assert.deepEqual([refusal.statusCode, refusal.json().code], [400, 'invalid_state']);
            assert.match(refusal.json().message, /cancelled/);
          }
          assert.equal((await listEvents(gateway.db.sql, paymentId)).length, 2);
        }
      } finally {
        await other.stop();
      }
    });

    it('only from requires_action', async () => {
      for (const [events, status] of [
        [['confirmed'], 'processing'],
        [['confirmed', 'succeeded'], 'succeeded'],
        [['failed'], 'failed'],
      ] as const) {
        const { paymentId } = await shop.created();
        await happen(gateway, paymentId, ...events);
        for (const ask of [shop.cancel, wallet.cancel]) {
          const response = await ask(paymentId);
          assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
          assert.match(response.json().message, new RegExp(status));
        }
        assert.equal((await shop.status(paymentId)).json().status, status);
      }
    });

    it('not once they have expired, whether or not the sweeper has been by', async () => {
      const { paymentId } = await shop.created();
      await seconds(300);
      for (const sweep of [() => {}, () => expirePayments(gateway)]) {
        await sweep();
        for (const ask of [shop.cancel, wallet.cancel]) {
          const response = await ask(paymentId);
          assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
          assert.match(response.json().message, /expired/);
        }
      }
      assert.deepEqual(
        (await listEvents(gateway.db.sql, paymentId)).map(({ type, actor }) => [type, actor]),
        [
          ['payment.created', `key:${shop.key.id}`],
          ['payment.expired', 'sweeper'],
        ],
      );
    });

    it('with any body or none, of any type', async () => {
      const bodies: [type: string | undefined, payload: string | Buffer | undefined][] = [
        [undefined, undefined],
        ['application/json', undefined],
        ['application/json', '{}'],
        ['application/json', '{"reason":"changed my mind"}'],
        ['application/json', '{not JSON'],
        ['application/json; charset=utf-8', 'null'],
        ['text/plain', 'please'],
        ['application/x-www-form-urlencoded', 'a=b'],
        ['multipart/form-data; boundary=x', '--x--'],
        ['application/octet-stream', Buffer.from([0, 0xff, 0xfe])],
        [undefined, 'x'],
      ];
      for (const [type, payload] of bodies) {
        for (const url of ['/v1/payments', '/v1/gateway/payment']) {
          const { paymentId } = await shop.created();
          const response = await gateway.call({
            method: 'POST',
            url: `${url}/${paymentId}/cancel`,
            headers: { ...shop.headers, ...(type !== undefined && { 'content-type': type }) },
            ...(payload !== undefined && { payload }),
          });
          assert.equal(response.statusCode, 200, `${type} ${payload}: ${response.body}`);
        }
      }
    });
  });

  it('are expired by every node in the background, and waiting requests are answered', async () => {
    const nodeTime = manualTime(time.clock.nowMs());
    const nodes = [
      await startTestGateway({ databaseUrl: gateway.databaseUrl, world: nodeTime }),
      await startTestGateway({ databaseUrl: gateway.databaseUrl, world: nodeTime }),
    ];
    const stops = nodes.map((node) => startJobs(node, housekeepingJobs(node)));
    try {
      const [one, two] = [await shop.created(), await shop.created()];
      const announced = new Set<string>();
      nodes[0]?.feed.subscribe((ids) => {
        for (const id of ids ?? []) announced.add(id);
      });
      await nodeTime.advance(300_000);
      // One pass of the job each, with as much delay as it may have.
      for (let seconds = 0; seconds < 2; seconds += 1) await nodeTime.advance(1_200);
      for (const { paymentId } of [one, two]) {
        await until('it is expired', async () => (await stored(paymentId)).status === 'expired');
        await until('everybody knows', () => announced.has(paymentId));
        assert.equal((await listEvents(gateway.db.sql, paymentId)).length, 2, 'once');
      }
    } finally {
      const stopped = Promise.all(stops.map((stop) => stop()));
      await nodeTime.advance(120_000);
      await stopped;
      await Promise.all(nodes.map((node) => node.stop()));
    }
  });

  describe('of a merchant that stopped', () => {
    const stop = (merchantId: string, status: MerchantStatus) =>
      changeMerchant(gateway, { owner: null, actor: 'operator', merchantId, changes: { status } });
    const remove = (merchantId: string) => deleteMerchant(gateway, { owner: null, actor: 'operator', merchantId });
    /** Longer than any node takes a look at a merchant for fresh. */
    const later = () => seconds(5);

    const WAYS: [name: string, halt: (merchantId: string) => Promise<unknown>, status: number, code: string][] = [
      ['inactive', (id) => stop(id, 'inactive'), 403, 'forbidden'],
      ['suspended', (id) => stop(id, 'suspended'), 403, 'forbidden'],
      ['deleted', remove, 404, 'merchant_not_found'],
    ];
    for (const [name, halt, status, code] of WAYS) {
      it(`because it is ${name} are not created any more, from that moment on`, async () => {
        const { create, merchant } = await openShop(gateway);
        const key = { 'idempotency-key': freshKey() };
        assert.equal((await create(ORDER, key)).statusCode, 201);
        await halt(merchant.id);
        for (const wait of [() => {}, later]) {
          await wait();
          for (const headers of [{}, { 'idempotency-key': freshKey() }] as Headers[]) {
            assert.deepEqual(await refused(create(ORDER, headers)), [status, code]);
          }
        }
        assert.equal(await countPayments(gateway, merchant.id), 1);
        const unused = await gateway.db.sql`
          select 1 from payment_keys where payment_id not in (select id from payments)`;
        assert.equal(unused.length, 0, 'a refusal uses up no key');
      });

      it(`because it is ${name} stay readable and cancellable`, async () => {
        const { created, merchant, details, status: statusOf, cancel } = await openShop(gateway);
        const [one, two] = [await created(), await created()];
        await halt(merchant.id);
        await later();
        assert.equal((await details(one.paymentId)).json().status, 'requires_action');
        assert.equal((await statusOf(one.paymentId)).json().status, 'requires_action');
        assert.equal((await wallet.info(one.paymentId)).json().merchant.name, 'Test shop');
        assert.equal((await wallet.status(one.paymentId)).json().status, 'requires_action');
        assert.equal((await cancel(one.paymentId)).json().cancelledReason, 'cancelled_by_merchant');
        await happen(gateway, two.paymentId, 'confirmed', 'succeeded');
        assert.equal((await statusOf(two.paymentId)).json().status, 'succeeded', 'payable to the end');
      });
    }

    it('are created again when it is active again', async () => {
      const { create, merchant } = await openShop(gateway);
      await stop(merchant.id, 'suspended');
      assert.deepEqual(await refused(create()), [403, 'forbidden']);
      await stop(merchant.id, 'active');
      await later();
      assert.equal((await create()).statusCode, 201);
    });
  });
});
