import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Fees } from '../chains/evm/offer.ts';
import { raiseFees } from '../chains/evm/raise-fees.ts';
import { type BatchItem, chooseBatches, type InFlight, intoBatches, planSends, type SendFacts } from './send-plan.ts';
import { SLOT_REACH } from './slots.ts';

const GWEI = 1_000_000_000n;
const PRICE = { max: 10n * GWEI, tip: GWEI };

function send(slot: number, fields: Partial<InFlight<Fees>> = {}): InFlight<Fees> {
  return {
    slot,
    offer: { max: 10n * GWEI, tip: GWEI },
    signedAgoMs: 0,
    broadcastAgoMs: 0,
    isOutbid: false,
    isPruned: false,
    ...fields,
  };
}

type Priced = Partial<SendFacts<Fees>> & Partial<Parameters<typeof raiseFees>[1]>;

/** With the replacement rule of EVM chains. */
function plan({ price = PRICE, cap, ...fields }: Priced) {
  return planSends({
    inFlight: [],
    usedSlots: 0,
    nextSlot: 0,
    raise: (offer) => raiseFees(offer, { price, cap }),
    rebroadcastAfterMs: 3_000,
    bumpAfterMs: 10_000,
    ...fields,
  });
}

describe('the next step of a signer', () => {
  it('leaves a transaction alone that was sent a moment ago', () => {
    assert.deepEqual(plan({ inFlight: [send(0), send(1)], nextSlot: 2 }), []);
  });

  it('sends everything again, in order, that this process has not sent', () => {
    const inFlight = [send(4, { broadcastAgoMs: undefined }), send(5, { broadcastAgoMs: undefined })];
    assert.deepEqual(plan({ inFlight, usedSlots: 4, nextSlot: 6 }), [
      { do: 'rebroadcast', slot: 4 },
      { do: 'rebroadcast', slot: 5 },
    ]);
  });

  it('fills gaps in their place', () => {
    const inFlight = [send(1, { broadcastAgoMs: 5_000 })];
    assert.deepEqual(plan({ inFlight, nextSlot: 3 }), [
      { do: 'fill', slot: 0 },
      { do: 'rebroadcast', slot: 1 },
      { do: 'fill', slot: 2 },
    ]);
  });

  it('signs anew what has no bytes any more, at once and whatever it offered', () => {
    const inFlight = [send(0, { isPruned: true, offer: { max: 900n * GWEI, tip: GWEI } }), send(1)];
    assert.deepEqual(plan({ inFlight, nextSlot: 2, cap: 20n * GWEI }), [{ do: 'resign', slot: 0 }]);
  });

  it('plans no further than its reach, however far the journal is ahead', () => {
    assert.equal(plan({ nextSlot: 1_000_000_000 }).length, SLOT_REACH);
  });

  it('offers at least an eighth more, and at least the price', () => {
    const inFlight = [send(0, { signedAgoMs: 10_000 })];
    const [cheap] = plan({ inFlight, nextSlot: 1 });
    assert.deepEqual(cheap, {
      do: 'bump',
      slot: 0,
      offer: { max: (10n * GWEI * 9n) / 8n + 1n, tip: (GWEI * 9n) / 8n + 1n },
    });
    const [dear] = plan({ inFlight, nextSlot: 1, price: { max: 50n * GWEI, tip: 2n * GWEI } });
    assert.deepEqual(dear, { do: 'bump', slot: 0, offer: { max: 50n * GWEI, tip: 2n * GWEI } });
  });

  it('sends again from its interval on, and first what this process never sent', () => {
    const again = [{ do: 'rebroadcast', slot: 0 }];
    assert.deepEqual(plan({ inFlight: [send(0, { broadcastAgoMs: 3_000 })], nextSlot: 1 }), again);
    assert.deepEqual(plan({ inFlight: [send(0, { broadcastAgoMs: 2_999 })], nextSlot: 1 }), []);
    const unsent = { broadcastAgoMs: undefined, signedAgoMs: 60_000, isOutbid: true };
    assert.deepEqual(plan({ inFlight: [send(0, unsent)], nextSlot: 1 }), again);
  });

  it('raises the fee up to the cap itself, and while it is less than four times the price', () => {
    const stuck = [send(0, { signedAgoMs: 60_000 })];
    const raisedMax = (10n * GWEI * 9n) / 8n + 1n;
    const bumps = (fields: Priced) => plan({ inFlight: stuck, nextSlot: 1, ...fields }).length;
    assert.deepEqual([bumps({ cap: raisedMax }), bumps({ cap: raisedMax - 1n }), bumps({ cap: undefined })], [1, 0, 1]);
    const price = (max: bigint) => ({ price: { max, tip: 1n } });
    assert.deepEqual([bumps(price((10n * GWEI) / 4n)), bumps(price((10n * GWEI) / 4n + 1n))], [0, 1]);
  });

  it('raises the fee at once when the chain calls it underpriced', () => {
    const [step] = plan({ inFlight: [send(0, { isOutbid: true })], nextSlot: 1 });
    assert.equal(step?.do, 'bump');
  });

  it('only sends again at the fee cap, and with a sufficient fee', () => {
    const stuck = [send(0, { signedAgoMs: 60_000, broadcastAgoMs: 5_000 })];
    assert.deepEqual(plan({ inFlight: stuck, nextSlot: 1, cap: 11n * GWEI }), [{ do: 'rebroadcast', slot: 0 }]);
    assert.deepEqual(plan({ inFlight: stuck, nextSlot: 1, price: { max: 2n * GWEI, tip: GWEI } }), [
      { do: 'rebroadcast', slot: 0 },
    ]);
  });

  it('ends with an offer that would not be raised any more, however long it waits', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), (max, tip) => {
        const price = { max, tip: tip > max ? max : tip };
        let offer = price;
        for (let bumps = 0; ; bumps += 1) {
          assert.ok(bumps < 100);
          const [step] = plan({ inFlight: [send(0, { offer, signedAgoMs: 60_000 })], nextSlot: 1, price });
          if (step?.do !== 'bump') return;
          assert.ok(step.offer.max * 8n >= offer.max * 9n && step.offer.tip * 8n >= offer.tip * 9n);
          assert.ok(step.offer.tip <= step.offer.max);
          offer = step.offer;
        }
      }),
    );
  });
});

describe('a group of items', () => {
  const item = (fields: Partial<BatchItem> = {}): BatchItem => ({
    collector: 'newest',
    asset: 'usdc',
    method: 'eip3009-vrs',
    feeAccount: 'fees',
    isIsolated: false,
    attempts: 0,
    ...fields,
  });

  it('is of one kind, within the limit, and leaves no item out', () => {
    const items = fc.array(
      fc.record({
        collector: fc.constantFrom('older', 'newest'),
        asset: fc.constantFrom('usdc', 'eurc'),
        method: fc.constantFrom('eip3009-vrs', 'permit2'),
        feeAccount: fc.constantFrom('a', 'b'),
        isIsolated: fc.boolean(),
        attempts: fc.nat(4),
      }),
    );
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 5 }), (due, limit) => {
        const batches = intoBatches(due, () => limit);
        assert.deepEqual(new Set(batches.flat()), new Set(due));
        assert.equal(batches.flat().length, due.length);
        for (const batch of batches) {
          assert.ok(batch.length >= 1 && batch.length <= limit);
          if (batch.length === 1) continue;
          const kinds = batch.map(({ isIsolated: _, ...kind }) => JSON.stringify(kind));
          assert.equal(new Set(kinds).size, 1);
          assert.ok(batch.every(({ isIsolated }) => !isIsolated));
        }
      }),
    );
  });

  it('is as large as its limit allows: a transaction of its own for each item would cost many times the gas', () => {
    const sizes = (count: number, limit: number, fields: Partial<BatchItem> = {}) =>
      intoBatches(
        Array.from({ length: count }, () => item(fields)),
        () => limit,
      ).map((batch) => batch.length);
    assert.deepEqual(sizes(7, 3), [3, 3, 1]);
    assert.deepEqual(sizes(3, 3), [3]);
    assert.deepEqual(sizes(3, 3, { isIsolated: true }), [1, 1, 1]);
    assert.deepEqual(sizes(20, 64, { attempts: 1 }), [16, 4], 'a quarter after each failure');
    assert.deepEqual(sizes(5, 64, { attempts: 2 }), [4, 1]);
    assert.deepEqual(sizes(2, 64, { attempts: 9 }), [1, 1]);
    const mixed = [item(), item({ asset: 'eurc' }), item(), item({ asset: 'eurc' })];
    assert.deepEqual(
      intoBatches(mixed, () => 9).map((batch) => batch.map(({ asset }) => asset)),
      [
        ['usdc', 'usdc'],
        ['eurc', 'eurc'],
      ],
    );
  });

  it('is soon a single item after failures', () => {
    const due = Array.from({ length: 16 }, () => item({ attempts: 2 }));
    assert.equal(intoBatches(due, () => 16).length, 16);
  });
});

describe('the places of a round', () => {
  const batch = (name: string, isIsolated: boolean) => [
    { collector: '', asset: name, method: '', feeAccount: '', isIsolated, attempts: 0 },
  ];
  const isolated = ['x', 'y', 'z'].map((name) => batch(name, true));
  const main = ['a', 'b', 'c'].map((name) => batch(name, false));
  const chosen = (batches: ReturnType<typeof batch>[], places: Parameters<typeof chooseBatches>[1]) =>
    chooseBatches(batches, places)
      .map(([first]) => first?.asset)
      .join('');

  it('are for plain accounts first, and for few of the others', () => {
    const all = [...isolated, ...main];
    assert.equal(chosen(all, { room: 16, isolatedRoom: 2, isIsolatedUnderWay: false }), 'abcxy');
    assert.equal(chosen(all, { room: 16, isolatedRoom: 0, isIsolatedUnderWay: true }), 'abc');
    assert.equal(chosen(all, { room: 16, isolatedRoom: -1, isIsolatedUnderWay: true }), 'abc');
  });

  it('hold one for the others when there are too few, unless one of them is under way', () => {
    const all = [...isolated, ...main];
    assert.equal(chosen(all, { room: 3, isolatedRoom: 4, isIsolatedUnderWay: false }), 'abx');
    assert.equal(chosen(all, { room: 3, isolatedRoom: 4, isIsolatedUnderWay: true }), 'abc');
    assert.equal(chosen(all, { room: 1, isolatedRoom: 4, isIsolatedUnderWay: false }), 'a');
    assert.equal(chosen(isolated, { room: 1, isolatedRoom: 4, isIsolatedUnderWay: false }), 'x');
    assert.equal(
      chosen([...isolated.slice(0, 1), ...main], { room: 3, isolatedRoom: 4, isIsolatedUnderWay: false }),
      'abx',
    );
    assert.equal(
      chosen(main, { room: 3, isolatedRoom: 4, isIsolatedUnderWay: false }),
      'abc',
      'none is kept for nobody',
    );
  });
});
