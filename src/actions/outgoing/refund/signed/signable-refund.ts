import { isoText } from '../../../../domain/wait-words.ts';
import { ApiError } from '../../../../errors.ts';
import { findShownRefunds, type ShownRefund } from '../../../../store/money/refunds.ts';
import type { CommandDeps } from '../../../command.ts';
import { HOLD_TEXTS } from '../held-cover.ts';
import { refundNotFound } from '../retry-refund.ts';

export type Signable = ShownRefund & { readonly merchantAccount: string };

/** The refund, if its merchant can sign for it now. Otherwise throws the reason why not. */
export async function findSignable(deps: CommandDeps, id: string): Promise<Signable> {
  const refund = await findShown(deps, id);
  const { merchantAccount } = refund;
  const problem = problemOf(refund);
  if (problem !== undefined || merchantAccount === null) throw new ApiError('invalid_state', problem ?? HELD);
  return { ...refund, merchantAccount };
}

export async function findShown({ db, world }: CommandDeps, id: string): Promise<ShownRefund> {
  const [refund] = await findShownRefunds(db.sql, { id, now: new Date(world.clock.nowMs()) });
  if (refund === undefined) throw refundNotFound(id);
  return refund;
}

const HELD = 'The merchant cannot sign for this refund: the money is not on an account of the merchant.';

const STATES: Partial<Record<ShownRefund['state'], string>> = {
  requested: 'The refund was just requested. Try again in a moment.',
  sending: 'The refund is being sent.',
  refunded: 'The refund has arrived.',
  failed: 'The refund has ended.',
};

function problemOf({
  state,
  isStopped,
  isCooling,
  sendAfter,
  lack,
  isOffered,
  waitsFor,
}: ShownRefund): string | undefined {
  if (state !== 'awaiting_funds') return STATES[state];
  if (isStopped) return 'The operator has stopped this refund.';
  if (isCooling) return `The refund cools off until ${isoText(sendAfter?.getTime() ?? 0)}.`;
  if (waitsFor !== null) return `The refund waits: ${HOLD_TEXTS[waitsFor]}.`;
  return lack === '0' && !isOffered ? 'The refund is being sent.' : undefined;
}
