import { createRecent } from '#shared/kernel/recent.ts';
import type { UpstreamOperation } from '../operation.ts';

/**
 * Validated answers by content address: the same row and bytes have the same value, so a container parses and checks a projection once, although
 * it is read over the wire for every request. The tenant is no part of the address: the client compares it every time.
 */
export interface AnswerMemo {
  get(operation: UpstreamOperation, bodyHash: string): { readonly value: unknown } | undefined;
  set(operation: UpstreamOperation, bodyHash: string, value: unknown, bytes: number): void;
}

/** The limit of the sum of the answers' lengths on the wire; parsed values take a few times more. */
const MAX_BYTES = 24 * 1024 * 1024;
/** What an entry counts for in addition to its length: thousands of small answers take more than their text. */
const ENTRY_BYTES = 1024;

/** Creates a memo for the named rows only (projections without learner facts), which drops the least recently used answers first. */
export function createAnswerMemo(rows: readonly UpstreamOperation[]): AnswerMemo {
  const kept = createRecent<{ readonly value: unknown }>(MAX_BYTES);
  return {
    get: ({ id }, bodyHash) => kept.get(`${id} ${bodyHash}`),
    set(operation, bodyHash, value, bytes) {
      if (rows.includes(operation)) kept.set(`${operation.id} ${bodyHash}`, { value }, bytes + ENTRY_BYTES);
    },
  };
}
