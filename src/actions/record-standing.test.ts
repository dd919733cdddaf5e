import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { standingAmong } from './record-standing.ts';

const at = (second: number) => new Date(second * 1_000);
const node = (id: string, second: number, records: Record<string, string> | null) => ({
  id,
  host: `host-${id}`,
  startedAt: at(second),
  records,
});

describe('the standing of records of networks', () => {
  const own = { id: 'a', host: 'host-a', records: { 'eip155:1': 'x', 'eip155:2': 'y' } };
  const ours = node('a', 1, own.records);
  const others = (...records: (Record<string, string> | null)[]) =>
    records.map((each, index) => node(`b${index}`, index + 2, each));

  it('is good alone, beside equal nodes, and beside nodes that do not say', () => {
    for (const nodes of [[], [ours], [ours, ...others({ ...own.records })], [ours, ...others(null)]]) {
      assert.equal(standingAmong(nodes, own), undefined);
    }
  });

  it('is that of the node that started last: changed, added and removed records count', () => {
    for (const [records, named] of [
      [{ 'eip155:1': 'x', 'eip155:2': 'z' }, 'eip155:2'],
      [{ 'eip155:1': 'x' }, 'eip155:2'],
      [{ ...own.records, 'eip155:3': 'n' }, 'eip155:3'],
      [{ a: '1', b: '1', c: '1', d: '1', e: '1', f: '1' }, 'a, b, c, d, e and 3 more'],
    ] as const) {
      assert.match(
        standingAmong([ours, ...others(records)], own) ?? '',
        new RegExp(`started last: ${named}\\. host-a`),
      );
    }
  });

  it('is good for the last one, whatever the others have', () => {
    assert.equal(standingAmong([node('b', 0, { 'eip155:1': 'q' }), ours], own), undefined);
    assert.equal(standingAmong([...others({ 'eip155:1': 'q' }, own.records), ours], own), undefined);
  });

  it('is decided by the id between nodes that started at the same moment', () => {
    const twin = { ...node('b', 1, { 'eip155:1': 'q' }) };
    assert.notEqual(standingAmong([twin, ours], own), undefined);
    assert.equal(standingAmong([twin, ours], { ...twin, records: { 'eip155:1': 'q' } }), undefined);
  });
});
