import { isRestoring } from '../../store/parties/freezes.ts';
import { lockOverdue } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { moveLocked } from './move-payment.ts';

const BATCH = 500;

/**
 * Expires overdue payments. Returns true if there may be more. After a restore it expires none: a payment may have been paid
 * since the backup, which only the rebuild finds out.
 */
export function expirePayments(deps: CommandDeps, limit = BATCH): Promise<boolean> {
  return command(deps, async (tx, now) => {
    if (await isRestoring(tx)) return false;
    const overdue = await lockOverdue(tx, { now, limit });
    const moves = overdue.map(({ id: paymentId }) => ({ paymentId, ...EXPIRY }));
    await moveLocked(tx, overdue, moves, now);
    return overdue.length === limit;
  });
}

const EXPIRY = {
  event: { type: 'expired', proof: 'clock' },
  actor: 'sweeper',
  evidence: { proof: 'clock' },
} as const;
