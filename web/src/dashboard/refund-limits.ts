import { typedUnits } from '../../../src/domain/typed-amount.ts';
import { decimalText } from '../shared/money.ts';
import type { RefundLimit } from './shapes.ts';

/** The currencies that the form has fields for. The API takes every unit, and limits in others stay as they are. */
export const LIMIT_CURRENCIES = ['USD', 'EUR'] as const;
type Currency = (typeof LIMIT_CURRENCIES)[number];
/** Of both currencies. */
const DECIMALS = 2;
/** The form of an amount as `limitsFrom` reads it, for the field. */
export const LIMIT_PATTERN = '[0-9]{1,12}([.,][0-9]{1,2})?';

type Limits = readonly RefundLimit[] | null;

/** The limit as the field shows it, with cents only where there are some. Empty: none. */
export function limitText(limits: Limits, currency: Currency): string {
  const found = limits?.find(({ unit }) => unit === unitOf(currency));
  return found === undefined ? '' : decimalText(found.value, DECIMALS).replace(/\.0+$/, '');
}

/** The units without a field, as people write them. */
export function otherUnits(limits: Limits): readonly string[] {
  return others(limits).map(({ unit }) => unit.replace(/^iso4217\//, ''));
}

/** The limits of a form: those of its fields, and the ones before that it has no fields for. */
export function limitsFrom(textOf: (currency: Currency) => string, before: Limits): readonly RefundLimit[] {
  const given = LIMIT_CURRENCIES.flatMap((currency) => {
    const text = textOf(currency).trim();
    const value = text === '' ? 0n : typedUnits(text, DECIMALS);
    if (value === undefined) throw new RangeError(`${text} is no amount in ${currency}.`);
    return value === 0n ? [] : [{ unit: unitOf(currency), value: value.toString() }];
  });
  return [...given, ...others(before)];
}

function others(limits: Limits): readonly RefundLimit[] {
  return (limits ?? []).filter(({ unit }) => LIMIT_CURRENCIES.every((currency) => unit !== unitOf(currency)));
}

function unitOf(currency: Currency): string {
  return `iso4217/${currency}`;
}
