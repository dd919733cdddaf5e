import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePlace, type ReplicaPlace } from './replica-place.ts';
import { createWalHistory } from './wal-history.ts';

const PLACE: ReplicaPlace = { isStandby: true, timeline: 2, position: '400', identity: '7/5' };

describe('the place of a replica', () => {
  const history = createWalHistory();
  for (const [atMs, position] of [
    [1_000, 100n],
    [1_500, 100n],
    [2_000, 300n],
    [2_500, 400n],
  ] as const) {
    history.take({ atMs, position, timeline: 2, identity: '7/5' });
  }
  const judged = (position: string | null, change: Partial<ReplicaPlace> = {}, needed = 0n) =>
    judgePlace({ ...PLACE, position, ...change }, { history, position: needed, maxLagMs: 1_000, nowMs: 3_000 });

  it('is behind by the time since the newest position of the primary that it has reached', () => {
    assert.deepEqual(judged('400'), { refusal: undefined, lagMs: 500 });
    assert.deepEqual(judged('399'), { refusal: undefined, lagMs: 1_000 });
  });

  it('is refused beyond the bound, and at a place from before the first sample by at least the time since then', () => {
    assert.deepEqual(judged('299'), { refusal: 'behind', lagMs: 1_500 });
    assert.deepEqual(judged('99'), { refusal: 'behind', lagMs: 2_000 });
  });

  it('is refused at a place from before the first sample, however young the samples are', () => {
    const young = createWalHistory();
    young.take({ atMs: 2_900, position: 400n, timeline: 2, identity: '7/5' });
    const measure = { history: young, position: 0n, maxLagMs: 1_000, nowMs: 3_000 };
    assert.deepEqual(judgePlace({ ...PLACE, position: '399' }, measure), { refusal: 'behind', lagMs: 100 });
    assert.deepEqual(judgePlace({ ...PLACE, position: '400' }, measure), { refusal: undefined, lagMs: 100 });
  });

  it('is refused before the position that the caller needs, however fresh it is', () => {
    assert.deepEqual(judged('400', {}, 401n), { refusal: 'behind', lagMs: 500 });
    assert.deepEqual(judged('401', {}, 401n), { refusal: undefined, lagMs: 500 });
  });

  it('is refused on a server that takes writes, has another database, or follows a former primary', () => {
    assert.equal(judged('400', { identity: '8/5' }).refusal, 'not_a_replica');
    assert.equal(judged('400', { isStandby: false }).refusal, 'not_a_replica');
    assert.equal(judged(null).refusal, 'not_a_replica');
    assert.equal(judged('400', { timeline: 1 }).refusal, 'other_timeline');
    assert.equal(judged('400', { timeline: null }).refusal, 'other_timeline');
    assert.equal(judged('400', { timeline: 3 }).refusal, undefined, 'the node has not noticed the failover yet');
  });

  it('is refused while nothing is known of the primary', () => {
    const measure = { history: createWalHistory(), position: 0n, maxLagMs: 1_000, nowMs: 3_000 };
    assert.deepEqual(judgePlace(PLACE, measure), { refusal: 'behind', lagMs: undefined });
  });
});
