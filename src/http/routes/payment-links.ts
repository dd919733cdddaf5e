import { type Static, Type } from 'typebox';
import { findReplay } from '../../actions/command.ts';
import { changeLink, type LinkChanges, linkNotFound } from '../../actions/paying/links/change-link.ts';
import { createLink } from '../../actions/paying/links/create-link.ts';
import type { Registry } from '../../chains/registry.ts';
import { parseUnit, type Unit } from '../../chains/units.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { isId } from '../../domain/ids.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import { findLink, listLinks } from '../../store/payments/payment-links.ts';
import type { App, HttpDeps } from '../deps.ts';
import { canonicalAccepted, checkAccepted } from '../entry/accepted-assets.ts';
import { actorOf, callerRights, merchantOf, onBehalfOf } from '../entry/caller.ts';
import { givenFields } from '../entry/given-fields.ts';
import { idempotencyKeyOf, idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { LINK_PICTURE, readPicture } from '../entry/picture.ts';
import { acceptedFor, checkPrice } from '../entry/price.ts';
import { Cursor, changeOf, limitOf, PLAIN_TEXT, PriceFields, pageOf } from '../schemas.ts';
import { LinkBody, LinkField, viewLink } from '../views/payment-link.ts';

const READ = { scheme: 'partner', merchant: 'header', scope: 'links:read' } as const;
const WRITE = { scheme: 'partner', merchant: 'header', scope: 'links:write' } as const;
const LIMIT = 50;

export async function paymentLinkRoutes(app: App, deps: HttpDeps): Promise<void> {
  const config = {
    access: WRITE,
    idempotency: 'accepted',
    errors: ['idempotency_conflict', 'invalid_state', 'not_sandbox_api_key'],
  } as const;
  app.post(
    '/v1/payment-links',
    { schema: CREATE, config, bodyLimit: LINK_PICTURE.bodyBytes },
    async (request, reply) => {
      const { body } = request;
      const merchant = merchantOf(request);
      const { mode } = callerRights(request);
      const idempotent = idempotencyKeyOf(request) === undefined ? undefined : idempotentRequest(request, body);
      const replay = await findReplay(deps, idempotent);
      if (replay !== undefined) return sendAnswer(deps, reply, replay);
      const issues: Issue[] = [];
      const price = readPrice(deps.registry, body, issues);
      const picture = await readPicture('picture', { base64: body.picture, limit: LINK_PICTURE }, issues);
      const expiresAt = readExpiry(deps, body.expiresAt, issues);
      if (issues.length > 0 || price === undefined) throw validationError(issues);
      const { unit, field, least } = price;
      const { stock = null } = body;
      const acceptedAssets = canonicalAccepted(body.acceptedAssets);
      checkAccepted(deps, mode, body.acceptedAssets);
      const own = { of: 'link', accepted: acceptedAssets } as const;
      if (stock !== null) refuseCoin(deps.registry, unit);
      checkPrice(deps, { mode, merchant, unit, value: least, field, own, takesCoin: stock === null });
      const answer = await createLink(
        onBehalfOf(request, deps),
        {
          merchant,
          actor: actorOf(request),
          description: body.description,
          referenceId: body.referenceId ?? null,
          amountUnit: unit.id,
          amountDecimals: unit.decimals,
          amountValue: body.amount?.value ?? null,
          minimumValue: body.minimum?.value ?? null,
          maximumValue: body.maximum?.value ?? null,
          stock,
          expiresAt: expiresAt ?? null,
          acceptedAssets,
          picture: picture ?? null,
        },
        idempotent,
        (link) => ({ status: 201, body: { paymentLink: viewLink(deps.config, link) } }),
      );
      return sendAnswer(deps, reply, answer);
    },
  );

  app.get('/v1/payment-links', { schema: LIST, config: { access: READ, priority: 'spare' } }, (request, reply) => {
    const { cursor, limit = LIMIT } = request.query;
    const { id: merchantId } = merchantOf(request);
    const question = `payment-links ${merchantId}`;
    const after = cursor === undefined ? undefined : openCursor(deps.cursorKeys, question, cursor);
    if (cursor !== undefined && after === undefined) {
      throw new ApiError('invalid_params', 'The cursor is not of this list.');
    }
    return deps.lists.readReplicated(callerRights(request), reply, async (db) => {
      const found = await listLinks(db, { merchantId, beforeId: after?.[0], limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        paymentLinks: page.map((link) => viewLink(deps.config, link)),
        nextCursor: last === undefined ? null : sealCursor(deps.cursorKeys, question, [last.id]),
      };
    });
  });

  app.get('/v1/payment-links/:id', { schema: GET, config: { access: READ } }, async (request) => {
    const link = await findLink(deps.db.sql, linkIdIn(request.params.id));
    if (link === undefined || link.merchantId !== merchantOf(request).id) throw linkNotFound();
    return { paymentLink: viewLink(deps.config, link) };
  });

  app.patch(
    '/v1/payment-links/:id',
    {
      schema: PATCH,
      config: { access: WRITE, errors: ['invalid_state', 'not_sandbox_api_key'] },
      bodyLimit: LINK_PICTURE.bodyBytes,
    },
    async (request) => {
      const { description, stock, status, expiresAt, picture, acceptedAssets } = request.body;
      const linkId = linkIdIn(request.params.id);
      const issues: Issue[] = [];
      const read = {
        ...givenFields({ description, stock, status }),
        ...(acceptedAssets !== undefined && { acceptedAssets: canonicalAccepted(acceptedAssets) }),
        ...(expiresAt !== undefined && { expiresAt: readExpiry(deps, expiresAt, issues) ?? null }),
        ...(picture !== undefined && {
          picture: (await readPicture('picture', { base64: picture, limit: LINK_PICTURE }, issues)) ?? null,
        }),
      };
      if (issues.length > 0) throw validationError(issues);
      const merchant = merchantOf(request);
      const { id: merchantId } = merchant;
      checkAccepted(deps, callerRights(request).mode, acceptedAssets);
      if (typeof stock === 'number' || (acceptedAssets ?? null) !== null)
        await checkTerms(deps, merchant, linkId, read);
      const change = { linkId, merchantId, actor: actorOf(request), changes: read };
      return { paymentLink: viewLink(deps.config, await changeLink(onBehalfOf(request, deps), change)) };
    },
  );
}

function linkIdIn(text: string): string {
  if (!isId('plk_', text)) throw linkNotFound();
  return text;
}

type NewLinkBody = Static<(typeof CREATE)['body']>;

interface ReadPrice {
  readonly unit: Unit;
  /** The smallest possible amount of a payment. `field` is the name of the request's field with this amount. */
  readonly least: bigint;
  readonly field: string;
}

/** Reads the price of a link: a fixed amount, or two bounds in one unit. */
function readPrice(
  registry: Registry,
  { amount, minimum, maximum }: NewLinkBody,
  issues: Issue[],
): ReadPrice | undefined {
  const least = amount ?? minimum;
  const isOne =
    (amount !== undefined) !== (minimum !== undefined) && (minimum === undefined) === (maximum === undefined);
  if (!isOne || least === undefined) {
    const field = amount === undefined ? (minimum === undefined ? 'amount' : 'maximum') : 'minimum';
    issues.push({ field, message: 'give either amount, or minimum and maximum' });
    return undefined;
  }
  const field = amount === undefined ? 'minimum' : 'amount';
  const unit = parseUnit(registry, least.unit);
  if (!unit.ok) issues.push({ field: `${field}.unit`, message: unit.problem });
  if (maximum !== undefined && maximum.unit !== least.unit) {
    issues.push({ field: 'maximum.unit', message: 'must be that of minimum' });
  }
  if (maximum !== undefined && BigInt(maximum.value) < BigInt(least.value)) {
    issues.push({ field: 'maximum.value', message: 'must not be below minimum' });
  }
  return unit.ok ? { unit: unit.value, least: BigInt(least.value), field } : undefined;
}

/** The latest expiry of a link: the last day whose timestamp has a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31);

function readExpiry({ world }: HttpDeps, seconds: number | null | undefined, issues: Issue[]): Date | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  const isPossible = seconds * 1000 > world.clock.nowMs() && seconds * 1000 < LAST_MS;
  if (isPossible) return new Date(seconds * 1000);
  issues.push({ field: 'expiresAt', message: 'must be in the future, in seconds since the epoch' });
  return undefined;
}

/** Refuses a stock or a list of assets with which nobody could pay at the link. */
async function checkTerms(
  deps: HttpDeps,
  merchant: PayableMerchant,
  linkId: string,
  changes: LinkChanges,
): Promise<void> {
  const link = await findLink(deps.db.sql, linkId);
  const unit = link && parseUnit(deps.registry, link.amountUnit);
  if (link?.merchantId !== merchant.id || !unit?.ok) return;
  const { mode, stock, acceptedAssets: accepted } = { ...link, ...changes };
  if (stock !== null) refuseCoin(deps.registry, unit.value);
  acceptedFor(deps, { mode, merchant, unit: unit.value, own: { of: 'link', accepted }, takesCoin: stock === null });
}

/**
 * Refuses a stock for a price in native coin. Payers send coin by themselves, so such a payment cannot be refused when the last
 * piece is sold.
 */
function refuseCoin(registry: Registry, { token }: Unit): void {
  if (token === undefined || registry.asset(token.asset)?.pay?.method !== 'native') return;
  throw validationError([{ field: 'stock', message: 'must be null for a price in coin, which cannot be refused' }]);
}

const TAGS = ['Payment links'];
const LinkParams = Type.Object({ id: Type.String({ description: 'The payment link.' }) });
const One = Type.Object({ paymentLink: LinkBody }, { description: 'The payment link.' });
const Price = Type.Object(PriceFields, { title: 'LinkPrice', additionalProperties: false });
const { description, stock, expiresAt, status, picture, acceptedAssets } = LinkField;

const CREATE = {
  tags: TAGS,
  operationId: 'createPaymentLink',
  summary: 'Create a payment link',
  description:
    'A page at `url` that anybody can pay at, as often as the stock allows. Give `amount`, or `minimum` and `maximum` to let the payer choose. Opening the page creates nothing; its button creates an ordinary payment with the `referenceId` of the link. At most 1,000 active links for each merchant.',
  body: Type.Object(
    {
      description,
      amount: Type.Optional(Price),
      minimum: Type.Optional(Price),
      maximum: Type.Optional(Price),
      stock: Type.Optional(stock),
      expiresAt: Type.Optional(expiresAt),
      referenceId: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          ...PLAIN_TEXT,
          description: 'The `referenceId` of its payments. Default: the id of the link.',
        }),
      ),
      acceptedAssets: Type.Optional(acceptedAssets),
      picture: Type.Optional(picture),
    },
    { title: 'NewPaymentLink', additionalProperties: false },
  ),
  response: { 201: One },
};

const LIST = {
  tags: TAGS,
  operationId: 'listPaymentLinks',
  summary: 'List payment links',
  description: 'Those of the merchant, the newest first.',
  querystring: Type.Object({ cursor: Type.Optional(Cursor), limit: limitOf(100, LIMIT) }),
  response: { 200: pageOf({ paymentLinks: Type.Array(LinkBody) }, 'PaymentLinkPage', 'The links.') },
};

const GET = {
  tags: TAGS,
  operationId: 'getPaymentLink',
  summary: 'Get a payment link',
  description: 'The link with its address, its price and its stock.',
  params: LinkParams,
  response: { 200: One },
};

const PATCH = {
  tags: TAGS,
  operationId: 'updatePaymentLink',
  summary: 'Change a payment link',
  description:
    'Give at least one field. The price stays: create another link for another price. Payments that the link has created can be paid to their end, as long as the stock allows.',
  params: LinkParams,
  body: changeOf('PaymentLinkChange', { description, stock, expiresAt, status, acceptedAssets, picture }),
  response: { 200: One },
};
