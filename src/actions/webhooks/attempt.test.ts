import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { it } from 'node:test';
import { shiftClock } from '../../runtime/shifted-clock.ts';
import { attempt } from './attempt.ts';

it('is stamped with real time, because receivers refuse messages from the future', async () => {
  const clock = shiftClock({ nowMs: () => 1_700_000_000_500 }, () => 86_400_000);
  const stamps: unknown[] = [];
  const { verdict } = await attempt(
    {
      clock,
      exchange: async ({ headers }) => {
        stamps.push(headers['webhook-timestamp']);
        return { status: 204, headers: {}, bytes: Buffer.alloc(0), isWhole: true };
      },
    },
    {
      url: 'https://shop.example/hook',
      eventId: 'evt_1',
      body: Buffer.from('{}'),
      secrets: [createSecretKey(Buffer.alloc(32))],
    },
  );
  assert.equal(verdict, 'succeeded');
  assert.deepEqual(stamps, ['1700000000']);
});
