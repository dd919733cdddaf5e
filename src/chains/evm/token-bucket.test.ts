import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../../test/manual-time.ts';
import { createTokenBucket } from './token-bucket.ts';

describe('the calls a provider takes', () => {
  it('may come in a burst and then only as fast as they grow back', async () => {
    const time = manualTime();
    const bucket = createTokenBucket(time.clock, 10);
    bucket.take(10);
    assert.equal(bucket.waitMs(), 100);
    await time.advance(100);
    assert.equal(bucket.waitMs(), 0);
  });

  it('are paid for in full by a batch that overdraws', async () => {
    const time = manualTime();
    const bucket = createTokenBucket(time.clock, 10);
    bucket.take(30);
    await time.advance(1_000);
    assert.ok(bucket.waitMs() > 1_000);
    await time.advance(1_100);
    assert.equal(bucket.waitMs(), 0);
  });

  it('are half of what was sent when the provider objects, and grow back in a minute', async () => {
    const time = manualTime();
    const bucket = createTokenBucket(time.clock, 20_000);
    bucket.take(10);
    bucket.slowDown();
    assert.equal(bucket.waitMs(), 200);
    await time.advance(60_000);
    bucket.take(10);
    assert.equal(bucket.waitMs(), 100);
  });
});
