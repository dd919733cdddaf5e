import assert from 'node:assert/strict';
import { it } from 'node:test';
import { feedName } from '../store/events/placing.ts';
import { wakeByChanges } from './wake.ts';

it('wakes for changed objects, and not for new payments, of which only the feed is named', () => {
  const wakeUps: true[] = [];
  const listeners: ((names: readonly string[] | undefined) => void)[] = [];
  const feed = {
    subscribe: (listener: (typeof listeners)[number]) => void listeners.push(listener),
    onNotified: () => {},
  };
  wakeByChanges(feed, { all: () => void wakeUps.push(true) });
  const [announce] = listeners;
  const name = feedName({ partnerId: 'prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', mode: 'test' });
  announce?.([name]);
  assert.equal(wakeUps.length, 0);
  announce?.(['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', name]);
  assert.equal(wakeUps.length, 1);
  announce?.(undefined);
  assert.equal(wakeUps.length, 2);
});
