/**
 * The recent positions of the primary's write-ahead log, each with the time when it was asked for. A replica that has replayed a
 * position has everything that was committed before that time. So its lag is known without any clock of the servers, and also while
 * nothing is written.
 */
export interface WalHistory {
  take(sample: WalSample): void;
  /** How far a server that has replayed this position is behind. Undefined before the first sample. */
  lag(position: bigint, nowMs: number): Lag | undefined;
  newest(): WalSample | undefined;
}

export interface Lag {
  /** The most milliseconds by which the server is behind. */
  readonly ms: number;
  /** True if the server has not reached the oldest sample. Then it is behind by at least these milliseconds. */
  readonly isMore: boolean;
}

export interface WalSample {
  /** When the primary was asked, by this node's clock. */
  readonly atMs: number;
  readonly position: bigint;
  /** Increases with each failover. */
  readonly timeline: number;
  readonly identity: string;
}

/** Longer than any permitted lag, at two samples a second. */
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
