import { unitKey } from './addresses/families.ts';
import { parseDecimal } from './money.ts';

/** The operator's fee of a payment: `fixed + amount × percentage / 100`. */
export interface FeeTerms {
  /** A decimal percent: `0.4` is 0.4 %. */
  readonly percentage: string;
  /** One amount per currency or asset. A unit that is not listed has no fixed fee. */
  readonly fixed: readonly { readonly unit: string; readonly value: string }[];
}

/** True if the text is a valid percentage: 0 to 100, plain decimal digits, at most 18 decimals. */
export function isPercentage(text: string): boolean {
  return /^(?:(?:0|[1-9][0-9]?)(?:\.[0-9]{1,18})?|100(?:\.0{1,18})?)$/.test(text);
}

export const NO_FEES: FeeTerms = { percentage: '0', fixed: [] };

/** Fee terms, with the time at which they come into force. A merchant's own terms take precedence over those of its partner. */
export interface DatedFeeTerms extends FeeTerms {
  readonly isMerchants: boolean;
  readonly startsAtMs: number;
}

/** The newest terms in force: the merchant's own, else its partner's, else none. */
export function termsInForce(terms: readonly DatedFeeTerms[], nowMs: number): FeeTerms {
  const started = terms.filter(({ startsAtMs }) => startsAtMs <= nowMs);
  const own = started.filter(({ isMerchants }) => isMerchants);
  const candidates = own.length > 0 ? own : started;
  return (
    candidates.reduce<DatedFeeTerms | undefined>(
      (newest, next) => (newest === undefined || next.startsAtMs >= newest.startsAtMs ? next : newest),
      undefined,
    ) ?? NO_FEES
  );
}

/** The fee of a payment. The percentage part is rounded down, in the merchant's favour. The fee is never more than the payment. */
export function feeOf(terms: FeeTerms, unit: string, amount: bigint): bigint {
  const total = fixedPart(terms, unit) + percentagePart(terms, amount);
  return total < amount ? total : amount;
}

/** The fixed part of the result of `feeOf`. */
export function fixedFeeOf(terms: FeeTerms, unit: string, amount: bigint): bigint {
  const [fixed, total] = [fixedPart(terms, unit), feeOf(terms, unit, amount)];
  return fixed < total ? fixed : total;
}

/** True if the amount is at least its own fee. It can be false, because the terms may be newer than the payment. */
export function coversFee(terms: FeeTerms, unit: string, amount: bigint): boolean {
  return fixedPart(terms, unit) + percentagePart(terms, amount) <= amount;
}

/** The smallest amount that covers its own fee. */
export function feeFloor(terms: FeeTerms, unit: string): bigint {
  const covers = (amount: bigint) => coversFee(terms, unit, amount);
  let low = 1n;
  let high = fixedPart(terms, unit) + 1n;
  // With a percentage below 100, if an amount covers its fee, all larger amounts do, too. So a bisection finds the smallest one.
  for (let steps = 0; !covers(high) && steps < MAX_STEPS; steps += 1) high *= 2n;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (covers(middle)) high = middle;
    else low = middle + 1n;
  }
  return high;
}

const MAX_STEPS = 300;

function fixedPart({ fixed }: FeeTerms, unit: string): bigint {
  const listed = fixed.find((part) => unitKey(part.unit) === unitKey(unit));
  return listed === undefined ? 0n : BigInt(listed.value);
}

function percentagePart({ percentage }: FeeTerms, amount: bigint): bigint {
  const { units, decimals } = parseDecimal(percentage) ?? { units: 0n, decimals: 0 };
  return (amount * units) / (100n * 10n ** BigInt(decimals));
}
