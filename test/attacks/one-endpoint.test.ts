import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { ENDPOINT_WORDS } from '../../scripts/endpoint-words.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { WITHIN } from '../faults/shopper.ts';
import { findNetwork } from '../registry.ts';
import type { RpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import {
  type Answer,
  denyingCoin,
  denyingContracts,
  denyingFunds,
  lieWith,
  refusingBatches,
  swallowing,
} from './liar.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEPTH = 3;
const GWEI = 1_000_000_000n;

/** Changes the answer to a method. */
const changing =
  (method: string, change: (truth: unknown) => unknown): Answer =>
  (call, truth) =>
    call.method === method ? change(truth) : truth;

const toHex = (value: number | bigint) => `0x${value.toString(16)}`;

/** Reports this many transactions more of every account, or a number of its own. */
const nonces = (change: (truth: number) => number) =>
  changing('eth_getTransactionCount', (truth) => toHex(change(Number(truth))));

interface FeeHistory {
  readonly baseFeePerGas: readonly string[];
  readonly reward?: readonly (readonly string[])[];
}

/** Reports other fees than the blocks have. */
const feeHistory = ({ tip, baseFee }: { tip?: bigint; baseFee?: bigint }) =>
  changing('eth_feeHistory', (truth) => {
    const { baseFeePerGas, ...history } = truth as FeeHistory;
    const bases = baseFee === undefined ? baseFeePerGas : baseFeePerGas.map(() => toHex(baseFee));
    const reward = tip === undefined ? history.reward : bases.slice(1).map(() => [toHex(tip)]);
    return { ...history, baseFeePerGas: bases, reward };
  });

describe('the words of endpoints in docs/security.md', () => {
  for (const { value, test } of ENDPOINT_WORDS) {
    it(`has a test with a liar: ${value}`, async () => {
      const source = await readFile(join(ROOT, test.file), 'utf8');
      assert.ok(source.includes(`'${test.title}'`) || source.includes(`\`${test.title}\``), test.title);
    });
  }

  it('names each value once', () => {
    assert.equal(new Set(ENDPOINT_WORDS.map(({ value }) => value)).size, ENDPOINT_WORDS.length);
  });
});

describe('the word of one endpoint of two', () => {
  let scene: FaultScene;
  let liar: RpcProxy;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, depth: DEPTH, payers: 20, paysOut: true });
    [liar] = scene.proxies as [RpcProxy];
  });
  afterEach(() => scene.answerTruthfully());
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
    scene.sql<{ slot: number; state: string; cost: string | null }[]>`
      select slot::int as slot, state, coin_spent::text as cost from relay_sends order by slot`;

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
    scene.answerTruthfully();
    await isAllFinal();
    const now = await journal();
    assert.deepEqual(now.slice(0, before.length), before);
    assert.equal(scene.broadcasts(), broadcasts + 1);
  });

  it('cost of a transaction: one that two endpoints do not show is not booked', async () => {
    lieWith(
      liar,
      changing('eth_getTransactionReceipt', (truth) => truth && { ...truth, gasUsed: '0xffffffff' }),
    );
    await isPaid();
    const costs = async () =>
      (await journal())
        .map(({ state, cost }) => (state === 'final' ? BigInt(cost ?? 0) : 0n))
        .filter((cost) => cost > 0n);
    await until(
      'the operator is told',
      async () => (await scene.alerts()).includes(`endpoints_disagree ${scene.network}`),
      WITHIN,
    );
    assert.ok((await costs()).every((cost) => cost < 10n ** 16n));
    scene.answerTruthfully();
    await isAllFinal();
    assert.ok((await costs()).every((cost) => cost < 10n ** 16n));
  });

  it('block time: a later one neither ends a payment nor keeps it from being sent', async () => {
    const later = (truth: unknown) => {
      const { timestamp, ...block } = truth as { timestamp: string };
      return { ...block, timestamp: toHex(Number(timestamp) + 86_400) };
    };
    lieWith(
      liar,
      changing('eth_getBlockByNumber', (truth) => truth && later(truth)),
    );
    const payment = await scene.shopper.pay();
    await until('it is sent', async () => (await scene.item(payment.id))?.state === 'sent', WITHIN);
    await isAskedAgain();
    assert.notEqual(await scene.shopper.status(payment), 'expired');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('simulation: a refusal that one endpoint makes up ends nothing', async () => {
    const payment = await scene.shopper.sign();
    liar.lie({ as: 'error', code: 3, message: 'execution reverted' }, { methods: ['eth_call'] });
    await payment.confirm().catch(() => undefined);
    await isAskedAgain();
    assert.notEqual(await scene.shopper.status(payment), 'failed');
    scene.answerTruthfully();
    await payment.confirm();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('simulation: an endpoint that refuses every item keeps none from being sent', async () => {
    lieWith(liar, refusingBatches);
    await isPaid();
  });

  it('simulation: an endpoint that finds the relayer without coin keeps no item from being sent', async () => {
    lieWith(liar, denyingCoin);
    await isPaid();
    assert.ok(!(await scene.alerts()).some((alert) => alert.startsWith('relayer_out_of_funds')));
  });

  it('balance: an endpoint that denies the funds of every payer has no signature refused', async () => {
    const payment = await scene.shopper.sign();
    lieWith(liar, denyingFunds);
    const { statusCode, body } = await payment.confirm();
    assert.equal(statusCode, 200, body);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('options: an endpoint that denies all funds hides the options of its network alone', async () => {
    const payment = await scene.shopper.create();
    const account = `${scene.network}:${scene.chain.newPayer().address}`;
    const listed = async () => (await scene.shopper.wallet.options(payment.id, [account])).json().options ?? [];
    lieWith(liar, denyingFunds);
    assert.deepEqual(await listed(), []);
    assert.equal(await scene.shopper.status(payment), 'requires_action');
    scene.answerTruthfully();
    await until('they are back', async () => (await listed()).length > 0, WITHIN);
  });

  it('code: an endpoint that denies every contract and the decimals of every token switches nothing off', async () => {
    const network = findNetwork(scene.network);
    assert.ok(network);
    const chain = createEvmChain({ world: systemWorld, network, endpoints: scene.proxies.map(({ url }) => url) });
    const honest = await chain.check();
    const contracts = () => [chain.payerSide.collector(), chain.payerSide.depositContract()];
    const before = contracts();
    lieWith(liar, denyingContracts);
    const { payable, unchecked, disputes } = await chain.check().finally(() => chain.close());
    assert.deepEqual(contracts(), before);
    assert.deepEqual([...payable, ...unchecked].sort(), [...honest.payable].sort(), 'each is good, or as before');
    const about = disputes.join(' ');
    assert.match(about, /about the code at 0x.* about USDC .*: endpoint 1: the contract has 12 decimals/);
  });

  it('broadcast: transactions that one endpoint swallows are mined by another', async () => {
    swallowing(liar);
    await isPaid();
  });

  it('chain id: an endpoint of another chain is not asked', async () => {
    lieWith(
      liar,
      changing('eth_chainId', () => '0x1'),
    );
    await isPaid();
  });

  const offers = (payment: { id: string }) =>
    scene.sql<{ tip: string; max: string }[]>`
      select v.terms ->> 'tip' as tip, v.price::text as max from items i join relay_items si on si.commitment = i.commitment
      join relay_versions v on v.network = si.network and v.signer = si.signer and v.slot = si.slot
      where i.subject = ${payment.id}`;

  it('tip: the lower of two is paid', async () => {
    lieWith(liar, feeHistory({ tip: 900n * GWEI }));
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    for (const { tip } of await offers(payment)) assert.ok(BigInt(tip) < 10n * GWEI, tip);
  });

  for (const [title, baseFee] of [
    ['base fee: one that is too high stops no payment', 15_000n * GWEI],
    ['base fee: one that is too low stops no payment', 1n],
  ] as const) {
    it(title, async () => {
      await isPaid();
      lieWith(liar, feeHistory({ baseFee }));
      const payment = await scene.shopper.pay();
      await scene.shopper.reaches(payment, 'succeeded');
      for (const { max } of await offers(payment)) assert.ok(BigInt(max) < 1_000n * GWEI, max);
    });
  }
});
