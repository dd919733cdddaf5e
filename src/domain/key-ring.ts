/**
 * The keys of one purpose, the newest first. New values are made with the newest key. Older keys only open or verify values
 * that were made with them.
 */
export type KeyRing = readonly [newest: Uint8Array, ...older: Uint8Array[]];
