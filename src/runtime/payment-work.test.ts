import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPaymentWork } from './payment-work.ts';

describe('the work for payments', () => {
  it('is much if there were many requests and changes in the last second or more', () => {
    let nowMs = 0;
    const work = createPaymentWork({ nowMs: () => nowMs });
    for (let count = 0; count < 400; count += 1) {
      work.begin();
      work.end();
    }
    work.noteChanges(400);
    nowMs = 999;
    assert.ok(!work.isMuch());
    nowMs = 2_000;
    assert.ok(work.isMuch(), '400 in each of two seconds');
    nowMs = 2_500;
    assert.ok(work.isMuch());
    nowMs = 10_000;
    assert.ok(!work.isMuch());
  });

  it('is waiting while many requests are under way, however slow they are', () => {
    const work = createPaymentWork({ nowMs: () => 0 });
    for (let count = 0; count < 16; count += 1) work.begin();
    assert.ok(work.isWaiting());
    work.end();
    assert.ok(!work.isWaiting());
  });
});
