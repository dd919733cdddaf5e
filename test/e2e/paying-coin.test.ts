import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { listEvents } from '../../src/store/events/events.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { ETH, openPayingShop, type PayingShop, refusal, result, USDC, type Wallet, walletOn } from './paying-shop.ts';
import { TX_HASH } from './shop.ts';

const FUNDS = { [USDC]: 10_000_000n, [ETH]: 10n ** 18n };
const WAIT_MS = 10_000;

describe('confirming a payment by a transaction in coin', () => {
  let paying: PayingShop;
  /** Another node, whose timers wait for the test. */
  let node: TestGateway;
  let wallet: Wallet;
  before(async () => {
    paying = await openPayingShop();
    const { wiring, time, gateway, shop } = paying;
    node = await startTestGateway({ ...wiring, world: time, databaseUrl: gateway.databaseUrl });
    wallet = walletOn(node, { 'api-key': shop.secret });
  });
  after(async () => {
    await node.stop();
    await paying.gateway.stop();
  });

  const nowMs = () => paying.time.clock.nowMs();

  async function handedOut() {
    const payer = paying.newPayer(FUNDS);
    const id = await paying.created({ expiresAt: nowMs() / 1000 + 900 });
    const option = await paying.wallet.option(id, payer.account, ETH);
    const { actions } = (await paying.wallet.fetch(id, option.id)).json();
    return { payer, id, option, action: actions[0].data };
  }

  /** Lets time pass until the request is answered. */
  async function answered<T>(request: Promise<T>): Promise<T> {
    let isAnswered = false;
    const answer = request.finally(() => {
      isAnswered = true;
    });
    await until('the request is answered', async () => {
      await paying.time.advance(1_000);
      return isAnswered;
    });
    return answer;
  }

  async function paysBySignature(id: string) {
    const payer = paying.newPayer(FUNDS);
    const option = await paying.wallet.option(id, payer.account, USDC);
    return (await paying.wallet.confirm(id, option.id, [result(await payer.sign(option))])).json().status;
  }

  for (const [where, isMined] of [
    ['waiting for a block', false],
    ['in a block', true],
  ] as const) {
    it(`makes it processing when an endpoint shows the transaction ${where}`, async () => {
      const { id, option, payer, action } = await handedOut();
      const { control } = paying.network();
      control.setAutoMining(isMined);
      const hash = await payer.carryOut(action);
      const response = await paying.wallet.confirm(id, option.id, [result(hash)]);
      assert.deepEqual(response.json(), { status: 'processing', isFinal: false, pollInMs: 2000, info: null });
      assert.deepEqual(await refusal(paying.shop.cancel(id)), [400, 'invalid_state'], 'it cannot be cancelled');
      const again = await paying.wallet.confirm(id, option.id, [result(hash)]);
      assert.equal(again.json().status, 'processing');

      const { buyer_account, buyer_name, token_asset, token_value } = await paying.payment(id);
      assert.deepEqual(
        [buyer_account, buyer_name, token_asset, token_value],
        [payer.account, 'Test', ETH, option.amount.value],
      );
      const [item, ...others] = await paying.items(id);
      assert.deepEqual([item?.state, item?.hintedHash, others.length], ['offered', hash, 0]);
      const [, event] = await listEvents(paying.gateway.db.sql, id);
      assert.deepEqual(event?.evidence, { commitment: item?.commitment, transaction: hash });
      control.mine();
      control.setAutoMining(true);
    });
  }

  it('looks for a transaction that no endpoint shows for 10 s; a made-up hash locks nothing', async () => {
    const { id, option } = await handedOut();
    let reads = 0;
    paying.network().control.intercept((method) => {
      if (method === 'isPaymentShown') reads += 1;
    });
    const startedMs = nowMs();
    const response = await answered(wallet.confirm(id, option.id, [result(TX_HASH)]));
    paying.network().control.intercept(undefined);
    assert.deepEqual(response.json(), { status: 'requires_action', isFinal: false, pollInMs: 1000, info: null });
    assert.ok(reads > 1 && nowMs() - startedMs >= WAIT_MS, `${reads} looks in ${nowMs() - startedMs} ms`);
    assert.deepEqual(
      (await paying.items(id)).map(({ state, hintedHash }) => [state, hintedHash]),
      [['offered', TX_HASH]],
    );
    assert.equal(await paysBySignature(id), 'processing', 'anybody else may pay');
  });

  it('lets the merchant cancel while it looks, and answers so', async () => {
    const { id, option } = await handedOut();
    const answer = wallet.confirm(id, option.id, [result(TX_HASH)]);
    await until('the request is held', () => node.longPolls.held === 1);
    assert.equal((await paying.shop.cancel(id)).statusCode, 200);
    assert.equal((await answered(answer)).json().status, 'cancelled');
  });

  it('takes no transaction of another payment for it', async () => {
    const [one, other] = [await handedOut(), await handedOut()];
    const hash = await other.payer.carryOut(other.action);
    const response = await answered(wallet.confirm(one.id, one.option.id, [result(hash)]));
    assert.equal(response.json().status, 'requires_action');
  });

  it('finds the transaction when the endpoints answer again', async () => {
    const { id, option, payer, action } = await handedOut();
    const hash = await payer.carryOut(action);
    paying.network().control.failNext('isPaymentShown', 2);
    const response = await answered(wallet.confirm(id, option.id, [result(hash)]));
    assert.equal(response.json().status, 'processing');
  });

  it('looks again when the same confirmation is repeated', async () => {
    const { id, option, payer, action } = await handedOut();
    const hash = await payer.carryOut(action);
    const { control } = paying.network();
    control.goDown('isPaymentShown');
    const first = await answered(wallet.confirm(id, option.id, [result(hash)]));
    assert.equal(first.json().status, 'requires_action');
    control.comeBack('isPaymentShown');
    assert.equal((await paying.wallet.confirm(id, option.id, [result(hash)])).json().status, 'processing');
  });

  it('is taken whenever it comes: neither the quote nor the payment is too old for it', async () => {
    const { id, option, payer } = await handedOut();
    const early = await paying.wallet.option(id, payer.account, USDC);
    const signature = await payer.sign(early);
    await paying.time.advance(900_000);
    const response = await paying.wallet.confirm(id, option.id, [result(TX_HASH)]);
    assert.deepEqual([response.statusCode, response.json().status], [200, 'processing']);
    assert.equal((await paying.items(id))[0]?.hintedHash, TX_HASH);
    const late = paying.wallet.confirm(id, early.id, [result(signature)]);
    assert.deepEqual(await refusal(late), [410, 'payment_expired'], 'a signature is late');
    await paying.time.advance(60_000);
    const event = { type: 'expired', proof: { finalBlockAtMs: nowMs() } } as const;
    const [item] = await paying.items(id);
    assert.ok(item !== undefined);
    const ended = [{ key: item.key, state: 'unpaid', reason: 'ran_out' }] as const;
    const move = { paymentId: id, event, actor: 'test', evidence: {}, items: { ended } };
    assert.ok((await paying.gateway.movePayment(move)).ok);
    const later = await paying.wallet.confirm(id, option.id, [result(`0x${'cd'.repeat(32)}`)]);
    assert.deepEqual([later.statusCode, later.json().status], [200, 'expired']);
  });

  it('is not refused for want of a relayer or a network', async () => {
    const { id, option } = await handedOut();
    const { settings } = paying.network();
    settings.isConnected = false;
    const response = await paying.wallet.confirm(id, option.id, [result(TX_HASH)]);
    settings.isConnected = true;
    assert.equal(response.statusCode, 200, response.body);
  });

  it('is refused when it is no hash, or its action was never fetched', async () => {
    const { id, option } = await handedOut();
    for (const value of ['', '0x', TX_HASH.slice(2), `0x${'ab'.repeat(65)}`]) {
      const response = paying.wallet.confirm(id, option.id, [result(value)]);
      assert.deepEqual(await refusal(response), [422, 'params_validation']);
    }
    const payer = paying.newPayer(FUNDS);
    const other = await paying.created();
    const unfetched = await paying.wallet.option(other, payer.account, ETH);
    const response = paying.wallet.confirm(other, unfetched.id, [result(TX_HASH)]);
    assert.deepEqual(await refusal(response), [422, 'params_validation']);
  });
});
