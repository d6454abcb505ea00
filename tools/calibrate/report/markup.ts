import { plainText } from '../../terminal/plain-text.ts';

/** Text that is HTML already. Only `markup` makes it, so that nothing from an input gets into a page unescaped. */
export interface Markup {
  readonly html: string;
}

type Insert = string | number | Markup | readonly Markup[] | undefined;

/** HTML with values put in: strings and numbers are escaped, markup is taken as it is, undefined is nothing. */
export function markup(texts: TemplateStringsArray, ...values: readonly Insert[]): Markup {
  return { html: texts.map((text, n) => text + rendered(values[n])).join('') };
}

function rendered(value: Insert): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escaped(value);
  return 'html' in value ? value.html : value.map(({ html }) => html).join('\n');
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

/** A figure to some decimals; a dash where there is none. */
export function figure(value: number | undefined, decimals = 3): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toFixed(decimals);
  // No "-0.000", and the minus of typography.
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** A p value: below a thousandth it says only that. */
export function pValue(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 0.001 ? '< 0.001' : figure(value);
}

/** A table: the first column heads its rows. Text is put to the left, figures to the right. */
export function table(
  caption: string,
  columns: readonly (string | { readonly text: string })[],
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
