import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { refundIdOf } from '../../src/domain/ids.ts';
import { signCode } from '../../src/domain/sign-code.ts';
import { openShop, type Shop } from '../e2e/shop.ts';
import { createTestApp, startTestGateway, type TestGateway } from '../gateway.ts';

const ACCOUNT = `eip155:1:0x${'1'.repeat(40)}`;
const ROUTES = [
  ['GET', ''],
  ['POST', '/actions'],
  ['POST', '/confirm'],
] as const;

describe('a stranger who knows the id of a payment, and so those of its refunds', () => {
  let gateway: TestGateway;
  let shop: Shop;
  let headers: Record<string, string>;
  before(async () => {
    gateway = await startTestGateway();
    shop = await openShop(gateway);
    const app = await createTestApp(gateway);
    headers = { 'app-id': app.id, 'client-id': 'stranger' };
  });
  after(() => gateway.stop());

  async function waitingRefund(): Promise<string> {
    const { paymentId } = await shop.created();
    const id = refundIdOf(paymentId, 1);
    await gateway.db.sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
        from_held, from_merchant, from_operator, account, requested_at, updated_at)
      values (${id}, ${paymentId}, ${shop.merchant.id}, 'eip155:1', 'eip155:1/slip44:60', 'native', ${ACCOUNT}, 1, 1, 0,
        'awaiting_funds', 0, 1, 0, ${ACCOUNT}, now(), now())`;
    return id;
  }

  const ask = (method: 'GET' | 'POST', code: string, path: string) =>
    gateway.call({
      method,
      url: `/v1/gateway/refund/${code}${path}`,
      headers,
      ...(path === '/confirm' && { payload: { result: `0x${'11'.repeat(65)}` } }),
    });

  it('neither sees nor blocks a refund: that needs the secret of its link', async () => {
    const id = await waitingRefund();
    const other = await waitingRefund();
    const code = signCode(gateway.signingKeys, id);
    const [, secret = ''] = signCode(gateway.signingKeys, other).split('.');
    const guesses = [id, `${id}.`, `${id}.${secret}`, `${code}x`, code.slice(0, -1), `${id}.${'A'.repeat(22)}`];
    for (const guess of guesses) {
      for (const [method, path] of ROUTES) {
        const { statusCode, body } = await ask(method, guess, path);
        assert.equal(statusCode, 404, `${method} ${guess}${path}: ${body}`);
      }
    }
    const shown = await ask('GET', code, '');
    assert.deepEqual([shown.statusCode, shown.json().refundId], [200, id], shown.body);
    // There is no network here: the offer is refused for that.
    assert.notEqual((await ask('POST', code, '/actions')).statusCode, 404);
  });
});
