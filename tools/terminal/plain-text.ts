/** Makes foreign text safe for a terminal: what would control it, break the line or reverse the writing is replaced. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}
