import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countPath, exportPath, isShortSearch, listPath, readFilters } from './filters.ts';

const queryOf = (path: string) => Object.fromEntries(new URL(path, 'http://localhost').searchParams);

describe('the filters of the payments', () => {
  it('take from an address what they know, and nothing else', () => {
    const search = {
      status: 'succeeded',
      search: 'ORDER-42',
      token: '<b>',
      from: '2026-02-30x',
      other: '1',
      sort: 'x',
    };
    assert.deepEqual(readFilters(search), { status: 'succeeded', search: 'ORDER-42' });
    assert.deepEqual(readFilters({ status: ['succeeded'], merchant: 7, until: '2026-13-01', network: 'base' }), {});
    assert.deepEqual(readFilters({ sort: 'toString', search: 'a\u0000b' }), {});
  });

  it('are sent as the API names them', () => {
    const filters = { search: ' ORDER 42 ', merchant: 'mrch_1', token: 'USDC', network: 'eip155:1', sort: 'largest' };
    assert.deepEqual(queryOf(listPath({ ...filters, status: 'processing' }, 'abc')), {
      limit: '50',
      stats: 'none',
      status: 'processing',
      search: 'ORDER 42',
      merchantId: 'mrch_1',
      token_symbol: 'USDC',
      network: 'eip155:1',
      sortBy: 'amount',
      sortDir: 'desc',
      cursor: 'abc',
    });
  });

  it('count all matches, whatever their order', () => {
    const query = { limit: '1', stats: 'totals', status: 'failed' };
    assert.deepEqual(queryOf(countPath({ status: 'failed', sort: 'largest' })), query);
  });

  it('include the whole last day, and leave out a search that is too short', () => {
    const query = queryOf(listPath({ from: '2026-01-31', until: '2026-01-31', search: 'OR' }, undefined));
    assert.equal('search' in query, false);
    for (const search of ['O', ' OR ']) assert.ok(isShortSearch({ search }), search);
    for (const search of [undefined, '', ' ', 'ORD'])
      assert.ok(!isShortSearch({ ...(search !== undefined && { search }) }));
    const hours = (Date.parse(query.endTs ?? '') - Date.parse(query.startTs ?? '')) / 3_600_000;
    assert.equal(hours, 24);
  });

  it('choose the payments of an export; its bookkeeping has those of every status, because of late money', () => {
    const filters = { status: 'failed', token: 'USDC', sort: 'largest' };
    const choice = { content: 'payments', format: 'jsonl' } as const;
    assert.deepEqual(queryOf(exportPath(filters, choice)), { ...choice, status: 'failed', token_symbol: 'USDC' });
    const books = { content: 'bookkeeping', format: 'csv' } as const;
    assert.deepEqual(queryOf(exportPath(filters, books)), { ...books, token_symbol: 'USDC' });
  });
});
