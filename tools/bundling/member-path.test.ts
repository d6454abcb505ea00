import { describe, expect, it } from 'vitest';
import { search } from './member-path.ts';

describe('search', () => {
  it('finds a member by its name, and null where JMESPath would', () => {
    expect(search('key', { key: ['tenant', 'POST'] })).toStrictEqual(['tenant', 'POST']);
    expect(search('hash', { key: 'k' })).toBeNull();
    expect(search('key', null)).toBeNull();
    expect(search('key', 'text')).toBeNull();
  });

  it.each(['', 'a.b', 'a[0]', 'powertools_json(body)', '@', '"quoted"', 'a-b'])(
    'refuses %j rather than evaluate it otherwise',
    (expression) => {
      expect(() => search(expression, { a: { b: 1 } })).toThrow(TypeError);
    },
  );
});
