import { feeShare, unboundedShare } from './money/fee-share.ts';

/** The rules of deposit addresses. */

/** An address is handed out only with this much time left: a transfer takes a while. */
export const LEAST_LEFT_MS = 120_000;

/** The least amount that pays, by the operator's tolerance in hundredths of a percent. It counts only after the deadline. */
export function leastPaid(asked: bigint, toleranceBasisPoints: number): bigint {
  return asked - (asked * BigInt(toleranceBasisPoints)) / 10_000n;
}

/** The parts of an item by deposit that decide the fee of a sweep. */
export interface SweepTerms {
  readonly asset: string;
  /** The asked asset, if the item sweeps another one. */
  readonly asked?: string | null | undefined;
  readonly amount: bigint | string;
  readonly fee: bigint | string;
  readonly seal?: string | null | undefined;
}

/**
 * The fee of an amount that one sweep takes from a deposit address, as the contract computes it: its share of the asked
 * amount, rounded down. In the asked asset it is at most the asked fee; the first releases of the contract had no such
 * bound.
 */
export function sweptFee(terms: SweepTerms, swept: { readonly asset: string; readonly amount: bigint }): bigint {
  const [asked, fee] = [BigInt(terms.amount), BigInt(terms.fee)];
  const isBounded = terms.seal != null && swept.asset === (terms.asked ?? terms.asset);
  const schedule = { fee, of: asked };
  return isBounded ? feeShare(schedule, 0n, swept.amount) : unboundedShare(schedule, swept.amount);
}

/** The request for a wallet, as EIP-681 writes it: a transfer of a token on a chain. */
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
