import type { EventPage, EventQuery, TillEvent } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type Interruption, sleep } from './retry.ts';

export interface FollowOptions extends Omit<CallOptions, 'idempotencyKey' | 'merchantId'> {
  /** Called when the gateway cannot be reached. The client keeps trying to read the feed. */
  readonly onInterruption?: Interruption;
}

const LATEST = 'latest';
const HOLD_MS = 25_000;
/** The minimum time between two requests for new events, if the gateway answers them at once instead of holding them as long polls. */
const PAUSE_MS = 1_000;

export function eventsOf(connection: Connection) {
  return {
    /**
     * One event of the feed.
     *
     * @example
     * const event = await till.events.get(eventId);
     * console.log(event.type, event.createdAt);
     */
    get(id: string, options?: CallOptions): Promise<TillEvent> {
      return connection.ask({ method: 'GET', path: `/v1/events/${segment(id)}` }, options);
    },

    /**
     * One page of the feed. `after` is the `nextCursor` of the previous page.
     *
     * @example
     * const { events, nextCursor } = await till.events.page({ types: 'payment.*', limit: 10 });
     * console.log(events.length, nextCursor);
     */
    page(query: EventQuery = {}, options?: CallOptions): Promise<EventPage> {
      const maxPollMs = query.maxPollMs ?? undefined;
      const asked = { ...query, maxPollMs };
      const call = { method: 'GET', path: '/v1/events', query: asked, holdMs: maxPollMs ?? 0 } as const;
      return connection.ask(call, options);
    },

    /**
     * Follows the feed page by page. The iteration never ends, not even while the gateway cannot be reached. Handle the events and
     * store `nextCursor` in one database transaction. After a restart, pass the stored cursor as `after`: no event is lost or handled
     * twice. Pages may be empty.
     *
     * @example
     * for await (const { events, nextCursor } of till.events.pages({ after: undefined })) {
     *   for (const event of events) console.log(event.type);
     *   console.log(`Store ${nextCursor}`);
     *   if (events.length > 0) break;
     * }
     */
    pages(query?: EventQuery, options?: FollowOptions): AsyncGenerator<EventPage, never, void> {
      return followPages(connection, query, options);
    },

    /**
     * Follows the feed event by event and never ends. With `after: 'latest'` it begins with the next new event, without `after`
     * with the oldest event of the feed.
     *
     * @example
     * for await (const event of till.events.follow({ types: ['payment.created', 'payment.succeeded'] })) {
     *   console.log(event.type, event.data.id);
     *   break;
     * }
     */
    async *follow(query?: EventQuery, options?: FollowOptions): AsyncGenerator<TillEvent, never, void> {
      const pages = followPages(connection, query, options);
      for (;;) yield* (await pages.next()).value.events;
    },
  };
}

async function* followPages(
  connection: Connection,
  { maxPollMs, ...query }: EventQuery = {},
  { signal, onInterruption = () => {} }: FollowOptions = {},
): AsyncGenerator<EventPage, never, void> {
  for (let { after } = query; ; ) {
    const startedMs = Date.now();
    // The first request with `latest` is not a long poll: its answer brings a cursor at once, so no event is missed if a later request
    // fails.
    const holdMs = after === LATEST ? 0 : (maxPollMs ?? HOLD_MS);
    const asked = { ...query, after, maxPollMs: holdMs || undefined };
    const call = { method: 'GET', path: '/v1/events', query: asked, holdMs, onInterruption } as const;
    const page = await connection.ask<EventPage>(call, signal && { signal });
    const wasHeld = page.events.length === 0 && after !== LATEST;
    after = page.nextCursor;
    yield page;
    const pauseMs = wasHeld ? startedMs + PAUSE_MS - Date.now() : 0;
    if (pauseMs > 0) await sleep(pauseMs, signal);
  }
}
