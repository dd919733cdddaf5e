import type { LongPolls } from './status/long-poll.ts';

/**
 * The last phase of a node before its listener closes. The node answers every request as before, with
 * `Connection: close`. Its readiness is 503, so that load balancers send new requests to other nodes.
 */
export interface Drain {
  readonly hasBegun: boolean;
  /** Answers held requests, and holds none from now on. */
  begin(): void;
}

export function createDrain(longPolls: Pick<LongPolls, 'release' | 'isReleased'>): Drain {
  return {
    get hasBegun() {
      return longPolls.isReleased;
    },
    begin: longPolls.release,
  };
}
