import { findFamily } from '../../chains/families.ts';
import type { RegistryDeps } from '../../chains/registry.ts';
import {
  type CommittedTerms,
  DEPOSIT_FORM,
  RECEIPT_FORM,
  REFUNDED_FORM,
  type Receipt,
  type ReceiptKey,
  type ReceiptSignature,
  type RefundReceipt,
  SEALED_DEPOSIT_FORM,
  SEALED_FORM,
  signReceipt,
} from '../../domain/receipt.ts';
import { ApiError } from '../../errors.ts';
import { findPaidEvent } from '../../store/chain/chain-events.ts';
import { findPayingItem, itemOf, type StoredItem } from '../../store/chain/items.ts';
import { listEvents } from '../../store/events/events.ts';
import { findRefundsOf, type Refund } from '../../store/money/refunds.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Database, Reader } from '../../store/plumbing/database.ts';
import { notOnChain, placeOf, proveDeposit } from './prove-deposit.ts';

export interface ReceiptDeps extends RegistryDeps {
  readonly db: Database;
  readonly receiptKey: ReceiptKey;
}

export interface SignedReceipt {
  readonly receipt: Receipt;
  readonly signature: ReceiptSignature;
}

/**
 * The receipt of a succeeded payment, with its refunds. It does not contain the present time, so every request gets the same receipt
 * until a refund or a sweep arrives, or a deep reorg moves a transaction to another block.
 */
export async function makeReceipt({ db, receiptKey }: ReceiptDeps, payment: Payment): Promise<SignedReceipt> {
  if (payment.status !== 'succeeded') throw notPaid();
  const item = await findPayingItem(db.sql, payment.id);
  if (item === undefined) throw notOnChain();
  const history = await listEvents(db.sql, payment.id);
  const succeeded = history.find(({ type }) => type === 'payment.succeeded');
  const proof = item.method === 'deposit' ? await proveDeposit(db.sql, { item, payment }) : await prove(db.sql, item);
  const terms = committedTermsOf(item);
  // Without all terms of the commitment nobody could verify the receipt.
  if (terms === undefined) throw notWhole();
  const refunds = await refundsOf(db.sql, payment);
  const isDeposit = 'transfers' in proof;
  const isSealed = item.seal !== null || refunds.some((refund) => refund.isSealed);
  const { subject, nonceSpace } = terms;
  const receipt: Receipt = {
    form: formOf({ isDeposit, isSealed, isRefunded: refunds.length > 0 }),
    paymentId: payment.id,
    merchantId: payment.merchantId,
    referenceId: payment.referenceId,
    priceUnit: payment.amountUnit,
    priceValue: payment.amountValue,
    succeededAt: (succeeded?.at ?? payment.updatedAt).toISOString(),
    network: item.network,
    chainId: terms.chainId,
    asset: item.asset,
    token: terms.token,
    collector: terms.collector,
    payer: item.payer,
    recipient: item.recipient,
    feeAccount: item.feeAccount,
    amount: item.amount,
    fee: item.fee,
    deadline: String(item.deadline.getTime() / 1000),
    commitment: item.commitment,
    ...proof,
    ...(isSealed && (isDeposit ? { subject } : { subject, nonceSpace })),
    ...((isDeposit || isSealed || refunds.length > 0) && {
      refunds: refunds.map(({ plain, shown }) => (isSealed ? { ...plain, ...shown } : plain)),
    }),
  };
  return { receipt, signature: signReceipt(receiptKey, receipt) };
}

function committedTermsOf(item: StoredItem): CommittedTerms | undefined {
  return findFamily(item.network)?.committedTerms(itemOf(item), item.commitment);
}

/** The event of the Collector that paid an item. */
async function prove(db: Reader, item: StoredItem) {
  const event = await findPaidEvent(db, item);
  if (event === undefined) throw notOnChain();
  return placeOf(event);
}

function formOf({
  isDeposit,
  isSealed,
  isRefunded,
}: Readonly<Record<'isDeposit' | 'isSealed' | 'isRefunded', boolean>>) {
  if (isSealed) return isDeposit ? SEALED_DEPOSIT_FORM : SEALED_FORM;
  if (isDeposit) return DEPOSIT_FORM;
  return isRefunded ? REFUNDED_FORM : RECEIPT_FORM;
}

/**
 * A refund as a receipt shows it. `plain` has the members that every form of receipt shows, `shown` the members that only sealed forms
 * show.
 */
interface ProvedRefund {
  readonly plain: RefundReceipt;
  readonly shown: Pick<RefundReceipt, 'subject' | 'nonceSpace'>;
  readonly isSealed: boolean;
}

/** The refunds of the payment that have arrived, as its receipt shows them. */
async function refundsOf(db: Reader, payment: Payment): Promise<ProvedRefund[]> {
  const refunds = await findRefundsOf(db, [payment.id]);
  return Promise.all(refunds.filter(({ state }) => state === 'refunded').map((refund) => refundReceipt(db, refund)));
}

async function refundReceipt(db: Reader, { id: refundId }: Refund): Promise<ProvedRefund> {
  const item = await findPayingItem(db, refundId);
  if (item === undefined) throw notOnChain();
  const proof = await prove(db, item);
  const terms = committedTermsOf(item);
  if (terms === undefined) throw notWhole();
  const plain = {
    refundId,
    collector: terms.collector,
    payer: item.payer,
    recipient: item.recipient,
    feeAccount: item.feeAccount,
    amount: item.amount,
    deadline: String(item.deadline.getTime() / 1000),
    commitment: item.commitment,
    ...proof,
  };
  const { subject, nonceSpace } = terms;
  return { plain, shown: { subject, nonceSpace }, isSealed: item.seal !== null };
}

function notPaid(): ApiError {
  return new ApiError('invalid_state', 'Only a succeeded payment has a receipt.');
}

/** The error for a payment that was restored from the chain alone, and lacks parts of its commitment. */
function notWhole(): ApiError {
  return new ApiError('invalid_state', 'Not everything that was signed for this payment is known any more.');
}
