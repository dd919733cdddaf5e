import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { systemWorld } from '../runtime/system-world.ts';
import { openPress, PressError, type PrintJob } from './press.ts';

const JOB: PrintJob = {
  sheet: {
    locale: 'en',
    dir: 'ltr',
    title: 'Receipt',
    shop: 'Shop',
    warning: null,
    total: '$10.00',
    pageNumber: '{page}',
    sections: [],
  },
  size: 'roll',
  logo: undefined,
  paidAt: '2026-03-01T00:00:00.000Z',
};

describe('the press', () => {
  const press = openPress(systemWorld.timers);
  after(() => press.close());

  it('prints in turn, refuses more than can wait, and goes on after a job that fails', async () => {
    const broken = press.print({ ...JOB, size: 'a0' as never });
    const waiting = Array.from({ length: 20 }, () => press.print(JOB));
    await assert.rejects(press.print(JOB), PressError);
    await assert.rejects(broken, /^Error: The receipt cannot be printed\./);
    const files = await Promise.all(waiting);
    assert.ok(files.every((file) => Buffer.from(file).subarray(0, 5).toString() === '%PDF-'));
  });

  it('breaks a job off that takes too long, and prints the next one', async () => {
    const late: (() => void)[] = [];
    const timers = {
      after(delayMs: number, run: () => void) {
        if (delayMs < 60_000) late.push(run);
        return () => {};
      },
    };
    const slow = openPress(timers);
    try {
      const first = slow.print(JOB);
      const second = slow.print(JOB);
      late[0]?.();
      await assert.rejects(first, /took too long/);
      assert.ok((await second).length > 0);
      const last = slow.print(JOB);
      slow.close();
      await assert.rejects(last, /The node stops/);
    } finally {
      slow.close();
    }
  });
});
