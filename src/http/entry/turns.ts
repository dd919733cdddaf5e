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
 * Shares the single thread of a node between callers. Work that can wait runs in pieces, one in each turn of the event loop.
 * Callers take turns. Requests that create or move a payment do not wait for turns: each of their steps waits for one such piece at
 * most, however many requests a noisy caller has sent.
 */
export interface Turns {
  /**
   * Returns undefined if the piece may run now, otherwise a promise that resolves at its turn. Throws `rate_limited` if too many
   * pieces of the caller wait.
   */
  take(caller: string): Promise<void> | undefined;
}

/** The most pieces of a caller that may wait: the requests that a key's default limit allows in a tenth of a second. */
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
 * The name under which a request takes turns: its key or person, otherwise its address. An app is no such name, because many payers
 * share it.
 */
export function sharerOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller === undefined || caller.via === 'app' ? addressGroup(ip) : caller.rights.id;
}
