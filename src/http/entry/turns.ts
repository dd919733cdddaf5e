import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { Timers } from '../../runtime/world.ts';
import type { Priority } from './load-shedding.ts';
import { addressGroup } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler waits for its turn. By default that of routes whose priority is `normal` or `spare`. */
    takesTurns?: boolean;
  }
}

/**
 * Shares the one thread of a node. Work that can wait runs in pieces, one in each turn of the event loop, and callers take
 * turns. Requests that create or move a payment take none. Each of their steps waits for one such piece at most, however many
 * requests a noisy caller has sent.
 */
export interface Turns {
  /**
   * Returns undefined if the piece may run now, else a promise of its turn. Throws `rate_limited` if the caller has too
   * many pieces waiting.
   */
  take(caller: string): Promise<void> | undefined;
}

/** A key's requests of a tenth of a second, by its usual limit. */
const WAITING_PER_CALLER = 50;

export function createTurns(timers: Timers, { onRefusal }: { readonly onRefusal: () => void }): Turns {
  /** In order of turns: a caller that got one goes to the end. */
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

/** The last gate before the handler. */
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

/** The name under which a request shares the node with others: its key or person, else its address. Many payers use one app. */
export function sharerOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller === undefined || caller.via === 'app' ? addressGroup(ip) : caller.rights.id;
}
