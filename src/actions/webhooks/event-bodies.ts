import type { Version } from '../../domain/version.ts';
import { createByteCache } from '../../runtime/byte-cache.ts';
import type { Log } from '../../runtime/world.ts';
import type { PlacedEvent } from '../../store/events/events.ts';
import type { Database } from '../../store/plumbing/database.ts';
import { findEvents } from '../../store/webhooks/deliveries.ts';

/** The public bodies of events in an API version, the same as in answers of `GET /v1/events/{id}`. */
export type RenderEvents = (events: readonly PlacedEvent[], version: Version) => Promise<readonly object[]>;

export interface BodyRequest {
  readonly eventId: string;
  readonly version: Version | undefined;
}

/** The bodies in the order of the requests. Undefined for an event that cannot be rendered. */
export type BodyReader = (requests: readonly BodyRequest[]) => Promise<(Uint8Array | undefined)[]>;

export interface BodyReaderDeps {
  readonly db: Pick<Database, 'sql'>;
  readonly log: Log;
  readonly renderEvents: RenderEvents;
}

/** The maximum size of the cache of bodies. Bodies are worth caching, because an event goes to several endpoints, and never changes. */
const MAX_CACHED_BYTES = 8 * 1024 * 1024;

/** Renders the body of an event once for each version, and caches it. */
export function createBodyReader(deps: BodyReaderDeps): BodyReader {
  const cache = createByteCache(MAX_CACHED_BYTES);

  return async (requests) => {
    const made = new Map<string, Uint8Array>();
    const missing = new Map<Version, Set<string>>();
    for (const { eventId, version } of requests) {
      if (version === undefined) continue;
      const body = cache.get(keyOf(eventId, version));
      if (body !== undefined) made.set(keyOf(eventId, version), body);
      else missing.set(version, (missing.get(version) ?? new Set()).add(eventId));
    }
    for (const [version, ids] of missing) {
      for (const [eventId, body] of await render(deps, [...ids], version)) {
        made.set(keyOf(eventId, version), body);
        cache.put(keyOf(eventId, version), body);
      }
    }
    return requests.map(({ eventId, version }) => made.get(keyOf(eventId, version)));
  };
}

function keyOf(eventId: string, version: Version | undefined): string {
  return `${eventId} ${version}`;
}

async function render(
  { db, log, renderEvents }: BodyReaderDeps,
  ids: readonly string[],
  version: Version,
): Promise<[eventId: string, body: Uint8Array][]> {
  const events = await findEvents(db.sql, ids);
  const renderSome = async (some: readonly PlacedEvent[]): Promise<[string, Uint8Array][]> => {
    const bodies = await renderEvents(some, version);
    return some.map(({ id }, index) => [id, Buffer.from(JSON.stringify(bodies[index]))]);
  };
  try {
    return await renderSome(events);
  } catch {
    // One event that cannot be rendered must not stop the other events.
    const rendered: [string, Uint8Array][] = [];
    for (const event of events) {
      try {
        rendered.push(...(await renderSome([event])));
      } catch (error) {
        log.error({ event: event.id, err: error }, 'the body of an event cannot be made');
      }
    }
    return rendered;
  }
}
