import { type CommandDeps, command } from '../actions/command.ts';
import { fetchActions } from '../actions/paying/fetch-actions.ts';
import { type ListOptionsDeps, listOptions } from '../actions/paying/list-options.ts';
import type { PaymentMover } from '../actions/paying/payment-mover.ts';
import { NO_REHEARSAL, type Rehearsal, type Script } from '../actions/paying/rehearsal.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import { parseAccount } from '../domain/caip.ts';
import { createBatcher } from '../runtime/batcher.ts';
import { findItemsOf } from '../store/chain/items.ts';
import { findDetailsOf, type PaymentDetails } from '../store/payments/payment-details.ts';
import type { Payment } from '../store/payments/payments.ts';
import { insertRehearsal } from '../store/payments/rehearsals.ts';
import { SANDBOX_ACCOUNTS } from './genesis.ts';
import { SANDBOX_NETWORK } from './sandbox-network.ts';

/** The values of `metadata.sandbox` and their effects. */
export const OUTCOMES = {
  wait: 'stays processing for a minute, then succeeds',
  fail: 'is declined while it is processing, and ends as failed',
  screened: 'counts every account as listed, and takes no payer',
  reorg: 'succeeds, then its block is replaced by another one, once',
  late: 'is cancelled as soon as the payer has a transaction to send, so the coin arrives late',
  double: 'succeeds, and is then paid a second time by another wallet',
  permit2: 'can be paid through Permit2 only',
  refund_fails: 'succeeds, and its refund is declined',
} as const;

export type Outcome = keyof typeof OUTCOMES;

const KEY = 'sandbox';

export interface RehearsalDeps extends CommandDeps, RowKeyDeps, Omit<ListOptionsDeps, 'rehearsal'> {
  readonly movePayment: PaymentMover;
}

/** The methods in which the payer only signs. The gateway can hold such an item back, but not a transaction that the payer sends. */
const SIGNED = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;
const WAIT_MS = 60_000;
/**
 * How long an item of the outcome `fail` is held back: longer than any signature is valid. So the item is never sent, and the
 * payment is declined first.
 */
const UNSENT_MS = 3_600_000;

/** A screening list that contains every account. */
export const EVERYBODY = { hash: '0'.repeat(64), version: 'sandbox', date: '2026-01-01' } as const;

const LISTS_EVERYBODY: NonNullable<Script['screening']> = {
  decide: (accounts) => ({ hits: accounts, list: EVERYBODY }),
};

/** Prepares the outcomes, before the payment is confirmed. `stageOutcomes` carries out the rest after the confirmation. */
export function createRehearsal(deps: RehearsalDeps): Rehearsal {
  // Payments that are paid at the same time share one database query.
  const readDetails = createBatcher<string, PaymentDetails>(deps.world, {
    run: async (ids) => {
      const found = await findDetailsOf(deps.db.sql, ids);
      return ids.map((id) => found.get(id) ?? {});
    },
    maxItems: 200,
    maxConcurrent: 2,
    isItemsFault: () => false,
  });
  const scripts: Readonly<Record<Outcome, (payment: Payment) => Script>> = {
    wait: () => ({ methods: SIGNED, holdMs: WAIT_MS }),
    fail: (payment) => ({ methods: SIGNED, holdMs: UNSENT_MS, onConfirm: () => enroll(deps, payment, 'fail') }),
    screened: () => ({ screening: LISTS_EVERYBODY }),
    reorg: (payment) => beforePaying(() => enroll(deps, payment, 'reorg')),
    late: (payment) => ({ methods: ['native'], onFetched: () => cancel(deps, payment) }),
    double: (payment) =>
      beforePaying(async () => {
        await prepareSecond(deps, payment);
        await enroll(deps, payment, 'double');
      }),
    permit2: () => ({ methods: ['permit2'] }),
    refund_fails: () => ({}),
  };
  const outcomeOf = async (paymentId: string) => (await readDetails(paymentId)).metadata?.[KEY];
  return {
    problemOf(mode, metadata) {
      const wanted = metadata[KEY];
      if (mode !== 'test' || wanted === undefined || isOutcome(wanted)) return undefined;
      return `must be one of ${Object.keys(OUTCOMES).join(', ')} in a sandbox`;
    },
    async scriptOf(payment) {
      if (payment.mode !== 'test') return {};
      const wanted = await outcomeOf(payment.id);
      return wanted !== undefined && isOutcome(wanted) ? scripts[wanted](payment) : {};
    },
    async refundScreening(mode, paymentId) {
      return mode === 'test' && (await outcomeOf(paymentId)) === 'refund_fails' ? LISTS_EVERYBODY : undefined;
    },
  };
}

/**
 * A script that calls `run` when the payer fetches the option's actions and when the payer confirms: a payer in native coin may pay
 * without a confirmation.
 */
function beforePaying(run: () => Promise<void>): Script {
  return { onFetched: run, onConfirm: run };
}

function isOutcome(text: unknown): text is Outcome {
  return typeof text === 'string' && Object.hasOwn(OUTCOMES, text);
}

function enroll(deps: CommandDeps, { id }: Payment, outcome: Outcome): Promise<void> {
  return command(deps, (tx) => insertRehearsal(tx, { paymentId: id, outcome }));
}

/** Cancels the payment as its merchant would. A payment that has ended stays as it is. */
function cancel({ movePayment }: RehearsalDeps, { id }: Payment) {
  const by = 'merchant';
  return movePayment({ paymentId: id, event: { type: 'cancelled', by }, actor: 'sandbox', evidence: { by } });
}

/** Prepares a payment in coin by the second wallet, while the payment can still be paid. */
async function prepareSecond(deps: RehearsalDeps, payment: Payment): Promise<void> {
  const account = parseAccount(`${SANDBOX_NETWORK}:${SANDBOX_ACCOUNTS.secondPayer}`);
  if (!account.ok || payment.status !== 'requires_action') return;
  const items = await findItemsOf(deps.db.sql, payment.id);
  if (items.some((item) => item.payer === account.value.address && item.state === 'offered')) return;
  const unrehearsed = { ...deps, rehearsal: NO_REHEARSAL };
  const accounts = [{ ...account.value, spelling: account.value.id }];
  const options = await listOptions(unrehearsed, { payment, accounts });
  const coin = options.find(({ option }) => option.item.method === 'native');
  if (coin === undefined) {
    deps.log.warn(
      { paymentId: payment.id },
      'the second wallet cannot pay: it has no coin on a chain of an older version',
    );
    return;
  }
  const buyer = { name: 'Second wallet', icon: null };
  await fetchActions(unrehearsed, { payment, optionId: coin.id, data: '', buyer });
}
