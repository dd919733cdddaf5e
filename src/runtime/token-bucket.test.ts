import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullBucket, refill, waitMs } from './token-bucket.ts';

describe('a token bucket', () => {
  it('holds one second of tokens and fills steadily', () => {
    const bucket = fullBucket(10, 0);
    bucket.tokens -= 10;
    assert.equal(waitMs(bucket), 100);
    refill(bucket, 500);
    assert.equal(bucket.tokens, 5);
    refill(bucket, 60_000);
    assert.equal(bucket.tokens, 10);
  });

  it('is unchanged by a clock that is set back, and fills again from there', () => {
    const bucket = fullBucket(10, 1_000);
    bucket.tokens -= 10;
    refill(bucket, 0);
    assert.equal(bucket.tokens, 0);
    refill(bucket, 500);
    assert.equal(bucket.tokens, 5);
  });
});
