import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../../test/manual-time.ts';
import { createBreaker } from './breaker.ts';

/** Without jitter unless a test asks for it. */
function start(dice = 0) {
  const time = manualTime();
  const changes: boolean[] = [];
  const random = { bytes: (count: number) => new Uint8Array(count).fill(dice) };
  const breaker = createBreaker({ timers: time.timers, random }, (isOpen) => changes.push(isOpen));
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) breaker.failed();
  };
  return { time, breaker, changes, fail };
}

describe('the circuit breaker', () => {
  it('opens after three failures in a row, and not when one answer came between', () => {
    const { breaker, fail } = start();
    fail(2);
    breaker.succeeded();
    fail(2);
    assert.equal(breaker.allows(), true);
    fail(1);
    assert.equal(breaker.allows(), false);
  });

  it('lets one request try after the pause, and closes or opens with it', async () => {
    const { time, breaker, changes, fail } = start();
    fail(3);
    await time.advance(499);
    assert.equal(breaker.allows(), false);
    await time.advance(1);
    assert.equal(breaker.begins(), true);
    assert.equal(breaker.begins(), false);
    breaker.failed();
    assert.equal(breaker.isOpen(), true);
    await time.advance(1_000);
    assert.equal(breaker.begins(), true);
    breaker.succeeded();
    assert.equal(breaker.allows(), true);
    assert.deepEqual(changes, [true, false]);
  });

  it('waits for as long as it was asked to, however its own pauses are drawn', async () => {
    const { time, breaker } = start(0);
    breaker.paused(5_000);
    await time.advance(4_999);
    assert.equal(breaker.allows(), false);
    await time.advance(1);
    assert.equal(breaker.allows(), true);
  });

  it('comes back after a few seconds to an endpoint that kept asking for pauses', async () => {
    const { time, breaker } = start();
    for (let probe = 0; probe < 20; probe += 1) {
      breaker.begins();
      breaker.paused(1_000);
      await time.advance(5_500);
      assert.equal(breaker.allows(), true);
    }
  });

  it('never waits longer than half a minute', async () => {
    const { time, breaker, fail } = start();
    fail(50);
    await time.advance(500);
    breaker.begins();
    breaker.failed();
    await time.advance(30_000);
    assert.equal(breaker.allows(), true);
  });
});
