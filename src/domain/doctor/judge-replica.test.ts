import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReplicaFacts } from './facts.ts';
import { judgeReplica } from './judge-replica.ts';

const FOLLOWS: ReplicaFacts = {
  ...{ version: '18.1', role: 'till_read', standing: 'follows', lagMs: 40, behindBytes: 2_048, maxLagMs: 5_000 },
};
const REACHED = 'PostgreSQL 18.1, as till_read, at most 40 ms behind';
const NOT_REACHED = 'PostgreSQL 18.1, as till_read, 2 KiB behind';

describe('the facts about a read replica', () => {
  it('have the time of its lag, or the bytes if it did not reach the primary', () => {
    const values = [null, FOLLOWS, { ...FOLLOWS, standing: 'behind' as const, lagMs: null }].map(
      (replica) => judgeReplica(replica).facts[0]?.value,
    );
    assert.deepEqual(values, ['none: READ_DATABASE_URL is not set', REACHED, NOT_REACHED]);
  });
});
