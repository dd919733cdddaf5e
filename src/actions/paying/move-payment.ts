import { decide, type PaymentEvent, type Refusal } from '../../domain/payment.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { ItemEnd, NewItem } from '../../store/chain/items.ts';
import { holdNetAmounts } from '../../store/money/payouts.ts';
import type { PaymentFeed } from '../../store/payments/payment-feed.ts';
import { insertPaymentSettlements, type PaymentSettlement } from '../../store/payments/payment-settlements.ts';
import { lockPayments, type Move, movePayments, type Payment, stateOf } from '../../store/payments/payments.ts';
import { isDataFault } from '../../store/plumbing/database.ts';
import { acceptItems, closeItems } from '../books/record.ts';
import { type CommandDeps, command } from '../command.ts';

export interface MovePaymentInput {
  readonly paymentId: string;
  readonly event: PaymentEvent;
  /** Who says so: `key:<id>`, `app:<id>`, a worker's name. */
  readonly actor: string;
  /** What proves it, kept with the move. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** What becomes work by this move, and what is over by it: stored in the same transaction, if the payment moves. */
  readonly items?: { readonly accepted?: readonly NewItem[]; readonly ended?: readonly ItemEnd[] };
  /** The transfer to the merchant, where the same transaction has made it. */
  readonly settlement?: Omit<PaymentSettlement, 'paymentId' | 'at'> | undefined;
}

export type MoveOutcome =
  | { readonly ok: true; readonly payment: Payment }
  | { readonly ok: false; readonly refusal: Refusal | 'not_found'; readonly payment: Payment | undefined };

export type PaymentMover = (input: MovePaymentInput) => Promise<MoveOutcome>;

const MAX_BATCH = 200;

/**
 * Moves payments along their life; moves asked for at the same time share a transaction. The decision is made on
 * locked rows, the update is guarded by the status and version it was made on, and the event row is written with it.
 */
export function createPaymentMover(deps: CommandDeps & { feed: PaymentFeed }): PaymentMover {
  return createBatcher(deps.world.timers, {
    run: (inputs) => move(deps, inputs),
    maxItems: MAX_BATCH,
    maxConcurrent: 2,
    isItemsFault: isDataFault,
  });
}

async function move(
  deps: CommandDeps & { feed: PaymentFeed },
  inputs: readonly MovePaymentInput[],
): Promise<MoveOutcome[]> {
  const outcomes = await command(deps, async (tx, now) => {
    const ids = [...new Set(inputs.map(({ paymentId }) => paymentId))];
    const current = new Map((await lockPayments(tx, ids)).map((payment) => [payment.id, payment]));
    const decided: MoveOutcome[] = [];
    let moves: Move[] = [];
    const accepted: NewItem[] = [];
    const ended: ItemEnd[] = [];
    const settled: PaymentSettlement[] = [];
    const carryOut = async () => {
      const moved = moves.length === 0 ? [] : await movePayments(tx, moves);
      if (moved.length !== moves.length) throw new Error('A locked payment was moved by somebody else.');
      moves = [];
    };
    for (const { paymentId, event, actor, evidence, items, settlement } of inputs) {
      // One statement moves a payment once: a second event for it is decided on what the first one left.
      if (moves.some(({ payment }) => payment.id === paymentId)) await carryOut();
      const payment = current.get(paymentId);
      const decision = payment && decide(stateOf(payment), event, now.getTime());
      if (payment === undefined || decision === undefined) {
        decided.push({ ok: false, refusal: 'not_found', payment });
      } else if (!decision.ok) {
        decided.push({ ok: false, refusal: decision.refusal, payment });
      } else {
        const next = { payment, to: decision.to, at: now, event: event.type, actor, evidence, facts: factsOf(event) };
        moves.push(next);
        accepted.push(...(items?.accepted ?? []));
        ended.push(...(items?.ended ?? []));
        if (settlement !== undefined) settled.push({ ...settlement, paymentId, at: now });
        const moved = afterMove(next);
        current.set(paymentId, moved);
        decided.push({ ok: true, payment: moved });
      }
    }
    await carryOut();
    const merchantOf = (paymentId: string) => current.get(paymentId)?.merchantId ?? '';
    if (accepted.length > 0) await acceptItems(tx, accepted, { merchantOf, at: now });
    if (ended.length > 0) await closeItems(tx, ended, now);
    if (settled.length > 0) await insertPaymentSettlements(tx, settled);
    const paid = ended.flatMap(({ commitment, state }) => (state === 'paid' ? [commitment] : []));
    if (paid.length > 0) await holdNetAmounts(tx, paid, now);
    return decided;
  });
  deps.feed.announce(outcomes.flatMap((outcome) => (outcome.ok ? [outcome.payment.id] : [])));
  return outcomes;
}

/** The payment as the move leaves it. */
function afterMove({ payment, to, at, facts }: Move): Payment {
  const { buyer, token, transaction } = facts;
  return {
    ...payment,
    status: to,
    version: payment.version + 1,
    updatedAt: at,
    failureCode: facts.failureCode ?? null,
    ...(buyer && { buyerAccount: buyer.account, buyerName: buyer.name, buyerIcon: buyer.icon }),
    ...(token && { tokenAsset: token.asset, tokenValue: token.value.toString() }),
    ...(transaction && {
      transactionHash: transaction.hash,
      transactionNonce: transaction.nonce === null ? null : String(transaction.nonce),
    }),
  };
}

function factsOf(event: PaymentEvent): Move['facts'] {
  switch (event.type) {
    case 'confirmed':
      return { buyer: event.buyer, token: event.token };
    case 'succeeded':
      return { buyer: event.buyer, token: event.token, transaction: event.transaction };
    case 'failed':
      return { failureCode: event.failureCode };
    default:
      return {};
  }
}
