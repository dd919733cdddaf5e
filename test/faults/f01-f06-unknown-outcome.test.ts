import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import { walletOn } from '../e2e/paying-shop.ts';
import type { Lie } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { AMOUNT, cancelAuthorization, type SignedPayment, spendElsewhere, WITHIN } from './shopper.ts';

const SEND = { methods: ['eth_sendRawTransaction'] };
const UNAVAILABLE: Lie = { as: 'status', status: 503, isForwarded: false };
const DAY_MS = 24 * 60 * 60_000;

describe('a send with an unknown outcome', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ payers: 14 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  /** The transaction with the payment, once an endpoint was asked to broadcast it: only stored bytes are. */
  async function sent({ id }: SignedPayment) {
    await until(
      'it is sent',
      async () => (await scene.versionsOf(id)).some(({ bytes }) => scene.wasSent(bytes)),
      WITHIN,
    );
    const [stored] = await scene.versionsOf(id);
    assert.ok(stored);
    return stored;
  }

  const answers: readonly (readonly [what: string, lie: Lie])[] = [
    ['answers 502', { as: 'status', status: 502, isForwarded: true }],
    ['breaks the connection', { as: 'drop', isForwarded: true }],
    ['never answers', { as: 'silence', isForwarded: true }],
    ['answers an error', { as: 'error', code: -32_603, message: 'internal error', isForwarded: true }],
  ];
  for (const [what, lie] of answers) {
    it(`F1: an endpoint that takes the transaction and ${what} leaves the payment processing, then paid once`, async () => {
      scene.proxy.lie(lie, SEND);
      const payment = await scene.shopper.pay();
      const stored = await sent(payment);
      assert.equal(await scene.shopper.status(payment), 'processing');
      scene.answerTruthfully();
      await scene.shopper.reaches(payment, 'succeeded');
      await scene.shopper.isPaidOnce(payment);
      assert.equal((await scene.shopper.view(payment)).info?.txId, stored.hash);
    });
  }

  it('F2: a transaction that is not mined for days leaves the payment processing, and is paid once when it is', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    scene.node.pass(2 * DAY_MS);
    await until(
      'somebody is told',
      async () => (await scene.alerts()).some((text) => text.startsWith('send_stuck')),
      WITHIN,
    );
    assert.equal(await scene.shopper.status(payment), 'processing');
    await scene.shopper.reaches(payment, 'succeeded');
    scene.node.pass(-2 * DAY_MS);
    await scene.shopper.isPaidOnce(payment);
    const nonces = new Set((await scene.versions()).map(({ nonce }) => nonce));
    assert.equal(nonces.size, Number(await scene.chain.request('eth_getTransactionCount', scene.relayer, 'latest')));
  });

  it('F4: a repeated confirmation gets the first result, at any time and from any node', async () => {
    const payment = await scene.shopper.sign();
    const second = await scene.shopper.wallet.option(payment.id, payment.option.account, payment.asset);
    const first = await Promise.all([payment.confirm(), payment.confirm(), payment.confirm()]);
    for (const response of first) assert.deepEqual([response.statusCode, response.json().status], [200, 'processing']);
    await scene.shopper.reaches(payment, 'succeeded');
    const { info } = await scene.shopper.view(payment);
    const other = await scene.startNode({ isIdle: true });
    const answers = [
      await payment.confirm(),
      await payment.confirm('', walletOn(other.gateway, scene.shopper.headers)),
      // Another signature for the same payment is thrown away.
      await scene.shopper.wallet.confirm(payment.id, second.id, payment.results),
    ];
    for (const answer of answers) {
      assert.equal(answer.statusCode, 200, answer.body);
      assert.deepEqual([answer.json().status, answer.json().info.txId], ['succeeded', info?.txId]);
    }
    await scene.chain.mine(3);
    await scene.shopper.isPaidOnce(payment);
    await other.stop();
  });

  it('F5: an authorization that a stranger relayed before us is found by its event, and counts as paid', async () => {
    scene.proxy.lie({ as: 'drop', isForwarded: false }, SEND);
    const payment = await scene.shopper.pay();
    const ours = await sent(payment);
    const { to, data } = parseTransaction(ours.bytes as Hex);
    const theirs = await scene.chain.carryOut(scene.chain.newPayer(), { to: to as Hex, data: data as Hex });
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    assert.equal((await scene.shopper.view(payment)).info?.txId, theirs);
    await until(
      'ours is mined, and pays nothing',
      async () => {
        await scene.chain.mine();
        return (await scene.versions()).every(({ state }) => state === 'final');
      },
      WITHIN,
    );
    await scene.shopper.isPaidOnce(payment);
  });

  it('F5: a nonce that our own transaction has used, unknown to us, is no failure', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    const stale = await scene.chain.request('eth_getTransactionCount', scene.relayer, 'latest');
    scene.proxy.lie({
      as: 'result',
      of: ({ method }, truth) => (method === 'eth_getTransactionCount' ? stale : truth),
    });
    const sentBefore = scene.broadcasts();
    await scene.chain.mine();
    await until('it is sent again', () => scene.broadcasts() > sentBefore, WITHIN);
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F5: an authorization that its payer cancelled charges nothing, and at final depth the payment can be paid again', async () => {
    scene.proxy.lie({ as: 'drop', isForwarded: false }, SEND);
    const payment = await scene.shopper.pay();
    await cancelAuthorization(scene.chain, payment);
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'requires_action');
    await scene.shopper.isUnpaid(payment, 'requires_action');
    const response = await payment.confirm();
    assert.deepEqual(
      [response.statusCode, response.json().code],
      [400, 'invalid_state'],
      'not with the same signature',
    );
  });

  it('F5: an authorization whose nonce its payer has spent elsewhere charges nothing for the payment', async () => {
    scene.proxy.lie({ as: 'drop', isForwarded: false }, SEND);
    const payment = await scene.shopper.pay();
    const friend = scene.chain.newPayer().address;
    await spendElsewhere(scene.chain, payment, { to: friend, value: 1n });
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'requires_action');
    assert.equal(await scene.shopper.charged(payment), 1n);
    assert.equal((await scene.item(payment.id))?.signature, null);
  });

  it('F6: an unreadable outcome is not decided: the payment is held with an alert, and paid once when it is readable', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    const failedBefore = scene.node.failedRounds();
    scene.proxy.lie(UNAVAILABLE, { methods: ['eth_getLogs'] });
    await scene.chain.mine(2);
    await until('the watcher notices', () => scene.node.failedRounds() > failedBefore, WITHIN);
    scene.node.pass(61_000);
    await until(
      'somebody is told',
      async () => (await scene.alerts()).includes(`network_unavailable ${scene.network}`),
      WITHIN,
    );
    assert.equal(await scene.shopper.charged(payment), AMOUNT);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    await until(
      'the alert is gone',
      async () => !(await scene.alerts()).join().includes('network_unavailable'),
      WITHIN,
    );
  });

  it('F6: an authorization that ran out is not called unused before the token itself has said so', async () => {
    scene.proxy.lie({ as: 'drop', isForwarded: false }, SEND);
    const payment = await scene.shopper.pay();
    scene.proxy.lie(UNAVAILABLE, { methods: ['eth_call'] });
    const deadline = (await scene.item(payment.id))?.deadline.getTime() ?? 0;
    await scene.chain.request('evm_setNextBlockTimestamp', deadline / 1_000 + 1);
    await scene.chain.mine(2);
    scene.node.pass(deadline - scene.node.nowMs() + 1_000);
    const asked = scene.proxy.calls.length;
    const calls = () => scene.proxy.calls.slice(asked).filter(({ method }) => method === 'eth_call').length;
    await until('the token is asked', () => calls() > 0, WITHIN);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'expired');
    await scene.shopper.isUnpaid(payment, 'expired');
  });
});
