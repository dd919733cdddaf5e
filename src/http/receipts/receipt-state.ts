import type { ReceiptPage } from '../../../web/src/receipts/page-state.ts';
import { makeReceipt, type SignedReceipt } from '../../actions/paying/make-receipt.ts';
import { shownReference } from '../../domain/payment-link.ts';
import { ApiError } from '../../errors.ts';
import { listEvents } from '../../store/events/events.ts';
import { findRefundsOf, type Refund } from '../../store/money/refunds.ts';
import { findPaymentDetails } from '../../store/payments/payment-details.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { plainUrl } from '../entry/payment-id.ts';
import { viewAmount, viewToken } from '../views/amount.ts';
import type { PageBrand } from '../views/brand.ts';
import { findMoneyOfPayer, linkTransaction, viewForPayer } from '../views/payer-info.ts';
import { viewOrder } from '../views/payment-details.ts';
import { chainOf } from '../views/payment-list.ts';
import { receiptUrl } from './receipt-url.ts';

/** The most transactions that a receipt of a payment in parts lists. */
const MAX_TRANSACTIONS = 20;

type Language = Pick<ReceiptPage, 'locale' | 'dir'>;

interface ReceiptInput {
  readonly payment: Payment & { readonly tokenAsset: string };
  readonly brand: Pick<PageBrand, 'showsPoweredBy'>;
  readonly language: Language;
}

export async function receiptPage(deps: HttpDeps, { payment, brand, language }: ReceiptInput): Promise<ReceiptPage> {
  const { config, db } = deps;
  const { id, mode, tokenAsset } = payment;
  const [{ merchant, amount }, details, refunds, signed, lateMoney] = await Promise.all([
    viewForPayer(deps, payment),
    findPaymentDetails(db.sql, id),
    findRefundsOf(db.sql, [id]),
    findSigned(deps, payment),
    findMoneyOfPayer(deps, id),
  ]);
  const { description, lineItems } = viewOrder(config, details);
  const url = receiptUrl(deps, id);
  return {
    kind: 'receipt',
    locale: language.locale,
    dir: language.dir,
    isTest: mode === 'test',
    hidesPoweredBy: !brand.showsPoweredBy,
    merchant,
    number: id.slice('pay_'.length),
    paidAt: signed?.receipt.succeededAt ?? (await findPaidAt(deps, payment)),
    referenceId: shownReference(payment.referenceId),
    description,
    lineItems: lineItems ?? [],
    price: amount,
    // The amount that counted for the payment. Any excess is late money.
    paid: viewToken(config, tokenAsset, payment.tokenValue ?? '0'),
    account: payment.buyerAccount,
    transactions: transactionsOf(payment, signed)
      .slice(0, MAX_TRANSACTIONS)
      .map((txId) => linkTransaction(deps, chainOf(tokenAsset), txId)),
    refunds: refunds.flatMap((refund) => viewRefund(deps, payment, refund)),
    lateMoney,
    proof:
      signed === undefined
        ? null
        : {
            receiptUrl: `${url}.json`,
            keysUrl: `${config.publicUrl}/.well-known/till-receipts.json`,
            scriptUrl: `${config.publicUrl}/verify-receipt.mjs`,
          },
    url,
    checkoutUrl: plainUrl(config.publicUrl, id),
  };
}

/** The signed receipt. Undefined while the receipt cannot be signed, for example in a deep reorg. */
async function findSigned(deps: HttpDeps, payment: Payment): Promise<SignedReceipt | undefined> {
  try {
    return await makeReceipt(deps, payment);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_state') return undefined;
    throw error;
  }
}

async function findPaidAt({ db }: HttpDeps, { id, updatedAt }: Payment): Promise<string> {
  const succeeded = (await listEvents(db.sql, id)).find(({ type }) => type === 'payment.succeeded');
  return (succeeded?.at ?? updatedAt).toISOString();
}

/** The transactions that a receipt lists: all transfers to a deposit address, otherwise the one transaction of the payment. */
function transactionsOf({ transactionHash }: Payment, signed: SignedReceipt | undefined): string[] {
  const parts = (signed?.receipt.transfers ?? []).map(({ transaction }) => transaction);
  if (parts.length > 0) return [...new Set(parts)];
  return transactionHash === null ? [] : [transactionHash];
}

function viewRefund(
  deps: HttpDeps,
  { amountUnit, amountDecimals }: Payment,
  { state, price, updatedAt, network, transactionHash }: Refund,
): ReceiptPage['refunds'] {
  if (state !== 'refunded' || transactionHash === null) return [];
  return [
    {
      price: viewAmount(deps.config, amountUnit, price, amountDecimals),
      at: updatedAt.toISOString(),
      ...linkTransaction(deps, network, transactionHash),
    },
  ];
}
