/** The keys of one purpose, the newest first. The newest makes new values. Older keys only open or verify their own values. */
export type KeyRing = readonly [newest: Uint8Array, ...older: Uint8Array[]];
