import { plainText } from '#tools/terminal/plain-text.ts';

/** Not exported: no other file can write an object that passes as markup, and none that was read as JSON does. */
const html = Symbol('html');

/** Text that is HTML already. Only `markup` makes it, so that nothing gets into a page unescaped. */
export interface Markup {
  readonly [html]: string;
}

type Insert = string | number | Markup | readonly Markup[] | undefined;

/**
 * HTML with values put in: strings and numbers are escaped, markup is taken as it is (several on a line each), undefined is nothing.
 * Values stand for text or, in quotes, for the value of an attribute; not within `style`.
 */
export function markup(texts: TemplateStringsArray, ...values: readonly Insert[]): Markup {
  return { [html]: texts.map((text, n) => text + rendered(values[n])).join('') };
}

/** What a file is to hold. */
export function htmlOf(page: Markup): string {
  return page[html];
}

function rendered(value: Insert): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escaped(value);
  return html in value ? value[html] : value.map(htmlOf).join('\n');
}

/** Also what would turn the writing around or is no character of HTML. */
function escaped(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A column by its head: figures, or text. */
export type Column = string | { readonly text: string };

/**
 * A table that scrolls by itself where it is too wide: its caption names it to whoever comes to it by keyboard or by ear. The first column
 * heads its rows. Text is put to the left, figures to the right.
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (string | Markup)[])[],
): Markup {
  const isText = columns.map((column) => typeof column !== 'string');
  const side = (n: number): string => (n === 0 || isText[n] === true ? 'text' : 'number');
  return markup`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption>
<thead><tr>${columns.map((column, n) => markup`<th scope="col" class="${side(n)}">${typeof column === 'string' ? column : column.text}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      markup`<tr>${row.map((cell, n) => (n === 0 ? markup`<th scope="row">${cell}</th>` : markup`<td class="${side(n)}">${cell}</td>`))}</tr>`,
  )}</tbody></table></div>`;
}
