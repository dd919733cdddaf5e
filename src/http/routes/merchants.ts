import { Type } from 'typebox';
import { findReplay } from '../../actions/command.ts';
import { changeMerchant, deleteMerchant } from '../../actions/parties/change-merchant.ts';
import { createMerchant } from '../../actions/parties/create-merchant.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { ApiError } from '../../errors.ts';
import { listSettlements } from '../../store/parties/destinations.ts';
import { listMerchants, type Merchant, type MerchantQuery } from '../../store/parties/merchants.ts';
import type { App, HttpDeps } from '../deps.ts';
import { canonicalAccepted, checkAccepted } from '../entry/accepted-assets.ts';
import { actorOf, callerRights, checkPasskey, merchantOf, onBehalfOf, ownerOf } from '../entry/caller.ts';
import { idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import {
  acceptedAssetsField,
  atLeastOneOf,
  Cursor,
  deletedBody,
  EmailAddress,
  HttpsUrl,
  limitOf,
  MerchantStatusField,
  nullable,
  PLAIN_TEXT,
  pageOf,
  Timestamp,
  textOf,
} from '../schemas.ts';
import { SettlementsBody, viewSettlements } from './settlements.ts';

const READ = { scheme: 'partner', scope: 'merchants:read' } as const;
const WRITE = { scheme: 'partner', scope: 'merchants:write' } as const;
/** The access for stopping or starting the payments of a merchant. */
const STOP = { ...WRITE, merchant: 'path', needsPasskey: true } as const;

export async function merchantRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.post(
    '/v1/merchants',
    {
      schema: CREATE,
      config: { access: WRITE, idempotency: 'required', errors: ['idempotency_conflict', 'not_sandbox_api_key'] },
    },
    async (request, reply) => {
      const { merchantName: name, merchantEmail: email, iconUrl = null, acceptedAssets: given } = request.body;
      const acceptedAssets = canonicalAccepted(given);
      // Without a list of accepted assets, the meaning is the same as before this field existed, so that retries across an upgrade match.
      const meaning = { name, email, iconUrl, ...(acceptedAssets !== null && { acceptedAssets }) };
      const idempotent = idempotentRequest(request, meaning);
      if (callerRights(request).merchantIds !== null) {
        throw new ApiError('forbidden', 'You may act for certain merchants only, and cannot create new ones.');
      }
      const isNew = acceptedAssets !== null && (await findReplay(deps, idempotent)) === undefined;
      if (isNew) checkAccepted(deps, callerRights(request).mode, given);
      const input = { owner: ownerOf(request), actor: actorOf(request), name, email, iconUrl, acceptedAssets };
      const answer = await createMerchant(onBehalfOf(request, deps), input, idempotent, (merchant) => ({
        status: 201,
        body: { merchant: viewNewMerchant(merchant) },
      }));
      return sendAnswer(deps, reply, answer);
    },
  );

  app.get('/v1/merchants', { schema: LIST, config: { access: READ, priority: 'spare' } }, async (request, reply) => {
    const { status, search, cursor, limit = LIMIT } = request.query;
    const { merchantIds } = callerRights(request);
    const owner = ownerOf(request);
    const filters = JSON.stringify(['merchants', owner.partnerId, owner.mode, merchantIds, status, search]);
    const query: MerchantQuery = {
      ...owner,
      status,
      search,
      merchantIds,
      afterId: openAfter(deps, filters, cursor),
      limit: limit + 1,
    };
    const { page, totalCount } = await deps.lists.read(callerRights(request).id, reply, (db) =>
      listMerchants(db, query),
    );
    const merchants = page.slice(0, limit);
    const last = page.length > limit ? merchants.at(-1) : undefined;
    const nextCursor = last === undefined ? null : sealCursor(deps.cursorKeys, filters, [last.id]);
    return { merchants: merchants.map(viewMerchant), totalCount, nextCursor };
  });

  app.get(
    '/v1/merchants/:merchantId',
    { schema: GET, config: { access: { ...READ, merchant: 'path' } } },
    async (request) => {
      const merchant = merchantOf(request);
      const settlements = viewSettlements(await listSettlements(deps.db.sql, merchant.id));
      return { merchant: { ...viewMerchant(merchant), settlements } };
    },
  );

  app.patch(
    '/v1/merchants/:merchantId',
    {
      schema: PATCH,
      config: { access: { ...WRITE, merchant: 'path' }, errors: ['invalid_state', 'not_sandbox_api_key'] },
    },
    async (request) => {
      const { merchantName, merchantEmail, iconUrl, acceptedAssets, ifUnchanged } = request.body;
      if (acceptedAssets !== undefined) {
        checkPasskey(request, deps);
        checkAccepted(deps, callerRights(request).mode, acceptedAssets);
      }
      const merchant = await changeMerchant(onBehalfOf(request, deps), {
        owner: ownerOf(request),
        actor: actorOf(request),
        merchantId: merchantOf(request).id,
        changes: {
          ...(merchantName !== undefined && { name: merchantName }),
          ...(merchantEmail !== undefined && { email: merchantEmail }),
          ...(iconUrl !== undefined && { iconUrl }),
          ...(acceptedAssets !== undefined && { acceptedAssets: canonicalAccepted(acceptedAssets) }),
        },
        ...(ifUnchanged !== undefined && { seen: ifUnchanged }),
      });
      deps.merchants.forget(merchant.id);
      return { merchant: viewMerchant(merchant) };
    },
  );

  app.put(
    '/v1/merchants/:merchantId/status',
    { schema: SET_STATUS, config: { access: STOP, errors: ['invalid_state'] } },
    async (request) => {
      const { id: merchantId, status: before } = merchantOf(request);
      const { status } = request.body;
      const input = { owner: ownerOf(request), actor: actorOf(request), merchantId };
      if (status === before) return { merchant: viewMerchant(merchantOf(request)) };
      const merchant = await changeMerchant(onBehalfOf(request, deps), { ...input, changes: { status } });
      deps.merchants.forget(merchant.id);
      return { merchant: viewMerchant(merchant) };
    },
  );

  app.delete(
    '/v1/merchants/:merchantId',
    { schema: DELETE, config: { access: { ...STOP, takesDeleted: true } } },
    async (request) => {
      const { id } = merchantOf(request);
      const input = { owner: ownerOf(request), actor: actorOf(request), merchantId: id };
      await deleteMerchant(onBehalfOf(request, deps), input);
      return { id, deleted: true as const };
    },
  );
}

function openAfter({ cursorKeys }: HttpDeps, filters: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const position = openCursor(cursorKeys, filters, cursor);
  if (position === undefined) {
    throw new ApiError(
      'invalid_params',
      'The cursor is not one of ours for this query: use nextCursor with the same filters.',
    );
  }
  return position[0];
}

function viewNewMerchant({ id, name, email, status, createdAt }: Merchant) {
  return { id, name, email, status, createdAt: createdAt.toISOString() };
}

function viewMerchant(merchant: Merchant) {
  const { iconUrl, acceptedAssets } = merchant;
  return { ...viewNewMerchant(merchant), iconUrl, acceptedAssets: acceptedAssets as string[] | null };
}

const LIMIT = 20;
const TAGS = ['Merchants'];

const merchantName = textOf(256, 'The name payers see.');
const iconUrl = nullable({ ...HttpsUrl, description: 'Logo, HTTPS only; null unsets it.' } as typeof HttpsUrl);

const acceptedAssets = acceptedAssetsField(
  "The assets that the merchant's payments can be paid with. The partner's list holds as well.",
);

const NewMerchantBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `mrch_`.', examples: ['mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    name: Type.String(),
    email: nullable(Type.String()),
    status: MerchantStatusField,
    createdAt: Timestamp,
  },
  { title: 'CreatedMerchant' },
);

const MerchantBody = Type.Object(
  { ...NewMerchantBody.properties, iconUrl: nullable(Type.String()), acceptedAssets },
  { title: 'ListedMerchant' },
);

export const MerchantParams = Type.Object({ merchantId: Type.String({ description: 'The merchant.' }) });

const CREATE = {
  tags: TAGS,
  operationId: 'createMerchant',
  summary: 'Create a merchant',
  description: 'A retry with the same `Idempotency-Key` returns the merchant made first instead of a second one.',
  body: Type.Object(
    {
      merchantName,
      merchantEmail: EmailAddress,
      iconUrl: Type.Optional(iconUrl),
      acceptedAssets: Type.Optional(acceptedAssets),
    },
    { title: 'NewMerchant' },
  ),
  response: { 201: Type.Object({ merchant: NewMerchantBody }, { description: 'The new merchant.' }) },
};

const LIST = {
  tags: TAGS,
  operationId: 'listMerchants',
  summary: 'List merchants',
  description: 'Newest first. Deleted merchants are left out.',
  querystring: Type.Object({
    status: Type.Optional(MerchantStatusField),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        ...PLAIN_TEXT,
        description: 'Part of the name or the id, in any case.',
      }),
    ),
    cursor: Type.Optional(Cursor),
    limit: limitOf(100, LIMIT),
  }),
  response: {
    200: pageOf(
      {
        merchants: Type.Array(MerchantBody),
        totalCount: Type.Integer({ minimum: 0, description: 'The number of matches on all pages.' }),
      },
      'MerchantPage',
    ),
  },
};

const GET = {
  tags: TAGS,
  operationId: 'getMerchant',
  summary: 'Get a merchant',
  description: 'The profile with its settlement destinations.',
  params: MerchantParams,
  response: {
    200: Type.Object(
      { merchant: Type.Object({ ...MerchantBody.properties, settlements: SettlementsBody }, { title: 'Merchant' }) },
      { description: 'The merchant.' },
    ),
  },
};

const MERCHANT_CHANGES = ['merchantName', 'merchantEmail', 'iconUrl', 'acceptedAssets'];

const PATCH = {
  tags: TAGS,
  operationId: 'updateMerchant',
  summary: 'Change a merchant',
  description:
    'Give at least one field. `iconUrl: null` unsets the logo. A change of `acceptedAssets` holds for new payments: each payment keeps the list that it was created with.',
  params: MerchantParams,
  body: Type.Object(
    {
      merchantName: Type.Optional(merchantName),
      merchantEmail: Type.Optional(EmailAddress),
      iconUrl: Type.Optional(iconUrl),
      acceptedAssets: Type.Optional(acceptedAssets),
      ifUnchanged: Type.Optional(
        Type.Object(
          {
            name: Type.Optional(Type.String({ maxLength: 256 })),
            email: Type.Optional(nullable(Type.String({ maxLength: 254 }))),
            iconUrl: Type.Optional(nullable(Type.String({ maxLength: 2048 }))),
            status: Type.Optional(MerchantStatusField),
            acceptedAssets: Type.Optional(acceptedAssets),
          },
          {
            title: 'SeenMerchant',
            additionalProperties: false,
            description:
              'Values of the merchant that you have seen. If one of them has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present values in `details.current`.',
          },
        ),
      ),
    },
    {
      title: 'MerchantChange',
      ...atLeastOneOf(MERCHANT_CHANGES),
    },
  ),
  response: { 200: Type.Object({ merchant: MerchantBody }, { description: 'The merchant as it is now.' }) },
};

const SET_STATUS = {
  tags: TAGS,
  operationId: 'setMerchantStatus',
  summary: 'Set the status of a merchant',
  description:
    'An inactive merchant takes no new payments; those made before can still be paid and refunded. Of a suspended merchant no money moves at all, and only the operator can end the suspension.',
  params: MerchantParams,
  body: Type.Object({ status: MerchantStatusField }, { additionalProperties: false }),
  response: { 200: Type.Object({ merchant: MerchantBody }, { description: 'The merchant as it is now.' }) },
};

const DELETE = {
  tags: TAGS,
  operationId: 'deleteMerchant',
  summary: 'Delete a merchant',
  description: 'A soft delete: the merchant is hidden and takes no new payments. Repeating it changes nothing.',
  params: MerchantParams,
  response: {
    200: deletedBody('It is deleted.'),
  },
};
