import { isFinal } from '../../../domain/payment.ts';
import { refusalOfStock, type StockRefusal } from '../../../domain/payment-link.ts';
import {
  findLinkStock,
  findLinks,
  type LinkStock,
  lockLinkStocks,
  returnPieces,
  takePieces,
} from '../../../store/payments/payment-links.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Reader, Tx } from '../../../store/plumbing/database.ts';
import { logLink } from './log-link.ts';

/** The pieces that links have left for payments that are about to be accepted. */
export interface Pieces {
  /** Undefined if a piece is left for the payment, or if its link has no stock. */
  refusalFor(payment: Payment): StockRefusal | undefined;
  take(payment: Payment, actor: string): void;
  /** Links whose last piece was taken here, each with the actor of the payment that took it. */
  soldOut(): ReadonlyMap<string, string>;
}

/**
 * Reads the pieces that are left for these payments. Locks their links, so that two concurrent requests cannot both take the last piece.
 */
export async function readPieces(tx: Tx, accepting: readonly Payment[]): Promise<Pieces> {
  const ids = [...new Set(accepting.flatMap(({ linkId }) => linkId ?? []))];
  const stocks = new Map((ids.length === 0 ? [] : await lockLinkStocks(tx, ids)).map((stock) => [stock.id, stock]));
  const soldOut = new Map<string, string>();
  const stockOf = ({ linkId }: Payment) => (linkId === null ? undefined : stocks.get(linkId));
  return {
    refusalFor(payment) {
      const stock = stockOf(payment);
      return stock && refusalOfStock(stock);
    },
    take(payment, actor) {
      const stock = stockOf(payment);
      if (stock === undefined) return;
      const left = { ...stock, taken: (stock.taken ?? 0) + 1 };
      stocks.set(stock.id, left);
      if (refusalOfStock(left) === 'sold_out') soldOut.set(stock.id, actor);
    },
    soldOut: () => soldOut,
  };
}

/**
 * Stores which of these payments have a piece: all that are being paid or have been paid. Called in the database transaction that moves
 * the payments, so a piece is taken and returned together with the status, and never twice.
 */
export async function writePieces(tx: Tx, moved: readonly Payment[]): Promise<void> {
  const ofLinks = moved.filter(({ linkId }) => linkId !== null);
  const hasPiece = ({ status }: Payment) => status === 'processing' || status === 'succeeded';
  const taken = ofLinks.filter(hasPiece).map(({ id, linkId }) => ({ paymentId: id, linkId: linkId ?? '' }));
  const returned = ofLinks.filter((payment) => !hasPiece(payment)).map(({ id }) => id);
  if (taken.length > 0) await takePieces(tx, taken);
  if (returned.length > 0) await returnPieces(tx, returned);
}

/** Appends an event to links whose last piece was taken. `readPieces` has locked them. */
export async function announceSoldOut(tx: Tx, soldOut: ReturnType<Pieces['soldOut']>, at: Date): Promise<void> {
  if (soldOut.size === 0) return;
  for (const link of await findLinks(tx, [...soldOut.keys()])) {
    await logLink(tx, link, { type: 'payment_link.sold_out', actor: soldOut.get(link.id) ?? '', at });
  }
}

/**
 * The stock that limits a payment. Undefined if the payment has no link, its link has no stock, or the payment has ended or has its
 * piece.
 */
export async function findStockFor(
  db: Reader,
  { linkId, status }: Pick<Payment, 'linkId' | 'status'>,
): Promise<LinkStock | undefined> {
  if (linkId === null || status === 'processing' || isFinal(status)) return undefined;
  const stock = await findLinkStock(db, linkId);
  return stock === undefined || stock.stock === null ? undefined : stock;
}
