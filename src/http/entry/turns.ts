import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { Timers } from '../../runtime/world.ts';
import type { Priority } from './load-shedding.ts';
import { addressGroup } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the handler waits for its turn. Default: true for routes of priority `normal` or `spare`. */
    takesTurns?: boolean;
  }
}

/**
 * Shares the single thread of a node between callers. Handlers of requests that can wait run one at a time, one in each iteration
 * of the event loop, and the waiting callers are served in rotation. Requests that create or move a payment do not wait here:
 * each of their steps is delayed by one such handler at most, however many requests a noisy caller has sent.
 */
export interface Turns {
  /**
   * Asks for a turn. Returns undefined if the handler may run now, otherwise a promise that resolves when its turn comes. Throws
   * `rate_limited` if too many requests of the caller wait.
   */
  take(caller: string): Promise<void> | undefined;
}

/** The most requests of one caller that may wait for a turn: as many as a key's default limit allows in a tenth of a second. */
const WAITING_PER_CALLER = 50;

export function createTurns(timers: Timers, { onRefusal }: { readonly onRefusal: () => void }): Turns {
  /** The queues of the callers, with the next caller first. A caller that had its turn moves to the end. */
  const lines = new Map<string, (() => void)[]>();
  let isTaken = false;

  function give(): void {
    const [first] = lines;
    isTaken = first !== undefined;
    if (first === undefined) return;
    const [caller, line] = first;
    const start = line.shift();
    lines.delete(caller);
    if (line.length > 0) lines.set(caller, line);
    timers.soon(give);
    start?.();
  }

  return {
    take(caller) {
      if (!isTaken) {
        isTaken = true;
        timers.soon(give);
        return undefined;
      }
      const line = lines.get(caller) ?? [];
      if (line.length >= WAITING_PER_CALLER) {
        onRefusal();
        throw new ApiError('rate_limited', `More than ${WAITING_PER_CALLER} requests wait for this node.`, {
          retryAfterS: 1,
        });
      }
      lines.set(caller, line);
      return new Promise((resolve) => line.push(resolve));
    },
  };
}

export function canWait(priority: Priority): boolean {
  return priority === 'normal' || priority === 'spare';
}

export function turnGate(turns: Turns) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      const turn = turns.take(sharerOf(request));
      if (turn === undefined) done();
      else turn.then(() => done());
    } catch (error) {
      done(error as Error);
    }
  };
}

/**
 * The name under which a request waits for its turn: its key or person, otherwise its address. The id of a wallet app is not
 * used, because many payers share an app.
 */
export function sharerOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller === undefined || caller.via === 'app' ? addressGroup(ip) : caller.rights.id;
}
