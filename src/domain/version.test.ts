import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkVersionForm, DEFAULT_PIN, isPinnable, KNOWN_VERSIONS, resolveVersion } from './version.ts';

describe('checkVersionForm', () => {
  for (const [payVersion, wcpVersion, requested] of [
    [undefined, undefined, undefined],
    ['2026-02-18', undefined, '2026-02-18'],
    [undefined, '2026-02-19.preview', '2026-02-19.preview'],
    ['2026-02-18', '2026-02-18', '2026-02-18'],
    ['1999-12-31', undefined, '1999-12-31'],
    ['9999-12-31.preview', undefined, '9999-12-31.preview'],
    ['2024-02-29', undefined, '2024-02-29'],
    ['2000-02-29', undefined, '2000-02-29'],
    ['2026-04-30', undefined, '2026-04-30'],
    ['0000-01-01', undefined, '0000-01-01'],
  ] as const) {
    it(`takes Pay-Version ${payVersion}, WCP-Version ${wcpVersion}`, () =>
      assert.deepEqual(checkVersionForm({ payVersion, wcpVersion }), { ok: true, requested }));
  }

  for (const text of [
    '',
    'latest',
    '2026-02-18.',
    '2026-02-18.Preview',
    '2026-02-18.beta',
    '2026-02-18 ',
    '2026-02-18\n',
    '2026-02-18, 2026-02-18',
    '2026-2-18',
    '20260218',
    '2026/02/18',
    '+2026-02-18',
    '٢٠٢٦-02-18',
    '2026-02-30',
    '2026-02-29',
    '2100-02-29',
    '1900-02-29.preview',
    '2026-04-31',
    '2024-02-30',
    '2026-12-32',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
  ]) {
    it(`refuses ${JSON.stringify(text)} in either header, and names it`, () => {
      assert.match(invalidMessage({ payVersion: text }), /^Pay-Version must be a date.*Known versions: 2026-02-18, /);
      assert.match(invalidMessage({ wcpVersion: text }), /^WCP-Version must be a date/);
      assert.match(invalidMessage({ payVersion: '2026-02-18', wcpVersion: text }), /^WCP-Version must be a date/);
      assert.match(invalidMessage({ payVersion: text, wcpVersion: text }), /^Pay-Version must be a date/);
    });
  }

  it('refuses two headers that differ', () => {
    const headers = { payVersion: '2026-02-18', wcpVersion: '2026-02-19.preview' };
    assert.match(invalidMessage(headers), /^Pay-Version and WCP-Version name different versions.*Known versions: /);
    assert.match(invalidMessage({ payVersion: '2026-02-18', wcpVersion: '2026-02-18.preview' }), /different/);
  });

  it('knows the days of every year', () => {
    const parts = { year: fc.integer({ min: 100, max: 9999 }), month: fc.nat({ max: 13 }), day: fc.nat({ max: 32 }) };
    fc.assert(
      fc.property(fc.record(parts), ({ year, month, day }) => {
        const date = new Date(Date.UTC(year, month - 1, day));
        const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        const payVersion = [String(year).padStart(4, '0'), ...[month, day].map((n) => String(n).padStart(2, '0'))];
        assert.equal(checkVersionForm({ payVersion: payVersion.join('-') }).ok, exists);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('resolveVersion', () => {
  const pin = '2026-02-18';

  for (const [requested, expected] of [
    [undefined, '2026-02-18'],
    ['2026-02-18', '2026-02-18'],
    ['2026-02-19.preview', '2026-02-19.preview'],
  ] as const) {
    it(`answers ${requested} with ${expected}`, () =>
      assert.deepEqual(resolveVersion({ requested, pin }), { ok: true, version: expected }));
  }

  for (const [requested, code] of [
    ['2026-02-17', 'api_version_downgrade'],
    ['2026-02-17.preview', 'api_version_downgrade'],
    ['2026-02-04', 'api_version_downgrade'],
    ['1999-12-31', 'api_version_downgrade'],
    ['2026-02-18.preview', 'unknown_api_version'],
    ['2026-02-19', 'unknown_api_version'],
    ['2026-02-20.preview', 'unknown_api_version'],
    ['2026-06-01.preview', 'unknown_api_version'],
    ['9999-12-31', 'unknown_api_version'],
  ] as const) {
    it(`refuses ${requested} with ${code}, and names the known versions`, () => {
      const resolution = resolveVersion({ requested, pin });
      assert.ok(!resolution.ok);
      assert.equal(resolution.code, code);
      assert.ok(resolution.message.startsWith(`Pay-Version ${requested} is `));
      for (const known of KNOWN_VERSIONS) assert.ok(resolution.message.includes(known));
    });
  }
});

it('a pin is a known version and no preview', () => {
  assert.equal(isPinnable(DEFAULT_PIN), true);
  assert.deepEqual(
    KNOWN_VERSIONS.filter((version) => isPinnable(version)),
    ['2026-02-18'],
  );
  for (const version of ['', '2026-02-19', '2026-02-19.preview', '2026-02-17', 'toString']) {
    assert.equal(isPinnable(version), false);
  }
});

function invalidMessage(headers: Parameters<typeof checkVersionForm>[0]): string {
  const form = checkVersionForm(headers);
  assert.ok(!form.ok);
  assert.equal(form.code, 'invalid_api_version');
  return form.message;
}
