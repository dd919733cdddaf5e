import { type Static, Type } from 'typebox';
import { findStockFor } from '../../actions/paying/links/link-stock.ts';
import { BELOW_FEES, MERCHANT_STOPPED, STOCK_REFUSALS } from '../../actions/paying/option-refusals.ts';
import { acceptedTokens } from '../../actions/paying/payable-assets.ts';
import { openNetworks, servedNetworks } from '../../actions/paying/served-networks.ts';
import { isBelowFees } from '../../actions/paying/terms-in-force.ts';
import { type PaymentStatus, visibleStatus } from '../../domain/payment.ts';
import { refusalOfStock } from '../../domain/payment-link.ts';
import { findRefusedAttempt } from '../../store/chain/due-items.ts';
import { findCarryingTransaction } from '../../store/chain/sends.ts';
import { findLateMoneyOf } from '../../store/money/late-money.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';
import { transactionUrl } from '../checkout/transaction-link.ts';
import type { HttpDeps } from '../deps.ts';
import { enumOf, nullable } from '../schemas.ts';
import { AmountBody, viewAmount } from './amount.ts';
import { pageBrand } from './brand.ts';
import { BuyerBody, viewBuyer } from './buyer.ts';
import { MoneyOfPayer, viewMoneyOfPayer } from './late-money.ts';
import { PaymentStatusField } from './payment.ts';
import { chainOf } from './payment-list.ts';

export async function viewForPayer(deps: HttpDeps, payment: Payment) {
  const merchant = await deps.merchants.get(payment.merchantId);
  const status = visibleStatus(stateOf(payment), deps.world.clock.nowMs());
  return {
    status,
    amount: viewAmount(deps.config, payment.amountUnit, payment.amountValue, payment.amountDecimals),
    expiresAt: payment.expiresAt.getTime() / 1000,
    merchant: {
      name: merchant?.name ?? '',
      iconUrl: pageBrand(deps.config, merchant).logoUrl,
    },
    buyer: viewBuyer(payment) ?? null,
    ...(status === 'requires_action' && (await viewPayable(deps, payment, merchant))),
  };
}

/** The tokens that the payment can be paid with now, or the reason why there are none. */
async function viewPayable(deps: HttpDeps, payment: Payment, merchant: PayableMerchant | undefined) {
  if (merchant?.isStopped) return { accepted: [], stopped: STOPPED.merchant };
  if (isBelowFees(deps, merchant, payment)) return { accepted: [], stopped: STOPPED.fees };
  const [open, stock] = await Promise.all([openNetworks(deps, payment.mode), findStockFor(deps.db.sql, payment)]);
  const refusal = stock && refusalOfStock(stock);
  if (refusal !== undefined) return { accepted: [], stopped: STOPPED[refusal] };
  const isFrozen = open.length === 0 && servedNetworks(deps, payment.mode).length > 0;
  return {
    accepted: acceptedTokens(deps, payment, { networks: open, takesCoin: stock === undefined }),
    ...(isFrozen && { stopped: STOPPED.network }),
  };
}

const STOPPED = {
  merchant: { reason: 'merchant_stopped', message: MERCHANT_STOPPED },
  fees: { reason: 'below_fees', message: BELOW_FEES },
  sold_out: { reason: 'sold_out', message: STOCK_REFUSALS.sold_out },
  stock_uncertain: { reason: 'stock_uncertain', message: STOCK_REFUSALS.stock_uncertain },
  network: { reason: 'networks_stopped', message: 'No network takes payments at the moment.' },
} as const;

/** A payment as its payer sees it, with its transaction, the reason why it is not sent yet, and late money. */
export async function viewWithTransaction(deps: HttpDeps, payment: Payment) {
  const view = await viewForPayer(deps, payment);
  const [transaction, attempt, lateMoney] = await Promise.all([
    viewTransaction(deps, payment, view.status),
    view.status === 'processing' ? viewAttempt(deps, payment.id) : null,
    findMoneyOfPayer(deps, payment.id),
  ]);
  return { ...view, transaction, attempt, lateMoney };
}

export async function findMoneyOfPayer(deps: HttpDeps, paymentId: string) {
  const now = new Date(deps.world.clock.nowMs());
  const found = await findLateMoneyOf(deps.db.sql, { paymentId, now });
  return found.map((money) => viewMoneyOfPayer(deps.config, money));
}

/** The last refused attempt of an unfinished payment or refund, as it is shown. */
export async function viewAttempt(deps: HttpDeps, subject: string): Promise<Static<typeof AttemptBody> | null> {
  const attempt = await findRefusedAttempt(deps.db.sql, subject);
  if (attempt === undefined) return null;
  const refusal = SHOWN_REFUSALS.find((each) => each === attempt.refusal) ?? 'unknown';
  return { refusal, triesUntil: attempt.deadline.getTime() / 1000 };
}

/** The refusals that a payer can understand or resolve. */
const SHOWN_REFUSALS = [
  'short_balance',
  'short_allowance',
  'paused',
  'payer_blacklisted',
  'recipient_blacklisted',
] as const;

async function viewTransaction(
  deps: HttpDeps,
  { id, transactionHash, tokenAsset }: Payment,
  status: PaymentStatus,
): Promise<Static<typeof TransactionBody> | null> {
  if (status === 'processing') {
    const carrying = await findCarryingTransaction(deps.db.sql, id);
    return carrying === undefined ? null : linkTransaction(deps, carrying.network, carrying.hash);
  }
  if (status !== 'succeeded' || transactionHash === null || tokenAsset === null) return null;
  return linkTransaction(deps, chainOf(tokenAsset), transactionHash);
}

export function linkTransaction(deps: HttpDeps, chainId: string, txId: string) {
  const url = transactionUrl(deps, chainId, txId);
  return { chainId, txId, explorerUrl: url === undefined ? null : new URL(url, deps.config.publicUrl).href };
}

export const PayerInfoBody = Type.Object(
  {
    status: PaymentStatusField,
    amount: AmountBody,
    expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch.' }),
    merchant: Type.Object({ name: Type.String(), iconUrl: nullable(Type.String()) }, { title: 'PayerMerchant' }),
    buyer: Type.Unsafe<Static<typeof BuyerBody> | null>({ ...BuyerBody, type: ['object', 'null'] }),
    accepted: Type.Optional(
      Type.Array(Type.Object({ symbol: Type.String(), networkName: Type.String() }, { title: 'AcceptedToken' }), {
        description: 'The assets it can be paid with now, whether or not the payer holds any; while it can be paid.',
        examples: [[{ symbol: 'USDC', networkName: 'Base' }]],
      }),
    ),
    stopped: Type.Optional(
      Type.Object(
        { reason: enumOf(Object.values(STOPPED).map(({ reason }) => reason)), message: Type.String() },
        {
          title: 'PaymentStop',
          description:
            'Why nothing is offered: the operator has stopped the merchant or every network, the fees were raised above the price, the payment link is sold out, or its stock is counted again after a restore.',
        },
      ),
    ),
  },
  { title: 'PayerInfo', description: 'The payment, for the payer.' },
);

export const TransactionBody = Type.Object(
  {
    chainId: Type.String({ description: 'CAIP-2.', examples: ['eip155:8453'] }),
    txId: Type.String({ description: 'Transaction id.' }),
    explorerUrl: nullable(Type.String({ description: 'The URL of a block explorer; null if there is none.' })),
  },
  { title: 'TransactionLink' },
);

export const AttemptBody = Type.Object(
  {
    refusal: enumOf([...SHOWN_REFUSALS, 'unknown'], 'The reason why the token refuses the payment at present.'),
    triesUntil: Type.Integer({ minimum: 0, description: 'The end of the retries, in seconds since the epoch.' }),
  },
  { title: 'SendAttempt' },
);

export const PayerPaymentBody = Type.Object(
  {
    ...PayerInfoBody.properties,
    transaction: Type.Unsafe<Static<typeof TransactionBody> | null>({
      ...TransactionBody,
      type: ['object', 'null'],
      description:
        'The transaction of the payment. While it is `processing` this is the one last sent, if any: another ' +
        'transaction may take its place. Once it has `succeeded` it is the one that paid.',
    }),
    attempt: Type.Unsafe<Static<typeof AttemptBody> | null>({
      ...AttemptBody,
      type: ['object', 'null'],
      description:
        'The reason why the payment cannot be sent while it is `processing`; null if there is none. This attempt has charged nothing so far. ' +
        'If it does not pass in time, the payment is `requires_action` again, or `expired`.',
    }),
    lateMoney: MoneyOfPayer,
  },
  { title: 'PayerPayment', description: 'The payment, for the payer.' },
);
