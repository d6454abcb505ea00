/** A map that forgets: only the entries that were used last are kept. */
export interface Recent<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
}

/** Keeps the `capacity` entries that were read or added last. For large values that a container may reuse. */
export function createRecent<V>(capacity: number): Recent<V> {
  const entries = new Map<string, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= capacity) break;
        entries.delete(oldest);
      }
    },
  };
}
