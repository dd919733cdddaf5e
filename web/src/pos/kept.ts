import type { LateMoney } from '../shared/late-money.ts';
import type { Mode } from './gateway.ts';

/** The part of the state that survives a reload and a loss of power. */
export interface Kept {
  /** The payment in progress. Null if there is none. */
  readonly open: OpenOrder | null;
  readonly recent: readonly RecentPayment[];
  readonly currency: string;
  readonly place: Place | null;
}

/** The merchant that this device takes payments for. */
export interface Place {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: Mode;
  /** The merchant's branding. Missing until the gateway has sent it. */
  readonly brand?: Brand | undefined;
  /** The codes of the currencies that the merchant's assets can pay. Missing until the gateway has answered. */
  readonly currencies?: readonly string[] | undefined;
}

export interface Brand {
  readonly logoUrl: string | null;
  /** `#rrggbb`, or null for the gateway's colour. */
  readonly accentColor: string | null;
}

export interface Order {
  /** The Idempotency-Key. It is stored before the request is sent, so that a repeated request does not create a second payment. */
  readonly key: string;
  readonly place: Place;
  readonly currency: string;
  /** The decimals of the currency. Missing if an older version of this page stored the order. */
  readonly decimals?: number;
  /** The amount in minor units, without the tip. */
  readonly amount: string;
  readonly tip: string;
}

export interface OpenOrder {
  readonly order: Order;
  /** The payment of the order. Null until the gateway has created it. */
  readonly payment: { readonly id: string; readonly gatewayUrl: string; readonly expiresAtS: number } | null;
}

export type PaymentStatus = 'requires_action' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'cancelled';

export interface RecentPayment {
  readonly id: string;
  readonly currency: string;
  /** The decimals of the currency. Missing if an older version of this page stored the payment. */
  readonly decimals?: number | undefined;
  /** The amount with the tip, in minor units. */
  readonly total: string;
  /** The last status that this device received from the gateway. */
  readonly status: PaymentStatus;
  /** Money that arrived and did not count for the payment, as far as this device knows. */
  readonly lateMoney?: readonly LateMoney[] | undefined;
  /** Milliseconds since the epoch, by the gateway's clock. */
  readonly atMs: number;
}

const KEY = 'till.pos';
const MAX_RECENT = 20;
const NOTHING: Kept = { open: null, recent: [], currency: 'USD', place: null };

export type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>;

export function readKept(storage: Storage): Kept {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? 'null') as Partial<Kept> | null;
    return { ...NOTHING, ...kept };
  } catch {
    return NOTHING;
  }
}

/** False if the browser cannot store the state. */
export function writeKept(storage: Storage, kept: Kept): boolean {
  try {
    const text = JSON.stringify(kept);
    storage.setItem(KEY, text);
    return storage.getItem(KEY) === text;
  } catch {
    return false;
  }
}

/**
 * Adds a payment to the recent ones. A payment is listed once, with its last status and the late money of the last answer that had
 * any.
 */
export function withRecent(recent: readonly RecentPayment[], payment: RecentPayment): readonly RecentPayment[] {
  const earlier = recent.find(({ id }) => id === payment.id);
  const others = recent.filter(({ id }) => id !== payment.id);
  const known = { lateMoney: payment.lateMoney ?? earlier?.lateMoney, atMs: earlier?.atMs ?? payment.atMs };
  return [{ ...payment, ...known }, ...others].slice(0, MAX_RECENT);
}

export function totalOf({ amount, tip }: Pick<Order, 'amount' | 'tip'>): string {
  return (BigInt(amount) + BigInt(tip)).toString();
}

/** A percentage of the amount in minor units, rounded half up. */
export function tipOf(amount: string, percent: number): string {
  return ((BigInt(amount) * BigInt(percent) + 50n) / 100n).toString();
}

/** The percentages that a cashier can choose. */
export const TIPS = [0, 5, 10, 15] as const;

/** The percentage that gives this tip, or 0 if none does. */
export function percentOf(amount: string, tip: string): number {
  return TIPS.find((each) => tipOf(amount, each) === tip) ?? 0;
}
