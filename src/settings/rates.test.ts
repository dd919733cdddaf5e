import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemWorld } from '../runtime/system-world.ts';
import { networksInUse } from './chains.ts';
import { configuredSources, neededPairs } from './rates.ts';
import { readConfig } from './read-config.ts';

const OWN =
  'one https://one.example/{base}{quote}#/price ETH/USD USD/SEK ETH/EUR; two https://two.example/{base}{quote}#/price ETH/USD SEK/USD ETH/EUR';
const ACCOUNT = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';

function read(env: Readonly<Record<string, string>>) {
  const result = readConfig({ FEE_ACCOUNT: ACCOUNT, INTERMEDIATE_ACCOUNT: ACCOUNT, ...env });
  assert.ok('config' in result, 'problems' in result ? result.problems.join() : '');
  const networks = networksInUse(result.config, undefined);
  const sources = configuredSources({ config: result.config, world: systemWorld }, networks);
  return { sources, networks };
}

/** The names of the sources of a pair, by their requests. */
function namesFor(env: Readonly<Record<string, string>>, base: string, quote: string): string[] {
  const isIt = (pair: { base: string; quote: string }) =>
    [`${base}/${quote}`, `${quote}/${base}`].includes(`${pair.base}/${pair.quote}`);
  return read(env).sources.flatMap(({ name, requests }) =>
    requests.some(({ pairs }) => pairs.some(isIt)) ? [name] : [],
  );
}

const BASE = { RPC_URLS: 'eip155:8453=https://rpc.example' };
const BINANCE = { RPC_URLS: 'eip155:56=https://rpc.example' };

describe('the settings of rates', () => {
  it('name no source unless a setting asks for it', () => {
    assert.deepEqual(read({}).sources, []);
    assert.deepEqual(read(BASE).sources, []);
  });

  it('switch on the public sources, for the coins of the networks in use and all currencies', () => {
    const coins = ['coinbase', 'kraken', 'bitstamp', 'gemini', 'bitfinex', 'okx', 'kucoin', 'coingecko'];
    assert.deepEqual(namesFor({ ...BASE, RATES: 'public' }, 'ETH', 'USD'), coins);
    assert.deepEqual(namesFor({ ...BASE, RATES: 'public' }, 'BNB', 'USD'), []);
    assert.deepEqual(namesFor({ ...BINANCE, RATES: 'public' }, 'ETH', 'USD'), []);
    assert.deepEqual(namesFor({ ...BINANCE, RATES: 'public' }, 'BNB', 'USD'), [
      'coinbase',
      'kraken',
      'okx',
      'kucoin',
      'coingecko',
    ]);
    assert.deepEqual(namesFor({ RATES: 'public' }, 'SEK', 'USD'), ['coinbase', 'coingecko', 'ecb', 'nbp', 'cnb']);
  });

  it('read a pair that is listed from the listed sources alone, in whichever direction', () => {
    const both = { ...BASE, RATES: 'public', RATE_SOURCES: OWN };
    assert.deepEqual(namesFor(both, 'ETH', 'USD'), ['one', 'two']);
    assert.deepEqual(namesFor(both, 'USD', 'SEK'), ['one', 'two']);
    assert.deepEqual(namesFor(both, 'ETH', 'EUR'), ['one', 'two']);
    assert.equal(namesFor(both, 'EUR', 'USD')[0], 'coinbase');
    assert.deepEqual(namesFor({ ...BASE, RATE_SOURCES: OWN }, 'EUR', 'USD'), []);
  });

  it('refuse words that they do not know, and lists where agreement would mean nothing', () => {
    const problemsOf = (env: Readonly<Record<string, string>>) => {
      const result = readConfig(env);
      return 'problems' in result ? result.problems : [];
    };
    assert.deepEqual(problemsOf({ RATES: 'Public' }), ['RATES must be one of public (it is "Public")']);
    const alone = 'one https://one.example/#/price EUR/USD';
    assert.match(
      problemsOf({ RATES: 'public', RATE_SOURCES: alone })[0] ?? '',
      /^RATE_SOURCES .*one source alone for EUR\/USD/,
    );
  });

  it('know the pairs that prices in dollars need', () => {
    const names = (env: Readonly<Record<string, string>>) =>
      neededPairs(read(env).networks).map(({ base, quote }) => `${base}/${quote}`);
    assert.deepEqual(names(BASE), ['ETH/USD', 'EUR/USD']);
    assert.deepEqual(names(BINANCE), ['BNB/USD']);
    assert.deepEqual(names({}), []);
  });
});
