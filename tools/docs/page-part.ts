/** The lines between which a hand-written page holds a generated part. The formatter leaves the part as it is generated. */
function marksOf(part: string): readonly [begin: string, end: string] {
  return [
    `<!-- begin of ${part}: written by npm run docs -->\n<!-- prettier-ignore-start -->\n`,
    `<!-- prettier-ignore-end -->\n<!-- end of ${part} -->`,
  ];
}

/**
 * A hand-written page with one generated part replaced.
 * @throws {TypeError} when the page does not have the marks of the part, each once and in order
 */
export function withPart(page: string, part: string, text: string): string {
  const [begin, end] = marksOf(part);
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...others] = (rest ?? '').split(end);
  if (before === undefined || after === undefined || more.length + others.length > 0)
    throw new TypeError(`the page must have these lines once, in this order:\n${begin}${end}`);
  return `${before}${begin}\n${text}\n${end}${after}`;
}
