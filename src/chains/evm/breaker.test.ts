import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../../test/manual-time.ts';
import { createBreaker } from './breaker.ts';

/** A breaker without jitter, on an endpoint that answers probes or not. */
function start() {
  const time = manualTime();
  const changes: boolean[] = [];
  const endpoint = { answers: true, probes: 0, until: Promise.resolve() };
  const breaker = createBreaker({
    world: { timers: time.timers, random: { bytes: (count) => new Uint8Array(count) } },
    probe: async () => {
      endpoint.probes += 1;
      await endpoint.until;
      return endpoint.answers;
    },
    onChange: (isOpen) => changes.push(isOpen),
  });
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) breaker.failed(breaker.begin());
  };
  return { time, breaker, changes, fail, endpoint };
}

describe('the circuit breaker', () => {
  it('opens after three failures in a row, and not when one answer came between', () => {
    const { breaker, fail } = start();
    fail(2);
    breaker.succeeded();
    fail(2);
    assert.equal(breaker.isOpen(), false);
    fail(1);
    assert.equal(breaker.isOpen(), true);
  });

  it('counts requests that were under way together and failed together as one failure', () => {
    const { breaker } = start();
    const begun = Array.from({ length: 8 }, () => breaker.begin());
    for (const each of begun) breaker.failed(each);
    assert.equal(breaker.isOpen(), false);
  });

  it('closes when an answer arrives to a request that was under way while others failed: refusals come first', async () => {
    const { time, breaker, fail, endpoint, changes } = start();
    endpoint.answers = false;
    fail(3);
    breaker.succeeded();
    assert.equal(breaker.isOpen(), false);
    // Nothing is left of the pause.
    await time.advance(60_000);
    assert.deepEqual([endpoint.probes, changes], [0, [true, false]]);
    fail(2);
    assert.equal(breaker.isOpen(), false);
  });

  it('is not closed by a probe of an earlier pause', async () => {
    const { time, breaker, fail, endpoint, changes } = start();
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    endpoint.until = held;
    fail(3);
    await time.advance(250);
    breaker.succeeded();
    fail(3);
    answer();
    await time.advance(0);
    assert.deepEqual([endpoint.probes, changes], [1, [true, false, true]]);
  });

  it('stays open at an answer if the endpoint asked for a pause, or is not to be used', () => {
    const throttled = start().breaker;
    throttled.throttled(4_000);
    throttled.succeeded();
    const rejected = start().breaker;
    rejected.rejected(4_000);
    rejected.succeeded();
    assert.deepEqual([throttled.isOpen(), rejected.isOpen()], [true, true]);
  });

  it('probes the endpoint after a short pause, and closes when the probe is answered', async () => {
    const { time, breaker, changes, fail, endpoint } = start();
    endpoint.answers = false;
    fail(3);
    await time.advance(249);
    assert.equal(endpoint.probes, 0);
    await time.advance(1);
    assert.deepEqual([endpoint.probes, breaker.isOpen()], [1, true]);
    endpoint.answers = true;
    await time.advance(500);
    assert.deepEqual([endpoint.probes, breaker.isOpen()], [2, false]);
    assert.deepEqual(changes, [true, false]);
  });

  it('is never open for longer than a few seconds between two probes', async () => {
    const { time, breaker, fail, endpoint } = start();
    endpoint.answers = false;
    fail(3);
    for (let probe = 0; probe < 20; probe += 1) await time.advance(5_000);
    assert.equal(endpoint.probes, 20);
    endpoint.answers = true;
    await time.advance(5_000);
    assert.equal(breaker.isOpen(), false);
  });

  it('gives an endpoint the pause it asked for, and needs no probe afterwards', async () => {
    const { time, breaker, endpoint } = start();
    breaker.throttled(4_000);
    await time.advance(3_999);
    assert.equal(breaker.isOpen(), true);
    await time.advance(1);
    assert.deepEqual([endpoint.probes, breaker.isOpen()], [0, false]);
  });

  it('pauses for longer when an endpoint throttles again at once, and for seconds at most', async () => {
    const { time, breaker } = start();
    const pauses: number[] = [];
    for (let refusal = 0; refusal < 5; refusal += 1) {
      breaker.throttled(0);
      let waitedMs = 0;
      for (; breaker.isOpen(); waitedMs += 100) await time.advance(100);
      pauses.push(waitedMs);
    }
    assert.deepEqual(pauses, [200, 400, 800, 1_000, 1_000]);
    breaker.succeeded();
    breaker.throttled(0);
    await time.advance(200);
    assert.equal(breaker.isOpen(), false);
  });

  it('does nothing more once it is closed for good', async () => {
    const { time, breaker, fail, endpoint, changes } = start();
    fail(3);
    breaker.close();
    await time.advance(60_000);
    assert.deepEqual([endpoint.probes, changes], [0, [true]]);
  });
});
