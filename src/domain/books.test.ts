import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { entryHash, firstHash } from './book-chain.ts';
import {
  ACCOUNTS,
  acceptedEntry,
  addUp,
  type BookedItem,
  coinReceivedEntry,
  coinReturnEntry,
  correctingEntry,
  type Entry,
  entry,
  floatAddedEntry,
  floatReturnEntry,
  gasEntry,
  INTERMEDIATE,
  OPERATOR_FLOAT,
  paidEntry,
  paidPosition,
  payoutEntry,
  refundCoveredEntry,
  refundEntry,
  refundUncoveredEntry,
  relayerFundedEntry,
  revertedEntry,
  unexpectedCoveredEntry,
  unexpectedReceivedEntry,
  unexpectedReturnEntry,
  unpaidEntry,
} from './books.ts';
import { feeOf } from './fees.ts';
import { feeInToken, quoteFor } from './quote.ts';

const NETWORK = 'eip155:1';
const ASSET = `${NETWORK}/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48`;
const PROOF = { transaction: '0xaa', block: 7 };
const MERCHANT = 'mrch_1';

function itemOf(amount: bigint, fee: bigint, isHeld = false): BookedItem {
  return {
    network: NETWORK,
    asset: ASSET,
    subject: 'pay_1',
    reference: '0xc0',
    merchantId: MERCHANT,
    amount,
    fee,
    isHeld,
  };
}

const balances = (entries: readonly Entry[]) =>
  new Map(addUp(entries.flatMap(({ lines }) => lines)).map(({ account, units }) => [account, units]));

const PRICE_UNIT = 'iso4217/USD';
const decimals = fc.integer({ min: 0, max: 18 });
/** Percentages with up to 18 decimals, and a fixed part. */
const terms = fc.record({
  percentage: fc
    .tuple(fc.integer({ min: 0, max: 99 }), fc.stringMatching(/^[0-9]{0,18}$/))
    .map(([whole, fraction]) => (fraction === '' ? `${whole}` : `${whole}.${fraction}`)),
  fixed: fc.bigInt({ min: 0n, max: 10n ** 20n }).map((value) => [{ unit: PRICE_UNIT, value: value.toString() }]),
});
/** Payments as they are quoted: prices and tokens of any decimals. */
const items = fc
  .record({
    value: fc.bigInt({ min: 1n, max: 10n ** 30n }),
    ofPrice: decimals,
    ofToken: decimals,
    terms,
    isHeld: fc.boolean(),
  })
  .map(({ value, ofPrice, ofToken, terms: fees, isHeld }) => {
    const price = { unit: PRICE_UNIT, value, decimals: ofPrice };
    const quote = quoteFor({
      price,
      asset: { id: ASSET, symbol: 'A', decimals: ofToken, peg: 'USD' },
      rate: undefined,
    });
    assert.ok(quote);
    return itemOf(quote.amount, feeInToken(quote, feeOf(fees, PRICE_UNIT, value)), isHeld);
  });

describe('the books', () => {
  it('split every payment into net and fee, to the unit', () => {
    fc.assert(
      fc.property(items, fc.boolean(), fc.boolean(), (item, wasInFlight, isExtra) => {
        const entries = [
          ...(wasInFlight ? [acceptedEntry(item)] : []),
          paidEntry(item, { wasInFlight, isExtra }, PROOF),
        ];
        const held = ACCOUNTS.payable(MERCHANT);
        const on = balances(entries);
        const net = on.get(item.isHeld ? held : ACCOUNTS.settled(MERCHANT)) ?? 0n;
        assert.equal(net + (on.get(ACCOUNTS.fees) ?? 0n), item.amount);
        assert.equal(on.get(ACCOUNTS.payer), -item.amount);
        assert.equal(on.get(ACCOUNTS.inFlight), undefined);
        assert.deepEqual(
          addUp(entries.flatMap(({ lines }) => lines)).sort(byAccount),
          paidPosition(item, false).sort(byAccount),
        );
      }),
    );
  });

  it('balance in every entry, whatever happens to a payment', () => {
    fc.assert(
      fc.property(items, fc.boolean(), (item, isInFlight) => {
        const about = { ...item, reference: '0x1' };
        const cover = { payable: item.amount - item.fee, merchantFloat: 3n, operatorFloat: item.fee };
        const relayer = { network: NETWORK, asset: ASSET, signer: '0x5' };
        const entries = [
          acceptedEntry(item),
          unpaidEntry(item, 'ran_out'),
          revertedEntry(item, { isInFlight, isUnexpected: false }),
          payoutEntry('sent', about, item.amount),
          payoutEntry('done', about, item.amount, PROOF),
          payoutEntry('failed', about, item.amount, PROOF),
          refundCoveredEntry(about, cover),
          refundUncoveredEntry(about, cover),
          refundEntry('sent', about, item.amount),
          refundEntry('done', about, item.amount, PROOF),
          refundEntry('failed', about, item.amount, PROOF),
          floatAddedEntry(about, OPERATOR_FLOAT, item.amount, PROOF),
          floatReturnEntry('sent', about, { owner: MERCHANT, units: item.amount }),
          floatReturnEntry('done', about, { owner: MERCHANT, units: item.amount, proof: PROOF }),
          unexpectedReceivedEntry(about, item.amount, PROOF),
          unexpectedReturnEntry('sent', about, { units: item.amount }),
          relayerFundedEntry(relayer, item.amount, 7),
          gasEntry(relayer, item.amount, PROOF),
        ];
        for (const { lines } of entries) {
          assert.equal(
            lines.reduce((sum, { units }) => sum + units, 0n),
            0n,
          );
          assert.ok(lines.length >= 2);
          assert.ok(lines.every(({ units }) => units !== 0n));
        }
      }),
    );
  });

  it('come back to nothing when an authorization ends unused, and when a final payment is taken back', () => {
    const item = itemOf(1_000n, 10n, true);
    assert.deepEqual([...balances([acceptedEntry(item), unpaidEntry(item, null)])], []);
    const paid = [acceptedEntry(item), paidEntry(item, { wasInFlight: true, isExtra: false }, PROOF)];
    const back = revertedEntry(item, { isInFlight: false, isUnexpected: false });
    assert.deepEqual([...balances([...paid, back])], []);
  });

  it('keep the money of a payout on the intermediate account until it is final', () => {
    const item = itemOf(1_000n, 10n, true);
    const about = { ...item, reference: '0x1' };
    const paid = paidEntry(item, { wasInFlight: false, isExtra: false }, PROOF);
    const lying = (entries: readonly Entry[]) =>
      [...balances(entries)]
        .filter(([account]) => account.startsWith(INTERMEDIATE))
        .reduce((sum, [, units]) => sum + units, 0n);
    const sent = payoutEntry('sent', about, 990n);
    assert.equal(lying([paid, sent]), 990n);
    assert.equal(lying([paid, sent, payoutEntry('failed', about, 990n, PROOF)]), 990n);
    const done = [paid, sent, payoutEntry('done', about, 990n, PROOF)];
    assert.equal(lying(done), 0n);
    assert.equal(balances(done).get(ACCOUNTS.settled(MERCHANT)), 990n);
  });

  it('return everything to the payer in a refund, from its cover', () => {
    const item = itemOf(1_000n, 10n, true);
    const about = { ...item, reference: '0x1' };
    const cover = { payable: 990n, merchantFloat: 0n, operatorFloat: 10n };
    const on = balances([
      floatAddedEntry({ ...about, merchantId: null }, OPERATOR_FLOAT, 50n, PROOF),
      paidEntry(item, { wasInFlight: false, isExtra: false }, PROOF),
      refundCoveredEntry(about, cover),
      refundEntry('sent', about, 1_000n),
      refundEntry('done', about, 1_000n, PROOF),
    ]);
    assert.deepEqual(Object.fromEntries(on), {
      outside: -50n,
      fees: 10n,
      [ACCOUNTS.float(OPERATOR_FLOAT)]: 40n,
    });
  });

  it('give the cover of a refund that is not made back to its sources', () => {
    const about = { ...itemOf(1_000n, 10n, true), reference: '0x1' };
    const cover = { payable: 900n, merchantFloat: 90n, operatorFloat: 10n };
    assert.deepEqual(Object.fromEntries(balances([refundCoveredEntry(about, cover)])), {
      [ACCOUNTS.payable(MERCHANT)]: -900n,
      [ACCOUNTS.float(MERCHANT)]: -90n,
      [ACCOUNTS.float(OPERATOR_FLOAT)]: -10n,
      [ACCOUNTS.refunds]: 1_000n,
    });
    assert.deepEqual([...balances([refundCoveredEntry(about, cover), refundUncoveredEntry(about, cover)])], []);
  });

  it('cover the return of a late payment as that of a refund, and send it from the account of unexpected money', () => {
    const about = { ...itemOf(1_000n, 10n, true), reference: '0x1' };
    const covered = unexpectedCoveredEntry(about, { payable: 900n, merchantFloat: 90n, operatorFloat: 10n });
    assert.deepEqual(Object.fromEntries(balances([covered])), {
      [ACCOUNTS.payable(MERCHANT)]: -900n,
      [ACCOUNTS.float(MERCHANT)]: -90n,
      [ACCOUNTS.float(OPERATOR_FLOAT)]: -10n,
      [ACCOUNTS.unexpected]: 1_000n,
    });
    const sent = unexpectedReturnEntry('sent', about, { units: 1_000n });
    const done = unexpectedReturnEntry('done', about, { units: 1_000n, proof: PROOF });
    assert.equal(balances([covered, sent, done]).get(ACCOUNTS.outside), 1_000n);
    const failed = unexpectedReturnEntry('failed', about, { units: 1_000n, proof: PROOF });
    assert.equal(balances([covered, sent, failed]).get(ACCOUNTS.unexpected), 1_000n);
  });

  it('name returns of floats, of unexpected money and of coin', () => {
    const about = itemOf(1_000n, 10n);
    const kinds = (['sent', 'done', 'failed'] as const).map((step) => [
      floatReturnEntry(step, about, { owner: MERCHANT, units: 1n }).kind,
      unexpectedReturnEntry(step, about, { units: 1n }).kind,
      coinReturnEntry(step, about, { signer: '0x5', units: 1n }).kind,
    ]);
    assert.deepEqual(kinds, [
      ['float_return_sent', 'stray_return_sent', 'stray_return_sent'],
      ['float_returned', 'stray_returned', 'stray_returned'],
      ['float_return_failed', 'stray_return_failed', 'stray_return_failed'],
    ]);
  });

  it('keep coin on its way back separate, until the return is final', () => {
    const about = itemOf(1_000n, 10n);
    const received = coinReceivedEntry(about, '0x5', 100n, PROOF);
    const sent = coinReturnEntry('sent', about, { signer: '0x5', units: 60n });
    const on = Object.fromEntries(balances([received, sent]));
    assert.deepEqual(on, { outside: -100n, 'relayer/0x5': 40n, 'relayer/0x5/outgoing': 60n });
    const done = coinReturnEntry('done', about, { signer: '0x5', units: 60n, proof: PROOF });
    assert.deepEqual(Object.fromEntries(balances([received, sent, done])), { outside: -40n, 'relayer/0x5': 40n });
  });

  it('mark a payment that came after the end', () => {
    const [late, usual] = [true, false].map((isExtra) =>
      paidEntry(itemOf(9n, 1n), { wasInFlight: true, isExtra }, PROOF),
    );
    assert.deepEqual([late?.note, usual?.note], ['paid_after_end', null]);
  });

  it('refuse an entry that does not balance', () => {
    const lines = [
      { account: 'payer', units: -5n },
      { account: 'fees', units: 4n },
    ];
    assert.throws(() => entry('paid', itemOf(5n, 4n), lines), /does not balance/);
  });

  it('have accounts with these names, which stored entries have', () => {
    const named = Object.values(ACCOUNTS).map((account) => (typeof account === 'string' ? account : account('x')));
    assert.deepEqual(named, [
      ...['payer', 'outside', 'in_flight', 'deposits', 'fees', 'settled/x', 'intermediate/payable/x'],
      ...['intermediate/refunds', 'intermediate/outgoing', 'intermediate/float/x', 'intermediate/stray', 'missing/x'],
      ...['relayer/x', 'relayer/x/outgoing', 'gas/x'],
    ]);
  });

  it('are corrected by exactly the missing lines', () => {
    const item = itemOf(1_000n, 10n);
    const shouldBe = paidPosition(item, false);
    assert.equal(correctingEntry('rebuilt', item, { is: shouldBe, shouldBe, proof: PROOF }), undefined);
    const accepted = acceptedEntry(item);
    const correction = correctingEntry('rebuilt', item, { is: accepted.lines, shouldBe, proof: PROOF });
    assert.ok(correction !== undefined);
    assert.deepEqual(addUp([...accepted.lines, ...correction.lines]).sort(byAccount), shouldBe.sort(byAccount));
  });
});

describe('the hash of an entry', () => {
  const placed = { ...acceptedEntry(itemOf(1_000n, 10n)), sequence: 1, at: new Date(0) };

  it('changes with every part of it, and with everything before it', () => {
    const line = { account: 'payer', units: 1n };
    const changed = [
      { sequence: 2 },
      { at: new Date(1) },
      { network: 'eip155:2' },
      { asset: 'x' },
      { kind: 'unpaid' as const },
      { subject: 'pay_2' },
      { reference: '0xc1' },
      { merchantId: 'mrch_2' },
      { merchantId: null },
      { transaction: '0xbb' },
      { block: 8 },
      { note: 'x' },
      { lines: [...placed.lines, line] },
      { lines: placed.lines.toReversed() },
    ].map((change) => entryHash(firstHash(NETWORK), { ...placed, ...change }));
    const hashes = new Set([
      ...changed,
      entryHash(firstHash(NETWORK), placed),
      entryHash(firstHash('eip155:2'), placed),
    ]);
    assert.equal(hashes.size, changed.length + 2);
  });

  it('stays the same for ever', () => {
    // Another hash here would break the chain of every gateway that runs.
    assert.equal(
      entryHash(firstHash(NETWORK), placed),
      '449725ec7e9091e326d1286d1f6c23311c69e75fce6c9fbf4493ec13f69b76f0',
    );
  });
});

function byAccount(a: { account: string }, b: { account: string }): number {
  return a.account < b.account ? -1 : 1;
}
