import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isFinal, visibleStatus } from '../domain/payment.ts';
import { type Payment, stateOf } from '../store/payments.ts';
import type { HttpDeps } from './deps.ts';
import { viewStatus } from './views/payment.ts';

/** Wallets give up on a request after 30 s: no hold is longer than this. */
const MAX_HOLD_MS = 25_000;

export const StatusQuery = Type.Object({
  maxPollMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Hold the request until the status changes, at most this long (25 s is the most).',
    }),
  ),
});

export const NOT_MODIFIED = Type.Null({ description: 'Nothing has changed since the answer with that `ETag`.' });

/**
 * Answers with the status of a payment, or holds the request until it changes. The status is all that changes in this
 * answer before the end, so the status is its entity tag.
 */
export async function sendStatus(
  deps: HttpDeps,
  request: FastifyRequest<{ Querystring: { maxPollMs?: number } }>,
  reply: FastifyReply,
  find: () => Promise<Payment>,
): Promise<ReturnType<typeof viewStatus>> {
  let payment = await find();
  let nowMs = deps.world.clock.nowMs();
  const { maxPollMs = 0 } = request.query;
  const known = request.headers['if-none-match'];
  if (maxPollMs > 0) {
    const since = known === undefined ? etagOf(payment, nowMs) : known;
    const untilMs = nowMs + Math.min(maxPollMs, MAX_HOLD_MS);
    const place = deps.holdPlaces.take(request, reply);
    try {
      while (!isOver(payment, since, nowMs, untilMs) && !place.gone.aborted && !deps.longPolls.isReleased) {
        const forMs = Math.min(untilMs, wakeAtMs(payment, nowMs)) - nowMs;
        await deps.longPolls.hold({ paymentId: payment.id, forMs, gone: place.gone });
        payment = await find();
        nowMs = deps.world.clock.nowMs();
      }
    } finally {
      place.free();
    }
  }
  const etag = etagOf(payment, nowMs);
  reply.header('ETag', etag);
  // The framework takes the reply itself for "already answered".
  if (known === etag) return reply.code(304).send() as never;
  return viewStatus(payment, nowMs);
}

function etagOf(payment: Payment, nowMs: number): string {
  return `"${visibleStatus(stateOf(payment), nowMs)}"`;
}

/** Nothing is left to wait for: the status is another one or the last one, or the time is over. */
function isOver(payment: Payment, since: string, nowMs: number, untilMs: number): boolean {
  const status = visibleStatus(stateOf(payment), nowMs);
  return since !== `"${status}"` || isFinal(status) || nowMs >= untilMs;
}

/** The moment the clock alone changes what is seen. */
function wakeAtMs({ status, expiresAt }: Payment, nowMs: number): number {
  return status === 'requires_action' && expiresAt.getTime() > nowMs ? expiresAt.getTime() : Number.POSITIVE_INFINITY;
}
