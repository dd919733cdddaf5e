import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { raiseAlert } from '../../src/actions/alerts.ts';
import { createAnnouncement } from '../../src/actions/announce-node.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { until } from '../until.ts';
import { browserOf, type Headers, OF_OPERATOR, ofPartner, signIn } from './people-scene.ts';
import { ORDER } from './shop.ts';

const ASSET = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const CHAIN = 'eip155:8453';

describe('lists of a whole partner', () => {
  let gateway: TestGateway;
  let shop: Awaited<ReturnType<typeof createTestPartner>>;
  before(async () => {
    gateway = await startTestGateway();
    shop = await createTestPartner(gateway);
  });
  after(() => gateway.stop());

  const read = async (headers: Headers, url: string) => {
    const answer = await gateway.call({ method: 'GET', url, headers });
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json();
  };

  /** A merchant with a payment that is held, and a refund that waits for funds. */
  async function newMerchant(headers: Headers) {
    const { id: merchantId } = await createTestMerchant(gateway, headers);
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'merchant-id': merchantId },
      payload: ORDER,
    });
    const { paymentId } = created.json();
    const refundId = refundIdOf(paymentId, 1);
    await gateway.db.sql`
      insert into lots (id, payment_id, merchant_id, commitment, network, asset, account, is_held, amount, waiting, fee, net,
        is_paying, number, payout_key, is_open, held_at, updated_at)
      values (${`lot of ${paymentId}`}, ${paymentId}, ${merchantId}, '0x1', ${CHAIN}, ${ASSET}, ${ACCOUNT}, true, 1000, 0, 10,
        990, true, 0, '', true, now(), now())`;
    await gateway.db.sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
        from_held, from_merchant, from_operator, account, requested_at, updated_at)
      values (${refundId}, ${paymentId}, ${merchantId}, ${CHAIN}, ${ASSET}, 'eip3009-vrs', ${ACCOUNT}, 1000, 1000, 0,
        'awaiting_funds', 0, 1000, 0, ${ACCOUNT}, now(), now())`;
    return { merchantId, paymentId, refundId };
  }

  it('show the refunds and payouts of all its merchants, or of one, page by page, and what they wait for', async () => {
    const one = await newMerchant(shop.headers);
    const two = await newMerchant(shop.headers);
    const { headers: foreign } = await createTestPartner(gateway);
    await newMerchant(foreign);
    const { refunds } = await read(shop.headers, '/v1/refunds');
    assert.deepEqual(
      refunds.map((refund: { refundId: string }) => refund.refundId),
      [two.refundId, one.refundId],
    );
    assert.equal(refunds[0].waitingFor.what, 'float');
    const all = await read(shop.headers, '/v1/payouts');
    assert.deepEqual(
      all.payouts.map((payout: { paymentId: string }) => payout.paymentId),
      [two.paymentId, one.paymentId],
    );
    assert.deepEqual(all.payouts[0].waitingFor, { what: 'destination' });
    for (const list of ['refunds', 'payouts']) {
      const first = await read(shop.headers, `/v1/${list}?limit=1`);
      const second = await read(shop.headers, `/v1/${list}?limit=1&cursor=${first.nextCursor}`);
      assert.equal(first[list][0].paymentId, two.paymentId);
      assert.equal(second[list][0].paymentId, one.paymentId);
      assert.equal(second.nextCursor, null);
      const named = await read({ ...shop.headers, 'merchant-id': one.merchantId }, `/v1/${list}`);
      assert.deepEqual(
        named[list].map((row: { paymentId: string }) => row.paymentId),
        [one.paymentId],
      );
      const limited = await createTestKey(gateway, shop.partner.id, { key: { merchantIds: [one.merchantId] } });
      const seen = await read({ 'api-key': limited.secret }, `/v1/${list}`);
      assert.deepEqual(
        seen[list].map((row: { merchantId: string }) => row.merchantId),
        [one.merchantId],
      );
      assert.deepEqual((await read(shop.headers, `/v1/${list}?status=refunded`))[list], []);
    }
  });

  it('show the events from the newest back to the first', async () => {
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    for (const merchantName of ['Two', 'Three']) {
      const url = `/v1/merchants/${id}`;
      await gateway.call({ method: 'PATCH', url, headers, payload: { merchantName } });
    }
    const back = async () => {
      const sequences: number[] = [];
      for (let cursor = 'latest'; ; ) {
        const page = await read(headers, `/v1/events?before=${cursor}&limit=2`);
        sequences.push(...page.events.map((event: { sequence: number }) => event.sequence));
        if (!page.hasMore) return sequences;
        cursor = page.nextCursor;
      }
    };
    await until('all events are placed', async () => (await back()).length === 3);
    assert.deepEqual(await back(), [3, 2, 1]);
    const both = await gateway.call({ method: 'GET', url: '/v1/events?before=latest&after=latest', headers });
    assert.equal(both.statusCode, 400);
  });

  it('let a merchant be stopped by its partner, and started by the operator if it was suspended', async () => {
    const { id } = await createTestMerchant(gateway, shop.headers);
    const set = async (status: string) => {
      const url = `/v1/merchants/${id}/status`;
      const answer = await gateway.call({ method: 'PUT', url, headers: shop.headers, payload: { status } });
      return [answer.statusCode, answer.json().merchant?.status ?? answer.json().code];
    };
    const pay = async () => {
      const headers = { ...shop.headers, 'merchant-id': id };
      return (await gateway.call({ method: 'POST', url: '/v1/payments', headers, payload: ORDER })).statusCode;
    };
    assert.equal(await pay(), 201);
    assert.deepEqual(await set('inactive'), [200, 'inactive']);
    assert.equal(await pay(), 403);
    assert.deepEqual(await set('active'), [200, 'active']);
    assert.equal(await pay(), 201);
    assert.deepEqual(await set('suspended'), [200, 'suspended']);
    assert.deepEqual(await set('suspended'), [200, 'suspended']);
    assert.equal(await pay(), 403);
    assert.deepEqual(await set('active'), [400, 'invalid_state']);
    assert.deepEqual(await set('gone'), [400, 'params_validation']);
  });

  it('refuse the later of two edits of a merchant, with the merchant as it is now', async () => {
    const { id, name } = await createTestMerchant(gateway, shop.headers);
    const ifUnchanged = { name, email: 'shop@example.com' };
    const edit = (merchantName: string) =>
      gateway.call({
        method: 'PATCH',
        url: `/v1/merchants/${id}`,
        headers: shop.headers,
        payload: { merchantName, ifUnchanged },
      });
    const answers = await Promise.all([edit('One'), edit('Two')]);
    const [accepted, refused] = answers.sort((a, b) => a.statusCode - b.statusCode);
    assert.deepEqual([accepted?.statusCode, refused?.statusCode], [200, 409]);
    assert.equal(refused?.json().code, 'invalid_state');
    assert.equal(refused?.json().details.current.name, accepted?.json().merchant.name);
  });

  describe('of the operator', () => {
    it('show nodes, leases, alerts, freezes, networks and partners to its people alone', async () => {
      const announce = createAnnouncement(gateway);
      await announce();
      await raiseAlert(gateway, { name: 'job_failing', subject: 'prune', message: 'The job fails.' });
      const { headers } = await signIn(gateway, { belonging: OF_OPERATOR });
      const status = await read(headers, '/v1/operator/status');
      assert.deepEqual(
        status.nodes.map((node: { isUp: boolean }) => node.isUp),
        [true],
      );
      assert.ok(status.alerts.some((alert: { name: string }) => alert.name === 'job_failing'));
      const { partners } = await read(headers, '/v1/operator/partners');
      assert.ok(partners.some((partner: { id: string }) => partner.id === shop.partner.id));
      assert.ok(Array.isArray((await read(headers, '/v1/operator/networks')).networks));
      const owner = browserOf(gateway, (await signIn(gateway, { belonging: ofPartner(shop.partner.id) })).headers);
      for (const name of ['status', 'networks', 'partners', 'examination']) {
        assert.equal((await owner('GET', `/v1/operator/${name}`)).statusCode, 403);
      }
    });
  });
});
