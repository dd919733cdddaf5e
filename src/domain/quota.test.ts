import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exceededQuota, type Quota } from './quota.ts';

const QUOTA: Quota = { ofPartner: 3, ofMerchant: 2, ofMerchants: 5 };
const A = ['a'];
const B = ['b'];

describe('a quota', () => {
  it('is that of one merchant, or of the partner', () => {
    const rows: readonly [wanted: readonly string[] | null, present: (readonly string[] | null)[], limit?: number][] = [
      [null, [null, ['a', 'b'], A, A]],
      [null, [null, ['a', 'b'], null], 3],
      [['a', 'b'], [null, null, null], 3],
      [A, [null, null, null, A]],
      [A, [A, A], 2],
      [B, [A, A, null, null, null]],
      [B, [A, A, ['c'], ['c'], ['d']], 5],
    ];
    for (const [wanted, present, limit] of rows) assert.equal(exceededQuota(QUOTA, wanted, present), limit);
  });
});
