import type { Mode } from '../../domain/mode.ts';
import { isGivenUp, nextAttemptMs } from '../../domain/webhook.ts';
import {
  type Applicant,
  newPace,
  noteFailure,
  noteSuccess,
  type Pace,
  roomOf,
  shareOut,
} from '../../domain/webhook-pace.ts';
import type { Exchange } from '../../guarded-http/exchange.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import type { Log, World } from '../../runtime/world.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  listWaiting,
  storeResults,
} from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import { type CommandDeps, commandOfOne } from '../command.ts';
import { ATTEMPT_LIMITS, attempt, type Outcome } from './attempt.ts';
import { disableEndpoint } from './disable-endpoint.ts';
import { createSecretOpener, type SecretOpener } from './endpoint-secrets.ts';
import type { BodyReader } from './event-bodies.ts';

export interface CourierDeps extends CommandDeps {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly readBodies: BodyReader;
  /** The way to receivers of a mode. */
  readonly exchangeFor: (mode: Mode) => Exchange;
  readonly meters: CourierMeters;
  /** Called when places became free. */
  readonly onFree: () => void;
}

export interface CourierMeters {
  attempt(outcome: 'succeeded' | 'failed', latencyMs: number): void;
  inFlight(count: number): void;
}

/** Attempts deliveries, on every node. Nodes share the work by claims. */
export interface Courier {
  /** Claims due deliveries and begins their attempts. Returns their number. */
  takeDue(): Promise<number>;
  /** Resolves when no attempt is in flight. */
  idle(): Promise<void>;
}

/** Attempts in flight on this node, and among them those of one partner. Each endpoint has its own window. */
const PLACES = 1_024;
const PLACES_PER_PARTNER = 128;
/** Longer than an attempt and the storing of its result. */
const CLAIM_MS = 30_000;
const RESULTS_PER_STATEMENT = 500;
const STORE_RETRY_MS = 500;
/** Endpoints whose pace is remembered. The others begin anew. */
const MAX_PACES = 20_000;

export function createCourier(deps: CourierDeps): Courier {
  const { clock, timers } = deps.world;
  const paces = new Map<string, Pace>();
  const heldByEndpoint = new Map<string, number>();
  const heldByPartner = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const openSecrets = createSecretOpener(deps);
  const store = createBatcher<AttemptResult, undefined>(timers, {
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
    maxConcurrent: 2,
    isItemsFault: () => false,
  });

  function hold({ id, partnerId }: Endpoint, change: 1 | -1): void {
    add(heldByEndpoint, id, change);
    add(heldByPartner, partnerId, change);
    deps.meters.inFlight(underWay.size);
  }

  function paceOf(endpointId: string): Pace {
    const pace = paces.get(endpointId) ?? newPace();
    if (paces.size >= MAX_PACES && !paces.has(endpointId)) paces.delete(paces.keys().next().value ?? '');
    paces.set(endpointId, pace);
    return pace;
  }

  async function deliver(endpoint: Endpoint, claimed: Claimed): Promise<void> {
    const outcome = await attemptOf({ ...deps, openSecrets }, endpoint, claimed);
    if (outcome.isReceivers) {
      const pace = paceOf(endpoint.id);
      const { startedAtMs, retryAfterMs } = outcome;
      if (outcome.verdict === 'succeeded') noteSuccess(pace);
      else noteFailure(pace, { startedAtMs, nowMs: clock.nowMs(), retryAfterMs, jitter: jitterOf(deps.world) });
    }
    deps.meters.attempt(outcome.verdict === 'succeeded' ? 'succeeded' : 'failed', outcome.latencyMs);
    deps.world.crashPoint?.('hooks.answered');
    await storeWhileClaimed(resultOf(deps.world, endpoint, { claimed, outcome }), claimed.untilMs);
    if (outcome.verdict === 'gone') await disableEndpoint(deps, { endpointId: endpoint.id, reason: 'gone' });
  }

  /** The database may be away for a moment. A result that is not stored costs the receiver a second delivery. */
  async function storeWhileClaimed(result: AttemptResult, untilMs: number): Promise<void> {
    for (;;) {
      try {
        return await store(result);
      } catch (error) {
        if (clock.nowMs() + STORE_RETRY_MS >= untilMs) throw error;
        await timers.sleep(STORE_RETRY_MS);
      }
    }
  }

  function begin(endpoint: Endpoint, claimed: Claimed): void {
    const work = deliver(endpoint, claimed)
      .catch((error: unknown) => {
        // The claim runs out, and the delivery is attempted again.
        deps.log.warn({ endpoint: endpoint.id, event: claimed.eventId, err: error }, 'a delivery has no result');
      })
      .finally(() => {
        underWay.delete(work);
        hold(endpoint, -1);
        deps.onFree();
      });
    underWay.add(work);
    hold(endpoint, 1);
  }

  return {
    async takeDue() {
      const nowMs = clock.nowMs();
      const waiting = await listWaiting(deps.db.sql, new Date(nowMs));
      const applicants = waiting.map(
        ({ id, partnerId }): Applicant => ({
          id,
          partnerId,
          room: roomOf(paces.get(id) ?? newPace(), nowMs) - (heldByEndpoint.get(id) ?? 0),
        }),
      );
      const shares = shareOut(applicants, {
        total: PLACES - underWay.size,
        ofPartner: (partnerId) => PLACES_PER_PARTNER - (heldByPartner.get(partnerId) ?? 0),
      });
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
        // Bodies that took long to read leave too little of the claim. The deliveries are due again at its end.
        if (endpoint !== undefined && clock.nowMs() + ATTEMPT_LIMITS.timeoutMs < untilMs)
          begin(endpoint, { ...each, untilMs, body: bodies[index] });
      }
      return claimed.length;
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

interface Claimed extends ClaimedDelivery {
  readonly untilMs: number;
  /** Undefined if the event cannot be shown. */
  readonly body: Uint8Array | undefined;
}

type JudgedOutcome = Outcome & { readonly isReceivers: boolean };

async function attemptOf(
  deps: CourierDeps & { readonly openSecrets: SecretOpener },
  endpoint: Endpoint,
  { eventId, body }: Claimed,
): Promise<JudgedOutcome> {
  const { clock } = deps.world;
  const startedAtMs = clock.nowMs();
  const unsent = (problem: string): JudgedOutcome => ({
    verdict: 'failed',
    startedAtMs,
    latencyMs: 0,
    answerStatus: null,
    answer: null,
    problem,
    isReceivers: false,
  });
  if (body === undefined) return unsent('The gateway could not make the body of the event.');
  let secrets: Uint8Array[];
  try {
    secrets = deps.openSecrets(endpoint, new Date(startedAtMs));
  } catch (error) {
    deps.log.error({ endpoint: endpoint.id, err: error }, 'the secret of a webhook endpoint cannot be opened');
    return unsent('The gateway could not open the secret of the endpoint. Rotate it.');
  }
  if (secrets.length === 0) return unsent('The endpoint has no secret. Rotate it.');
  const exchange = deps.exchangeFor(endpoint.mode);
  return { ...(await attempt({ exchange, clock }, { url: endpoint.url, eventId, body, secrets })), isReceivers: true };
}

function resultOf(
  world: World,
  { url }: Endpoint,
  { claimed, outcome }: { readonly claimed: Claimed; readonly outcome: JudgedOutcome },
): AttemptResult {
  const { endpointId, eventId, attempts, tries, begunAt } = claimed;
  const { verdict, startedAtMs, retryAfterMs, answerStatus, answer, problem, latencyMs, isReceivers } = outcome;
  const dueMs =
    verdict === 'failed'
      ? nextAttemptMs({
          tries: tries + 1,
          begunAtMs: begunAt.getTime(),
          nowMs: world.clock.nowMs(),
          retryAfterMs,
          jitter: jitterOf(world),
        })
      : undefined;
  return {
    endpointId,
    eventId,
    attempts,
    status: verdict === 'succeeded' ? 'succeeded' : dueMs === undefined ? 'failed' : 'pending',
    dueAt: dueMs === undefined ? null : new Date(dueMs),
    attemptedAt: new Date(startedAtMs),
    url,
    answerStatus,
    answer,
    problem,
    latencyMs,
    isReceivers,
  };
}

/** Between 0.8 and 1.2. */
function jitterOf({ random }: World): number {
  return 0.8 + ((random.bytes(1)[0] ?? 0) / 255) * 0.4;
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
