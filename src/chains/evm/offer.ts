import type { Offer } from '../../domain/offer.ts';

/** Prices per unit of gas, in the smallest unit of the native coin. */
export interface Fees {
  readonly max: bigint;
  readonly tip: bigint;
}

/**
 * The fees in the form in which sends store them. The tip is stored with the transaction, because a replacement must raise it,
 * too.
 */
export function offerOf({ max, tip }: Fees): Offer {
  return { price: max, terms: { tip: String(tip) } };
}

export function feesOf({ price, terms }: Offer): Fees {
  return { max: price, tip: BigInt(terms.tip ?? 0) };
}

/** The price in gwei with three decimals, rounded down: precise enough to compare a price with its cap. */
export function priceText(price: bigint): string {
  const gwei = `${price / 1_000_000_000n}.${String((price / 1_000_000n) % 1_000n).padStart(3, '0')}`;
  return `${gwei} gwei for a unit of gas`;
}
