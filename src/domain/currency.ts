import currencyCodes from 'currency-codes';

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly decimals: number;
}

/** Entries of ISO 4217 that nobody is paid in: metals, bond units, funds, accounting units, tests. */
const NOT_MONEY = new Set(
  'BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '),
);

const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  currencyCodes.data
    .filter(({ code }) => !NOT_MONEY.has(code))
    .map(({ code, currency, digits }) => [code, { code, name: currency, decimals: digits }]),
);

export function findCurrency(code: string): Currency | undefined {
  return CURRENCIES.get(code);
}
