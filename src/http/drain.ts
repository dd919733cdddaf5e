import type { LongPolls } from './status/long-poll.ts';

/**
 * The last phase of a node before its listener closes. The node still answers every request, with `Connection: close`. Its
 * readiness is 503, so that load balancers send new requests to other nodes.
 */
export interface Drain {
  readonly hasBegun: boolean;
  /** Answers all held requests (long polls) at once. From then on, no further request is held. */
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
