import { SLOT_REACH } from './slots.ts';

/**
 * The least time before its deadline, by the chain's own clock, at which an item is still sent. Later, it might be mined too
 * late, and its gas would be wasted.
 */
export const SEND_MARGIN_MS = 20_000;

/**
 * A step of a signer for its transactions in flight. The steps are computed only from the stored sends and a few facts of the
 * chain, so a signer that restarts, or takes over from another, takes the same steps.
 */
export type SendStep<Offer> =
  /** Fills a slot that no stored send has, because all later slots wait until a transaction uses it. */
  | { readonly do: 'fill'; readonly slot: number }
  /** Replaces the transaction of the slot by one with a higher offer. */
  | { readonly do: 'bump'; readonly slot: number; readonly offer: Offer }
  /** Signs the transaction of the slot anew at the current offer, because its bytes were pruned. */
  | { readonly do: 'resign'; readonly slot: number }
  /** Sends the stored bytes again: they may never have been sent, or nodes may have dropped them. */
  | { readonly do: 'rebroadcast'; readonly slot: number };

export interface InFlight<Offer> {
  readonly slot: number;
  /** The highest offer that was signed for this slot. `signedAgoMs` is the time since that signature. */
  readonly offer: Offer;
  readonly signedAgoMs: number;
  /** The time since this process last sent the transaction. Undefined if it has not sent it yet. */
  readonly broadcastAgoMs: number | undefined;
  /** True if the chain demands a higher offer for this slot than that of the best version. */
  readonly isOutbid: boolean;
  /** True if the bytes of every version were pruned, so that nothing can be broadcast. */
  readonly isPruned: boolean;
}

export interface SendFacts<Offer> {
  /** The transactions in flight, in the order of their slots. Transactions of used slots are left out. */
  readonly inFlight: readonly InFlight<Offer>[];
  /** The number of used slots, which is the next slot according to the chain. */
  readonly usedSlots: number;
  /** The next slot according to the stored sends. */
  readonly nextSlot: number;
  /** The next offer for a transaction that was not mined with the given offer. Undefined if a higher offer would not help. */
  raise(offer: Offer): Offer | undefined;
  readonly rebroadcastAfterMs: number;
  readonly bumpAfterMs: number;
}

/**
 * The next steps in the order of slots, because some nodes refuse a transaction whose predecessor they do not know. The plan
 * covers at most `SLOT_REACH` slots, because a wrong slot number once made a plan of a billion steps.
 */
export function planSends<Offer>(facts: SendFacts<Offer>): SendStep<Offer>[] {
  const steps: SendStep<Offer>[] = [];
  const bySlot = new Map(facts.inFlight.map((send) => [send.slot, send]));
  const end = Math.min(facts.nextSlot, facts.usedSlots + SLOT_REACH);
  for (let slot = facts.usedSlots; slot < end; slot += 1) {
    const send = bySlot.get(slot);
    if (send === undefined) {
      steps.push({ do: 'fill', slot });
      continue;
    }
    // A pruned transaction is signed anew whatever its old price was, so the limits of a raise do not apply. Without a new
    // transaction, all later slots would wait for good.
    if (send.isPruned) {
      steps.push({ do: 'resign', slot });
      continue;
    }
    const offer = isWorthMore(send, facts) ? facts.raise(send.offer) : undefined;
    if (offer !== undefined) steps.push({ do: 'bump', slot, offer });
    else if (send.broadcastAgoMs === undefined || send.broadcastAgoMs >= facts.rebroadcastAfterMs) {
      steps.push({ do: 'rebroadcast', slot });
    }
  }
  return steps;
}

/** True if the transaction should be replaced by one with a higher offer. A version that this process has never sent is sent first. */
function isWorthMore<Offer>(send: InFlight<Offer>, facts: SendFacts<Offer>): boolean {
  if (send.broadcastAgoMs === undefined) return false;
  return send.isOutbid || send.signedAgoMs >= facts.bumpAfterMs;
}

/** The properties of a due item that decide which items share its transaction. */
export interface BatchItem {
  readonly collector: string;
  readonly asset: string;
  /** The asset that the deposit address was made for, if a sweep takes another asset from it. */
  readonly asked?: string | null;
  readonly method: string;
  readonly feeAccount: string;
  /**
   * True for items of accounts with code, and of accounts that failed before. They can fail in any way, so each is isolated in
   * a transaction of its own.
   */
  readonly isIsolated: boolean;
  /** The number of failed sends. */
  readonly attempts: number;
}

/**
 * Groups due items into transactions, in the order of the items. The items of a transaction share Collector, asset, method and
 * fee account. Items with failed sends are grouped together, in smaller groups after each failure. So an item that makes its
 * whole transaction fail is soon alone.
 */
export function intoBatches<T extends BatchItem>(due: readonly T[], maxItemsOf: (item: T) => number): T[][] {
  const open = new Map<string, T[]>();
  const batches: T[][] = [];
  for (const item of due) {
    if (item.isIsolated) {
      batches.push([item]);
      continue;
    }
    const key = [item.collector, item.asset, item.asked, item.method, item.feeAccount, item.attempts].join(' ');
    const limit = Math.max(1, Math.floor(maxItemsOf(item) / 4 ** item.attempts));
    let batch = open.get(key);
    if (batch === undefined || batch.length >= limit) {
      batch = [];
      open.set(key, batch);
      batches.push(batch);
    }
    batch.push(item);
  }
  return batches;
}

export interface Places {
  /** The number of further transactions that may be in flight. */
  readonly room: number;
  /** The number of further transactions with an isolated item that may be in flight. */
  readonly isolatedRoom: number;
  /** True while a transaction with an isolated item is in flight. */
  readonly isIsolatedUnderWay: boolean;
}

/**
 * The transactions to send in this round, in the order of their slots. Isolated items come last and get few transactions, so that
 * they do not delay others. One transaction is reserved for them, so that a flood of other payments does not shut them out.
 */
export function chooseBatches<T extends BatchItem>(
  batches: readonly T[][],
  { room, isolatedRoom, isIsolatedUnderWay }: Places,
): T[][] {
  const isIsolated = ([first]: readonly T[]) => first?.isIsolated === true;
  const isolated = batches.filter(isIsolated).slice(0, Math.max(0, isolatedRoom));
  const kept = isolated.length > 0 && !isIsolatedUnderWay && room > 1 ? 1 : 0;
  const main = batches.filter((batch) => !isIsolated(batch)).slice(0, room - kept);
  return [...main, ...isolated.slice(0, room - main.length)];
}
