import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytesText, countText, spanText, worstOf } from './diagnosis.ts';

const GIB = 1024 ** 3;
const HOUR_MS = 3_600_000;

describe('a diagnosis', () => {
  it('is as bad as its worst finding', () => {
    assert.equal(worstOf([]), 'well');
    assert.equal(worstOf(['warning', 'unknown', 'remark']), 'warning');
    assert.equal(worstOf(['remark', 'fault', 'unknown']), 'fault');
  });

  const sizes: readonly (readonly [bytes: number, text: string])[] = [
    [0, '0 bytes'],
    [1_023, '1023 bytes'],
    [1_024, '1 KiB'],
    [1_536, '1.5 KiB'],
    [4.25 * GIB, '4.3 GiB'],
    [99.9 * GIB, '99.9 GiB'],
    [100.4 * GIB, '100 GiB'],
    [1_024 * GIB, '1 TiB'],
    [2_048 * 1_024 * GIB, '2048 TiB'],
  ];
  const spans: readonly (readonly [ms: number, text: string])[] = [
    [999, '999 ms'],
    [1_000, '1 s'],
    [119_000, '119 s'],
    [120_000, '2 min'],
    [2 * HOUR_MS - 60_000, '119 min'],
    [2 * HOUR_MS, '2 h'],
    [47 * HOUR_MS, '47 h'],
    [48 * HOUR_MS, '2 days'],
    [12.9 * 24 * HOUR_MS, '12 days'],
  ];
  it('writes sizes, spans and counts as people do', () => {
    for (const [bytes, text] of sizes) assert.equal(bytesText(bytes), text);
    for (const [ms, text] of spans) assert.equal(spanText(ms), text);
    const counts = [0, 1, 2, 1_000].map((count) => countText(count, 'node'));
    assert.deepEqual(counts, ['0 nodes', '1 node', '2 nodes', '1,000 nodes']);
  });
});
