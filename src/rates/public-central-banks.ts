import type { Ratio } from '../domain/rate.ts';
import { ratio } from '../domain/rate.ts';
import { elementsAt, type Json, textAt } from './json.ts';
import { CENTRAL_BANK, crossed, dayOf, ofDollar, type PublicSource, priceAt } from './public-source.ts';

/** The currencies that all three banks publish. A bank's further currencies are added where the bank is described. */
const COMMON =
  'EUR GBP CHF JPY AUD CAD NZD SEK NOK DKK PLN CZK HUF RON ISK TRY ILS ZAR BRL MXN INR CNY HKD SGD KRW THB MYR IDR PHP'.split(
    ' ',
  );

const ECB: PublicSource = {
  ...CENTRAL_BANK,
  name: 'ecb',
  about: 'European Central Bank, by Frankfurter',
  symbols: COMMON,
  requestsFor: (symbols) => [
    {
      url: 'https://api.frankfurter.dev/v1/latest?base=USD',
      prices: symbols.map((symbol) =>
        ofDollar(symbol, (answer) => ({
          price: textAt(answer, ['base']) === 'USD' ? textAt(answer, ['rates', symbol]) : undefined,
          statedAtMs: dayOf(textAt(answer, ['date'])),
        })),
      ),
    },
  ],
};

const NBP: PublicSource = {
  ...CENTRAL_BANK,
  name: 'nbp',
  about: 'National Bank of Poland, table A',
  symbols: [...COMMON, 'CLP', 'UAH'],
  requestsFor: (symbols) => [
    {
      url: 'https://api.nbp.pl/api/exchangerates/tables/A/?format=json',
      prices: symbols.map((symbol) =>
        ofDollar(symbol, (answer) => ({
          price: crossed(inZloty(answer, 'USD'), inZloty(answer, symbol)),
          statedAtMs: dayOf(textAt(answer, ['0', 'effectiveDate'])),
        })),
      ),
    },
  ],
};

const ONE: Ratio = { numerator: 1n, denominator: 1n };

function inZloty(answer: Json, currency: string): Ratio | undefined {
  if (currency === 'PLN') return ONE;
  const row = elementsAt(answer, ['0', 'rates']).find((one) => textAt(one, ['code']) === currency);
  return priceAt(textAt(row, ['mid']));
}

const CNB: PublicSource = {
  ...CENTRAL_BANK,
  name: 'cnb',
  about: 'Czech National Bank',
  symbols: COMMON,
  requestsFor: (symbols) => [
    {
      url: 'https://api.cnb.cz/cnbapi/exrates/daily?lang=EN',
      prices: symbols.map((symbol) =>
        ofDollar(symbol, (answer) => ({
          price: crossed(inKoruna(answer, 'USD'), inKoruna(answer, symbol)),
          statedAtMs: dayOf(textAt(rowOf(answer, symbol === 'CZK' ? 'USD' : symbol), ['validFor'])),
        })),
      ),
    },
  ],
};

/** The price of a currency in koruna. The bank's table gives the price of 1, 100 or 1000 units of it. */
function inKoruna(answer: Json, currency: string): Ratio | undefined {
  if (currency === 'CZK') return ONE;
  const row = rowOf(answer, currency);
  const [rate, amount] = [priceAt(textAt(row, ['rate'])), priceAt(textAt(row, ['amount']))];
  if (rate === undefined || amount === undefined) return undefined;
  return ratio(rate.numerator * amount.denominator, rate.denominator * amount.numerator);
}

function rowOf(answer: Json, currency: string): Json {
  return elementsAt(answer, ['rates']).find((one) => textAt(one, ['currencyCode']) === currency);
}

export const CENTRAL_BANKS: readonly PublicSource[] = [ECB, NBP, CNB];
