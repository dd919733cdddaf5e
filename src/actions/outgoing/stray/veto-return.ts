import { VETOED } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import type { Stray } from '../../../store/money/strays.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { endReturn } from './note-return.ts';
import { lockStrayOfPayment, strayNotFound } from './return-stray.ts';

/** Ends a requested return that is not being sent yet, for example a thief's. The money can be returned to another account. */
export function vetoReturn(
  deps: CommandDeps,
  { id, reason, actor }: { readonly id: string; readonly reason: string; readonly actor: string },
): Promise<Stray> {
  return command(deps, async (tx, at) => {
    const stray = await lockStrayOfPayment(tx, id);
    if (stray === undefined) throw strayNotFound(id);
    if (stray.state !== 'requested') {
      throw new ApiError('invalid_state', `No return of it can be vetoed: its state is ${stray.state}.`);
    }
    await endReturn(tx, stray, { problem: VETOED, actor, evidence: { reason } }, at);
    const { recipient } = stray;
    const detail = { before: { state: stray.state, recipient }, after: { state: 'unclaimed' }, reason };
    await appendAudit(tx, { at, actor, action: 'stray.vetoed', subject: id, detail });
    return { ...stray, state: 'unclaimed', recipient: null, requestedAt: null, sendAfter: null, problem: VETOED };
  });
}
