import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../errors.ts';
import { createCountLimit } from './count-limit.ts';

const WINDOW_MS = 600_000;

describe('a limit of ten minutes', () => {
  function limited(max: number) {
    const time = { nowMs: 0 };
    const limit = createCountLimit({ nowMs: () => time.nowMs }, { max, message: 'Too many.' });
    const counted = (name: string) =>
      limit.run(
        [name],
        async () => name,
        () => true,
      );
    const free = (name: string) =>
      limit.run(
        [name],
        async () => name,
        () => false,
      );
    return { time, limit, counted, free };
  }

  /** Work that goes on until it is told to end. */
  function slow() {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { work: () => promise, finish: resolve };
  }

  const refusedFor = (retryAfterS: number) => (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.code, error.retryAfterS], ['rate_limited', retryAfterS]);
    return true;
  };

  it('counts work under way, and refuses more for a second alone', async () => {
    const { limit, free } = limited(2);
    const [first, second] = [slow(), slow()];
    const running = [first, second].map(({ work }) => limit.run(['a'], work, () => false));
    await assert.rejects(free('a'), refusedFor(1));
    assert.equal(await free('b'), 'b');
    first.finish();
    await running[0];
    assert.equal(await free('a'), 'a');
    second.finish();
    await running[1];
  });

  it('counts what is to count until ten minutes after the first of it, and nothing else', async () => {
    const { time, counted, free } = limited(2);
    for (let times = 0; times < 5; times += 1) await free('a');
    time.nowMs = 1_000;
    await counted('a');
    time.nowMs = 2_000;
    await counted('a');
    await assert.rejects(free('a'), refusedFor((WINDOW_MS - 1_000) / 1_000));
    time.nowMs = WINDOW_MS + 1_000;
    await counted('a');
    await counted('a');
    await assert.rejects(counted('a'), refusedFor(WINDOW_MS / 1_000));
  });

  it('decides by the error of work that fails, and lets it pass', async () => {
    const { limit, counted } = limited(1);
    const failing = (doesCount: boolean) =>
      limit.run(
        ['a'],
        () => Promise.reject(new Error('no')),
        (outcome) => 'error' in outcome && doesCount,
      );
    await assert.rejects(failing(false), /no/);
    await assert.rejects(failing(true), /no/);
    await assert.rejects(counted('a'), refusedFor(WINDOW_MS / 1_000));
  });

  it('counts under all names or under none', async () => {
    const { limit, counted } = limited(1);
    await counted('full');
    await assert.rejects(
      limit.run(
        ['b', 'full'],
        async () => 'done',
        () => true,
      ),
      refusedFor(WINDOW_MS / 1_000),
    );
    assert.equal(await counted('b'), 'b');
  });

  it('keeps work under way beyond the end of a window', async () => {
    const { time, limit, counted, free } = limited(2);
    await counted('a');
    const { work, finish } = slow();
    const running = limit.run(['a'], work, () => true);
    time.nowMs = WINDOW_MS;
    await counted('a');
    await assert.rejects(free('a'), refusedFor(1));
    finish();
    await running;
    await assert.rejects(free('a'), refusedFor(WINDOW_MS / 1_000));
  });
});
