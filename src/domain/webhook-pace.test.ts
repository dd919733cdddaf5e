import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Applicant,
  claimsOf,
  freePlaces,
  MAX_WINDOW,
  newPace,
  noteFailure,
  noteSuccess,
  type PlaceLimits,
  roomOf,
  shareOut,
} from './webhook-pace.ts';

describe('the pace of an endpoint', () => {
  const failAt = (pace: ReturnType<typeof newPace>, atMs: number, retryAfterMs?: number) =>
    noteFailure(pace, { startedAtMs: atMs, nowMs: atMs + 10, retryAfterMs, jitter: 1 });

  it('rises with successes up to a bound', () => {
    const pace = newPace();
    for (let count = 0; count < 100; count += 1) noteSuccess(pace, 5);
    assert.equal(roomOf(pace, 0), MAX_WINDOW);
  });

  it('falls to single probes with growing pauses, and rises again from there', () => {
    const pace = newPace();
    let nowMs = 1_000;
    const pauses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      failAt(pace, nowMs);
      pauses.push(Math.max(0, pace.pausedUntilMs - nowMs - 10));
      assert.equal(roomOf(pace, nowMs + 10), pace.failures >= 3 ? 0 : pace.window);
      nowMs = Math.max(nowMs + 20, pace.pausedUntilMs);
    }
    assert.deepEqual(pauses.slice(0, 6), [0, 0, 1_000, 2_000, 4_000, 8_000]);
    assert.equal(pauses.at(-1), 60_000);
    assert.equal(roomOf(pace, nowMs), 1);
    noteSuccess(pace, 5);
    assert.equal(roomOf(pace, nowMs), 2);
  });

  it('claims ahead for quick endpoints, in few large rounds, and never for slow or failing ones', () => {
    const pace = newPace();
    const claims = (held: number) => claimsOf(pace, { held, nowMs: 0 });
    assert.deepEqual([claims(0), claims(16), claims(17), claims(32)], [32, 16, 0, 0]);
    for (let count = 0; count < 60; count += 1) noteSuccess(pace, 5_000);
    assert.deepEqual([claims(0), claims(31), claims(32), claims(40)], [32, 1, 0, 0]);
    failAt(pace, 0);
    assert.deepEqual([claims(0), claims(16)], [16, 0]);
  });

  it('claims ahead while the average answer takes less than half a second', () => {
    const isAhead = (...latenciesMs: readonly number[]) => {
      const pace = newPace();
      for (const latencyMs of latenciesMs) noteSuccess(pace, latencyMs);
      return claimsOf(pace, { held: 0, nowMs: 0 }) > pace.window;
    };
    // The newest answer has a tenth of the weight.
    assert.deepEqual([isAhead(4_999), isAhead(4_999, 0), isAhead(5_000)], [true, true, false]);
  });

  it('goes on as before after a success: without a pause, and with claims ahead', () => {
    const pace = newPace();
    failAt(pace, 0, 30_000);
    assert.equal(claimsOf(pace, { held: 0, nowMs: 20 }), 0);
    noteSuccess(pace, 5);
    assert.equal(claimsOf(pace, { held: 0, nowMs: 20 }), 4 * 5);
  });

  it('halves with each failure, to one at the least, and is one from the third on', () => {
    const pace = newPace();
    for (let count = 0; count < 24; count += 1) noteSuccess(pace, 5);
    const windows = [0, 20, 40].map((atMs) => {
      failAt(pace, atMs);
      return pace.window;
    });
    assert.deepEqual(windows, [16, 8, 1]);
    noteSuccess(pace, 5);
    for (const atMs of [60, 80]) failAt(pace, atMs);
    assert.equal(pace.window, 1);
  });

  it('pauses for a random part of the time, so that endpoints of one receiver are not probed together', () => {
    const pace = newPace();
    for (const nowMs of [0, 10, 20]) noteFailure(pace, { startedAtMs: nowMs, nowMs, jitter: 0.5 });
    assert.equal(pace.pausedUntilMs, 20 + 500);
  });

  it('counts failures of attempts that were in flight together once', () => {
    const pace = newPace();
    for (let count = 0; count < 30; count += 1) {
      noteFailure(pace, { startedAtMs: 5, nowMs: 100 + count, jitter: 1 });
    }
    assert.equal(pace.failures, 1);
    assert.equal(pace.pausedUntilMs, 0);
  });

  it('pauses as long as the receiver asks for, up to an hour', () => {
    const pace = newPace();
    failAt(pace, 500, 1);
    assert.equal(pace.pausedUntilMs, 511);
    failAt(pace, 1_000, 30_000);
    assert.equal(pace.pausedUntilMs, 31_010);
    failAt(pace, 31_010, 86_400_000);
    assert.equal(pace.pausedUntilMs, 31_020 + 3_600_000);
  });
});

describe('places', () => {
  const LIMITS: PlaceLimits = { ofPartner: 30, reserved: 3, withReserved: 50 };
  const NONE = new Map<string, number>();

  it('are shared within all bounds, and none is left while somebody has room', () => {
    const applicants = fc.array(
      fc.record({
        partner: fc.integer({ min: 0, max: 4 }),
        merchant: fc.integer({ min: 0, max: 4 }),
        room: fc.integer({ min: -3, max: 40 }),
      }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(
        applicants,
        fc.integer({ min: -2, max: 200 }),
        fc.integer({ min: 0, max: 60 }),
        (list, total, inUse) => {
          const all = list.map(
            ({ partner, merchant, room }, index): Applicant => ({
              id: `${index}`,
              partnerId: `${partner}`,
              holder: `${partner}/${merchant}`,
              room,
            }),
          );
          const byPartner = new Map([['0', inUse]]);
          const byHolder = new Map([['0/0', inUse]]);
          const shares = shareOut(all, { total, limits: LIMITS, byPartner, byHolder });
          let sum = 0;
          for (const { id, partnerId, holder, room } of all) {
            const share = shares.get(id) ?? 0;
            assert.ok(share >= 0 && share <= Math.max(0, room));
            byPartner.set(partnerId, (byPartner.get(partnerId) ?? 0) + share);
            byHolder.set(holder, (byHolder.get(holder) ?? 0) + share);
            sum += share;
          }
          assert.ok(sum <= Math.max(0, total));
          for (const count of byPartner.values()) assert.ok(count <= Math.max(inUse, LIMITS.withReserved));
          const isLeft = all.some(({ id, partnerId, holder, room }) => {
            const used = { byPartner: byPartner.get(partnerId) ?? 0, byHolder: byHolder.get(holder) ?? 0 };
            return (shares.get(id) ?? 0) < room && freePlaces(LIMITS, used) > 0 && sum < total;
          });
          assert.ok(!isLeft);
        },
      ),
    );
  });

  it('go first to partners, and to merchants, that have few in use', () => {
    const applicant = (id: string, partnerId: string, holder = partnerId): Applicant => ({
      id,
      partnerId,
      holder,
      room: 32,
    });
    const crowd = Array.from({ length: 20 }, (_, index) => applicant(`many-${index}`, 'many'));
    const byPartner = new Map([['many', 20]]);
    const used = { limits: LIMITS, byPartner, byHolder: byPartner };
    assert.equal(shareOut([...crowd, applicant('few', 'few')], { total: 8, ...used }).get('few'), 4);
    assert.equal(shareOut([...crowd, applicant('shop', 'many', 'shop')], { total: 8, ...used }).get('shop'), 4);
  });

  it('go first to those with one place less in use, in any order of the endpoints', () => {
    const busy = { id: 'busy', partnerId: 'a', holder: 'a', room: 4 };
    const idle = { id: 'idle', partnerId: 'b', holder: 'b', room: 4 };
    const ofSamePartner = { ...idle, partnerId: 'a' };
    const one = new Map([['a', 1]]);
    for (const [other, used] of [
      // The merchants in use say the opposite, and come second.
      [idle, { byPartner: one, byHolder: new Map([['b', 9]]) }],
      [ofSamePartner, { byPartner: one, byHolder: one }],
    ] as const)
      for (const applicants of [
        [busy, other],
        [other, busy],
      ])
        assert.deepEqual([...shareOut(applicants, { total: 4, limits: LIMITS, ...used })], [['idle', 4]]);
  });

  it('that are kept for a merchant are shared by its endpoints', () => {
    const all = ['one', 'two'].map((id) => ({ id, partnerId: 'partner', holder: 'shop', room: 2 }));
    const byPartner = new Map([['partner', LIMITS.ofPartner]]);
    const shares = shareOut(all, { total: 8, limits: LIMITS, byPartner, byHolder: NONE });
    assert.deepEqual(
      [...shares],
      [
        ['one', 2],
        ['two', 1],
      ],
    );
  });

  it('are kept for merchants of a partner whose others have taken all, up to a bound', () => {
    assert.equal(freePlaces(LIMITS, { byPartner: 30, byHolder: 30 }), 0);
    assert.equal(freePlaces(LIMITS, { byPartner: 30, byHolder: 0 }), 3);
    assert.equal(freePlaces(LIMITS, { byPartner: 49, byHolder: 0 }), 1);
    assert.equal(freePlaces(LIMITS, { byPartner: 50, byHolder: 0 }), 0);
    assert.equal(shareOut([], { total: 8, limits: LIMITS, byPartner: NONE, byHolder: NONE }).size, 0);
  });
});
