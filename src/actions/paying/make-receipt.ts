import { committedPlace } from '../../chains/committed.ts';
import {
  RECEIPT_FORM,
  type Receipt,
  type ReceiptKey,
  type ReceiptSignature,
  signReceipt,
} from '../../domain/receipt.ts';
import { ApiError } from '../../errors.ts';
import { findPaidEvent } from '../../store/chain/chain-events.ts';
import { findPayingItem, itemOf } from '../../store/chain/items.ts';
import { listEvents } from '../../store/events/events.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Database } from '../../store/plumbing/database.ts';

export interface ReceiptDeps {
  readonly db: Database;
  readonly receiptKey: ReceiptKey;
}

export interface SignedReceipt {
  readonly receipt: Receipt;
  readonly signature: ReceiptSignature;
}

/**
 * The receipt of a payment that has succeeded. It holds no present time, so it is the same at every request, unless a
 * deep reorg has moved the payment's transaction to another block.
 */
export async function makeReceipt({ db, receiptKey }: ReceiptDeps, payment: Payment): Promise<SignedReceipt> {
  if (payment.status !== 'succeeded') throw notPaid();
  const item = await findPayingItem(db.sql, payment.id);
  const [event, history] = await Promise.all([item && findPaidEvent(db.sql, item), listEvents(db.sql, payment.id)]);
  if (item === undefined || event === undefined) throw notOnChain();
  const place = committedPlace(itemOf(item), item.commitment);
  // An unverifiable receipt is worse than none.
  if (place === undefined) throw notWhole();
  const succeeded = history.find(({ type }) => type === 'payment.succeeded');
  const receipt: Receipt = {
    form: RECEIPT_FORM,
    paymentId: payment.id,
    merchantId: payment.merchantId,
    referenceId: payment.referenceId,
    priceUnit: payment.amountUnit,
    priceValue: payment.amountValue,
    succeededAt: (succeeded?.at ?? payment.updatedAt).toISOString(),
    network: item.network,
    chainId: place.chainId,
    asset: item.asset,
    token: place.token,
    collector: place.collector,
    payer: item.payer,
    recipient: item.recipient,
    feeAccount: item.feeAccount,
    amount: item.amount,
    fee: item.fee,
    deadline: String(item.deadline.getTime() / 1000),
    commitment: item.commitment,
    transaction: event.transactionHash,
    blockNumber: String(event.blockNumber),
    blockHash: event.blockHash,
    logIndex: String(event.logIndex),
  };
  return { receipt, signature: signReceipt(receiptKey, receipt) };
}

function notPaid(): ApiError {
  return new ApiError('invalid_state', 'Only a succeeded payment has a receipt.');
}

/** A deep reorg has removed its transaction, and it is not mined again yet. */
function notOnChain(): ApiError {
  return new ApiError('invalid_state', 'The transaction of this payment is not in the chain at this moment.');
}

/** A payment restored from the chain alone may lack parts of its commitment. */
function notWhole(): ApiError {
  return new ApiError('invalid_state', 'Not everything that the payer of this payment signed is known any more.');
}
