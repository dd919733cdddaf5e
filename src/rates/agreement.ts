import { compare, median, type Ratio } from '../domain/rate.ts';

/** A source's price for a pair, as a ratio. All compared opinions have the same direction, such as ETH in USD. */
export interface Opinion {
  readonly value: Ratio;
}

const LEAST_SOURCES = 2;
const PARTS = 10_000n;

/**
 * The opinions that agree, or none. The opinion farthest from the median of the others is removed first, then the next, until the
 * remaining ones are close to each other. The remaining opinions count only if they are at least two and more than the removed
 * ones: two against two is undecided.
 */
export function agreeing<T extends Opinion>(opinions: readonly T[], maxDeviationBasisPoints: number): readonly T[] {
  const limit: Ratio = { numerator: BigInt(maxDeviationBasisPoints), denominator: PARTS };
  let left = opinions;
  // Every round removes at least one opinion, so the loop ends.
  while (left.length >= LEAST_SOURCES) {
    const distances = left.map(({ value }, index) => {
      const others = left.filter((_, other) => other !== index).map((opinion) => opinion.value);
      return distance(value, median(others));
    });
    const farthest = distances.reduce((most, next) => (compare(next, most) > 0 ? next : most));
    if (compare(farthest, limit) <= 0) break;
    left = left.filter((_, index) => compare(distances[index] as Ratio, farthest) < 0);
  }
  return left.length >= LEAST_SOURCES && left.length * 2 > opinions.length ? left : [];
}

/** The distance relative to the smaller value, so that double and half are equally far away. */
function distance(a: Ratio, b: Ratio): Ratio {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left < right
    ? { numerator: right - left, denominator: left }
    : { numerator: left - right, denominator: right };
}
