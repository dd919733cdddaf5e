/**
 * The upper bounds, in seconds, of the classes of a histogram: payments by their time from creation to success. The last bound is
 * longer than a payment can be open.
 */
export const TIME_LIMITS_S = [
  2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 180, 240, 300, 420, 600, 900, 1_200, 1_800, 2_700,
  3_600, 7_200, 14_400, 28_800, 86_400, 259_200, 604_800, 2_678_400, 2_147_483_647,
] as const;

export interface TimeCount {
  readonly withinS: number;
  readonly payments: number;
}

/** The smallest bound within which this share of the payments was paid. Null without payments. */
export function timeOfShare(counts: readonly TimeCount[], share: number): number | null {
  const total = counts.reduce((sum, { payments }) => sum + payments, 0);
  let reached = 0;
  for (const { withinS, payments } of counts.toSorted((a, b) => a.withinS - b.withinS)) {
    reached += payments;
    if (payments > 0 && reached >= total * share) return withinS;
  }
  return null;
}
