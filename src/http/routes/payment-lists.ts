import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, merchantOf, ownerOf } from '../entry/caller.ts';
import {
  answerList,
  type ListAnswer,
  ListParameter,
  type ListRequest,
  merchantsFor,
  several,
  splitCommas,
} from '../entry/payment-query.ts';
import {
  fromLegacyStatus,
  LegacyListBody,
  LegacyStatusField,
  viewLegacyItem,
  viewLegacyStats,
} from '../views/legacy-payment-list.ts';
import { PaymentStatusField } from '../views/payment.ts';
import { PaymentListBody, viewListItem, viewStats } from '../views/payment-list.ts';
import { MerchantParams } from './merchants.ts';

const READ = { scheme: 'partner', scope: 'payments:read' } as const;
const LEGACY = { scheme: 'legacy', scope: 'payments:read', merchant: 'path', takesDeleted: true } as const;

/**
 * Answers are written by `JSON.stringify`, because their numbers are exact. The serialisers made from schemas support only
 * floating-point numbers.
 */
const serializerCompiler = () => JSON.stringify;

/**
 * Routes for lists of payments with filters, pages and totals: of one merchant, of all merchants of a partner, and in the
 * deprecated shape.
 */
export async function paymentListRoutes(app: App, deps: HttpDeps): Promise<void> {
  const preValidation = splitCommas(['status', 'token_symbol', 'asset', 'network']);

  app.get(
    '/v1/merchants/payments',
    {
      schema: OF_MERCHANT,
      config: { access: { ...READ, merchant: 'header', takesDeleted: true }, priority: 'spare' },
      preValidation,
      serializerCompiler,
    },
    async (request, reply) => {
      const query = { ...ownerOf(request), merchantIds: [merchantOf(request).id], ...asked(request.query) };
      return viewList(
        deps,
        await deps.lists.readReplicated(callerRights(request), reply, (db) => answerList(deps, db, query)),
      );
    },
  );

  app.get(
    '/v1/payments',
    { schema: OF_PARTNER, config: { access: READ, priority: 'spare' }, preValidation, serializerCompiler },
    async (request, reply) => {
      const merchantIds = merchantsFor(callerRights(request), request.query.merchantId);
      const query = { ...ownerOf(request), merchantIds, ...asked(request.query) };
      return viewList(
        deps,
        await deps.lists.readReplicated(callerRights(request), reply, (db) => answerList(deps, db, query)),
      );
    },
  );

  app.get(
    '/v1/merchants/:merchantId/payments',
    {
      schema: OF_OLD,
      config: { access: LEGACY, priority: 'spare' },
      onRequest: announceSuccessor,
      preValidation,
      serializerCompiler,
    },
    async (request, reply) => {
      const query = { ...ownerOf(request), merchantIds: [merchantOf(request).id], ...askedOfOld(request.query) };
      const answer = await deps.lists.readReplicated(callerRights(request), reply, (db) => answerList(deps, db, query));
      return {
        data: answer.page.map((payment) => viewLegacyItem(deps.registry, payment, answer.nowMs)),
        next_cursor: answer.nextCursor,
        stats: viewLegacyStats(deps.registry, answer.stats),
      };
    },
  );
}

function viewList(
  { config }: HttpDeps,
  { page, nextCursor, stats, nowMs }: ListAnswer,
): Static<typeof PaymentListBody> {
  return {
    data: page.map((payment) => viewListItem(config, payment, nowMs)),
    nextCursor,
    stats: viewStats(config.registry, stats),
  };
}

type Asked = Omit<ListRequest, 'partnerId' | 'mode' | 'merchantIds'>;

function asked(query: Static<typeof ListQuery>): Asked {
  return {
    start: query.startTs,
    end: query.endTs,
    symbols: [...(query.token_symbol ?? []), ...(query.asset ?? [])],
    networks: query.network ?? [],
    statuses: query.status ?? [],
    referenceId: query.referenceId,
    search: query.search,
    sortBy: query.sortBy,
    sortDir: query.sortDir,
    cursor: query.cursor,
    limit: query.limit,
    stats: query.stats,
  };
}

function askedOfOld(query: Static<typeof OldListQuery>): Asked {
  return {
    start: query.start_ts,
    end: query.end_ts,
    symbols: [...(query.token_symbol ?? []), ...(query.asset ?? [])],
    networks: query.network ?? [],
    statuses: (query.status ?? []).flatMap(fromLegacyStatus),
    referenceId: query.referenceId,
    search: query.search,
    sortBy: query.sort_by,
    sortDir: query.sort_dir,
    cursor: query.cursor,
    limit: query.limit,
    stats: 'all',
  };
}

/** Announces the date of the deprecation and a link to the successor, by RFC 9745 and RFC 8288. */
function announceSuccessor(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header('Deprecation', `@${DEPRECATED_AT_MS / 1000}`);
  reply.header('Link', '</v1/merchants/payments>; rel="successor-version"');
  done();
}

/** The date of the first version of the API without the deprecated list. */
const DEPRECATED_AT_MS = Date.UTC(2026, 1, 18);

const TAGS = ['Payments'];

const ListQuery = Type.Object({
  startTs: ListParameter.start,
  endTs: ListParameter.end,
  token_symbol: ListParameter.symbols('Symbols of the tokens paid with, in any case.'),
  asset: Type.Optional({ ...ListParameter.symbols('Use `token_symbol`.'), deprecated: true }),
  network: ListParameter.networks(),
  status: several(PaymentStatusField, 'Only with these statuses.'),
  referenceId: ListParameter.referenceId,
  search: ListParameter.search,
  sortBy: ListParameter.sortBy,
  sortDir: ListParameter.sortDir,
  cursor: ListParameter.cursor,
  limit: ListParameter.limit,
  stats: ListParameter.stats,
});

const OldListQuery = Type.Object({
  start_ts: ListParameter.start,
  end_ts: ListParameter.end,
  asset: ListParameter.symbols('Symbols of the tokens paid with, in any case.'),
  token_symbol: ListParameter.symbols('The same as `asset`.'),
  network: ListParameter.networks(),
  referenceId: ListParameter.referenceId,
  search: ListParameter.search,
  status: several(LegacyStatusField, 'Only with these statuses; `failed` also finds cancelled payments.'),
  sort_by: ListParameter.sortBy,
  sort_dir: ListParameter.sortDir,
  cursor: ListParameter.cursor,
  limit: ListParameter.limit,
});

const OF_MERCHANT = {
  tags: TAGS,
  operationId: 'listMerchantPayments',
  summary: "List a merchant's payments",
  description:
    'Newest first, unless asked otherwise. Follow `nextCursor`: filters and order must stay the same, the time range may change.',
  querystring: ListQuery,
  response: { 200: PaymentListBody },
};

const OF_PARTNER = {
  tags: TAGS,
  operationId: 'listPayments',
  summary: 'List the payments of all merchants',
  description: 'Of all merchants the key may act for, or of those named.',
  querystring: Type.Object({
    ...ListQuery.properties,
    merchantId: ListParameter.merchants,
  }),
  response: { 200: PaymentListBody },
};

const OF_OLD = {
  tags: TAGS,
  deprecated: true,
  operationId: 'listMerchantPaymentsLegacy',
  summary: "List a merchant's payments (deprecated)",
  description: 'Use `GET /v1/merchants/payments`, and the header `Merchant-Id`. A cancelled payment is `failed` here.',
  params: MerchantParams,
  querystring: OldListQuery,
  response: { 200: LegacyListBody },
};
