import type { EventType } from '../../../domain/event.ts';
import { decideRefund, type RefundEvent } from '../../../domain/refund.ts';
import { appendEvents } from '../../../store/events/events.ts';
import {
  insertRefund,
  lockRefund,
  type NewRefund,
  type Refund,
  recordRefund,
  renewRefund,
  updateRefund,
} from '../../../store/money/refunds.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface RefundChange {
  readonly event: RefundEvent;
  /** The actor of the event: a worker's name, or the operator. */
  readonly actor: string;
  /** The proof of the event, stored in the event log. */
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly transactionHash?: string;
  readonly problem?: string;
}

const EVENT_TYPES: Readonly<Record<RefundEvent, EventType>> = {
  covered: 'refund.processing',
  short: 'refund.processing',
  retried: 'refund.processing',
  reopened: 'refund.processing',
  replanned: 'refund.processing',
  undone: 'refund.processing',
  paid: 'refund.succeeded',
  lapsed: 'refund.processing',
  failed: 'refund.failed',
  screened: 'refund.failed',
  unfit: 'refund.failed',
  vetoed: 'refund.failed',
  renewed: 'refund.created',
};

/**
 * Inserts a refund and locks it. A vetoed refund of the same number is replaced. Undefined if the payment has another refund of
 * this number.
 */
export async function openRefund(
  tx: Tx,
  refund: NewRefund,
  { vetoed, actor, at }: { readonly vetoed?: Refund | undefined; readonly actor: string; readonly at: Date },
): Promise<Refund | undefined> {
  const isWritten = vetoed === undefined ? insertRefund(tx, refund, at) : renewRefund(tx, vetoed, refund, at);
  if (!(await isWritten)) return undefined;
  const opened = await lockRefund(tx, refund.id);
  if (opened === undefined) throw new Error('A refund that was just written is not there.');
  await logRefund(tx, opened, { type: 'refund.created', actor, evidence: {} }, at);
  return opened;
}

/** Moves a refund that this database transaction has locked, and returns it. No other function changes the state of refunds. */
export async function moveRefund(tx: Tx, refund: Refund, change: RefundChange, at: Date): Promise<Refund> {
  const { event, actor, evidence, transactionHash = null, problem = null } = change;
  const to = decideRefund(refund.state, event);
  if (to === undefined) throw new Error(`A refund that is ${refund.state} cannot be ${event}.`);
  const isMoved = await updateRefund(tx, { refund, to, transactionHash, problem }, at);
  if (!isMoved) throw new Error('A locked refund was moved by another transaction.');
  const moved = { ...refund, state: to, version: refund.version + 1, transactionHash, problem, updatedAt: at };
  await logRefund(tx, moved, { type: EVENT_TYPES[event], actor, evidence: { move: event, ...evidence } }, at);
  return moved;
}

function logRefund(
  tx: Tx,
  refund: Refund,
  event: { readonly type: EventType; readonly actor: string; readonly evidence: Readonly<Record<string, unknown>> },
  at: Date,
): Promise<void> {
  const { id: objectId, merchantId } = refund;
  return appendEvents(tx, [{ ...event, objectId, merchantId, at, data: recordRefund(refund) }]);
}

/** Identifies a refund in the books. */
export function aboutRefund({ id, network, asset, merchantId }: Refund) {
  return { network, asset, subject: id, reference: id, merchantId };
}
