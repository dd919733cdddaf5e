import { type Static, Type } from 'typebox';
import type { Registry } from '../../chains/registry.ts';
import { isFiatUnit, storedUnit } from '../../chains/units.ts';
import { sweptFee } from '../../domain/deposit.ts';
import { addDecimals, type Decimal, formatDecimal } from '../../domain/money.ts';
import { isFinal, visibleStatus } from '../../domain/payment.ts';
import type { ListedPayment, ListedRefund } from '../../store/payments/payment-lists.ts';
import type { PaymentStats } from '../../store/payments/payment-stats.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';
import { NextCursor, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewAmount, viewToken } from './amount.ts';
import { BuyerBody, viewBuyer } from './buyer.ts';
import type { Origin } from './icons.ts';
import { ListedMoneyBody, viewListedMoney } from './late-money.ts';
import { PaymentStatusField } from './payment.ts';
import { PaymentRefunds, viewRefunds } from './refund.ts';

declare global {
  interface JSON {
    /** Node.js has this function, but the compiler's type library lacks it. */
    rawJSON(text: string): object;
  }
}

/** A payment in a list. Fields without a value are left out. */
export function viewListItem(origin: Origin, payment: ListedPayment, nowMs: number): ListItem {
  const status = visibleStatus(stateOf(payment), nowMs);
  const { amountUnit, amountValue, amountDecimals, tokenAsset, tokenValue } = payment;
  return {
    paymentId: payment.id,
    merchant: { id: payment.merchantId, name: payment.merchantName, iconUrl: payment.merchantIconUrl },
    referenceId: payment.referenceId,
    status,
    isTerminal: isFinal(status),
    ...(isFiatUnit(amountUnit) && { fiatAmount: viewAmount(origin, amountUnit, amountValue, amountDecimals) }),
    ...(tokenAsset !== null && tokenValue !== null && { tokenAmount: viewToken(origin, tokenAsset, tokenValue) }),
    ...(payment.buyerAccount !== null && { buyer: viewBuyer(payment) }),
    ...viewTransaction(payment),
    ...viewFees(origin, payment),
    ...viewSettlement(origin, payment),
    ...viewRefunds(origin, payment, (payment.refunds ?? []).map(readRefund)),
    ...(payment.lateMoney !== null && {
      lateMoney: payment.lateMoney.map((money) => viewListedMoney(origin, money)),
    }),
    createdAt: payment.createdAt.toISOString(),
    lastUpdatedAt: lastUpdatedAt(payment, nowMs).toISOString(),
  };
}

/** The statistics of a list of payments. Statistics that were not read are left out. */
export function viewStats(registry: Registry, stats: PaymentStats | undefined): Static<typeof StatsBody> {
  if (stats === undefined) return {};
  const { transactions, customers, revenue } = stats;
  const totalRevenue = [...revenueByCurrency(registry, revenue)].map(([currency, sum]) => ({
    // Written digit by digit, because a JavaScript number would round it.
    amount: JSON.rawJSON(formatDecimal(sum)),
    currency,
  }));
  return {
    totalRevenue,
    totalTransactions: transactions,
    ...(customers !== undefined && { totalCustomers: customers }),
  };
}

/** The revenue by currency code, or by symbol for prices in a token, sorted. Tokens with the same symbol are added up. */
function revenueByCurrency(registry: Registry, revenue: PaymentStats['revenue']): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const { unit, ...sum } of revenue) {
    const { symbol } = storedUnit(registry, unit, sum.decimals);
    sums.set(symbol, addDecimals(sums.get(symbol) ?? { units: 0n, decimals: 0 }, sum));
  }
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The time of a payment's last update. A payment that expired by the clock was updated at its expiry, even before the expiry job
 * moves it.
 */
export function lastUpdatedAt(payment: ListedPayment, nowMs: number): Date {
  const { status, updatedAt, expiresAt, settledAt, refunds } = payment;
  const later = Math.max(settledAt?.getTime() ?? 0, ...(refunds ?? []).map((refund) => Date.parse(refund.updatedAt)));
  if (later > updatedAt.getTime()) return new Date(later);
  return visibleStatus(stateOf(payment), nowMs) === status || updatedAt > expiresAt ? updatedAt : expiresAt;
}

function viewTransaction({ transactionHash: hash, transactionNonce: nonce, tokenAsset }: Payment) {
  if (hash === null || tokenAsset === null) return {};
  const networkId = chainOf(tokenAsset).replace(/^.*:/, '');
  return { transaction: { networkId, hash, ...(nonce !== null && { nonce: Number(nonce) }) } };
}

/** The fee for the amount that was paid. The amount paid to a deposit address may be slightly below the amount that was asked for. */
export function listedFee({ tokenAsset, tokenValue, asked }: ListedPayment): bigint | null {
  if (tokenAsset === null || tokenValue === null || asked === null) return null;
  return sweptFee(asked, { asset: tokenAsset, amount: BigInt(tokenValue) });
}

function viewFees(origin: Origin, payment: ListedPayment) {
  const { tokenAsset, feeTerms } = payment;
  const fee = listedFee(payment);
  if (tokenAsset === null || fee === null) return {};
  const total = viewToken(origin, tokenAsset, fee.toString());
  if (feeTerms === null) return { fees: { total } };
  const { fixed, percentage } = feeTerms;
  return { fees: { total, fixed: viewToken(origin, tokenAsset, fixed), percentage } };
}

function viewSettlement(origin: Origin, payment: ListedPayment) {
  const { status, settledAsset, settledAmount, settledHash, settledAt } = payment;
  if (status !== 'succeeded') return {};
  if (settledAsset === null || settledAmount === null || settledHash === null || settledAt === null) {
    return { settlement: { settled: false } };
  }
  const amount = viewToken(origin, settledAsset, settledPart(payment, settledAmount));
  return { settlement: { settled: true, amount, txHash: settledHash }, settledAt: settledAt.toISOString() };
}

/** The part of the settled amount that belongs to the payment. A sweep also moves late money, which is not part of it. */
function settledPart(payment: ListedPayment, settled: string): string {
  const { tokenAsset, tokenValue, settledAsset } = payment;
  const fee = listedFee(payment);
  if (tokenValue === null || fee === null || tokenAsset !== settledAsset) return settled;
  const net = BigInt(tokenValue) - fee;
  return BigInt(settled) > net ? net.toString() : settled;
}

function readRefund(refund: ListedRefund) {
  return { ...refund, requestedAt: new Date(refund.requestedAt), updatedAt: new Date(refund.updatedAt) };
}

/** The CAIP-2 part of a CAIP-19 id. */
export function chainOf(asset: string): string {
  return asset.slice(0, asset.indexOf('/'));
}

type ListItem = Static<typeof ListItemBody>;

const ListItemBody = Type.Object(
  {
    paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    merchant: Type.Object(
      { id: Type.String(), name: Type.String(), iconUrl: nullable(Type.String()) },
      { title: 'PaymentMerchant' },
    ),
    referenceId: Type.String({ examples: ['ORDER-42'] }),
    status: PaymentStatusField,
    isTerminal: Type.Boolean({ description: 'True when the status is the last one.' }),
    fiatAmount: Type.Optional({ ...AmountBody, description: 'The price, if it is in a currency.' }),
    tokenAmount: Type.Optional({ ...AmountBody, description: 'The amount in the paid token, once it is known.' }),
    buyer: Type.Optional(BuyerBody),
    transaction: Type.Optional(
      Type.Object(
        {
          networkId: Type.String({
            description: 'The reference of the chain, without its namespace.',
            examples: ['8453'],
          }),
          hash: Type.Optional(Type.String()),
          nonce: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        { title: 'PaymentTransaction', description: 'The transaction that paid it, once known.' },
      ),
    ),
    fees: Type.Optional(
      Type.Object(
        {
          total: AmountBody,
          fixed: Type.Optional(AmountBody),
          percentage: Type.Optional(Type.String({ description: 'A decimal percent.', examples: ['0.4'] })),
        },
        { title: 'PaymentFees', description: 'The fees of a succeeded payment, in the token it was paid with.' },
      ),
    ),
    settlement: Type.Optional(
      Type.Object(
        {
          settled: Type.Boolean(),
          amount: Type.Optional({ ...AmountBody, description: 'The amount that reached the merchant, after fees.' }),
          txHash: Type.Optional(Type.String()),
        },
        { title: 'ListedSettlement', description: 'The settlement of a succeeded payment: its state and transaction.' },
      ),
    ),
    ...PaymentRefunds,
    lateMoney: Type.Optional(
      Type.Array(ListedMoneyBody, { description: 'Only if money has arrived that did not count; the oldest first.' }),
    ),
    createdAt: Timestamp,
    lastUpdatedAt: Timestamp,
    settledAt: Type.Optional(Timestamp),
  },
  { title: 'ListedPayment' },
);

/** A JSON number made from integers. It may have more digits than a client's floating-point numbers. */
export const ExactNumber = Type.Unsafe<object>({
  type: 'number',
  description: 'Major units, exact: read it with a decimal type if the last digit matters.',
  examples: [1234.5],
});

const StatsBody = Type.Object(
  {
    totalRevenue: Type.Optional(
      Type.Array(
        Type.Object(
          {
            amount: ExactNumber,
            currency: Type.String({ description: 'Currency code; the symbol, if priced in a token.' }),
          },
          { title: 'Revenue' },
        ),
        {
          description:
            'The prices of the succeeded ones, before fees, less the parts that were refunded: one sum per currency, by its code.',
        },
      ),
    ),
    totalTransactions: Type.Optional(Type.Integer({ minimum: 0, description: 'The number of matches on all pages.' })),
    totalCustomers: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The number of different paying accounts.' }),
    ),
  },
  {
    title: 'PaymentStats',
    description:
      'Over all matching payments, not only this page. All members are there unless the parameter `stats` leaves them out.',
  },
);

export const PaymentListBody = Type.Object(
  { data: Type.Array(ListItemBody), nextCursor: NextCursor, stats: StatsBody },
  { title: 'PaymentPage', description: 'One page.' },
);
