/** RFC 9110 section 8.8.3: a quoted opaque tag without `W/`. */
export const STRONG_ENTITY_TAG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;

/** Returns whether the text is exactly one strong entity tag. */
export function isStrongEntityTag(text: string): boolean {
  return STRONG_ENTITY_TAG.test(text);
}

/** Quotes an opaque value as a strong entity tag. */
export function strongEntityTag(opaque: string): string {
  return `"${opaque}"`;
}
