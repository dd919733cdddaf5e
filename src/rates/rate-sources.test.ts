import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRateSources } from './rate-sources.ts';

const COINBASE = 'coinbase https://api.coinbase.com/v2/prices/{base}-{quote}/spot#/data/amount ETH/USD EUR/USD';
const KRAKEN =
  'kraken https://api.kraken.com/0/public/Ticker?pair={base}{quote}#/result/*/c/0 ETH/USD EUR/USD BTC/USD=XBT/USD';
const GECKO =
  'gecko https://api.gecko.example/simple/price?ids={base}&vs_currencies={quote}#/{base}/{quote} BTC/USD=bitcoin/usd';

function problemOf(text: string): string {
  const parsed = parseRateSources(text);
  assert.ok(!parsed.ok, text);
  return parsed.problem;
}

describe('RATE_SOURCES', () => {
  it('lists sources with the URL of each pair and the place of the price', () => {
    const parsed = parseRateSources(`${COINBASE}\n${KRAKEN} ; ${GECKO}\n`);
    assert.ok(parsed.ok);
    assert.deepEqual(
      parsed.value.map(({ name }) => name),
      ['coinbase', 'kraken', 'gecko'],
    );
    assert.deepEqual(parsed.value[0]?.requests[0], {
      base: 'ETH',
      quote: 'USD',
      url: 'https://api.coinbase.com/v2/prices/ETH-USD/spot',
      path: ['data', 'amount'],
    });
    assert.deepEqual(parsed.value[1]?.requests[2], {
      base: 'BTC',
      quote: 'USD',
      url: 'https://api.kraken.com/0/public/Ticker?pair=XBTUSD',
      path: ['result', '*', 'c', '0'],
    });
    assert.deepEqual(parsed.value[2]?.requests, [
      {
        base: 'BTC',
        quote: 'USD',
        url: 'https://api.gecko.example/simple/price?ids=bitcoin&vs_currencies=usd',
        path: ['bitcoin', 'usd'],
      },
    ]);
  });

  it('treats an inverted pair as the same pair', () => {
    const one = 'one https://one.example/{base}{quote}#/p EUR/USD';
    const other = 'other https://other.example/{base}{quote}#/p USD/EUR';
    assert.ok(parseRateSources(`${one};${other}`).ok);
  });

  it('is refused where agreement would mean nothing', () => {
    assert.match(problemOf(COINBASE), /one source alone for ETH\/USD/);
    assert.match(problemOf(`${COINBASE};${COINBASE}`), /names coinbase twice/);
    assert.match(problemOf(`${COINBASE};${COINBASE.replace('coinbase', 'again')}`), /again ask the same host/);
    assert.match(problemOf(`${COINBASE} ETH/USD`), /ETH\/USD twice for coinbase/);
    assert.match(problemOf(`${COINBASE} USD/EUR`), /EUR\/USD twice for coinbase/);
    assert.match(
      problemOf('fixed https://one.example/spot#/p ETH/USD EUR/USD'),
      /asks the same for two pairs of fixed/,
    );
  });

  it('is refused with the reason where a source is not well written', () => {
    assert.match(problemOf('https://one.example/#/p ETH/USD'), /must begin source 1 with a name/);
    assert.match(problemOf('one'), /must give one a URL/);
    assert.match(problemOf('one https://one.example/#/p'), /then pairs such as/);
    for (const pair of [
      'ETH',
      'ETH/ETH',
      'eth/usd',
      'ETH/USD/EUR',
      'ETH/USD=',
      'ETH/USD=ETH',
      'ETH/USD=E TH/USD',
      'ETH/USD=a&b/c',
    ]) {
      assert.match(problemOf(`one https://one.example/{base}{quote}#/p ${pair}`), /pairs such as ETH\/USD/, pair);
    }
    for (const url of [
      'http://one.example/',
      'ftp://one.example/',
      'one.example',
      'https://user:secret@one.example/',
      'https://one.example/{coin}',
    ]) {
      assert.match(problemOf(`one ${url}#/p ETH/USD`), /must give an https URL/, url);
    }
    for (const url of [
      'https://one.example/',
      'https://one.example/#',
      'https://one.example/#price',
      'https://one.example/#/a//b',
    ]) {
      assert.match(problemOf(`one ${url} ETH/USD`), /must say after #/, url);
    }
    assert.match(problemOf(Array.from({ length: 9 }, () => COINBASE).join(';')), /more than 8 sources/);
    assert.match(problemOf(`one https://one.example/{base}#/p${' ETH/USD'.repeat(65)}`), /more than 64 pairs/);
  });

  it('is refused without repeating a URL, which may hold a key', () => {
    for (const text of [
      'one https://one.example/?key=hunter2#/p ETH/USD',
      'one http://one.example/?key=hunter2#/p ETH/USD',
      'one https://one.example/?key=hunter2#p ETH/USD',
      'https://one.example/?key=hunter2#/p ETH/USD',
    ]) {
      assert.doesNotMatch(problemOf(text), /hunter2|one\.example/);
    }
  });
});
