import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { changeMerchant, deleteMerchant } from '../../src/actions/parties/change-merchant.ts';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { createCoolOff } from '../../src/actions/parties/cool-off-destinations.ts';
import { removePerson } from '../../src/actions/people/change-person.ts';
import { makeLink } from '../../src/actions/people/invite-person.ts';
import { fanOutOnce } from '../../src/actions/webhooks/fan-out.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { unexpectedId } from '../../src/domain/unexpected-money.ts';
import { ApiError } from '../../src/errors.ts';
import { appendEvents, newEventId } from '../../src/store/events/events.ts';
import { findReturnable } from '../../src/store/money/late-money.ts';
import { putLots } from '../../src/store/money/lots.ts';
import { lockPayableLots } from '../../src/store/money/payable-lots.ts';
import { findCoverable } from '../../src/store/money/refunds.ts';
import { createTestKey, freshKey } from '../gateway.ts';
import { until } from '../until.ts';
import { standInPage } from './checkout-page.ts';
import { DESTINATION, INTERMEDIATE, openPayingShop, type PayingShop, result, SANDBOX, USDC } from './paying-shop.ts';
import { addPasskey, browserOf, type Headers, OWN_PAGE, ofMerchant, ofPartner, signIn } from './people-scene.ts';
import { ORDER, openShop, type Shop } from './shop.ts';
import { newCourier, takeFanOut } from './webhook-scene.ts';

const HOUR_MS = 3_600_000;
/** Rows in the memory of a node are read again by then. */
const NOTICED_MS = 5_000;
const NEXT = `${SANDBOX}:0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69`;

/** What ends when its ground ends. `docs/security.md` has the same table. */
const GROUNDS = [
  'partner disabled',
  'merchant deleted',
  'merchant suspended',
  'person removed',
  'role changed',
] as const;
type Ground = (typeof GROUNDS)[number];
/** A right that is used up by looking: it is only looked at afterwards. */
const ONCE = Symbol('once');

describe('what ends when its ground ends', () => {
  let paying: PayingShop;
  let lease: Awaited<ReturnType<typeof takeFanOut>>;
  before(async () => {
    const depositMinimum = { everywhere: undefined, on: new Map([[SANDBOX, 0n]]) };
    paying = await openPayingShop({ page: standInPage(), config: { coolingOffHours: 1, depositMinimum } });
    lease = await takeFanOut(paying.gateway);
  });
  after(() => paying.gateway.stop());

  /** A merchant with everything that depends on it, its partner and its person. */
  async function stage() {
    const { gateway } = paying;
    const shop = await openShop(gateway);
    const { partner, merchant } = shop;
    const issued = await createTestKey(gateway, partner.id, { key: { merchantIds: [merchant.id] } });
    const person = await signIn(gateway, { belonging: ofMerchant(partner.id, merchant.id), role: 'owner' });
    // Somebody else owns the merchant, so that the person can be removed and changed.
    await signIn(gateway, { belonging: ofMerchant(partner.id, merchant.id), role: 'owner' });
    const boss = await signIn(gateway, { belonging: ofPartner(partner.id), role: 'owner' });
    const { authenticator } = await addPasskey(gateway, person.headers);
    const key: Headers = { 'api-key': issued.secret, 'merchant-id': merchant.id };
    return { shop, partner, merchant, issued, key, person, boss, authenticator };
  }
  type Stage = Awaited<ReturnType<typeof stage>>;

  const end: Record<Ground, (on: Stage) => Promise<unknown>> = {
    'partner disabled': ({ partner }) =>
      changePartner(paying.gateway, { actor: 'operator', partnerId: partner.id, changes: { isDisabled: true } }),
    'merchant deleted': ({ merchant }) =>
      deleteMerchant(paying.gateway, { owner: null, actor: 'operator', merchantId: merchant.id }),
    'merchant suspended': ({ merchant }) =>
      changeMerchant(paying.gateway, {
        owner: null,
        actor: 'operator',
        merchantId: merchant.id,
        changes: { status: 'suspended' },
      }),
    'person removed': ({ person }) =>
      removePerson(paying.gateway, {
        actor: 'operator',
        personId: person.person.id,
        isSeen: () => true,
        mayRemoveLastOwner: true,
      }),
    'role changed': async ({ person, boss }) => {
      await addPasskey(paying.gateway, boss.headers);
      const call = browserOf(paying.gateway, boss.headers);
      const changed = await call('PATCH', `/v1/people/${person.person.id}`, {
        role: person.person.role === 'cashier' ? 'bookkeeper' : 'cashier',
      });
      assert.equal(changed.statusCode, 200, changed.body);
    },
  };
  const ended = async (ground: Ground, on: Stage, isKeptFrom: boolean) => {
    if (isKeptFrom) await assert.rejects(end[ground](on), (error) => error instanceof ApiError);
    else await end[ground](on);
    await paying.time.advance(NOTICED_MS);
  };
  const answerOf = ({ statusCode, json }: { statusCode: number; json: () => { code?: string } }) =>
    statusCode < 400 ? statusCode : `${statusCode} ${json().code}`;
  const order = (headers: Headers) =>
    paying.gateway
      .call({
        method: 'POST',
        url: '/v1/payments',
        headers: { ...headers, 'idempotency-key': freshKey() },
        payload: ORDER,
      })
      .then(answerOf);
  const visit = (payload: object) =>
    paying.gateway.call({ method: 'POST', url: '/v1/sessions', headers: OWN_PAGE, payload }).then(answerOf);

  /** What is observed of each right before and after its ground ends. */
  const rows: Record<
    string,
    {
      readonly watch: (on: Stage) => Promise<() => Promise<unknown>>;
      readonly before: unknown;
      readonly after: Record<Ground, unknown>;
      /** The grounds that cannot come while the right stands. */
      readonly keptFrom?: readonly Ground[];
    }
  > = {
    'a key of the merchant': {
      watch:
        async ({ key, merchant }) =>
        async () => {
          const read = await paying.gateway.call({ url: '/v1/payments', headers: key });
          const named = await paying.gateway.call({ url: `/v1/merchants/${merchant.id}`, headers: key });
          return [await order(key), answerOf(read), answerOf(named)];
        },
      before: [201, 200, 200],
      after: {
        'partner disabled': ['401 unauthorized', '401 unauthorized', '401 unauthorized'],
        'merchant deleted': ['404 merchant_not_found', 200, '404 merchant_not_found'],
        'merchant suspended': ['403 forbidden', 200, 200],
        'person removed': [201, 200, 200],
        'role changed': [201, 200, 200],
      },
    },
    'the rotation of a key': {
      watch:
        async ({ issued, boss }) =>
        async () => {
          await addPasskey(paying.gateway, boss.headers).catch(() => undefined);
          const call = browserOf(paying.gateway, boss.headers);
          return answerOf(await call('POST', `/v1/api-keys/${issued.key.id}/rotate`, { overlapSeconds: 86_400 }));
        },
      before: ONCE,
      after: {
        'partner disabled': '401 unauthorized',
        'merchant deleted': '400 invalid_state',
        'merchant suspended': 201,
        'person removed': 201,
        'role changed': 201,
      },
    },
    'a session of a person of the merchant': {
      watch:
        async ({ person, merchant }) =>
        async () => {
          const call = browserOf(paying.gateway, person.headers);
          const invited = await call('POST', '/v1/people', {
            name: 'Ada',
            email: `${freshKey()}@shop.example`,
            role: 'owner',
          });
          const issued = await call('POST', '/v1/api-keys', { label: 'Shop' });
          const sold = await order({ ...person.headers, 'merchant-id': merchant.id });
          return [answerOf(invited), answerOf(issued), sold];
        },
      before: [201, 201, 201],
      after: {
        'partner disabled': ['401 unauthorized', '401 unauthorized', '401 unauthorized'],
        'merchant deleted': ['401 unauthorized', '401 unauthorized', '401 unauthorized'],
        'merchant suspended': [201, 201, '403 forbidden'],
        'person removed': ['401 unauthorized', '401 unauthorized', '401 unauthorized'],
        'role changed': ['403 forbidden', '403 forbidden', 201],
      },
    },
    'a session of a cashier at the point of sale': {
      watch: async (on) => {
        const { partner, merchant } = on;
        on.person = await signIn(paying.gateway, { belonging: ofMerchant(partner.id, merchant.id), role: 'cashier' });
        const headers = { ...on.person.headers, 'merchant-id': merchant.id };
        return async () => {
          const read = await paying.gateway.call({ url: '/v1/payments', headers });
          return [await order(headers), answerOf(read)];
        };
      },
      before: [201, 200],
      after: {
        'partner disabled': ['401 unauthorized', '401 unauthorized'],
        'merchant deleted': ['401 unauthorized', '401 unauthorized'],
        'merchant suspended': ['403 forbidden', 200],
        'person removed': ['401 unauthorized', '401 unauthorized'],
        'role changed': ['403 forbidden', 200],
      },
    },
    'a request for events that a key of the merchant holds': {
      watch: ({ key, merchant }) => holding(key, merchant.id),
      before: ONCE,
      after: {
        'partner disabled': '401 unauthorized',
        'merchant deleted': 1,
        'merchant suspended': 1,
        'person removed': 1,
        'role changed': 1,
      },
    },
    'a request for events that a person of the merchant holds': {
      watch: ({ person, merchant }) => holding(person.headers, merchant.id),
      before: ONCE,
      after: {
        'partner disabled': '401 unauthorized',
        'merchant deleted': '401 unauthorized',
        'merchant suspended': 1,
        'person removed': '401 unauthorized',
        'role changed': '403 forbidden',
      },
    },
    'an export that a key of the merchant reads': {
      watch: ({ key, shop }) => exporting(key, shop),
      before: ONCE,
      after: {
        'partner disabled': 'breaks off',
        'merchant deleted': 1_001,
        'merchant suspended': 1_001,
        'person removed': 1_001,
        'role changed': 1_001,
      },
    },
    'an export that a cashier of the merchant reads': {
      watch: async (on) => {
        const { partner, merchant, shop } = on;
        on.person = await signIn(paying.gateway, { belonging: ofMerchant(partner.id, merchant.id), role: 'cashier' });
        return exporting(on.person.headers, shop);
      },
      before: ONCE,
      after: {
        'partner disabled': 'breaks off',
        'merchant deleted': 'breaks off',
        'merchant suspended': 1_001,
        'person removed': 'breaks off',
        'role changed': 1_001,
      },
    },
    'a device: the passkey of a person of the merchant': {
      watch:
        async ({ authenticator }) =>
        async () => {
          const { gateway } = paying;
          const asked = await gateway.call({ method: 'POST', url: '/v1/sessions/challenge', headers: OWN_PAGE });
          return visit({ passkey: authenticator.get(asked.json().options) });
        },
      before: 201,
      after: {
        'partner disabled': '401 unauthorized',
        'merchant deleted': '401 unauthorized',
        'merchant suspended': 201,
        'person removed': '401 unauthorized',
        'role changed': 201,
      },
    },
    'a one-time link of a person of the merchant': {
      watch: async ({ person }) => {
        const personId = person.person.id;
        const link = await command(paying.gateway, (tx, now) => makeLink(tx, paying.gateway, { personId, now }));
        return () => visit({ link: link.token });
      },
      before: ONCE,
      after: {
        'partner disabled': '401 unauthorized',
        'merchant deleted': '401 unauthorized',
        'merchant suspended': 201,
        'person removed': '401 unauthorized',
        'role changed': 201,
      },
    },
    'a payment link': {
      watch: async ({ shop }) => {
        const made = await paying.gateway.call({
          method: 'POST',
          url: '/v1/payment-links',
          headers: shop.headers,
          payload: { description: 'Flat white', amount: ORDER.amount },
        });
        assert.equal(made.statusCode, 201, made.body);
        const { pathname } = new URL(made.json().paymentLink.url);
        return async () =>
          (
            await paying.gateway.app.inject({
              method: 'POST',
              url: pathname,
              headers: { 'content-type': 'application/x-www-form-urlencoded' },
              payload: '',
            })
          ).statusCode;
      },
      before: 303,
      after: {
        'partner disabled': 409,
        'merchant deleted': 404,
        'merchant suspended': 409,
        'person removed': 303,
        'role changed': 303,
      },
    },
    'the checkout of a payment': {
      watch: async ({ shop }) => {
        const id = await paying.created({}, shop);
        const { account } = paying.newPayer({ [USDC]: 100_000_000n });
        return async () => {
          const answer = await paying.wallet.post(id, 'options', { accounts: [account], includePaymentInfo: true });
          return answer.json().options.length > 0;
        };
      },
      before: true,
      after: {
        'partner disabled': false,
        'merchant deleted': false,
        'merchant suspended': false,
        'person removed': true,
        'role changed': true,
      },
    },
    'an option that a payer has signed': {
      watch: async ({ shop }) => {
        const id = await paying.created({}, shop);
        const payer = paying.newPayer({ [USDC]: 100_000_000n });
        const option = await paying.wallet.option(id, payer.account, USDC);
        const signature = await payer.sign(option);
        return async () => answerOf(await paying.wallet.confirm(id, option.id, [result(signature)]));
      },
      before: ONCE,
      after: {
        'partner disabled': '400 invalid_state',
        'merchant deleted': '400 invalid_state',
        'merchant suspended': '400 invalid_state',
        'person removed': 200,
        'role changed': 200,
      },
    },
    'the address of a payment, new and shown before': {
      watch: async ({ shop }) => {
        const [shown, other] = [await paying.created({}, shop), await paying.created({}, shop)];
        const ask = async (id: string) => answerOf(await paying.wallet.post(id, 'address', { asset: USDC }));
        assert.equal(await ask(shown), 200);
        return async () => [await ask(other), await ask(shown)];
      },
      before: ONCE,
      after: {
        'partner disabled': ['400 invalid_state', '400 invalid_state'],
        'merchant deleted': ['400 invalid_state', '400 invalid_state'],
        'merchant suspended': ['400 invalid_state', '400 invalid_state'],
        'person removed': [200, 200],
        'role changed': [200, 200],
      },
    },
    'a payment by x402': {
      watch: async ({ shop }) => {
        const id = await paying.created({}, shop);
        return async () => {
          const answer = await paying.gateway.call({ url: `/x402/${id}` });
          return answer.statusCode === 402 ? answer.json().accepts.length > 0 : answerOf(answer);
        };
      },
      before: true,
      after: {
        'partner disabled': '400 invalid_state',
        'merchant deleted': '400 invalid_state',
        'merchant suspended': '400 invalid_state',
        'person removed': true,
        'role changed': true,
      },
    },
    'a refund to another account that cools off': {
      watch: async ({ shop }) => {
        const id = await newRefund(shop);
        return async () => (await findCoverable(paying.gateway.db.sql, { limit: 1_000, now: cooled() })).includes(id);
      },
      before: ONCE,
      after: {
        'partner disabled': false,
        'merchant deleted': true,
        'merchant suspended': false,
        'person removed': true,
        'role changed': true,
      },
      keptFrom: ['merchant deleted'],
    },
    'a return of late money that cools off': {
      watch: async ({ shop }) => {
        const id = await newReturn(shop);
        return async () => {
          const found = await findReturnable(paying.gateway.db.sql, {
            networks: [SANDBOX],
            limit: 1_000,
            now: cooled(),
          });
          return found.some((each) => each.id === id);
        };
      },
      before: ONCE,
      after: {
        'partner disabled': false,
        'merchant deleted': true,
        'merchant suspended': false,
        'person removed': true,
        'role changed': true,
      },
      keptFrom: ['merchant deleted'],
    },
    'a webhook endpoint of the merchant': {
      watch: async ({ key, shop }) => {
        const payload = { url: 'http://127.0.0.1/hook', events: ['*'] };
        const made = await paying.gateway.call({ method: 'POST', url: '/v1/webhook-endpoints', headers: key, payload });
        assert.equal(made.statusCode, 201, made.body);
        const id = made.json().webhookEndpoint.id as string;
        return () => deliveredTo(shop, id);
      },
      before: true,
      after: {
        'partner disabled': false,
        'merchant deleted': true,
        'merchant suspended': true,
        'person removed': true,
        'role changed': true,
      },
    },
    'a destination in force, for held money': {
      watch: async ({ shop, merchant }) => {
        const made = await paying.gateway.call({
          method: 'POST',
          url: `/v1/merchants/${merchant.id}/settlements/crypto`,
          headers: { ...shop.headers, 'idempotency-key': freshKey() },
          payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
        });
        assert.equal(made.statusCode, 201, made.body);
        const paymentId = await newHeldLot(shop);
        return async () => {
          const ask = { networks: [SANDBOX], now: cooled(), limit: 1_000 };
          const lots = await command(paying.gateway, (tx) => lockPayableLots(tx, ask));
          return lots.some((lot) => lot.paymentId === paymentId);
        };
      },
      before: true,
      after: {
        'partner disabled': true,
        'merchant deleted': true,
        'merchant suspended': false,
        'person removed': true,
        'role changed': true,
      },
      keptFrom: ['merchant deleted'],
    },
    'a change of a destination that cools off': {
      watch: async ({ shop, merchant }) => {
        const url = `/v1/merchants/${merchant.id}/settlements`;
        const headers = { ...shop.headers, 'idempotency-key': freshKey() };
        const settlements = [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }];
        const made = await paying.gateway.call({
          method: 'POST',
          url: `${url}/crypto`,
          headers,
          payload: { settlements },
        });
        const { id } = made.json().settlements[0];
        const change = { method: 'PUT', url: `${url}/crypto/${id}`, headers: shop.headers } as const;
        await paying.gateway.call({ ...change, payload: { destination: NEXT } });
        return async () => {
          await paying.time.advance(2 * HOUR_MS);
          await createCoolOff(paying.gateway)();
          const [row] = await paying.gateway.db.sql<{ destination: string }[]>`
            select destination from crypto_settlements where id = ${id}`;
          return row?.destination === NEXT;
        };
      },
      before: ONCE,
      after: {
        'partner disabled': false,
        'merchant deleted': false,
        'merchant suspended': false,
        'person removed': true,
        'role changed': true,
      },
    },
  };

  /** A time when requests of this moment have cooled off. */
  const cooled = () => new Date(paying.time.clock.nowMs() + 2 * HOUR_MS);

  /** A requested refund to an account that the merchant has named. */
  async function newRefund(shop: Shop): Promise<string> {
    const paymentId = await paying.created({}, shop);
    const id = refundIdOf(paymentId, 1);
    const at = new Date(paying.time.clock.nowMs());
    await paying.gateway.db.sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
        from_held, from_merchant, from_operator, account, send_after, requested_at, updated_at)
      values (${id}, ${paymentId}, ${shop.merchant.id}, ${SANDBOX}, ${USDC}, 'eip3009-vrs', ${DESTINATION}, 1, 1, 0, 'requested',
        1, 0, 0, ${INTERMEDIATE}, ${new Date(at.getTime() + HOUR_MS)}, ${at}, ${at})`;
    return id;
  }

  /** A requested return of held late money. */
  async function newReturn(shop: Shop): Promise<string> {
    const paymentId = await paying.created({}, shop);
    const place = { network: SANDBOX, transactionHash: freshKey(), logIndex: 0, source: 'late_payment' };
    const id = unexpectedId(place);
    await paying.gateway.db.sql`
      insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, sender, account, amount,
        fee, is_held, payment_id, merchant_id, is_booked, state, reason, seen_at, updated_at)
      values (${id}, ${SANDBOX}, ${place.transactionHash}, 0, 1, 'late_payment', ${USDC}, ${NEXT}, ${INTERMEDIATE}, 1, 0,
        true, ${paymentId}, ${shop.merchant.id}, true, 'unclaimed', 'overpaid', now(), now())`;
    const asked = await paying.gateway.call({
      method: 'POST',
      url: `/v1/late-money/${id}/return`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { destination: `${SANDBOX}:${DESTINATION}` },
    });
    assert.equal(asked.json().status, 'requested', asked.body);
    return id;
  }

  /** A payment whose money is held on the intermediate account. */
  async function newHeldLot(shop: Shop): Promise<string> {
    const paymentId = await paying.created({}, shop);
    const { sql } = paying.gateway.db;
    await sql`update payments set status = 'expired' where id = ${paymentId}`;
    await command(paying.gateway, (tx, at) => {
      const money = {
        network: SANDBOX,
        asset: USDC,
        account: INTERMEDIATE,
        amount: 1_000n,
        waiting: 0n,
        fee: 0n,
        net: 1_000n,
      };
      const lot = {
        id: paymentId,
        commitment: freshKey(),
        address: null,
        isHeld: true,
        isPaying: true,
        reason: null,
        isUnexplained: false,
        owed: 0n,
      };
      const rows = [{ ...lot, ...money, isScreened: false, payment: paymentId }];
      return putLots(tx, { paymentId, merchantId: shop.merchant.id }, rows, at);
    });
    return paymentId;
  }

  /** Begins an export of two pages, and holds the first. Returns the number of its lines, unless it breaks off. */
  async function exporting(headers: Headers, shop: Shop): Promise<() => Promise<unknown>> {
    const { gateway } = paying;
    const id = await paying.created({}, shop);
    await gateway.db.sql`
      insert into payments select (jsonb_populate_record(p, jsonb_build_object(
        'id', left(p.id, 24) || lpad(n::text, 6, '0')))).* from payments p, generate_series(1, 1000) n where p.id = ${id}`;
    const { beginExport } = gateway.lists;
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const held: typeof beginExport = (caller, reply) => {
      const reads = beginExport(caller, reply);
      const page: typeof reads.page = async (work) => {
        const read = await reads.page(work);
        begun.resolve();
        await released.promise;
        return read;
      };
      return { ...reads, page };
    };
    Object.assign(gateway.lists, { beginExport: held });
    const file = gateway.app.inject({ url: '/v1/exports/payments?format=jsonl', headers }).then(
      ({ statusCode, body }) => (statusCode === 200 ? body.trim().split('\n').length : statusCode),
      () => 'breaks off',
    );
    await begun.promise;
    Object.assign(gateway.lists, { beginExport });
    return () => {
      released.resolve();
      return file;
    };
  }

  /** Something happens to the merchant, whatever its state. Returns the id of the event. */
  async function happen(merchantId: string, type: 'merchant.created' | 'merchant.updated'): Promise<string> {
    const { gateway } = paying;
    const eventId = await command(gateway, async (tx, at) => {
      const id = newEventId(tx, at);
      const event = { type, objectId: merchantId, merchantId, at } as const;
      const data = { name: 'Shop', email: 'shop@example.com', iconUrl: null, status: 'active', deletedAt: null };
      await tx`select from merchants where id = ${merchantId} for no key update`;
      await appendEvents(tx, [{ ...event, id, actor: 'test', data }]);
      return id;
    });
    await until('the event is placed', async () => {
      const rows = await gateway.db.sql`
        select from events e join event_batches b on b.batch = e.batch where e.id = ${eventId}`;
      return rows.length === 1;
    });
    return eventId;
  }

  /** Holds a request for the next event of the merchant. Then that event happens: the number of events shown, or the refusal. */
  async function holding(headers: Headers, merchantId: string): Promise<() => Promise<unknown>> {
    const { gateway } = paying;
    const before = gateway.longPolls.held;
    const url = `/v1/events?after=latest&maxPollMs=60000&types=merchant.created&merchantId=${merchantId}`;
    const held = gateway.call({ url, headers });
    await until('it is held', () => gateway.longPolls.held === before + 1);
    return async () => {
      // No ground has such an event of its own, which would end the request.
      const eventId = await happen(merchantId, 'merchant.created');
      const answer = await held;
      if (answer.statusCode !== 200) return answerOf(answer);
      return answer.json().events.filter(({ id }: { id: string }) => id === eventId).length;
    };
  }

  /** True if an event of the merchant reaches the endpoint now. */
  async function deliveredTo({ merchant }: Shop, endpointId: string): Promise<boolean> {
    const { gateway } = paying;
    const sent: string[] = [];
    const eventId = await happen(merchant.id, 'merchant.updated');
    while (await fanOutOnce(gateway, lease));
    const courier = newCourier(gateway, {
      exchange: async ({ headers }) => {
        sent.push(String((headers as Headers)['webhook-id']));
        return { status: 200, headers: {}, bytes: Buffer.alloc(0), isWhole: true };
      },
    });
    while ((await courier.takeDue()) > 0) await courier.idle();
    const [row] = await gateway.db.sql<{ status: string }[]>`
      select status from webhook_deliveries where endpoint_id = ${endpointId} and event_id = ${eventId}`;
    return row?.status === 'succeeded' && sent.includes(eventId);
  }

  for (const [right, { watch, before: expected, after: results, keptFrom = [] }] of Object.entries(rows)) {
    for (const ground of GROUNDS) {
      it(`${right}, when ${ground}: ${JSON.stringify(results[ground])}`, async () => {
        const on = await stage();
        const verdicts = await watch(on);
        if (expected !== ONCE) assert.deepEqual(await verdicts(), expected);
        await ended(ground, on, keptFrom.includes(ground));
        assert.deepEqual(await verdicts(), results[ground]);
      });
    }
  }
});
