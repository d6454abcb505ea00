import type * as z from 'zod';

/** What stands for bytes that were not UTF-8, behind the gateway. Of two requests that differ in such bytes, none may be taken for the other. */
const REPLACED = '\\uFFFD';

/**
 * A text of a request, without U+FFFD and without what an expression matches: in the check and, as `not`, in the documents.
 * @param more source of a regular expression that every language of clients has
 * @param said follows "must", in the message
 */
export function excluding<T extends z.ZodType<string>>(
  schema: T,
  said = 'not contain U+FFFD',
  more?: string,
): T {
  const pattern = more === undefined ? REPLACED : `${REPLACED}|${more}`;
  const excluded = new RegExp(pattern);
  return schema.refine((text) => !excluded.test(text), `must ${said}`).meta({ not: { pattern } });
}
