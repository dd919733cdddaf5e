import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTimestamp } from './timestamp.ts';

const msOf = (text: string) => {
  const parsed = parseTimestamp(text);
  assert.ok(parsed.ok, text);
  return parsed.value;
};

describe('parseTimestamp', () => {
  for (const [text, iso] of [
    ['2026-02-18T09:30:00Z', '2026-02-18T09:30:00.000Z'],
    ['2026-02-18T09:30Z', '2026-02-18T09:30:00.000Z'],
    ['2026-02-18t09:30:00z', '2026-02-18T09:30:00.000Z'],
    ['2026-02-18T09:30:00+02:00', '2026-02-18T07:30:00.000Z'],
    ['2026-02-18T09:30:00 02:00', '2026-02-18T07:30:00.000Z'],
    ['2026-02-18T09:30-05:30', '2026-02-18T15:00:00.000Z'],
    ['2026-02-18T09:30:00-00:00', '2026-02-18T09:30:00.000Z'],
    ['2026-02-18T09:30:00.1Z', '2026-02-18T09:30:00.100Z'],
    ['2026-02-18T09:30:00.123000000Z', '2026-02-18T09:30:00.123Z'],
    ['2026-02-18T09:30:00.123000001Z', '2026-02-18T09:30:00.124Z'],
    ['2026-02-18T23:59:59.9999Z', '2026-02-19T00:00:00.000Z'],
    [`2026-02-18T09:30:00.${'0'.repeat(43)}Z`, '2026-02-18T09:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2017-01-01T00:59:60+01:00', '2017-01-01T00:00:00.000Z'],
    ['0026-02-18T09:30:00Z', '0026-02-18T09:30:00.000Z'],
    ['0000-01-01T00:00:00+00:01', '-000001-12-31T23:59:00.000Z'],
    ['9999-12-31T23:59:59-23:59', '+010000-01-01T23:58:59.000Z'],
  ] as const) {
    it(`reads ${text}`, () => assert.equal(new Date(msOf(text)).toISOString(), iso));
  }

  for (const text of [
    '',
    '2026-02-18',
    '2026-02-18T09:30:00',
    '2026-02-18 09:30:00Z',
    '2026-02-18T09:30:00+0200',
    '2026-02-18T09:30:00+02',
    '2026-02-18T09Z',
    '2026-2-18T09:30:00Z',
    '26-02-18T09:30:00Z',
    '+002026-02-18T09:30:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    ...['02-30', '04-31', '06-31', '09-31', '11-31'].map((day) => `2024-${day}T00:00:00Z`),
    ...['01-32', '03-32', '05-32', '07-32', '08-32', '10-32', '12-32'].map((day) => `2024-${day}T00:00:00Z`),
    `2026-02-18T09:30:00.${'0'.repeat(44)}Z`,
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-02-18T24:00:00Z',
    '2026-02-18T09:60:00Z',
    '2026-02-18T09:30:60Z',
    '2026-02-18T23:59:60+01:00',
    '2026-02-18T09:30:61Z',
    '2026-02-18T09:30:00+24:00',
    '2026-02-18T09:30:00+01:60',
    '2026-02-18T09:30:00.Z',
    '2026-02-18T09:30.5Z',
    '2026-02-18T09:30:00Z\n',
    ' 2026-02-18T09:30:00Z',
    '2026-02-18T09:30:00+02:00Z',
    `2026-02-18T09:30:00.${'0'.repeat(100)}Z`,
    '1771372800',
    '２０２６-02-18T09:30:00Z',
    'now',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const parsed = parseTimestamp(text);
      assert.ok(!parsed.ok);
      assert.match(parsed.problem, /^must /);
    });
  }

  it('agrees with Date on everything Date writes, at any offset', () => {
    const range = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(range), fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
        assert.equal(msOf(date.toISOString()), date.getTime());
        const local = new Date(date.getTime() + offset * 60_000).toISOString();
        fc.pre(/^\d{4}-/.test(local));
        const two = (count: number) => String(count).padStart(2, '0');
        const text = `${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
        assert.equal(msOf(`${local.slice(0, -1)}${offset < 0 ? '-' : '+'}${text}`), date.getTime());
      }),
    );
  });

  it('parts whole milliseconds as the exact time does', () => {
    const base = Date.parse('2026-02-18T09:30:00Z');
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000_000 - 1 }), fc.nat({ max: 1_100 }), (nanos, ms) => {
        const bound = msOf(`2026-02-18T09:30:00.${String(nanos).padStart(9, '0')}Z`);
        assert.equal(base + ms >= bound, ms * 1_000_000 >= nanos);
      }),
    );
  });
});
