import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  firstIdAt,
  ID_PREFIXES,
  idBytes,
  idFromBytes,
  isId,
  MAX_REFUNDS,
  markedId,
  newId,
  paymentIdOf,
  payoutIdOf,
  refundIdOf,
  refundIdsOf,
  refundNumberOf,
  subjectFromBytes,
  timeOfId,
} from './ids.ts';

const prefix = fc.constantFrom(...ID_PREFIXES);
const timeMs = fc.nat({ max: 2 ** 48 - 1 });
const random10 = fc.uint8Array({ minLength: 10, maxLength: 10 });
const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const anyText = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));

describe('newId', () => {
  for (const [nowMs, byte, expected] of [
    [0, 0x00, 'pay_00000000000000000000000000'],
    [2 ** 48 - 1, 0xff, 'pay_7ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
    // The time of the example in the ULID specification, whose first ten characters are the same.
    [1469918176385, 0x00, 'pay_01ARYZ6S410000000000000000'],
  ] as const) {
    it(`writes ${expected}`, () => assert.equal(newId('pay_', nowMs, new Uint8Array(10).fill(byte)), expected));
  }

  it('makes ids that carry the time and the random bytes', () => {
    fc.assert(
      fc.property(prefix, timeMs, random10, (prefix, nowMs, random) => {
        const id = newId(prefix, nowMs, random);
        assert.ok(isId(prefix, id));
        const bytes = Buffer.from(idBytes(id));
        assert.equal(bytes.readUIntBE(0, 6), nowMs);
        assert.deepEqual(bytes.subarray(6), Buffer.from(random));
      }),
    );
  });

  it('makes ids that sort by time', () => {
    fc.assert(
      fc.property(prefix, timeMs, timeMs, random10, random10, (prefix, one, other, random, otherRandom) => {
        fc.pre(one !== other);
        assert.equal(newId(prefix, one, random) < newId(prefix, other, otherRandom), one < other);
      }),
    );
  });

  it('refuses a time or a number of random bytes that does not fit', () => {
    for (const nowMs of [-1, 0.5, Number.NaN, 2 ** 48]) {
      assert.throws(() => newId('pay_', nowMs, new Uint8Array(10)), RangeError);
    }
    for (const length of [0, 9, 11, 16]) assert.throws(() => newId('pay_', 0, new Uint8Array(length)), RangeError);
  });
});

describe('firstIdAt', () => {
  it('parts the ids made before a millisecond from all others', () => {
    const nearby = timeMs.chain((at) =>
      fc.tuple(fc.constant(at), fc.oneof(timeMs, fc.constantFrom(at - 1, at, at + 1))),
    );
    fc.assert(
      fc.property(nearby, random10, ([bound, madeAt], random) => {
        fc.pre(madeAt >= 0 && madeAt < 2 ** 48);
        assert.equal(newId('pay_', madeAt, random) < firstIdAt('pay_', bound), madeAt < bound);
      }),
    );
  });

  it('takes times before 1970 for the beginning', () => {
    assert.equal(firstIdAt('pay_', -1), 'pay_00000000000000000000000000');
    assert.equal(firstIdAt('pay_', 1469918176385), 'pay_01ARYZ6S410000000000000000');
  });
});

describe('idBytes and idFromBytes', () => {
  it('undo each other', () => {
    fc.assert(
      fc.property(prefix, bytes16, (prefix, bytes) => {
        const id = idFromBytes(prefix, bytes);
        assert.deepEqual(idBytes(id), bytes);
        assert.equal(idFromBytes(prefix, idBytes(id)), id);
      }),
    );
  });

  it('write the bytes as one number, in base32', () => {
    fc.assert(
      fc.property(bytes16, (bytes) => {
        const number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
        const crockford = number
          .toString(32)
          .padStart(26, '0')
          .replace(/[a-v]/g, (digit) => 'ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Number.parseInt(digit, 32) - 10));
        assert.equal(idFromBytes('key_', bytes), `key_${crockford}`);
      }),
    );
  });

  it('keep the order of the bytes', () => {
    fc.assert(
      fc.property(bytes16, bytes16, (one, other) => {
        const order = Buffer.compare(one, other);
        const [id, otherId] = [idFromBytes('app_', one), idFromBytes('app_', other)];
        assert.equal(id < otherId ? -1 : id > otherId ? 1 : 0, order);
      }),
    );
  });

  it('refuse invalid ids and other lengths than 16 bytes', () => {
    for (const text of ['', 'pay_', '01ARYZ6S410000000000000000', 'xyz_01ARYZ6S410000000000000000']) {
      assert.throws(() => idBytes(text), TypeError);
    }
    assert.throws(() => idFromBytes('pay_', new Uint8Array(15)), RangeError);
    assert.throws(() => idFromBytes('pay_', new Uint8Array(17)), RangeError);
  });
});

describe('isId', () => {
  const rest = '01ARYZ6S41TSV4RRFFQ69G5FAV';

  it('takes every prefix with itself only', () => {
    for (const one of ID_PREFIXES) {
      for (const other of ID_PREFIXES) assert.equal(isId(one, other + rest), one === other);
    }
  });

  for (const text of [
    '',
    'pay_',
    rest,
    `PAY_${rest}`,
    `pay-${rest}`,
    `pay_${rest.toLowerCase()}`,
    `pay_${rest.slice(1)}`,
    `pay_${rest}0`,
    `pay_8${rest.slice(1)}`,
    `pay_${rest.slice(0, -1)}I`,
    `pay_${rest.slice(0, -1)}L`,
    `pay_${rest.slice(0, -1)}O`,
    `pay_${rest.slice(0, -1)}U`,
    `pay_${rest.slice(0, -1)}\n`,
    ` pay_${rest.slice(1)}`,
    `pay_${rest}\n`,
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(isId('pay_', text), false));
  }

  it('answers for any text', () => {
    fc.assert(fc.property(prefix, anyText, (prefix, text) => !isId(prefix, prefix + text)));
  });
});

describe('ids of transfers out of the intermediate account', () => {
  /** Times of payments, until the year 2527. */
  const payment = fc.tuple(fc.nat({ max: 2 ** 44 - 1 }), random10).map(([ms, random]) => newId('pay_', ms, random));
  const number = fc.integer({ min: 1, max: MAX_REFUNDS });

  it('give their payment back, and are the same each time', () => {
    fc.assert(
      fc.property(payment, number, (id, refund) => {
        for (const [prefix, make] of [
          ['pout_', () => payoutIdOf(id)],
          ['rfnd_', () => refundIdOf(id, refund)],
        ] as const) {
          assert.ok(isId(prefix, make()));
          assert.equal(paymentIdOf(make()), id);
          assert.equal(make(), make());
        }
        assert.equal(refundNumberOf(refundIdOf(id, refund)), refund);
      }),
    );
  });

  it('have the time of their payment', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 44 - 1 }), random10, number, (madeAtMs, random, refund) => {
        const id = newId('pay_', madeAtMs, random);
        assert.deepEqual([id, payoutIdOf(id), refundIdOf(id, refund)].map(timeOfId), [madeAtMs, madeAtMs, madeAtMs]);
      }),
    );
  });

  it('differ on chain from those of payments and of each other, and are read back from it', () => {
    fc.assert(
      fc.property(payment, bytes16, (id, bytes) => {
        const refunds = Array.from({ length: MAX_REFUNDS }, (_, index) => refundIdOf(id, index + 1));
        const ids = [id, payoutIdOf(id), markedId('stry_', bytes), markedId('flot_', bytes), ...refunds];
        assert.deepEqual(
          ids.map((each) => (idBytes(each)[0] ?? 0) >> 4),
          [0, 1, 3, 4, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        );
        assert.deepEqual(
          ids.map((each) => subjectFromBytes(idBytes(each))),
          ids,
        );
      }),
    );
  });

  it('of all refunds are those of the numbers one to twelve', () => {
    const payment = newId('pay_', 1, new Uint8Array(10).fill(9));
    const numbers = Array.from({ length: MAX_REFUNDS }, (_, index) => index + 1);
    assert.deepEqual(
      refundIdsOf(payment),
      numbers.map((number) => refundIdOf(payment, number)),
    );
    assert.deepEqual(refundIdsOf(payment).map(refundNumberOf), numbers);
  });

  it('have no number outside of one to twelve', () => {
    const id = newId('pay_', 1, new Uint8Array(10));
    for (const wrong of [0, 13, -1, 1.5]) assert.throws(() => refundIdOf(id, wrong), RangeError);
  });
});
