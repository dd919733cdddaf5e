import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPaymentWork } from './payment-work.ts';

describe('the work for payments', () => {
  it('is there if there were some requests and changes in the last second or more', () => {
    let nowMs = 0;
    const work = createPaymentWork({ nowMs: () => nowMs });
    for (let count = 0; count < 20; count += 1) {
      work.begin();
      work.end();
    }
    work.noteChanges(20);
    nowMs = 999;
    assert.ok(!work.isThere());
    nowMs = 2_000;
    assert.ok(work.isThere(), '20 in each of two seconds');
    nowMs = 2_500;
    assert.ok(work.isThere());
    nowMs = 10_000;
    assert.ok(!work.isThere());
  });

  it('has waited if many requests were under way together, even if all of them are answered now', () => {
    const work = createPaymentWork({ nowMs: () => 0 });
    for (let count = 0; count < 16; count += 1) work.begin();
    assert.ok(work.hasWaited());
    assert.ok(work.hasWaited(), 'they are under way still');
    for (let count = 0; count < 16; count += 1) work.end();
    assert.ok(work.hasWaited(), 'they were under way since the last call');
    assert.ok(!work.hasWaited());
  });
});
