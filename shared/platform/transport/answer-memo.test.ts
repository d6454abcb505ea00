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

  it('lets go of what was used least recently once its bound is reached', () => {
    const row = operations.readTestSpec;
    const memo = createAnswerMemo([row], 10);
    memo.set(row, 'a', 'A', 4);
    memo.set(row, 'b', 'B', 4);
    memo.get(row, 'a');
    memo.set(row, 'c', 'C', 4);
    expect(['a', 'b', 'c'].map((hash) => memo.get(row, hash)?.value)).toEqual(['A', undefined, 'C']);
    memo.set(row, 'huge', 'H', 11);
    expect(memo.get(row, 'huge')).toBeUndefined();
    expect(memo.get(row, 'a')?.value).toBe('A');
  });

  it('counts an entry once, however often it is set', () => {
    const row = operations.readTestSpec;
    const memo = createAnswerMemo([row], 10);
    memo.set(row, 'a', 'A', 6);
    memo.set(row, 'a', 'A', 6);
    memo.set(row, 'b', 'B', 4);
    expect(memo.get(row, 'a')?.value).toBe('A');
  });
});
