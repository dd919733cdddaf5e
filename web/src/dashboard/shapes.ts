import type { Amount } from '../shared/money.ts';
import type { Mode } from './api.ts';

/** The parts of the API's answers that the dashboard shows. */

export const STATUSES = ['requires_action', 'processing', 'succeeded', 'failed', 'expired', 'cancelled'] as const;
export type PaymentStatus = (typeof STATUSES)[number];

export const ROLES = ['owner', 'developer', 'support', 'bookkeeper', 'cashier'] as const;
export type Role = (typeof ROLES)[number];

export interface Refund {
  readonly status: string;
}

export interface ListedPayment {
  readonly paymentId: string;
  readonly merchant: { readonly id: string; readonly name: string };
  readonly referenceId: string;
  readonly status: PaymentStatus;
  readonly fiatAmount?: Amount;
  readonly tokenAmount?: Amount;
  readonly buyer?: { readonly accountCaip10: string };
  readonly refund?: Refund;
  readonly createdAt: string;
}

export interface PaymentPage {
  readonly data: readonly ListedPayment[];
  readonly nextCursor: string | null;
  readonly stats: { readonly totalTransactions: number };
}

export interface PaymentDetails {
  readonly id: string;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly amount: Amount;
  readonly status: PaymentStatus;
  readonly createdAt: string;
  /** Seconds. */
  readonly expiresAt: number;
  readonly gatewayUrl: string;
  readonly info: { readonly optionAmount: Amount; readonly txId: string } | null;
  readonly settlement: { readonly successful: { readonly txId: string } } | null;
  readonly refund?: Refund;
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
  }[];
  readonly waiting: { readonly text: string; readonly since: string; readonly until?: string } | null;
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

export interface MerchantDetails extends MerchantRow {
  readonly settlements: { readonly crypto: readonly Destination[] };
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

export interface RefundLimit {
  readonly unit: string;
  readonly value: string;
}

export interface Person {
  readonly id: string;
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
  readonly url: string;
  readonly expiresAt: string;
  /** True if the gateway mails it to the person. */
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
