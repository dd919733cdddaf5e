import type { ConnectedChain } from '../../../chains/chains.ts';
import { correctingEntry, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { coverOf, type RefundEvent, type RefundState, retryOf } from '../../../domain/refund.ts';
import { findItems, findPayingItem, type StoredItem } from '../../../store/chain/items.ts';
import { findComparedOutgoing } from '../../../store/money/book-outgoing.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { lockOutgoing, type Outgoing, type OutgoingPurpose } from '../../../store/money/outgoing.ts';
import {
  findPayout,
  holdNetAmounts,
  type Payout,
  setPayoutState,
  startPayouts,
  takeForRefund,
} from '../../../store/money/payouts.ts';
import { lockRefund, type Refund } from '../../../store/money/refunds.ts';
import { putRestoredOutgoing, takenFor } from '../../../store/money/restored-outgoing.ts';
import { lockStray, moveStray } from '../../../store/money/strays.ts';
import { findPaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { insertRestoredItem } from '../../../store/payments/restored-payments.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { aboutOutgoing } from '../../outgoing/about-outgoing.ts';
import { lackText, type Taking, takeFromFloats } from '../../outgoing/float/take-from-floats.ts';
import { outgoingMac } from '../../outgoing/order-outgoing.ts';
import { logPayouts } from '../../outgoing/payout/log-payouts.ts';
import { moveRefund, openRefund } from '../../outgoing/refund/move-refund.ts';
import { coverOfStray } from '../../outgoing/stray/return-stray.ts';
import { settlePayments } from '../../paying/move-payment.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { differingTerms } from '../audit/compare-outgoing.ts';
import { outgoingPosition } from '../audit/outgoing-position.ts';
import type { PaidEvent } from '../audit/paid-event.ts';
import { isSame, subjectOfEvent } from '../audit/paid-event.ts';
import { recordEntries } from '../record.ts';
import { recoverTerms } from './recover-terms.ts';
import { accountOf, evidenceOf, noteEvent, type Outcome, Unplaced } from './restoring.ts';

/**
 * Restores the missing rows of a payout, refund or return that the chain has carried out. From then on it cannot be
 * sent again: its rows show that it is done.
 */
export async function restoreOutgoing(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  event: PaidEvent,
  floatOwner: string | undefined,
): Promise<Outcome> {
  const id = subjectOfEvent(event);
  const [item] = await findItems(deps.db.sql, [event.commitment]);
  const terms = item ?? (await recoverTerms(deps, connected, event));
  return command(deps, async (tx, at) => {
    const before = await lockOutgoing(tx, id);
    refuseContradiction(before, event);
    const left: Left = { id, event, before, floatOwner, at };
    const purpose = purposeOf(id);
    const { isChanged, ...whose } = await RESTORERS[purpose](tx, left);
    const { collector, asset, payer, recipient, amount, commitment, transactionHash } = event;
    const [network = ''] = asset.split('/');
    const { method, feeAccount, deadline } = terms;
    const told = { purpose, network, collector, asset, method, payer, recipient, commitment, feeAccount, deadline };
    const order = { id, ...told, ...whose, amount: amount.toString() };
    await putRestoredOutgoing(tx, { ...order, mac: outgoingMac(deps, order), transactionHash }, at);
    const rest = { subject: id, account: accountOf(event), amount, fee: event.fee, isHeld: false, endReason: null };
    if (!('commitment' in terms)) await insertRestoredItem(tx, { ...told, ...rest, paidAt: terms.paidAt });
    await noteEvent(tx, event, at);
    const isBooked = await restoreEntries(tx, left, purpose);
    return isChanged || isBooked || item === undefined || before?.state !== 'paid' ? 'rebuilt' : 'intact';
  });
}

/** A transfer that has left one of our accounts. */
interface Left {
  readonly id: string;
  readonly event: PaidEvent;
  /** The stored row, if any. */
  readonly before: Outgoing | undefined;
  /** The owner of the float, if no row shows it. */
  readonly floatOwner: string | undefined;
  readonly at: Date;
}

/** The owner of the money, and whether any consequence was missing. */
interface Restored extends Pick<Outgoing, 'merchantId' | 'floatOwner'> {
  readonly isChanged: boolean;
}

const RESTORERS: Readonly<Record<OutgoingPurpose, (tx: Tx, left: Left) => Promise<Restored>>> = {
  payout: restorePayout,
  refund: restoreRefund,
  return: (tx, left) => (left.id.startsWith('flot_') ? restoreFloatReturn(tx, left) : restoreStrayReturn(tx, left)),
};

function purposeOf(id: string): OutgoingPurpose {
  if (id.startsWith('pout_')) return 'payout';
  if (id.startsWith('rfnd_')) return 'refund';
  if (id.startsWith('flot_') || id.startsWith('stry_')) return 'return';
  throw new Unplaced('left an account of ours, and is no payout, refund or return');
}

/** A stored row may be wrong, but the chain does not overwrite it. */
function refuseContradiction(before: Outgoing | undefined, event: PaidEvent): void {
  if (before === undefined) return;
  const wrong = differingTerms(event, before);
  if (wrong.length > 0) throw new Unplaced(`differs from its stored row in: ${wrong.join(', ')}`);
  const isOther = before.state === 'sending' && before.commitment !== null && before.commitment !== event.commitment;
  if (isOther) throw new Unplaced('is being sent once more: wait until that is over');
}

async function restorePayout(tx: Tx, { id, event, at }: Left): Promise<Restored> {
  const { payment, item } = await paymentOf(tx, id);
  if (item.isHeld) await holdNetAmounts(tx, [item.commitment], at);
  const payout = await findPayout(tx, payment.id);
  if (payout === undefined || !isPayable(payout))
    throw new Unplaced('was paid out, and nothing is held of its payment');
  const { asset, recipient, transactionHash } = event;
  const amount = event.amount.toString();
  if (payout.amount !== amount) throw new Unplaced('has another amount than the held one');
  const { id: paymentId, merchantId } = payment;
  const isSettled = (await findPaymentSettlement(tx, paymentId)) !== undefined;
  const told = { actor: 'operator', evidence: evidenceOf(event) };
  await settlePayments(tx, [{ paymentId, asset, amount, recipient, transactionHash, at }], { ...told, at });
  const sent = { id, merchantId, network: payout.network, asset, amount, recipient };
  if (payout.state === 'held') {
    await startPayouts(tx, [{ ...payout, destination: `${payout.network}:${recipient}` }], at);
    await logPayouts(tx, [sent], { ...told, type: 'payout.begun' }, at);
  }
  await setPayoutState(tx, { paymentId, from: 'sending', to: 'paid', at });
  if (payout.state !== 'paid') await logPayouts(tx, [sent], { ...told, type: 'payout.paid' }, at);
  await deleteAlert(tx, { name: 'payout_failed', subject: id });
  return { merchantId, floatOwner: null, isChanged: !isSettled || payout.state !== 'paid' };
}

function isPayable({ state }: Payout): boolean {
  return state === 'held' || state === 'sending' || state === 'paid';
}

/** The moves that lead from the present state to the end. */
const REFUND_STEPS: Readonly<Record<RefundState, readonly RefundEvent[]>> = {
  requested: ['covered', 'paid'],
  awaiting_funds: ['covered', 'paid'],
  sending: ['paid'],
  failed: ['retried', 'paid'],
  refunded: [],
};
/** It failed before it was covered. */
const UNCOVERED_STEPS: readonly RefundEvent[] = ['reopened', 'covered', 'paid'];

async function restoreRefund(tx: Tx, { id, event, before, at }: Left): Promise<Restored> {
  const { payment, item } = await paymentOf(tx, id);
  if (!isSame(event.recipient, item.payer) || event.amount !== BigInt(item.amount) || event.asset !== item.asset) {
    throw new Unplaced('does not match its payment');
  }
  const refund = (await lockRefund(tx, id)) ?? (await makeRefund(tx, { id, event, payment, item, at }));
  const { merchantId } = payment;
  const isUncovered = refund.state === 'failed' && retryOf(before !== undefined) === 'reopened';
  const steps = isUncovered ? UNCOVERED_STEPS : REFUND_STEPS[refund.state];
  if (steps.includes('covered')) {
    const parts = [
      { owner: merchantId, units: BigInt(refund.fromMerchant) },
      { owner: OPERATOR_FLOAT, units: BigInt(refund.fromOperator) },
    ];
    await take(tx, { network: refund.network, asset: refund.asset, subject: id, kind: 'covered', parts }, at);
  }
  let current = refund;
  for (const step of steps) {
    const { transactionHash } = event;
    const evidence = evidenceOf(event);
    const proven = step === 'paid' ? { transactionHash } : {};
    current = await moveRefund(tx, current, { event: step, actor: 'operator', evidence, ...proven }, at);
  }
  const { id: paymentId } = payment;
  if (refund.fromHeld !== '0') await setPayoutState(tx, { paymentId, from: 'refunding', to: 'refunded', at });
  for (const name of ['refund_awaiting_funds', 'refund_failed'] as const) await deleteAlert(tx, { name, subject: id });
  return { merchantId, floatOwner: null, isChanged: refund.state !== 'refunded' };
}

/** A held amount that was not paid out was the source of the refund. */
async function makeRefund(
  tx: Tx,
  { id, event, payment, item, at }: { id: string; event: PaidEvent; payment: Payment; item: StoredItem; at: Date },
): Promise<Refund> {
  const { id: paymentId, merchantId } = payment;
  if (item.isHeld) await holdNetAmounts(tx, [item.commitment], at);
  await takeForRefund(tx, paymentId, at);
  const state = (await findPayout(tx, paymentId))?.state;
  const isHeld = state === 'refunding' || state === 'refunded';
  const cover = coverOf({ amount: BigInt(item.amount), fee: BigInt(item.fee), isHeld });
  const { network, asset, method, payer: recipient, amount } = item;
  const from = {
    fromHeld: cover.held.toString(),
    fromMerchant: cover.merchant.toString(),
    fromOperator: cover.operator.toString(),
    account: event.payer,
  };
  const refund = { id, paymentId, merchantId, network, asset, method, recipient, amount, ...from, isOperators: false };
  const opened = await openRefund(tx, refund, { actor: 'operator', at });
  if (opened === undefined) throw new Error('A refund that was not there is.');
  return opened;
}

async function restoreFloatReturn(tx: Tx, { id, event, before, floatOwner, at }: Left): Promise<Restored> {
  const taken = await takenFor(tx, id);
  const owner = before?.floatOwner ?? [...taken.keys()][0] ?? floatOwner;
  if (owner === undefined) {
    throw new Unplaced('left a float of unknown owner: name the owner with --merchant or --operator');
  }
  const { asset, amount: units } = event;
  const [network = ''] = asset.split('/');
  const parts = [{ owner, units }];
  const isOpen = before === undefined || before.state === 'failed';
  if (isOpen) await take(tx, { network, asset, subject: id, kind: 'returned', parts }, at);
  return { merchantId: owner === OPERATOR_FLOAT ? null : owner, floatOwner: owner, isChanged: false };
}

async function restoreStrayReturn(tx: Tx, { id, event, at }: Left): Promise<Restored> {
  const stray = await lockStray(tx, id);
  if (stray === undefined) throw new Unplaced('returned a stray from before these blocks: begin with an earlier block');
  if (stray.state === 'float') throw new Unplaced('returned a stray that is a float here');
  if (stray.asset !== event.asset || stray.amount !== event.amount.toString()) {
    throw new Unplaced('does not match its stray');
  }
  if (stray.state === 'unclaimed') {
    const { network, asset } = stray;
    const { merchantId: owner, merchant, operator } = coverOfStray(stray);
    const parts = [
      { owner, units: merchant },
      { owner: OPERATOR_FLOAT, units: operator },
    ];
    await take(tx, { network, asset, subject: id, kind: 'covered', parts }, at);
    await moveStray(tx, { id, from: 'unclaimed', to: 'returning', at });
  }
  await moveStray(tx, { id, from: 'returning', to: 'returned', at });
  for (const name of ['stray_money', 'return_failed'] as const) await deleteAlert(tx, { name, subject: id });
  if (stray.paymentId !== null) await deleteAlert(tx, { name: 'paid_after_end', subject: stray.paymentId });
  return { merchantId: stray.merchantId, floatOwner: null, isChanged: stray.state !== 'returned' };
}

/** The payment of a payout or refund, and the item that paid it. */
async function paymentOf(tx: Tx, id: string): Promise<{ payment: Payment; item: StoredItem }> {
  const [payment] = await lockPayments(tx, [paymentIdOf(id)]);
  const item = payment && (await findPayingItem(tx, payment.id));
  if (payment?.status !== 'succeeded' || item === undefined) {
    throw new Unplaced(`belongs to ${paymentIdOf(id)}, which is not a paid payment here`);
  }
  return { payment, item };
}

/** Takes from floats the part they have not paid yet. */
async function take(tx: Tx, { parts, ...taking }: Taking, at: Date): Promise<void> {
  const given = await takenFor(tx, taking.subject);
  const rest = parts.map(({ owner, units }) => ({ owner, units: units - (given.get(owner) ?? 0n) }));
  const taken = await takeFromFloats(tx, { ...taking, parts: rest }, at);
  if (taken.ok) return;
  throw new Unplaced(`was paid from floats, and here ${lackText(taking.asset, taken.missing)}: see till float add`);
}

/** Corrects the books to the chain. Returns true if they differed. */
async function restoreEntries(tx: Tx, { id, event, at }: Left, purpose: OutgoingPurpose): Promise<boolean> {
  const [outgoing] = await findComparedOutgoing(tx, [id]);
  if (outgoing === undefined) throw new Error('The row that was just written is missing.');
  const is = (await positionsOf(tx, [id])).get(id) ?? [];
  const proof = { transaction: event.transactionHash, block: event.block.number };
  const shouldBe = outgoingPosition(outgoing);
  const entry = correctingEntry(`${purpose}_rebuilt`, aboutOutgoing(outgoing), { is, shouldBe, proof });
  if (entry !== undefined) await recordEntries(tx, [entry], at);
  return entry !== undefined;
}
