import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { advanceTestClock, MAX_ADVANCE_MS, readTestClock, type TestClock } from '../../actions/test-clock.ts';
import { ApiError } from '../../errors.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, onBehalfOf } from '../entry/caller.ts';
import { idempotencyKeyOf, idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { Timestamp } from '../schemas.ts';

const ACCESS = { scheme: 'partner', scope: 'sandbox' } as const;

/** Routes for the clock of a sandbox. They do not exist outside a sandbox. */
export async function testClockRoutes(app: App, deps: HttpDeps & { readonly testClock: TestClock }): Promise<void> {
  const readConfig = { access: ACCESS, errors: ['not_sandbox_api_key'] } as const;
  app.get('/v1/test/clock', { schema: READ, config: readConfig, preValidation: refuseLive }, () =>
    readTestClock(deps.world),
  );

  const config = {
    access: ACCESS,
    idempotency: 'accepted',
    errors: ['not_sandbox_api_key', 'invalid_state', 'idempotency_conflict'],
  } as const;
  app.post('/v1/test/clock', { schema: ADVANCE, config, preValidation: refuseLive }, async (request, reply) => {
    const { advanceMs: byMs } = request.body;
    const hasKey = idempotencyKeyOf(request) !== undefined;
    const idempotent = hasKey ? idempotentRequest(request, [byMs]) : undefined;
    const clockDeps = { ...onBehalfOf(request, deps), testClock: deps.testClock };
    const answer = await advanceTestClock(clockDeps, { byMs, actor: actorOf(request) }, idempotent);
    return sendAnswer(deps, reply, answer);
  });
}

/** Refuses a live key. Runs before the body is checked, so that a live key gets this error and no other. */
function refuseLive(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const isTest = callerRights(request).mode === 'test';
  done(isTest ? undefined : new ApiError('not_sandbox_api_key', 'A live key cannot use the clock of a sandbox.'));
}

const TAGS = ['Sandbox'];

const ClockBody = Type.Object(
  {
    now: { ...Timestamp, description: 'The time of the sandbox.' } as typeof Timestamp,
    aheadMs: Type.Integer({ minimum: 0, description: 'The time by which the sandbox is ahead.' }),
  },
  { title: 'TestClock', description: 'The clock.' },
);

const READ = {
  tags: TAGS,
  operationId: 'getTestClock',
  summary: 'Read the clock of the sandbox',
  description: 'Only in a sandbox, with a test key. Other gateways do not have this route.',
  response: { 200: ClockBody },
};

const ADVANCE = {
  tags: TAGS,
  operationId: 'advanceTestClock',
  summary: 'Move the clock of the sandbox forward',
  description:
    'Only in a sandbox, with a test key. Other gateways do not have this route. Everybody in the sandbox gets the new time, and so does its chain: payments expire, quotes and signatures run out, changed destinations come into force, webhooks are tried again. The clock never goes back. Send an `Idempotency-Key`, so that a retry does not move the clock twice.',
  body: Type.Object(
    {
      advanceMs: Type.Integer({
        minimum: 1,
        maximum: MAX_ADVANCE_MS,
        description: 'Milliseconds, at most 30 days.',
        examples: [3_600_000],
      }),
    },
    { additionalProperties: false },
  ),
  response: { 200: ClockBody },
};
