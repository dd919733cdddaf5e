import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyRing } from '../domain/key-ring.ts';
import { openOption, sealOption } from '../domain/option.ts';
import { ratio, readRateRecord, recordRate } from '../domain/rate.ts';
import { createRateBook } from './rate-book.ts';

const NOW_MS = Date.UTC(2026, 2, 1);
const RULES = { maxDeviationBasisPoints: 100, rememberedMs: 360_000 };
const LIVE = { kind: 'live', validMs: 60_000 } as const;

function bookOf(...prices: readonly [source: string, pair: string, price: string, ageMs?: number][]) {
  const pairOf = (pair: string) => {
    const [base = '', quote = ''] = pair.split('/');
    return { base, quote };
  };
  const book = createRateBook(
    prices.map(([, pair]) => pairOf(pair)),
    RULES,
  );
  for (const [source, pair, price, ageMs = 0] of prices) {
    book.note({ source, ...pairOf(pair), price, atMs: NOW_MS - ageMs }, LIVE);
  }
  return book;
}

describe('the rate book', () => {
  it('answers with the median of the sources that agree, and names them', () => {
    const book = bookOf(
      ['a', 'ETH/USD', '3000'],
      ['b', 'ETH/USD', '3010.5'],
      ['c', 'ETH/USD', '1'],
      ['d', 'ETH/USD', '3001'],
    );
    const rate = book.rateOf('ETH', 'USD', NOW_MS);
    assert.deepEqual(rate?.value, ratio(3_001n, 1n));
    assert.deepEqual(
      rate?.readings.map(({ source }) => source),
      ['a', 'b', 'd'],
    );
  });

  it('has no rate from one source, however often it speaks', () => {
    const book = bookOf(['a', 'ETH/USD', '3000'], ['a', 'ETH/USD', '3000']);
    assert.equal(book.rateOf('ETH', 'USD', NOW_MS), undefined);
  });

  it('has no rate from reference rates alone, which are of yesterday', () => {
    const book = bookOf(['a', 'EUR/USD', '1.1']);
    const reference = { kind: 'reference', validMs: 3_600_000 } as const;
    const says = (source: string, price: string, ageMs = 0) =>
      book.note({ source, base: 'EUR', quote: 'USD', price, atMs: NOW_MS - ageMs }, reference);
    const rate = () => book.rateOf('EUR', 'USD', NOW_MS);
    says('b', '1.05');
    says('c', '1.051');
    assert.equal(rate(), undefined, 'two reference rates against the market');
    says('b', '1.102', 3_600_000);
    says('c', '1.101', 3_600_000);
    assert.deepEqual(rate()?.value, ratio(1_101n, 1_000n));
    says('b', '1.102', 3_600_001);
    says('c', '1.101', 3_600_001);
    assert.equal(rate(), undefined, 'the reference rates are too old');
  });

  it('lets reference rates confirm one live price, and never vote against live prices', () => {
    const quotes = (...prices: readonly (readonly [source: string, price: string, kind: 'live' | 'reference'])[]) => {
      const book = bookOf(['a', 'EUR/USD', '1.1']);
      for (const [source, price, kind] of prices)
        book.note({ source, base: 'EUR', quote: 'USD', price, atMs: NOW_MS }, { kind, validMs: 60_000 });
      return book.rateOf('EUR', 'USD', NOW_MS)?.readings.map((reading) => reading.source);
    };
    const yesterday = ['c', 'd', 'e'].map((source) => [source, '1.05', 'reference'] as const);
    assert.deepEqual(quotes(['c', '1.1', 'reference']), ['a', 'c']);
    assert.deepEqual(quotes(['b', '1.1', 'live'], ...yesterday), ['a', 'b'], 'the market has moved');
    assert.deepEqual(quotes(['b', '1.1', 'live'], ['c', '1.1', 'reference']), ['a', 'b']);
    assert.equal(quotes(['b', '1.05', 'live'], ...yesterday), undefined, 'a live source that stands still');
  });

  it('says which pairs a rate is made of', () => {
    const book = bookOf(['a', 'ETH/USD', '3000'], ['a', 'EUR/USD', '1.1']);
    assert.deepEqual(book.legsOf({ base: 'USD', quote: 'ETH' }), [{ base: 'USD', quote: 'ETH' }]);
    assert.deepEqual(book.legsOf({ base: 'ETH', quote: 'EUR' }), [
      { base: 'ETH', quote: 'USD' },
      { base: 'USD', quote: 'EUR' },
    ]);
    assert.deepEqual(book.legsOf({ base: 'ETH', quote: 'JPY' }), []);
    assert.deepEqual(book.legsOf({ base: 'ETH', quote: 'ETH' }), []);
  });

  it('has no rate for an unknown pair, and none of a symbol to itself', () => {
    const book = bookOf(['a', 'ETH/USD', '3000'], ['b', 'ETH/USD', '3000']);
    assert.equal(book.rateOf('BTC', 'USD', NOW_MS), undefined);
    assert.equal(book.rateOf('USD', 'USD', NOW_MS), undefined);
    assert.equal(book.rateOf('ETH', 'ETH', NOW_MS), undefined);
  });

  it('knows which rates it could have, whether or not it has them now', () => {
    const book = createRateBook(
      [
        { base: 'ETH', quote: 'USD' },
        { base: 'EUR', quote: 'USD' },
      ],
      RULES,
    );
    for (const pair of ['ETH/USD', 'USD/ETH', 'USD/EUR', 'ETH/EUR', 'EUR/ETH']) {
      const [base = '', quote = ''] = pair.split('/');
      assert.equal(book.rateOf(base, quote, NOW_MS), undefined, pair);
      assert.equal(book.covers(base, quote), true, pair);
    }
    for (const [base, quote] of [
      ['BTC', 'USD'],
      ['ETH', 'JPY'],
      ['USD', 'USD'],
    ] as const) {
      assert.equal(book.covers(base, quote), false, `${base}/${quote}`);
    }
  });

  it('drops old readings, also when the clock was set back', () => {
    const book = bookOf(['a', 'ETH/USD', '3000', 60_000], ['b', 'ETH/USD', '3000']);
    assert.ok(book.rateOf('ETH', 'USD', NOW_MS));
    assert.equal(book.rateOf('ETH', 'USD', NOW_MS + 1), undefined);
    assert.equal(book.rateOf('ETH', 'USD', NOW_MS - 130_000), undefined);
  });

  it('forgets and finds readings at the right moments, however often it is asked', () => {
    const book = bookOf(
      ['a', 'ETH/USD', '3000', 30_000],
      ['b', 'ETH/USD', '3000', 0],
      ['c', 'ETH/USD', '3000', -100_000],
    );
    const names = (atMs: number) => book.rateOf('ETH', 'USD', NOW_MS + atMs)?.readings.map(({ source }) => source);
    for (let asked = 0; asked < 2; asked += 1) {
      assert.deepEqual(names(0), ['a', 'b']);
      assert.deepEqual(names(30_000), ['a', 'b']);
      assert.equal(names(30_001), undefined);
      assert.equal(names(39_999), undefined);
      assert.deepEqual(names(40_000), ['b', 'c']);
      assert.deepEqual(names(60_000), ['b', 'c']);
      assert.equal(names(60_001), undefined);
      assert.equal(names(-60_001), undefined);
    }
    book.note({ source: 'a', base: 'ETH', quote: 'USD', price: '3001', atMs: NOW_MS }, LIVE);
    assert.deepEqual(book.rateOf('ETH', 'USD', NOW_MS)?.value, ratio(6_001n, 2n));
  });

  it('treats an invalid price as no answer', () => {
    const book = bookOf(['a', 'ETH/USD', '3000'], ['b', 'ETH/USD', '3e3']);
    assert.equal(book.rateOf('ETH', 'USD', NOW_MS), undefined);
    assert.equal(book.note({ source: 'b', base: 'ETH', quote: 'USD', price: '0', atMs: NOW_MS }, LIVE), false);
    assert.equal(book.note({ source: 'b', base: 'ETH', quote: 'USD', price: '3000', atMs: NOW_MS }, LIVE), true);
    assert.ok(book.rateOf('ETH', 'USD', NOW_MS));
  });

  it('inverts pairs exactly, in either direction', () => {
    const book = bookOf(['a', 'EUR/USD', '1.25'], ['b', 'USD/EUR', '0.8']);
    assert.deepEqual(book.rateOf('EUR', 'USD', NOW_MS)?.value, ratio(5n, 4n));
    assert.deepEqual(book.rateOf('USD', 'EUR', NOW_MS)?.value, ratio(4n, 5n));
  });

  it('crosses through the dollar exactly, and names the sources of both ways', () => {
    const book = bookOf(
      ['a', 'ETH/USD', '3000'],
      ['b', 'ETH/USD', '3000'],
      ['a', 'EUR/USD', '1.1'],
      ['c', 'EUR/USD', '1.1'],
    );
    const rate = book.rateOf('ETH', 'EUR', NOW_MS);
    assert.deepEqual(rate?.value, ratio(30_000n, 11n));
    assert.deepEqual(
      rate?.readings.map(({ source, base, quote }) => `${source} ${base}/${quote}`),
      ['a ETH/USD', 'b ETH/USD', 'a EUR/USD', 'c EUR/USD'],
    );
  });

  it('crosses through the euro when the dollar does not do', () => {
    const book = bookOf(
      ['a', 'ETH/EUR', '2000'],
      ['b', 'ETH/EUR', '2000'],
      ['a', 'EUR/SEK', '11'],
      ['b', 'EUR/SEK', '11'],
    );
    assert.deepEqual(book.rateOf('ETH', 'SEK', NOW_MS)?.value, ratio(22_000n, 1n));
  });

  it('does not cross around a pair whose own sources disagree', () => {
    const book = bookOf(
      ['a', 'ETH/EUR', '2000'],
      ['b', 'ETH/EUR', '2500'],
      ['a', 'ETH/USD', '3000'],
      ['b', 'ETH/USD', '3000'],
      ['a', 'EUR/USD', '1.1'],
      ['b', 'EUR/USD', '1.1'],
    );
    assert.equal(book.rateOf('ETH', 'EUR', NOW_MS), undefined);
  });

  it('makes rates whose record fits into an option id, however many sources and digits it has', () => {
    const sources = Array.from({ length: 8 }, (_, index) => `source-number-${index}`);
    const digits = (last: number) => `${'9'.repeat(15)}.${'9'.repeat(19)}${last}`;
    const prices = (pair: string) =>
      sources.map((source, index) => [source, pair, digits(index + 1)] as [string, string, string]);
    const rate = bookOf(...prices('LONGCOIN/USD'), ...prices('LONGUNIT/USD')).rateOf('LONGCOIN', 'LONGUNIT', NOW_MS);
    assert.ok(rate);
    assert.equal(rate.readings.length, 16);
    const account = `eip155:11155111:0x${'1'.repeat(40)}`;
    const address = `0x${'1'.repeat(40)}`;
    const option = {
      item: {
        network: 'eip155:11155111',
        asset: `eip155:11155111/erc20:${address}`,
        collector: address,
        method: 'eip3009-bytes' as const,
        subject: 'pay_00000000000000000000000000',
        payer: address,
        recipient: address,
        feeAccount: address,
        amount: 10n ** 77n,
        fee: 10n ** 77n,
        deadlineS: NOW_MS / 1000,
      },
      account,
      pricedFee: 10n ** 77n,
      feeTerms: { percentage: `99.${'9'.repeat(18)}`, fixed: (10n ** 77n).toString() },
      quote: recordRate(rate),
      expiresAtS: NOW_MS / 1000,
      steps: ['transaction', 'transaction', 'signature'] as const,
    };
    const keys: KeyRing = [new Uint8Array(32)];
    const id = sealOption(keys, option, new Uint8Array(12));
    assert.deepEqual(openOption(keys, option.item.subject, id), option);
    assert.deepEqual(readRateRecord(option.quote)?.value, rate.value);
  });

  it('remembers the rates of the last minutes, in both directions', () => {
    const book = bookOf(['a', 'ETH/USD', '3000', 300_000], ['b', 'ETH/USD', '3000', 300_000]);
    const was = (base: string, quote: string, value: [bigint, bigint], nowMs = NOW_MS) =>
      book.wasInForce({ base, quote, value: ratio(...value) }, nowMs);
    assert.equal(book.rateOf('ETH', 'USD', NOW_MS), undefined, 'the readings are too old for a quote');
    assert.equal(was('ETH', 'USD', [3_000n, 1n]), true);
    assert.equal(was('USD', 'ETH', [1n, 3_000n]), true);
    assert.equal(was('ETH', 'USD', [3_029n, 1n]), true, 'as another node may have read it');
    assert.equal(was('ETH', 'USD', [3_031n, 1n]), false);
    assert.equal(was('ETH', 'USD', [2_969n, 1n]), false);
    assert.equal(was('USD', 'ETH', [1n, 3_031n]), false);
    assert.equal(was('ETH', 'USD', [3_000n, 1n], NOW_MS + 61_000), false, 'it was too long ago');
    assert.equal(was('BTC', 'USD', [3_000n, 1n]), false);
    assert.equal(was('USD', 'USD', [1n, 1n]), false);
  });

  it('remembers every rate between the lowest and the highest, and no rate without agreement', () => {
    const book = bookOf(
      ['a', 'ETH/USD', '3000', 120_000],
      ['b', 'ETH/USD', '3000', 120_000],
      ['a', 'ETH/USD', '3200'],
      ['b', 'ETH/USD', '3200'],
      ['a', 'SOL/USD', '150'],
    );
    const was = (base: string, price: bigint) =>
      book.wasInForce({ base, quote: 'USD', value: ratio(price, 1n) }, NOW_MS);
    assert.deepEqual(
      [2_960n, 3_000n, 3_100n, 3_200n, 3_240n].map((price) => was('ETH', price)),
      [false, true, true, true, false],
    );
    assert.equal(was('SOL', 150n), false);
  });

  it('remembers the legs of a crossed rate', () => {
    const book = bookOf(
      ['a', 'ETH/USD', '3000'],
      ['b', 'ETH/USD', '3000'],
      ['a', 'EUR/USD', '1.2'],
      ['b', 'EUR/USD', '1.2'],
    );
    const was = (price: bigint) => book.wasInForce({ base: 'ETH', quote: 'EUR', value: ratio(price, 1n) }, NOW_MS);
    assert.deepEqual([2_400n, 2_500n, 2_600n].map(was), [false, true, false]);
  });
});
