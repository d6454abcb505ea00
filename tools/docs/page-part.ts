/**
 * Replaces one generated part of a hand-written page. The marks around it keep the formatter away.
 * @throws {TypeError} when the page does not have the marks of the part, each once and in order
 */
export function withPart(page: string, part: string, text: string): string {
  const [begin, end] = [
    `<!-- begin of ${part}: written by npm run docs -->\n<!-- prettier-ignore-start -->\n`,
    `<!-- prettier-ignore-end -->\n<!-- end of ${part} -->`,
  ];
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...others] = (rest ?? '').split(end);
  if (before === undefined || after === undefined || more.length + others.length > 0)
    throw new TypeError(`the page must have these lines once, in this order:\n${begin}${end}`);
  return `${before}${begin}\n${text}\n${end}${after}`;
}
