import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EURC, openPayingShop, type PayingShop, result } from '../e2e/paying-shop.ts';
import { createTestApp } from '../gateway.ts';

const PER_ADDRESS = 25;
const PER_KEY = 250;
const FLOODER = '203.0.113.7';
const accounts = Array.from(
  { length: 100 },
  (_, index) => `eip155:31337:0x${(index + 1).toString(16).padStart(40, '0')}`,
);

describe('a flood of requests for options', () => {
  let paying: PayingShop;
  let id: string;
  let app: Record<string, string>;
  before(async () => {
    paying = await openPayingShop({
      config: { surveyAccountsPerAddress: PER_ADDRESS, surveyAccountsPerKey: PER_KEY },
    });
    id = await paying.created({ expiresAt: Math.floor(paying.time.clock.nowMs() / 1000) + 3_600 });
    app = { 'app-id': (await createTestApp(paying.gateway)).id, 'client-id': 'flood' };
  });
  after(() => paying?.gateway.stop());

  const ask = (remoteAddress: string, asked = accounts, headers = app) =>
    paying.gateway.app.inject({
      method: 'POST',
      url: `/v1/gateway/payment/${id}/options`,
      headers,
      payload: { accounts: asked },
      remoteAddress,
    });

  /** The answers to a second of ten requests with a hundred accounts each, by status. */
  async function flood(headers = app): Promise<Record<number, number>> {
    const found: Record<number, number> = {};
    for (let sent = 0; sent < 10; sent += 1) {
      const { statusCode } = await ask(FLOODER, accounts, headers);
      found[statusCode] = (found[statusCode] ?? 0) + 1;
    }
    return found;
  }

  it('looks up few accounts of one address, and says when to come back', async () => {
    assert.deepEqual(await flood(), { 200: 1, 429: 9 });
    const refused = await ask(FLOODER);
    assert.deepEqual([refused.json().code, refused.headers['retry-after']], ['rate_limited', '1']);
    let answered = 0;
    for (let second = 0; second < 20; second += 1) {
      await paying.time.advance(1_000);
      answered += (await flood())[200] ?? 0;
    }
    assert.equal(answered, 5, 'about as many accounts as 20 seconds allow');
  });

  it('leaves payers at other addresses as many as they need', async () => {
    await flood();
    for (let payer = 0; payer < 30; payer += 1) {
      assert.equal((await ask('203.0.113.8', accounts.slice(0, 2))).statusCode, 200);
    }
    assert.equal((await ask('203.0.113.9')).statusCode, 200, 'a wallet with many accounts');
  });

  it('has the same limit for signatures that the account’s key did not make', async () => {
    await paying.time.advance(10_000);
    const payer = paying.newPayer({ [EURC]: 10n ** 9n });
    const payable = await paying.created();
    const option = await paying.wallet.option(payable, payer.account, EURC);
    const confirm = (value: string) =>
      paying.gateway.app.inject({
        method: 'POST',
        url: `/v1/gateway/payment/${payable}/confirm`,
        headers: app,
        payload: { optionId: option.id, results: [result(value)] },
        remoteAddress: FLOODER,
      });
    const madeUp = await paying.newPayer().sign(option);
    const found: Record<number, number> = {};
    for (let sent = 0; sent < 100; sent += 1) {
      const { statusCode } = await confirm(madeUp);
      found[statusCode] = (found[statusCode] ?? 0) + 1;
    }
    assert.deepEqual(found, { 422: (PER_ADDRESS * 8) / 5, 429: 60 });
    const paid = await confirm(await payer.sign(option));
    assert.deepEqual([paid.statusCode, paid.json().status], [200, 'processing'], paid.body);
  });

  it('has a limit of its own for a key, whatever its address', async () => {
    const { 'api-key': key = '' } = paying.shop.headers as Record<string, string>;
    const found = await flood({ 'api-key': key });
    const later = await flood({ 'api-key': key });
    assert.deepEqual([found[200], later], [10, { 200: 9, 429: 1 }]);
  });
});
