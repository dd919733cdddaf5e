import { decimalText } from '../../../src/domain/money.ts';
import { typedUnits } from '../../../src/domain/typed-amount.ts';
import type { RefundLimit } from './api-types.ts';

/** The currencies with a field in the form. The API accepts every unit; limits in other units stay as they are. */
export const LIMIT_CURRENCIES = ['USD', 'EUR'] as const;
type Currency = (typeof LIMIT_CURRENCIES)[number];
/** The decimals of both currencies. */
const DECIMALS = 2;
/** The pattern of an amount that `limitsFrom` can read. */
export const LIMIT_PATTERN = '[0-9]{1,12}([.,][0-9]{1,2})?';

type Limits = readonly RefundLimit[] | null;

/** The limit for the field, without decimals if they are zero. Empty if there is no limit. */
export function limitText(limits: Limits, currency: Currency): string {
  const found = limits?.find(({ unit }) => unit === unitOf(currency));
  return found === undefined ? '' : decimalText(found.value, DECIMALS).replace(/\.0+$/, '');
}

/** The units of limits that have no field in the form, for display. */
export function otherUnits(limits: Limits): readonly string[] {
  return others(limits).map(({ unit }) => unit.replace(/^iso4217\//, ''));
}

/** The limits from the form's fields, plus the previous limits in other units. */
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
