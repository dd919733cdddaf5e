/**
 * The latest positions of the primary's write-ahead log, each with the time at which this node asked for it. A replica that has replayed a
 * position has everything that was committed before that time. So its lag is known without the clocks of the servers, even while nothing is
 * written.
 */
export interface WalHistory {
  take(sample: WalSample): void;
  /** The lag of a server that has replayed the log up to `position`. Undefined before the first sample. */
  lag(position: bigint, nowMs: number): Lag | undefined;
  newest(): WalSample | undefined;
}

export interface Lag {
  /** The upper limit of the lag in milliseconds. If `isMore` is true, the lower limit. */
  readonly ms: number;
  /** True if the server has not even replayed the oldest sample. Then it is behind by at least `ms`. */
  readonly isMore: boolean;
}

export interface WalSample {
  /** The time at which the primary was asked, by this node's clock. */
  readonly atMs: number;
  readonly position: bigint;
  /** The number of the primary's timeline, which increases with each failover. */
  readonly timeline: number;
  readonly identity: string;
}

/** The number of samples that are kept. At two samples a second, they cover more than any permitted lag. */
const KEPT = 700;

export function createWalHistory(): WalHistory {
  let samples: WalSample[] = [];
  return {
    take(sample) {
      samples = [...samples, sample].slice(-KEPT);
    },
    lag(position, nowMs) {
      const reached = samples.findLast((sample) => sample.position <= position);
      const since = reached ?? samples[0];
      return since && { ms: Math.max(0, nowMs - since.atMs), isMore: reached === undefined };
    },
    newest: () => samples.at(-1),
  };
}
