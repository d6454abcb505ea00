import { plainText } from '#tools/terminal/plain-text.ts';

/** Not exported: no other file can write an object that passes as markup, and JSON cannot either. */
const html = Symbol('html');

/** Text that is already HTML. Only this file creates it, so that nothing gets into a page unescaped. */
export interface Markup {
  readonly [html]: string;
}

type Insert = string | number | Markup | readonly Markup[] | undefined;

/**
 * Returns HTML with inserted values: strings and numbers are escaped, markup is inserted unchanged (one line per element of a list), undefined is
 * empty. A value may be text or, in quotes, the value of an attribute; it may not be within `style`.
 */
export function markup(texts: TemplateStringsArray, ...values: readonly Insert[]): Markup {
  return { [html]: texts.map((text, n) => text + rendered(values[n])).join('') };
}

/**
 * Returns a style sheet unchanged, for the content of `style`.
 * @throws TypeError for a text that would end the element
 */
export function styleSheet(css: string): Markup {
  if (css.includes('</')) throw new TypeError('a style sheet that ends its own element');
  return { [html]: css };
}

/** Returns the content of a file. */
export function htmlOf(page: Markup): string {
  return page[html];
}

function rendered(value: Insert): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escaped(value);
  return html in value ? value[html] : value.map(htmlOf).join('\n');
}

/** The members that `elementMarkup` reads of a DOM node. */
export interface ElementLike {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<ElementLike>;
}

const TEXT_NODE = 3;

/**
 * Returns a DOM element, or a text, as markup. It escapes texts and values itself, independently of the DOM; coordinates keep a hundredth of a pixel.
 * @throws TypeError for an invalid name of an element or attribute, or one that could run a script
 */
export function elementMarkup({
  nodeName,
  nodeType,
  textContent,
  attributes,
  childNodes,
}: ElementLike): Markup {
  if (nodeType === TEXT_NODE) return markup`${textContent ?? ''}`;
  const inserted = [...attributes].map(
    ({ name, value }) => ` ${plainName(name)}="${escaped(rounded(value))}"`,
  );
  const children = [...childNodes].map((child) => elementMarkup(child)[html]);
  const name = plainName(nodeName);
  return { [html]: `<${name}${inserted.join('')}>${children.join('')}</${name}>` };
}

function plainName(name: string): string {
  if (!/^(?!on|script$)[a-z][a-z0-9-]*$/i.test(name)) throw new TypeError(`not a plain name: ${name}`);
  return name;
}

function rounded(value: string): string {
  return value.replace(/-?\d+\.\d{3,}(?:e-\d+)?/g, (number) =>
    String(Math.round(Number(number) * 100) / 100 + 0),
  );
}

/** Escapes a text, including characters that would change the writing direction or are not allowed in HTML. */
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
 * Returns a table that scrolls by itself if it is too wide: its caption names it to readers with a keyboard or a screen reader. The first column
 * heads its rows. Text is aligned to the left, figures to the right.
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
