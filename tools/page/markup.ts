import { plainText } from '#tools/terminal/plain-text.ts';

/** Not exported: no other file can write an object that passes as markup, and none that was read as JSON does. */
const html = Symbol('html');

/** Text that is HTML already. Only this file makes it, so that nothing gets into a page unescaped. */
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

/**
 * A style sheet as it is, for the content of `style`.
 * @throws TypeError for one that would end the element
 */
export function styleSheet(css: string): Markup {
  if (css.includes('</')) throw new TypeError('a style sheet that ends its own element');
  return { [html]: css };
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

/** What `elementMarkup` reads of a DOM node. */
export interface ElementLike {
  readonly nodeName: string;
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly childNodes: Iterable<ElementLike>;
}

const TEXT_NODE = 3;

/**
 * A DOM element, or a text, as markup. Texts and values are escaped here, whatever the DOM would do; coordinates keep a hundredth of a pixel.
 * @throws TypeError for a name of an element or attribute that is none, or that could run a script
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
