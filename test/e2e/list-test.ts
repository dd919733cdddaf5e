import assert from 'node:assert/strict';
import { startTestGateway } from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { BUYER, EVENTS, type Headers, happen, type Shop } from './shop.ts';

export const BASE_USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const BSC_USDC = 'eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d';
export const MAINNET_ETH = 'eip155:1/slip44:60';

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client outside would read them, without types.
export type Json = any;
export type Query = Record<string, string | number | readonly string[]>;
export type ListTest = Awaited<ReturnType<typeof startListTest>>;

export const search = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
export const references = (body: Json) => body.data.map((item: Json) => item.referenceId ?? item.reference_id);
export const fields = (body: Json) => body.issues.map(({ field }: { field: string }) => field);

/** A gateway with manual time, and the data for the lists. */
export async function startListTest() {
  const time = manualTime();
  const gateway = await startTestGateway({ world: { clock: time.clock } });

  const ask = (url: string, headers: Headers, query: Query = {}) =>
    gateway.call({ url: `${url}?${search(query)}`, headers });

  /** A payment created a second after the previous one. */
  async function add(shop: Shop, referenceId: string, value = '1000', unit = 'iso4217/USD', more: object = {}) {
    await time.advance(1_000);
    return (await shop.created({ amount: { unit, value }, referenceId, ...more })).paymentId;
  }

  async function pay(paymentId: string, { account = BUYER.account, asset = BASE_USDC } = {}) {
    const facts = { buyer: { ...BUYER, account }, token: { asset, value: 10_000_000n } };
    for (const event of [
      { ...EVENTS.confirmed, ...facts },
      { ...EVENTS.succeeded, ...facts },
    ]) {
      assert.ok((await gateway.movePayment({ paymentId, event, actor: 'test', evidence: {} })).ok);
    }
  }

  return {
    time,
    gateway,
    ask,
    add,
    pay,
    async listed(shop: Shop, query: Query = {}, headers: Headers = shop.headers): Promise<Json> {
      const response = await ask('/v1/merchants/payments', headers, query);
      assert.equal(response.statusCode, 200, response.body);
      return response.json();
    },
    async refused(shop: Shop, query: Query, url = '/v1/merchants/payments'): Promise<Json> {
      const response = await ask(url, shop.headers, query);
      assert.equal(response.statusCode, 400, `${search(query)}: ${response.body}`);
      return response.json();
    },
    /** One payment of each status; two of them are past their expiry and not swept. */
    async oneOfEach(shop: Shop): Promise<void> {
      const soon = { expiresAt: Math.floor(time.clock.nowMs() / 1000) + 2 };
      await add(shop, 'overdue', '100', 'iso4217/USD', soon);
      const native = await add(shop, 'native', '150', 'iso4217/USD', { expiresAt: soon.expiresAt + 1 });
      await gateway.db.sql`update payments set native_deadline = ${new Date(2e12)} where id = ${native}`;
      await add(shop, 'waiting', '200');
      await happen(gateway, await add(shop, 'signed', '300'), 'confirmed');
      await pay(await add(shop, 'paid', '400'));
      await happen(gateway, await add(shop, 'declined', '500'), 'confirmed', 'declined');
      await shop.cancel(await add(shop, 'cancelled', '600'));
    },
  };
}
