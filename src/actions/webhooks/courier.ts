import { quotaHolder } from '../../domain/quota.ts';
import { isGivenUp } from '../../domain/webhook.ts';
import {
  type Applicant,
  claimsOf,
  freePlaces,
  newPace,
  noteFailure,
  noteSuccess,
  type Pace,
  type PlaceLimits,
  roomOf,
  shareOut,
} from '../../domain/webhook-pace.ts';
import { jitterOf } from '../../runtime/backoff.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import type { Log } from '../../runtime/world.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  listWaiting,
  releaseDeliveries,
  storeResults,
} from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import { type CommandDeps, commandOfOne } from '../command.ts';
import { storeWhileClaimed } from '../store-while-claimed.ts';
import type { Outcome } from './attempt.ts';
import { type AttemptDeps, type Claimed, resultOf } from './attempt-delivery.ts';
import { disableEndpoint } from './disable-endpoint.ts';
import { createSecretOpener } from './endpoint-secrets.ts';
import type { BodyReader } from './event-bodies.ts';
import { tracedAttempt } from './traced-attempt.ts';

export interface CourierDeps extends CommandDeps, Pick<AttemptDeps, 'exchangeFor'> {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly readBodies: BodyReader;
  readonly meters: CourierMeters;
  /** Called when the courier can claim more deliveries. */
  readonly onFree: () => void;
}

export interface CourierMeters {
  attempt(outcome: 'succeeded' | 'failed', latencyMs: number): void;
  inFlight(count: number): void;
}

/** Attempts webhook deliveries. Every node has a courier; a claim gives a delivery to one of them. */
export interface Courier {
  /** Claims due deliveries, up to `most`, and begins their attempts. Returns the number of claims. */
  takeDue(most?: number): Promise<number>;
  /** Resolves when no attempt is in flight. */
  idle(): Promise<void>;
  /** Releases unused claims for other nodes, and waits for attempts in flight. */
  stop(): Promise<void>;
}

/**
 * The maximum number of deliveries that this node has claimed. A claimed delivery is attempted even if payments come meanwhile, so a
 * node claims only enough to keep its attempts going between two rounds.
 */
const PLACES = 4_096;
/** The maximum number of deliveries of one partner that this node has claimed. */
const CLAIMS: PlaceLimits = { ofPartner: 256, reserved: 8, withReserved: 512 };
/** The maximum number of attempts of one partner in flight. Each endpoint has a window as well. */
const IN_FLIGHT: PlaceLimits = { ofPartner: 128, reserved: 4, withReserved: 256 };
/** The duration of a claim. It is longer than the wait for the window, an attempt and the storage of its result. */
const CLAIM_MS = 30_000;
/**
 * The longest time that a claimed delivery waits for its attempt, so that a change or deletion of the endpoint takes effect within
 * seconds.
 */
const MAX_WAIT_MS = 3_000;
const RESULTS_PER_STATEMENT = 500;
/** The number of turns of the event loop that a result waits to be stored, so that one statement stores more results. */
const GATHERED_TURNS = 8;
/** The maximum number of endpoints whose pace is remembered. Other endpoints begin with the initial pace. */
const MAX_LANES = 20_000;

/**
 * The partner and the merchant whose limits a claim counts for. They are stored with the claim, because the endpoint may get other
 * merchants meanwhile.
 */
interface Holder {
  readonly partnerId: string;
  readonly holder: string;
}

interface Counted extends Claimed {
  readonly countedFor: Holder;
}

/** The deliveries of one endpoint on this node. */
interface Lane {
  endpoint: Endpoint;
  readonly pace: Pace;
  readonly queue: Counted[];
  inFlight: number;
}

export function createCourier(deps: CourierDeps): Courier {
  const { clock } = deps.world;
  const lanes = new Map<string, Lane>();
  const held = newCounts();
  const inFlight = newCounts();
  const underWay = new Set<Promise<void>>();
  /** Lanes with claimed deliveries whose attempts have not begun. */
  const queued = new Set<Lane>();
  /** Claims that waited for too long. The next round releases them. */
  const expired: Claimed[] = [];
  const attemptDeps = { ...deps, openSecrets: createSecretOpener(deps) };
  const attempt = tracedAttempt(deps.world.tracing);
  const store = createBatcher<AttemptResult, undefined>(deps.world, {
    run: async (results) => {
      const failing = await commandOfOne(deps, (now) => storeResults(results, now));
      for (const { endpointId, failingSince } of failing) {
        if (isGivenUp(failingSince.getTime(), clock.nowMs())) {
          await disableEndpoint(deps, { endpointId, reason: 'failing' });
        }
      }
      return results.map(() => undefined);
    },
    maxItems: RESULTS_PER_STATEMENT,
    maxConcurrent: 1,
    turns: GATHERED_TURNS,
    isItemsFault: () => false,
  });

  function laneOf(endpoint: Endpoint): Lane {
    const lane = lanes.get(endpoint.id) ?? { endpoint, pace: newPace(), queue: [], inFlight: 0 };
    lane.endpoint = endpoint;
    lanes.set(endpoint.id, lane);
    return lane;
  }

  function forgetIdleLanes(): void {
    for (const [id, { queue, inFlight }] of lanes) {
      if (lanes.size <= MAX_LANES) return;
      if (queue.length + inFlight === 0) lanes.delete(id);
    }
  }

  /** Begins attempts of the lane until the window of the endpoint or the limit of its partner is reached. */
  function pump(lane: Lane): void {
    dropExpired(lane);
    while (!isFull(holderOf(lane.endpoint)) && lane.inFlight < roomOf(lane.pace, clock.nowMs())) {
      const claimed = lane.queue.shift();
      if (claimed === undefined) break;
      begin(lane, claimed);
    }
    if (lane.queue.length === 0) queued.delete(lane);
  }

  function isFull(holder: Holder): boolean {
    return freePlaces(IN_FLIGHT, inFlight.usedBy(holder)) === 0;
  }

  /**
   * Drops claims that waited for too long, because the endpoint may have been changed or deleted. The queue begins with the oldest
   * claim.
   */
  function dropExpired({ queue }: Lane): void {
    const expiredMs = clock.nowMs() + CLAIM_MS - MAX_WAIT_MS;
    for (let first = queue[0]; first !== undefined && first.untilMs < expiredMs; first = queue[0]) {
      expired.push(first);
      queue.shift();
      held.add(first.countedFor, -1);
    }
  }

  async function release(claims: readonly Claimed[]): Promise<void> {
    if (claims.length > 0) await commandOfOne(deps, (now) => releaseDeliveries(claims, now));
  }

  function begin(lane: Lane, claimed: Counted): void {
    const { endpoint } = lane;
    const work = deliver(lane, claimed)
      .catch((error: unknown) => {
        // The claim expires, and the delivery is attempted again.
        deps.log.warn({ endpoint: endpoint.id, event: claimed.eventId, err: error }, 'a delivery has no result');
      })
      .finally(() => {
        underWay.delete(work);
        held.add(claimed.countedFor, -1);
      });
    underWay.add(work);
    lane.inFlight += 1;
    inFlight.add(claimed.countedFor, 1);
    deps.meters.inFlight(underWay.size);
  }

  async function deliver(lane: Lane, claimed: Counted): Promise<void> {
    const { endpoint, pace } = lane;
    const { countedFor } = claimed;
    let wasFull = false;
    const outcome = await attempt(attemptDeps, endpoint, claimed).finally(() => {
      wasFull = isFull(countedFor);
      lane.inFlight -= 1;
      inFlight.add(countedFor, -1);
    });
    if (outcome.isReceivers) notePace(pace, outcome);
    pump(lane);
    // The partner had reached its limit of attempts in flight. Now its other endpoints may begin an attempt.
    if (wasFull) for (const other of queued) if (other.endpoint.partnerId === countedFor.partnerId) pump(other);
    if (claimsOf(pace, { held: lane.queue.length + lane.inFlight, nowMs: clock.nowMs() }) > 0) deps.onFree();
    deps.meters.attempt(outcome.verdict === 'succeeded' ? 'succeeded' : 'failed', outcome.latencyMs);
    deps.world.crashPoint?.('hooks.answered');
    const result = resultOf(deps.world, endpoint, { claimed, outcome });
    await storeWhileClaimed(deps.world, claimed.untilMs, () => store(result));
    if (outcome.verdict === 'gone') await disableEndpoint(deps, { endpointId: endpoint.id, reason: 'gone' });
  }

  function notePace(pace: Pace, { verdict, startedAtMs, latencyMs, retryAfterMs }: Outcome): void {
    if (verdict === 'succeeded') noteSuccess(pace, latencyMs);
    else noteFailure(pace, { startedAtMs, nowMs: clock.nowMs(), retryAfterMs, jitter: jitterOf(deps.world) });
  }

  function sharesOf(
    waiting: readonly Endpoint[],
    { most, nowMs }: { most: number; nowMs: number },
  ): Map<string, number> {
    const applicants = waiting.map((endpoint): Applicant => {
      const lane = laneOf(endpoint);
      dropExpired(lane);
      const room = claimsOf(lane.pace, { held: lane.queue.length + lane.inFlight, nowMs });
      return { id: endpoint.id, ...holderOf(endpoint), room };
    });
    const { byPartner, byHolder } = held;
    const all = [...byPartner.values()].reduce((sum, count) => sum + count, 0);
    return shareOut(applicants, { total: Math.min(PLACES - all, most), limits: CLAIMS, byPartner, byHolder });
  }

  return {
    async takeDue(most = Number.POSITIVE_INFINITY) {
      for (const lane of queued) pump(lane);
      await release(expired.splice(0));
      const nowMs = clock.nowMs();
      const waiting = await listWaiting(deps.db.sql, new Date(nowMs));
      const shares = sharesOf(waiting, { most, nowMs });
      forgetIdleLanes();
      if (shares.size === 0) return 0;
      const untilMs = nowMs + CLAIM_MS;
      const claimed = await commandOfOne(deps, (now) => claimDeliveries({ shares, now, until: new Date(untilMs) }));
      if (claimed.length === 0) return 0;
      deps.world.crashPoint?.('hooks.claimed');
      const endpoints = new Map(waiting.map((endpoint) => [endpoint.id, endpoint]));
      const versionOf = ({ endpointId }: ClaimedDelivery) => endpoints.get(endpointId)?.apiVersion;
      const bodies = await deps.readBodies(
        claimed.map((each) => ({ eventId: each.eventId, version: versionOf(each) })),
      );
      for (const [index, each] of claimed.entries()) {
        const endpoint = endpoints.get(each.endpointId);
        if (endpoint === undefined) continue;
        const lane = laneOf(endpoint);
        const countedFor = holderOf(endpoint);
        lane.queue.push({ ...each, untilMs, body: bodies[index], countedFor });
        held.add(countedFor, 1);
        queued.add(lane);
      }
      for (const lane of queued) pump(lane);
      return claimed.length;
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async stop() {
      await release([...expired.splice(0), ...[...queued].flatMap(({ queue }) => queue.splice(0))]);
      await this.idle();
    },
  };
}

/**
 * The partner and the holder that an endpoint counts for. The holder is the only merchant of the endpoint, or the partner if the
 * endpoint is for several merchants or all.
 */
function holderOf({ partnerId, merchantIds }: Endpoint): Holder {
  return { partnerId, holder: quotaHolder(merchantIds) ?? partnerId };
}

function newCounts() {
  const byPartner = new Map<string, number>();
  const byHolder = new Map<string, number>();
  return {
    byPartner,
    byHolder,
    add({ partnerId, holder }: Holder, change: number) {
      add(byPartner, partnerId, change);
      add(byHolder, holder, change);
    },
    usedBy: ({ partnerId, holder }: Holder) => ({
      byPartner: byPartner.get(partnerId) ?? 0,
      byHolder: byHolder.get(holder) ?? 0,
    }),
  };
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
