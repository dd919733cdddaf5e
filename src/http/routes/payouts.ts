import { Type } from 'typebox';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { PAYOUT_STATES, PAYOUT_WAITS, payoutWaitOf } from '../../domain/payout.ts';
import { ApiError } from '../../errors.ts';
import { type ListedPayout, listPayouts } from '../../store/money/payout-lists.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, placeOf } from '../entry/caller.ts';
import { several, splitCommas } from '../entry/payment-query.ts';
import { Cursor, limitOf, NextCursor, namedEnum, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewToken } from '../views/amount.ts';

const READ = { scheme: 'partner', scope: 'payments:read', merchant: 'header', mayOmitMerchant: true } as const;
const LIMIT = 20;

/** Routes for net amounts that were held for merchants without a destination, and their payouts. */
export async function payoutRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get(
    '/v1/payouts',
    {
      schema: LIST,
      config: { access: { ...READ, takesDeleted: true }, priority: 'spare' },
      preValidation: splitCommas(['status']),
    },
    async (request, reply) => {
      const { status: states = PAYOUT_STATES, cursor, limit = LIMIT } = request.query;
      const of = placeOf(request);
      const question = JSON.stringify(['payouts', of, [...states].sort()]);
      const [beforeId] = cursor === undefined ? [] : (openCursor(deps.cursorKeys, question, cursor) ?? []);
      if (cursor !== undefined && beforeId === undefined) {
        throw new ApiError('invalid_params', 'The cursor does not belong to this list.');
      }
      return deps.lists.readReplicated(callerRights(request), reply, async (db) => {
        const found = await listPayouts(db, { of, states, beforeId, limit: limit + 1 });
        // All rows of a payment are put on the same page.
        const ids = [...new Set(found.map(({ paymentId }) => paymentId))];
        const shown = new Set(ids.slice(0, limit));
        const page = found.filter(({ paymentId }) => shown.has(paymentId));
        const last = ids.length > limit ? page.at(-1) : undefined;
        const now = new Date(deps.world.clock.nowMs());
        return {
          payouts: page.map((payout) => viewPayout(deps, payout, now)),
          nextCursor: last === undefined ? null : sealCursor(deps.cursorKeys, question, [last.paymentId]),
        };
      });
    },
  );
}

function viewPayout({ config }: HttpDeps, payout: ListedPayout, now: Date) {
  const { paymentId, referenceId, merchantId, asset, amount, state, destination, transactionHash } = payout;
  const wait = payoutWaitOf(payout, now);
  return {
    paymentId,
    referenceId,
    merchantId,
    status: state,
    amount: viewToken(config, asset, amount),
    destination,
    txId: transactionHash,
    heldAt: payout.heldAt.toISOString(),
    lastUpdatedAt: payout.updatedAt.toISOString(),
    waitingFor: wait === undefined ? null : { what: wait.what, ...(wait.until && { until: wait.until.toISOString() }) },
  };
}

const LIST = {
  tags: ['Payouts'],
  operationId: 'listPayouts',
  summary: 'List payouts',
  description:
    'Money that the gateway held because the merchant had no settlement destination, by the newest payment first. A payment has a row for each asset that is held, and one for each payout and refund that took a part. `limit` counts payments. Amounts that went straight to the merchant are no payouts. Without `Merchant-Id`: of all merchants that the caller may act for.',
  querystring: Type.Object({
    status: several(namedEnum('PayoutStatus', PAYOUT_STATES), 'Only in these states.'),
    cursor: Type.Optional(Cursor),
    limit: limitOf(100, LIMIT),
  }),
  response: {
    200: Type.Object(
      {
        payouts: Type.Array(
          Type.Object(
            {
              paymentId: Type.String({ description: 'The payment whose net amount it is.' }),
              referenceId: Type.String(),
              merchantId: Type.String(),
              status: namedEnum(
                'PayoutStatus',
                PAYOUT_STATES,
                '`held`: on the intermediate account. `sending`, `paid`: to the merchant. `refunding`, `refunded`: back to the payer.',
              ),
              amount: AmountBody,
              destination: nullable(Type.String({ description: 'CAIP-10. Null: the merchant has none.' })),
              txId: nullable(Type.String({ description: 'The transaction to the merchant, once it is final.' })),
              heldAt: Timestamp,
              lastUpdatedAt: Timestamp,
              waitingFor: nullable(
                Type.Object(
                  {
                    what: namedEnum(
                      'PayoutWaitReason',
                      PAYOUT_WAITS,
                      '`destination`: for a settlement destination of the merchant. `cooling_off`: for a new destination to be in force, at `until`. `unfreeze`: for the operator, who has stopped it. `retry`: for the next try, at `until`. `gateway`: for its turn, within seconds. `network`: for the transfer to be final.',
                    ),
                    until: Type.Optional(Timestamp),
                  },
                  { title: 'PayoutWait' },
                ),
              ),
            },
            { title: 'Payout' },
          ),
        ),
        nextCursor: NextCursor,
      },
      { title: 'PayoutPage', description: 'One page.' },
    ),
  },
};
