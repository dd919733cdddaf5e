import { type Move, movePayments } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/**
 * Writes moves and notes of locked payments with their events. Throws if another database transaction has moved one of these payments.
 */
export async function writeMoves(tx: Tx, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  const moved = await movePayments(tx, moves);
  if (moved.length !== moves.length) throw new Error('A locked payment was moved by another transaction.');
}
