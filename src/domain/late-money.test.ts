import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lateReasonOf } from './late-money.ts';
import { PAYMENT_STATUSES } from './payment.ts';

const ENDED = PAYMENT_STATUSES.filter((status) => status !== 'succeeded');

describe('the reason of late money', () => {
  it('is the wrong network before anything else, and then the wrong token', () => {
    const all = { status: 'succeeded', isOfPaid: true, isOtherToken: true, isInTime: true } as const;
    assert.equal(lateReasonOf({ ...all, isOtherNetwork: true }), 'wrong_network');
    assert.equal(lateReasonOf({ ...all, isOtherNetwork: false }), 'wrong_token');
    assert.equal(lateReasonOf({ ...all, isOtherNetwork: false, isOtherToken: false }), 'overpaid');
  });

  it('is a second payment, if another way has paid', () => {
    assert.equal(lateReasonOf({ status: 'succeeded', isOfPaid: false }), 'paid_twice');
    assert.equal(lateReasonOf({ status: 'succeeded', isOfPaid: false, isInTime: true }), 'paid_twice');
  });

  it('of a payment that nothing has paid is the time, or too little in time', () => {
    for (const status of ENDED) {
      assert.equal(lateReasonOf({ status, isOfPaid: false }), 'late');
      assert.equal(lateReasonOf({ status, isOfPaid: false, isInTime: true }), 'underpaid');
    }
  });
});
