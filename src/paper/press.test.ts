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
    const broken = press.print('broken', { ...JOB, size: 'a0' as never });
    const waiting = Array.from({ length: 20 }, (_, index) => press.print(`file ${index}`, JOB));
    await assert.rejects(press.print('one more', JOB), PressError);
    await assert.rejects(broken, /^Error: The receipt cannot be printed\./);
    const files = await Promise.all(waiting);
    assert.ok(files.every((file) => Buffer.from(file).subarray(0, 5).toString() === '%PDF-'));
  });

  it('prints a file once, however many ask for it and how often, and one that failed again', async () => {
    assert.equal(press.find('receipt'), undefined);
    const first = press.print('receipt', JOB);
    const beside = press.find('receipt');
    assert.ok(beside, 'while it is printed');
    const [file, same] = await Promise.all([first, beside, press.print('receipt', JOB)]);
    assert.equal(same, file);
    // More than can wait.
    const later = await Promise.all(Array.from({ length: 50 }, () => press.print('receipt', JOB)));
    assert.ok(later.every((each) => each === file));
    assert.equal(await press.find('receipt'), file);
    await assert.rejects(press.print('mended', { ...JOB, size: 'a0' as never }), PressError);
    assert.ok((await press.print('mended', JOB)).length > 0);
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
      const first = slow.print('first', JOB);
      const second = slow.print('second', JOB);
      late[0]?.();
      await assert.rejects(first, /took too long/);
      assert.ok((await second).length > 0);
      const last = slow.print('last', JOB);
      slow.close();
      await assert.rejects(last, /The node stops/);
    } finally {
      slow.close();
    }
  });
});
