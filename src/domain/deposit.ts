import { feeShare, unboundedShare } from './money/fee-share.ts';

/** The time that a payment must have left for a deposit address to be offered, because a transfer takes a while. */
export const LEAST_LEFT_MS = 120_000;

/**
 * The highest tolerance that an operator can set. Checks of older payments assume it, because the tolerance of that time may have
 * been another one than today's.
 */
export const MOST_TOLERANCE_BASIS_POINTS = 1_000;

/** The least received amount that pays a payment, by the operator's tolerance. The tolerance applies only after the deadline. */
export function leastPaid(asked: bigint, toleranceBasisPoints: number): bigint {
  return asked - (asked * BigInt(toleranceBasisPoints)) / 10_000n;
}

/** Divides received money into two parts: the part that pays, which is at most the amount due, and the overpaid rest. */
export function splitOverpayment(
  received: bigint,
  due: bigint,
): { readonly paying: bigint; readonly overpaid: bigint } {
  const paying = received < due ? received : due;
  return { paying, overpaid: received - paying };
}

/** The terms of a deposit address that decide the fee of a sweep. */
export interface SweepTerms {
  readonly asset: string;
  /** The asset that the address was made for, if a sweep takes another asset from it. */
  readonly asked?: string | null | undefined;
  readonly amount: bigint | string;
  readonly fee: bigint | string;
  readonly seal?: string | null | undefined;
}

/**
 * The fee of one sweep of a deposit address, as the contract computes it: pro rata to the asked amount, rounded down. In the
 * asked asset it is at most the asked fee; the first releases of the contract had no such bound.
 */
export function sweptFee(terms: SweepTerms, swept: { readonly asset: string; readonly amount: bigint }): bigint {
  const [asked, fee] = [BigInt(terms.amount), BigInt(terms.fee)];
  const isBounded = terms.seal != null && swept.asset === (terms.asked ?? terms.asset);
  const schedule = { fee, of: asked };
  return isBounded ? feeShare(schedule, 0n, swept.amount) : unboundedShare(schedule, swept.amount);
}

/** The maximum fee of all sweeps of these units together. `terms.fee` bounds each sweep, and not the sum of several. */
export function mostFeesOf(terms: Pick<SweepTerms, 'amount' | 'fee'>, units: bigint): bigint {
  return unboundedShare({ fee: BigInt(terms.fee), of: BigInt(terms.amount) }, units);
}

/** An EIP-681 request to a wallet: a transfer of a token on a chain. */
export function transferUri({
  token,
  chainNumber,
  address,
  amount,
}: {
  readonly token: string;
  readonly chainNumber: string;
  readonly address: string;
  readonly amount: bigint;
}): string {
  return `ethereum:${token}@${chainNumber}/transfer?address=${address}&uint256=${amount}`;
}
