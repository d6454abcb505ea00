import type { UpstreamOperation } from '../operation.ts';

/**
 * Validated answers by content address: the same row and the same bytes give the same value, so a large projection is parsed and checked
 * once per container although it is read over the wire for every request. The tenant is not part of it: the client compares it every time.
 */
export interface AnswerMemo {
  get(operation: UpstreamOperation, bodyHash: string): { readonly value: unknown } | undefined;
  set(operation: UpstreamOperation, bodyHash: string, value: unknown, bytes: number): void;
}

/**
 * A memo for the named rows only (projections without learner facts), least recently used out first.
 * @param maxBytes bound on the sum of the answers' lengths on the wire; parsed values take a few times more
 */
export function createAnswerMemo(
  rows: readonly UpstreamOperation[],
  maxBytes = 24 * 1024 * 1024,
): AnswerMemo {
  const allowed = new Set(rows);
  const entries = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  let total = 0;
  const keyOf = (operation: UpstreamOperation, bodyHash: string): string => `${operation.id} ${bodyHash}`;
  const drop = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get(operation, bodyHash) {
      const key = keyOf(operation, bodyHash);
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    set(operation, bodyHash, value, bytes) {
      if (!allowed.has(operation) || bytes > maxBytes) return;
      const key = keyOf(operation, bodyHash);
      drop(key);
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break;
        drop(oldest);
      }
    },
  };
}
