import type { ConnectedChain } from '../../../chains/chains.ts';
import { methodOf, type Registry, type RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { correctingEntry, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { itemKeyOf } from '../../../domain/item.ts';
import { holdingsOf } from '../../../domain/money/holding.ts';
import { feeOfReturned, payoutKeyOf, spendsOfPayout } from '../../../domain/money/money-out.ts';
import { findItemsOfEvents, findPayingItem } from '../../../store/chain/items.ts';
import { findComparedOutgoing } from '../../../store/money/book-outgoing.ts';
import { positionsOf } from '../../../store/money/books.ts';
import {
  deleteSpends,
  findLotsByPayout,
  findLotsOf,
  findSpendsOf,
  holdItems,
  insertSpends,
} from '../../../store/money/lots.ts';
import { lockOutgoing, type Outgoing, type OutgoingPurpose } from '../../../store/money/outgoing.ts';
import { findSpendsBy } from '../../../store/money/payable-lots.ts';
import { putRestoredOutgoing, takenFor } from '../../../store/money/restored-outgoing.ts';
import {
  moveUnexpected,
  reduceUnexpected,
  releaseUnexpected,
  type UnexpectedMoney,
} from '../../../store/money/unexpected-money.ts';
import { findPaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { insertRestoredItem } from '../../../store/payments/restored-payments.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { aboutOutgoing } from '../../outgoing/order/about-outgoing.ts';
import { outgoingMac } from '../../outgoing/order/order-outgoing.ts';
import { logPayouts } from '../../outgoing/payout/log-payouts.ts';
import { findReturnCover, partsOf } from '../../outgoing/return/cover-return.ts';
import { noteReturn } from '../../outgoing/return/note-return.ts';
import { lockUnexpectedOfPayment } from '../../outgoing/return/return-unexpected.ts';
import { endStrayAlert } from '../../outgoing/return/stray-alert.ts';
import { settlePayments } from '../../paying/note-payments.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { differingTerms } from '../audit/compare-outgoing.ts';
import { outgoingPosition } from '../audit/outgoing-position.ts';
import type { PaidEvent } from '../audit/paid-event.ts';
import { recordEntries } from '../record.ts';
import { recoverTerms } from './recover-terms.ts';
import { releaseRefunds, replanRefunds } from './replan-refunds.ts';
import { restoreRefund } from './restore-refund.ts';
import {
  accountOf,
  evidenceOf,
  type Left,
  noteEvent,
  type Outcome,
  type Restored,
  sealOfEvent,
  takeUnpaid,
  Unplaced,
} from './restoring.ts';
import { isSignedRefund } from './signed-refund.ts';

/**
 * Restores the missing rows of a payout, refund or return that was carried out on chain. The rows then show it as done, so it
 * cannot be sent again.
 */
export async function restoreOutgoing(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  event: PaidEvent,
  floatOwner: string | undefined,
): Promise<Outcome> {
  const { id } = event;
  const [item] = await findItemsOfEvents(deps.db.sql, connected.chain.network.chainId, [event.commitment]);
  const terms = item ?? (await recoverTerms(deps, connected, event));
  const signer = (await isSignedRefund(deps, connected, event)) ? 'merchant' : 'gateway';
  return command(deps, async (tx, at) => {
    const before = await lockOutgoing(tx, id);
    refuseContradiction(before, event);
    const left: Left = { id, event, before, signer, floatOwner, connected, at };
    const purpose = purposeOf(id);
    const { isChanged, ...whose } = await RESTORERS[purpose](tx, deps, left);
    const { collector, asset, payer, recipient, amount, commitment, transactionHash } = event;
    const [network = ''] = asset.split('/');
    const { feeAccount, deadline } = terms;
    const method = methodOf(deps.registry, { asset, method: terms.method });
    const seal = sealOfEvent(event);
    const eventTerms = {
      purpose,
      network,
      collector,
      asset,
      method,
      payer,
      recipient,
      commitment,
      seal,
      feeAccount,
      deadline,
    };
    const order = { id, ...eventTerms, ...whose, amount: amount.toString() };
    await putRestoredOutgoing(tx, { ...order, signer, mac: outgoingMac(deps, order), transactionHash }, at);
    const rest = { subject: id, account: accountOf(event), amount, fee: event.fee, isHeld: false, endReason: null };
    const key = itemKeyOf({ network, commitment });
    if (!('key' in terms)) await insertRestoredItem(tx, { key, ...eventTerms, ...rest, paidAt: terms.paidAt });
    await noteEvent(tx, event, at);
    const isBooked = await restoreEntries(tx, left, purpose);
    return isChanged || isBooked || item === undefined || before?.state !== 'paid' ? 'rebuilt' : 'intact';
  });
}

const RESTORERS: Readonly<
  Record<OutgoingPurpose, (tx: Tx, deps: RowKeyDeps & RegistryDeps, left: Left) => Promise<Restored>>
> = {
  payout: restorePayout,
  refund: restoreRefund,
  return: (tx, { registry }, left) =>
    left.id.startsWith('flot_') ? restoreFloatReturn(tx, registry, left) : restoreUnexpectedReturn(tx, registry, left),
};

function purposeOf(id: string): OutgoingPurpose {
  if (id.startsWith('pout_')) return 'payout';
  if (id.startsWith('rfnd_')) return 'refund';
  if (id.startsWith('flot_') || id.startsWith('stry_')) return 'return';
  throw new Unplaced('left an account of ours, and is no payout, refund or return');
}

/**
 * Throws if the event contradicts its stored row. A stored row is not overwritten with what the chain shows, even if the row may be
 * wrong. The exception is a refund that was never signed, which is planned again.
 */
function refuseContradiction(before: Outgoing | undefined, event: PaidEvent): void {
  if (before === undefined) return;
  const wrong = differingTerms(event, before);
  const isUnsignedRefund = before.purpose === 'refund' && before.state !== 'paid' && before.commitment === null;
  if (wrong.length > 0 && !isUnsignedRefund) throw new Unplaced(`differs from its stored row in: ${wrong.join(', ')}`);
  const isOther = before.state === 'sending' && before.commitment !== null && before.commitment !== event.commitment;
  if (isOther) throw new Unplaced('is being sent once more: wait until that is over');
}

/**
 * Restores a payout. Since the backup, refunds that were never signed may have taken the lots of the payout. These refunds are then
 * planned again, and the rest of the lots stays held.
 */
async function restorePayout(tx: Tx, deps: RowKeyDeps & RegistryDeps, left: Left): Promise<Restored> {
  const { id, event, before, connected, at } = left;
  const { payment, item } = await paymentOfPayout(tx, left);
  const { id: paymentId, merchantId } = payment;
  if (item?.isHeld === true) await holdItems(tx, [item.key], at);
  const isWhole = (await findSpendsBy(tx, id)).reduce((sum, { amount }) => sum + amount, 0n) === event.amount;
  const released = isWhole ? [] : await releaseRefunds(tx, { payment, at });
  if (!isWhole) await takeForPayout(tx, left, paymentId);
  const { asset, recipient, transactionHash } = event;
  const [network = ''] = asset.split('/');
  const isSettled = (await findPaymentSettlement(tx, paymentId)) !== undefined;
  const cause = { actor: 'operator', evidence: evidenceOf(event) };
  const settled = (await findSpendsBy(tx, id)).filter(({ isPaying }) => isPaying === true);
  const amount = settled.reduce((sum, each) => sum + each.amount, 0n);
  if (amount > 0n) {
    const settlement = { paymentId, asset, amount: amount.toString(), recipient, transactionHash, at };
    await settlePayments(tx, [settlement], { ...cause, at });
  }
  const sent = { id, merchantId, network, asset, amount: event.amount, recipient };
  const isUnknown = before === undefined || before.state === 'failed';
  if (isUnknown) await logPayouts(tx, [sent], { ...cause, type: 'payout.begun' }, at);
  if (before?.state !== 'paid') await logPayouts(tx, [sent], { ...cause, type: 'payout.paid' }, at);
  await deleteAlert(tx, { name: 'payout_failed', subject: id });
  if (item !== undefined) {
    await replanRefunds(tx, deps, { payment, item, floatAccount: connected.intermediateAccount, released }, at);
  }
  const isChanged = !isWhole || (amount > 0n && !isSettled) || before?.state !== 'paid';
  return { merchantId, floatOwner: null, paymentId, isChanged };
}

/**
 * The payment that a payout belongs to, and the item that paid it. The id of a payout is derived from its first lot, in older
 * versions from its payment.
 */
async function paymentOfPayout(tx: Tx, { id, before }: Left) {
  const [lot] = await findLotsByPayout(tx, payoutKeyOf(id));
  const paymentId = lot?.payment ?? before?.paymentId ?? paymentIdOf(id);
  const [payment] = await lockPayments(tx, [paymentId]);
  if (payment === undefined) throw new Unplaced(NOTHING_HELD);
  return { payment, item: await findPayingItem(tx, payment.id) };
}

const NOTHING_HELD =
  'was paid out, and nothing is held of its payment: rebuild again when its deposit address has been checked, or begin with an earlier block';

async function takeForPayout(tx: Tx, { id, event }: Left, paymentId: string): Promise<void> {
  await deleteSpends(tx, id);
  const holdings = holdingsOf(await findLotsOf(tx, [paymentId]), await findSpendsOf(tx, [paymentId]));
  const { asset, payer: account, amount } = event;
  const [network = ''] = asset.split('/');
  const isLeft = holdings.held
    .filter((lot) => lot.asset === asset && lot.network === network && isSameAddress(network, lot.account, account))
    .reduce((sum, { remainder }) => sum + remainder, 0n);
  if (isLeft === 0n) throw new Unplaced(NOTHING_HELD);
  if (isLeft < amount) throw new Unplaced('has another amount than the held one');
  const own = holdings.held.find((lot) => isSameAddress(network, lot.account, account))?.account ?? account;
  await insertSpends(tx, spendsOfPayout(holdings, { order: id, network, asset, account: own, amount }));
}

async function restoreFloatReturn(
  tx: Tx,
  registry: Registry,
  { id, event, before, floatOwner, at }: Left,
): Promise<Restored> {
  const taken = await takenFor(tx, id);
  const owner = before?.floatOwner ?? [...taken.keys()][0] ?? floatOwner;
  if (owner === undefined) {
    throw new Unplaced('left a float of unknown owner: name the owner with --merchant or --operator');
  }
  const { asset, amount: units } = event;
  const [network = ''] = asset.split('/');
  const parts = [{ owner, units }];
  const isOpen = before === undefined || before.state === 'failed';
  if (isOpen) await takeUnpaid(tx, registry, { network, asset, subject: id, kind: 'returned', parts }, at);
  return { merchantId: owner === OPERATOR_FLOAT ? null : owner, floatOwner: owner, isChanged: false };
}

async function restoreUnexpectedReturn(tx: Tx, registry: Registry, { id, event, at }: Left): Promise<Restored> {
  const locked = await lockUnexpectedOfPayment(tx, id);
  if (locked === undefined)
    throw new Unplaced(
      'returned unexpected money that is not known here: rebuild again when its deposit address has been checked, or begin with an earlier block',
    );
  if (locked.state === 'float') throw new Unplaced('returned unexpected money that is a float here');
  const unexpected = await atReturn(tx, locked, event);
  // A return that was requested since the backup may name another account, so that request is released.
  if (unexpected.state === 'requested')
    await releaseUnexpected(tx, { id, from: 'requested', problem: 'returned_before', at });
  if (unexpected.state === 'unclaimed' || unexpected.state === 'requested') {
    const { network, asset } = unexpected;
    const covered = await findReturnCover(tx, unexpected, { mayWait: false });
    if (covered.is === 'waiting') throw new Unplaced('returned late money whose arrival is not known here yet');
    const parts = partsOf(covered.cover);
    await insertSpends(tx, covered.spends);
    await takeUnpaid(tx, registry, { network, asset, subject: id, kind: 'covered', parts }, at);
    await moveUnexpected(tx, { id, from: 'unclaimed', to: 'returning', at });
  }
  await moveUnexpected(tx, { id, from: 'returning', to: 'returned', at });
  await endStrayAlert(tx, unexpected);
  await deleteAlert(tx, { name: 'return_failed', subject: id });
  if (unexpected.paymentId !== null) await deleteAlert(tx, { name: 'paid_after_end', subject: unexpected.paymentId });
  const isChanged = unexpected.state !== 'returned';
  const { recipient } = event;
  const evidence = evidenceOf(event);
  if (isChanged) await noteReturn(tx, unexpected, { status: 'returned', recipient, actor: 'operator', evidence }, at);
  return { merchantId: unexpected.merchantId, floatOwner: null, isChanged };
}

/**
 * The unexpected money, reduced to the amount that was returned. Anybody can send dust to a deposit address, so the lot may have
 * grown after the return: the rest is not part of the return.
 */
async function atReturn(tx: Tx, unexpected: UnexpectedMoney, { asset, amount }: PaidEvent): Promise<UnexpectedMoney> {
  const [was, fee] = [BigInt(unexpected.amount), BigInt(unexpected.fee)];
  if (unexpected.asset === asset && was === amount) return unexpected;
  const isOpen = unexpected.state === 'unclaimed' || unexpected.state === 'requested';
  if (unexpected.asset !== asset || was < amount || unexpected.lotId === null || !isOpen) {
    throw new Unplaced('does not match its unexpected money');
  }
  const returned = { amount: amount.toString(), fee: feeOfReturned({ amount: was, fee }, amount).toString() };
  await reduceUnexpected(tx, { id: unexpected.id, ...returned });
  return { ...unexpected, ...returned };
}

/** Corrects the book entries of the transfer to what the chain shows. Returns true if they differed. */
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
