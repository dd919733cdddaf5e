import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { EVENT_PATTERNS, PUBLIC_EVENT_TYPES } from '../../domain/event.ts';
import { ApiError } from '../../errors.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { PlacedEvent } from '../../store/events/events.ts';
import { createFeedReader, type FeedReader } from '../../store/events/feed-reader.ts';
import { type FeedView, findFeedEvent, lastPositionOf, readFeedBack } from '../../store/events/partner-feed.ts';
import { feedName } from '../../store/events/placing.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, ownerOf } from '../entry/caller.ts';
import { merchantsFor, several, splitCommas } from '../entry/payment-query.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { eventBodies } from '../event-bodies.ts';
import { limitOf, namedEnum, nullable } from '../schemas.ts';
import { holdUntil } from '../status/hold-until.ts';
import { MAX_HOLD_MS } from '../status/status.ts';
import { EventBody } from '../views/event.ts';

const READ = { scheme: 'partner', scope: 'events:read' } as const;

/** The event feed, in the order in which events were committed, and single events. */
export async function eventRoutes(app: App, deps: HttpDeps): Promise<void> {
  // Answers are written by `JSON.stringify`, because the serialisers made from schemas do not support alternatives of objects.
  const serializerCompiler = () => JSON.stringify;
  const reader = createFeedReader(deps);

  app.get(
    '/v1/events',
    { schema: LIST, config: { access: READ }, preValidation: splitCommas(['types']), serializerCompiler },
    async (request, reply) => {
      const { limit = LIMIT, maxPollMs, before } = request.query;
      const view = viewOf(request, request.query);
      if (before !== undefined) return readBack(deps, request, { ...view, limit });
      let after = await startOf(deps, reader, request);
      const read = async () => {
        const found = await reader.page({ ...view, after, limit });
        after = found.position;
        return found;
      };
      const untilMs = request.startedAtMs + Math.min(maxPollMs ?? 0, MAX_HOLD_MS);
      const page =
        unshifted(deps.world.clock).nowMs() >= untilMs
          ? await read()
          : await holdUntil(deps, {
              watched: feedName(view),
              place: deps.holdPlaces.take(request, reply),
              untilMs,
              find: read,
              isOver: ({ events }) => events.length > 0,
              waitMs: ({ hasMore }) => (hasMore ? 0 : Number.POSITIVE_INFINITY),
            });
      return {
        events: await bodiesFor(deps, request, page.events),
        nextCursor: sealCursor(deps.cursorKeys, cursorQuery(request), [String(page.position)]),
        hasMore: page.hasMore,
      };
    },
  );

  app.get('/v1/events/:id', { schema: GET, config: { access: READ }, serializerCompiler }, async (request) => {
    const { id } = request.params;
    const event = isPlausibleId(id) ? await findFeedEvent(deps.db.sql, id, viewOf(request, {})) : undefined;
    if (event === undefined) throw new ApiError('invalid_params', 'The event was not found.', { status: 404 });
    const [shown] = await bodiesFor(deps, request, [event]);
    return shown as NonNullable<typeof shown>;
  });
}

function viewOf(
  request: FastifyRequest,
  { types, merchantId }: Pick<Static<typeof FeedQuery>, 'types' | 'merchantId'>,
): FeedView {
  const isWanted = (type: string) =>
    types === undefined || types.some((pattern) => pattern === type || pattern === `${type.split('.')[0]}.*`);
  return {
    ...ownerOf(request),
    merchantIds: merchantsFor(callerRights(request), merchantId),
    types: PUBLIC_EVENT_TYPES.filter(isWanted),
  };
}

type EventsRequest = FastifyRequest<{ Querystring: { after?: string; before?: string } }>;

/** A page of past events, newest first. */
async function readBack(deps: HttpDeps, request: EventsRequest, view: FeedView & { readonly limit: number }) {
  const { after, before = LATEST } = request.query;
  if (after !== undefined) throw new ApiError('invalid_params', 'Send either after or before, not both.');
  const start = before === LATEST ? Number.MAX_SAFE_INTEGER : openPosition(deps, request, before);
  const page = await readFeedBack(deps.db.sql, { ...view, before: start });
  return {
    events: await bodiesFor(deps, request, page.events),
    nextCursor: sealCursor(deps.cursorKeys, cursorQuery(request), [String(page.position)]),
    hasMore: page.hasMore,
  };
}

/** The query to which a cursor is bound: the partner and the mode. Filters may change between requests. */
function cursorQuery(request: FastifyRequest): string {
  const { partnerId, mode } = ownerOf(request);
  return JSON.stringify(['events', partnerId, mode]);
}

async function startOf(deps: HttpDeps, reader: FeedReader, request: EventsRequest): Promise<number> {
  const { after } = request.query;
  if (after === undefined) return 0;
  // The position of the partner's own last event. The newest position of all partners would reveal when other partners have events.
  if (after === LATEST) return lastPositionOf(deps.db.sql, ownerOf(request));
  const last = await reader.last();
  const start = openPosition(deps, request, after);
  if (start > last) {
    const why = 'this database has not seen these events, such as after a restore from a backup';
    throw new ApiError('invalid_params', `The cursor is ahead of the events: ${why}. Begin without a cursor.`);
  }
  return start;
}

function openPosition({ cursorKeys }: HttpDeps, request: FastifyRequest, cursor: string): number {
  const [position] = openCursor(cursorKeys, cursorQuery(request), cursor) ?? [];
  if (position === undefined) {
    throw new ApiError('invalid_params', 'The cursor is not one of ours: pass nextCursor of an answer to this key.');
  }
  return Number(position);
}

function bodiesFor({ readSubjects, config }: HttpDeps, request: FastifyRequest, events: readonly PlacedEvent[]) {
  const { apiVersion: version } = request;
  if (version === undefined) throw new Error('The route has no version.');
  return eventBodies({ readSubjects, config }, events, version);
}

const LIMIT = 50;
const LATEST = 'latest';
const TAGS = ['Events'];

const FeedQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'The `nextCursor` of the answer before. Without it the feed begins with the first event. `latest` begins with the next event.',
    }),
  ),
  before: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'For the past, the newest event first: `latest`, then the `nextCursor` of the answer before. Not together with `after`. The past is over when `hasMore` is false; an answer without events is not the end.',
    }),
  ),
  types: several(
    namedEnum('EventPattern', EVENT_PATTERNS),
    'Only events of these types. `payment.*` stands for all types that begin so.',
  ),
  merchantId: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 50,
      description: 'Only of these merchants. May be repeated.',
    }),
  ),
  limit: limitOf(100, LIMIT),
  maxPollMs: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Hold the request until there is an event, at most this long (25 s is the most). `null` and an empty value are like none.',
      }),
    ),
  ),
});

const LIST = {
  tags: TAGS,
  operationId: 'listEvents',
  summary: 'Follow the events',
  description:
    'All events of the merchants the key may act for, in the order in which they were committed, without a gap. Keep `nextCursor`, and pass it as `after`: cursors stay valid, and events are kept. An answer without events has a new `nextCursor`, too.',
  querystring: FeedQuery,
  response: {
    200: Type.Object(
      {
        events: Type.Array(EventBody),
        nextCursor: Type.String({ description: 'Pass it as `after`, or as `before`, in the next request.' }),
        hasMore: Type.Boolean({
          description:
            'False if there are no further events now: with `before` the past is over. True if there may be some; the next page can be empty.',
        }),
      },
      { title: 'EventPage', description: 'The next events.' },
    ),
  },
};

const GET = {
  tags: TAGS,
  operationId: 'getEvent',
  summary: 'Get an event',
  description: 'The same body as in the feed and in webhooks.',
  params: Type.Object({ id: Type.String({ description: 'The event.' }) }),
  response: { 200: EventBody },
};
