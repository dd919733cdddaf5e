import type { KeyObject } from 'node:crypto';
import type { Mode } from '../../domain/mode.ts';
import { nextAttemptMs } from '../../domain/webhook.ts';
import type { Exchange } from '../../guarded-http/exchange.ts';
import { jitterOf } from '../../runtime/backoff.ts';
import type { Log, World } from '../../runtime/world.ts';
import type { AttemptResult, ClaimedDelivery } from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import { attempt, type Outcome } from './attempt.ts';
import type { SecretOpener } from './endpoint-secrets.ts';

export interface AttemptDeps {
  readonly world: World;
  readonly log: Log;
  readonly openSecrets: SecretOpener;
  readonly exchangeFor: (mode: Mode) => Exchange;
}

export interface Claimed extends ClaimedDelivery {
  readonly untilMs: number;
  /** Undefined if the event cannot be rendered. */
  readonly body: Uint8Array | undefined;
}

export type JudgedOutcome = Outcome & { readonly isReceivers: boolean };

/** Signs and sends a delivery once. An error of the gateway itself is an outcome, too. */
export async function attemptDelivery(
  deps: AttemptDeps,
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
  let secrets: KeyObject[];
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

/** The result of an attempt, with the time of the next attempt if there is one. */
export function resultOf(
  world: World,
  { url }: Endpoint,
  { claimed, outcome }: { readonly claimed: Claimed; readonly outcome: JudgedOutcome },
): AttemptResult {
  const { endpointId, eventId, claim, tries, begunAt } = claimed;
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
    claim,
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
