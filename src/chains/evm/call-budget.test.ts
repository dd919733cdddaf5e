import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../../test/manual-time.ts';
import { createCallBudget } from './call-budget.ts';

describe('the calls a provider takes', () => {
  it('may come in a burst and then only as fast as they grow back', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 10);
    bucket.take(10);
    assert.equal(bucket.waitMs(), 100);
    await time.advance(100);
    assert.equal(bucket.waitMs(), 0);
  });

  it('are paid for in full by a batch that overdraws', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 10);
    bucket.take(30);
    await time.advance(1_000);
    assert.ok(bucket.waitMs() > 1_000);
    await time.advance(1_100);
    assert.equal(bucket.waitMs(), 0);
  });

  it('are halved when the provider objects, and grow back in seconds', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 20_000);
    bucket.take(400);
    bucket.slowDown();
    assert.equal(bucket.waitMs(), 5, '200 a second');
    await time.advance(3_000);
    bucket.take(400);
    assert.equal(bucket.waitMs(), 3, 'twice that');
  });

  it('are halved once for all the requests that were objected to in one moment', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 20_000);
    bucket.take(800);
    for (let request = 0; request < 8; request += 1) bucket.slowDown();
    assert.equal(bucket.waitMs(), 3, '400 a second');
  });

  it('are no fewer because a lone request after a pause was refused too', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 20_000);
    bucket.take(400);
    bucket.slowDown();
    for (let probe = 0; probe < 10; probe += 1) {
      await time.advance(1_000);
      bucket.take(3);
      bucket.slowDown();
    }
    await time.advance(1_000);
    bucket.take(1_000);
    assert.equal(bucket.waitMs(), 0, 'ten seconds later it is as fast as before');
  });

  it('are never so few that nothing moves, unless the operator wants it so', async () => {
    const time = manualTime();
    const bucket = createCallBudget(time.clock, 20_000);
    const slow = createCallBudget(time.clock, 5);
    for (let objection = 0; objection < 10; objection += 1) {
      await time.advance(5_000);
      for (const each of [bucket, slow]) {
        each.take(25);
        each.slowDown();
      }
    }
    assert.equal(bucket.waitMs(), 50, '20 a second');
    await time.advance(10_000);
    slow.take(5);
    assert.equal(slow.waitMs(), 200);
  });

  it('are fewer, and for longer, for those who give way', async () => {
    const time = manualTime();
    const usual = createCallBudget(time.clock, 20_000);
    const yielding = createCallBudget(time.clock, 20_000, { isYielding: true });
    for (const bucket of [usual, yielding]) {
      bucket.take(400);
      bucket.slowDown();
    }
    await time.advance(3_000);
    for (const bucket of [usual, yielding]) bucket.take(400);
    assert.ok(yielding.waitMs() > 300, 'fewer than 300 a second');
    assert.ok(usual.waitMs() < 10);
  });
});
