import type { Mode } from '../domain/mode.ts';
import { refill, type TokenBucket } from '../runtime/token-bucket.ts';
import type { Clock } from '../runtime/world.ts';
import { type ApiRequest, insertApiRequests, pruneApiRequests } from '../store/parties/api-requests.ts';
import { type CommandDeps, command } from './command.ts';

/**
 * The throttle of the requests that a node records for a partner and mode: a burst, and then a rate. Further requests are only
 * counted.
 */
const PACES = {
  error: { capacity: 60, perSecond: 1 },
  success: { capacity: 20, perSecond: 0.1 },
} as const;
/** The bound of requests that wait to be written. Further requests are skipped. */
const MAX_WAITING = 1_000;
const RETENTION_MS = 7 * 24 * 3_600_000;
const AT_ONCE = 1_000;

export type NotedRequest = Omit<ApiRequest, 'skipped'>;

/** Records requests for the developers of a partner: a sample of the successful ones, and errors up to a rate. */
export interface RequestRecorder {
  /** Notes a request in memory. Cheap for a request that is not recorded: only a counter is checked, and `describe` is not called. */
  note(
    owner: { readonly partnerId: string; readonly mode: Mode },
    isError: boolean,
    describe: () => NotedRequest,
  ): void;
  /** Writes all noted requests. Always returns false, because one run writes all of them. */
  flush(deps: CommandDeps): Promise<boolean>;
}

interface Pace extends TokenBucket {
  skipped: number;
}

export function createRequestRecorder(clock: Clock): RequestRecorder {
  const paces = new Map<string, Pace>();
  let waiting: ApiRequest[] = [];

  function paceOf(name: string, { capacity, perSecond }: (typeof PACES)[keyof typeof PACES]): Pace {
    const nowMs = clock.nowMs();
    const pace = paces.get(name) ?? { perSecond, capacity, tokens: capacity, filledAtMs: nowMs, skipped: 0 };
    refill(pace, nowMs);
    paces.set(name, pace);
    return pace;
  }

  return {
    note({ partnerId, mode }, isError, describe) {
      const kind = isError ? 'error' : 'success';
      const pace = paceOf(`${partnerId}/${mode}/${kind}`, PACES[kind]);
      if (pace.tokens < 1 || waiting.length >= MAX_WAITING) {
        pace.skipped += 1;
        return;
      }
      pace.tokens -= 1;
      waiting.push({ ...describe(), skipped: pace.skipped });
      pace.skipped = 0;
    },
    async flush(deps) {
      if (waiting.length === 0) return false;
      const written = waiting;
      waiting = [];
      try {
        await command(deps, (tx) => insertApiRequests(tx, written));
      } catch (error) {
        // Requests noted before an outage are kept up to the bound.
        waiting = [...written, ...waiting].slice(-MAX_WAITING);
        throw error;
      }
      return false;
    },
  };
}

/** Deletes requests after a week. Returns true if there are more. */
export function pruneRequests(deps: CommandDeps): Promise<boolean> {
  return command(deps, async (tx, now) => {
    const before = new Date(now.getTime() - RETENTION_MS);
    return (await pruneApiRequests(tx, { before, limit: AT_ONCE })) === AT_ONCE;
  });
}
