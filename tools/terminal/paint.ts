import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** No ANSI code ever leaves this one. */
export const plain: Paint = (_style, text) => text;

/** Colours for a stream that is a terminal, unless `NO_COLOR` (no-color.org) or `TERM=dumb` forbids them. */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Paint {
  const refused = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  if (stream.isTTY !== true || refused) return plain;
  return (style, text) => styleText(style, text, { validateStream: false });
}
