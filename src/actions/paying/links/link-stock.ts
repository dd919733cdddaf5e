import { isFinal } from '../../../domain/payment.ts';
import { isSoldOut } from '../../../domain/payment-link.ts';
import {
  findLinkStock,
  type LinkStock,
  lockLinkStocks,
  returnPieces,
  takePieces,
} from '../../../store/payments/payment-links.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Reader, Tx } from '../../../store/plumbing/database.ts';

/** The pieces that links have left for payments that are about to be accepted. */
export interface Pieces {
  isLeftFor(payment: Payment): boolean;
  take(payment: Payment): void;
}

/** Locks the links of these payments, so that requests at the same time cannot take the last piece together. */
export async function readPieces(tx: Tx, accepting: readonly Payment[]): Promise<Pieces> {
  const ids = [...new Set(accepting.flatMap(({ linkId }) => linkId ?? []))];
  const stocks = new Map((ids.length === 0 ? [] : await lockLinkStocks(tx, ids)).map((stock) => [stock.id, stock]));
  const stockOf = ({ linkId }: Payment) => (linkId === null ? undefined : stocks.get(linkId));
  return {
    isLeftFor(payment) {
      const stock = stockOf(payment);
      return stock === undefined || !isSoldOut(stock);
    },
    take(payment) {
      const stock = stockOf(payment);
      if (stock !== undefined) stocks.set(stock.id, { ...stock, taken: (stock.taken ?? 0) + 1 });
    },
  };
}

/**
 * Writes which of these payments have a piece: all that are being paid or have been paid. In the transaction of the moves,
 * so a piece is taken and returned with the status, and never twice.
 */
export async function writePieces(tx: Tx, moved: readonly Payment[]): Promise<void> {
  const ofLinks = moved.filter(({ linkId }) => linkId !== null);
  const hasPiece = ({ status }: Payment) => status === 'processing' || status === 'succeeded';
  const taken = ofLinks.filter(hasPiece).map(({ id, linkId }) => ({ paymentId: id, linkId: linkId ?? '' }));
  const returned = ofLinks.filter((payment) => !hasPiece(payment)).map(({ id }) => id);
  if (taken.length > 0) await takePieces(tx, taken);
  if (returned.length > 0) await returnPieces(tx, returned);
}

/**
 * The stock that limits a payment: undefined if it has no link, if its link has no stock, or if the payment has ended or has its
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
