import { isId } from './ids.ts';
import { typedUnits } from './typed-amount.ts';

export const LINK_STATUSES = ['active', 'inactive'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** The maximum stock of a link. Every confirmation of a link with a stock counts its taken pieces, so the stock is bounded. */
export const MAX_STOCK = 10_000;
/** The limit of active links per merchant. */
export const MAX_LINKS = 1_000;

/** The price of a link: fixed, or chosen by the payer between two bounds. In minor units. */
export type LinkPrice =
  | { readonly value: bigint }
  | {
      readonly minimum: bigint;
      readonly maximum: bigint;
    };

export interface LinkState {
  readonly status: LinkStatus;
  readonly expiresAt: Date | null;
  /** The number of pieces that the link sells. Null if unlimited. */
  readonly stock: number | null;
  /** Pieces that are being paid or have been paid. Null for a link without a stock. */
  readonly taken: number | null;
}

/** The reason why the link takes no payments. Undefined while it takes them. */
export function closedReason(link: LinkState, nowMs: number): 'inactive' | 'expired' | 'sold_out' | undefined {
  if (link.status !== 'active') return 'inactive';
  if (link.expiresAt !== null && nowMs >= link.expiresAt.getTime()) return 'expired';
  return isSoldOut(link) ? 'sold_out' : undefined;
}

/** The stock of a link as the database knows it. */
export interface KnownStock extends Pick<LinkState, 'stock' | 'taken'> {
  /** True from a restore of the database until its rebuild: pieces that were sold after the backup are not counted yet. */
  readonly isUncertain: boolean;
}

export type StockRefusal = 'sold_out' | 'stock_uncertain';

/** The reason why a limited stock gives no piece away. Undefined if a piece is left. */
export function refusalOfStock(known: KnownStock): StockRefusal | undefined {
  if (isSoldOut(known)) return 'sold_out';
  return known.stock !== null && known.isUncertain ? 'stock_uncertain' : undefined;
}

function isSoldOut({ stock, taken }: Pick<LinkState, 'stock' | 'taken'>): boolean {
  return stock !== null && (taken ?? 0) >= stock;
}

/** The amount of a new payment: the fixed price, or the amount that the payer has typed. Undefined if that is not allowed. */
export function amountFor(price: LinkPrice, typed: string, decimals: number): bigint | undefined {
  if ('value' in price) return price.value;
  const amount = typedUnits(typed, decimals);
  return amount !== undefined && amount >= price.minimum && amount <= price.maximum ? amount : undefined;
}

/**
 * The reference as payers see it. A payment of a link without a reference has the link's id as its reference. That id is hidden,
 * because it means nothing to payers.
 */
export function shownReference(referenceId: string): string {
  return isId('plk_', referenceId) ? '' : referenceId;
}
