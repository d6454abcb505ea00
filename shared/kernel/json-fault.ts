import { parse } from '@humanwhocodes/momoa';

/**
 * Returns where a text that JSON.parse rejects stops being JSON, as the end of a sentence: line, column and the character there; a character that
 * could control a terminal is named by its code.
 */
export function faultIn(text: string): string {
  try {
    parse(text, { mode: 'json' });
    return ': a string has a line break or another control character';
  } catch (error) {
    // An error that exhausts the parser's stack has no place.
    if (!(error instanceof Error && 'offset' in error)) return ', and nested deeper than 64 levels';
    const { line, column, offset } = error as Error & Record<'line' | 'column' | 'offset', number>;
    const code = text.codePointAt(offset);
    if (code === undefined) return ' to its end: it is cut off';
    const shown =
      code > 0x20 && code < 0x7f
        ? String.fromCodePoint(code)
        : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    return ` at line ${line}, column ${column}: unexpected ${shown}`;
  }
}
