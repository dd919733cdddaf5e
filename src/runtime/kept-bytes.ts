/** Finished texts and files in memory, up to a total size. */
export interface KeptBytes {
  get(name: string): Uint8Array | undefined;
  keep(name: string, bytes: Uint8Array): void;
}

/** Keeps what was made last; the oldest goes first. The bytes of a name never change. */
export function createKeptBytes(maxBytes: number): KeptBytes {
  const kept = new Map<string, Uint8Array>();
  let keptBytes = 0;
  return {
    get: (name) => kept.get(name),
    keep(name, bytes) {
      if (kept.has(name)) return;
      kept.set(name, bytes);
      keptBytes += bytes.length;
      for (const [oldest, { length }] of kept) {
        if (keptBytes <= maxBytes) return;
        kept.delete(oldest);
        keptBytes -= length;
      }
    },
  };
}
