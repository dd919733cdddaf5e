/** The keys of one purpose, the newest first. The newest makes everything new, and each opens what it has made. */
export type KeyRing = readonly [newest: Uint8Array, ...older: Uint8Array[]];
