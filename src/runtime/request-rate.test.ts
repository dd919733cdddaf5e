import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRequestRate } from './request-rate.ts';

describe('the rate of requests', () => {
  it('is that of the last second or more, and falls to zero without requests', () => {
    let nowMs = 0;
    const rate = createRequestRate({ nowMs: () => nowMs });
    for (let count = 0; count < 500; count += 1) rate.note();
    nowMs = 999;
    assert.equal(rate.perSecond(), 0);
    nowMs = 2_000;
    assert.equal(rate.perSecond(), 250);
    nowMs = 2_500;
    assert.equal(rate.perSecond(), 250);
    nowMs = 10_000;
    assert.equal(rate.perSecond(), 0);
  });
});
