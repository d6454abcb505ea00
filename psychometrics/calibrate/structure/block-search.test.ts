import { describe, expect, it } from 'vitest';
import { bestOf } from './block-search.ts';

const formed = (form: 'hierarchy' | 'strand' | 'saturated', after: number) => ({
  form: { form, kcs: [0, 1, 2], required: form === 'hierarchy' ? [0, 1, 3] : [0, 0, 0] },
  after,
});

describe('the form of a block', () => {
  const given = formed('hierarchy', 100);
  const close = formed('strand', 109);
  const better = formed('strand', 111);
  const proposed = formed('hierarchy', 104);
  it.each([
    ['is the best of those that are shown', [close], undefined, close],
    ['is given prerequisites, unless the evidence against them is strong', [close, given], given, given],
    ['is another one by strong evidence', [better, given], given, better],
    ['is the prerequisites given rather than similar ones', [proposed, given], given, given],
    ['is proposed prerequisites rather than what imitates them', [close, proposed], undefined, proposed],
    ['is not prerequisites that are not shown', [close], given, close],
    ['is none if none is shown', [], given, undefined],
  ])('%s', (_, shown, from, expected) => {
    expect(bestOf(shown, from)).toBe(expected);
  });
});
