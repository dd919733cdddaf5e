import type { Offer } from '../../domain/offer.ts';
import { type Fees, feesOf, offerOf } from './offer.ts';

/**
 * The divisor of the least raise: an eighth. Nodes replace a transaction only if the new one pays at least a tenth more, and an
 * eighth is accepted everywhere.
 */
const MIN_RAISE_DIVISOR = 8n;
/** If a transaction offers this many times the current price and is not mined, then its price is not the problem. */
const POINTLESS_MULTIPLE = 4n;

export function raiseOffer(
  offer: Offer,
  { current, cap }: { readonly current: Offer; readonly cap: bigint | undefined },
) {
  const raised = raiseFees(feesOf(offer), { price: feesOf(current), cap });
  return raised && offerOf(raised);
}

/**
 * The fees of the next replacement. Undefined if they exceed the operator's cap, or if the present fees are far above the current
 * price. Then the best version is only sent again, and is mined when the price falls. So a cap can delay a transaction, but not
 * block it for good.
 */
export function raiseFees(fees: Fees, { price, cap }: { readonly price: Fees; readonly cap: bigint | undefined }) {
  const tip = larger(price.tip, anEighthMore(fees.tip));
  const max = larger(larger(price.max, anEighthMore(fees.max)), tip);
  if (cap !== undefined && max > cap) return undefined;
  if (fees.max >= price.max * POINTLESS_MULTIPLE) return undefined;
  return { max, tip };
}

const anEighthMore = (value: bigint) => value + value / MIN_RAISE_DIVISOR + 1n;
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
