import type { ItemKey } from '../../domain/item.ts';
import {
  type Decision,
  decide,
  isFinal,
  type PaymentEvent,
  type PaymentStatus,
  type Refusal,
} from '../../domain/payment.ts';
import { factsAfter, recordFacts } from '../../domain/payment-facts.ts';
import type { StockRefusal } from '../../domain/payment-link.ts';
import { type DecidedEvent, markDecided } from '../../store/chain/chain-events.ts';
import { findOpenItemsOf } from '../../store/chain/due-items.ts';
import { findItems, type ItemEnd, type NewItem } from '../../store/chain/items.ts';
import { holdItems } from '../../store/money/lots.ts';
import { touchPositions } from '../../store/money/positions.ts';
import {
  insertPaymentSettlements,
  type PaymentSettlement,
  recordSettlement,
} from '../../store/payments/payment-settlements.ts';
import { type Move, type Payment, stateOf } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import { acceptItems, closeItems } from '../books/record.ts';
import { announceSoldOut, readPieces, writePieces } from './links/link-stock.ts';
import { type PayerLimits, readPlaces } from './payer-places.ts';
import { writeMoves } from './write-moves.ts';

export interface MovePaymentInput {
  readonly paymentId: string;
  readonly event: PaymentEvent;
  /** `key:<id>`, `app:<id>` or a worker's name. */
  readonly actor: string;
  /** Stored with the event as its proof. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Items to enqueue and items to close, written in the same database transaction if the payment moves. */
  readonly items?: { readonly accepted?: readonly NewItem[]; readonly ended?: readonly ItemEnd[] };
  /**
   * The payer's balance in the asset of the accepted item, as an endpoint has just reported it. Payments under way count against
   * it, so that one balance cannot reserve many payments, for example all pieces of a link. Undefined if the money has moved
   * already.
   */
  readonly balance?: bigint | undefined;
  /** The transfer to the merchant, if the transaction on chain that paid the payment made it, too. */
  readonly settlement?: Omit<PaymentSettlement, 'paymentId' | 'at'> | undefined;
  /** The event of the chain that the move applies. It is marked as decided in the same database transaction. */
  readonly decided?: DecidedEvent & { readonly network: string };
  /** The lease under which a watcher decided the move. If another node has taken it, the move fails with `LeaseLostError`. */
  readonly lease?: Lease;
}

export type MoveOutcome =
  | { readonly ok: true; readonly payment: Payment }
  | {
      readonly ok: false;
      readonly refusal: Refusal | 'not_found' | 'payer_busy' | 'balance_under_way' | StockRefusal;
      readonly payment: Payment | undefined;
    };

/**
 * Decides each move on the payment that the database transaction has locked, and writes all consequences. Every change of a payment's
 * status happens here. The update is guarded by the status and version that the decision was based on, and the event is written with it.
 * A refused move writes nothing.
 */
export async function moveLocked(
  tx: Tx,
  locked: readonly Payment[],
  inputs: readonly MovePaymentInput[],
  now: Date,
  limits: PayerLimits = {},
): Promise<MoveOutcome[]> {
  const current = new Map(locked.map((payment) => [payment.id, payment]));
  const attempts = await readAttempts(tx, locked, inputs);
  const places = await readPlaces(tx, inputs, limits, now);
  const pieces = await readPieces(
    tx,
    inputs.filter(isAcceptance).flatMap(({ paymentId }) => current.get(paymentId) ?? []),
  );
  const outcomes: MoveOutcome[] = [];
  const taken: MovePaymentInput[] = [];
  let moves: Move[] = [];
  for (const input of inputs) {
    const { paymentId, items } = input;
    const payment = current.get(paymentId);
    if (payment === undefined) {
      outcomes.push({ ok: false, refusal: 'not_found', payment });
      continue;
    }
    const decision = decideMove(payment, input, attempts, now);
    const stockRefusal = isAcceptance(input) ? pieces.refusalFor(payment) : undefined;
    if (decision.ok && stockRefusal !== undefined) {
      outcomes.push({ ok: false, refusal: stockRefusal, payment });
      continue;
    }
    const refusal = decision.ok ? places.take(input) : decision.refusal;
    if (!decision.ok || refusal !== undefined) {
      outcomes.push({ ok: false, refusal: refusal ?? 'not_found', payment });
      continue;
    }
    // One SQL statement moves a payment only once. A second move of the same payment is decided after the first one was written.
    if (moves.some((move) => move.payment.id === paymentId)) {
      await writeMoves(tx, moves);
      moves = [];
    }
    const move = moveOf(payment, input, { to: decision.to, at: now });
    moves.push(move);
    taken.push(input);
    if (isAcceptance(input)) pieces.take(payment, input.actor);
    const moved = { ...payment, ...move.facts, version: payment.version + move.events.length };
    current.set(paymentId, moved);
    outcomes.push({ ok: true, payment: moved });
    for (const key of keysOf(items?.accepted)) attempts.open.set(key, paymentId);
    for (const key of keysOf(items?.ended)) attempts.open.delete(key);
  }
  await writeMoves(tx, moves);
  await writeConsequences(tx, taken, { merchantOf: (id) => current.get(id)?.merchantId ?? '', now });
  const movedIds = new Set(taken.map(({ paymentId }) => paymentId));
  const moved = [...movedIds].flatMap((id) => current.get(id) ?? []);
  await writePieces(tx, moved);
  await announceSoldOut(tx, pieces.soldOut(), now);
  await noteEnds(tx, moved);
  return outcomes;
}

/**
 * Has the money of ended payments computed again if they may have deposit addresses. Every payment with a deposit address has a native
 * deadline, so the other payments are skipped.
 */
async function noteEnds(tx: Tx, moved: readonly Payment[]): Promise<void> {
  const ended = moved.filter(({ status, nativeDeadline }) => isFinal(status) && nativeDeadline !== null);
  if (ended.length === 0) return;
  await touchPositions(
    tx,
    ended.map(({ id }) => id),
  );
}

/** True if the move accepts a payer's signature. A payer's own transaction on chain is a fact, and is never refused. */
export function isAcceptance({ event, items }: MovePaymentInput): boolean {
  return event.type === 'confirmed' && (items?.accepted?.length ?? 0) > 0;
}

/** Facts about a payment's items that its own row does not contain. */
interface Attempts {
  /** Items that can still be carried out, with their payments. */
  readonly open: Map<ItemKey, string>;
  /** Items that were accepted before. */
  readonly known: ReadonlySet<ItemKey>;
}

/** Reads items only for moves that depend on them: ends of attempts, and payments with earlier attempts. */
async function readAttempts(
  tx: Tx,
  locked: readonly Payment[],
  inputs: readonly MovePaymentInput[],
): Promise<Attempts> {
  const tried = new Set(locked.flatMap(({ id, version }) => (version > 0 ? [id] : [])));
  const ending = inputs.flatMap(({ event, paymentId }) => (isEndOfAttempts(event) ? [paymentId] : []));
  const keeping = new Set(inputs.flatMap(({ event, paymentId }) => (keepsAddresses(event) ? [paymentId] : [])));
  const again = inputs.flatMap(({ paymentId, items }) => (tried.has(paymentId) ? keysOf(items?.accepted) : []));
  const open = ending.length === 0 ? [] : await findOpenItemsOf(tx, ending);
  const known = again.length === 0 ? [] : await findItems(tx, again);
  return {
    open: new Map(
      open
        .filter(({ method, subject }) => method !== 'deposit' || !keeping.has(subject))
        .map(({ key, subject }) => [key, subject]),
    ),
    known: new Set(keysOf(known)),
  };
}

/** True for an event that needs the chain's proof for every attempt. */
function isEndOfAttempts(event: PaymentEvent): boolean {
  return event.type === 'lapsed' || (event.type === 'expired' && event.proof !== 'clock');
}

function keepsAddresses(event: PaymentEvent): boolean {
  return event.type === 'lapsed' && event.keepsAddresses === true;
}

function decideMove(payment: Payment, { event, items }: MovePaymentInput, attempts: Attempts, now: Date): Decision {
  const decision = decide(stateOf(payment), event, now.getTime());
  if (!decision.ok) return decision;
  // The chain was asked about attempts before the payment was locked. Another attempt may have been accepted since.
  const ended = new Set(keysOf(items?.ended));
  const isLeft = [...attempts.open].some(([key, id]) => id === payment.id && !ended.has(key));
  if (isEndOfAttempts(event) && isLeft) return { ok: false, refusal: 'may_still_be_paid' };
  // The signature was accepted before, and the chain has proved that it can never be carried out. An endpoint that lags behind may have
  // judged it good again.
  const isOver = keysOf(items?.accepted).some((key) => attempts.known.has(key));
  return isOver ? { ok: false, refusal: 'attempt_over' } : decision;
}

function moveOf(
  payment: Payment,
  { event, actor, evidence, settlement }: MovePaymentInput,
  { to, at }: { to: PaymentStatus; at: Date },
): Move {
  const facts = factsAfter(payment, event, { to, at });
  const events = [`payment.${to}` as const, ...(settlement === undefined ? [] : ['payment.settled' as const])];
  const data = { ...recordFacts(facts), settlement: settlement && recordSettlement({ ...settlement, at }) };
  return { payment, facts, events, at, actor, data, evidence };
}

/** Writes items, book entries, settlements, lots and decided events of the moves. */
async function writeConsequences(
  tx: Tx,
  moved: readonly MovePaymentInput[],
  { merchantOf, now }: { merchantOf: (paymentId: string) => string; now: Date },
): Promise<void> {
  const accepted = moved.flatMap(({ items }) => items?.accepted ?? []);
  const ended = moved.flatMap(({ items }) => items?.ended ?? []);
  const settled = moved.flatMap(({ paymentId, settlement }) =>
    settlement === undefined ? [] : [{ ...settlement, paymentId, at: now }],
  );
  if (accepted.length > 0) await acceptItems(tx, accepted, { merchantOf, at: now });
  if (ended.length > 0) await closeItems(tx, ended, now);
  if (settled.length > 0) await insertPaymentSettlements(tx, settled);
  const paid = ended.flatMap(({ key, state }) => (state === 'paid' ? [key] : []));
  if (paid.length > 0) await holdItems(tx, paid, now);
  const decided = moved.flatMap((input) => input.decided ?? []);
  for (const [network, events] of Map.groupBy(decided, (event) => event.network)) {
    await markDecided(tx, network, events, now);
  }
}

function keysOf(items: readonly { readonly key: ItemKey }[] = []): readonly ItemKey[] {
  return items.map(({ key }) => key);
}
