import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../errors.ts';
import { addressGroup, createRateLimit } from './rate-limit.ts';

describe('an address is counted', () => {
  const groups: [group: string, ...addresses: string[]][] = [
    ['203.0.113.7', '203.0.113.7', '::ffff:203.0.113.7', '::FFFF:203.0.113.7'],
    ['203.0.113.8', '203.0.113.8'],
    ['2001:db8:1:2::/64', '2001:db8:1:2::', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3::'],
    ['2001:db8:1:3::/64', '2001:db8:1:3::1'],
    ['2001:db8:0:0::/64', '2001:db8::1', '2001:db8:0:0:1::', '2001:db8::203.0.113.7'],
    ['0:0:0:0::/64', '::', '::1'],
    ['fe80:0:0:0::/64', 'fe80::1%eth0', 'fe80::2%eth1'],
  ];
  for (const [group, ...addresses] of groups) {
    for (const address of addresses) {
      it(`as ${group} when it is ${address}`, () => assert.equal(addressGroup(address), group));
    }
  }
  it('together with all others that are unknown, when its connection was reset', () => {
    assert.equal(addressGroup(undefined), 'reset');
  });
});

describe('a rate limit', () => {
  function limited(perSecond: number) {
    let nowMs = 0;
    let refusals = 0;
    const headers: Record<string, unknown> = {};
    const reply = { header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }) };
    const onRefusal = () => {
      refusals += 1;
    };
    const limit = createRateLimit({ nowMs: () => nowMs }, { name: 'test', perSecond, onRefusal });
    return {
      headers,
      refusals: () => refusals,
      pass: (ms: number) => {
        nowMs += ms;
      },
      take(caller = 'someone'): boolean {
        try {
          limit.take(reply as unknown as FastifyReply, caller);
          return true;
        } catch (error) {
          assert.ok(error instanceof ApiError);
          assert.deepEqual([error.code, error.retryAfterS], ['rate_limited', 1]);
          return false;
        }
      },
    };
  }

  it('lets a second’s worth through at once, and then as many as time brings', () => {
    const { take, pass, headers, refusals } = limited(10);
    for (let count = 9; count >= 0; count -= 1) {
      assert.ok(take());
      assert.equal(headers.RateLimit, count > 5 ? undefined : `"test";r=${count};t=1`);
      assert.equal(headers['RateLimit-Policy'], count > 5 ? undefined : '"test";q=10;w=1');
    }
    assert.ok(!take());
    assert.equal(refusals(), 1);
    pass(100);
    assert.ok(take());
    assert.ok(!take());
    assert.ok(take('someone else'));
  });

  it('never lets more through than the limit and the time that passed', () => {
    const step = fc.record({ ms: fc.integer({ min: -50, max: 3_000 }), requests: fc.integer({ min: 0, max: 40 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 20 }), (perSecond, steps) => {
        const { take, pass } = limited(perSecond);
        let [through, elapsedMs] = [0, 0];
        for (const { ms, requests } of steps) {
          pass(ms);
          elapsedMs += Math.max(0, ms);
          for (let count = 0; count < requests; count += 1) if (take()) through += 1;
        }
        assert.ok(through <= perSecond + (elapsedMs / 1000) * perSecond + 1e-6);
      }),
    );
  });
});
