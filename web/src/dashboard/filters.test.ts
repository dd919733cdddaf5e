import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listPath, readFilters } from './filters.ts';

describe('the filters of the payments', () => {
  it('take from an address what they know, and nothing else', () => {
    const search = { status: 'succeeded', reference: 'ORDER-42', token: '<b>', from: '2026-02-30x', other: '1' };
    assert.deepEqual(readFilters(search), { status: 'succeeded', reference: 'ORDER-42' });
    assert.deepEqual(readFilters({ status: ['succeeded'], merchant: 7, until: '2026-13-01' }), {});
  });

  it('are sent as the API names them', () => {
    const path = listPath({ status: 'processing', reference: 'ORDER 42', merchant: 'mrch_1', token: 'USDC' }, 'abc');
    const query = new URL(path, 'http://localhost').searchParams;
    assert.deepEqual(Object.fromEntries(query), {
      limit: '100',
      status: 'processing',
      referenceId: 'ORDER 42',
      merchantId: 'mrch_1',
      token_symbol: 'USDC',
      cursor: 'abc',
    });
  });

  it('include the whole last day, and leave out a reference that is too short', () => {
    const query = new URL(listPath({ from: '2026-01-31', until: '2026-01-31', reference: 'OR' }, undefined), 'http://x')
      .searchParams;
    assert.equal(query.has('referenceId'), false);
    const hours = (Date.parse(query.get('endTs') ?? '') - Date.parse(query.get('startTs') ?? '')) / 3_600_000;
    assert.equal(hours, 24);
  });
});
