import type * as z from 'zod';

/**
 * Returns the schema of a text in a request, without what an expression matches; the documents show it as `not`. It always excludes U+FFFD, by
 * which the gateway replaces bytes that are not UTF-8: two requests that differ in such bytes must not become one.
 * @param more source of a regular expression that every language of clients has
 */
export function excluding<T extends z.ZodType<string>>(
  schema: T,
  said = 'must not contain U+FFFD',
  ...more: readonly string[]
): T {
  const excluded = new RegExp(['\\uFFFD', ...more].join('|'));
  return schema.refine((text) => !excluded.test(text), said).meta({ not: { pattern: excluded.source } });
}
