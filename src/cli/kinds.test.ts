import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REGISTRY } from '../../test/registry.ts';
import { formatApiKey } from '../domain/api-key.ts';
import {
  duration,
  frameOrigin,
  future,
  httpsUrl,
  id,
  type Kind,
  oneOf,
  Problem,
  scope,
  text,
  version,
} from './kinds.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');

const good: readonly [string, Kind<unknown>, readonly [string, unknown][]][] = [
  [
    'text',
    text,
    [
      ['a', 'a'],
      ['Café 東京 🍣', 'Café 東京 🍣'],
      ['x'.repeat(256), 'x'.repeat(256)],
      ['🍣'.repeat(256), '🍣'.repeat(256)],
    ],
  ],
  [
    'id',
    id,
    [
      ['prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
      ['nope', 'nope'],
    ],
  ],
  [
    'one of',
    oneOf(['test', 'live']),
    [
      ['test', 'test'],
      ['live', 'live'],
    ],
  ],
  ['scope', scope, [['payments:read', 'payments:read']]],
  ['version', version, [['2026-02-18', '2026-02-18']]],
  [
    'duration',
    duration('90d'),
    [
      ['0s', 0],
      ['45s', 45_000],
      ['30m', 1_800_000],
      ['24h', 86_400_000],
      ['90d', 7_776_000_000],
    ],
  ],
  [
    'origin',
    frameOrigin,
    [
      ['https://shop.example', 'https://shop.example'],
      ['https://shop.example:8443', 'https://shop.example:8443'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://shop.localhost', 'http://shop.localhost'],
      ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
    ],
  ],
  ['https URL', httpsUrl, [['https://wallet.example/icon.png?v=2', 'https://wallet.example/icon.png?v=2']]],
  [
    'future',
    future,
    [
      ['90d', new Date(NOW_MS + 7_776_000_000)],
      ['1s', new Date(NOW_MS + 1_000)],
      ['2027-01-01T00:00:00Z', new Date('2027-01-01T00:00:00Z')],
      ['2027-01-01T00:00:00.5+05:30', new Date('2026-12-31T18:30:00.500Z')],
      ['2028-02-29T23:59:59-08:00', new Date('2028-03-01T07:59:59Z')],
    ],
  ],
];

const bad: readonly [string, Kind<unknown>, readonly string[]][] = [
  ['text', text, ['', ' ', 'a\nb', 'a\u0000', 'a\u009b', '\ud800', 'x'.repeat(257)]],
  ['id', id, ['', 'a b', 'é', 'a\u0000', 'x'.repeat(257), formatApiKey('test', new Uint8Array(24))]],
  ['one of', oneOf(['test', 'live']), ['', 'Test', 'prod']],
  ['scope', scope, ['', 'payments', 'toString']],
  ['version', version, ['', '2026-02-19.preview', '2026-02-20', 'latest']],
  [
    'duration',
    duration('90d'),
    ['', '0', '90', 'd', '1.5h', '-1h', '+1h', '1 h', '01h', '1H', '1w', '91d', '99999999s', '1h30m'],
  ],
  [
    'origin',
    frameOrigin,
    [
      '',
      'shop.example',
      'http://shop.example',
      'http://localhost.example',
      'https://shop.example/',
      'https://shop.example/pay',
      'https://Shop.example',
      'https://shop.example:443',
      'https://a@shop.example',
      'https://*.example',
      'https://a;b',
      'https://a,b',
      'ftp://shop.example',
      'null',
      'https://shop.example?',
      "https://'self'",
    ],
  ],
  [
    'https URL',
    httpsUrl,
    [
      '',
      'http://a.example',
      'https://',
      'https://a:b@c.example',
      'https://a b',
      `https://a.example/${'x'.repeat(2048)}`,
    ],
  ],
  [
    'future',
    future,
    [
      '',
      '0s',
      '4000d',
      '2026-11-15T12:00:00Z',
      '2020-01-01T00:00:00Z',
      '2027-01-01',
      '2027-01-01T00:00:00',
      '2027-01-01 00:00:00Z',
      '2027-02-30T00:00:00Z',
      '2027-02-29T00:00:00Z',
      '2027-13-01T00:00:00Z',
      '2027-00-01T00:00:00Z',
      '2027-01-01T24:00:00Z',
      '2027-01-01T00:60:00Z',
      '2027-01-01T00:00:60Z',
      '2027-01-01T00:00:00+0100',
      '2027-01-01T00:00:00+25:00',
      'tomorrow',
    ],
  ],
];

describe('kinds of values', () => {
  for (const [name, kind, cases] of good) {
    for (const [raw, value] of cases) {
      test(`${name}: takes ${label(raw)}`, () => assert.deepEqual(kind.parse(raw, NOW_MS, REGISTRY), value));
    }
  }
  for (const [name, kind, cases] of bad) {
    for (const raw of cases) {
      test(`${name}: refuses ${label(raw)}`, () => assert.ok(kind.parse(raw, NOW_MS, REGISTRY) instanceof Problem));
    }
  }
});

test('an origin with something behind it is answered with the origin meant', () => {
  const problem = frameOrigin.parse('https://Shop.example/pay', NOW_MS, REGISTRY);
  assert.deepEqual(problem, new Problem('must be an origin: https://shop.example'));
});

function label(raw: string): string {
  return JSON.stringify(raw.length > 60 ? `${raw.slice(0, 20)}… (${raw.length})` : raw);
}
