import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Arrived } from './fact.ts';
import { judge } from './judge.ts';
import { compareMoments } from './movement.ts';
import type { PaymentTerms, Way } from './terms.ts';

const [N1, N2] = ['eip155:1', 'eip155:2'];
const ASSET = `${N1}/erc20:a`;
const WAY: Way = {
  ...{ kind: 'deposit', network: N1, commitment: 'D', asset: ASSET, asked: 100n, fee: 7n, deadlineS: 1_000 },
  ...{ recipient: 'held', isHeld: true },
};

const arrived = (amount: bigint, change: Partial<Arrived> = {}): Arrived => ({
  ...{ is: 'arrived', network: N1, blockTimeS: 10, block: 1, index: 0, transaction: '0x1', commitment: 'D' },
  ...{ asset: ASSET, amount, first: amount, address: 'deposit', sender: 'payer', isScreened: false },
  ...change,
});

function endingOf(
  amounts: readonly bigint[],
  finalS: Readonly<Record<string, number>>,
  change: Partial<PaymentTerms> = {},
) {
  const terms = { payment: 'pay_1', merchant: 'm', ways: [WAY], toleranceBasisPoints: 0, dustBelow: {}, ...change };
  return judge(
    terms,
    amounts.map((amount, index) => arrived(amount, { index })),
    new Map(Object.entries(finalS)),
  );
}

describe('the ending of a payment', () => {
  it('is its success as soon as the asked amount is there', () => {
    const paid = { is: 'paid', network: N1, commitment: 'D', amount: 100n };
    const first = `${N1}/0x1/deposit/${ASSET}/0`;
    assert.deepEqual(endingOf([100n], {}), { ...paid, lots: [first] });
    assert.deepEqual(endingOf([130n], {}), { ...paid, lots: [first] });
    assert.deepEqual(endingOf([60n, 40n], {}), { ...paid, lots: [first, `${first.slice(0, -1)}1`] });
    assert.equal(endingOf([99n], {}), undefined);
  });

  it('is proved by a final block after the deadline, and not by one at it', () => {
    assert.equal(endingOf([], { [N1]: 1_000 }), undefined);
    assert.deepEqual(endingOf([], { [N1]: 1_001 }), { is: 'unpaid', untilS: 1_000 });
    assert.equal(endingOf([], { [N2]: 1_001 }), undefined, 'of its own network');
  });

  it('waits for the last way, and is then that of the latest', () => {
    const ways = [WAY, { ...WAY, network: N2, deadlineS: 2_000 }, { ...WAY, commitment: 'E', deadlineS: 1_500 }];
    assert.equal(endingOf([], { [N1]: 9_000, [N2]: 2_000 }, { ways }), undefined);
    assert.deepEqual(endingOf([], { [N1]: 9_000, [N2]: 2_001 }, { ways }), { is: 'unpaid', untilS: 2_000 });
  });

  it('is none for a payment without a way to pay', () => {
    assert.equal(endingOf([], { [N1]: 9_000 }, { ways: [] }), undefined);
  });

  it('is a success with a little less, when nothing more can come in time', () => {
    const tolerant = { toleranceBasisPoints: 100 };
    assert.equal(endingOf([99n], { [N1]: 1_000 }, tolerant), undefined);
    const ending = endingOf([99n], { [N1]: 1_001 }, tolerant);
    assert.deepEqual(ending?.is === 'paid' && [ending.amount, ending.lots.length], [99n, 1]);
    assert.equal(endingOf([98n], { [N1]: 1_001 }, tolerant)?.is, 'unpaid');
    const item: Way = { ...WAY, kind: 'item' };
    assert.equal(endingOf([99n], { [N1]: 1_001 }, { ...tolerant, ways: [item] })?.is, 'unpaid', 'of an address alone');
  });

  it('is no success with nothing, whatever is tolerated', () => {
    const all = { toleranceBasisPoints: 10_000 };
    assert.equal(endingOf([], { [N1]: 1_001 }, all)?.is, 'unpaid');
    assert.equal(endingOf([1n], { [N1]: 1_001 }, all)?.is, 'paid');
  });
});

describe('the order of money', () => {
  it('is block time, network, block, index', () => {
    const at = (blockTimeS: number, network: string, block: number, index: number) => ({
      blockTimeS,
      network,
      block,
      index,
    });
    const ordered = [
      at(1, N2, 9, 9),
      at(2, N1, 8, 9),
      at(2, N1, 9, 1),
      at(2, N1, 9, 2),
      at(2, N2, 1, 0),
      at(3, N1, 0, 0),
    ];
    for (const [before, a] of ordered.entries()) {
      for (const [after, b] of ordered.entries()) {
        assert.equal(Math.sign(compareMoments(a, b)), Math.sign(before - after), `${before} ${after}`);
      }
    }
  });
});
