import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_TYPES } from './event.ts';
import { PAYMENT_STATUSES } from './payment.ts';

describe('the catalogue of events', () => {
  it('names each event by its object', () => {
    for (const [type, { object, summary }] of Object.entries(EVENT_TYPES)) {
      assert.match(type, new RegExp(`^${object}\\.[a-z_]+$`));
      assert.match(summary, /^[A-Z].*\.$/);
    }
  });

  it('has public objects and internal ones, so that receivers see sequences without gaps', () => {
    for (const [object, kinds] of Map.groupBy(Object.values(EVENT_TYPES), ({ object }) => object)) {
      assert.equal(new Set(kinds.map(({ isPublic }) => isPublic)).size, 1, object);
    }
    const internal = Object.values(EVENT_TYPES).filter(({ isPublic }) => !isPublic);
    assert.deepEqual([...new Set(internal.map(({ object }) => object))], ['payout']);
  });

  it('has an event for every status of a payment', () => {
    for (const status of PAYMENT_STATUSES) assert.ok(`payment.${status}` in EVENT_TYPES, status);
  });
});
