import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { isFinal } from '../../src/domain/payment.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { IS_LONG } from '../long.ts';
import { openBooksScene } from './books-scene.ts';

const USDC = SANDBOX_ASSETS['eip3009-vrs'];
const TETHER = SANDBOX_ASSETS.permit2;
const MINUTE_MS = 60_000;

const FAILING = ['incoming', 'events', 'holding', 'simulate', 'broadcast', 'block'] as const;

/** A payment by any way, money for one of the addresses so far, time, or a fault. */
const stepArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('open' as const), isHeld: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      address: fc.nat(9),
      units: fc.constantFrom(1n, 400n, 600n, 1_000n, 2_500n),
      isUnexpected: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('sign' as const),
      method: fc.constantFrom('eip3009-vrs' as const, 'permit2' as const),
      isHeld: fc.boolean(),
      /** Also pays a payment with an address. */
      address: fc.option(fc.nat(9)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('coin' as const), isHeld: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('stranger' as const), address: fc.nat(9), isUnexpected: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('turn' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.constantFrom(1, 16) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 3 }),
      transactions: fc.constantFrom('kept' as const, 'pending' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      method: fc.constantFrom(...FAILING),
    }),
  },
);
type Step = typeof stepArbitrary extends fc.Arbitrary<infer T> ? T : never;

describe('payments by all ways, with faults', () => {
  it('end with books that equal the chain, and leave nothing to rebuild', { timeout: 1_200_000 }, async () => {
    await fc.assert(fc.asyncProperty(fc.array(stepArbitrary, { minLength: 10, maxLength: 40 }), run), {
      seed: 20261116,
      numRuns: IS_LONG ? 100 : 4,
      endOnFailure: true,
    });
  });
});

async function run(steps: readonly Step[]): Promise<void> {
  // A reorg of the steps never reaches a final block.
  const scene = await openBooksScene({ depth: 4, watching: { sweepFrom: () => 0n, movementsPerCheckpoint: 1 } });
  try {
    let node = await scene.newNode();
    const addresses: Awaited<ReturnType<typeof scene.deposit>>[] = [];
    const ids = new Set<string>();
    const at = (index: number) => addresses[index % Math.max(1, addresses.length)];
    for (const step of steps) {
      if (step.do === 'open') {
        const deposit = await scene.deposit({ isHeld: step.isHeld });
        addresses.push(deposit);
        ids.add(deposit.id);
      } else if (step.do === 'send') {
        at(step.address)?.send(step.units, { token: step.isUnexpected ? TETHER : USDC });
      } else if (step.do === 'sign') {
        const subject = step.address === null ? undefined : at(step.address)?.id;
        const payment = subject && (await scene.payment(subject));
        const isOver = payment && payment.expiresAt.getTime() <= scene.nowMs();
        if (payment && (isOver || payment.status !== 'requires_action')) continue;
        const accepting = subject === undefined ? {} : { terms: { subject } };
        ids.add((await scene.accept({ method: step.method, isHeld: step.isHeld, ...accepting })).id);
      } else if (step.do === 'coin') {
        const { id, pay } = await scene.offer(5 * MINUTE_MS, { isHeld: step.isHeld });
        pay();
        ids.add(id);
      } else if (step.do === 'stranger') {
        const item = at(step.address)?.item;
        if (item === undefined) continue;
        const swept = step.isUnexpected ? { ...item, asset: TETHER, asked: USDC } : item;
        scene.control.relayAsStranger([{ item: swept, commitment: '', signature: '0x', hasCode: false }]);
      } else if (step.do === 'turn') {
        // A round that fails is repeated, as the loops of a node do.
        for (let taken = 0; taken < step.count; taken += 1) await node.turn().catch(() => {});
      } else if (step.do === 'pass') {
        scene.pass(step.minutes * MINUTE_MS);
      } else if (step.do === 'reorg') {
        const { transactions, depth } = step;
        if (depth < (await scene.chain.reader.head()).number)
          scene.control.reorg(depth, { transactions, length: depth + 1 });
      } else if (step.do === 'restart') {
        node = await scene.newNode();
      } else {
        scene.control.failNext(step.method);
      }
    }
    for (const method of FAILING) scene.control.failNext(method, 0);
    node = await scene.newNode();
    for (let round = 0; round < 6; round += 1) {
      await node.turn(5);
      scene.pass(5 * MINUTE_MS);
    }
    await node.turn(6);
    for (const id of ids) assert.ok(isFinal((await scene.status(id)) ?? 'processing'), `${id} has not ended`);
    for (const { address } of addresses) {
      for (const token of [USDC, TETHER]) assert.equal(scene.control.balanceOf(address, token), 0n);
    }
    const open = await scene.db.sql`select * from items where state in ('offered', 'due', 'sent')`;
    assert.deepEqual(open, []);
    assert.deepEqual(await scene.differences(), []);
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[], []]);
    assert.deepEqual(await scene.differences(), []);
  } finally {
    await scene.close();
  }
}
