import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastDays, successRate, todayAndLastWeek, volumeIn } from './days.ts';

const TODAY = '2026-02-03';
const EUROS = { currency: 'EUR', kind: 'currency', decimals: 2, amount: '12.5' } as const;
const volume = [EUROS];

describe('the days of the statistics', () => {
  it('end today, across the end of a month', () => {
    assert.deepEqual(lastDays(4, TODAY), ['2026-01-31', '2026-02-01', '2026-02-02', '2026-02-03']);
  });

  it('have nothing where there were no payments', () => {
    const days = [{ day: '2026-01-27', payments: 3, succeeded: 2, volume }];
    const { today, lastWeek } = todayAndLastWeek({ days, until: TODAY });
    assert.deepEqual([today.day, today.payments, lastWeek.succeeded], ['2026-02-03', 0, 2]);
    const amounts = [lastWeek, today].map((day) => volumeIn(day.volume, EUROS).amount);
    assert.deepEqual(amounts, ['12.5', '0']);
  });

  it('have a success rate of the payments that are over', () => {
    const none = { requires_action: 5, processing: 5, succeeded: 0, failed: 0, expired: 0, cancelled: 0 };
    assert.equal(successRate({ statuses: none }), undefined);
    assert.equal(successRate({ statuses: { ...none, succeeded: 3, expired: 1 } }), 0.75);
  });
});
