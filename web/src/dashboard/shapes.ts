import type { LateReason } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';
import type { Mode } from './api.ts';
import type { MajorAmount } from './major-amount.ts';

/** The parts of the API's answers that the dashboard shows. */

export const STATUSES = ['requires_action', 'processing', 'succeeded', 'failed', 'expired', 'cancelled'] as const;
export type PaymentStatus = (typeof STATUSES)[number];

export const ROLES = ['owner', 'developer', 'support', 'bookkeeper', 'cashier'] as const;
export type Role = (typeof ROLES)[number];

export interface WholeRefund {
  readonly status: string;
  readonly problem: string | null;
}

export interface Refund extends WholeRefund {
  readonly refundId: string;
  readonly amount: Amount;
  readonly priceAmount: Amount;
  readonly reason: string | null;
  readonly txId: string | null;
  readonly requestedAt: string;
}

export const LATE_STATUSES = ['unclaimed', 'requested', 'returning', 'returned'] as const;

/** Money that arrived and did not count for its payment. */
export interface LateMoney {
  readonly id: string;
  readonly paymentId: string;
  readonly merchantId: string;
  readonly reason: LateReason;
  readonly problem: string | null;
  readonly status: (typeof LATE_STATUSES)[number];
  readonly asset: string;
  readonly amount: Amount;
  readonly destination: string | null;
  readonly returnTxId: string | null;
  readonly createdAt: string;
  readonly waitingFor: {
    readonly what: string;
    readonly amount: Amount;
    readonly since: string;
    readonly until?: string;
  } | null;
}

export interface LateMoneyPage {
  readonly lateMoney: readonly LateMoney[];
  readonly nextCursor: string | null;
}

export interface Receipt {
  readonly pageUrl: string;
  readonly receipt: {
    readonly payer: string;
    readonly collector: string;
    readonly recipient: string;
    readonly feeAccount: string;
    readonly amount: string;
    readonly fee: string;
    /** Only for a payment to a deposit address. `payer` is that address then. */
    readonly arrived?: string;
    readonly transfers?: readonly { readonly sender: string }[];
    /** Empty before the first final sweep: the money is at the address. */
    readonly sweeps?: readonly { readonly amount: string }[];
  };
}

export interface ListedPayment {
  readonly paymentId: string;
  readonly merchant: { readonly id: string; readonly name: string };
  readonly referenceId: string;
  readonly status: PaymentStatus;
  readonly fiatAmount?: Amount;
  readonly tokenAmount?: Amount;
  readonly buyer?: { readonly accountCaip10: string; readonly accountProviderName?: string };
  readonly transaction?: { readonly hash?: string };
  readonly fees?: { readonly total: Amount };
  readonly settlement?: { readonly settled: boolean; readonly amount?: Amount; readonly txHash?: string };
  readonly refund?: WholeRefund;
  readonly refunds?: readonly Refund[];
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
}

export interface PaymentPage {
  readonly data: readonly ListedPayment[];
  readonly nextCursor: string | null;
}

export interface PaymentTotals {
  readonly stats: { readonly totalTransactions: number };
}

export interface PaymentDetails {
  readonly id: string;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly amount: Amount;
  readonly status: PaymentStatus;
  readonly createdAt: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly gatewayUrl: string;
  readonly acceptedAssets: readonly string[] | null;
  readonly info: { readonly optionAmount: Amount; readonly txId: string } | null;
  readonly settlement: {
    readonly successful: {
      readonly amount: { readonly unit: string; readonly value?: string };
      readonly destination?: string;
      readonly txId: string;
    };
  } | null;
  readonly refund?: WholeRefund;
  readonly refunds?: readonly Refund[];
  /** Null if nothing was paid. */
  readonly refundable: { readonly priceAmount: Amount; readonly amount: Amount } | null;
  readonly description: string | null;
}

export interface Timeline {
  readonly entries: readonly {
    readonly at: string;
    readonly what: string;
    readonly text: string;
    readonly transaction?: string;
    readonly network?: string;
    readonly account?: string;
    readonly block?: number;
  }[];
  readonly waiting: { readonly text: string; readonly since: string; readonly until?: string } | null;
}

export type Volume = MajorAmount;

export interface Statistics {
  /** The last day, UTC. */
  readonly until: string;
  readonly statuses: Readonly<Record<PaymentStatus, number>>;
  readonly volume: readonly Volume[];
  readonly days: readonly {
    readonly day: string;
    readonly payments: number;
    readonly succeeded: number;
    readonly volume: readonly Volume[];
  }[];
  readonly assets: readonly {
    readonly asset: string;
    readonly symbol: string;
    readonly networkName: string;
    readonly payments: number;
  }[];
  readonly steps: Readonly<Record<'created' | 'opened' | 'options' | 'signed' | 'paid', number>>;
  readonly timeToPay: { readonly medianSeconds: number | null; readonly p90Seconds: number | null };
}

export interface Attention {
  readonly waitingRefunds: number;
  readonly failedRefunds: number;
  readonly failingEndpoints: number;
  readonly heldPayments: number;
  readonly slowPayments: number;
  readonly lateMoney: number;
}

export interface Merchant {
  readonly id: string;
  readonly name: string;
}

export interface MerchantRow extends Merchant {
  readonly email: string;
  readonly status: 'active' | 'inactive' | 'suspended';
}

export interface Destination {
  readonly id: string;
  readonly asset: string;
  readonly destination: string;
  readonly pendingDestination?: string;
  readonly effectiveAt?: string;
}

export interface PayableAsset {
  readonly asset: string;
  readonly symbol: string;
  readonly network: string;
  readonly networkName: string;
}

export interface MerchantDetails extends MerchantRow {
  readonly acceptedAssets: readonly string[] | null;
  readonly settlements: { readonly crypto: readonly Destination[] };
}

export interface Branding {
  readonly logoUrl: string | null;
  readonly uploadedLogoUrl: string | null;
  readonly copiedLogoUrl: string | null;
  /** `#rrggbb`, or null for the gateway's colour. */
  readonly accentColor: string | null;
  readonly poweredBy: boolean;
}

export interface PaymentLink {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly amount: Amount | null;
  readonly minimum: Amount | null;
  readonly maximum: Amount | null;
  readonly stock: number | null;
  readonly taken: number | null;
  readonly status: 'active' | 'inactive';
  readonly acceptedAssets: readonly string[] | null;
}

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: 'active' | 'disabled';
}

export interface Delivery {
  readonly id: string;
  readonly eventType: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly attempts: number;
  readonly createdAt: string;
  readonly lastAttempt: { readonly status: number | null; readonly problem: string | null } | null;
}

export interface PaymentDelivery {
  readonly endpointId: string;
  readonly endpointUrl: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: Delivery['status'];
  readonly createdAt: string;
  readonly lastAttempt: { readonly at: string; readonly problem: string | null } | null;
}

export interface RefundLimit {
  readonly unit: string;
  readonly value: string;
}

export interface Person {
  readonly id: string;
  readonly belongsTo: 'operator' | 'partner' | 'merchant';
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly merchantId: string | null;
  readonly refundLimits: readonly RefundLimit[] | null;
  readonly status: 'invited' | 'active';
  readonly version: number;
  readonly lastSeenAt: string | null;
}

export interface OneTimeLink {
  /** Null if the person has a passkey: then the link is only sent by mail. */
  readonly url: string | null;
  readonly expiresAt: string;
  readonly isMailed: boolean;
}

export interface CurrentSession {
  readonly session: { readonly id: string };
  readonly person: Person;
  readonly rights: readonly string[];
  readonly partner: { readonly id: string; readonly name: string } | null;
  readonly merchant: { readonly id: string; readonly name: string } | null;
  readonly modes: readonly Mode[];
  readonly passkeys: number;
}

export interface SessionRow {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly address: string;
  readonly userAgent: string;
  readonly isCurrent: boolean;
}

export interface Passkey {
  readonly id: string;
  readonly label: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface AuditPage {
  readonly entries: readonly {
    readonly id: string;
    readonly at: string;
    readonly actor: string;
    readonly actorName: string | null;
    readonly action: string;
    readonly subject: string;
    readonly address: string | null;
  }[];
  readonly nextCursor: string | null;
}

export interface ApiKey {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly scopes: readonly string[] | null;
  readonly merchantIds: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
}

export interface EventPage {
  readonly events: readonly LoggedEvent[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface RequestPage {
  readonly requests: readonly {
    readonly id: string;
    readonly at: string;
    readonly keyId: string;
    readonly keyLabel: string | null;
    readonly method: string;
    readonly path: string;
    readonly status: number;
    readonly ms: number;
    readonly code: string | null;
    readonly message: string | null;
    readonly requestId: string;
    readonly skipped: number;
  }[];
  readonly nextCursor: string | null;
}
