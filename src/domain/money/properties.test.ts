import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { withDustAdded } from '../../../test/money/add-dust.ts';
import { chains, dustyChains, minedElsewhere } from '../../../test/money/random-chain.ts';
import { A, A2, B, balanceOf, FEES, N1, N2, type ToyChain } from '../../../test/money/toy-chain.ts';
import { wholePosition } from '../../../test/money/whole-position.ts';
import { FEE, factsOf, KNOWN, TERMS } from '../../../test/money/world.ts';
import type { Arrived } from './fact.ts';
import { feeShare } from './fee-share.ts';
import { beginFold, type Fold, goOn } from './fold.ts';
import { type Holdings, holdingsOf, type Spend } from './holding.ts';
import { judge, judgeFold, lotsOf, position } from './judge.ts';
import { ownerOf } from './owner.ts';
import { type Posting, positionEntries } from './position-entries.ts';
import type { Ending, Lot } from './terms.ts';

const check = (property: fc.IProperty<never> | fc.IRawProperty<unknown>) =>
  fc.assert(property as fc.IRawProperty<unknown>, { numRuns: 200 });
const sum = (units: readonly bigint[]) => units.reduce((total, each) => total + each, 0n);
const byId = (lots: readonly Lot[]) => new Map(lots.map((lot) => [lot.id, lot]));
const ASSETS = [A, B, A2];

function endingOf({ blocks, timeS }: ToyChain): Ending | undefined {
  const times = new Map([
    [N1, timeS],
    [N2, timeS],
  ]);
  return judge(TERMS, factsOf(blocks), times);
}

function lotsOn(chain: ToyChain): readonly Lot[] {
  return position(TERMS, factsOf(chain.blocks), endingOf(chain));
}

describe('the fee of a part', () => {
  const schedules = fc
    .tuple(fc.bigInt(1n, 1_000n), fc.bigInt(0n, 1_000n))
    .map(([of, fee]) => ({ of, fee: fee < of ? fee : of }));

  it('adds up: any division of an amount has the fee of the whole, and never more than was asked', () => {
    check(
      fc.property(schedules, fc.array(fc.bigInt(0n, 400n), { maxLength: 8 }), (schedule, parts) => {
        let total = 0n;
        const shares = parts.map((part) => {
          const share = feeShare(schedule, total, total + part);
          total += part;
          assert.ok(share >= 0n && share <= part);
          return share;
        });
        assert.equal(sum(shares), feeShare(schedule, 0n, total));
        assert.ok(sum(shares) <= schedule.fee);
      }),
    );
  });

  it('is rounded down', () => {
    assert.equal(feeShare({ fee: 7n, of: 100n }, 0n, 33n), 2n);
    assert.equal(feeShare({ fee: 7n, of: 100n }, 0n, 130n), 7n);
  });
});

describe('owners', () => {
  it('explain every unit of a leg at each end that is a place of ours, once', () => {
    check(
      fc.property(chains, ({ blocks }) => {
        for (const { mined } of blocks) {
          for (const leg of mined.legs) {
            const { from, to } = ownerOf(leg, mined, KNOWN);
            assert.equal(sum(from.map(({ amount }) => amount)), leg.fromPlace === null ? 0n : leg.amount);
            assert.equal(sum(to.map(({ amount }) => amount)), leg.toPlace === null ? 0n : leg.amount);
          }
        }
      }),
    );
  });
});

describe('lots', () => {
  it('are the same in whatever order the facts are read', () => {
    const shuffled = chains.chain((chain) => {
      const facts = factsOf(chain.blocks);
      const order = fc.shuffledSubarray(facts, { minLength: facts.length, maxLength: facts.length });
      return fc.tuple(fc.constant(chain), order);
    });
    check(
      fc.property(shuffled, ([chain, facts]) => {
        const ending = endingOf(chain);
        assert.deepEqual(position(TERMS, facts, ending), lotsOn(chain));
        assert.deepEqual(judge(TERMS, facts, new Map()), judge(TERMS, factsOf(chain.blocks), new Map()));
      }),
    );
  });

  it('contain every unit that is on the chain, after every block, with and without an ending', () => {
    check(
      fc.property(chains, (chain) => {
        for (const ending of [undefined, endingOf(chain)]) {
          for (let count = 0; count <= chain.blocks.length; count += 1) {
            const lots = position(TERMS, factsOf(chain.blocks.slice(0, count)), ending);
            assertConserved(lots, chain, count);
          }
        }
      }),
    );
  });

  it('survive a reorg that mines the same transactions in other blocks', () => {
    check(
      fc.property(chains, (chain) => {
        const again = minedElsewhere(chain);
        assert.equal(again.blocks.length, chain.blocks.length);
        assert.deepEqual(endingOf(again), endingOf(chain));
        assert.deepEqual(lotsOn(again), lotsOn(chain));
      }),
    );
  });

  it('go on from a checkpoint, and are then those of a whole fold', () => {
    check(
      fc.property(chains, fc.array(fc.nat(14)), (chain, cuts) => {
        for (const ending of [undefined, endingOf(chain)]) {
          const bounds = [0, ...cuts.filter((cut) => cut < chain.blocks.length), chain.blocks.length];
          bounds.sort((a, b) => a - b);
          let fold: Fold = beginFold(TERMS, ending);
          bounds.slice(1).forEach((to, index) => {
            fold = goOn(structuredClone(fold), factsOf(chain.blocks.slice(bounds[index], to)));
          });
          assert.deepEqual(lotsOf(fold), position(TERMS, factsOf(chain.blocks), ending));
          if (ending === undefined)
            assert.deepEqual(judgeFold(fold, new Map()), judge(TERMS, factsOf(chain.blocks), new Map()));
        }
      }),
    );
  });

  it('are the same if the database adds up dust', () => {
    check(
      fc.property(dustyChains, (chain) => {
        for (const ending of [undefined, endingOf(chain)]) {
          const facts = factsOf(chain.blocks);
          const added = withDustAdded(TERMS, facts);
          assert.deepEqual(byId(position(TERMS, added, ending)), byId(position(TERMS, facts, ending)));
        }
      }),
    );
  });

  it('of a rebuilt database are those of the one that followed the chain block by block', () => {
    check(
      fc.property(chains, (chain) => {
        let ending: Ending | undefined;
        let fold = beginFold(TERMS, undefined);
        for (const block of chain.blocks) {
          fold = goOn(fold, factsOf([block]));
          if (ending !== undefined) continue;
          ending = judgeFold(fold, new Map([N1, N2].map((network) => [network, block.timeS])));
          if (ending === undefined) continue;
          fold = goOn(beginFold(TERMS, ending), factsOf(chain.blocks.slice(0, chain.blocks.indexOf(block) + 1)));
        }
        ending ??= endingOf(chain);
        assert.deepEqual(ending, endingOf(chain));
        assert.deepEqual(position(TERMS, factsOf(chain.blocks), ending), lotsOn(chain));
        if (fold.ending === ending) assert.deepEqual(lotsOf(fold), lotsOn(chain));
      }),
    );
  });

  it('stay few under a hundred thousand transfers of dust, which are folded in pages', () => {
    const dust = (number: number): Arrived => ({
      ...{ is: 'arrived', network: N1, blockTimeS: number, block: number, index: 0, transaction: `0x${number}` },
      ...{ commitment: 'D', asset: A, amount: 1n, first: 1n, address: 'deposit', sender: 'payer', isScreened: false },
    });
    let fold = beginFold({ ...TERMS, dustBelow: { [A]: 5n } }, undefined);
    for (let page = 0; page < 100; page += 1) {
      const facts = Array.from({ length: 1_000 }, (_, index) => dust(page * 1_000 + index));
      fold = goOn(fold, facts);
      assert.ok(fold.lots.size <= 2);
    }
    assert.equal(sum(lotsOf(fold).map(({ amount }) => amount)), 100_000n);
    assert.equal(judgeFold(fold, new Map())?.is, 'paid');
  });
});

function assertConserved(lots: readonly Lot[], chain: ToyChain, count: number): void {
  const legs = chain.blocks.slice(0, count).flatMap(({ mined }) => mined.legs);
  const gain = (address: string, asset: string) =>
    sum(legs.filter((leg) => leg.to === address && leg.asset === asset).map(({ amount }) => amount)) -
    sum(legs.filter((leg) => leg.from === address && leg.asset === asset).map(({ amount }) => amount));
  for (const asset of ASSETS) {
    const own = lots.filter((lot) => lot.asset === asset);
    assert.equal(sum(own.map(({ waiting }) => waiting)), gain('deposit', asset));
    const othersFee = asset === A && count > 1 ? FEE : 0n;
    assert.equal(sum(own.map(({ fee }) => fee)), gain(FEES, asset) - othersFee);
    for (const lot of own) {
      assert.equal(lot.amount, lot.waiting + lot.fee + lot.net);
      assert.ok(lot.waiting >= 0n && lot.fee >= 0n && lot.net >= 0n);
    }
  }
  if (count === chain.blocks.length) {
    assert.equal(gain('deposit', A), balanceOf(chain, 'deposit', A));
  }
}

describe('holdings and books', () => {
  /** A chain, spends of a part of its lots, and lots that a reorg takes. */
  const histories = fc.tuple(chains, fc.array(fc.bigInt(0n, 100n), { maxLength: 12 }), fc.array(fc.nat(12)));

  function holdingsAfter(chain: ToyChain, percents: readonly bigint[], gone: readonly number[]): Holdings[] {
    const lots = lotsOn(chain);
    const spends = lots
      .filter(({ isHeld }) => isHeld)
      .flatMap((lot, index): Spend[] => {
        const amount = (lot.net * (percents[index] ?? 0n)) / 100n;
        const { id, payment, network, asset, account } = lot;
        const purpose = index % 2 === 0 ? 'payout' : 'refund';
        const place = { order: `${index}`, purpose, lot: id, payment, network, asset, account } as const;
        return amount > 0n ? [{ ...place, amount, isDone: index % 3 === 0 }] : [];
      });
    const left = lots.filter((_, index) => !gone.includes(index));
    return [holdingsOf(lots, []), holdingsOf(lots, spends), holdingsOf(left, spends), holdingsOf([], spends)];
  }

  it('never have a remainder below zero, and account for every unit that was spent', () => {
    check(
      fc.property(histories, ([chain, percents, gone]) => {
        for (const { lots, held, debts, spends } of holdingsAfter(chain, percents, gone)) {
          assert.ok(held.every(({ remainder }) => remainder >= 0n));
          for (const asset of ASSETS) {
            const of = <T extends { asset: string }>(all: readonly T[]) => all.filter((each) => each.asset === asset);
            const net = sum(of(lots.filter(({ isHeld }) => isHeld)).map((lot) => lot.net));
            const left = sum(of(held).map(({ remainder }) => remainder));
            const spent = sum(of(spends).map(({ amount }) => amount));
            assert.equal(net, left + spent - sum(of(debts).map(({ amount }) => amount)));
          }
        }
      }),
    );
  });

  it('book differences that balance in every asset and add up to the last position', () => {
    check(
      fc.property(histories, ([chain, percents, gone]) => {
        const books = new Map<string, bigint>();
        let last: readonly Posting[] = [];
        for (const holdings of holdingsAfter(chain, percents, gone)) {
          const next = wholePosition('mrch', holdings);
          const about = { subject: 'pay', merchantId: 'mrch' };
          for (const { network, asset, lines } of positionEntries(about, last, next, () => undefined)) {
            assert.equal(sum(lines.map(({ units }) => units)), 0n);
            for (const { account, units } of lines) {
              const key = `${network} ${asset} ${account}`;
              books.set(key, (books.get(key) ?? 0n) + units);
            }
          }
          last = next;
          const booked = [...books].filter(([, units]) => units !== 0n).sort();
          const expected = new Map<string, bigint>();
          for (const { network, asset, lines } of next) {
            for (const { account, units } of lines) {
              const key = `${network} ${asset} ${account}`;
              expected.set(key, (expected.get(key) ?? 0n) + units);
            }
          }
          assert.deepEqual(booked, [...expected].filter(([, units]) => units !== 0n).sort());
        }
      }),
    );
  });
});
