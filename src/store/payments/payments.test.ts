import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { IS_LONG } from '../../../test/long.ts';
import { REGISTRY } from '../../../test/registry.ts';
import { command, commandOfOne } from '../../actions/command.ts';
import { expirePayments } from '../../actions/paying/expire-payments.ts';
import { findCustomerDays } from '../../actions/paying/find-customer-days.ts';
import { foldStats } from '../../actions/paying/fold-stats.ts';
import { createPaymentMover } from '../../actions/paying/payment-mover.ts';
import { newId } from '../../domain/ids.ts';
import { isFinal, type PaymentEvent, type PaymentStatus } from '../../domain/payment.ts';
import { recordFacts, withRecordedFacts } from '../../domain/payment-facts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { World } from '../../runtime/world.ts';
import { listEvents } from '../events/events.ts';
import { insertMerchant } from '../parties/merchants.ts';
import { insertPartner } from '../parties/partners.ts';
import { openDatabase } from '../plumbing/database.ts';
import { insertPayments, type NewPayment } from './new-payments.ts';
import { findPayments, lockPayments, type Move, movePayments, type Payment } from './payments.ts';

const START_MS = Date.UTC(2026, 2, 1);
const DAY_MS = 86_400_000;
const NODES = 3;

const BUYERS = [1, 2, 3].map((digit) => `eip155:1:0x${String(digit).repeat(40)}`);
const UNITS = [
  { amountUnit: 'iso4217/USD', amountDecimals: 2 },
  { amountUnit: 'iso4217/JPY', amountDecimals: 0 },
  { amountUnit: 'caip19/eip155:1/slip44:60', amountDecimals: 18, tokenAsset: 'eip155:1/slip44:60' },
];
const TOKEN = { asset: 'eip155:1/slip44:60', value: 10n ** 18n };

describe('stored payments', () => {
  let database: TestDatabase;
  let nodes: Node[];
  let nowMs = START_MS;
  const world: World = { ...systemWorld, clock: { nowMs: () => nowMs } };
  const owner = { partnerId: 'prtn_test', mode: 'test' } as const;
  const merchantIds = ['mrch_one', 'mrch_two'];
  before(async () => {
    database = await createTestDatabase();
    nodes = Array.from({ length: NODES }, () => openNode(database.url, world));
    const now = new Date(nowMs);
    await command(first(), async (tx) => {
      await insertPartner(tx, {
        id: owner.partnerId,
        name: 'Test',
        pinnedVersion: '2026-02-18',
        frameOrigins: [],
        createdAt: now,
      });
      for (const id of merchantIds) {
        const merchant = { ...owner, id, name: id, email: null, status: 'active', iconUrl: null } as const;
        await insertMerchant(tx, { ...merchant, createdAt: now, updatedAt: now });
      }
    });
  });
  after(async () => {
    await Promise.all(nodes.map(({ db }) => db.close()));
    await database.drop();
  });

  const first = () => nodes[0] as Node;
  const sql = () => first().db.sql;
  async function create(payments: readonly Partial<NewPayment>[]): Promise<string[]> {
    const rows = payments.map((fields) => ({
      id: newId('pay_', nowMs, systemWorld.random.bytes(10)),
      sealedId: null,
      merchantId: 'mrch_one',
      referenceId: 'x',
      amountUnit: 'iso4217/USD',
      amountValue: '100',
      amountDecimals: 2,
      expiresAtMs: nowMs + 300_000,
      successUrl: null,
      errorUrl: null,
      tokenAsset: null,
      details: null,
      claim: null,
      requestHash: null,
      actor: 'test',
      ...fields,
    }));
    const made = await commandOfOne(first(), (now) => insertPayments(rows, now));
    assert.equal(made.size, rows.length);
    return rows.map(({ id }) => id);
  }
  const handOutNative = (ids: readonly string[], deadlineMs: number) => sql()`
    update payments set native_deadline = ${new Date(deadlineMs)} where id = any(${ids as string[]}::text[])`;
  const paymentsOf = async (ids: readonly string[]) =>
    (await findPayments(sql(), ids)).map((payment) => {
      assert.ok(payment);
      return payment;
    });

  /** Differences between the sums and a recount, read in one snapshot. */
  const wrongSums = () => sql()`
    with kept as (
      select partner_id, mode, merchant_id, day, status, token_asset, amount_unit, sum(payments) as payments,
        sum(value) as value
      from (
        select partner_id, mode, merchant_id, null::date as day, status, token_asset, amount_unit, payments, value
        from payment_stats
        union all
        select partner_id, mode, merchant_id, day, status, token_asset, amount_unit, payments, value
        from payment_day_stats
        union all
        select partner_id, mode, merchant_id, d.day, status, token_asset, amount_unit, payments, value
        from payment_stat_changes c, lateral (values (null::date), (c.day)) as d(day)
      ) t group by 1, 2, 3, 4, 5, 6, 7 having sum(payments) <> 0 or sum(value) <> 0
    ), recount as (
      select partner_id, mode, merchant_id, d.day, status, coalesce(token_asset, ''), amount_unit,
        count(*)::numeric as payments, sum(amount_value) as value
      from payments, lateral (values (null::date), ((created_at at time zone 'UTC')::date)) as d(day)
      group by 1, 2, 3, 4, 5, 6, 7
    ), kept_customers as (
      select partner_id, mode, merchant_id, null::date as day, buyer_account, status, token_asset, payments
      from payment_customers where payments <> 0
      union all
      select partner_id, mode, merchant_id, day, buyer_account, status, token_asset, payments
      from payment_day_customers where payments <> 0
    ), recount_customers as (
      select partner_id, mode, merchant_id, d.day, buyer_account, status, coalesce(token_asset, ''), count(*) as payments
      from payments, lateral (values (null::date), ((created_at at time zone 'UTC')::date)) as d(day)
      where buyer_account is not null group by 1, 2, 3, 4, 5, 6, 7
    )
    select 'kept' as side, t::text from (table kept except all table recount) t
    union all select 'recounted', t::text from (table recount except all table kept) t
    union all select 'kept', t::text from (table kept_customers except all table recount_customers) t
    union all select 'recounted', t::text from (table recount_customers except all table kept_customers) t
    union all
    select 'days', c::text from payment_customers c, lateral (
      select min(day) as first_day, max(day) as last_day from recount_customers r
      where (r.partner_id, r.mode, r.merchant_id, r.buyer_account, r.status, r.coalesce)
        = (c.partner_id, c.mode, c.merchant_id, c.buyer_account, c.status, c.token_asset)
    ) r
    where c.payments > 0 and c.first_day is not null and (c.first_day, c.last_day) <> (r.first_day, r.last_day)`;
  const unknownDays = () => sql()`
    select buyer_account from payment_customers where payments > 0 and (first_day is null or last_day is null)`;

  /** Every payment's history is one unbroken line from its creation to where it stands. */
  async function checkHistories(ids: readonly string[]): Promise<void> {
    for (const payment of await paymentsOf(ids)) {
      const events = await listEvents(sql(), payment.id);
      const name = `${payment.id}: ${events.map(({ type }) => type).join(', ')}`;
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        events.map((_, index) => index + 1),
        name,
      );
      assert.equal(payment.version, events.length - 1, name);
      assert.equal(events[0]?.type, 'payment.created', name);
      let status: PaymentStatus = 'requires_action';
      for (const { type, data } of events.slice(1)) {
        assert.ok(!isFinal(status), `${name}: a final state never changes`);
        status = data.status as PaymentStatus;
        assert.equal(type, `payment.${status}`, name);
      }
      assert.equal(payment.status, status, name);
      // Handing out a native action is no event.
      const [recorded, stored] = [withRecordedFacts(payment, events.at(-1)?.data ?? {}), payment].map((each) => {
        return { ...each, nativeDeadline: null };
      });
      assert.deepEqual(recorded, stored, `${name}: recorded as it is`);
    }
  }

  const payment = fc.record({
    merchantId: fc.constantFrom(...merchantIds),
    unit: fc.constantFrom(...UNITS),
    amountValue: fc.bigInt({ min: 1n, max: 10n ** 30n }).map(String),
    livesS: fc.integer({ min: 1, max: 60 }),
    isNative: fc.boolean(),
    daysAgo: fc.integer({ min: 0, max: 2 }),
  });
  const buyer = fc.constantFrom(...BUYERS).map((account) => ({ account, name: 'Wallet', icon: null }));
  const event: fc.Arbitrary<PaymentEvent> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('confirmed'),
        buyer,
        token: fc.constant(TOKEN),
        isNative: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('succeeded'),
        buyer,
        token: fc.constant(TOKEN),
        transaction: fc.constant({ hash: '0x1', nonce: 1 }),
      }),
    },
    fc.record({ type: fc.constant('failed'), failureCode: fc.constantFrom(null, 'declined_user') }),
    fc.constant({ type: 'expired', proof: 'clock' } as const),
    fc
      .integer({ min: 0, max: 120 })
      .map((s) => ({ type: 'lapsed', proof: { finalBlockAtMs: START_MS + s * 1000 } }) as const),
    fc
      .integer({ min: 0, max: 120 })
      .map((s) => ({ type: 'expired', proof: { finalBlockAtMs: START_MS + s * 1000 } }) as const),
    fc.constantFrom('merchant', 'user').map((by) => ({ type: 'cancelled', by }) as const),
  );
  const step = fc.record({ index: fc.nat(), event, passesS: fc.constantFrom(0, 0, 0, 0, 5, 20) });
  const script = fc.record({
    payments: fc.array(payment, { minLength: 1, maxLength: 12 }),
    steps: fc.array(step, { minLength: 1, maxLength: 60 }),
    atOnce: fc.integer({ min: 1, max: 12 }),
  });

  it('keep to their rules whatever happens to them, on any number of nodes at once', { timeout: 600_000 }, () =>
    fc.assert(
      fc.asyncProperty(script, async ({ payments, steps, atOnce }) => {
        const ids: string[] = [];
        for (const { merchantId, amountValue, unit, livesS, daysAgo } of payments) {
          nowMs = START_MS - daysAgo * DAY_MS;
          ids.push(...(await create([{ merchantId, amountValue, ...unit, expiresAtMs: START_MS + livesS * 1000 }])));
        }
        nowMs = START_MS;
        await handOutNative(
          ids.filter((_, index) => payments[index]?.isNative),
          START_MS + 60_000,
        );

        const finals = new Map<string, PaymentStatus>();
        let moves = 0;
        const act = async ({ index, event, passesS }: (typeof steps)[number], count: number) => {
          nowMs += passesS * 1000;
          const paymentId = ids[index % ids.length] ?? '';
          const node = nodes[count % NODES] as Node;
          const outcome = await node.move({ paymentId, event, actor: 'test', evidence: { count } });
          if (!outcome.ok) return;
          moves += 1;
          assert.ok(!finals.has(paymentId), 'two ends of one payment');
          if (isFinal(outcome.payment.status)) finals.set(paymentId, outcome.payment.status);
        };
        let isDone = false;
        const meanwhile = (work: () => Promise<unknown>) => repeat(() => isDone, work);
        const background = Promise.allSettled([
          meanwhile(() => expirePayments(nodes[1] as Node)),
          meanwhile(() => expirePayments(nodes[2] as Node)),
          meanwhile(() => foldStats(nodes[2] as Node)),
          meanwhile(() => findCustomerDays(nodes[1] as Node)),
          meanwhile(async () => assert.deepEqual([...(await wrongSums())], [])),
        ]);
        try {
          for (let start = 0; start < steps.length; start += atOnce) {
            await Promise.all(steps.slice(start, start + atOnce).map((next, offset) => act(next, start + offset)));
          }
        } finally {
          isDone = true;
          for (const outcome of await background) if (outcome.status === 'rejected') assert.fail(outcome.reason);
        }

        await checkHistories(ids);
        for (const { id, status } of await paymentsOf(ids)) {
          const final = finals.get(id);
          if (final !== undefined) assert.equal(status, final, 'what a mover was told stands');
        }
        const written = await sql()`
          select 1 from events where object_id = any(${ids}::text[]) and actor = 'test' and sequence > 1`;
        assert.equal(written.length, moves, 'one event for every move that was told');
        assert.deepEqual([...(await wrongSums())], []);
        while (await foldStats(first())) {
          // Until everything is in the totals.
        }
        await findCustomerDays(first());
        assert.deepEqual([...(await wrongSums())], []);
        assert.deepEqual([...(await unknownDays())], []);
        await sweepAll();
      }),
      { numRuns: IS_LONG ? 1_000 : 30 },
    ),
  );

  /** Leaves nothing behind that is due in a later run. */
  async function sweepAll(): Promise<void> {
    nowMs = START_MS + 3_600_000;
    while (await expirePayments(first())) {
      // Until nothing is due.
    }
    nowMs = START_MS;
  }

  it('take events that come together one after the other', async () => {
    const [id = ''] = await create([{}]);
    const events: PaymentEvent[] = [
      {
        type: 'confirmed',
        buyer: { account: BUYERS[0] ?? '', name: 'Wallet', icon: null },
        token: TOKEN,
        isNative: false,
      },
      { type: 'cancelled', by: 'user' },
      {
        type: 'succeeded',
        buyer: { account: BUYERS[1] ?? '', name: 'Other wallet', icon: null },
        token: { ...TOKEN, value: 7n },
        transaction: { hash: '0x1', nonce: 7 },
      },
      { type: 'failed', failureCode: null },
    ];
    const outcomes = await Promise.all(
      events.map((event) => first().move({ paymentId: id, event, actor: 'test', evidence: {} })),
    );
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? outcome.payment.status : outcome.refusal)),
      ['processing', 'not_from_this_status', 'succeeded', 'final'],
    );
    const [stored] = await paymentsOf([id]);
    const answered = outcomes[2];
    assert.ok(answered?.ok);
    assert.deepEqual(answered.payment, stored, 'what a mover is told is what is stored');
    await checkHistories([id]);
    const nobody = await first().move({
      paymentId: 'pay_x',
      event: { type: 'cancelled', by: 'user' },
      actor: 'x',
      evidence: {},
    });
    assert.deepEqual(nobody, { ok: false, refusal: 'not_found', payment: undefined });
  });

  it('lose the days of a customer when a node of an older version counts another payment', async () => {
    const [id = ''] = await create([{ merchantId: 'mrch_one' }]);
    const buyer = { account: `${BUYERS[0]}9`, name: 'Wallet', icon: null };
    const confirmed = { type: 'confirmed', buyer, token: TOKEN, isNative: false } as const;
    assert.ok((await first().move({ paymentId: id, event: confirmed, actor: 'test', evidence: {} })).ok);
    const days = () => sql()<{ first: string | null; last: string | null }[]>`
      select first_day::text as first, last_day::text as last from payment_customers
      where buyer_account = ${buyer.account} and payments > 0`;
    assert.deepEqual([...(await days())], [{ first: '2026-03-01', last: '2026-03-01' }]);
    const add = (change: number) => sql()`
      update payment_customers set payments = payments + ${change} where buyer_account = ${buyer.account}`;
    await add(1);
    assert.deepEqual([...(await days())], [{ first: null, last: null }]);
    await add(-1);
    await findCustomerDays(first());
    assert.deepEqual([...(await days())], [{ first: '2026-03-01', last: '2026-03-01' }]);
  });

  it('forget the first day of a customer when its last payment moves on, until a job has found the next', async () => {
    const buyer = { account: `${BUYERS[0]}8`, name: 'Wallet', icon: null };
    const move = async (paymentId: string, event: PaymentEvent) =>
      assert.ok((await first().move({ paymentId, event, actor: 'test', evidence: {} })).ok);
    const confirmed = { type: 'confirmed', buyer, token: TOKEN, isNative: false } as const;
    const succeeded = { type: 'succeeded', buyer, token: TOKEN, transaction: { hash: '0x1', nonce: 1 } } as const;
    const ids: string[] = [];
    for (const daysAgo of [2, 1, 0]) {
      nowMs = START_MS - daysAgo * DAY_MS;
      ids.push(...(await create([{ merchantId: 'mrch_one', expiresAtMs: START_MS + 60_000 }])));
    }
    nowMs = START_MS;
    const days = async (status: PaymentStatus) => {
      const [row] = await sql()<{ first: string | null; last: string | null }[]>`
        select first_day::text as first, last_day::text as last from payment_customers
        where buyer_account = ${buyer.account} and status = ${status} and payments > 0`;
      return row && [row.first, row.last];
    };
    for (const id of ids) await move(id, confirmed);
    assert.deepEqual(await days('processing'), ['2026-02-27', '2026-03-01']);
    await move(ids[0] ?? '', succeeded);
    assert.deepEqual(await days('processing'), [null, null]);
    assert.deepEqual(await days('succeeded'), ['2026-02-27', '2026-02-27']);
    await findCustomerDays(first());
    assert.deepEqual(await days('processing'), ['2026-02-28', '2026-03-01']);
    await move(ids[2] ?? '', succeeded);
    await move(ids[1] ?? '', succeeded);
    assert.equal(await days('processing'), undefined);
    assert.deepEqual(await days('succeeded'), ['2026-02-27', '2026-03-01']);
    assert.deepEqual([...(await wrongSums())], []);
  });

  it('are not moved by a decision on an outdated state', async () => {
    const [id = ''] = await create([{}]);
    const [old] = await paymentsOf([id]);
    assert.ok(old);
    await command(first(), (tx) => movePayments(tx, [moveTo('failed', old)]));
    for (const stale of [old, { ...old, status: 'failed' as const }, { ...old, version: 1 }]) {
      assert.deepEqual(await command(first(), (tx) => movePayments(tx, [moveTo('cancelled', stale)])), []);
    }
    assert.equal((await listEvents(sql(), id)).length, 2);
    assert.deepEqual([...(await wrongSums())], []);
  });

  it('have an unchangeable history', async () => {
    const [id = ''] = await create([{}]);
    await first().move({
      paymentId: id,
      event: { type: 'cancelled', by: 'user' },
      actor: 'app:x',
      evidence: { by: 'user' },
    });
    const before = await listEvents(sql(), id);
    assert.equal(before.length, 2);
    for (const change of [
      sql()`update events set actor = 'somebody else' where object_id = ${id}`,
      sql()`delete from events where object_id = ${id}`,
      sql()`delete from events`,
      sql()`truncate events`,
      sql()`update event_batches set position = 0`,
      sql()`delete from event_batches`,
      sql()`truncate event_batches`,
      sql()`delete from payments where id = ${id}`,
      sql()`truncate payments cascade`,
    ]) {
      await assert.rejects(async () => change, /never changed/);
    }
    assert.deepEqual([...(await listEvents(sql(), id))], [...before]);
  });

  describe('whose time is over', () => {
    /** Expires one batch, and returns the payments that it ended. */
    const sweep = async (limit: number, node = first()) => {
      const isExpired = async () =>
        new Set((await sql()<{ id: string }[]>`select id from payments where status = 'expired'`).map(({ id }) => id));
      const before = await isExpired();
      await expirePayments(node, limit);
      return [...(await isExpired())].filter((id) => !before.has(id));
    };

    it('are expired in batches of a bounded size, the longest overdue first', async () => {
      const due = await create(
        Array.from({ length: 120 }, (_, index) => ({ expiresAtMs: START_MS + 1 + (119 - index) * 10 })),
      );
      const [open = '', native = '', processing = ''] = await create([
        {},
        { expiresAtMs: START_MS + 1 },
        { expiresAtMs: START_MS + 1 },
      ]);
      await handOutNative([native], START_MS + 60_000);
      const confirmed = {
        type: 'confirmed',
        buyer: { account: BUYERS[0] ?? '', name: 'Wallet', icon: null },
        token: TOKEN,
      } as const;
      assert.ok(
        (
          await first().move({
            paymentId: processing,
            event: { ...confirmed, isNative: false },
            actor: 'x',
            evidence: {},
          })
        ).ok,
      );
      nowMs = START_MS + 1 + 119 * 10;
      const batches = [await sweep(50), await sweep(50), await sweep(50), await sweep(50)];
      assert.deepEqual(
        batches.map(({ length }) => length),
        [50, 50, 20, 0],
      );
      const oldestFirst = [...due].reverse();
      assert.deepEqual(new Set(batches[0]), new Set(oldestFirst.slice(0, 50)));
      for (const [index, payment] of (await paymentsOf(due)).entries()) {
        assert.equal(payment.status, 'expired');
        assert.equal(payment.updatedAt.getTime(), START_MS + 1 + (119 - index) * 10, 'it ended when its time was over');
        assert.deepEqual(
          (await listEvents(sql(), payment.id)).slice(1).map(({ id: _, data: __, ...event }) => event),
          [
            {
              type: 'payment.expired',
              sequence: 2,
              at: new Date(nowMs),
              actor: 'sweeper',
              evidence: { proof: 'clock' },
            },
          ],
        );
      }
      const others = (await paymentsOf([open, native, processing])).map(({ status }) => status);
      assert.deepEqual(others, ['requires_action', 'requires_action', 'processing']);
      assert.deepEqual([...(await wrongSums())], []);
      await sweepAll();
    });

    it('are expired once each by any number of sweepers', async () => {
      const ids = await create(Array.from({ length: 600 }, () => ({ expiresAtMs: START_MS + 1000 })));
      nowMs = START_MS + 1000;
      await Promise.all(
        [...nodes, ...nodes].map(async (node) => {
          while (await expirePayments(node, 25)) {
            // Until it finds no full batch.
          }
        }),
      );
      assert.deepEqual(new Set((await paymentsOf(ids)).map(({ status }) => status)), new Set(['expired']));
      await checkHistories(ids);
      assert.deepEqual([...(await wrongSums())], []);
      nowMs = START_MS;
    });

    it('do not wait for a payment that another transaction is moving', async () => {
      const ids = await create([{ expiresAtMs: START_MS + 1000 }, { expiresAtMs: START_MS + 1000 }]);
      const [busy = '', idle = ''] = ids;
      await command(first(), async (tx) => {
        const [payment] = await lockPayments(tx, [busy]);
        assert.ok(payment);
        nowMs = START_MS + 1000;
        assert.deepEqual(await sweep(10, nodes[1]), [idle], 'skipped, not waited for');
        await movePayments(tx, [moveTo('cancelled', payment)]);
      });
      assert.deepEqual(await sweep(10, nodes[1]), []);
      assert.deepEqual(
        (await paymentsOf(ids)).map(({ status }) => status),
        ['cancelled', 'expired'],
      );
      await checkHistories(ids);
      nowMs = START_MS;
    });
  });
});

type Node = ReturnType<typeof openNode>;

/** A gateway's own parts: its connections and its mover. */
function openNode(url: string, world: World) {
  const db = openDatabase({ url, poolSize: 6, applicationName: 'till-test' });
  return {
    registry: REGISTRY,
    db,
    world,
    move: createPaymentMover({ registry: REGISTRY, db, world, rowKeys: [new Uint8Array(32)] }),
  };
}

function moveTo(status: PaymentStatus, payment: Payment): Move {
  const facts = { ...payment, status };
  const events = [`payment.${status}` as const];
  return { payment, facts, events, at: payment.updatedAt, actor: 'x', data: recordFacts(facts), evidence: {} };
}

async function repeat(isDone: () => boolean, work: () => Promise<unknown>): Promise<void> {
  while (!isDone()) await work();
}
