import currencyCodes from 'currency-codes';
import type { Mode } from './mode.ts';
import type { Parsed } from './parsed.ts';

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly decimals: number;
}

/** A currency in which a price can be set. It has the gateway's decimals, because browsers use other decimals for some currencies. */
export interface PayableCurrency extends Pick<Currency, 'code' | 'decimals'> {
  /** The modes whose payments can have this currency. */
  readonly modes: readonly Mode[];
}

/** Entries of ISO 4217 that are not used for payments: metals, bond units, funds, accounting units, tests. */
const NOT_MONEY = new Set(
  'BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '),
);

const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  currencyCodes.data
    .filter(({ code }) => !NOT_MONEY.has(code))
    .map(({ code, currency, digits }) => [code, { code, name: currency, decimals: digits }]),
);

export function listCurrencies(): readonly Currency[] {
  return [...CURRENCIES.values()];
}

export function findCurrency(code: string): Currency | undefined {
  return CURRENCIES.get(code);
}

const UNIT_PREFIX = 'iso4217/';

/** Reads a unit of fiat money, such as `iso4217/USD`. */
export function parseFiatUnit(unit: string): Parsed<Currency> {
  const currency = findCurrency(fiatCodeOf(unit) ?? '');
  if (currency === undefined) return { ok: false, problem: 'must name an ISO 4217 currency, such as iso4217/USD' };
  return { ok: true, value: currency };
}

/** The currency code in a unit of fiat money. Undefined for the unit of a token. */
export function fiatCodeOf(unit: string): string | undefined {
  return unit.startsWith(UNIT_PREFIX) ? unit.slice(UNIT_PREFIX.length) : undefined;
}
