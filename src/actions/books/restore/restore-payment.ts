import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { isSameAccount, isSameAddress } from '../../../domain/addresses/families.ts';
import { type BookedItem, correctingEntry, paidPosition } from '../../../domain/books.ts';
import { idBytes } from '../../../domain/ids.ts';
import { type ItemKey, itemKeyOf } from '../../../domain/item.ts';
import { isFinal, type PaymentEvent } from '../../../domain/payment.ts';
import { findItems } from '../../../store/chain/items.ts';
import { findDestinationOwners } from '../../../store/money/book-comparison.ts';
import { type ComparedItem, findComparedItems } from '../../../store/money/book-items.ts';
import { positionsOf } from '../../../store/money/books.ts';
import { holdItems } from '../../../store/money/lots.ts';
import type { PaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import { insertRestoredItem, insertRestoredPayment } from '../../../store/payments/restored-payments.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { lateAlert, recordLateMoney } from '../../outgoing/return/record-late-money.ts';
import { intermediateAccounts } from '../../own-accounts.ts';
import { type MovePaymentInput, moveLocked } from '../../paying/move-locked.ts';
import { settlePayments } from '../../paying/note-payments.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { storedEvent } from '../../watch/read-events.ts';
import { slotOnChain } from '../../watch/slot-on-chain.ts';
import { hasOwnSeal, type PaidEvent } from '../audit/paid-event.ts';
import { recordEntries } from '../record.ts';
import { type RecoveredTerms, recoverTerms } from './recover-terms.ts';
import { accountOf, evidenceOf, NOT_OURS, noteEvent, type Outcome, sealOfEvent, Unplaced } from './restoring.ts';

/**
 * Restores the missing rows of a payment, its item and its entries. The merchant is the one whose settlement destination received the
 * money, or else the one that the caller names. Price, reference and expiry are lost.
 */
export async function restorePayment(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  event: PaidEvent,
  fallback: string | undefined,
): Promise<Outcome> {
  const network = connected.chain.network.chainId;
  const [known] = await findComparedItems(deps.db.sql, network, [event.commitment]);
  const terms = known === undefined ? await recoverTerms(deps, connected, event) : undefined;
  const intermediates = await intermediateAccounts(deps, connected);
  const slot = known === undefined ? await slotOnChain(connected.chain.reader, event.transactionHash) : null;
  return command(deps, async (tx, now) => {
    const { id } = event;
    const [payment] = await lockPayments(tx, [id]);
    const [present] = await findComparedItems(tx, network, [event.commitment]);
    if (present !== undefined || terms === undefined) {
      return present === undefined ? 'intact' : restoreEntries(tx, event, present, now);
    }
    if (payment !== undefined && hasOwnSeal(event) !== true) throw new Unplaced(NOT_OURS);
    const merchantId = payment?.merchantId ?? (await merchantOf(tx, connected, event)) ?? fallback;
    if (merchantId === undefined) throw new Unplaced(NO_MERCHANT);
    const restored =
      payment ?? (await makePayment(tx, deps.registry, event, { id, merchantId, paidAt: terms.paidAt, now }));
    const isExtra = isFinal(restored.status) && restored.transactionHash !== event.transactionHash;
    const isHeld = intermediates.some((account) => isSameAddress(event.asset, event.recipient, account));
    const settlement = isHeld ? undefined : settlementBy(event);
    await makeItem(tx, event, { ...terms, isHeld, isExtra });
    if (!isFinal(restored.status)) await succeed(tx, event, { payment: restored, settlement, slot, now });
    else if (isExtra) await noteExtra(tx, deps.registry, event, restored, now);
    else if (settlement !== undefined) await settle(tx, event, { paymentId: id, ...settlement, at: now });
    if (isHeld) await holdItems(tx, [keyOf(event)], now);
    await noteEvent(tx, event, now);
    await restoreEntries(tx, event, { ...bookedItem(event, merchantId, isHeld), isUnexpected: false }, now);
    return 'rebuilt';
  });
}

export const NO_MERCHANT = 'was paid, but the chain does not show for which merchant: name it with --merchant';

/** The merchant whose settlement destination is the recipient, if there is exactly one. */
async function merchantOf(tx: Tx, { chain }: ConnectedChain, { asset, recipient }: PaidEvent) {
  const owners = await findDestinationOwners(tx, [`${chain.network.chainId}:${recipient}`]);
  const merchants = new Set(owners.filter((owner) => owner.asset === asset).map(({ merchantId }) => merchantId));
  return merchants.size === 1 ? [...merchants][0] : undefined;
}

export async function makePayment(
  tx: Tx,
  registry: Registry,
  event: Pick<PaidEvent, 'asset' | 'amount'>,
  { id, merchantId, paidAt, now }: { id: string; merchantId: string; paidAt: Date; now: Date },
): Promise<Payment> {
  const { asset, amount } = event;
  const payment = {
    id,
    merchantId,
    asset,
    amount,
    decimals: registry.asset(asset)?.decimals ?? 0,
    createdAt: timeOf(id),
    paidAt,
  };
  if (!(await insertRestoredPayment(tx, payment, now))) throw new Unplaced(NO_MERCHANT);
  const [restored] = await lockPayments(tx, [id]);
  if (restored === undefined) throw new Error('A payment that was just made is not there.');
  return restored;
}

function keyOf({ asset, commitment }: PaidEvent): ItemKey {
  const [network = ''] = asset.split('/');
  return itemKeyOf({ network, commitment });
}

async function makeItem(
  tx: Tx,
  event: PaidEvent,
  { isExtra, ...terms }: RecoveredTerms & { isHeld: boolean; isExtra: boolean },
): Promise<void> {
  const { collector, asset, payer, recipient, amount, fee, id: subject } = event;
  const [network = ''] = asset.split('/');
  const itemTerms = {
    key: keyOf(event),
    network,
    collector,
    asset,
    payer,
    recipient,
    amount,
    fee,
    subject,
    seal: sealOfEvent(event),
  };
  const endReason = isExtra ? 'paid_after_end' : null;
  await insertRestoredItem(tx, { ...itemTerms, ...terms, purpose: 'payment', account: accountOf(event), endReason });
}

/** Records the money of an item that was paid after its payment had ended. It must be returned. */
async function noteExtra(tx: Tx, registry: Registry, event: PaidEvent, payment: Payment, at: Date): Promise<void> {
  const [item] = await findItems(tx, [keyOf(event)]);
  if (item === undefined) throw new Error('An item that was just made is not there.');
  await recordLateMoney(tx, { item, event: storedEvent(event), actor: 'operator' }, at);
  await upsertAlert(tx, { ...lateAlert(registry, item, payment.status), lastSeen: at });
}

interface RestoredSuccess {
  readonly payment: Payment;
  readonly settlement: MovePaymentInput['settlement'];
  readonly slot: number | null;
  readonly now: Date;
}

/** Moves the payment to `succeeded` by the same transitions that the watcher would have made. */
async function succeed(tx: Tx, event: PaidEvent, { payment, settlement, slot, now }: RestoredSuccess): Promise<void> {
  const account = accountOf(event);
  const isKnown = payment.buyerAccount !== null && isSameAccount(payment.buyerAccount, account);
  const buyer = { account, name: (isKnown && payment.buyerName) || 'Wallet', icon: isKnown ? payment.buyerIcon : null };
  const token = { asset: event.asset, value: event.amount };
  const transaction = { hash: event.transactionHash, nonce: slot };
  const succeeded: PaymentEvent = { type: 'succeeded', buyer, token, transaction };
  const move = { paymentId: payment.id, actor: 'operator', evidence: evidenceOf(event) };
  const moves: MovePaymentInput[] = [{ ...move, event: succeeded, settlement }];
  if (payment.status === 'requires_action') {
    moves.unshift({ ...move, event: { type: 'confirmed', buyer, token, isNative: true } });
  }
  const outcomes = await moveLocked(tx, [payment], moves, now);
  if (outcomes.some(({ ok }) => !ok)) throw new Error('A payment that is not over cannot succeed.');
}

function settlementBy({ asset, amount, fee, recipient, transactionHash }: PaidEvent) {
  return { asset, amount: (amount - fee).toString(), recipient, transactionHash };
}

async function settle(tx: Tx, event: PaidEvent, settlement: PaymentSettlement): Promise<void> {
  await settlePayments(tx, [settlement], { actor: 'operator', evidence: evidenceOf(event), at: settlement.at });
}

/** Corrects the book entries of the item to what the chain shows. */
async function restoreEntries(
  tx: Tx,
  event: PaidEvent,
  item: BookedItem & Pick<ComparedItem, 'isUnexpected'>,
  at: Date,
): Promise<Outcome> {
  const is = (await positionsOf(tx, [event.commitment])).get(event.commitment) ?? [];
  const truth = { ...item, amount: event.amount, fee: event.fee };
  const proof = { transaction: event.transactionHash, block: event.block.number };
  const entry = correctingEntry('rebuilt', truth, { is, shouldBe: paidPosition(truth, item.isUnexpected), proof });
  if (entry === undefined) return 'intact';
  await recordEntries(tx, [entry], at);
  return 'rebuilt';
}

function bookedItem(event: PaidEvent, merchantId: string, isHeld: boolean): BookedItem {
  const { asset, amount, fee, commitment } = event;
  const [network = ''] = asset.split('/');
  return { network, asset, subject: event.id, reference: commitment, merchantId, amount, fee, isHeld };
}

/** The first 48 bits of an id are the time of its creation. */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(Buffer.from(idBytes(id)).toString('hex').slice(0, 12), 16));
}
