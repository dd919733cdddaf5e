import { elementsAt, type Json, textAt } from './json.ts';
import {
  crossed,
  inDollars,
  MARKET,
  ofDollar,
  type PublicPrice,
  type PublicRequest,
  type PublicSource,
  priceAt,
  timeOf,
} from './public-source.ts';

/**
 * The sources of this file are markets, and services that follow markets. Markets in dollar tokens, such as ETH/USDT, are not used:
 * if the token lost its value, all of them would agree on a wrong price.
 */

const COINS = ['ETH', 'SOL', 'BNB', 'POL', 'CELO', 'MON'];

const COINGECKO_COINS: ReadonlyMap<string, string> = new Map([
  ['ETH', 'ethereum'],
  ['SOL', 'solana'],
  ['BNB', 'binancecoin'],
  ['POL', 'polygon-ecosystem-token'],
  ['CELO', 'celo'],
  ['MON', 'monad'],
]);

const COINBASE_CURRENCIES = words(
  'EUR GBP CHF JPY AUD CAD NZD SEK NOK DKK PLN CZK HUF RON ISK TRY ILS ZAR BRL MXN INR CNY HKD SGD KRW THB MYR IDR PHP TWD AED SAR CLP UAH VND',
);
const COINGECKO_CURRENCIES = words(
  'EUR GBP CHF JPY AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ILS ZAR BRL MXN INR CNY HKD SGD KRW THB MYR IDR PHP TWD AED SAR CLP UAH VND',
);

const COINBASE: PublicSource = {
  ...MARKET,
  name: 'coinbase',
  about: 'Coinbase, exchange rates of the dollar',
  symbols: [...COINS.filter((coin) => coin !== 'CELO'), ...COINBASE_CURRENCIES],
  requestsFor: (symbols) =>
    oneRequest(
      'https://api.coinbase.com/v2/exchange-rates?currency=USD',
      symbols.map((symbol) =>
        ofDollar(symbol, (answer) => {
          const isOfDollar = textAt(answer, ['data', 'currency']) === 'USD';
          return { price: isOfDollar ? textAt(answer, ['data', 'rates', symbol]) : undefined, statedAtMs: null };
        }),
      ),
    ),
};

/** The currencies that Kraken trades against the dollar, with Kraken's spelling of the pair. */
const KRAKEN_CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['EUR', 'EURUSD'],
  ['GBP', 'GBPUSD'],
  ['AUD', 'AUDUSD'],
  ['JPY', 'USDJPY'],
  ['CHF', 'USDCHF'],
  ['CAD', 'USDCAD'],
]);

const KRAKEN: PublicSource = {
  ...MARKET,
  name: 'kraken',
  about: 'Kraken, last trade',
  symbols: [...COINS, ...KRAKEN_CURRENCIES.keys()],
  // One request for each pair: a single unknown pair would make the answer useless for all pairs.
  requestsFor: (symbols) =>
    symbols.map((symbol) => {
      const pair = KRAKEN_CURRENCIES.get(symbol) ?? `${symbol}USD`;
      const priced = pair.startsWith('USD') ? ofDollar : inDollars;
      return {
        url: `https://api.kraken.com/0/public/Ticker?pair=${pair}`,
        prices: [
          priced(symbol, (answer) => ({
            // Kraken names pairs differently in its answers: ETHUSD is XETHZUSD there.
            price: elementsAt(answer, ['error']).length === 0 ? textAt(answer, ['result', '*', 'c', '0']) : undefined,
            statedAtMs: null,
          })),
        ],
      };
    }),
};

const BITSTAMP: PublicSource = {
  ...MARKET,
  name: 'bitstamp',
  about: 'Bitstamp, last trade',
  symbols: ['ETH', 'SOL', 'POL', 'EUR', 'GBP'],
  requestsFor: (symbols) =>
    symbols.map((symbol) => ({
      url: `https://www.bitstamp.net/api/v2/ticker/${symbol.toLowerCase()}usd/`,
      prices: [
        inDollars(symbol, (answer) => ({
          price: textAt(answer, ['last']),
          statedAtMs: timeOf(textAt(answer, ['timestamp']), 1_000),
        })),
      ],
    })),
};

const GEMINI: PublicSource = {
  ...MARKET,
  name: 'gemini',
  about: 'Gemini, last trade',
  // Gemini states the end of the 24 hours whose volume it counts. That time advances in steps of some minutes, so it may look old.
  statedWithinMs: 30 * 60_000,
  symbols: ['ETH', 'SOL'],
  requestsFor: (symbols) =>
    symbols.map((symbol) => ({
      url: `https://api.gemini.com/v1/pubticker/${symbol.toLowerCase()}usd`,
      prices: [
        inDollars(symbol, (answer) => ({
          price: textAt(answer, ['last']),
          statedAtMs: timeOf(textAt(answer, ['volume', 'timestamp']), 1),
        })),
      ],
    })),
};

const BITFINEX: PublicSource = {
  ...MARKET,
  name: 'bitfinex',
  about: 'Bitfinex, last trade',
  symbols: ['ETH', 'SOL'],
  requestsFor: (symbols) =>
    oneRequest(
      `https://api-pub.bitfinex.com/v2/tickers?symbols=${symbols.map((symbol) => `t${symbol}USD`).join(',')}`,
      symbols.map((symbol) =>
        inDollars(symbol, (answer) => ({
          // The answer is an array: symbol, bid, its size, ask, its size, change, relative change, last price, volume, high, low.
          price: textAt(
            elementsAt(answer, []).find((row) => textAt(row, ['0']) === `t${symbol}USD`),
            ['7'],
          ),
          statedAtMs: null,
        })),
      ),
    ),
};

const OKX: PublicSource = {
  ...MARKET,
  name: 'okx',
  about: 'OKX, index of several exchanges',
  symbols: ['ETH', 'SOL', 'BNB', 'POL', 'CELO'],
  requestsFor: (symbols) =>
    symbols.map((symbol) => ({
      url: `https://www.okx.com/api/v5/market/index-tickers?instId=${symbol}-USD`,
      prices: [
        inDollars(symbol, (answer) => {
          const row = elementsAt(answer, ['data']).find((one) => textAt(one, ['instId']) === `${symbol}-USD`);
          return { price: textAt(row, ['idxPx']), statedAtMs: timeOf(textAt(row, ['ts']), 1) };
        }),
      ],
    })),
};

const KUCOIN: PublicSource = {
  ...MARKET,
  name: 'kucoin',
  about: 'KuCoin, prices in dollars',
  symbols: ['ETH', 'SOL', 'BNB', 'POL', 'CELO'],
  requestsFor: (symbols) =>
    oneRequest(
      `https://api.kucoin.com/api/v1/prices?base=USD&currencies=${symbols.join(',')}`,
      symbols.map((symbol) =>
        inDollars(symbol, (answer) => ({
          price: textAt(answer, ['code']) === '200000' ? textAt(answer, ['data', symbol]) : undefined,
          statedAtMs: null,
        })),
      ),
    ),
};

const COINGECKO: PublicSource = {
  ...MARKET,
  // Without an API key, CoinGecko accepts only a few requests a minute from an address.
  everyMs: 30_000,
  name: 'coingecko',
  about: 'CoinGecko, average of many exchanges',
  symbols: [...COINGECKO_COINS.keys(), ...COINGECKO_CURRENCIES],
  requestsFor: (symbols) => [
    ...geckoCoins(symbols.filter((symbol) => COINGECKO_COINS.has(symbol))),
    ...geckoCurrencies(symbols.filter((symbol) => !COINGECKO_COINS.has(symbol))),
  ],
};

function geckoCoins(coins: readonly string[]): readonly PublicRequest[] {
  const idOf = (coin: string) => COINGECKO_COINS.get(coin) ?? '';
  const ids = coins.map(idOf).join(',');
  return oneRequest(
    `https://api.coingecko.com/api/v3/simple/price?ids=${ids}&vs_currencies=usd&include_last_updated_at=true`,
    coins.map((coin) =>
      inDollars(coin, (answer) => ({
        price: textAt(answer, [idOf(coin), 'usd']),
        statedAtMs: timeOf(textAt(answer, [idOf(coin), 'last_updated_at']), 1_000),
      })),
    ),
  );
}

/**
 * Requests the prices of currencies. CoinGecko gives the price of one bitcoin in each currency, so each currency is crossed with
 * the dollar through bitcoin.
 */
function geckoCurrencies(currencies: readonly string[]): readonly PublicRequest[] {
  const bitcoinIn = (answer: Json, currency: string) =>
    priceAt(textAt(answer, ['rates', currency.toLowerCase(), 'value']));
  return oneRequest(
    'https://api.coingecko.com/api/v3/exchange_rates',
    currencies.map((currency) =>
      ofDollar(currency, (answer) => ({
        price: crossed(bitcoinIn(answer, currency), bitcoinIn(answer, 'USD')),
        statedAtMs: null,
      })),
    ),
  );
}

function oneRequest(url: string, prices: readonly PublicPrice[]): readonly PublicRequest[] {
  return prices.length === 0 ? [] : [{ url, prices }];
}

function words(text: string): readonly string[] {
  return text.split(' ');
}

export const EXCHANGES: readonly PublicSource[] = [
  COINBASE,
  KRAKEN,
  BITSTAMP,
  GEMINI,
  BITFINEX,
  OKX,
  KUCOIN,
  COINGECKO,
];
