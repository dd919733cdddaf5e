import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fanOutOnce } from '../../src/actions/webhooks/fan-out.ts';
import type { Role } from '../../src/domain/role.ts';
import { until } from '../until.ts';
import { openPayingShop, type PayingShop, result, SANDBOX, USDC } from './paying-shop.ts';
import { ofMerchant, signIn } from './people-scene.ts';
import { openShop } from './shop.ts';
import { newCourier, takeFanOut } from './webhook-scene.ts';

describe('the timeline of a payment', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
    // Some node watches and relays.
    for (const name of [`watch ${SANDBOX}`, `relay ${SANDBOX} 0x1`]) {
      await paying.gateway.db
        .sql`insert into leases (name, holder, fencing, until, taken_by) values (${name}, 'x', 1, '2100-01-01', 'lots x')`;
    }
  });
  after(() => paying.gateway.stop());

  const get = (id: string, headers = paying.shop.headers) =>
    paying.gateway.call({ url: `/v1/payments/${id}/timeline`, headers });

  async function confirmed(): Promise<{ id: string; commitment: string }> {
    const payer = paying.newPayer({ [USDC]: 10_000_000n });
    const id = await paying.created();
    const option = await paying.wallet.option(id, payer.account, USDC);
    await paying.wallet.confirm(id, option.id, [result(await payer.sign(option))]);
    const [item] = await paying.items(id);
    return { id, commitment: item?.commitment ?? '' };
  }

  it('shows what happened and what it waits for', async () => {
    const { id } = await confirmed();
    const response = await get(id);
    assert.equal(response.statusCode, 200, response.body);
    const { paymentId, status, entries, omitted, waiting } = response.json();
    assert.deepEqual([paymentId, status, omitted], [id, 'processing', 0]);
    assert.deepEqual(
      entries.map(({ what }: { what: string }) => what),
      ['payment.created', 'payment.processing', 'attempt.accepted'],
    );
    const { network, asset, amount, text } = entries[2];
    assert.deepEqual([network, asset, amount], [SANDBOX, USDC, '10000000']);
    assert.match(
      text,
      /^The signature of eip155:31337:0x\w+ over 10\.00 USDC on Till Sandbox was accepted, valid until /,
    );
    assert.equal(waiting.reason, 'sending');
  });

  it('shows why a transfer is refused, and until when it is tried', async () => {
    const { id, commitment } = await confirmed();
    await paying.gateway.db.sql`update items set refusal = 'short_balance' where commitment = ${commitment}`;
    const { waiting } = (await get(id)).json();
    assert.equal(waiting.reason, 'refused');
    assert.match(waiting.text, /^It cannot be carried out now: the payer’s balance is too low\./);
    const [item] = await paying.items(id);
    assert.equal(waiting.until, item?.deadline.toISOString());
  });

  it('is null in `waiting` when nothing more is to come', async () => {
    const id = await paying.created();
    assert.equal((await get(id)).json().waiting.reason, 'payer');
    await paying.shop.cancel(id);
    const { status, waiting, entries } = (await get(id)).json();
    assert.deepEqual([status, waiting, entries[1].by], ['cancelled', null, 'merchant']);
  });

  it('shows which webhooks were delivered, and which are not', async () => {
    const { gateway, shop } = paying;
    const subscribe = async (path: string) => {
      const payload = { url: `http://127.0.0.1${path}`, events: ['payment.*'] };
      const response = await gateway.call({
        method: 'POST',
        url: '/v1/webhook-endpoints',
        headers: shop.headers,
        payload,
      });
      return response.json().webhookEndpoint.id as string;
    };
    const [well, ill] = [await subscribe('/well?token=secret'), await subscribe('/ill')];
    const lease = await takeFanOut(gateway);
    const id = await paying.created();
    await until('the event is placed', async () => {
      await fanOutOnce(gateway, lease);
      const texts = (await get(id)).json().entries.map(({ text }: { text: string }) => text);
      return texts.includes(`The webhook payment.created waits for its first attempt to reach ${well}.`);
    });
    const courier = newCourier(gateway, {
      exchange: async ({ url }) => ({
        status: url.includes('/well') ? 200 : 500,
        headers: {},
        bytes: Buffer.alloc(0),
        isWhole: true,
      }),
    });
    await courier.takeDue();
    await courier.idle();
    const { entries } = (await get(id)).json();
    const entryTexts = new Map(entries.map(({ what, text }: { what: string; text: string }) => [what, text]));
    assert.equal(
      entryTexts.get('webhook.succeeded'),
      `The webhook payment.created was delivered to ${well}, by attempt 1: 200.`,
    );
    assert.match(
      String(entryTexts.get('webhook.pending')),
      new RegExp(
        `^The webhook payment.created is not delivered to ${ill} yet. Attempt 1 failed. The receiver answered 500. The next`,
      ),
    );
    assert.doesNotMatch(JSON.stringify(entries), /secret|127\.0\.0\.1/);
  });

  it('shows a cashier no endpoint of the partner, and the developer of a merchant the endpoints of this merchant alone', async () => {
    const { gateway, shop } = paying;
    const subscribe = async (fields: object) => {
      const payload = { url: 'http://127.0.0.1/ill', events: ['payment.*'], ...fields };
      const made = await gateway.call({ method: 'POST', url: '/v1/webhook-endpoints', headers: shop.headers, payload });
      return made.json().webhookEndpoint.id as string;
    };
    const [ofAll, ofOne] = [await subscribe({}), await subscribe({ merchantIds: [shop.merchant.id] })];
    const lease = await takeFanOut(gateway);
    const id = await paying.created();
    const entryTexts = async (headers: Record<string, string>) => {
      const entries = (await get(id, headers)).json().entries as { what: string; text: string }[];
      const texts = entries.filter(({ what }) => what.startsWith('webhook.')).map(({ text }) => text);
      return [ofAll, ofOne].filter((endpoint) => texts.some((text) => text.includes(endpoint)));
    };
    await until('the event is placed', async () => {
      await fanOutOnce(gateway, lease);
      return (await entryTexts(shop.headers)).length === 2;
    });
    const as = async (role: Role) => {
      const belonging = ofMerchant(shop.partner.id, shop.merchant.id);
      const { headers } = await signIn(gateway, { belonging, role });
      return entryTexts({ ...headers, 'merchant-id': shop.merchant.id });
    };
    assert.deepEqual(await as('developer'), [ofOne]);
    assert.deepEqual([await as('cashier'), await as('support')], [[], []]);
  });

  it('is not shown to others', async () => {
    const { id } = await confirmed();
    const other = await openShop(paying.gateway);
    const response = await get(id, other.headers);
    assert.deepEqual([response.statusCode, response.json().code], [404, 'payment_not_found']);
    assert.equal((await get('pay_x')).statusCode, 404);
    assert.equal((await get(`${id}'--`)).statusCode, 404);
  });

  it('has the newest 200 entries of a payment with thousands of attempts, and counts the others', async () => {
    const { id, commitment } = await confirmed();
    await paying.gateway.db.sql`
      insert into items (commitment, subject, network, collector, asset, method, payer, account, recipient, fee_account,
        amount, fee, deadline, buyer_name, state, accepted_at)
      select commitment || number, subject, network, collector, asset, 'native', payer, account, recipient, fee_account,
        amount, fee, deadline, buyer_name, 'offered', accepted_at + number * interval '1 ms'
      from items, generate_series(1, 3000) as number where commitment = ${commitment}`;
    const { entries, omitted, waiting } = (await get(id)).json();
    assert.equal(entries.length, 200);
    assert.equal(omitted, 3_003 - 200);
    assert.equal(entries.at(-1).what, 'attempt.offered');
    assert.ok(waiting !== null);
  });
});
