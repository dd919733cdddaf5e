import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isFinal, visibleStatus } from '../../domain/payment.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import { type PaymentGlance, stateOf } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { nullable } from '../schemas.ts';
import { viewStatus } from '../views/payment.ts';
import { holdUntil } from './hold-until.ts';

/** Wallets time out after 30 s, so no request is held for longer than this. */
export const MAX_HOLD_MS = 25_000;

export const StatusQuery = Type.Object({
  maxPollMs: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Hold the request until the status changes, at most this long (25 s is the most). `null` and an empty value are like none.',
      }),
    ),
  ),
});

export const NOT_MODIFIED = Type.Null({ description: 'Nothing has changed since the answer with that `ETag`.' });

/**
 * Answers with the status of a payment, or holds the request until the status changes. Before the end of the payment nothing
 * else changes in this answer, so the status is the entity tag.
 */
export async function sendStatus(
  deps: HttpDeps,
  request: FastifyRequest<{ Querystring: { maxPollMs?: number | null } }>,
  reply: FastifyReply,
  find: () => Promise<PaymentGlance>,
): Promise<ReturnType<typeof viewStatus>> {
  const found = await find();
  const known = request.headers['if-none-match'];
  const since = known === undefined || known === '' ? etagOf(found, deps.world.clock.nowMs()) : known;
  const payment = await holdRequest(deps, { request, reply, payment: found, since, find });
  const nowMs = deps.world.clock.nowMs();
  const etag = etagOf(payment, nowMs);
  reply.header('ETag', etag);
  // The cast is needed, because a returned reply tells the framework that the request is already answered.
  if (known !== undefined && isAmong(known, etag)) return reply.code(304).send() as never;
  return viewStatus(deps.config, payment, nowMs);
}

export interface HeldRequest {
  readonly request: FastifyRequest<{ Querystring: { maxPollMs?: number | null } }>;
  readonly reply: FastifyReply;
  readonly payment: PaymentGlance;
  /** The entity tags of the status that the client knows. */
  readonly since: string;
  readonly find: () => Promise<PaymentGlance>;
  /** The longest time to hold the request. Default: as long as the request asks for. */
  readonly forMs?: number;
  /**
   * The longest pause, in milliseconds, between two reads of the payment. By default, it is read again after an announcement, at
   * its expiry, and every few seconds.
   */
  readonly everyMs?: number;
}

/**
 * Returns the payment as soon as its status has changed or is final, at the latest when the time is over. Time is counted from the
 * arrival of the request, so that a request that is held twice is not held for longer.
 */
export async function holdRequest(deps: HttpDeps, held: HeldRequest): Promise<PaymentGlance> {
  const { request, reply, payment, since, find, everyMs = Number.POSITIVE_INFINITY } = held;
  const { forMs = Math.min(request.query.maxPollMs ?? 0, MAX_HOLD_MS) } = held;
  const untilMs = request.startedAtMs + forMs;
  const nowMs = () => deps.world.clock.nowMs();
  if (unshifted(deps.world.clock).nowMs() >= untilMs || isOver(payment, since, nowMs())) return payment;
  return holdUntil(deps, {
    watched: payment.id,
    place: deps.holdPlaces.take(request, reply),
    untilMs,
    find,
    isOver: (found) => isOver(found, since, nowMs()),
    waitMs: (found) => Math.min(wakeAtMs(found, nowMs()) - nowMs(), everyMs),
  });
}

export function etagOf(payment: PaymentGlance, nowMs: number): string {
  return `"${visibleStatus(stateOf(payment), nowMs)}"`;
}

/** True if an If-None-Match header names the tag. The header may list several tags, and compressing proxies make tags weak. */
function isAmong(header: string, etag: string): boolean {
  return header === etag || header === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

function isOver(payment: PaymentGlance, since: string, nowMs: number): boolean {
  const status = visibleStatus(stateOf(payment), nowMs);
  return isFinal(status) || !isAmong(since, `"${status}"`);
}

/** The time at which the visible status changes without an event, because the payment expires. Infinite if it cannot expire any more. */
function wakeAtMs({ status, expiresAt }: PaymentGlance, nowMs: number): number {
  return status === 'requires_action' && expiresAt.getTime() > nowMs ? expiresAt.getTime() : Number.POSITIVE_INFINITY;
}
