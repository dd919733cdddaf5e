import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idBytes, payoutIdOf } from '../ids.ts';
import { holdingsOf, type Spend } from './holding.ts';
import {
  type Carried,
  choosePayouts,
  chooseSweeps,
  coverRefund,
  coverReturn,
  feeOfReturned,
  firstPayoutOf,
  payoutKeyOf,
  payoutKeyOfLot,
  returnIdFrom,
  spendsOfPayout,
} from './money-out.ts';
import type { Lot, PaidEnding, UnpaidEnding } from './terms.ts';

const PAYMENT = 'pay_01J9Z3K8Q0V5N7B2M4X6C8D0F2';
const PLACE = { payment: PAYMENT, commitment: 'D', network: 'eip155:1', asset: 'eip155:1/erc20:a', account: 'held' };
const OTHER_PLACES = [
  { asset: 'eip155:1/erc20:b' },
  { network: 'eip155:2' },
  { account: 'former' },
] as const satisfies readonly Partial<Lot>[];

/** Money that came too late and was swept, unless said otherwise. */
function lot(id: string, amount: bigint, change: Partial<Lot> = {}): Lot {
  const { waiting = 0n, fee = 0n } = change;
  return {
    ...{ ...PLACE, id, amount, waiting, fee, net: amount - waiting - fee, address: 'deposit', isHeld: true },
    ...{ isPaying: false, reason: 'late', isScreened: false, isUnexplained: false, owed: 0n },
    ...change,
  };
}
const paying = (id: string, amount: bigint, change: Partial<Lot> = {}) =>
  lot(id, amount, { isPaying: true, reason: null, ...change });
/** Money that waits at its address. */
const unswept = (each: Lot): Lot => ({ ...each, waiting: each.amount, net: 0n });
const spend = (of: Lot, amount: bigint, change: Partial<Spend> = {}): Spend => {
  const { payment, network, asset, account } = of;
  return {
    order: 'x',
    purpose: 'payout',
    lot: of.id,
    payment,
    network,
    asset,
    account,
    amount,
    isDone: false,
    ...change,
  };
};
const brief = (spends: readonly Spend[]) => spends.map(({ lot: id, purpose, amount }) => [id, purpose, amount]);

const rules = (change: { stopped?: string[]; returning?: string[]; least?: bigint } = {}) => ({
  stopped: new Set(change.stopped),
  returning: new Set(change.returning),
  minimum: () => change.least ?? 10n,
});
const UNPAID: UnpaidEnding = { is: 'unpaid', untilS: 1 };
const paidBy = (amount: bigint): PaidEnding => ({
  is: 'paid',
  network: PLACE.network,
  commitment: 'D',
  amount,
  lots: [],
});

describe('sweeps', () => {
  const amounts = (lots: readonly Lot[], change: Parameters<typeof rules>[0] = {}) =>
    chooseSweeps(lots, rules(change)).map(({ amount }) => amount);

  it('take everything that waits at an address in one asset, and name the address', () => {
    const lots = [paying('p', 100n, { waiting: 100n }), lot('l', 20n, { waiting: 5n }), lot('s', 30n)];
    const { network, asset, commitment } = PLACE;
    assert.deepEqual(chooseSweeps(lots, rules()), [{ network, asset, address: 'deposit', commitment, amount: 105n }]);
    const elsewhere = [{ address: 'second' }, ...OTHER_PLACES.slice(0, 2)].map((place, at) =>
      unswept(lot(`${at}`, 50n + BigInt(at), place)),
    );
    assert.deepEqual(amounts([...lots, ...elsewhere]), [105n, 50n, 51n, 52n]);
  });

  it('are of addresses with money alone', () => {
    assert.deepEqual(amounts([paying('p', 100n)]), []);
    assert.deepEqual(amounts([unswept(paying('p', 1n))]), [1n], 'and be it one unit');
    assert.deepEqual(amounts([unswept(paying('i', 100n, { address: null }))]), [], 'an item has no address');
  });

  it('wait while money there may still pay', () => {
    const open = unswept(lot('o', 60n, { reason: null }));
    assert.deepEqual(amounts([open]), []);
    assert.deepEqual(amounts([open, unswept(lot('l', 50n))]), []);
    const screened = unswept(lot('s', 60n, { reason: null, isScreened: true }));
    assert.deepEqual(amounts([screened]), [60n], 'money of a listed sender cannot');
  });

  it('are worth a transfer from the minimum on, or needed', () => {
    assert.deepEqual(amounts([unswept(lot('l', 9n))]), []);
    assert.deepEqual(amounts([unswept(lot('l', 10n))]), [10n]);
    assert.deepEqual(amounts([unswept(lot('l', 2n)), unswept(paying('p', 5n))]), [7n]);
    const both = [unswept(lot('l', 2n)), unswept(lot('m', 2n))];
    assert.deepEqual(amounts(both, { returning: ['m'] }), [4n]);
  });

  it('stop for money that a person has to look at, unless it is dust', () => {
    const lots = (amount: bigint) => [unswept(paying('p', 100n)), unswept(lot('s', amount, { isScreened: true }))];
    assert.deepEqual(amounts(lots(20n), { stopped: ['s'] }), []);
    assert.deepEqual(amounts(lots(10n), { stopped: ['s'] }), []);
    assert.deepEqual(amounts(lots(9n), { stopped: ['s'] }), [109n]);
    for (const least of [0n, 1n]) {
      assert.deepEqual(amounts(lots(1n), { stopped: ['s'], least }), []);
      assert.deepEqual(amounts(lots(1n), { least }), [101n], 'nothing is stopped');
    }
  });
});

describe('payouts', () => {
  const payouts = (lots: readonly Lot[], change: Parameters<typeof rules>[0] = {}, spends: readonly Spend[] = []) =>
    choosePayouts(UNPAID, holdingsOf(lots, spends), rules(change));

  it('take all free remainders of a place, and no others', () => {
    const lots = [lot('spent', 50n), lot('free', 20n), lot('stopped', 30n), lot('returning', 40n), lot('unit', 1n)];
    const change = { stopped: ['stopped'], returning: ['returning'] };
    const [payout, ...others] = payouts(lots, change, [spend(lot('spent', 50n), 50n)]);
    assert.deepEqual(others, []);
    assert.deepEqual(brief(payout?.spends ?? []), [
      ['free', 'payout', 20n],
      ['unit', 'payout', 1n],
    ]);
    assert.ok(payout?.spends.every(({ order, isDone }) => order === payout.id && !isDone));
    assert.deepEqual([payout?.amount, payout?.settles], [21n, 0n]);
  });

  it('are worth a transfer from the minimum on', () => {
    assert.equal(payouts([lot('l', 9n)]).length, 0);
    assert.equal(payouts([lot('l', 10n)]).length, 1);
  });

  it('have ids from their first lot, with a number that leaves their key the same', () => {
    const many = lot('l', 1_000n);
    const spends: Spend[] = [];
    for (let number = 0; number <= 255; number += 1) {
      const [payout] = payouts([many], {}, spends);
      assert.ok(payout !== undefined);
      assert.equal(idBytes(payout.id).at(-1), number);
      assert.equal(payoutKeyOf(payout.id), payoutKeyOfLot('l'));
      spends.push(spend(many, 1n, { order: payout.id }));
    }
    assert.equal(spends[0]?.order, firstPayoutOf('l'));
    assert.match(payoutKeyOfLot('l'), /^[0-9a-f]{29}$/, 'the bytes without the mark and the number');
    assert.notEqual(payoutKeyOfLot('l'), payoutKeyOfLot('m'));
    assert.throws(() => payouts([many], {}, spends), /too many payouts/);
  });
});

describe('the cover of a refund', () => {
  const order = (amount: bigint, fee = 0n) => ({ id: 'rfnd', amount, fee });
  const cover = (lots: readonly Lot[], amount: bigint, spends: readonly Spend[] = []) =>
    coverRefund(paidBy(100n), holdingsOf(lots, spends), order(amount, 2n), rules({ stopped: ['stopped'] }));

  it('waits until the money that paid is there: by its own amount, and swept to the last unit', () => {
    const arrival = { is: 'waiting', for: 'arrival' };
    assert.deepEqual(cover([paying('p', 60n), lot('l', 50n)], 30n), arrival);
    assert.deepEqual(cover([paying('p', 99n)], 30n), arrival);
    const sweep = { is: 'waiting', for: 'sweep' };
    assert.deepEqual(cover([paying('p', 60n), paying('q', 40n, { waiting: 1n })], 30n), sweep);
    assert.equal(cover([paying('p', 100n), unswept(lot('l', 50n))], 30n).is, 'covered');
  });

  it('is money that paid, then other money of the place, then floats', () => {
    const [elsewhere] = OTHER_PLACES;
    const lots = [
      ...[lot('late', 20n), lot('stopped', 500n), paying('paid', 100n, { fee: 7n }), lot('last', 30n)],
      lot('other', 500n, elsewhere),
    ];
    const spends = (amount: bigint) => {
      const covered = cover(lots, amount);
      assert.ok(covered.is === 'covered' && covered.operatorFloat === 2n);
      return [...brief(covered.spends), covered.merchantFloat];
    };
    assert.deepEqual(spends(40n), [['paid', 'refund', 38n], 0n]);
    assert.deepEqual(spends(96n), [['paid', 'refund', 93n], ['late', 'refund', 1n], 0n]);
    assert.deepEqual(spends(147n), [['paid', 'refund', 93n], ['late', 'refund', 20n], ['last', 'refund', 30n], 2n]);
  });
});

describe('the cover of a return', () => {
  const late = lot('late', 100n, { fee: 7n });

  it('waits for debts of the same place, and for the sweep', () => {
    const gone = lot('gone', 5n);
    const debts = (place: Partial<Lot>) => coverReturn(holdingsOf([late], [spend({ ...gone, ...place }, 95n)]), late);
    assert.deepEqual(debts({}), { is: 'waiting', for: 'debt' });
    for (const place of OTHER_PLACES) assert.equal(debts(place).is, 'covered');
    const waiting = unswept(late);
    assert.deepEqual(coverReturn(holdingsOf([waiting], []), waiting), { is: 'waiting', for: 'sweep' });
  });

  it('is what is left of the lot itself, and floats for its fee and the rest', () => {
    const holdings = holdingsOf([lot('other', 50n), late, lot('third', 50n)], [spend(late, 80n)]);
    assert.deepEqual(coverReturn(holdings, late), {
      is: 'covered',
      spends: [spend(late, 13n, { order: returnIdFrom('late'), purpose: 'return' })],
      merchantFloat: 80n,
      operatorFloat: 7n,
    });
  });
});

describe('a payout that is found on the chain', () => {
  const found = (lots: readonly Lot[], order: string, amount: bigint, place: Partial<Carried> = {}) => {
    const { network, asset, account } = PLACE;
    return brief(spendsOfPayout(holdingsOf(lots, []), { order, network, asset, account, amount, ...place }));
  };

  it('took the lots of its own place alone', () => {
    const lots = [lot('a', 60n), ...OTHER_PLACES.map((place, at) => lot(`other ${at}`, 50n, place))];
    assert.deepEqual(found(lots, firstPayoutOf('a'), 100n), [['a', 'payout', 60n]]);
    for (const place of OTHER_PLACES) assert.deepEqual(found([lot('a', 60n)], firstPayoutOf('a'), 60n, place), []);
  });

  it('took its first lot, then those after it, and then those before it', () => {
    const lots = [lot('a', 10n), lot('b', 20n), lot('c', 30n), lot('d', 40n)];
    assert.deepEqual(found(lots, firstPayoutOf('c'), 96n), [
      ['c', 'payout', 30n],
      ['d', 'payout', 40n],
      ['a', 'payout', 10n],
      ['b', 'payout', 16n],
    ]);
  });

  it('of an older version, whose id follows from the payment, began with the first lot', () => {
    const lots = [lot('a', 10n), lot('b', 20n)];
    assert.deepEqual(found(lots, payoutIdOf(PAYMENT), 25n), [
      ['a', 'payout', 10n],
      ['b', 'payout', 15n],
    ]);
    assert.deepEqual(found(lots, firstPayoutOf('b'), 25n), [
      ['b', 'payout', 20n],
      ['a', 'payout', 5n],
    ]);
  });
});

describe('holdings', () => {
  it('owe what was spent of a lot that is not held any more', () => {
    const settled = lot('l', 50n, { isHeld: false });
    const { held, debts } = holdingsOf([settled], [spend(settled, 20n)]);
    assert.deepEqual([held, debts.map(({ amount }) => amount)], [[], [20n]]);
  });
});

describe('the fee of the returned part of a lot', () => {
  const rows: readonly (readonly [amount: bigint, fee: bigint, returned: bigint, expected: bigint])[] = [
    [100n, 10n, 0n, 0n],
    [100n, 10n, 9n, 0n],
    [100n, 10n, 55n, 5n],
    [100n, 10n, 100n, 10n],
    [10n, 10n, 1n, 1n],
    [10n, 10n, 10n, 10n],
  ];
  for (const [amount, fee, returned, expected] of rows) {
    it(`of ${fee} for ${amount} units is ${expected} for ${returned}`, () =>
      assert.equal(feeOfReturned({ amount, fee }, returned), expected));
  }
});
