/** A storage in memory for the pairing client. It is lost when the payer leaves the page. */
export function memoryStorage() {
  const values = new Map<string, unknown>();
  return {
    getKeys: async () => [...values.keys()],
    getEntries: async <T>() => [...values.entries()] as [string, T][],
    getItem: async <T>(key: string) => values.get(key) as T | undefined,
    async setItem<T>(key: string, value: T) {
      values.set(key, value);
    },
    async removeItem(key: string) {
      values.delete(key);
    },
  };
}
