import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Item, PayMethod, SignedItem } from '../../src/domain/item.ts';
import { IS_LONG } from '../long.ts';
import { createScene, type Harness, type Payer, type Scene } from './harness.ts';
import { createLocalEvmHarness } from './local-evm-harness.ts';
import { createMemoryHarness } from './memory-harness.ts';

/**
 * The chain in memory is only worth testing with if it does what a real one does. So both get the same payments,
 * faults and reorgs, in an order drawn from a seed, and after every step they must tell the same story.
 */

const STEPS = 25;
const TOKEN_METHODS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;
const SEEDS = Array.from({ length: IS_LONG ? 40 : 2 }, (_, index) => index + 1);

interface Cast {
  readonly payers: readonly Payer[];
  readonly recipients: readonly string[];
  readonly items: readonly SignedItem[];
}

describe('the chain in memory beside a real EVM', () => {
  for (const seed of SEEDS) {
    it(`gives the same answers (seed ${seed})`, async () => {
      const harnesses: Harness[] = [createMemoryHarness(), await createLocalEvmHarness()];
      try {
        const [memory, evm] = harnesses.map((harness) => createScene(harness)) as [Scene, Scene];
        const draw = createDraw(seed);
        const cast = await prepare(memory, evm, draw);
        const isOn = new Set<string>();
        for (let step = 0; step < STEPS; step += 1) {
          const play = nextStep(draw, cast, isOn);
          const results = [await play.run(memory), await play.run(evm)];
          assert.deepEqual(results[0], results[1], `step ${step}: ${play.name}`);
          assert.deepEqual(await balances(memory, cast), await balances(evm, cast), `after step ${step}: ${play.name}`);
        }
      } finally {
        await Promise.all(harnesses.map((harness) => harness.close()));
      }
    });
  }
});

/** Payers with enough for some of their items, in every token, and signatures of which some are not theirs. */
async function prepare(memory: Scene, evm: Scene, draw: Draw): Promise<Cast> {
  const payers = [memory.newPayer(), memory.newPayer(), memory.newPayer()];
  const recipients = [memory.newAccount(), memory.newAccount()];
  const items: SignedItem[] = [];
  for (const method of TOKEN_METHODS) {
    for (let count = 0; count < 8; count += 1) {
      const payer = draw.of(payers);
      const results: Partial<Item> = {
        recipient: draw.of(recipients),
        amount: BigInt(100 + draw.below(900)),
        fee: BigInt(draw.below(100)),
        deadlineS: Date.UTC(2027, 0, 1) / 1000,
      };
      const item = await memory.newItem(payer, method, results);
      items.push(await memory.signItem(draw.below(8) === 0 ? draw.of(payers) : payer, item));
    }
  }
  for (const scene of [memory, evm]) {
    for (const payer of payers) {
      await scene.fund(payer.address, scene.assets.native, 10n ** 18n);
      for (const method of TOKEN_METHODS) await scene.fund(payer.address, scene.assets[method], 1_500n);
      const permit = items.find(({ item }) => item.method === 'permit2')?.item as Item;
      const [approve] = scene.chain.payerSide.walletActions({ ...permit, payer: payer.address }, 0n);
      if (approve !== undefined) await scene.send(payer, approve);
      await scene.mine();
    }
  }
  return { payers, recipients, items };
}

interface Step {
  readonly name: string;
  run(scene: Scene): Promise<unknown>;
}

function nextStep(draw: Draw, { payers, recipients, items }: Cast, isOn: Set<string>): Step {
  const method: PayMethod = draw.of(TOKEN_METHODS);
  const candidates = items.filter(({ item }) => item.method === method);
  const batch = Array.from({ length: 1 + draw.below(4) }, () => draw.of(candidates));
  const toggle = (key: string) => {
    if (!isOn.delete(key)) isOn.add(key);
    return isOn.has(key);
  };

  switch (draw.below(8)) {
    case 0: {
      const account = draw.of([...payers.map(({ address }) => address), ...recipients]);
      const isListed = toggle(`${method} ${account}`);
      return {
        name: 'blacklist',
        run: ({ setBlacklisted, assets }) => setBlacklisted(account, assets[method], isListed),
      };
    }
    case 1: {
      const isPaused = toggle(`${method} paused`);
      return { name: 'pause', run: ({ setPaused, assets }) => setPaused(assets[method], isPaused) };
    }
    case 2: {
      const { item } = draw.of(candidates);
      const payer = payers.find(({ address }) => address === item.payer) as Payer;
      return { name: 'cancel', run: (scene) => cancel(scene, payer, item, isOn.has(`${method} paused`)) };
    }
    case 3: {
      const how = draw.of(['forgotten', 'kept'] as const);
      return { name: `relay, then a reorg (${how})`, run: (scene) => relayAndReorg(scene, batch, how) };
    }
    default:
      return { name: 'relay', run: (scene) => relay(scene, batch) };
  }
}

/** A paused token takes no cancellations, and used authorizations cannot be cancelled. */
async function cancel(scene: Scene, payer: Payer, item: Item, isPaused: boolean): Promise<void> {
  if (isPaused || (await scene.chain.reader.isUsed(item, scene.chain.payerSide.commitmentOf(item)))) return;
  await scene.cancelAuthorization(payer, item);
}

async function relay(scene: Scene, batch: readonly SignedItem[]): Promise<unknown> {
  const verdicts = await Promise.all(batch.map(({ item, signature }) => scene.chain.payerSide.judge(item, signature)));
  const simulated = await scene.chain.sender.simulate(batch);
  return [
    verdicts.map(({ is }) => (is === 'refused' ? 'good' : is)),
    simulated,
    await story(scene, await scene.relay(batch)),
  ];
}

async function relayAndReorg(scene: Scene, batch: readonly SignedItem[], how: 'forgotten' | 'kept'): Promise<unknown> {
  const hash = await scene.relay(batch);
  await scene.reorg(1, how);
  return how === 'kept' ? story(scene, hash) : (await scene.chain.sender.findTransaction(hash)).is;
}

/** The effects of a mined transaction, without details that differ from chain to chain. */
async function story({ chain }: Scene, hash: string): Promise<unknown> {
  const found = await chain.sender.findTransaction(hash);
  if (found.is !== 'mined') return found.is;
  const events = await chain.reader.events(found.block.number, found.block.number);
  return [found.isReverted, events.map(({ block: _, transactionHash: __, logIndex: ___, ...results }) => results)];
}

async function balances({ chain, assets, feeAccount }: Scene, { payers, recipients }: Cast): Promise<unknown> {
  const accounts = [...payers.map(({ address }) => address), ...recipients, feeAccount];
  const asked = TOKEN_METHODS.map((method) => ({ asset: assets[method], recipient: recipients[0] ?? feeAccount }));
  return chain.payerSide.survey({ payers: accounts, assets: asked, timeoutMs: 5_000 });
}

interface Draw {
  /** A whole number from zero to below the bound. */
  below(bound: number): number;
  of<T>(list: readonly T[]): T;
}

/** Numbers that look random and follow from the seed (a 32-bit linear congruential generator). */
function createDraw(seed: number): Draw {
  let state = seed >>> 0;
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return { below, of: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
