/** A map that keeps only the entries that were used last. */
export interface Recent<V> {
  get(key: string): V | undefined;
  /** Adds an entry. @param weight the share of the capacity that the entry takes, 1 by default; an entry larger than all of it is not kept */
  set(key: string, value: V, weight?: number): void;
}

/** Creates a map that keeps what was read or added last, up to a sum of weights. For large values that a container may reuse. */
export function createRecent<V>(capacity: number): Recent<V> {
  const entries = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight = 1) {
      if (weight > capacity) return;
      drop(key);
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= capacity) break;
        drop(oldest);
      }
    },
  };
}
