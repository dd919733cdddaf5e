import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { WITHIN } from '../faults/shopper.ts';
import type { RpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type Answer, lieWith } from './liar.ts';

const DEPTH = 3;

/** Changes the answer to a method. */
const saying =
  (method: string, change: (truth: unknown) => unknown): Answer =>
  (call, truth) =>
    call.method === method ? change(truth) : truth;

const toHex = (value: number | bigint) => `0x${value.toString(16)}`;

/** Reports this many transactions more of every account, or a number of its own. */
const nonces = (change: (truth: number) => number) =>
  saying('eth_getTransactionCount', (truth) => toHex(change(Number(truth))));

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
});
