import { plainText } from '#tools/terminal/plain-text.ts';
import type { Paint } from '#tools/terminal/paint.ts';

/** A name, or a value at the end of a line, as `JSON.stringify` writes them one per line. */
const token = /^(\s*)("(?:[^"\\]|\\.)*")(: )|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null)/g;

/** Returns a JSON value on indented lines, with its names and values in colours. */
export function renderJson(value: unknown, paint: Paint): string {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) =>
      plainText(line).replace(
        token,
        (
          whole,
          indent?: string,
          name?: string,
          colon?: string,
          string?: string,
          number?: string,
          literal?: string,
        ) => {
          if (name !== undefined) return `${indent ?? ''}${paint('cyan', name)}${colon ?? ''}`;
          if (string !== undefined) return paint('green', string);
          if (number !== undefined) return paint('yellow', number);
          return literal === undefined ? whole : paint('magenta', literal);
        },
      ),
    )
    .join('\n');
}
