import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer, IdempotentRequest } from '../../actions/command.ts';
import { parseIdempotencyKey } from '../../domain/idempotency.ts';
import { validationError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';
import { callerRights } from './caller.ts';
import { headerOf } from './headers.ts';

const HEADER = 'Idempotency-Key';

export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = headerOf(request, 'idempotency-key');
  if (header === undefined) return undefined;
  const parsed = parseIdempotencyKey(header);
  if (!parsed.ok) throw validationError([{ field: HEADER, message: parsed.problem }]);
  return parsed.key;
}

/** The idempotency key, its owner, and the content that a repeated request must match. For routes that require a key. */
export function idempotentRequest(request: FastifyRequest, meaning: unknown): IdempotentRequest {
  const key = idempotencyKeyOf(request);
  if (key === undefined) throw validationError([{ field: HEADER, message: 'is required' }]);
  const { partnerId, mode } = callerRights(request);
  const route = `${request.method} ${request.routeOptions.url}`;
  return { scope: { partnerId, mode, merchantId: request.merchant?.id ?? '', route, key }, meaning };
}

/** Sends the answer of an idempotent request. A header marks a replay, so that a client can distinguish it from a first answer. */
export function sendAnswer(
  { metrics }: HttpDeps,
  reply: FastifyReply,
  answer: Answer & { isReplayed: boolean },
): FastifyReply {
  if (answer.isReplayed) {
    metrics.replays.inc();
    reply.header('Idempotent-Replayed', 'true');
  }
  return reply.code(answer.status).send(answer.body);
}
