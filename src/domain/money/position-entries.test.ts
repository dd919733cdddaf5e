import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCOUNTS, type Entry } from '../books.ts';
import type { Debt } from './holding.ts';
import { bookedPosition, type Posting, positionEntries } from './position-entries.ts';
import type { Lot } from './terms.ts';

const WHO = { payment: 'pay_1', merchant: 'mrch_1' };
const NETWORK = 'eip155:1';
const ASSET = `${NETWORK}/erc20:a`;
const HELD = ACCOUNTS.payable('mrch_1');
const FACT = { transaction: '0xlatest', block: 77 };

function lot(amount: bigint, change: Partial<Lot> = {}): Lot {
  const { waiting = 0n, fee = 0n } = change;
  return {
    ...{ id: 'l', payment: 'pay_1', commitment: 'D', network: NETWORK, asset: ASSET, account: 'held', isHeld: true },
    ...{ address: 'deposit', amount, waiting, fee, net: amount - waiting - fee, isPaying: true, reason: null },
    ...{ isScreened: false, isUnexplained: false, owed: 0n, ...change },
  };
}
const position = (lots: readonly Lot[], debts: readonly Debt[] = []) => bookedPosition(WHO, { lots, debts });
const linesOf = (posting: Pick<Posting | Entry, 'lines'> | undefined) =>
  Object.fromEntries(posting?.lines.map(({ account, units }) => [account, units]) ?? []);

const entriesOf = (last: readonly Posting[], next: readonly Posting[]) =>
  positionEntries({ subject: 'pay_1', merchantId: 'mrch_1' }, last, next, () => FACT);
const brief = (entries: readonly Entry[]) =>
  entries.map(({ kind, lines, transaction, block }) => [kind, linesOf({ lines }), transaction, block]);

const WAITING = position([lot(100n, { waiting: 100n })]);
const SWEPT = position([lot(100n, { fee: 7n })]);

describe('the booked position of a payment', () => {
  it('has every unit of its lots in the account where it has come to', () => {
    assert.deepEqual(linesOf(WAITING[0]), { payer: -100n, deposits: 100n });
    assert.deepEqual(linesOf(SWEPT[0]), { payer: -100n, fees: 7n, [HELD]: 93n });
    const settled = position([lot(100n, { fee: 7n, isHeld: false })]);
    assert.deepEqual(linesOf(settled[0]), { payer: -100n, fees: 7n, [ACCOUNTS.settled('mrch_1')]: 93n });
  });

  it('adds up the lots of one reference in one asset, and no others', () => {
    const other = { asset: `${NETWORK}/erc20:b` };
    const postings = position([lot(100n), lot(20n, { waiting: 5n }), lot(3n, { commitment: 'E' }), lot(4n, other)]);
    assert.deepEqual(
      postings.map((posting) => [posting.reference, posting.asset, linesOf(posting)]),
      [
        ['D', ASSET, { payer: -120n, deposits: 5n, [HELD]: 115n }],
        ['E', ASSET, { payer: -3n, [HELD]: 3n }],
        ['D', other.asset, { payer: -4n, [HELD]: 4n }],
      ],
    );
  });

  it('has debts as missing money, so that nothing of the merchant is below zero', () => {
    const debt = { payment: 'pay_1', network: NETWORK, asset: ASSET, account: 'held', amount: 60n };
    const [posting] = position([], [debt]);
    assert.deepEqual([posting?.reference, linesOf(posting)], ['pay_1', { [HELD]: 60n, 'missing/held': -60n }]);
  });
});

describe('the entries of a new position', () => {
  it('are none if nothing has changed', () => {
    assert.deepEqual(entriesOf(SWEPT, SWEPT), []);
    assert.deepEqual(entriesOf([], []), []);
  });

  it('are an arrival with its block, and a sweep with its transaction', () => {
    assert.deepEqual(brief(entriesOf([], WAITING)), [['deposited', { payer: -100n, deposits: 100n }, null, 77]]);
    const swept = ['swept', { deposits: -100n, fees: 7n, [HELD]: 93n }, '0xlatest', 77];
    assert.deepEqual(brief(entriesOf(WAITING, SWEPT)), [swept]);
    assert.deepEqual(brief(entriesOf([], SWEPT)), [['deposited', { payer: -100n, deposits: 100n }, null, 77], swept]);
    const unit = position([lot(1n)]);
    assert.deepEqual(brief(entriesOf([], unit)), [
      ['deposited', { payer: -1n, deposits: 1n }, null, 77],
      ['swept', { deposits: -1n, [HELD]: 1n }, '0xlatest', 77],
    ]);
  });

  it('prove nothing by the chain if money has left it', () => {
    assert.deepEqual(brief(entriesOf(WAITING, [])), [['deposited', { payer: 100n, deposits: -100n }, null, null]]);
    assert.deepEqual(brief(entriesOf(SWEPT, WAITING)), [
      ['unswept', { deposits: 100n, fees: -7n, [HELD]: -93n }, null, null],
    ]);
    assert.deepEqual(brief(entriesOf(position([lot(1n)]), position([lot(1n, { waiting: 1n })]))), [
      ['unswept', { deposits: 1n, [HELD]: -1n }, null, null],
    ]);
  });

  it('between accounts alone are a sweep without a proof', () => {
    const debt = { payment: 'pay_1', network: NETWORK, asset: ASSET, account: 'held', amount: 60n };
    assert.deepEqual(brief(entriesOf([], position([], [debt]))), [
      ['swept', { [HELD]: 60n, 'missing/held': -60n }, null, null],
    ]);
  });

  it('name their payment, merchant, asset and reference', () => {
    const [entry] = entriesOf([], WAITING);
    const { network, asset, reference, subject, merchantId } = entry ?? {};
    assert.deepEqual([network, asset, reference, subject, merchantId], [NETWORK, ASSET, 'D', 'pay_1', 'mrch_1']);
  });
});
