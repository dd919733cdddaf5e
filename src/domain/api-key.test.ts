import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import {
  API_KEY_PATTERN,
  API_KEY_RANDOM_BYTES,
  formatApiKey,
  hashApiKey,
  keyStatusAt,
  parseApiKey,
  redactApiKeys,
} from './api-key.ts';
import { MODES } from './mode.ts';

describe('a text with a right checksum', () => {
  it('is no key if its form is another one: anybody can compute the checksum', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const checked = (body: string) => {
      let [sum, text] = [crc32(body), ''];
      while (text.length < 6) [sum, text] = [Math.floor(sum / 62), digits.charAt(sum % 62) + text];
      return body + text;
    };
    const secret = 'x'.repeat(33);
    assert.deepEqual(parseApiKey(checked(`till_live_${secret}`)), { mode: 'live' });
    for (const body of [`till_other_${secret}`, `till_live_${secret}x`, `x_live_${secret}`, secret, '']) {
      assert.equal(parseApiKey(checked(body)), undefined, body);
    }
  });
});

describe('the status of a key', () => {
  it('is revoked before anything else, and expired from its end on', () => {
    const [before, end, after] = [1, 2, 3].map((ms) => new Date(ms)) as [Date, Date, Date];
    const expiring = { expiresAt: end, revokedAt: null };
    assert.deepEqual(
      [before, end, after].map((now) => keyStatusAt(now, expiring)),
      ['active', 'expired', 'expired'],
    );
    assert.equal(keyStatusAt(after, { expiresAt: null, revokedAt: null }), 'active');
    for (const now of [before, after]) assert.equal(keyStatusAt(now, { expiresAt: end, revokedAt: before }), 'revoked');
  });
});

const mode = fc.constantFrom(...MODES);
const anyText = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));
const random = fc.uint8Array({ minLength: API_KEY_RANDOM_BYTES, maxLength: API_KEY_RANDOM_BYTES });
const key = fc.tuple(mode, random).map(([mode, random]) => formatApiKey(mode, random));
const SAMPLE = formatApiKey(
  'live',
  new Uint8Array(API_KEY_RANDOM_BYTES).map((_, index) => index * 11),
);

describe('formatApiKey', () => {
  for (const [mode, byte, expected] of [
    ['test', 0x00, 'till_test_00000000000000000000000000000000016KtJO'],
    ['live', 0xff, 'till_live_2lFA6LboL2xx0ldQH2K1TdSrwuqMMiME32RxYDY'],
  ] as const) {
    it(`keeps writing ${expected}, as stored hashes depend on it`, () => {
      assert.equal(formatApiKey(mode, new Uint8Array(API_KEY_RANDOM_BYTES).fill(byte)), expected);
    });
  }

  it('makes keys of one length that parse to their mode', () => {
    fc.assert(
      fc.property(mode, random, (mode, random) => {
        const key = formatApiKey(mode, random);
        assert.match(key, /^till_(test|live)_[0-9A-Za-z]{39}$/);
        assert.deepEqual(parseApiKey(key), { mode });
      }),
    );
  });

  it('makes different keys of different bytes', () => {
    fc.assert(
      fc.property(mode, random, random, (mode, one, other) => {
        assert.equal(formatApiKey(mode, one) === formatApiKey(mode, other), Buffer.compare(one, other) === 0);
      }),
    );
  });

  it('refuses another number of random bytes', () => {
    assert.throws(() => formatApiKey('test', new Uint8Array(16)), RangeError);
    assert.throws(() => formatApiKey('test', new Uint8Array(25)), RangeError);
  });
});

describe('parseApiKey', () => {
  it('refuses a key with any one character changed', () => {
    fc.assert(
      fc.property(key, fc.nat(), fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }), (key, at, other) => {
        const index = at % key.length;
        fc.pre(key.charAt(index) !== other);
        assert.equal(parseApiKey(key.slice(0, index) + other + key.slice(index + 1)), undefined);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses a key with two neighbours swapped', () => {
    fc.assert(
      fc.property(key, fc.nat(), (key, at) => {
        const index = at % (key.length - 1);
        const swapped = key.slice(0, index) + key.charAt(index + 1) + key.charAt(index) + key.slice(index + 2);
        fc.pre(swapped !== key);
        assert.equal(parseApiKey(swapped), undefined);
      }),
    );
  });

  it('refuses the key of one mode written as the other', () => {
    assert.equal(parseApiKey(SAMPLE.replace('live', 'test')), undefined);
  });

  for (const text of ['', 'till_live_', `${SAMPLE}0`, SAMPLE.slice(0, -1), ` ${SAMPLE}`, `${SAMPLE}\n`]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseApiKey(text), undefined));
  }

  it('answers for any text', () => {
    fc.assert(fc.property(anyText, (text) => parseApiKey(text) === undefined));
  });
});

it('hashApiKey is SHA-256 of the whole key', () => {
  assert.equal(hashApiKey(SAMPLE), createHash('sha256').update(SAMPLE).digest('hex'));
});

describe('redactApiKeys', () => {
  it('leaves no secret and all the rest', () => {
    fc.assert(
      fc.property(key, key, fc.string(), fc.string(), (one, other, before, after) => {
        fc.pre(!before.includes('till_') && !after.includes('till_'));
        const redacted = redactApiKeys(`${before} ${one},"${other}" ${after}`);
        assert.equal(redacted, `${before} ${one.slice(0, 10)}***,"${other.slice(0, 10)}***" ${after}`);
        assert.equal(redactApiKeys(redacted), redacted);
      }),
    );
  });

  for (const [text, expected] of [
    ['', ''],
    ['database till_test_orders_17', 'database till_test_orders_17'],
    ['till_staging_0123456789012345678901234567890', 'till_staging_0123456789012345678901234567890'],
    [`Api-Key: ${SAMPLE}`, 'Api-Key: till_live_***'],
    [`?key=${SAMPLE}&x=1`, '?key=till_live_***&x=1'],
    [SAMPLE.slice(0, -7), 'till_live_***'],
    [`${SAMPLE}0`, 'till_live_***0'],
    [`x${SAMPLE}`, 'xtill_live_***'],
    [`${SAMPLE}${SAMPLE}`, 'till_live_***till_live_***'],
  ] satisfies [string, string][]) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(expected)}`, () =>
      assert.equal(redactApiKeys(text), expected));
  }

  it('finds every key by its pattern', () => {
    fc.assert(fc.property(key, (key) => assert.match(key, new RegExp(`^${API_KEY_PATTERN}$`))));
  });
});
