import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KeyRing } from './key-ring.ts';
import {
  areTimesPossible,
  compareRank,
  doResultsFit,
  isPast,
  type Option,
  openOption,
  readResults,
  resultsHash,
  sealOption,
  timesOf,
} from './option.ts';

const KEYS: KeyRing = [new Uint8Array(32).fill(7)];
const OTHER_KEYS: KeyRing = [new Uint8Array(32)];
const NONCE = new Uint8Array(12).fill(1);
const PAYMENT = 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
const OTHER_PAYMENT = 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z7';
const ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const OPTION: Option = {
  item: {
    network: 'eip155:8453',
    collector: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    method: 'eip3009-bytes',
    subject: PAYMENT,
    payer: ACCOUNT,
    recipient: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    feeAccount: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    amount: 10_000_000n,
    fee: 40_000n,
    deadlineS: 1_800_000_600,
  },
  account: `eip155:8453:${ACCOUNT.toLowerCase()}`,
  pricedFee: 4n,
  feeTerms: { percentage: '0.4', fixed: '0' },
  quote: null,
  expiresAtS: 1_800_000_480,
  steps: ['signature'],
};
const seal = (option = OPTION, nonce = NONCE) => sealOption(KEYS, option, nonce);

describe('an option id', () => {
  it('gives back the whole option', () => {
    const quote = { pair: 'ETH/USD', ratio: '3000/1', readings: [{ source: 'sandbox table' }] };
    for (const option of [
      OPTION,
      { ...OPTION, quote, expiresAtS: 1_800_000_060, steps: ['transaction', 'transaction', 'signature'] as const },
      { ...OPTION, item: { ...OPTION.item, amount: 2n ** 256n - 1n, fee: 0n }, pricedFee: 10n ** 77n },
    ]) {
      assert.deepEqual(openOption(KEYS, PAYMENT, seal(option)), option);
    }
  });

  it('is a text that needs no escaping anywhere, and a new one each time', () => {
    assert.match(seal(), /^[\w-]{100,1000}$/);
    assert.notEqual(seal(OPTION, new Uint8Array(12).fill(2)), seal());
  });

  it('is good for its own payment and its own gateway alone', () => {
    assert.equal(openOption(KEYS, OTHER_PAYMENT, seal()), undefined);
    assert.equal(openOption(OTHER_KEYS, PAYMENT, seal()), undefined);
  });

  it('says nothing about its terms, not even by its length', () => {
    const bytes = Buffer.from(seal(), 'base64url');
    const { item } = OPTION;
    for (const term of [item.network, item.asset, item.payer, item.recipient, '10000000', 'eip3009', PAYMENT]) {
      assert.ok(!bytes.includes(term) && !seal().includes(term), term);
    }
    const cheaper = { ...OPTION, item: { ...item, amount: 1n, fee: 0n }, pricedFee: 0n };
    assert.equal(seal(cheaper).length, seal().length);
  });

  it('is good for as long as the key that made it is on the ring', () => {
    const [old] = KEYS;
    const [renewed] = OTHER_KEYS;
    const both: KeyRing = [renewed, old];
    assert.deepEqual(openOption(both, PAYMENT, seal()), OPTION);
    assert.deepEqual(openOption(OTHER_KEYS, PAYMENT, sealOption(both, OPTION, NONCE)), OPTION);
    assert.equal(openOption(KEYS, PAYMENT, sealOption(both, OPTION, NONCE)), undefined);
  });

  it('cannot be altered, cut, lengthened or spelled otherwise', () => {
    const id = seal();
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.constantFrom(...'AZaz09-_'), (at, letter) => {
        const altered = id.slice(0, at) + letter + id.slice(at + 1);
        assert.equal(altered === id || openOption(KEYS, PAYMENT, altered) === undefined, true);
      }),
    );
    for (const other of [id.slice(0, -1), `${id}A`, `${id}=`, `${id} `, id.toLowerCase(), `+${id.slice(1)}`]) {
      assert.equal(openOption(KEYS, PAYMENT, other), undefined);
    }
  });

  it('may be any text a stranger thinks of', () => {
    fc.assert(fc.property(fc.string(), (text) => openOption(KEYS, PAYMENT, text) === undefined));
    for (const text of ['', 'opt_1', 'A'.repeat(64), 'A'.repeat(60_000), '☃', '../../etc']) {
      assert.equal(openOption(KEYS, PAYMENT, text), undefined);
    }
  });
});

describe('the times of an option', () => {
  const NOW_S = 1_800_000_000;
  const of = (input: Partial<Parameters<typeof timesOf>[0]> & { leftS?: number }) =>
    timesOf({
      nowMs: NOW_S * 1000,
      paymentExpiresAtS: NOW_S + (input.leftS ?? 300),
      method: 'eip3009-vrs',
      needsTransaction: false,
      isRateBound: false,
      ...input,
    });
  const native = { method: 'native', needsTransaction: true } as const;

  it('end an option at par with the payment or after ten minutes, and let its signature outlive it by 120 s', () => {
    assert.deepEqual(of({}), { expiresAtS: NOW_S + 300, deadlineS: NOW_S + 420 });
    assert.deepEqual(of({ leftS: 1 }), { expiresAtS: NOW_S + 1, deadlineS: NOW_S + 121 });
    assert.deepEqual(of({ leftS: 600 }), { expiresAtS: NOW_S + 600, deadlineS: NOW_S + 720 });
    assert.deepEqual(of({ leftS: 86_400 }), { expiresAtS: NOW_S + 600, deadlineS: NOW_S + 720 });
  });

  it('let a signature outlive its rate by 120 s', () => {
    assert.deepEqual(of({ isRateBound: true, leftS: 900 }), { expiresAtS: NOW_S + 60, deadlineS: NOW_S + 180 });
  });

  it('keep a rate for 60 s where a signature is enough, for 300 s where a transaction must be mined', () => {
    assert.deepEqual(of({ isRateBound: true, leftS: 900 })?.expiresAtS, NOW_S + 60);
    assert.deepEqual(of({ isRateBound: true, leftS: 900, needsTransaction: true })?.expiresAtS, NOW_S + 300);
    assert.deepEqual(of({ isRateBound: true, needsTransaction: true, leftS: 200 })?.expiresAtS, NOW_S + 200);
  });

  it('end a native action on chain with the rate or the payment, whichever is first', () => {
    assert.deepEqual(of({ ...native, isRateBound: true, leftS: 900 }), {
      deadlineS: NOW_S + 300,
      expiresAtS: NOW_S + 300,
    });
    assert.deepEqual(of({ ...native, isRateBound: true, leftS: 90 }), {
      deadlineS: NOW_S + 90,
      expiresAtS: NOW_S + 90,
    });
    assert.deepEqual(of({ ...native, leftS: 900 }), { deadlineS: NOW_S + 600, expiresAtS: NOW_S + 600 });
    assert.deepEqual(of({ ...native, leftS: 90 }), { deadlineS: NOW_S + 90, expiresAtS: NOW_S + 90 });
  });

  it('offer nothing that has less than 60 s left', () => {
    assert.notEqual(of({ isRateBound: true, leftS: 60 }), undefined);
    assert.equal(of({ isRateBound: true, leftS: 59 }), undefined);
    assert.notEqual(of({ ...native, isRateBound: true, leftS: 60 }), undefined);
    assert.equal(of({ ...native, isRateBound: true, leftS: 59 }), undefined);
    assert.equal(of({ ...native, leftS: 59 }), undefined);
    assert.notEqual(of({ leftS: 59 }), undefined, 'what is signed at par outlives the payment');
  });

  it('say when it is too late to sign: when the option has expired, and 60 s before the deadline', () => {
    const past = (expiresAtS: number, deadlineS: number) =>
      isPast({ ...OPTION, item: { ...OPTION.item, deadlineS }, expiresAtS }, NOW_S * 1000);
    assert.equal(past(NOW_S + 60, NOW_S + 60), false);
    assert.equal(past(NOW_S + 60, NOW_S + 59), true);
    assert.equal(past(NOW_S + 1, NOW_S + 600), false);
    assert.equal(past(NOW_S, NOW_S + 600), true);
  });

  it('are possible only if they were given until now, for no longer than an option lives', () => {
    const possible = (option: Partial<Option>, deadlineS?: number, paymentExpiresAtS = NOW_S + 86_400) => {
      const whole = { ...OPTION, ...option };
      const item = { ...OPTION.item, ...option.item, deadlineS: deadlineS ?? whole.expiresAtS + 120 };
      return areTimesPossible({ ...whole, item }, { nowMs: NOW_S * 1000, paymentExpiresAtS });
    };
    const quote = { pair: 'ETH/USD', ratio: '3000/1' };
    assert.equal(possible({ expiresAtS: NOW_S + 600 }), true);
    assert.equal(possible({ expiresAtS: NOW_S + 630 }), true, 'by the clock of another node');
    assert.equal(possible({ expiresAtS: NOW_S + 700 }), false);
    assert.equal(possible({ expiresAtS: NOW_S + 600 }, undefined, NOW_S + 599), false, 'longer than the payment');
    assert.equal(possible({ expiresAtS: NOW_S + 600 }, NOW_S + 86_400), false, 'a signature that lives for a day');
    assert.equal(possible({ expiresAtS: NOW_S + 60, quote }), true);
    assert.equal(possible({ expiresAtS: NOW_S + 300, quote }), false);
    assert.equal(possible({ expiresAtS: NOW_S + 300, quote, steps: ['transaction', 'signature'] }), true);
    const item = { ...OPTION.item, method: 'native' as const };
    const native = { expiresAtS: NOW_S + 300, quote, item, steps: ['transaction'] as const };
    assert.equal(possible(native, NOW_S + 300), true);
    assert.equal(possible(native, NOW_S + 420), false);
  });
});

describe('results', () => {
  const HASH = `0x${'ab'.repeat(32)}`;
  const SIGNATURE = `0x${'cd'.repeat(65)}`;
  const result = (value: unknown) => ({ type: 'walletRpc', data: [value] });

  it('are one text for each action', () => {
    assert.deepEqual(readResults([result(HASH), result(SIGNATURE)], 2), [HASH, SIGNATURE]);
    assert.deepEqual(readResults([], 1), []);
  });

  it('may all stand in one entry, if it holds one for each action', () => {
    const packed = (...data: unknown[]) => ({ type: 'walletRpc', data });
    assert.deepEqual(readResults([packed(HASH, SIGNATURE)], 2), [HASH, SIGNATURE]);
    assert.equal(readResults([packed(HASH, SIGNATURE)], 1), undefined);
    assert.equal(readResults([packed(HASH, HASH, SIGNATURE)], 2), undefined);
    assert.equal(readResults([packed(HASH, 1)], 2), undefined);
    assert.equal(readResults([packed(HASH, SIGNATURE), result(SIGNATURE)], 2), undefined);
  });

  for (const [name, bad] of [
    ['null', null],
    ['a text', SIGNATURE],
    ['a list', [SIGNATURE]],
    ['another type', { type: 'build', data: [SIGNATURE] }],
    ['no data', { type: 'walletRpc' }],
    ['data that is no list', { type: 'walletRpc', data: SIGNATURE }],
    ['no value', { type: 'walletRpc', data: [] }],
    ['two values', { type: 'walletRpc', data: [SIGNATURE, SIGNATURE] }],
    ['a number', result(1)],
    ['an object', result({ signature: SIGNATURE })],
  ] as const) {
    it(`are not ${name}`, () => {
      assert.equal(readResults([bad], 1), undefined);
      assert.equal(readResults([result(SIGNATURE), bad], 2), undefined);
    });
  }

  it('fit the steps in number, order and form', () => {
    assert.ok(doResultsFit('eip155:1', ['signature'], [SIGNATURE]));
    assert.ok(doResultsFit('eip155:1', ['transaction'], [HASH]));
    assert.ok(doResultsFit('eip155:1', ['transaction', 'signature'], [HASH, SIGNATURE]));
    for (const values of [[], [SIGNATURE], [SIGNATURE, HASH], [HASH, SIGNATURE, SIGNATURE], [HASH, HASH]]) {
      assert.ok(!doResultsFit('eip155:1', ['transaction', 'signature'], values), String(values.length));
    }
    for (const value of ['', '0x', 'cd'.repeat(65), `${SIGNATURE}c`, `0x${'zz'.repeat(65)}`, `${SIGNATURE}\n`]) {
      assert.ok(!doResultsFit('eip155:1', ['signature'], [value]), value);
    }
    assert.ok(doResultsFit('eip155:1', ['signature'], [`0x${'cd'.repeat(33)}`]));
    assert.ok(!doResultsFit('eip155:1', ['signature'], [`0x${'cd'.repeat(32)}`]), 'a hash is no signature');
    assert.ok(!doResultsFit('eip155:1', ['signature'], [` ${SIGNATURE}`]));
    for (const value of ['', ` ${HASH}`, HASH.slice(2), `${HASH}0`, HASH.slice(0, -1), `0x${'zz'.repeat(32)}`]) {
      assert.ok(!doResultsFit('eip155:1', ['transaction'], [value]), value);
    }
  });

  it('are the same request only with the same option and the same values in the same places', () => {
    const hashes = [
      resultsHash('a', ['b']),
      resultsHash('b', ['a']),
      resultsHash('a', []),
      resultsHash('a', ['b', '']),
      resultsHash('ab', []),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(resultsHash('a', ['b']), hashes[0]);
  });
});

describe('the order of options', () => {
  it('puts par before rates, signatures before transactions, and quick networks first', () => {
    const par = { isAtPar: true, needsTransaction: false, etaS: 5 };
    const slow = { ...par, etaS: 24 };
    const approve = { ...par, needsTransaction: true, etaS: 1 };
    const rate = { ...par, isAtPar: false, etaS: 1 };
    const native = { isAtPar: false, needsTransaction: true, etaS: 1 };
    const sorted = [native, rate, approve, slow, par].sort(compareRank);
    assert.deepEqual(sorted, [par, slow, approve, rate, native]);
    assert.equal(compareRank(par, { ...par }), 0);
  });
});
