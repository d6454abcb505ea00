/** Cuts a text after this many UTF-16 units, with an ellipsis; never within a code point, since half of one has no UTF-8 form. */
export function cutAfter(text: string, units: number): string {
  return `${text.slice(0, units).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
