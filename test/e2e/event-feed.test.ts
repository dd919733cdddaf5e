import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { sealCursor } from '../../src/domain/cursor.ts';
import type { EventView } from '../../src/http/views/event.ts';
import { appendEvents } from '../../src/store/events/events.ts';
import { eventsPlaced } from '../events-placed.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { until } from '../until.ts';

interface Page {
  readonly events: readonly EventView[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}
type Headers = Readonly<Record<string, string>>;

describe('the feed of events', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());

  const ask = (headers: Headers, query = '') => gateway.call({ method: 'GET', url: `/v1/events${query}`, headers });
  async function page(headers: Headers, query = ''): Promise<Page> {
    const response = await ask(headers, query);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }
  /** All events after the cursor, page by page. */
  async function follow(headers: Headers, { query = '', limit = 100, after: start = '' } = {}): Promise<EventView[]> {
    const events: EventView[] = [];
    for (let cursor = start; ; ) {
      const next = await page(headers, `?limit=${limit}${query}${cursor === '' ? '' : `&after=${cursor}`}`);
      events.push(...next.events);
      if (next.events.length === 0 && next.nextCursor === cursor) return events;
      cursor = next.nextCursor;
    }
  }
  async function write(headers: Headers, url: string, payload: object, method: 'POST' | 'PUT' = 'POST') {
    const response = await gateway.call({
      method,
      url,
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload,
    });
    assert.ok(response.statusCode < 300, response.body);
    return response.json();
  }
  async function newShop() {
    const { partner, headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    return { partner, headers: { ...headers, 'merchant-id': id }, merchantId: id };
  }
  const pay = async (headers: Headers): Promise<string> => {
    const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-1', description: 'Tea' };
    return (await write(headers, '/v1/payments', order)).paymentId;
  };
  const cancel = (headers: Headers, id: string) => write(headers, `/v1/payments/${id}/cancel`, {});
  const read = async (headers: Headers, url: string) => (await gateway.call({ method: 'GET', url, headers })).json();
  /** Waits until that many events have their positions. */
  const placed = (headers: Headers, count: number) =>
    until(`${count} events are placed`, async () => (await follow(headers)).length === count);

  it('shows each object as its own route answered at that moment, in the order of the changes', async () => {
    const { headers, merchantId } = await newShop();
    const id = await pay(headers);
    const created = await read(headers, `/v1/payments/${id}`);
    await cancel(headers, id);
    const cancelled = await read(headers, `/v1/payments/${id}`);
    const asset = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
    const destination = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const registered = await write(headers, `/v1/merchants/${merchantId}/settlements/crypto`, {
      settlements: [{ asset, destination }],
    });
    await placed(headers, 4);
    const events = await follow(headers);
    assert.deepEqual(
      events.map(({ type, sequence, merchantId: owner }) => [type, sequence, owner]),
      [
        ['merchant.created', 1, merchantId],
        ['payment.created', 1, merchantId],
        ['payment.cancelled', 2, merchantId],
        ['settlement_destination.changed', 1, merchantId],
      ],
    );
    // Only the payment's own route says what can be refunded now, and lists late money.
    const shown = ({ refundable: _, lateMoney: __, ...facts }: Record<string, unknown>) => facts;
    const { settlements: _, ...merchant } = (await read(headers, `/v1/merchants/${merchantId}`)).merchant;
    assert.deepEqual(
      events.map(({ data }) => data),
      [merchant, shown(created), shown(cancelled), { ...registered.settlements[0], merchantId }],
    );
    for (const event of events) {
      assert.deepEqual(await read(headers, `/v1/events/${event.id}`), event);
      assert.equal(event.apiVersion, '2026-02-18');
      assert.equal(event.mode, 'test');
    }
  });

  it('has no gap and no repetition, whatever the size of a page and whoever writes meanwhile', async () => {
    const [one, two] = [await newShop(), await newShop()];
    const seen: EventView[] = [];
    let cursor = '';
    let isWritten = false;
    const reading = (async () => {
      for (;;) {
        const isLast = isWritten;
        const next = await page(one.headers, `?limit=7${cursor === '' ? '' : `&after=${cursor}`}`);
        seen.push(...next.events);
        if (isLast && next.events.length === 0 && seen.length >= 61) return;
        cursor = next.nextCursor;
      }
    })();
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        await cancel(one.headers, await pay(one.headers));
        await pay(two.headers);
      }),
    );
    isWritten = true;
    await reading;
    assert.equal(seen.length, 61, 'a merchant, and thirty payments that were created and cancelled');
    assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length);
    assert.deepEqual(await follow(one.headers, { limit: 1 }), seen, 'the same for a later reader');
    for (const { data, type } of seen) {
      const { id } = data as { id: string };
      const own = seen.filter((event) => (event.data as { id: string }).id === id).map(({ sequence }) => sequence);
      assert.deepEqual(
        own,
        own.map((_, index) => index + 1),
        type,
      );
    }
  });

  it('is narrowed by types and merchants, and by the merchants of the key', async () => {
    const { partner, headers, merchantId } = await newShop();
    const other = await createTestMerchant(gateway, headers);
    const id = await pay(headers);
    await cancel(headers, id);
    await pay({ ...headers, 'merchant-id': other.id });
    await placed(headers, 5);
    const types = async (query: string, as: Headers = headers) =>
      (await follow(as, { query })).map(({ type, merchantId: of }) => `${type} ${of === merchantId ? 'one' : 'other'}`);
    assert.deepEqual(await types('&types=payment.cancelled'), ['payment.cancelled one']);
    assert.deepEqual(await types('&types=merchant.*,payment.cancelled'), [
      'merchant.created one',
      'merchant.created other',
      'payment.cancelled one',
    ]);
    assert.deepEqual(await types(`&merchantId=${other.id}`), ['merchant.created other', 'payment.created other']);
    assert.deepEqual(await types('&merchantId=mrch_unknown'), []);
    const narrow = await createTestKey(gateway, partner.id, { key: { merchantIds: [other.id] } });
    const as = { 'api-key': narrow.secret };
    assert.deepEqual(await types('', as), ['merchant.created other', 'payment.created other']);
    assert.deepEqual(await types(`&merchantId=${merchantId}`, as), []);
    const [cancelled] = await follow(headers, { query: '&types=payment.cancelled' });
    assert.equal(
      (await gateway.call({ method: 'GET', url: `/v1/events/${cancelled?.id}`, headers: as })).statusCode,
      404,
    );
  });

  it('holds a request until there is an event of the partner', async () => {
    const [one, two] = [await newShop(), await newShop()];
    await placed(one.headers, 1);
    const { nextCursor, events } = await page(one.headers, '?after=latest');
    assert.deepEqual(events, []);
    let answered = false;
    const held = page(one.headers, `?after=${nextCursor}&maxPollMs=25000`).then((answer) => {
      answered = true;
      return answer;
    });
    await until('it is held', () => gateway.longPolls.held === 1);
    await pay(two.headers);
    await placed(two.headers, 2);
    assert.ok(!answered, 'the events of another partner do not end it');
    const id = await pay(one.headers);
    const { events: found } = await held;
    assert.deepEqual(
      found.map(({ type, data }) => [type, (data as { id: string }).id]),
      [['payment.created', id]],
    );
    const waiting = page(one.headers, `?after=${nextCursor}&maxPollMs=25000&types=payment.cancelled`);
    await until('it is held', () => gateway.longPolls.held === 1);
    await cancel(one.headers, id);
    const { events: matching } = await waiting;
    assert.deepEqual(
      matching.map(({ type }) => type),
      ['payment.cancelled'],
      'an event outside of the view does not end it',
    );
    assert.deepEqual(
      (await page(one.headers, `?after=${nextCursor}&limit=1&maxPollMs=25000`)).events,
      found,
      'events that are there already are not waited for',
    );
  });

  it('separates test and live, and partners', async () => {
    const { partner, headers } = await newShop();
    await placed(headers, 1);
    const live = await createTestKey(gateway, partner.id, { mode: 'live' });
    const stranger = await createTestPartner(gateway);
    const [event] = await follow(headers);
    for (const as of [{ 'api-key': live.secret }, stranger.headers]) {
      assert.deepEqual(await follow(as), []);
      const response = await gateway.call({ method: 'GET', url: `/v1/events/${event?.id}`, headers: as });
      assert.deepEqual([response.statusCode, response.json().code], [404, 'invalid_params']);
      const { nextCursor } = await page(headers);
      const carried = await ask(as, `?after=${nextCursor}`);
      assert.deepEqual([carried.statusCode, carried.json().code], [400, 'invalid_params']);
    }
  });

  it('takes a maxPollMs that is null or empty as none', async () => {
    const { headers } = await newShop();
    await placed(headers, 1);
    const { nextCursor } = await page(headers);
    for (const value of ['null', '']) {
      assert.deepEqual((await page(headers, `?after=${nextCursor}&maxPollMs=${value}`)).events, [], value);
    }
  });

  it('refuses what it cannot answer', async () => {
    const { partner, headers } = await newShop();
    await placed(headers, 1);
    const { nextCursor } = await page(headers);
    const query = JSON.stringify(['events', partner.id, 'test']);
    const future = sealCursor(gateway.cursorKeys, query, ['1000000']);
    for (const [wrong, text] of [
      [`?after=${future}`, /ahead of the events/],
      [`?after=${nextCursor.slice(0, -1)}`, /not one of ours/],
      ['?after=1', /not one of ours/],
      ['?types=payment.paid', /types/],
      ['?types=payout.paid', /types/],
      ['?limit=0', /limit/],
      ['?limit=101', /limit/],
      ['?maxPollMs=-1', /maxPollMs/],
    ] as const) {
      const response = await ask(headers, wrong);
      assert.equal(response.statusCode, 400, `${wrong}: ${response.body}`);
      assert.match(response.body, text, wrong);
    }
    const narrow = await createTestKey(gateway, partner.id, { key: { scopes: ['payments:read'] } });
    assert.equal((await ask({ 'api-key': narrow.secret })).statusCode, 403);
    const unknown = await gateway.call({ method: 'GET', url: '/v1/events/evt_unknown', headers });
    assert.equal(unknown.statusCode, 404);
  });

  it('goes back behind any number of events of other merchants, and says when the past is over', async () => {
    const { partner, headers, merchantId } = await newShop();
    const loud = await createTestMerchant(gateway, headers);
    const quiet = await createTestKey(gateway, partner.id, { key: { merchantIds: [merchantId] } });
    await placed(headers, 2);
    await command(gateway, async (tx, at) => {
      const event = { type: 'merchant.updated', objectId: loud.id, merchantId: loud.id, at, actor: 'test' } as const;
      for (let count = 0; count < 600; count += 1) await appendEvents(tx, [{ ...event, data: {} }]);
    });
    await eventsPlaced(gateway);
    const seen: string[] = [];
    const sizes: [number, boolean][] = [];
    for (let cursor = 'latest', hasMore = true; hasMore; ) {
      const back = await page({ 'api-key': quiet.secret }, `?before=${cursor}`);
      seen.push(...back.events.map(({ type }) => type));
      sizes.push([back.events.length, back.hasMore]);
      ({ nextCursor: cursor, hasMore } = back);
    }
    assert.deepEqual(seen, ['merchant.created']);
    assert.deepEqual(sizes, [
      [0, true],
      [1, false],
    ]);
  });

  it('has cursors that show nothing of the events of others, and takes those of earlier versions', async () => {
    const [one, two] = [await newShop(), await newShop()];
    await placed(one.headers, 1);
    await placed(two.headers, 1);
    const { nextCursor } = await page(one.headers);
    assert.doesNotMatch(Buffer.from(nextCursor, 'base64url').toString('latin1'), /\["\d+"\]/);
    const latest = (await page(one.headers, '?after=latest')).nextCursor;
    await pay(two.headers);
    await placed(two.headers, 2);
    assert.equal((await page(one.headers, '?after=latest')).nextCursor, latest);

    const [row] = await gateway.db.sql<{ position: string }[]>`
      select max(position) as position from event_batches where partner_id = ${one.partner.id}`;
    const payload = Buffer.from(JSON.stringify([row?.position]));
    const mac = createHmac('sha256', gateway.cursorKeys[0])
      .update(JSON.stringify(['events', one.partner.id, 'test']))
      .update('\0')
      .update(payload)
      .digest()
      .subarray(0, 16);
    await pay(one.headers);
    await placed(one.headers, 2);
    const older = await page(one.headers, `?after=${Buffer.concat([mac, payload]).toString('base64url')}`);
    assert.deepEqual(
      older.events.map(({ type }) => type),
      ['payment.created'],
    );
  });
});
