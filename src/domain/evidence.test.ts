import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conclude, differences, fateOf, type ItemFacts, type ItemFate, isTelling } from './evidence.ts';

const FACTS: ItemFacts = {
  isNative: false,
  deadlineMs: 1_000,
  finalAtMs: 500,
  isUsed: false,
  isReportedPaid: false,
  refusal: undefined,
};

describe('the fate of an item', () => {
  const cases: [string, Partial<ItemFacts>, ItemFate][] = [
    ['open while nothing is proved', {}, { is: 'open' }],
    ['open at its very deadline', { finalAtMs: 1_000 }, { is: 'open' }],
    ['ran out after it', { finalAtMs: 1_001 }, { is: 'ran_out' }],
    [
      'paid once reported, whatever else is said',
      { isReportedPaid: true, isUsed: true, finalAtMs: 2_000 },
      { is: 'paid' },
    ],
    ['failed when somebody else used it', { isUsed: true }, { is: 'failed', reason: 'used' }],
    ['failed when used, also after the deadline', { isUsed: true, finalAtMs: 2_000 }, { is: 'failed', reason: 'used' }],
    ['unclear when native coin was used without a report', { isUsed: true, isNative: true }, { is: 'unclear' }],
    ['failed when refused for good', { refusal: 'short_balance' }, { is: 'failed', reason: 'short_balance' }],
    ['ran out rather than refused', { refusal: 'short_balance', finalAtMs: 2_000 }, { is: 'ran_out' }],
  ];
  for (const [title, facts, fate] of cases) {
    it(`is ${title}`, () => assert.deepEqual(fateOf({ ...FACTS, ...facts }), fate));
  }
});

describe('what follows for the payment', () => {
  const failed = { is: 'failed', reason: 'used' } as const;
  const ranOut = { is: 'ran_out' } as const;
  it('is nothing while one item may still be paid, or is', () => {
    assert.equal(conclude('processing', [failed, { is: 'open' }]), 'wait');
    assert.equal(conclude('processing', [ranOut, { is: 'paid' }]), 'wait');
  });
  it('is nothing while one item is unclear', () => {
    assert.equal(conclude('processing', [failed, { is: 'unclear' }]), 'unclear');
  });
  it('is failed by proof against one item, and expired when all ran out', () => {
    assert.equal(conclude('processing', [failed, ranOut]), 'failed');
    assert.equal(conclude('processing', [ranOut]), 'expired');
    assert.equal(conclude('requires_action', [ranOut, ranOut]), 'expired');
  });
  it('is nothing more for a payment that has ended', () => {
    assert.equal(conclude('succeeded', [ranOut]), 'over_anyway');
  });
});

describe('what counts as evidence', () => {
  it('is a refusal about the item itself, not one that may pass', () => {
    for (const reason of ['wrong_signature', 'short_balance', 'payer_blacklisted', 'recipient_blacklisted']) {
      assert.ok(isTelling(reason), reason);
    }
    for (const reason of ['out_of_gas', 'paused', 'unknown', 'late', 'used', 'short_arrival']) {
      assert.ok(!isTelling(reason), reason);
    }
  });
  it('is an event that says what its commitment stands for', () => {
    const stored = { payer: '0xAb', asset: 'eip155:1/erc20:0xCd', amount: '1', fee: '0', recipient: '0xEf' };
    assert.deepEqual(differences({ ...stored, payer: '0xab' }, stored), []);
    assert.deepEqual(differences({ ...stored, amount: '2', fee: '1' }, stored), ['amount', 'fee']);
    assert.deepEqual(differences({}, stored), ['payer', 'asset', 'amount', 'fee', 'recipient']);
  });
});
