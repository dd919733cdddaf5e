import type { Registry } from '../../chains/registry.ts';
import { storedUnit } from '../../chains/units.ts';
import { inboxOf } from '../../domain/inbox.ts';
import type { Language, MailedAmount, ReceiptContent } from '../../domain/mail.ts';
import { shownReference } from '../../domain/payment-link.ts';
import { ApiError } from '../../errors.ts';
import { unshiftedWorld } from '../../runtime/shifted-clock.ts';
import { countReceipts, findMailsAbout } from '../../store/mail/mails.ts';
import { findLateMoneyOf } from '../../store/money/late-money.ts';
import { findPaymentDetails } from '../../store/payments/payment-details.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockNames } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { makeReceipt, type ReceiptDeps } from './make-receipt.ts';

export interface ReceiptRequest {
  readonly payment: Payment;
  readonly recipient: string;
  readonly language: Language;
  readonly merchantName: string;
  readonly pageUrl: string;
  readonly explorerUrl: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The time within which a second request for the same payment and address counts as the same request. */
const SAME_REQUEST_MS = 10 * MINUTE_MS;
/**
 * The most receipts within a day: of one payment, to one inbox, and of one merchant. Without the limits the page of a payment could flood
 * an inbox, and a merchant who pays itself could send its own text to many people.
 */
const PER_PAYMENT = 5;
const PER_INBOX = 20;
const PER_MERCHANT = 2_000;
const RETRY_AFTER_S = 3_600;

/** Queues a mail with the present receipt of a payment. */
export async function mailReceipt(deps: CommandDeps & ReceiptDeps, request: ReceiptRequest): Promise<void> {
  const content = await contentOf(deps, request);
  const { payment, recipient, language } = request;
  await command({ ...deps, world: unshiftedWorld(deps.world) }, async (tx, now) => {
    // Concurrent requests must not exceed a limit together.
    await lockNames(tx, [
      `receipts of ${payment.id}`,
      `receipts of ${payment.merchantId}`,
      `receipts to ${inboxOf(recipient)}`,
    ]);
    if (await isQueued(tx, request, now)) return;
    const key = `receipt ${payment.id} ${recipient.toLowerCase()} ${now.toISOString()}`;
    const { id: subject, merchantId } = payment;
    await queueMail(tx, deps, { recipient, language, subject, key, content, merchantId, now });
  });
}

/** True if a mail for the same request was queued a moment ago. Throws if a limit is exceeded. */
async function isQueued(tx: Tx, { payment, recipient }: ReceiptRequest, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - DAY_MS);
  const mails = await findMailsAbout(tx, { kind: 'receipt', subject: payment.id, since });
  const recentMs = now.getTime() - SAME_REQUEST_MS;
  const isSame = (mail: (typeof mails)[number]) =>
    mail.recipient.toLowerCase() === recipient.toLowerCase() && mail.createdAt.getTime() > recentMs;
  if (mails.some((mail) => isSame(mail) && mail.status !== 'failed')) return true;
  if (mails.length >= PER_PAYMENT) throw tooMany('This payment');
  const { merchantId } = payment;
  const { toInbox, ofMerchant } = await countReceipts(tx, { inbox: inboxOf(recipient), merchantId, since });
  if (toInbox >= PER_INBOX) throw tooMany('This address');
  if (ofMerchant >= PER_MERCHANT) throw tooMany('This merchant');
  return false;
}

async function contentOf(deps: ReceiptDeps, request: ReceiptRequest): Promise<ReceiptContent> {
  const { payment, merchantName, pageUrl, explorerUrl } = request;
  const { receipt } = await makeReceipt(deps, payment);
  const isDeposit = receipt.transfers !== undefined;
  const { description = null, lineItems = [] } = await findPaymentDetails(deps.db.sql, payment.id);
  const paidIn = deps.registry.asset(receipt.asset);
  const paid = (value: string): MailedAmount => ({
    value,
    decimals: paidIn?.decimals ?? 0,
    symbol: paidIn?.symbol ?? receipt.asset,
  });
  return {
    kind: 'receipt',
    merchant: merchantName,
    reference: shownReference(receipt.referenceId),
    description,
    lineItems: lineItems.map(({ name, quantity = null, amount }) => ({
      name,
      quantity,
      amount: amount === undefined ? null : amountOf(deps.registry, amount.unit, amount.value, amount.decimals),
    })),
    price: amountOf(deps.registry, payment.amountUnit, payment.amountValue, payment.amountDecimals),
    // The amount that counted for the payment. Any surplus is late money.
    paid: paid(payment.tokenValue ?? receipt.amount),
    network: deps.registry.network(receipt.network)?.name ?? receipt.network,
    account: isDeposit ? (payment.buyerAccount?.split(':').at(-1) ?? receipt.payer) : receipt.payer,
    paidAt: receipt.succeededAt,
    transaction: receipt.transaction,
    explorerUrl,
    commitment: isDeposit ? null : receipt.commitment,
    lateMoney: await lateMoneyOf(deps, payment),
    refunds: (receipt.refunds ?? []).map(({ amount, transaction }) => ({ amount: paid(amount), transaction })),
    pageUrl,
    isTest: payment.mode === 'test',
  };
}

async function lateMoneyOf(
  { db, registry }: ReceiptDeps,
  payment: Payment,
): Promise<NonNullable<ReceiptContent['lateMoney']>> {
  const found = await findLateMoneyOf(db.sql, { paymentId: payment.id, now: payment.updatedAt });
  return found.map(({ asset, amount: value, reason, state: status }) => {
    const { decimals = 0, symbol = asset } = registry.asset(asset) ?? {};
    return { amount: { value, decimals, symbol }, reason: reason ?? 'late', status };
  });
}

function amountOf(registry: Registry, unitId: string, value: string, storedDecimals: number): MailedAmount {
  const { symbol, decimals } = storedUnit(registry, unitId, storedDecimals);
  return { value, decimals, symbol };
}

function tooMany(what: string): ApiError {
  return new ApiError('rate_limited', `${what} got as many receipts as it can within a day.`, {
    retryAfterS: RETRY_AFTER_S,
  });
}
