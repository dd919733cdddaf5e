import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { backoffMs, withJitter } from './backoff.ts';

const drawing = (byte: number) => ({ random: { bytes: (count: number) => new Uint8Array(count).fill(byte) } });

describe('a backoff', () => {
  it('grows with every failure, up to its limit, whatever the count', () => {
    const backoff = { firstMs: 1_000, maxMs: 60_000 };
    assert.deepEqual(
      [0, 1, 2, 4, 7, 1_000_000].map((failures) => backoffMs(backoff, failures)),
      [1_000, 1_000, 2_000, 8_000, 60_000, 60_000],
    );
    assert.equal(backoffMs({ ...backoff, factor: 4 }, 3), 16_000);
  });

  it('is jittered by up to a quarter more, and never less', () => {
    assert.equal(withJitter(drawing(0), 1_000), 1_000);
    assert.equal(withJitter(drawing(128), 1_000), 1_125);
    fc.assert(
      fc.property(fc.nat(255), fc.nat(600_000), (byte, delayMs) => {
        const jittered = withJitter(drawing(byte), delayMs);
        assert.ok(jittered >= delayMs && jittered <= delayMs * 1.25);
      }),
    );
  });
});
