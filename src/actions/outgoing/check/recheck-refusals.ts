import { parseChainId } from '../../../domain/caip.ts';
import { payoutKeyOf } from '../../../domain/money/money-out.ts';
import { findOutgoing } from '../../../store/money/outgoing.ts';
import { isPayoutNotHeld } from '../../../store/money/payable-lots.ts';
import { hasOutdatedPosition } from '../../../store/money/positions.ts';
import { findKeyRights } from '../../../store/parties/api-keys.ts';
import { findDestinationRows } from '../../../store/parties/destinations.ts';
import { deleteAlert, listAlerts } from '../../../store/plumbing/alerts.ts';
import { type CommandDeps, command } from '../../command.ts';
import { isOwnDestination } from '../../parties/destination-rows.ts';
import { isOwnKey } from '../../parties/key-rows.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

/**
 * An alert about a refusing signer is over if it was not raised again for this long. Relayers retry such a signer at least once a minute.
 */
const SIGNER_QUIET_MS = 3 * 60_000;

/** Clears alerts about refused rows, when the row is repaired, deleted or done. */
export async function recheckRefusals(deps: CommandDeps & RowKeyDeps): Promise<boolean> {
  for (const { name, subject, lastSeen } of await listAlerts(deps.db.sql)) {
    const unseenMs = deps.world.clock.nowMs() - lastSeen.getTime();
    if (await isOver(deps, { name, subject, unseenMs }))
      await command(deps, (tx) => deleteAlert(tx, { name, subject }));
  }
  return false;
}

async function isOver(
  deps: CommandDeps & RowKeyDeps,
  { name, subject, unseenMs }: { name: string; subject: string; unseenMs: number },
): Promise<boolean> {
  if (name === 'destination_refused') {
    const [row] = await findDestinationRows(deps.db.sql, [subject]);
    return row === undefined || isOwnDestination(deps, row);
  }
  if (name === 'key_refused') {
    const row = await findKeyRights(deps.db.sql, subject);
    return row === undefined || isOwnKey(deps, row);
  }
  if (name === 'money_uncomputed') return !(await hasOutdatedPosition(deps.db.sql, subject));
  if (name === 'signer_refused' && parseChainId(subject).ok) return unseenMs > SIGNER_QUIET_MS;
  if (name !== 'outgoing_refused' && name !== 'signer_refused') return false;
  // An open transfer keeps its alert: when it passes its check, it begins, and `beginOutgoing` clears the alert.
  const outgoing = await findOutgoing(deps.db.sql, subject);
  if (outgoing !== undefined) return outgoing.state !== 'sending' || outgoing.isDue;
  return !subject.startsWith('pout_') || !(await isPayoutNotHeld(deps.db.sql, payoutKeyOf(subject)));
}
