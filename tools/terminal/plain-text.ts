/** Somebody else's text for a terminal: what would steer it, break the line or turn the writing around is replaced. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}
