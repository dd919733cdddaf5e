export interface FeeSchedule {
  readonly fee: bigint;
  /** The amount that the fee is charged on. Positive, and not less than the fee. */
  readonly of: bigint;
}

/**
 * The fee of the units from `from` to `to`, pro rata and rounded down. It is a difference of running totals, so the shares of
 * all parts add up to the share of the whole. Units beyond `of` bear no fee, so the sum never exceeds the fee.
 *
 * The contract uses the same rule: the fee of a sweep is `feeShare(terms, 0, amount)`.
 */
export function feeShare(schedule: FeeSchedule, from: bigint, to: bigint): bigint {
  return feeUpTo(schedule, to) - feeUpTo(schedule, from);
}

function feeUpTo(schedule: FeeSchedule, units: bigint): bigint {
  return units >= schedule.of ? schedule.fee : unboundedShare(schedule, units);
}

/** The fee of units that are no part of `of`, such as units of another token: pro rata, without an upper bound. */
export function unboundedShare({ fee, of }: FeeSchedule, units: bigint): bigint {
  return (fee * units) / of;
}
