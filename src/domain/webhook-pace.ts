import { MAX_RETRY_AFTER_MS } from './webhook.ts';

/**
 * The pace of the attempts to one endpoint, on one node. The window is the number of attempts in flight. It grows with every
 * success and shrinks with failures, so that a receiver that recovers gets its backlog step by step. An endpoint that keeps
 * failing is only probed, with growing pauses: its deliveries wait, and use neither connections nor database statements.
 */
export interface Pace {
  window: number;
  /** The number of consecutive failures. Failures of attempts that were in flight together count once. */
  failures: number;
  countedAtMs: number;
  pausedUntilMs: number;
  /** A moving average of the response times. */
  latencyMs: number;
}

export const MAX_WINDOW = 32;
const FIRST_WINDOW = 8;
/** The number of consecutive failures after which an endpoint is probed by single attempts. */
const PROBED_FROM = 3;
/**
 * The factor by which an endpoint that answers within `QUICK_MS` may have more claims than its window, so that its next deliveries
 * are claimed in advance.
 */
const AHEAD = 4;
const QUICK_MS = 500;
/** The weight of the newest response time in the average. */
const WEIGHT = 0.1;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export function newPace(): Pace {
  return { window: FIRST_WINDOW, failures: 0, countedAtMs: 0, pausedUntilMs: 0, latencyMs: 0 };
}

export function roomOf({ window, pausedUntilMs }: Pace, nowMs: number): number {
  return nowMs < pausedUntilMs ? 0 : window;
}

/**
 * The number of further deliveries to claim for an endpoint with `held` claims. Claims in advance keep the window full between
 * two rounds. A slow or failing endpoint gets none in advance, because these claims would expire unused.
 */
export function claimsOf(pace: Pace, { held, nowMs }: { readonly held: number; readonly nowMs: number }): number {
  const isQuick = pace.failures === 0 && pace.latencyMs < QUICK_MS;
  const most = roomOf(pace, nowMs) * (isQuick ? AHEAD : 1);
  // A few large rounds of claims cost less than many small ones.
  return isQuick && held > most / 2 ? 0 : Math.max(0, most - held);
}

export function noteSuccess(pace: Pace, latencyMs: number): void {
  pace.latencyMs += WEIGHT * (latencyMs - pace.latencyMs);
  pace.window = Math.min(MAX_WINDOW, pace.window + 1);
  pace.failures = 0;
  pace.pausedUntilMs = 0;
}

export interface NotedFailure {
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly retryAfterMs?: number | undefined;
  readonly jitter: number;
}

export function noteFailure(pace: Pace, { startedAtMs, nowMs, retryAfterMs = 0, jitter }: NotedFailure): void {
  if (startedAtMs >= pace.countedAtMs) {
    pace.failures += 1;
    pace.countedAtMs = nowMs;
    pace.window = pace.failures >= PROBED_FROM ? 1 : Math.max(1, Math.floor(pace.window / 2));
  }
  const further = pace.failures - PROBED_FROM;
  const ownMs = further >= 0 ? Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** further) * jitter : 0;
  const pauseMs = Math.max(ownMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  if (pauseMs > 0) pace.pausedUntilMs = Math.max(pace.pausedUntilMs, nowMs + pauseMs);
}

/** The limits of a partner's places. A place is one claim, or one attempt in flight. */
export interface PlaceLimits {
  readonly ofPartner: number;
  /**
   * The places (claims or attempts in flight) that are reserved for each merchant, so that no merchant waits for slow receivers
   * of another.
   */
  readonly reserved: number;
  /** The limit of a partner's places (claims or attempts in flight), including those reserved for its merchants. */
  readonly withReserved: number;
}

/** The places in use by a partner, and by one of its merchants. A place is one claim, or one attempt in flight. */
export interface PlacesUsed {
  readonly byPartner: number;
  readonly byHolder: number;
}

/** The number of places (claims or attempts in flight) that a merchant's endpoint may still take. */
export function freePlaces({ ofPartner, reserved, withReserved }: PlaceLimits, used: PlacesUsed): number {
  const own = Math.min(reserved - used.byHolder, withReserved - used.byPartner);
  return Math.max(0, ofPartner - used.byPartner, own);
}

/** An endpoint with due deliveries. */
export interface Applicant {
  readonly id: string;
  readonly partnerId: string;
  /** The id of the merchant that the endpoint is for, or else of the partner. */
  readonly holder: string;
  /** The number of further attempts that the endpoint may have in flight. */
  readonly room: number;
}

export interface Places {
  /** The free places of the node. */
  readonly total: number;
  readonly limits: PlaceLimits;
  /** The number of places in use, by partner and by holder. */
  readonly byPartner: ReadonlyMap<string, number>;
  readonly byHolder: ReadonlyMap<string, number>;
}

/** The most places (claims or attempts in flight) that an endpoint gets in one turn. */
const PER_TURN = 4;

/**
 * Shares the free places (claims or attempts) of a node among endpoints. Partners with the fewest places in use come first, then
 * merchants. Endpoints take turns, so that many or slow endpoints of one owner do not delay others.
 */
export function shareOut(applicants: readonly Applicant[], { total, limits, ...used }: Places): Map<string, number> {
  const shares = new Map<string, number>();
  const byPartner = new Map(used.byPartner);
  const byHolder = new Map(used.byHolder);
  const inOrder = applicants.toSorted(
    (a, b) =>
      (byPartner.get(a.partnerId) ?? 0) - (byPartner.get(b.partnerId) ?? 0) ||
      (byHolder.get(a.holder) ?? 0) - (byHolder.get(b.holder) ?? 0),
  );
  let left = total;
  for (let isGiven = true; isGiven && left > 0; ) {
    isGiven = false;
    for (const { id, partnerId, holder, room } of inOrder) {
      const share = shares.get(id) ?? 0;
      const ofPartner = byPartner.get(partnerId) ?? 0;
      const ofHolder = byHolder.get(holder) ?? 0;
      const free = freePlaces(limits, { byPartner: ofPartner, byHolder: ofHolder });
      const places = Math.min(PER_TURN, room - share, free, left);
      if (places <= 0) continue;
      shares.set(id, share + places);
      byPartner.set(partnerId, ofPartner + places);
      byHolder.set(holder, ofHolder + places);
      left -= places;
      isGiven = true;
    }
  }
  return shares;
}
