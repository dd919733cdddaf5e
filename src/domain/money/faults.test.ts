import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeOf } from '../../../test/money/read-mined.ts';
import { A, A2, B, type Block, HELD, N1, N2 } from '../../../test/money/toy-chain.ts';
import {
  collected,
  DEADLINE_S,
  factsOf,
  firstWorld,
  forged,
  KNOWN,
  PAYMENT,
  pulled,
  readingOf,
  sent,
  swept,
  TERMS,
  type World,
} from '../../../test/money/world.ts';
import { beginFold, goOn } from './fold.ts';
import { type Holdings, holdingsOf } from './holding.ts';
import { judge, lotsOf, position } from './judge.ts';
import { choosePayouts, chooseSweeps, coverRefund, coverReturn, spendsOfPayout } from './money-out.ts';
import type { Ending, Lot } from './terms.ts';

/** Faults of running totals that were made to happen. Each must be impossible for lots. */

type Step = (world: World) => World;
const pay =
  (amount: bigint, asset = A, from = 'payer'): Step =>
  (world) =>
    sent(world, { does: 'transfer', network: asset.split('/')[0] ?? '', asset, from, to: 'deposit', amount });
const sweep =
  (asset = A): Step =>
  (world) =>
    swept(world, asset === A2 ? N2 : N1, asset);
const wallet =
  (item: string, kind: 'key' | 'permit2' = 'key'): Step =>
  (world) =>
    collected(world, item, kind);
const expire: Step = (world) => ({ ...world, chain: { ...world.chain, timeS: DEADLINE_S + 1 } });

const RULES = { stopped: new Set<string>(), returning: new Set<string>(), minimum: () => 10n };

interface Outcome {
  readonly blocks: readonly Block[];
  readonly ending: Ending | undefined;
  readonly lots: readonly Lot[];
  readonly holdings: Holdings;
}

function after(...steps: readonly Step[]): Outcome {
  const { blocks, timeS } = steps.reduce((world, step) => step(world), firstWorld()).chain;
  const facts = factsOf(blocks);
  const ending = judge(TERMS, facts, new Map([N1, N2].map((network) => [network, timeS])));
  const lots = position(TERMS, facts, ending);
  return { blocks, ending, lots, holdings: holdingsOf(lots, []) };
}

const payoutsOf = ({ ending, holdings }: Outcome, rules = RULES) =>
  choosePayouts(ending, holdings, rules).map(({ asset, amount, settles }) => [asset, amount, settles]);
const brief = (lots: readonly Lot[]) => lots.map(({ asset, amount, reason }) => [asset, amount, reason]);

describe('money that arrives', () => {
  it('is never added across tokens and networks: three assets are three payouts', () => {
    const outcome = after(pay(100n), pay(50n, B), pay(100n, A2), sweep(), sweep(B), sweep(A2));
    assert.deepEqual(payoutsOf(outcome), [
      [A, 93n, 93n],
      [B, 47n, 0n],
      [A2, 93n, 0n],
    ]);
  });

  it("does not pay a payment by a stranger's call that names its subject", () => {
    const { ending, lots, blocks } = after(forged);
    assert.equal(ending, undefined);
    // The unit and the fees of the stranger's batch are nobody's. The part for the deposit address is the address's.
    const unowned = blocks.flatMap((block) => readingOf(block).unowned.map(({ amount }) => amount));
    assert.deepEqual(unowned, [1n, 2n, 3n]);
    assert.deepEqual(brief(lots), [[A, 30n, null]]);
  });

  it("cannot be claimed for a float if it is another merchant's sweep or item", () => {
    const { blocks } = after(pay(100n), sweep(), wallet('I'), wallet('K'));
    assert.deepEqual(
      blocks.flatMap((block) => readingOf(block).unowned),
      [],
    );
  });

  it('stays held after the payout of a part, when a wallet pays in another token', () => {
    const part = after(pay(33n), sweep(), expire);
    const [payout] = choosePayouts(part.ending, part.holdings, RULES);
    assert.equal(payout?.amount, 31n);
    const outcome = after(pay(33n), sweep(), wallet('K'), pay(20n), sweep());
    assert.deepEqual(payoutsOf(outcome), [
      [A, 50n, 0n],
      [B, 93n, 93n],
    ]);
  });

  it('counts at a deposit address if the Collector sent it, and its sender is the payer of the item', () => {
    const { blocks } = after(forged);
    const [arrived] = factsOf(blocks).filter((fact) => fact.is === 'arrived' && fact.address === 'deposit');
    assert.ok(arrived?.is === 'arrived');
    assert.deepEqual([arrived.amount, arrived.sender], [30n, 'stranger']);
  });

  it('is swept once: a fact that is read again is refused', () => {
    const { blocks } = after(pay(100n), sweep());
    const fold = goOn(beginFold(TERMS, undefined), factsOf(blocks));
    assert.throws(() => goOn(fold, factsOf(blocks).slice(-1)), RangeError);
    assert.throws(() => position(TERMS, [...factsOf(blocks), ...factsOf(blocks).slice(-1)], undefined), RangeError);
  });

  it('has ids that do not depend on when the gateway looked', () => {
    const { blocks, ending, lots } = after(expire, pay(40n), pay(2n), sweep(), pay(3n), pay(50n));
    let fold = beginFold(TERMS, ending);
    for (const block of blocks) fold = goOn(fold, factsOf([block]));
    assert.deepEqual(lotsOf(fold), lots);
    assert.deepEqual(brief(lots), [
      [A, 45n, 'late'],
      [A, 50n, 'late'],
    ]);
  });

  it('is two lots if one commitment is collected by EIP-3009 and by Permit2, and the second is unexpected', () => {
    const { lots, holdings } = after(wallet('I'), wallet('I', 'permit2'));
    assert.deepEqual(brief(lots), [
      [A, 100n, null],
      [A, 100n, 'paid_twice'],
    ]);
    assert.equal(new Set(lots.map(({ id }) => id)).size, 2);
    assert.deepEqual(
      holdings.held.map(({ remainder }) => remainder),
      [93n, 93n],
    );
  });

  it('is unexpected after a tolerated underpayment: the amount that paid does not grow by a top-up', () => {
    const outcome = after(pay(99n), expire, pay(10n));
    assert.ok(outcome.ending?.is === 'paid');
    assert.equal(outcome.ending.amount, 99n);
    assert.deepEqual(brief(outcome.lots), [
      [A, 99n, null],
      [A, 10n, 'overpaid'],
    ]);
  });

  it('in a wrong token stops no payout and no refund in the token that paid', () => {
    const outcome = after(pay(50n, B), sweep(B), pay(100n), sweep());
    assert.deepEqual(payoutsOf(outcome).at(-1), [A, 93n, 93n]);
    assert.ok(outcome.ending?.is === 'paid');
    const refund = coverRefund(outcome.ending, outcome.holdings, { id: 'rfnd', amount: 30n, fee: 2n }, RULES);
    assert.ok(refund.is === 'covered');
    assert.deepEqual(
      refund.spends.map(({ asset, amount }) => [asset, amount]),
      [[A, 28n]],
    );
  });

  it('is swept and paid out whatever the minimum is, if it paid. The minimum is for unexpected money', () => {
    const high = { ...RULES, minimum: () => 1_000n };
    const unswept = after(pay(100n), pay(50n, B));
    assert.deepEqual(
      chooseSweeps(unswept.lots, high).map(({ asset, amount }) => [asset, amount]),
      [[A, 100n]],
    );
    assert.deepEqual(payoutsOf(after(pay(100n), pay(50n, B), sweep(), sweep(B)), high), [[A, 93n, 93n]]);
  });

  it('is neither swept by us nor paid out while it may still pay, even if a stranger has swept it', () => {
    assert.deepEqual(chooseSweeps(after(pay(33n)).lots, RULES), []);
    assert.deepEqual(payoutsOf(after(pay(33n), sweep())), []);
  });

  it('lets a refund wait for the sweep, and not fail', () => {
    const order = { id: 'rfnd', amount: 100n, fee: 7n };
    const before = after(pay(100n));
    assert.ok(before.ending?.is === 'paid');
    assert.deepEqual(coverRefund(before.ending, before.holdings, order, RULES), { is: 'waiting', for: 'sweep' });
    const { ending, holdings } = after(pay(100n), sweep());
    assert.ok(ending?.is === 'paid');
    const cover = coverRefund(ending, holdings, order, RULES);
    assert.ok(cover.is === 'covered');
    assert.deepEqual([cover.spends[0]?.amount, cover.merchantFloat, cover.operatorFloat], [93n, 0n, 7n]);
  });
});

describe('unexpected money', () => {
  it('has a reason', () => {
    const cases: readonly (readonly [Step[], unknown[]])[] = [
      [
        [pay(130n)],
        [
          [A, 100n, null],
          [A, 30n, 'overpaid'],
        ],
      ],
      [[pay(33n), expire], [[A, 33n, 'underpaid']]],
      [
        [pay(33n), expire, pay(100n)],
        [
          [A, 33n, 'underpaid'],
          [A, 100n, 'late'],
        ],
      ],
      [
        [pay(100n), wallet('I')],
        [
          [A, 100n, null],
          [A, 100n, 'paid_twice'],
        ],
      ],
      [
        [wallet('J'), pay(100n)],
        [
          [A, 100n, null],
          [A, 100n, 'paid_twice'],
        ],
      ],
      [[pay(50n, B)], [[B, 50n, 'wrong_token']]],
      [[pay(100n, A2)], [[A2, 100n, 'wrong_network']]],
      [
        [pay(20n, A, 'listed'), pay(100n)],
        [
          [A, 20n, 'overpaid'],
          [A, 100n, null],
        ],
      ],
      [
        [pulled, pay(2n)],
        [
          [A, 100n, null],
          [A, 2n, 'overpaid'],
        ],
      ],
    ];
    for (const [steps, expected] of cases) assert.deepEqual(brief(after(...steps).lots), expected);
  });

  it('bears no fee if it was swept with the asked money, and its share if it was swept alone', () => {
    const fees = (...steps: Step[]) => after(...steps).lots.map(({ fee }) => fee);
    assert.deepEqual(fees(pay(130n), sweep()), [7n, 0n]);
    assert.deepEqual(fees(pay(100n), sweep(), pay(30n), sweep()), [7n, 2n]);
    // Less by the rounding of the contract, which knows each sweep alone.
    assert.deepEqual(fees(pay(33n), sweep(), pay(67n), sweep()), [2n, 4n]);
  });

  it('goes back from its own lot while that is held, and from floats afterwards', () => {
    const { ending, lots } = after(pay(130n), sweep());
    const [, rest] = lots;
    assert.ok(rest !== undefined);
    assert.throws(
      () => coverReturn(holdingsOf(lots, []), lots[0] ?? rest),
      RangeError,
      'a refund gives back what paid',
    );
    const cover = coverReturn(holdingsOf(lots, []), rest);
    assert.ok(cover.is === 'covered');
    assert.deepEqual([cover.spends[0]?.amount, cover.merchantFloat, cover.operatorFloat], [30n, 0n, 0n]);
    const [payout] = choosePayouts(ending, holdingsOf(lots, []), RULES);
    const late = coverReturn(holdingsOf(lots, payout?.spends ?? []), rest);
    assert.ok(late.is === 'covered');
    assert.deepEqual([late.spends, late.merchantFloat, late.operatorFloat], [[], 30n, 0n]);
  });
});

describe('dust', () => {
  it('that joined a lot after its sweep does not hold up the return of the lot', () => {
    const { lots, holdings } = after(expire, pay(100n), sweep(), pay(2n));
    const [lot] = lots;
    assert.ok(lot !== undefined && lots.length === 1);
    assert.deepEqual([lot.amount, lot.waiting, lot.net], [102n, 2n, 93n]);
    const cover = coverReturn(holdings, lot);
    assert.ok(cover.is === 'covered');
    assert.deepEqual([cover.spends[0]?.amount, cover.operatorFloat], [93n, 7n]);
    const unswept = after(expire, pay(4n));
    const returning = new Set(unswept.lots.map(({ id }) => id));
    assert.deepEqual(chooseSweeps(unswept.lots, RULES), []);
    assert.equal(chooseSweeps(unswept.lots, { ...RULES, returning }).length, 1, 'its return was asked for');
  });
});

describe('swept money', () => {
  it('of which no arrival is known is a lot all the same, and marked', () => {
    const { blocks } = after(pay(40n), pay(60n), sweep());
    const unread = factsOf(blocks).filter((fact) => fact.is !== 'arrived' || fact.amount !== 60n);
    const lots = position(TERMS, unread, undefined);
    assert.deepEqual(
      lots.map(({ amount, fee, net, isUnexplained }) => [amount, fee, net, isUnexplained]),
      [
        [40n, 2n, 38n, false],
        [60n, 5n, 55n, true],
      ],
    );
  });
});

describe('spent money', () => {
  const paidOut = () => {
    const { ending, holdings, lots } = after(pay(100n), sweep());
    const [payout] = choosePayouts(ending, holdings, RULES);
    assert.ok(payout !== undefined);
    return { payout, lots, ending };
  };

  it('is not spent again', () => {
    const { payout, lots, ending } = paidOut();
    assert.deepEqual(choosePayouts(ending, holdingsOf(lots, payout.spends), RULES), []);
  });

  it('leaves a debt if its movement goes, which the next lots fill first, and refunds wait', () => {
    const { payout, ending } = paidOut();
    const { lots } = after(pay(1n), pay(120n, A), sweep());
    assert.ok(ending?.is === 'paid');
    const gone = holdingsOf([], payout.spends);
    assert.deepEqual(
      gone.debts.map(({ amount }) => amount),
      [93n],
    );
    const order = { id: 'rfnd', amount: 10n, fee: 0n };
    assert.deepEqual(coverRefund(ending, gone, order, RULES), { is: 'waiting', for: 'debt' });
    const late = lots.map((lot) => ({ ...lot, id: `again ${lot.id}` }));
    const { held, debts } = holdingsOf(late, payout.spends);
    assert.deepEqual(debts, []);
    const net = late.reduce((total, lot) => total + lot.net, 0n);
    assert.equal(
      held.reduce((total, { remainder }) => total + remainder, 0n),
      net - 93n,
    );
  });

  it('is found again on the chain: a restored database makes the same payout', () => {
    const { payout, lots, ending } = paidOut();
    const { id, network, asset, account, amount, spends } = payout;
    assert.equal(choosePayouts(ending, holdingsOf(lots, []), RULES)[0]?.id, id);
    assert.deepEqual(spendsOfPayout(holdingsOf(lots, []), { order: id, network, asset, account, amount }), spends);
  });

  it('begins another payout if dust joined the lot afterwards', () => {
    const steps = [expire, pay(100n), sweep()];
    const first = after(...steps);
    const [payout] = choosePayouts(first.ending, first.holdings, RULES);
    const { ending, lots } = after(...steps, pay(4n), pay(4n), pay(4n), sweep());
    assert.equal(lots.length, 1);
    const [second] = choosePayouts(ending, holdingsOf(lots, payout?.spends ?? []), RULES);
    assert.equal(second?.amount, 12n);
    assert.notEqual(second?.id, payout?.id);
  });

  it('is not sent to a place of ours', () => {
    assert.deepEqual(
      ['deposit', HELD, 'merchant'].map((address) => placeOf(KNOWN, address)),
      ['deposit', 'intermediate', null],
    );
  });

  it('has a payout with an id of the payment alone no more: two payouts of a payment differ', () => {
    const { ending, lots } = after(pay(100n), sweep(), pay(50n, B), sweep(B));
    const ids = choosePayouts(ending, holdingsOf(lots, []), RULES).map(({ id }) => id);
    assert.equal(new Set(ids).size, 2);
    assert.ok(ids.every((id) => id.startsWith('pout_') && !id.endsWith(PAYMENT.slice(-20))));
  });
});
