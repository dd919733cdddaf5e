import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { foldStats } from '../../src/actions/paying/fold-stats.ts';
import { foldPaymentSteps } from '../../src/actions/paying/fold-steps.ts';
import { TIME_LIMITS_S } from '../../src/domain/time-to-pay.ts';
import { foldSteps } from '../../src/store/payments/payment-steps.ts';
import { createTestApp, createTestKey, createTestMerchant } from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import { until } from '../until.ts';
import { fields, type Json, type ListTest, type Query, startListTest } from './list-test.ts';
import { happen, openShop, payer, type Shop } from './shop.ts';

const WRITERS = 6;
const EACH = IS_LONG ? 150 : 12;
const LAPSED = { type: 'lapsed', proof: { finalBlockAtMs: 0 } } as const;

describe('statistics', () => {
  let t: ListTest;
  before(async () => {
    t = await startListTest();
  });
  after(() => t.gateway.stop());

  const asked = async (headers: Record<string, string>, query: Query = {}): Promise<Json> => {
    const response = await t.ask('/v1/statistics/payments', headers, query);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };

  /** Brings all totals up to date. */
  const fold = async () => {
    const { gateway } = t;
    await gateway.openings.flush(gateway);
    await gateway.optionAsks.flush(gateway);
    await until('all events are placed', async () => {
      const [row] = await gateway.db.sql<{ count: number }[]>`select count(*)::int as count from outbox`;
      return row?.count === 0;
    });
    while (await foldStats(gateway));
    while (await foldPaymentSteps(gateway));
  };

  it('count payments, volume, tokens, steps and times by the day of creation', async () => {
    const shop = await openShop(t.gateway);
    const app = await createTestApp(t.gateway);
    const wallet = payer(t.gateway, { 'app-id': app.id, 'client-id': 'test' });
    const paid = await t.add(shop, 'paid', '1050');
    await wallet.info(paid);
    await wallet.info(paid);
    await t.time.advance(9_000);
    await t.pay(paid);
    const coin = await t.add(shop, 'in euros', '200', 'iso4217/EUR');
    await happen(t.gateway, coin, 'confirmed');
    await t.gateway.movePayment({ paymentId: coin, event: LAPSED, actor: 'test', evidence: {} });
    await happen(t.gateway, coin, 'confirmed', 'succeeded');
    const cancelled = await t.add(shop, 'cancelled');
    await shop.cancel(cancelled);
    await t.add(shop, 'open');
    await fold();

    const day = new Date(t.time.clock.nowMs()).toISOString().slice(0, 10);
    const volume = [
      { currency: 'EUR', kind: 'currency', decimals: 2, amount: '2' },
      { currency: 'USD', kind: 'currency', decimals: 2, amount: '10.5' },
    ];
    const statistics = await asked({ 'api-key': shop.secret }, { from: day, until: day });
    assert.deepEqual(statistics, {
      from: day,
      until: day,
      statuses: { requires_action: 1, processing: 0, succeeded: 2, failed: 0, expired: 0, cancelled: 1 },
      volume,
      days: [{ day, payments: 4, succeeded: 2, volume }],
      assets: [
        {
          asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          symbol: 'USDC',
          network: 'eip155:8453',
          networkName: 'Base',
          payments: 2,
          volume,
        },
      ],
      steps: { created: 4, opened: 1, options: 0, signed: 2, paid: 2 },
      timeToPay: { medianSeconds: 2, p90Seconds: 10 },
    });
    assert.deepEqual(
      await asked({ 'api-key': shop.secret }, { from: day, until: day, merchantId: shop.merchant.id }),
      statistics,
    );
  });

  it('show a caller its own merchants alone', async () => {
    const shop = await openShop(t.gateway);
    const second = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
    await t.add(shop, 'first');
    await fold();
    const created = async (headers: Record<string, string>, query: Query = {}) =>
      (await asked(headers, query)).steps.created;
    const limited = await createTestKey(t.gateway, shop.partner.id, { key: { merchantIds: [second.id] } });
    const live = await createTestKey(t.gateway, shop.partner.id, { mode: 'live' });
    assert.equal(await created({ 'api-key': shop.secret }), 1);
    assert.equal(await created({ 'api-key': limited.secret }), 0);
    assert.equal(await created({ 'api-key': limited.secret }, { merchantId: shop.merchant.id }), 0);
    assert.equal(await created({ 'api-key': live.secret }), 0);
    assert.equal(await created({ 'api-key': (await openShop(t.gateway)).secret }), 0);
  });

  it('refuse days that are none, and ranges that are too long', async () => {
    const { secret } = await openShop(t.gateway);
    for (const [query, field] of [
      [{ from: '2026-02-30' }, 'from'],
      [{ until: '2026-13-01' }, 'until'],
      [{ from: '2026-02-02', until: '2026-02-01' }, 'from'],
      [{ from: '2024-01-01', until: '2026-01-01' }, 'from'],
      [{ from: "'; drop table payments" }, 'from'],
    ] as const) {
      const response = await t.ask('/v1/statistics/payments', { 'api-key': secret }, query);
      assert.equal(response.statusCode, 400);
      assert.deepEqual(fields(response.json()), [field]);
    }
  });

  it('count what waits for a person', async () => {
    const shop = await openShop(t.gateway);
    const slow = await t.add(shop, 'slow');
    await happen(t.gateway, slow, 'confirmed');
    const attention = async () => (await t.ask('/v1/statistics/attention', { 'api-key': shop.secret })).json();
    const counts = { waitingRefunds: 0, failedRefunds: 0, failingEndpoints: 0, heldPayments: 0, slowPayments: 0 };
    const nothing = { ...counts, lateMoney: 0 };
    assert.deepEqual(await attention(), nothing);
    await t.time.advance(16 * 60_000);
    assert.deepEqual(await attention(), { ...nothing, slowPayments: 1 });
    await t.gateway.db.sql`
      insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, account, amount, fee,
        is_held, payment_id, merchant_id, is_booked, state, reason, seen_at, updated_at)
      values ('stry_1', 'eip155:1', '0x1', 0, 1, 'late_payment', 'x', '0x1', 5, 0, true, ${slow}, ${shop.merchant.id}, true,
        'unclaimed', 'paid_twice', now(), now())`;
    assert.deepEqual(await attention(), { ...nothing, slowPayments: 1, lateMoney: 1 });
  });

  it('equal a scan of all payments, after concurrent writers, folding nodes and crashes', async () => {
    const shops = await Promise.all([openShop(t.gateway), openShop(t.gateway)]);
    const app = await createTestApp(t.gateway);
    const wallet = payer(t.gateway, { 'app-id': app.id, 'client-id': 'test' });
    const { gateway } = t;
    let isWriting = true;
    const write = async (writer: number) => {
      for (let number = 0; number < EACH; number += 1) {
        const shop = shops[number % 2] as Shop;
        const id = (await shop.created({ amount: { unit: 'iso4217/USD', value: String(100 + number) } })).paymentId;
        if ((number + writer) % 3 > 0) await wallet.info(id);
        if ((number + writer) % 3 === 1) gateway.optionAsks.note(id);
        if (number % 4 === 0) await shop.cancel(id);
        else if (number % 4 === 1) await t.pay(id);
        else if (number % 4 === 2) {
          await happen(gateway, id, 'confirmed');
          await gateway.movePayment({ paymentId: id, event: LAPSED, actor: 'test', evidence: {} });
          if (writer % 2 === 0) await t.pay(id);
        } else await happen(gateway, id, 'confirmed');
        await t.time.advance(700);
      }
    };
    const foldOften = async () => {
      while (isWriting) {
        await gateway.openings.flush(gateway);
        await gateway.optionAsks.flush(gateway);
        await foldStats(gateway);
        await foldPaymentSteps(gateway);
      }
    };
    const crash = async () => {
      for (let times = 0; isWriting && times < 1_000; times += 1) {
        const crashed = command(gateway, async (tx) => {
          await foldSteps(tx, { visits: 3, batches: 2 });
          throw new Error('The node died before the commit.');
        });
        await assert.rejects(crashed, /died/);
      }
    };
    const folding = [foldOften(), foldOften(), crash()];
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    isWriting = false;
    await Promise.all(folding);
    await fold();
    await assertExact(t);
  });

  /** Compares all totals of the database with its payments, events and visits. */
  async function assertExact({ gateway }: ListTest): Promise<void> {
    const { sql } = gateway.db;
    const scanned = await sql`
      select partner_id, mode, merchant_id, (created_at at time zone 'UTC')::date::text as day, status,
        coalesce(token_asset, '') as token_asset, amount_unit, count(*)::text as payments, sum(amount_value)::text as value
      from payments group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7`;
    const kept = await sql`
      select partner_id, mode, merchant_id, day::text, status, token_asset, amount_unit, payments::text, value::text
      from payment_day_stats where payments <> 0 order by 1, 2, 3, 4, 5, 6, 7`;
    assert.deepEqual([...kept], [...scanned]);
    const ofMerchants = await sql`
      select partner_id, mode, day::text, status, token_asset, amount_unit, sum(payments)::text as payments,
        sum(value)::text as value
      from payment_day_stats group by 1, 2, 3, 4, 5, 6 order by 1, 2, day, 4, 5, 6`;
    const ofPartners = await sql`
      select partner_id, mode, day::text, status, token_asset, amount_unit, payments::text, value::text
      from payment_partner_day_stats order by 1, 2, payment_partner_day_stats.day, 4, 5, 6`;
    assert.deepEqual([...ofPartners], [...ofMerchants]);
    const limits = TIME_LIMITS_S.map(String);
    const reached = await sql`
      select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date::text as day, s.step,
        s.within_s, count(*)::text as payments
      from payments p cross join lateral (
        select 'signed' as step, 0 as within_s where exists (select from events e where e.object_id = p.id
          and e.type in ('payment.processing', 'payment.succeeded'))
        union all
        select 'paid', (select min(l) from unnest(${limits}::int[]) l where l >= extract(epoch from
          (select min(at) from events e where e.object_id = p.id and e.type = 'payment.succeeded') - p.created_at))
        where p.status = 'succeeded'
        union all
        select 'opened', 0 from payment_visits v where v.payment_id = p.id
        union all
        select 'options', 0 from payment_visits v where v.payment_id = p.id and v.options_at is not null
      ) s group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`;
    const steps = await sql`
      select partner_id, mode, merchant_id, day::text, step, within_s, payments::text
      from payment_day_steps where merchant_id <> '' order by 1, 2, 3, payment_day_steps.day, 5, 6`;
    assert.deepEqual([...steps], [...reached]);
    const [differences] = await sql<{ count: number }[]>`
      select count(*)::int as count from (
        select partner_id, mode, day, step, within_s, sum(case when merchant_id = '' then -payments else payments end) as off
        from payment_day_steps group by 1, 2, 3, 4, 5
      ) compared where off <> 0`;
    assert.equal(differences?.count, 0);
  }
});
