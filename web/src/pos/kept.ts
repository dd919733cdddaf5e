import type { Mode } from './gateway.ts';

/** The part of the state that outlives a reload and a loss of power. */
export interface Kept {
  /** The payment that is being taken. Null while there is none. */
  readonly open: OpenOrder | null;
  /** The last payments of this device, the newest first. */
  readonly recent: readonly RecentPayment[];
  readonly currency: string;
  readonly place: Place | null;
}

/** The merchant that this device takes payments for. */
export interface Place {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: Mode;
  /** Missing until the gateway has answered. */
  readonly brand?: Brand | undefined;
}

/** The look that the merchant has chosen. */
export interface Brand {
  readonly logoUrl: string | null;
  /** `#rrggbb`; null: the colour of the gateway. */
  readonly accentColor: string | null;
}

export interface Order {
  /** The Idempotency-Key. It is kept before the request is sent, so a repeated request creates no second payment. */
  readonly key: string;
  readonly place: Place;
  readonly currency: string;
  /** Missing in what an older version has kept. */
  readonly decimals?: number;
  /** Minor units, without the tip. */
  readonly amount: string;
  readonly tip: string;
}

export interface OpenOrder {
  readonly order: Order;
  /** Null until the gateway has answered. */
  readonly payment: { readonly id: string; readonly gatewayUrl: string; readonly expiresAtS: number } | null;
}

export type PaymentStatus = 'requires_action' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'cancelled';

export interface RecentPayment {
  readonly id: string;
  readonly currency: string;
  /** Missing in what an older version has kept. */
  readonly decimals?: number | undefined;
  /** Minor units, with the tip. */
  readonly total: string;
  /** The last status that the gateway has told this device. */
  readonly status: PaymentStatus;
  /** Milliseconds of the gateway's time. */
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

/** False if the browser stores nothing. */
export function writeKept(storage: Storage, kept: Kept): boolean {
  try {
    const text = JSON.stringify(kept);
    storage.setItem(KEY, text);
    return storage.getItem(KEY) === text;
  } catch {
    return false;
  }
}

/** A payment is in the list once, with its last status. */
export function withRecent(recent: readonly RecentPayment[], payment: RecentPayment): readonly RecentPayment[] {
  const earlier = recent.find(({ id }) => id === payment.id);
  const others = recent.filter(({ id }) => id !== payment.id);
  return [{ ...payment, atMs: earlier?.atMs ?? payment.atMs }, ...others].slice(0, MAX_RECENT);
}

export function totalOf({ amount, tip }: Pick<Order, 'amount' | 'tip'>): string {
  return (BigInt(amount) + BigInt(tip)).toString();
}

/** A share of the amount in minor units, rounded half up. */
export function tipOf(amount: string, percent: number): string {
  return ((BigInt(amount) * BigInt(percent) + 50n) / 100n).toString();
}
