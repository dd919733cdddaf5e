/** Amounts are integers of the smallest unit. This file uses no floating-point numbers, because they would round. */

const MAX_DIGITS = 78; // 2^256 - 1 has 78

/** Reads an amount in minor units: digits only, no sign, no leading zero, not zero. */
export function parseUnits(text: string): bigint | undefined {
  return text.length <= MAX_DIGITS && /^[1-9][0-9]*$/.test(text) ? BigInt(text) : undefined;
}

/** An exact decimal number: `units` divided by ten to the power of `decimals`. */
export interface Decimal {
  readonly units: bigint;
  readonly decimals: number;
}

/** Reads a decimal number as people write it: digits, and perhaps a point and more digits; no sign, no exponent. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, whole, fraction = ''] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : { units: BigInt(whole + fraction), decimals: fraction.length };
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const decimals = Math.max(a.decimals, b.decimals);
  return { units: scaledTo(a, decimals) + scaledTo(b, decimals), decimals };
}

/** The exact spelling with all decimals of the unit: `decimalText('1230', 2)` is `12.30`. */
export function decimalText(units: string | bigint, decimals: number): string {
  const value = BigInt(units);
  const digits = `${value}`.replace('-', '').padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${decimals === 0 ? '' : '.'}${digits.slice(point)}`;
}

/** The shortest exact spelling: `12.5`, not `12.50`. It is also a valid JSON number. */
export function formatDecimal({ units, decimals }: Decimal): string {
  const text = decimalText(units, decimals);
  return decimals === 0 ? text : text.replace(/\.?0+$/, '');
}

/**
 * An amount as shown to people: with at least two decimals, if the unit has them. Examples: `12.50`, `0.004`, and `7` in a unit
 * without decimals.
 */
export function formatForPeople(amount: Decimal): string {
  const [whole = '', fraction = ''] = formatDecimal(amount).split('.');
  const decimals = fraction.padEnd(Math.min(2, amount.decimals), '0');
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

/** An amount for people, with its symbol: `12.50 USD`. */
export function symbolText(amount: Decimal, symbol: string): string {
  return `${formatForPeople(amount)} ${symbol}`;
}

export function sum(units: readonly bigint[]): bigint {
  return units.reduce((total, each) => total + each, 0n);
}

export function scaledTo({ units, decimals }: Decimal, to: number): bigint {
  return units * 10n ** BigInt(to - decimals);
}
