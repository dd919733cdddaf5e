import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { COLLECTORS, DEPOSIT_CONTRACTS } from '../../src/chains/evm/collectors.ts';
import type { Lie, RpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultScene, HASTE, openFaultScene } from './fault-scene.ts';
import { WITHIN } from './shopper.ts';

const BASE_SEPOLIA = 84_532;
const OWN_CONTRACTS = [...COLLECTORS, ...DEPOSIT_CONTRACTS].map(({ address }) => address.toLowerCase());
const UNAVAILABLE: Lie = { as: 'status', status: 503, isForwarded: false };
const THROTTLED: Lie = { as: 'status', status: 429, headers: { 'retry-after': '1' }, isForwarded: false };

describe('a chain that cannot be asked', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ hasSecond: true, payers: 8 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const isBack = (proxy: RpcProxy = scene.proxy) => {
    proxy.answerTruthfully();
    const network = proxy === scene.proxy ? scene.network : `eip155:${BASE_SEPOLIA}`;
    return until('the endpoint is trusted again', () => {
      const connected = scene.node.chains.find(network);
      return connected !== undefined && connected.chain.health().endpointsUp > 0;
    });
  };
  const refusalOf = ({
    statusCode,
    headers,
    json,
  }: Awaited<ReturnType<FaultScene['shopper']['wallet']['options']>>) => ({
    statusCode,
    code: json().code as string,
    isRetryable: Number(headers['retry-after']) > 0,
  });
  const LATER = { statusCode: 503, code: 'internal_error', isRetryable: true };

  it('F16: options of an account that cannot be asked about are "try again", and not "no money"', async () => {
    const { id } = await scene.shopper.create();
    const account = `${scene.network}:${scene.chain.newPayer().address}`;
    scene.proxy.lie(UNAVAILABLE, { methods: ['eth_call'] });
    assert.deepEqual(refusalOf(await scene.shopper.wallet.options(id, [account])), LATER);
    await isBack();
    await until('it is offered', async () => {
      const response = await scene.shopper.wallet.options(id, [account]);
      return response.statusCode === 200 && response.json().options.length > 0;
    });
  });

  const unreadable: readonly (readonly [what: string, lie: Lie])[] = [
    ['fails', UNAVAILABLE],
    ['answers an error', { as: 'error', code: -32_000, message: 'header not found' }],
    [
      'answers nothing for every call',
      { as: 'result', of: ({ method }, truth) => (method === 'eth_call' ? '0x' : truth) },
    ],
  ];
  for (const [what, lie] of unreadable) {
    it(`F16: a confirmation while the endpoint ${what} is "try again", and the same one later is paid once`, async () => {
      const payment = await scene.shopper.sign();
      scene.proxy.lie(lie, { methods: ['eth_call'] });
      assert.deepEqual(refusalOf(await payment.confirm()), LATER);
      assert.equal(await scene.shopper.status(payment), 'requires_action');
      await isBack();
      await until('it is taken', async () => (await payment.confirm()).statusCode === 200, WITHIN);
      await scene.shopper.reaches(payment, 'succeeded');
      await scene.shopper.isPaidOnce(payment);
    });
  }

  it('F17: a chain that is down takes its own options away and no others, and payments on the others go on', async () => {
    const { second } = scene;
    assert.ok(second);
    const { id } = await scene.shopper.create();
    const here = scene.chain.newPayer();
    const accounts = [`${scene.network}:${here.address}`, `eip155:${BASE_SEPOLIA}:${second.newPayer().address}`];
    const networks = async () => {
      const response = await scene.shopper.wallet.options(id, accounts);
      const options = (response.json().options ?? []) as { account: string }[];
      return [...new Set(options.map(({ account }) => account.split(':')[1]))].sort();
    };
    assert.deepEqual(await networks(), ['31337', String(BASE_SEPOLIA)]);
    second.proxy.lie({ as: 'drop', isForwarded: false });
    assert.deepEqual(await networks(), ['31337']);
    const payment = await scene.shopper.pay({ payer: here });
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    scene.proxy.lie({ as: 'drop', isForwarded: false });
    second.proxy.answerTruthfully();
    await until('the other way round', async () => (await networks()).join() === String(BASE_SEPOLIA), WITHIN);
    await isBack();
    await until('both are back', async () => (await networks()).length === 2, WITHIN);
  });

  it('F18: a provider that asks for fewer calls is left alone for as long as it says, and nothing is lost', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    scene.proxy.lie(THROTTLED);
    // Every request begins with the question how far the node has come.
    const asked = () => scene.proxy.calls.filter(({ method }) => method === 'eth_blockNumber').length;
    const before = { asked: asked(), atMs: performance.now() };
    await scene.chain.mine(2);
    const failed = scene.node.failedRounds();
    await until('rounds fail', () => scene.node.failedRounds() > failed + 2, WITHIN);
    // The pause of a second is a tenth of one here. After it a few calls of different patience start together.
    const pauses = Math.ceil((performance.now() - before.atMs) / (1_000 / HASTE));
    const times = asked() - before.asked;
    assert.ok(times <= 3 * (pauses + 1), `asked ${times} times in ${pauses} pauses`);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.proxy.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    const logs = scene.proxy.calls.filter(({ method }) => method === 'eth_getLogs');
    for (const { params } of logs) {
      assert.deepEqual((params?.[0] as { address?: string[] } | undefined)?.address, OWN_CONTRACTS);
    }
  });
});

describe('a provider that fails among several', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ endpoints: 3, payers: 8 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const faults: readonly (readonly [row: string, what: string, lie: Lie])[] = [
    ['F18', 'is throttled', THROTTLED],
    ['F17', 'is unreachable', { as: 'drop', isForwarded: false }],
  ];
  for (const [row, what, lie] of faults) {
    it(`${row}: payments go on through the others while one provider ${what}`, async () => {
      scene.proxy.lie(lie);
      const payment = await scene.shopper.pay();
      await scene.shopper.reaches(payment, 'succeeded');
      await scene.shopper.isPaidOnce(payment);
    });
  }

  it('F15: payments go on through the others while one provider does not follow the chain any more', async () => {
    scene.proxy.lie({ as: 'stale', head: await scene.chain.height() });
    const payment = await scene.shopper.pay();
    // The others are looked at every few seconds.
    scene.node.pass(5_000);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });
});
