import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { HTML_PAGE, type Lie } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultChain, startFaultChain } from './fault-chain.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { type SignedPayment, WITHIN } from './shopper.ts';

type Of = Extract<Lie, { as: 'result' }>['of'];

/** A lie that changes the answers to one method. */
const answering = (method: string, change: (truth: unknown) => unknown): Of => {
  return (call, truth) => (call.method === method ? change(truth) : truth);
};
const otherField = (field: string, value: unknown) => (truth: unknown) =>
  truth === null ? null : { ...(truth as object), [field]: value };

const GARBAGE: readonly (readonly [what: string, lie: Lie])[] = [
  ['an HTML page with status 200', { as: 'status', status: 200, body: HTML_PAGE, isForwarded: true }],
  ['an HTML page with status 502', { as: 'status', status: 502, isForwarded: true }],
  ['status 429', { as: 'status', status: 429, isForwarded: false }],
  ['half a body', { as: 'half' }],
  ['an empty body', { as: 'status', status: 200, body: '', isForwarded: true }],
  ['null', { as: 'status', status: 200, body: 'null', isForwarded: true }],
  ['numbers that are none', { as: 'result', of: () => 'NaN' }],
  ['objects for everything', { as: 'result', of: () => ({}) }],
  ['null for everything', { as: 'result', of: () => null }],
  ['an empty list for everything', { as: 'result', of: () => [] }],
  ['a block of another height', { as: 'result', of: answering('eth_getBlockByNumber', otherField('number', '0x1')) }],
  [
    'blocks with hashes that fit nothing',
    { as: 'result', of: answering('eth_getBlockByNumber', otherField('parentHash', `0x${'66'.repeat(32)}`)) },
  ],
  [
    'events of blocks that do not exist',
    {
      as: 'result',
      of: answering('eth_getLogs', (truth) =>
        (truth as object[]).map((log) => ({ ...log, blockHash: `0x${'77'.repeat(32)}` })),
      ),
    },
  ],
  [
    'events of another contract',
    {
      as: 'result',
      of: answering('eth_getLogs', (truth) =>
        (truth as object[]).map((log) => ({ ...log, address: `0x${'88'.repeat(20)}` })),
      ),
    },
  ],
];

describe('garbage from the RPC', () => {
  let scene: FaultScene;
  let otherChain: FaultChain;
  before(async () => {
    [scene, otherChain] = await Promise.all([
      openFaultScene({ payers: GARBAGE.length + 4 }),
      startFaultChain({ chainId: 1, payers: 1 }),
    ]);
  });
  afterEach(() => scene.answerTruthfully());
  after(async () => {
    await scene.close();
    await otherChain.close();
  });

  async function isPaidAfterAll(payment: SignedPayment): Promise<void> {
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  }

  /** The node has met the fault several times over. */
  async function isNoticed(): Promise<void> {
    const asked = scene.proxy.calls.length;
    const failed = scene.node.failedRounds();
    await scene.chain.mine();
    await until(
      'the endpoint is asked',
      () => scene.proxy.calls.length > asked + 12 || scene.node.failedRounds() > failed + 1,
      WITHIN,
    );
  }

  for (const [what, lie] of GARBAGE) {
    it(`${what}: the payment waits, is paid once afterwards, and is never reported as failed`, async () => {
      const payment = await scene.shopper.pay();
      scene.proxy.lie(lie);
      await isNoticed();
      assert.notEqual(await scene.shopper.status(payment), 'failed');
      await isPaidAfterAll(payment);
    });
  }

  it('another chain behind the address: nothing it says is believed, no money moves there, and the payment is paid once here', async () => {
    const payment = await scene.shopper.pay();
    const signed = await scene.shopper.sign();
    scene.proxy.pointAt(otherChain.url);
    // Which chain it is, is asked when a connection has failed, and every minute.
    scene.proxy.lie({ as: 'drop', isForwarded: false }, { times: 4 });
    await isNoticed();
    assert.equal((await signed.confirm()).statusCode, 503);
    assert.equal(await scene.shopper.status(payment), 'processing');
    assert.equal(Number(await otherChain.request('eth_getTransactionCount', scene.relayer, 'pending')), 0);
    scene.proxy.pointAt(scene.chain.url);
    await isPaidAfterAll(payment);
    await until('it is taken', async () => (await signed.confirm()).statusCode === 200, WITHIN);
    await isPaidAfterAll(signed);
  });

  it('absurd fees: the offer stays within bounds', async () => {
    scene.proxy.lie({
      as: 'result',
      of: answering('eth_feeHistory', () => ({
        oldestBlock: '0x1',
        baseFeePerGas: [`0x${'f'.repeat(32)}`, `0x${'f'.repeat(32)}`],
        gasUsedRatio: [1],
        reward: [[`0x${'f'.repeat(32)}`]],
      })),
    });
    const payment = await scene.shopper.pay();
    await until('it is signed', async () => (await scene.versionsOf(payment.id)).length > 0, WITHIN);
    const [{ max_fee: maxFee } = { max_fee: '0' }] = await scene.sql<{ max_fee: string }[]>`
      select max(price)::text as max_fee from relay_versions`;
    assert.ok(BigInt(maxFee) < 10n ** 14n);
    await isPaidAfterAll(payment);
  });
});
