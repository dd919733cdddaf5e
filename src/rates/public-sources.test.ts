import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { RECORDED, RECORDED_AT_MS, type RecordedSources, serveRecorded } from '../../test/public-rates.ts';
import { ASSETS } from '../../test/registry.ts';
import { until } from '../../test/until.ts';
import { findCurrency } from '../domain/currency.ts';
import { ratePairOf } from '../domain/quote.ts';
import { compare, ratio } from '../domain/rate.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { askSource } from './ask-source.ts';
import { followRates, RULES } from './follow-rates.ts';
import { parseJson } from './json.ts';
import { createPublicSource, type PublicSource } from './public-source.ts';
import { PUBLIC_CURRENCIES, PUBLIC_SOURCES } from './public-sources.ts';
import { createRateBook } from './rate-book.ts';

const never = new AbortController().signal;
const at = (nowMs: number) => ({ nowMs: () => nowMs });
const named = (name: string) => PUBLIC_SOURCES.find((one) => one.name === name) ?? assert.fail(name);
const urlsOf = (source: PublicSource) => source.requestsFor(source.symbols).map(({ url }) => url);

describe('the public rate sources', () => {
  let recorded: RecordedSources;
  before(async () => {
    recorded = await serveRecorded();
  });
  beforeEach(() => recorded.changed.clear());
  after(() => recorded.close());

  /** Asks a source for all that it has: by pair, the price or the reason why there is none. */
  async function answersOf(source: PublicSource, nowMs = RECORDED_AT_MS): Promise<Record<string, string>> {
    const opened = createPublicSource(
      { timers: systemWorld.timers, clock: at(nowMs) },
      recorded.at(source),
      source.symbols,
    );
    assert.ok(opened);
    const book = bookOf([source]);
    const asked = opened.requests.map((request) =>
      askSource({ world: { clock: at(nowMs) }, book, stop: never }, { source: opened, request }),
    );
    const answers = (await Promise.all(asked)).flat();
    return Object.fromEntries(
      answers.map((one) => [`${one.base}/${one.quote}`, 'fault' in one ? one.fault : one.price]),
    );
  }

  const pairsOf = (source: PublicSource) =>
    source.requestsFor(source.symbols).flatMap(({ prices }) => prices.map(({ base, quote }) => ({ base, quote })));
  const bookOf = (sources: readonly PublicSource[]) => createRateBook(sources.flatMap(pairsOf), RULES);

  /** Asks all sources once, and returns the book of their readings. */
  async function readAll() {
    const book = bookOf(PUBLIC_SOURCES);
    const world = { clock: at(RECORDED_AT_MS) };
    const asked = PUBLIC_SOURCES.flatMap((one) => {
      const source = createPublicSource({ timers: systemWorld.timers, ...world }, recorded.at(one), one.symbols);
      return (source?.requests ?? []).map(
        (request) => source && askSource({ world, book, stop: never }, { source, request }),
      );
    });
    await Promise.all(asked);
    return (base: string, quote: string) => book.rateOf(base, quote, RECORDED_AT_MS);
  }

  for (const source of PUBLIC_SOURCES) {
    it(`read every pair of ${source.name} from the answers that it documents`, async () => {
      const answers = await answersOf(source);
      assert.deepEqual(Object.keys(answers).length, source.symbols.length);
      for (const [pair, answer] of Object.entries(answers)) assert.match(answer, /^\d+(\.\d+)?$/, pair);
      assert.deepEqual(recorded.unknown, []);
    });

    it(`leave ${source.name} out, with the reason, when it answers anything else`, async () => {
      const bodies = [
        '',
        '<html><body>Too many requests</body></html>',
        '{}',
        '[]',
        '[[]]',
        'null',
        '"1"',
        '3000',
        '{"error":["EQuery:Unknown asset pair"]}',
        '{"code":"51001","msg":"Instrument ID does not exist","data":[]}',
        '{"status":{"error_code":429,"error_message":"slow down"}}',
        '{"data":{"rates":null},"result":{},"rates":null}',
      ];
      for (const body of bodies) {
        for (const url of urlsOf(source)) recorded.changed.set(url, body);
        for (const [pair, answer] of Object.entries(await answersOf(source)))
          assert.match(
            answer,
            /^sent (no price at the place it should stand|something that is not a price)$/,
            `${pair} ${body}`,
          );
      }
    });

    it(`take no zero, no sign, no exponent and no endless number from ${source.name}`, async () => {
      for (const number of ['0', '0.00', '-1', '1e3', '1E-7', '9'.repeat(40), `0.${'1'.repeat(40)}`]) {
        // Every number is replaced, except those with which the source says that all is well and from when the price is.
        for (const url of urlsOf(source)) recorded.changed.set(url, withNumbers(RECORDED[url] ?? '', number));
        for (const [pair, answer] of Object.entries(await answersOf(source)))
          assert.doesNotMatch(answer, /^\d+(\.\d+)?$|failed/, `${pair} of ${number}`);
      }
    });

    it(`survive any JSON from ${source.name}`, () => {
      const requests = source.requestsFor(source.symbols);
      fc.assert(
        fc.property(fc.json(), (json) => {
          for (const { prices } of requests) for (const { find } of prices) find(parseJson(json));
        }),
        { numRuns: 50 },
      );
    });
  }

  it('read the digits as they are spelled, and cross within one answer where a source prices all in something else', async () => {
    const [coinbase, kraken, coingecko, nbp, cnb] = await Promise.all(
      ['coinbase', 'kraken', 'coingecko', 'nbp', 'cnb'].map((name) => answersOf(named(name))),
    );
    assert.equal(coinbase?.['USD/ETH'], '0.00033333333333333');
    assert.equal(coinbase?.['USD/SEK'], '10.300');
    assert.equal(kraken?.['ETH/USD'], '3001.04000');
    assert.equal(kraken?.['USD/JPY'], '150.300');
    assert.equal(coingecko?.['ETH/USD'], '3000.36');
    assert.equal(coingecko?.['USD/SEK'], '10.3', '618000 kronor and 60000 dollars for a bitcoin');
    assert.equal(nbp?.['USD/PLN'], '3.8512');
    assert.equal(nbp?.['USD/EUR'], '0.909099922149', '3.8512 zloty for a dollar, 4.236278 for a euro');
    assert.equal(cnb?.['USD/CZK'], '22.761');
    assert.equal(cnb?.['USD/IDR'], '16131.112686', '22.761 koruna for a dollar, 1.411 for 1000 rupiah');
  });

  const STATED: readonly [name: string, tooOldMs: number][] = [
    ['bitstamp', 5 * 60_000 + 1],
    ['gemini', 25 * 60_000 + 1],
    ['okx', 5 * 60_000],
    ['ecb', 4.5 * 86_400_000],
    ['nbp', 7 * 86_400_000],
    ['cnb', 4.5 * 86_400_000],
  ];
  for (const [name, tooOldMs] of STATED) {
    it(`leave ${name} out when it states a time that is too long ago, in the future, or none`, async () => {
      const source = named(name);
      const every = async (nowMs: number) => new Set(Object.values(await answersOf(source, nowMs)).map(words));
      assert.deepEqual(await every(RECORDED_AT_MS + tooOldMs), new Set(['which is too old']));
      assert.deepEqual(await every(RECORDED_AT_MS - 10 * 86_400_000), new Set(['which is in the future']));
      for (const url of urlsOf(source)) {
        const body = RECORDED[url] ?? '';
        recorded.changed.set(
          url,
          body.replace(/"(timestamp|ts|date|effectiveDate|validFor)":("[^"]*"|\d+)/g, '"$1":"soon"'),
        );
      }
      assert.deepEqual(await every(RECORDED_AT_MS), new Set(['does not say from when its price is']));
    });
  }

  it('leave a coin of coingecko out when its price was not updated lately', async () => {
    const answers = await answersOf(named('coingecko'), RECORDED_AT_MS + 5 * 60_000);
    assert.match(answers['ETH/USD'] ?? '', /^sent a price of 2026-03-02T14:59:20.000Z, which is too old$/);
    assert.equal(answers['USD/SEK'], '10.3');
  });

  it('give rates for every coin and every peg of the known networks, and cross rates between them', async () => {
    const rateOf = await readAll();
    assert.ok(compare(rateOf('ETH', 'USD')?.value ?? ratio(1n, 1n), ratio(3_000n, 1n)) >= 0);
    for (const symbol of symbolsOfNetworks()) assert.ok(rateOf(symbol, 'USD'), symbol);
    for (const symbol of ['ETH', 'SOL', 'BNB', 'POL', 'CELO', 'MON']) {
      assert.ok(rateOf(symbol, 'USD'), symbol);
      for (const currency of PUBLIC_CURRENCIES) assert.ok(rateOf(symbol, currency), `${symbol}/${currency}`);
    }
    const names = rateOf('ETH', 'SEK')?.readings.map(({ source, base, quote }) => `${source} ${base}/${quote}`);
    assert.deepEqual(names, [
      'coinbase USD/ETH',
      ...['kraken', 'bitstamp', 'gemini', 'bitfinex', 'okx', 'kucoin', 'coingecko'].map((name) => `${name} ETH/USD`),
      'coinbase USD/SEK',
      'coingecko USD/SEK',
    ]);
  });

  it('are followed like other sources', async () => {
    const world = { ...systemWorld, clock: at(RECORDED_AT_MS) };
    const sources = PUBLIC_SOURCES.flatMap((one) => createPublicSource(world, recorded.at(one), one.symbols) ?? []);
    const rates = followRates({ world, log: pino({ level: 'silent' }), sources, report: async () => {} });
    try {
      const has = (base: string, quote: string) => rates.rateOf(base, quote, RECORDED_AT_MS) !== undefined;
      await until('every coin has a rate', () => ['ETH', 'SOL', 'BNB', 'POL', 'EUR'].every((coin) => has(coin, 'SEK')));
      assert.ok(rates.covers('ETH', 'ISK'));
      assert.equal(rates.covers('ETH', 'XAU'), false);
    } finally {
      await rates.stop();
    }
  });

  it('have a rate of the krona when one live source is away, by the word of central banks', async () => {
    recorded.changed.set(urlsOf(named('coinbase'))[0] ?? '', '<html>');
    const rateOf = await readAll();
    assert.deepEqual(
      rateOf('USD', 'SEK')?.readings.map(({ source }) => source),
      ['coingecko', 'ecb', 'nbp', 'cnb'],
    );
    recorded.changed.set(urlsOf(named('coingecko'))[1] ?? '', '<html>');
    assert.equal((await readAll())('USD', 'SEK'), undefined, 'central banks alone');
  });

  it('give the same rate when one source lies', async () => {
    const honest = (await readAll())('ETH', 'USD');
    const url = 'https://api.kraken.com/0/public/Ticker?pair=ETHUSD';
    recorded.changed.set(url, (RECORDED[url] ?? '').replaceAll('3001.04000', '30.01'));
    const rate = (await readAll())('ETH', 'USD');
    assert.ok(rate && honest);
    assert.ok(!rate.readings.some(({ source }) => source === 'kraken'));
    assert.ok(compare(rate.value, ratio(2_990n, 1n)) > 0 && compare(rate.value, ratio(3_010n, 1n)) < 0);
  });

  it('are listed in the documentation, with all that they have', () => {
    const page = readFileSync(new URL('../../docs/rates-and-screening.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    assert.deepEqual(
      rows,
      PUBLIC_SOURCES.map(({ name, about, symbols }) => `| \`${name}\` | ${about} | ${symbols.join(' ')} |`),
    );
    assert.ok(page.includes(`all ${PUBLIC_CURRENCIES.length} currencies above`));
  });

  it('are at least six, on hosts of their own, and enough for every symbol', () => {
    assert.ok(PUBLIC_SOURCES.length >= 6);
    assert.ok(PUBLIC_CURRENCIES.length >= 20);
    const hosts = PUBLIC_SOURCES.map((source) => new Set(urlsOf(source).map((url) => new URL(url).host)));
    assert.ok(hosts.every(({ size }) => size === 1));
    assert.equal(new Set(hosts.flatMap((each) => [...each])).size, PUBLIC_SOURCES.length);
    assert.ok(PUBLIC_SOURCES.flatMap(urlsOf).every((url) => url.startsWith('https://')));
    for (const symbol of new Set(PUBLIC_SOURCES.flatMap(({ symbols }) => symbols))) {
      const sources = PUBLIC_SOURCES.filter(({ symbols }) => symbols.includes(symbol));
      const live = sources.filter(({ kind }) => kind === 'live');
      assert.ok(sources.length <= 8, `more than 8 sources for ${symbol} do not fit into an option`);
      if (findCurrency(symbol) === undefined) assert.ok(live.length >= 3 && live.length === sources.length, symbol);
      else assert.ok(live.length >= 1 && sources.length >= 2, symbol);
    }
  });
});

function symbolsOfNetworks(): ReadonlySet<string> {
  const assets = ASSETS;
  return new Set(assets.flatMap((asset) => ratePairOf({ unit: 'iso4217/USD' }, asset)?.base ?? []));
}

/** The words of a fault after its time. */
function words(fault: string): string {
  return fault.replace(/^sent a price of \S+, /, '');
}

/** Replaces the numbers of an answer, in quotes or without. */
function withNumbers(body: string, number: string): string {
  return body
    .replaceAll(/"(timestamp|ts|last_updated_at|code)":("?)(\d+)("?)/g, '"$1":$2T$3$4')
    .replaceAll(/(?<=[:[,]"?)-?\d+(\.\d+)?(?="?[\],}])/g, number)
    .replaceAll(/:("?)T(\d+)("?)/g, ':$1$2$3');
}
