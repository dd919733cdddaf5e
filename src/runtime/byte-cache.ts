/** A cache of texts and files that are ready to send, up to a total size. */
export interface ByteCache {
  get(name: string): Uint8Array | undefined;
  put(name: string, bytes: Uint8Array): void;
}

/** Creates a cache that evicts its oldest entry first. The bytes of a name never change. */
export function createByteCache(maxBytes: number): ByteCache {
  const entries = new Map<string, Uint8Array>();
  let totalBytes = 0;
  return {
    get: (name) => entries.get(name),
    put(name, bytes) {
      if (entries.has(name)) return;
      entries.set(name, bytes);
      totalBytes += bytes.length;
      for (const [oldest, { length }] of entries) {
        if (totalBytes <= maxBytes) return;
        entries.delete(oldest);
        totalBytes -= length;
      }
    },
  };
}
