/** RFC 3339 UTC instants [MA-042]: `Z` or `+00:00`, a fraction of any length, no other offset, no leap second, no lower case. */
const PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)$/;

/**
 * Milliseconds since the epoch, finer digits cut off, or undefined when the text is not an instant with a terminal `Z` that exists
 * (February 30, second 60, an offset).
 */
export function parseInstant(text: string): number | undefined {
  return text.endsWith('Z') ? parseUtcInstant(text) : undefined;
}

/** The same for a UTC instant that may also end in `+00:00`, as the owners of the mastery engine's data write it. */
export function parseUtcInstant(text: string): number | undefined {
  if (!PATTERN.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  // Date.parse rolls February 30 and the hour 24 over: then the day does not come back as it went in. NaN has none.
  return new Date(milliseconds).getUTCDate() === Number(text.slice(8, 10)) ? milliseconds : undefined;
}

/**
 * The exact order of two instants, for sorting: negative when `a` is earlier, positive when it is later, 0 when both are the same instant,
 * however it is written. Every digit counts, of which a number of milliseconds since the epoch holds three.
 * Throws on what parseUtcInstant refuses.
 */
export function compareInstants(a: string, b: string): number {
  // Without its `Z`, the shorter of two fractions that begin alike is the earlier text.
  const [first, second] = [normalizeInstant(a).slice(0, -1), normalizeInstant(b).slice(0, -1)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * The one spelling of an instant, so that equal texts are equal instants: with a terminal `Z`, nine fractional digits, and further ones as
 * far as they are not zeros at the end. Throws on what parseUtcInstant refuses.
 */
export function normalizeInstant(text: string): string {
  if (parseUtcInstant(text) === undefined) throw new TypeError('normalizeInstant: not an instant');
  const digits = /\.(\d+)/.exec(text)?.[1] ?? '';
  const further = digits.slice(9).replace(/0+$/, '');
  return `${text.slice(0, 19)}.${digits.slice(0, 9).padEnd(9, '0')}${further}Z`;
}

/** The instant as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
