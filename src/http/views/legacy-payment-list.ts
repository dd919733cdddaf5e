import { type Static, Type } from 'typebox';
import type { Registry } from '../../chains/registry.ts';
import { isFiatUnit } from '../../chains/units.ts';
import { isFinal, PAYMENT_STATUSES, type PaymentStatus, visibleStatus } from '../../domain/payment.ts';
import type { ListedPayment } from '../../store/payments/payment-lists.ts';
import type { PaymentStats } from '../../store/payments/payment-stats.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';
import { namedEnum, nullable, Timestamp } from '../schemas.ts';
import { chainOf, ExactNumber, lastUpdatedAt, viewStats } from './payment-list.ts';

/** A payment in the deprecated list. The list's shape knows neither the status `cancelled` nor amounts beyond 32 bits. */
export function viewLegacyItem(registry: Registry, payment: ListedPayment, nowMs: number): LegacyItem {
  const status = visibleStatus(stateOf(payment), nowMs);
  const isFiat = isFiatUnit(payment.amountUnit);
  return {
    payment_id: payment.id,
    merchant_id: payment.merchantId,
    reference_id: payment.referenceId,
    status: status === 'cancelled' ? 'failed' : status,
    is_terminal: isFinal(status),
    fiat_amount: isFiat ? int32(payment.amountValue) : null,
    fiat_currency: isFiat ? payment.amountUnit : null,
    // Shipped clients reject null here.
    wallet_name: payment.buyerName ?? '',
    wallet_logo: payment.buyerIcon,
    buyer_caip10: payment.buyerAccount,
    ...viewLegacyToken(registry, payment),
    tx_hash: payment.transactionHash,
    nonce: payment.transactionNonce === null ? null : int32(payment.transactionNonce),
    created_at: payment.createdAt.toISOString(),
    last_updated_at: lastUpdatedAt(payment, nowMs).toISOString(),
    settled_at: payment.settledAt?.toISOString() ?? null,
    settlement_status: status === 'succeeded' ? (payment.settledAt === null ? 'pending' : 'settled') : null,
    settlement_tx_hash: payment.settledHash,
  };
}

function viewLegacyToken(registry: Registry, { tokenAsset, tokenValue }: Payment) {
  const known = tokenAsset === null ? undefined : registry.asset(tokenAsset);
  return {
    chain_id: tokenAsset === null ? null : chainOf(tokenAsset),
    chain_logo: null,
    token_caip19: tokenAsset,
    token_symbol: known?.symbol ?? null,
    token_decimals: known?.decimals ?? null,
    token_logo: null,
    token_amount: tokenValue,
  };
}

export function viewLegacyStats(registry: Registry, stats: PaymentStats | undefined) {
  const { totalRevenue = [], totalTransactions = 0, totalCustomers = 0 } = viewStats(registry, stats);
  return {
    total_revenue: totalRevenue[0] ?? { amount: JSON.rawJSON('0'), currency: 'USD' },
    total_transactions: Math.min(totalTransactions, MAX_INT32),
    total_customers: Math.min(totalCustomers, MAX_INT32),
  };
}

/** The statuses that match a filter of this list. A cancelled payment counts as failed here. */
export function fromLegacyStatus(status: LegacyStatus): readonly PaymentStatus[] {
  return status === 'failed' ? ['failed', 'cancelled'] : [status];
}

const MAX_INT32 = 2 ** 31 - 1;

/** The number, or null if it does not fit into 32 bits. */
function int32(digits: string): number | null {
  return BigInt(digits) <= MAX_INT32 ? Number(digits) : null;
}

type LegacyStatus = Exclude<PaymentStatus, 'cancelled'>;
type LegacyItem = Static<typeof LegacyItemBody>;

export const LegacyStatusField = namedEnum(
  'LegacyPaymentStatus',
  PAYMENT_STATUSES.filter((status): status is LegacyStatus => status !== 'cancelled'),
  'A cancelled payment is `failed` here.',
);

const Text = nullable(Type.String());
const Int32 = Type.Integer({ minimum: 0, maximum: MAX_INT32 });

const LegacyItemBody = Type.Object(
  {
    payment_id: Type.String(),
    merchant_id: Type.String(),
    reference_id: Type.String(),
    status: LegacyStatusField,
    is_terminal: Type.Boolean(),
    fiat_amount: nullable({ ...Int32, description: 'Minor units; null beyond 32 bits, or if priced in a token.' }),
    fiat_currency: nullable(Type.String({ examples: ['iso4217/USD'] })),
    wallet_name: Type.String({ description: 'Empty until it is known.' }),
    wallet_logo: Text,
    buyer_caip10: Text,
    chain_id: nullable(Type.String({ description: 'CAIP-2.' })),
    chain_logo: Text,
    token_caip19: Text,
    token_symbol: Text,
    token_decimals: nullable(Type.Integer({ minimum: 0 })),
    token_logo: Text,
    token_amount: nullable(Type.String({ description: 'Minor units.' })),
    tx_hash: Text,
    nonce: nullable({ ...Int32, description: 'Null beyond 32 bits.' }),
    created_at: Timestamp,
    last_updated_at: Timestamp,
    settled_at: nullable(Timestamp),
    settlement_status: nullable(Type.String({ description: '`pending` or `settled`, of a succeeded payment.' })),
    settlement_tx_hash: Text,
  },
  { title: 'LegacyPayment' },
);

export const LegacyListBody = Type.Object(
  {
    data: Type.Array(LegacyItemBody),
    next_cursor: nullable(Type.String({ description: 'Pass it as `cursor` for the next page; null at the end.' })),
    stats: Type.Object(
      {
        total_revenue: Type.Object(
          { amount: ExactNumber, currency: Type.String() },
          { title: 'LegacyRevenue', description: 'Of one currency, the first by its code; 0 USD if nothing was paid.' },
        ),
        total_transactions: Int32,
        total_customers: Int32,
      },
      { title: 'LegacyPaymentStats' },
    ),
  },
  { title: 'LegacyPaymentPage', description: 'One page.' },
);
