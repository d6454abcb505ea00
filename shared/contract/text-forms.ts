import * as z from 'zod';

/**
 * White space of Unicode, including U+0085, and of JavaScript, which adds U+FEFF, as part of a character class. Code points are written out, since
 * `\s` differs between the languages of clients.
 */
export const WHITE_SPACE = String.raw`\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * Returns the schema of a text of a form and of 1 to `maxBytes` bytes of UTF-8, which text that is not well-formed UTF-16 does not have. JSON
 * Schema counts only characters: the documents have an extension for the bytes.
 */
export function boundedText(form: RegExp, maxBytes: number, said: string): z.ZodString {
  return z
    .string()
    .refine(
      (text) =>
        text.length <= maxBytes &&
        form.test(text) &&
        text.isWellFormed() &&
        Buffer.byteLength(text) <= maxBytes,
      said,
    )
    .meta({ minLength: 1, maxLength: maxBytes, pattern: form.source, 'x-max-bytes': maxBytes });
}
