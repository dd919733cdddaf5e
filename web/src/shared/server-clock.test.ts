import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServerClock } from './server-clock.ts';
import { timeLeft } from './time-left.ts';

describe('the time', () => {
  it('is the server’s, whatever the payer’s clock says', () => {
    let monotonic = 5_000;
    const clock = createServerClock(1_000_000, () => monotonic, 200);
    assert.equal(clock.nowMs(), 1_000_200);
    monotonic += 60_000;
    assert.equal(clock.nowMs(), 1_060_200);
  });

  it('is corrected after a sleep, and not by noise', () => {
    const clock = createServerClock(1_000_000, () => 0, 0);
    clock.observe(1_001_500);
    assert.equal(clock.nowMs(), 1_000_000);
    clock.observe(1_600_000);
    assert.equal(clock.nowMs(), 1_600_000);
  });

  it('is shown as text and ring', () => {
    const left = (seconds: number) => timeLeft(seconds, 0, 'en');
    assert.deepEqual(left(272), { text: '4:32', percent: 91, isShort: false });
    assert.deepEqual(left(59), { text: '0:59', percent: 20, isShort: true });
    assert.deepEqual(left(-5), { text: '0:00', percent: 0, isShort: true });
    assert.equal(left(3_725).text, '1:02:05');
    assert.equal(left(400_000).text, '4 days');
  });
});
