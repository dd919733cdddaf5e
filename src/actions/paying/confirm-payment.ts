import { isDeepStrictEqual } from 'node:util';
import { isIntermediate } from '../../chains/chains.ts';
import { parseAccount } from '../../domain/caip.ts';
import { type Item, type ItemKey, itemKeyOf } from '../../domain/item.ts';
import { doResultsFit, type Option, openOption, readResults, resultsHash, type Step } from '../../domain/option.ts';
import { ApiError, validationError } from '../../errors.ts';
import { findPaidCommitments } from '../../store/chain/chain-events.ts';
import { findItems, findItemsOf, hintTransaction, itemOf } from '../../store/chain/items.ts';
import { findPayments, type Payment } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { sealItem } from '../subject-keys.ts';
import {
  balanceUnderWay,
  isOverdue,
  merchantStopped,
  noExecutor,
  notPayable,
  optionNotFound,
  outOfStock,
  payerBusy,
  paymentExpired,
  quoteExpired,
  refuseScreened,
} from './option-refusals.ts';
import type { PaymentMover } from './payment-mover.ts';
import type { SoughtTransaction } from './seek-transaction.ts';
import { type OptionDeps, refuseOutdated } from './terms-in-force.ts';
import { type BadVerdict, reasonOf, refusalOf } from './verdict-refusals.ts';

export interface ConfirmInput {
  readonly payment: Payment;
  readonly optionId: string;
  readonly results: readonly unknown[];
  readonly buyer: { readonly name: string; readonly icon: string | null };
  /** `key:<id>` or `app:<id>`. */
  readonly actor: string;
  /** Called before the chain is asked about a signature that is not proved: see `PayerSide.judge`. It may throw. */
  readonly onUnproved: () => void;
}

export interface Confirmed {
  readonly payment: Payment;
  /** The payer's own transaction, which no endpoint has shown yet. */
  readonly sought?: SoughtTransaction;
}

type ConfirmDeps = CommandDeps & OptionDeps & { readonly movePayment: PaymentMover };

interface Confirmation {
  readonly option: Option | undefined;
  /** Undefined if the results are malformed. */
  readonly values: readonly string[] | undefined;
  readonly hash: string | undefined;
}

/**
 * Accepts the results of a wallet, and returns the payment in its new state. The order of the checks is a promise: a repeated
 * confirmation that was accepted gets the payment's status, whatever has happened since, and nobody is charged twice. A valid signature
 * becomes a due item in the database transaction that moves the payment; the relayer sends the item.
 */
export async function confirmPayment(deps: ConfirmDeps, input: ConfirmInput): Promise<Confirmed> {
  const { payment } = input;
  const confirmation = readConfirmation(deps, input);
  if (await isSettled(deps, payment, confirmation)) return { payment };
  const { option, values, hash } = confirmation;
  if (option === undefined) throw optionNotFound();
  if (values === undefined || hash === undefined || !doResultsFit(option.item.network, option.steps, values)) {
    throw wrongResults(option.steps);
  }
  const script = await deps.rehearsal.scriptOf(payment);
  await script.onConfirm?.();
  if (option.item.method === 'native') {
    return storeHint(deps, { payment, option, transaction: values[0] ?? '', hash, actor: input.actor });
  }

  const connected = await refuseOutdated(deps, payment, option);
  const { chain, relayers } = connected;
  const { account } = option;
  const item = sealItem(deps, chain.payerSide, option.item, payment.sealedId);
  const { list } = refuseScreened(script.screening ?? deps.screening, [`${item.network}:${item.payer}`]);
  const signature = values.at(-1) ?? '';
  const commitment = chain.payerSide.commitmentOf(item);
  const key = itemKeyOf({ network: item.network, commitment });
  const verdict = await chain.payerSide.judge(item, signature, relayers[0]?.address, input.onUnproved);
  // Anybody with the signature can send the item. If somebody has sent it, the money has arrived, and the watcher completes the payment.
  const isPaidAlready = verdict.is === 'used' && (await isReportedPaid(deps, item.network, commitment));
  if (verdict.is !== 'good' && !isPaidAlready) {
    return { payment: await refuseOrExplain(deps, { payment, network: item.network, confirmation, key, verdict }) };
  }

  deps.world.crashPoint?.('confirm.judged');
  const buyer = { account, ...input.buyer };
  const accepted = {
    key,
    item,
    account,
    quote: option.quote,
    isHeld: isIntermediate(connected, item.recipient),
    feeTerms: option.feeTerms,
    buyerName: buyer.name,
    buyerIcon: buyer.icon,
    state: 'due',
    signature,
    hasCode: verdict.is === 'good' && verdict.hasCode,
    resultsHash: hash,
    hintedHash: null,
    ...(script.holdMs && { sendAfter: new Date(deps.world.clock.nowMs() + script.holdMs) }),
  } as const;
  const outcome = await deps.movePayment({
    paymentId: payment.id,
    event: { type: 'confirmed', buyer, token: { asset: item.asset, value: item.amount }, isNative: false },
    actor: input.actor,
    evidence: { commitment, screening: list },
    items: { accepted: [accepted] },
    balance: verdict.is === 'good' ? verdict.balance : undefined,
  });
  deps.world.crashPoint?.('confirm.accepted');
  const { payment: moved } = outcome;
  // Another request moved the payment first, and its outcome decides.
  if (moved !== undefined && (outcome.ok || (await isSettled(deps, moved, confirmation)))) return { payment: moved };
  const refusal = outcome.ok ? undefined : outcome.refusal;
  if (refusal === 'merchant_stopped') throw merchantStopped();
  if (refusal === 'network_stopped') throw noExecutor();
  if (refusal === 'payer_busy') throw payerBusy();
  if (refusal === 'balance_under_way') throw balanceUnderWay();
  if (refusal === 'sold_out' || refusal === 'stock_uncertain') throw outOfStock(refusal);
  throw refusal === 'attempt_over' ? quoteExpired() : notPayable(moved?.status ?? 'expired');
}

function readConfirmation(deps: ConfirmDeps, { payment, optionId, results }: ConfirmInput): Confirmation {
  const option = openOption(deps.optionKeys, payment.id, optionId);
  const values = readResults(results, option?.steps.length ?? 0);
  return {
    option,
    values,
    hash: values && resultsHash(optionId, values),
  };
}

/** True if the payment's status already is the answer to the confirmation. Throws if the confirmation comes too late for the payment. */
async function isSettled(deps: ConfirmDeps, payment: Payment, { option, hash }: Confirmation): Promise<boolean> {
  const { status, nativeDeadline } = payment;
  const isNative = option?.item.method === 'native';
  const isLate = status === 'expired' || isOverdue(payment, deps.world.clock.nowMs());
  // A payment that waits for its first action cannot have accepted anything. A transaction in coin is searched for again each time.
  if (status === 'requires_action' && (isNative || (nativeDeadline === null && !isLate))) return false;
  if (hash !== undefined && (await wasAccepted(deps, payment, hash))) return true;
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') return true;
  // A payer's own transaction is late if its block is late; the time of the request does not matter.
  if (isLate && !isNative) throw paymentExpired();
  if (option === undefined) throw optionNotFound();
  if (status !== 'processing') return false;
  if (!isPaidBy(payment, option)) throw new ApiError('invalid_state', 'Another account is paying this payment.');
  return true;
}

async function wasAccepted({ db }: ConfirmDeps, { id }: Payment, hash: string): Promise<boolean> {
  return (await findItemsOf(db.sql, id)).some((item) => item.resultsHash === hash);
}

/**
 * True if the payer of the option is paying this payment. The same address on another network is the same payer, who must not pay twice.
 */
function isPaidBy({ buyerAccount }: Payment, { item }: Option): boolean {
  const buyer = parseAccount(buyerAccount ?? '');
  return buyer.ok && buyer.value.address === item.payer;
}

async function isReportedPaid({ db }: ConfirmDeps, network: string, commitment: string): Promise<boolean> {
  return (await findPaidCommitments(db.sql, { network, commitments: [commitment] })).has(commitment);
}

interface Hint {
  readonly payment: Payment;
  readonly option: Option;
  readonly transaction: string;
  readonly hash: string;
  readonly actor: string;
}

/**
 * Stores the transaction hash that the wallet named. The hash is a hint and moves nothing by itself: the caller searches for the
 * transaction. A payment past its expiry needs no search, because it shows as `processing` until the deadline of its coin actions is
 * final.
 */
async function storeHint(deps: ConfirmDeps, hint: Hint): Promise<Confirmed> {
  const { payment, option, transaction, hash, actor } = hint;
  const items = await findItemsOf(deps.db.sql, payment.id);
  const item = items.find((stored) => isDeepStrictEqual(unsealed(itemOf(stored)), option.item));
  if (item === undefined) throw neverFetched();
  const { key } = item;
  await command(deps, (tx) => hintTransaction(tx, { key, hash: transaction, resultsHash: hash }));
  const isOpen = item.state === 'offered' && !isOverdue(payment, deps.world.clock.nowMs());
  return isOpen && deps.chains.find(item.network) !== undefined
    ? { payment, sought: { item, hash: transaction, actor } }
    : { payment };
}

/** The terms of an item without its seal. Options have no seal, because the seal is derived from the terms. */
function unsealed({ seal: _, ...terms }: Item): Item {
  return terms;
}

interface Judged {
  readonly payment: Payment;
  readonly network: string;
  readonly confirmation: Confirmation;
  readonly key: ItemKey;
  readonly verdict: BadVerdict;
}

async function refuseOrExplain(deps: ConfirmDeps, judged: Judged): Promise<Payment> {
  const { payment, network, confirmation, key, verdict } = judged;
  // A nonce that the chain reports as used may have been used by our own item, if another request brought the same signature.
  if (reasonOf(verdict) === 'used' && (await findItems(deps.db.sql, [key])).length > 0) {
    const [now] = await findPayments(deps.db.sql, [payment.id]);
    if (now !== undefined && (await isSettled(deps, now, confirmation))) return now;
  }
  throw refusalOf(network, verdict);
}

function wrongResults(steps: readonly Step[]): ApiError {
  const wanted = steps.map((step) => (step === 'signature' ? 'a signature' : 'a transaction hash')).join(', then ');
  const message = `must be one walletRpc result for each action, in order: ${wanted}`;
  return validationError([{ field: 'results', message }], 422);
}

function neverFetched(): ApiError {
  return validationError([{ field: 'results', message: 'cannot be of this option: its action was not fetched' }], 422);
}
