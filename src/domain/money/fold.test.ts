import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mostFeesOf } from '../deposit.ts';
import type { Arrived, Fact, Moved, Paid } from './fact.ts';
import { feeShare } from './fee-share.ts';
import { beginFold, goOn } from './fold.ts';
import { lotsOf } from './judge.ts';
import type { Ending, Lot, PaymentTerms, Way } from './terms.ts';

const [N1, N2] = ['eip155:1', 'eip155:2'];
const [A, B] = [`${N1}/erc20:a`, `${N1}/erc20:b`];
const DEADLINE_S = 1_000;
const WAY: Way = {
  ...{ kind: 'deposit', network: N1, commitment: 'D', asset: A, asked: 100n, fee: 7n, deadlineS: DEADLINE_S },
  ...{ recipient: 'held', isHeld: true },
};
const TERMS: PaymentTerms = {
  ...{ payment: 'pay_1', merchant: 'm', toleranceBasisPoints: 0, dustBelow: { [A]: 5n } },
  ways: [WAY, { ...WAY, kind: 'item', commitment: 'I' }, { ...WAY, commitment: 'L', deadlineS: 2 * DEADLINE_S }],
};
const UNPAID: Ending = { is: 'unpaid', untilS: 2 * DEADLINE_S };

type Change = Partial<Omit<Arrived, 'is'>>;
/** Each fact is in a transaction of its own, unless said otherwise. */
const arrived = (amount: bigint, change: Change = {}): Omit<Arrived, 'index'> => ({
  ...{ is: 'arrived', network: N1, blockTimeS: 10, block: 1, transaction: '', commitment: 'D', asset: A, amount },
  ...{ first: amount, address: 'deposit', sender: 'payer', isScreened: false },
  ...change,
});
const swept = (amount: bigint, fee = 0n, change: Partial<Moved> = {}): Omit<Moved, 'index'> => ({
  ...{ is: 'swept', network: N1, blockTimeS: 3_000, block: 9, transaction: '', commitment: 'D', asset: A, amount, fee },
  address: 'deposit',
  ...change,
});
const collected = (change: Partial<Paid> = {}): Omit<Paid, 'index'> => ({
  ...{ is: 'collected', network: N1, blockTimeS: 10, block: 1, transaction: '', commitment: 'I', asset: A },
  ...{ amount: 100n, fee: 7n },
  ...change,
});
type Given = Omit<Arrived, 'index'> | Omit<Moved, 'index'> | Omit<Paid, 'index'>;
const placed = (given: readonly Given[]) =>
  given.map((fact, index) => ({ ...fact, index, transaction: fact.transaction || `0x${index}` }) as Fact);
const fold = (given: readonly Given[], ending?: Ending) => goOn(beginFold(TERMS, ending), placed(given));
const lots = (given: readonly Given[], ending?: Ending) => lotsOf(fold(given, ending));
const reasons = (given: readonly Given[], ending?: Ending) => lots(given, ending).map(({ reason }) => reason);
const parts = ({ amount, waiting, fee, net }: Lot) => [amount, waiting, fee, net];

describe('lots', () => {
  it('of one transaction are numbered, and those of each transaction from the beginning', () => {
    const same = { transaction: '0xsame' };
    const ids = lots([arrived(10n, same), arrived(20n, same), arrived(30n)]).map(({ id }) => id);
    const place = `deposit/${A}`;
    assert.deepEqual(ids, [`${N1}/0xsame/${place}/0`, `${N1}/0xsame/${place}/1`, `${N1}/0x2/${place}/0`]);
  });

  it('grow by dust alone: less than the limit of their asset', () => {
    const amounts = (...given: readonly Given[]) => lots(given).map(({ amount }) => amount);
    assert.deepEqual(amounts(arrived(50n), arrived(4n), arrived(5n), arrived(1n)), [54n, 6n]);
    assert.deepEqual(amounts(arrived(50n, { asset: B }), arrived(1n, { asset: B })), [50n, 1n], 'it has no limit');
  });

  it('count up to the very deadline', () => {
    const late = { blockTimeS: DEADLINE_S + 1 };
    assert.deepEqual(reasons([arrived(100n, { blockTimeS: DEADLINE_S })]), [null]);
    assert.deepEqual(reasons([arrived(100n, late)]), ['late']);
    assert.deepEqual(reasons([collected({ blockTimeS: DEADLINE_S })]), [null]);
    assert.deepEqual(reasons([collected(late)]), ['late']);
    assert.equal(fold([arrived(100n, late)]).filled, undefined);
    assert.equal(fold([collected(late)]).filled, undefined);
  });

  it('that paid are named once each, however much dust joined them', () => {
    const given = [arrived(40n), arrived(50n), arrived(4n), arrived(4n), arrived(4n)];
    const [first, second] = lots(given).map(({ id }) => id);
    assert.deepEqual(fold(given).filled?.lots, [first, second]);
  });

  it('of one item are two if it is collected twice, and no sender of them is judged', () => {
    const both = lots([collected(), collected()]);
    assert.deepEqual(
      both.map(({ reason, isScreened, address }) => [reason, isScreened, address]),
      [
        [null, false, null],
        ['paid_twice', false, null],
      ],
    );
    assert.equal(fold([collected(), collected()]).counts.get(`${N1} I`)?.units, 100n);
  });

  it('stay as they are without facts', () => {
    const before = fold([arrived(40n)]);
    assert.equal(goOn(before, []), before);
  });
});

describe('the reason of money in an unpaid payment', () => {
  it('is too little while it was in time and did not fill its way, and else the time', () => {
    assert.deepEqual(reasons([arrived(40n), arrived(59n)], UNPAID), ['underpaid', 'underpaid']);
    assert.deepEqual(reasons([arrived(40n), arrived(60n)], UNPAID), ['underpaid', 'late']);
    assert.deepEqual(reasons([arrived(40n, { blockTimeS: DEADLINE_S + 1 })], UNPAID), ['late'], 'of its own way');
    assert.deepEqual(reasons([arrived(300n, { isScreened: true })], UNPAID), ['underpaid'], 'it never fills');
    const last = { commitment: 'L', blockTimeS: 2 * DEADLINE_S };
    assert.deepEqual(reasons([arrived(40n, last)], UNPAID), ['underpaid'], 'in the last second');
  });
});

describe('money that paid', () => {
  const paid = (given: readonly Given[], amount: bigint): Ending => ({
    ...{ is: 'paid', network: N1, commitment: 'D', amount },
    lots: lots(given).map(({ id }) => id),
  });

  it('is divided from the rest, with its share of the fee', () => {
    const item = [collected()];
    const divided = lots(item, { ...paid(item, 60n), commitment: 'I' } as Ending);
    assert.deepEqual(divided.map(parts), [
      [60n, 0n, 4n, 56n],
      [40n, 0n, 3n, 37n],
    ]);
    const dear = [collected({ fee: 100n })];
    assert.deepEqual(lots(dear, paid(dear, 60n)).map(parts), [
      [60n, 0n, 60n, 0n],
      [40n, 0n, 40n, 0n],
    ]);
    const waiting = [arrived(130n)];
    assert.deepEqual(lots(waiting, paid(waiting, 100n)).map(parts), [
      [100n, 100n, 0n, 0n],
      [30n, 30n, 0n, 0n],
    ]);
  });
});

describe('a sweep', () => {
  it('moves the money that counts first, which bears the fee, whatever came first', () => {
    const given = [arrived(30n, { isScreened: true }), arrived(100n), swept(130n, 7n)];
    assert.deepEqual(lots(given).map(parts), [
      [30n, 0n, 0n, 30n],
      [100n, 0n, 7n, 93n],
    ]);
  });

  it('moves as much as it took, in the order of the lots', () => {
    assert.deepEqual(lots([arrived(60n), arrived(60n), swept(80n)]).map(parts), [
      [60n, 0n, 0n, 60n],
      [60n, 40n, 0n, 20n],
    ]);
  });

  it('of money without an arrival is unexplained, with the reason of its place', () => {
    const [unknown] = lots([swept(50n, 3n)]);
    assert.ok(unknown !== undefined);
    assert.deepEqual([...parts(unknown), unknown.isUnexplained, unknown.isScreened], [50n, 0n, 3n, 47n, true, false]);
    assert.deepEqual(reasons([swept(50n)]), ['overpaid']);
    assert.deepEqual(reasons([swept(50n, 0n, { asset: B })]), ['wrong_token']);
    assert.deepEqual(reasons([swept(50n, 0n, { network: N2 })]), ['wrong_network']);
  });
});

describe('a fee that the token refuses', () => {
  const inTurn = (given: readonly Given[]) =>
    given.map(
      (fact, index) => ({ ...fact, index, block: index, blockTimeS: index, transaction: `0x${index}` }) as Fact,
    );
  const refused = (given: readonly Given[]) => lotsOf(goOn(beginFold(TERMS, undefined), inTurn(given))).map(parts);

  it('is left by each lot, with its share', () => {
    assert.deepEqual(refused([arrived(43n), arrived(57n), swept(93n)]), [
      [43n, 3n, 0n, 40n],
      [57n, 4n, 0n, 53n],
    ]);
    assert.deepEqual(refused([arrived(30n, { isScreened: true }), arrived(100n), swept(123n)]), [
      [30n, 0n, 0n, 30n],
      [100n, 7n, 0n, 93n],
    ]);
  });

  it('is left beside the fees of earlier sweeps, and all are paid by the next sweep that can', () => {
    const given = [arrived(43n), swept(40n), arrived(57n), swept(54n)];
    assert.deepEqual(refused(given), [
      [43n, 3n, 0n, 40n],
      [57n, 3n, 0n, 54n],
    ]);
    assert.deepEqual(refused([...given, swept(6n, 6n)]), [
      [43n, 0n, 3n, 40n],
      [57n, 0n, 3n, 54n],
    ]);
    assert.deepEqual(refused([...given, arrived(50n), swept(56n, 9n)]), [
      [43n, 0n, 3n, 40n],
      [57n, 0n, 3n, 54n],
      [50n, 0n, 3n, 47n],
    ]);
    const more = [...given, arrived(14n), swept(14n), swept(6n, 6n)];
    assert.deepEqual(refused(more).at(-1), [14n, 0n, 0n, 14n], 'a fee of nothing leaves what was owed');
  });

  it('is no more than a fee can be: other money that is left is moved by the next sweep', () => {
    const given = [arrived(60n), arrived(60n), swept(112n)];
    assert.deepEqual(refused(given), [
      [60n, 4n, 0n, 56n],
      [60n, 4n, 0n, 56n],
    ]);
    const most = [arrived(60n), arrived(60n), swept(111n)];
    assert.deepEqual(refused(most), [
      [60n, 0n, 0n, 60n],
      [60n, 9n, 0n, 51n],
    ]);
    assert.deepEqual(refused([...most, swept(9n)]).at(-1), [60n, 0n, 0n, 60n]);
    assert.deepEqual(refused([arrived(60n), arrived(60n), swept(112n, 1n)]).at(-1), [60n, 8n, 1n, 51n]);
  });

  it('is moved like other money if a sweep has taken it without a fee', () => {
    assert.deepEqual(refused([arrived(100n), swept(93n), swept(7n)]), [[100n, 0n, 0n, 100n]]);
    assert.deepEqual(refused([arrived(100n), swept(93n), arrived(50n), swept(57n, 3n)]), [
      [100n, 0n, 0n, 100n],
      [50n, 0n, 3n, 47n],
    ]);
  });

  it('gives each lot what it gets where no token refuses, and never more fees than sweeps of all its money can take', () => {
    const dust = { dustBelow: {} };
    const asked = 1_000n;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(fc.bigInt(1n, 600n), { minLength: 1, maxLength: 4 }), fc.boolean()), {
          maxLength: 6,
        }),
        fc.bigInt(0n, 400n),
        (rounds, fee) => {
          const terms = { ...TERMS, ...dust, ways: [{ ...WAY, asked, fee }] };
          const feeOf = (units: bigint) => feeShare({ fee, of: asked }, 0n, units);
          const facts = (isEverRefused: boolean) => {
            const given: Given[] = [];
            let owed = 0n;
            for (const [amounts, isRefused] of [...rounds, [[1n], false] as const]) {
              given.push(...amounts.map((amount) => arrived(amount)));
              const units = amounts.reduce((sum, each) => sum + each, 0n);
              const due = owed + feeOf(units);
              const isLeft = isEverRefused && isRefused && units > feeOf(units);
              given.push(isLeft ? swept(units + owed - due) : swept(units + owed, due));
              owed = isLeft ? due : 0n;
            }
            return lotsOf(goOn(beginFold(terms, undefined), inTurn(given)));
          };
          const seen = facts(true);
          assert.deepEqual(seen, facts(false));
          const fees = seen.reduce((sum, lot) => sum + lot.fee, 0n);
          const units = seen.reduce((sum, lot) => sum + lot.amount, 0n);
          assert.ok(fees <= mostFeesOf({ amount: asked, fee }, units));
        },
      ),
    );
  });
});
