import { describe, expect, it } from 'vitest';
import * as operations from '../operations.ts';
import { createAnswerMemo } from './answer-memo.ts';

describe('createAnswerMemo', () => {
  it('keeps the named rows only, so that no learner fact stays in a container', () => {
    const memo = createAnswerMemo([operations.readAdaptivePoolManifest]);
    memo.set(operations.readCandidateRuntime, 'hash', 'learner', 1);
    memo.set(operations.readAdaptivePoolManifest, 'hash', 'manifest', 1);
    expect(memo.get(operations.readCandidateRuntime, 'hash')).toBeUndefined();
    expect(memo.get(operations.readAdaptivePoolManifest, 'hash')?.value).toBe('manifest');
  });

  it('tells rows apart whose answers are the same bytes', () => {
    const memo = createAnswerMemo([operations.readSettledRecord, operations.writeKcComponents]);
    memo.set(operations.readSettledRecord, 'hash', 'record', 1);
    expect(memo.get(operations.writeKcComponents, 'hash')).toBeUndefined();
  });

  it('lets go of what was used least recently beyond 24 MB, and counts an entry once', () => {
    const MB = 1024 * 1024;
    const row = operations.readTestSpec;
    const memo = createAnswerMemo([row]);
    const known = () => ['a', 'b', 'c', 'huge'].map((hash) => memo.get(row, hash)?.value);
    memo.set(row, 'a', 'A', 9 * MB);
    memo.set(row, 'b', 'B', 9 * MB);
    memo.get(row, 'a');
    memo.set(row, 'c', 'C', 9 * MB);
    memo.set(row, 'c', 'C', 9 * MB);
    memo.set(row, 'huge', 'H', 25 * MB);
    expect(known()).toEqual(['A', undefined, 'C', undefined]);
  });

  it('counts what an entry takes beside its text, so that small answers cannot fill a container either', () => {
    const row = operations.readCfItem;
    const memo = createAnswerMemo([row]);
    const small = Array.from({ length: 30_000 }, (_, n) => `item ${n}`);
    for (const hash of small) memo.set(row, hash, hash, 1);
    const known = small.filter((hash) => memo.get(row, hash) !== undefined);
    expect(known.length).toBeLessThan(25_000);
    expect(known.at(-1)).toBe(small.at(-1));
  });
});
