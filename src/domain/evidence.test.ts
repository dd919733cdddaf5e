import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conclude, differences, fateOf, type ItemFacts, type ItemFate, isLasting } from './evidence.ts';

const FACTS: ItemFacts = {
  isNative: false,
  deadlineMs: 1_000,
  finalAtMs: 500,
  isUsed: false,
  isReportedPaid: false,
};

describe('the fate of an item', () => {
  const cases: [string, Partial<ItemFacts>, ItemFate][] = [
    ['open while nothing is proved', {}, { is: 'open' }],
    ['open at its very deadline', { finalAtMs: 1_000 }, { is: 'open' }],
    ['over after it', { finalAtMs: 1_001 }, { is: 'over', reason: 'ran_out' }],
    [
      'paid once reported, whatever else is said',
      { isReportedPaid: true, isUsed: true, finalAtMs: 2_000 },
      { is: 'paid' },
    ],
    ['over when its nonce was used for something else', { isUsed: true }, { is: 'over', reason: 'used' }],
    ['over as used, also after the deadline', { isUsed: true, finalAtMs: 2_000 }, { is: 'over', reason: 'used' }],
    ['unclear when native coin was used without a report', { isUsed: true, isNative: true }, { is: 'unclear' }],
  ];
  for (const [title, facts, fate] of cases) {
    it(`is ${title}`, () => assert.deepEqual(fateOf({ ...FACTS, ...facts }), fate));
  }
});

describe('the consequence for the payment', () => {
  const used = { is: 'over', reason: 'used' } as const;
  const ranOut = { is: 'over', reason: 'ran_out' } as const;
  it('is nothing while one item may still be paid, or is', () => {
    assert.equal(conclude('processing', [used, { is: 'open' }]), 'wait');
    assert.equal(conclude('processing', [ranOut, { is: 'paid' }]), 'wait');
  });
  it('is nothing while one item is unclear', () => {
    assert.equal(conclude('processing', [used, { is: 'unclear' }]), 'unclear');
  });
  it('is that no attempt is left when all of them are over', () => {
    assert.equal(conclude('processing', [used, ranOut]), 'over');
    assert.equal(conclude('processing', [ranOut]), 'over');
    assert.equal(conclude('requires_action', [ranOut, ranOut]), 'over');
  });
  it('is nothing more for a payment that has ended', () => {
    assert.equal(conclude('succeeded', [ranOut]), 'over_anyway');
  });
});

describe('a refusal', () => {
  it('is lasting if another attempt would meet it again', () => {
    for (const reason of ['wrong_signature', 'short_balance', 'payer_blacklisted', 'recipient_blacklisted']) {
      assert.ok(isLasting(reason), reason);
    }
    for (const reason of ['out_of_gas', 'paused', 'unknown', 'late', 'used', 'short_arrival']) {
      assert.ok(!isLasting(reason), reason);
    }
  });
});

describe('evidence', () => {
  it('is an event whose fields match its commitment', () => {
    const stored = { payer: '0xAb', asset: 'eip155:1/erc20:0xCd', amount: '1', fee: '0', recipient: '0xEf' };
    assert.deepEqual(differences({ ...stored, payer: '0xab' }, stored), []);
    assert.deepEqual(differences({ ...stored, amount: '2', fee: '1' }, stored), ['amount', 'fee']);
    assert.deepEqual(differences({}, stored), ['payer', 'asset', 'amount', 'fee', 'recipient']);
  });
});
