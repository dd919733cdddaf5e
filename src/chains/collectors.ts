/** A release of the Collector. It has one address on every EVM network, because the address follows from its code. */
export interface CollectorRelease {
  readonly address: string;
  /** The keccak-256 hash of the code at that address. */
  readonly codeHash: string;
  /** New payments are signed for it from this time on, UTC. A future date lets every node be updated first. */
  readonly since: string;
}

/**
 * All releases, the oldest first. None is ever removed: payments that were signed for an old one stay payable until their
 * deadline, and its events stay evidence. `docs/verify-receipt.mjs` has the same addresses.
 */
export const COLLECTORS: readonly CollectorRelease[] = [
  {
    address: '0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A',
    codeHash: '0x3442b20a013015a4089c1eadda68fce7f108780177975d734afc9f98e4898d09',
    since: '2026-11-15',
  },
];

/**
 * The release that new payments are signed for: the newest one in force among those that the network has. A network
 * without the newest release uses the previous one. If no deployed release is in force yet, the newest deployed one is
 * used.
 */
export function collectorFor(nowMs: number, deployed: readonly CollectorRelease[]): CollectorRelease | undefined {
  return deployed.findLast(({ since }) => Date.parse(since) <= nowMs) ?? deployed.at(-1);
}
