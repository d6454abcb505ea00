import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '#tools/terminal/plain-text.ts';
import { htmlOf, markup, table, type Markup } from './markup.ts';

/** What a browser makes of the entities that are written. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

describe('markup', () => {
  it('takes any text as text, in elements and in attributes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[<>"'&;a-z#39\n\u202E]*$/)),
        (text) => {
          const [, inside = '', value] = /^<b title="(.*)">(.*)<\/b>$/.exec(
            htmlOf(markup`<b title="${text}">${text}</b>`),
          )!;
          expect(value).toBe(inside);
          expect(inside).not.toMatch(/[<>"']/);
          expect(unescaped(inside)).toBe(plainText(text));
        },
      ),
    );
  });

  it('takes markup as it is, several on a line each, and nothing for undefined', () => {
    const parts = [markup`<i>${1}</i>`, markup`<i>${'&'}</i>`];
    expect(htmlOf(markup`<p>${parts}${undefined}${markup`<br>`}</p>`)).toBe(
      '<p><i>1</i>\n<i>&amp;</i><br></p>',
    );
  });

  it('takes no object for markup that it did not make', () => {
    const forged = JSON.parse('{"html":"<script>","Symbol(html)":"<script>"}') as Markup;
    expect(() => markup`<p>${forged}</p>`).toThrow(TypeError);
  });
});

describe('a table', () => {
  it('is named, scrolls by keyboard, and tells heads of rows and columns, text and figures', () => {
    const made = table(
      'Heights & "widths"',
      ['item', 'height', { text: 'remark' }],
      [['<a>', '1.5', markup`<b>tall</b>`]],
    );
    expect(htmlOf(made).replaceAll('\n', '')).toBe(
      '<div class="scroll" role="region" aria-label="Heights &amp; &quot;widths&quot;" tabindex="0"><table>' +
        '<caption>Heights &amp; &quot;widths&quot;</caption>' +
        '<thead><tr><th scope="col" class="text">item</th><th scope="col" class="number">height</th><th scope="col" class="text">remark</th></tr></thead>' +
        '<tbody><tr><th scope="row">&lt;a&gt;</th><td class="number">1.5</td><td class="text"><b>tall</b></td></tr></tbody></table></div>',
    );
  });
});
