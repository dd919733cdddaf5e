import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { unexpectedId } from '../../src/domain/unexpected-money.ts';
import { createTestKey, freshKey } from '../gateway.ts';
import type { Json } from './list-test.ts';
import { INTERMEDIATE, openPayingShop, type PayingShop, SANDBOX, USDC } from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const FRIEND = `${SANDBOX}:0x7777777777777777777777777777777777777777`;
const OTHER = `${SANDBOX}:0x8888888888888888888888888888888888888888`;
const DAY_MS = 24 * 3_600_000;

describe('the routes of late money', () => {
  let paying: PayingShop;
  let shop: Shop;
  let count = 0;
  before(async () => {
    paying = await openPayingShop({ config: { coolingOffHours: 24 } });
    shop = paying.shop;
  });
  after(() => paying.gateway.stop());

  /** Money of 5 tokens that came too late and is held, unless floats must pay for its return. */
  async function newMoney(of = shop, { isHeld = true, fee = 0, paymentId = '' } = {}) {
    await paying.time.advance(1_000);
    count += 1;
    const payment = paymentId === '' ? await paying.created({}, of) : paymentId;
    const place = { network: SANDBOX, transactionHash: `0x${count}`, logIndex: 0, source: 'late_payment' };
    const id = unexpectedId(place);
    const at = new Date(paying.time.clock.nowMs());
    await paying.gateway.db.sql`
      insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, sender, account, amount,
        fee, is_held, payment_id, merchant_id, is_booked, state, reason, seen_at, updated_at)
      values (${id}, ${SANDBOX}, ${place.transactionHash}, 0, 1, 'late_payment', ${USDC}, ${`0x${'6'.repeat(40)}`},
        ${INTERMEDIATE}, 5000000, ${fee}, ${isHeld}, ${payment}, ${of.merchant.id}, true, 'unclaimed', 'overpaid', ${at},
        ${at})`;
    return { id, paymentId: payment };
  }

  const read = async (url: string, headers = shop.headers) => {
    const response = await paying.gateway.call({ url, headers });
    return { status: response.statusCode, body: response.json() as Json };
  };
  const list = async (query = '', headers = shop.headers): Promise<string[]> => {
    const { status, body } = await read(`/v1/late-money${query}`, headers);
    assert.equal(status, 200, JSON.stringify(body));
    return body.lateMoney.map(({ id }: Json) => id);
  };
  const giveBack = async (id: string, body: object = { destination: FRIEND }, headers: Record<string, string> = {}) => {
    const response = await paying.gateway.call({
      method: 'POST',
      url: `/v1/late-money/${id}/return`,
      headers: { ...shop.headers, 'idempotency-key': freshKey(), ...headers },
      payload: body,
    });
    return { status: response.statusCode, body: response.json() as Json, headers: response.headers };
  };

  it('show it whole', async () => {
    const { id, paymentId } = await newMoney(shop, { fee: 50_000 });
    const { body } = await read(`/v1/late-money/${id}`);
    const { amount, fee, createdAt, ...rest } = body;
    assert.deepEqual([amount.value, amount.unit, fee.value], ['5000000', `caip19/${USDC}`, '50000']);
    assert.equal(createdAt, new Date(paying.time.clock.nowMs()).toISOString());
    assert.deepEqual(rest, {
      id,
      paymentId,
      merchantId: shop.merchant.id,
      reason: 'overpaid',
      status: 'unclaimed',
      network: SANDBOX,
      asset: USDC,
      sender: `${SANDBOX}:0x${'6'.repeat(40)}`,
      txId: `0x${count}`,
      destination: null,
      returnTxId: null,
      problem: null,
      requestedAt: null,
      waitingFor: null,
    });
  });

  it('list it page by page, the newest first, by merchant, payment and status', async () => {
    const own = await openShop(paying.gateway);
    const money = [];
    for (let number = 0; number < 5; number += 1) money.push(await newMoney(own));
    const [oldest] = money;
    assert.ok(oldest);
    const again = await newMoney(own, { paymentId: oldest.paymentId });
    const ids = [...money, again].map(({ id }) => id).reverse();
    assert.deepEqual(await list('', own.headers), ids);
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await read(`/v1/late-money?limit=4${cursor}`, own.headers);
      pages.push(...body.lateMoney.map(({ id }: Json) => id));
      cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`;
    } while (cursor !== '');
    assert.deepEqual(pages, ids);
    assert.deepEqual(await list(`?paymentId=${oldest.paymentId}`, own.headers), [again.id, oldest.id]);
    const { 'merchant-id': _, ...allMerchants } = own.headers as Record<string, string>;
    assert.deepEqual(await list('', allMerchants), ids);
    assert.deepEqual(await list(`?merchantId=${own.merchant.id}`, allMerchants), ids);
    assert.deepEqual(await list(`?merchantId=${shop.merchant.id}`, allMerchants), []);
    await giveBack(again.id, { destination: FRIEND }, own.headers);
    assert.deepEqual(await list('?status=requested', own.headers), [again.id]);
    assert.equal((await list('?status=unclaimed,returned', own.headers)).length, 5);
    assert.equal((await read('/v1/late-money?status=lost', own.headers)).status, 400);
    assert.equal((await read('/v1/late-money?cursor=made-up', own.headers)).status, 400);
  });

  it('show nothing of it to another partner, another merchant or the other mode', async () => {
    const { id, paymentId } = await newMoney();
    const stranger = await openShop(paying.gateway);
    const live = await createTestKey(paying.gateway, shop.partner.id, { mode: 'live' });
    assert.deepEqual(await list(`?paymentId=${paymentId}`, stranger.headers), []);
    assert.equal((await read(`/v1/late-money/${id}`, stranger.headers)).status, 404);
    const stolen = await giveBack(id, undefined, stranger.headers);
    assert.deepEqual([stolen.status, stolen.body.code], [404, 'invalid_params']);
    const liveHeaders = { 'api-key': live.secret };
    assert.deepEqual(await list('', liveHeaders), []);
    assert.equal((await read(`/v1/late-money/${id}`, { ...liveHeaders, 'merchant-id': shop.merchant.id })).status, 404);
    for (const unknown of [id.replace(/.$/, 'Z'), 'stry_1', 'pay_1']) {
      assert.equal((await read(`/v1/late-money/${unknown}`)).status, 404);
      assert.equal((await giveBack(unknown)).status, 404);
    }
  });

  it('take a return from keys with both scopes alone', async () => {
    const { id } = await newMoney();
    const keyWithout = async (...missing: string[]) => {
      const scopes = SCOPES.filter((scope) => !missing.includes(scope));
      const { secret } = await createTestKey(paying.gateway, shop.partner.id, { key: { scopes } });
      return { 'api-key': secret };
    };
    for (const scope of ['refunds:write', 'destinations:write']) {
      const refused = await giveBack(id, undefined, await keyWithout(scope));
      assert.equal(refused.status, 403);
      assert.match(refused.body.message, new RegExp(scope));
    }
    const reader = { ...shop.headers, ...(await keyWithout('payments:read')) };
    assert.equal((await read(`/v1/late-money/${id}`, reader)).status, 403);
    assert.equal((await read('/v1/late-money', reader)).status, 403);
    assert.equal((await read(`/v1/late-money/${id}`)).body.status, 'unclaimed');
  });

  it('take a return once, let it cool off, and answer a repeated request alike', async () => {
    const { id, paymentId } = await newMoney();
    const key = { 'idempotency-key': freshKey() };
    const first = await giveBack(id, undefined, key);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    const { status, destination, requestedAt, waitingFor } = first.body;
    assert.deepEqual([status, destination], ['requested', FRIEND]);
    assert.deepEqual([waitingFor.what, waitingFor.amount.value], ['cooling_off', '5000000']);
    assert.equal(Date.parse(waitingFor.until), Date.parse(requestedAt) + DAY_MS);
    const repeated = await giveBack(id, undefined, key);
    assert.deepEqual(repeated.body, first.body);
    assert.equal(repeated.headers['idempotent-replayed'], 'true');
    const changed = await giveBack(id, { destination: OTHER }, key);
    assert.deepEqual([changed.status, changed.body.code], [409, 'idempotency_conflict']);
    for (const to of [FRIEND, OTHER]) {
      const second = await giveBack(id, { destination: to });
      assert.deepEqual([second.status, second.body.code], [409, 'invalid_state']);
    }
    assert.deepEqual((await read(`/v1/late-money/${id}`)).body, first.body);
    const events = await paying.gateway.db.sql<{ type: string; money: Json }[]>`
      select type, data -> 'lateMoney' as money from events where object_id = ${paymentId} order by sequence`;
    const last = events.at(-1);
    assert.equal(last?.type, 'payment.late_money_updated');
    assert.deepEqual([last?.money.id, last?.money.status, last?.money.destination], [id, 'requested', FRIEND]);
    const [entry] = await paying.gateway.db.sql`select action, actor from audit_log where subject = ${id}`;
    assert.equal(entry?.action, 'stray.return_requested');
    assert.match(entry?.actor, /^key:/);
  });

  it('refuse a destination that is missing, malformed, ours or on another network, and unknown fields', async () => {
    const { id } = await newMoney();
    for (const [body, message] of [
      [{}, /destination/],
      [{ destination: 'somewhere' }, /destination/],
      [{ destination: FRIEND.replace(SANDBOX, 'eip155:1') }, /must be an account on eip155:31337/],
      [{ destination: `${SANDBOX}:${INTERMEDIATE}` }, /operator's own account/],
      [{ destination: FRIEND, amount: '1' }, /amount/],
    ] as const) {
      const { status, body: answer } = await giveBack(id, body);
      assert.deepEqual([status, answer.code], [400, 'params_validation'], JSON.stringify(answer));
      assert.match(JSON.stringify(answer), message);
    }
    paying.screened.add(OTHER);
    const screened = await giveBack(id, { destination: OTHER });
    paying.screened.clear();
    assert.deepEqual([screened.status, screened.body.code], [400, 'sanctioned_user']);
    assert.equal((await read(`/v1/late-money/${id}`)).body.status, 'unclaimed');
  });

  it('name the floats that lack, and what a return waits for when they lack later', async () => {
    const { id } = await newMoney(shop, { isHeld: false, fee: 50_000 });
    const { status, body } = await giveBack(id);
    assert.deepEqual([status, body.code], [400, 'invalid_state']);
    assert.match(body.message, /the float of mrch_\w+ lacks 4\.95 USDC, and the operator's float lacks 0\.05 USDC/);
    const { sql } = paying.gateway.db;
    await sql`
      insert into floats (owner, network, asset, units)
      values (${shop.merchant.id}, ${SANDBOX}, ${USDC}, 4950000), ('operator', ${SANDBOX}, ${USDC}, 50000)`;
    assert.equal((await giveBack(id)).status, 200);
    await sql`update floats set units = 0 where owner = 'operator'`;
    await paying.time.advance(DAY_MS + 1_000);
    const { waitingFor } = (await read(`/v1/late-money/${id}`)).body;
    assert.deepEqual([waitingFor.what, waitingFor.amount.value, waitingFor.until], ['float', '50000', undefined]);
  });

  it('leave the money of a suspended merchant to the operator', async () => {
    const own = await openShop(paying.gateway);
    const { id } = await newMoney(own);
    const waiting = await newMoney(own);
    await giveBack(waiting.id, undefined, own.headers);
    const changes = { status: 'suspended' } as const;
    await changeMerchant(paying.gateway, { owner: null, actor: 'test', merchantId: own.merchant.id, changes });
    const { status, body } = await giveBack(id, undefined, own.headers);
    assert.deepEqual([status, body.code], [403, 'forbidden']);
    assert.equal((await list('', own.headers)).length, 2);
    assert.equal((await read(`/v1/late-money/${waiting.id}`, own.headers)).body.waitingFor.what, 'unfreeze');
  });
});
