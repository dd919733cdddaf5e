import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { aboveFloors, type Change, FloorError, takenBy } from './book-floors.ts';
import { ACCOUNTS, addUp, type Entry, type EntryKind, entry } from './books.ts';

const NETWORK = 'eip155:1';
const TOKEN = `${NETWORK}/erc20:0xa`;
const OTHER_TOKEN = `${NETWORK}/erc20:0xb`;
const HELD = ACCOUNTS.payable('mrch_1');
const FLOAT = ACCOUNTS.float('mrch_1');
const MISSING = 'missing/0xaccount';

/** Takes units from an account. They go outside. */
const taking = (kind: EntryKind, units: bigint, { account = HELD, asset = TOKEN } = {}): Entry =>
  entry(kind, { network: NETWORK, asset, subject: 's', reference: 'r', merchantId: null }, [
    { account, units: -units },
    { account: ACCOUNTS.outside, units },
  ]);
const has = (units: bigint, account = HELD, asset = TOKEN): Change => ({ network: NETWORK, account, asset, units });
const written = (entries: readonly Entry[], ...balances: readonly Change[]) =>
  aboveFloors(entries, { balances, missing: () => '0xaccount' }).map(({ lines }) =>
    Object.fromEntries(lines.map(({ account, units }) => [account, units])),
  );

/** The kinds by what becomes of an entry that takes more than there is. */
const REFUSED: readonly EntryKind[] = [
  ...(['payout_sent', 'refund_covered', 'refund_sent', 'refund_fee_returned', 'held_to_float'] as const),
  ...(['float_return_sent', 'stray_received', 'stray_covered', 'stray_return_sent'] as const),
];
const MADE_MISSING: readonly EntryKind[] = [
  ...(['rebuilt', 'payout_rebuilt', 'refund_rebuilt', 'return_rebuilt', 'payout_done', 'payout_failed'] as const),
  ...(['refund_done', 'refund_failed', 'refund_uncovered', 'float_added', 'float_returned'] as const),
  ...(['float_return_failed', 'stray_returned', 'stray_return_failed', 'relayer_funded', 'gas'] as const),
  'coin_renamed',
];
const LEFT_ALONE: readonly EntryKind[] = [
  ...(['accepted', 'unpaid', 'paid', 'reverted', 'deposited', 'swept', 'unswept'] as const),
];

describe('the floor of the books', () => {
  it('refuses an entry that spends more than its account has', () => {
    for (const kind of REFUSED) {
      assert.deepEqual(written([taking(kind, 10n)], has(10n)), [{ [HELD]: -10n, outside: 10n }]);
      assert.throws(() => written([taking(kind, 10n)], has(9n)), { name: 'FloorError' }, kind);
      assert.throws(() => written([taking(kind, 10n)]), new RegExp(`refuse ${kind}: ${HELD} has less of ${TOKEN}`));
    }
  });

  it('writes an entry that the chain has decided, and books the excess as missing', () => {
    for (const kind of MADE_MISSING) {
      assert.deepEqual(written([taking(kind, 10n)], has(10n)), [{ [HELD]: -10n, outside: 10n }], kind);
      assert.deepEqual(written([taking(kind, 10n)], has(7n)), [{ [HELD]: -7n, [MISSING]: -3n, outside: 10n }], kind);
      assert.deepEqual(written([taking(kind, 10n)]), [{ [MISSING]: -10n, outside: 10n }], kind);
    }
  });

  it('leaves entries of arrival alone, whose excess positions have', () => {
    for (const kind of LEFT_ALONE) {
      assert.deepEqual(takenBy([taking(kind, 10n)]), [], kind);
      assert.deepEqual(written([taking(kind, 10n)]), [{ [HELD]: -10n, outside: 10n }], kind);
    }
    // Not even beside one that is above its floor.
    assert.deepEqual(written([taking('payout_done', 10n), taking('swept', 10n)], has(4n)), [
      { [HELD]: -4n, [MISSING]: -6n, outside: 10n },
      { [HELD]: -10n, outside: 10n },
    ]);
  });

  it('is of accounts whose money is ours to move alone', () => {
    const outside = [taking('payout_sent', 10n, { account: ACCOUNTS.fees })];
    assert.deepEqual(takenBy(outside), []);
    assert.deepEqual(written(outside), [{ fees: -10n, outside: 10n }]);
  });

  it('counts the entries of one write together', () => {
    const given = { ...taking('payout_failed', -10n), reference: 'r2' };
    assert.deepEqual(takenBy([taking('payout_sent', 10n), given]), []);
    assert.deepEqual(takenBy([taking('payout_sent', 10n), taking('payout_sent', 2n)]), [has(-12n)]);
    assert.throws(() => written([taking('payout_sent', 10n), taking('payout_sent', 2n)], has(11n)), FloorError);
  });

  it('separates accounts and assets', () => {
    const entries = [
      taking('payout_sent', 10n),
      taking('payout_sent', 10n, { asset: OTHER_TOKEN }),
      taking('payout_sent', 10n, { account: FLOAT }),
    ];
    const enough = [has(10n), has(10n, HELD, OTHER_TOKEN), has(10n, FLOAT)];
    assert.equal(written(entries, ...enough).length, 3);
    for (const lacking of enough) {
      const balances = enough.filter((each) => each !== lacking);
      assert.throws(() => written(entries, ...balances), new RegExp(`${lacking.account} has less of ${lacking.asset}`));
    }
  });

  it('lets the last takers lack it, each no more than it takes', () => {
    assert.deepEqual(
      written(
        [10n, 4n, 3n].map((units) => taking('payout_done', units)),
        has(12n),
      ),
      [
        { [HELD]: -10n, outside: 10n },
        { [HELD]: -2n, [MISSING]: -2n, outside: 4n },
        { [MISSING]: -3n, outside: 3n },
      ],
    );
  });

  it('refuses the spender, though an entry behind it takes a part of what is missing', () => {
    assert.throws(() => written([taking('payout_sent', 10n), taking('payout_done', 3n)], has(5n)), FloorError);
    assert.equal(written([taking('payout_sent', 5n), taking('payout_done', 8n)], has(5n)).length, 2);
  });

  it('leaves nothing of what the account has', () => {
    assert.deepEqual(written([taking('payout_done', 10n)], has(1n)), [{ [HELD]: -1n, [MISSING]: -9n, outside: 10n }]);
  });

  it('takes an account that was below zero before for empty', () => {
    assert.deepEqual(written([taking('payout_done', 10n)], has(-5n)), [{ [MISSING]: -10n, outside: 10n }]);
  });

  it('takes nothing below zero that was not, and every entry still balances', () => {
    const kinds = fc.constantFrom(...MADE_MISSING, ...LEFT_ALONE);
    const some = fc.tuple(kinds, fc.bigInt({ min: -9n, max: 9n }), fc.constantFrom(HELD, FLOAT));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), fc.bigInt({ min: 0n, max: 9n }), (takes, units) => {
        const entries = takes.map(([kind, each, account]) => taking(kind, each, { account }));
        const result = aboveFloors(entries, { balances: [has(units)], missing: () => '0xaccount' });
        for (const { lines } of result)
          assert.deepEqual(
            lines.reduce((sum, line) => sum + line.units, 0n),
            0n,
          );
        const recorded = result.filter(({ kind }) => !LEFT_ALONE.includes(kind));
        const after = new Map(addUp(recorded.flatMap(({ lines }) => lines)).map((line) => [line.account, line.units]));
        assert.ok(units + (after.get(HELD) ?? 0n) >= 0n && (after.get(FLOAT) ?? 0n) >= 0n);
      }),
    );
  });
});
