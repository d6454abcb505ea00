import { describe, expect, it } from 'vitest';
import { withPart } from './page-part.ts';

const marked = (part: string, text: string): string =>
  `<!-- begin of ${part}: written by npm run docs -->\n<!-- prettier-ignore-start -->\n${text}<!-- prettier-ignore-end -->\n<!-- end of ${part} -->`;

describe('withPart', () => {
  it('replaces what is between the marks of the part, and nothing else', () => {
    const page = `# Page\n\n${marked('codes', '\nold\n')}\n\n${marked('fields', '\nkept\n')}\n`;
    expect(withPart(page, 'codes', 'new')).toBe(page.replace('old', 'new'));
  });

  it.each([
    ['no marks', '# Page'],
    ['no end', marked('codes', '').replace('<!-- end of codes -->', '')],
    ['the marks of another part alone', marked('fields', '')],
    ['the marks twice', `${marked('codes', '')}\n${marked('codes', '')}`],
  ])('refuses a page with %s', (_, page) => {
    expect(() => withPart(page, 'codes', 'new')).toThrow(/begin of codes/);
  });
});
