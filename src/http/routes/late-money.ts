import { Type } from 'typebox';
import { lateMoneyNotFound, requestReturn } from '../../actions/outgoing/return/request-return.ts';
import { type Account, parseAccount } from '../../domain/caip.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { isId } from '../../domain/ids.ts';
import { LATE_STATES } from '../../domain/late-money.ts';
import { ApiError, validationError } from '../../errors.ts';
import { coolingOffMs } from '../../settings/cooling-off.ts';
import { findLateMoney, listLateMoney } from '../../store/money/late-money.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, checkFurther, merchantOf, onBehalfOf, placeOf } from '../entry/caller.ts';
import { idempotencyKeyOf, idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { several, splitCommas } from '../entry/payment-query.ts';
import { Cursor, limitOf, namedEnum, pageOf } from '../schemas.ts';
import { LateMoneyBody, viewLateMoney } from '../views/late-money.ts';

/**
 * The access for returning late money. A return names an account, so it needs the right to change destinations. The handler checks
 * `refunds:write` as well.
 */
const WRITE = {
  scheme: 'partner',
  merchant: 'header',
  scope: 'destinations:write',
  takesDeleted: true,
  needsPasskey: true,
} as const;
const READ = { scheme: 'partner', merchant: 'header', scope: 'payments:read', takesDeleted: true } as const;

export async function lateMoneyRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get(
    '/v1/late-money',
    {
      schema: LIST,
      config: { access: { ...READ, mayOmitMerchant: true }, priority: 'spare' },
      preValidation: splitCommas(['status']),
    },
    async (request, reply) => {
      const { merchantId, paymentId, status: states = LATE_STATES, cursor, limit = LIMIT } = request.query;
      const of = placeOf(request);
      const question = JSON.stringify(['late-money', of, merchantId ?? null, paymentId ?? null, [...states].sort()]);
      const after = openAfter(deps, question, cursor);
      return deps.lists.readReplicated(callerRights(request), reply, async (db) => {
        const asked = { of, merchantId, paymentId, states, after, limit: limit + 1, now: nowOf(deps) };
        const found = await listLateMoney(db, asked);
        const page = found.slice(0, limit);
        const last = found.length > limit ? page.at(-1) : undefined;
        const place = last && [String(last.seenAt.getTime()), last.id];
        return {
          lateMoney: page.map((money) => viewLateMoney(deps.config, money)),
          nextCursor: place === undefined ? null : sealCursor(deps.cursorKeys, question, place),
        };
      });
    },
  );

  app.get('/v1/late-money/:id', { schema: GET, config: { access: READ } }, async (request) => {
    const { id } = request.params;
    if (!isId('stry_', id)) throw lateMoneyNotFound();
    const found = await findLateMoney(deps.db.sql, { id, merchantId: merchantOf(request).id, now: nowOf(deps) });
    if (found === undefined) throw lateMoneyNotFound();
    return viewLateMoney(deps.config, found);
  });

  const config = {
    access: WRITE,
    priority: 'money',
    idempotency: 'accepted',
    errors: ['invalid_state', 'sanctioned_user', 'idempotency_conflict'],
  } as const;
  app.post('/v1/late-money/:id/return', { schema: RETURN, config }, async (request, reply) => {
    checkFurther(request, deps, 'refunds:write');
    const { id } = request.params;
    if (!isId('stry_', id)) throw lateMoneyNotFound();
    const destination = readDestination(request.body.destination);
    const isKeyed = idempotencyKeyOf(request) !== undefined;
    const idempotent = isKeyed ? idempotentRequest(request, [id, destination.id]) : undefined;
    const input = {
      id,
      merchantId: merchantOf(request).id,
      destination,
      actor: actorOf(request),
      coolingOffMs: coolingOffMs(deps.config, callerRights(request).mode, destination),
    };
    const answer = await requestReturn(onBehalfOf(request, deps), input, idempotent, (money) => ({
      status: 200,
      body: viewLateMoney(deps.config, money),
    }));
    return sendAnswer(deps, reply, answer);
  });
}

function nowOf({ world }: HttpDeps): Date {
  return new Date(world.clock.nowMs());
}

function readDestination(text: string): Account {
  const account = parseAccount(text);
  if (!account.ok) throw validationError([{ field: 'destination', message: account.problem }]);
  return account.value;
}

function openAfter({ cursorKeys }: HttpDeps, question: string, cursor: string | undefined) {
  if (cursor === undefined) return undefined;
  const [seenAtMs, id] = openCursor(cursorKeys, question, cursor) ?? [];
  if (seenAtMs === undefined || id === undefined) {
    throw new ApiError(
      'invalid_params',
      'The cursor is not one of ours for this query: use nextCursor with the same filters.',
    );
  }
  return { seenAt: new Date(Number(seenAtMs)), id };
}

const LIMIT = 20;
const TAGS = ['Refunds'];
const Params = Type.Object({ id: Type.String({ description: 'The late money.' }) });

const LIST = {
  tags: TAGS,
  operationId: 'listLateMoney',
  summary: 'List late money',
  description:
    'Money that payments did not need: too late, too much, or in a wrong token. The newest first. Without `Merchant-Id`: of all merchants that the caller may act for.',
  querystring: Type.Object({
    merchantId: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only of this merchant.' })),
    paymentId: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only of this payment.' })),
    status: several(namedEnum('LateMoneyStatus', LATE_STATES), 'Only in these states.'),
    cursor: Type.Optional(Cursor),
    limit: limitOf(100, LIMIT),
  }),
  response: { 200: pageOf({ lateMoney: Type.Array(LateMoneyBody) }, 'LateMoneyPage') },
};

const GET = {
  tags: TAGS,
  operationId: 'getLateMoney',
  summary: 'Get late money',
  description: 'Money that has arrived and did not count for its payment, with the state of its return.',
  params: Params,
  response: { 200: LateMoneyBody },
};

const RETURN = {
  tags: TAGS,
  operationId: 'returnLateMoney',
  summary: 'Return late money',
  description:
    'Gives late money back, whole, to an account that you name: ask the payer for it, because the sender may be an exchange. Needs the scopes `refunds:write` and `destinations:write`. Like a changed destination it cools off first. Floats pay the part that went to the merchant or was a fee; if they have too little, the answer says how much is missing, and nothing moves. A second request is answered with 409.',
  params: Params,
  body: Type.Object(
    {
      destination: Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'The account that gets the money, CAIP-10, on the network of the money.',
        examples: ['eip155:8453:0x2D8B5f4C1C9e1e0F3D9a6F6b1A2B3c4D5e6F7a8B'],
      }),
    },
    { title: 'NewReturn', additionalProperties: false },
  ),
  response: { 200: LateMoneyBody },
};
