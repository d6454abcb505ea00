import { describe, expect, it } from 'vitest';
import { createRecent } from './recent.ts';

describe('createRecent', () => {
  it('forgets what was used longest ago, and counts reading as use', () => {
    const recent = createRecent<number>(2);
    recent.set('a', 1);
    recent.set('b', 2);
    expect(recent.get('a')).toBe(1);
    recent.set('c', 3);
    expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([1, undefined, 3]);
  });

  it('holds one value a key, however often it is set', () => {
    const recent = createRecent<number>(2);
    for (const value of [1, 2, 3]) recent.set('a', value);
    recent.set('b', 4);
    expect([recent.get('a'), recent.get('b')]).toEqual([3, 4]);
  });
});
