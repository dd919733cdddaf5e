import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { WITHIN } from '../faults/shopper.ts';
import type { RpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type Answer, lieWith } from './liar.ts';

const DEPTH = 3;
const GWEI = 1_000_000_000n;

/** Changes the answer to a method. */
const saying =
  (method: string, change: (truth: unknown) => unknown): Answer =>
  (call, truth) =>
    call.method === method ? change(truth) : truth;

const toHex = (value: number | bigint) => `0x${value.toString(16)}`;

/** Reports this many transactions more of every account, or a number of its own. */
const nonces = (change: (truth: number) => number) =>
  saying('eth_getTransactionCount', (truth) => toHex(change(Number(truth))));

interface FeeHistory {
  readonly baseFeePerGas: readonly string[];
  readonly reward?: readonly (readonly string[])[];
}

/** Reports other fees than the blocks have. */
const feeHistory = ({ tip, baseFee }: { tip?: bigint; baseFee?: bigint }) =>
  saying('eth_feeHistory', (truth) => {
    const { baseFeePerGas, ...history } = truth as FeeHistory;
    const bases = baseFee === undefined ? baseFeePerGas : baseFeePerGas.map(() => toHex(baseFee));
    const reward = tip === undefined ? history.reward : bases.slice(1).map(() => [toHex(tip)]);
    return { ...history, baseFeePerGas: bases, reward };
  });

describe('the word of one endpoint of two', () => {
  let scene: FaultScene;
  let liar: RpcProxy;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, depth: DEPTH, payers: 20, paysOut: true });
    [liar] = scene.proxies as [RpcProxy];
  });
  afterEach(() => scene.tellTheTruth());
  after(() => scene.close());

  /** A payment that succeeds by two honest endpoints. */
  async function isPaid(): Promise<void> {
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  }
  const isAllFinal = () =>
    until(
      'all is final',
      async () => {
        await scene.chain.mine();
        return (await scene.versions()).every(({ state }) => state === 'final');
      },
      WITHIN,
    );
  /** The endpoints are asked many times over, and blocks pass: every consequence of a lie has happened by then. */
  async function isAskedAgain(): Promise<void> {
    const asked = liar.calls.length;
    await until(
      'the endpoints are asked',
      async () => {
        await scene.chain.mine();
        return liar.calls.length > asked + 60;
      },
      WITHIN,
    );
  }
  const nextNonce = async () => Number(await scene.chain.request('eth_getTransactionCount', scene.relayer, 'pending'));
  const journal = () =>
    scene.sql<{ nonce: number; state: string; cost: string | null }[]>`
      select nonce::int as nonce, state, coin_spent::text as cost from sends order by nonce`;

  for (const ahead of [300, 1_000_000_000]) {
    it(`nonce: a count that is too high by ${ahead} takes no nonce and fills no gap`, async () => {
      await isPaid();
      await isAllFinal();
      const before = await nextNonce();
      lieWith(
        liar,
        nonces((truth) => truth + ahead),
      );
      await isPaid();
      await isAskedAgain();
      assert.equal(await nextNonce(), before + 1);
      assert.equal((await journal()).length, before + 1, 'one nonce for the payment, and no empty transfer');
    });
  }

  it('nonce: a count of zero reopens nothing, and erases no cost', async () => {
    await isPaid();
    await isAllFinal();
    const before = await journal();
    const broadcasts = scene.broadcasts();
    lieWith(
      liar,
      nonces(() => 0),
    );
    await isAskedAgain();
    // Something is due, so that the relayer asks for its nonce.
    await isPaid();
    scene.tellTheTruth();
    await isAllFinal();
    const now = await journal();
    assert.deepEqual(now.slice(0, before.length), before);
    assert.equal(scene.broadcasts(), broadcasts + 1);
  });

  const offers = (payment: { id: string }) =>
    scene.sql<{ tip: string; max: string }[]>`
      select v.tip::text, v.max_fee::text as max from items i join send_items si on si.commitment = i.commitment
      join send_versions v on v.network = si.network and v.signer = si.signer and v.nonce = si.nonce
      where i.subject = ${payment.id}`;

  it('tip: the lower of two is paid', async () => {
    lieWith(liar, feeHistory({ tip: 900n * GWEI }));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    for (const { tip } of await offers(payment)) assert.ok(BigInt(tip) < 10n * GWEI, tip);
  });

  for (const [name, baseFee] of [
    ['too high', 15_000n * GWEI],
    ['too low', 1n],
  ] as const) {
    it(`base fee: one that is ${name} stops no payment`, async () => {
      await isPaid();
      lieWith(liar, feeHistory({ baseFee }));
      const payment = await scene.shopper.pay();
      await scene.shopper.reaches(payment, 'succeeded');
      for (const { max } of await offers(payment)) assert.ok(BigInt(max) < 1_000n * GWEI, max);
    });
  }
});
