/** RFC 3339 UTC instants [MA-042]: terminal `Z`, optional fraction, no offset, no leap second, no lower case. */
const PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** Milliseconds since the epoch, or undefined when the text is not an instant that exists (February 30, second 60, an offset). */
export function parseInstant(text: string): number | undefined {
  if (!PATTERN.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  // Date.parse rolls February 30 and the hour 24 over: then the day does not come back as it went in. NaN has none.
  return new Date(milliseconds).getUTCDate() === Number(text.slice(8, 10)) ? milliseconds : undefined;
}

/**
 * The exact order of two instants, for sorting: negative when `a` is earlier, positive when it is later, 0 when both are the same instant,
 * however many zeros end their fractions. Nanoseconds count, which a number of milliseconds since the epoch cannot hold.
 * Throws on what parseInstant refuses.
 */
export function compareInstants(a: string, b: string): number {
  const [first, second] = [normalizeInstant(a), normalizeInstant(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * The one spelling of an instant: all nine fractional digits, so that equal texts are equal instants and texts stand in the order of time.
 * Throws on what parseInstant refuses.
 */
export function normalizeInstant(text: string): string {
  if (parseInstant(text) === undefined) throw new TypeError('normalizeInstant: not an instant');
  return `${text.slice(0, 19)}.${text.slice(20, -1).padEnd(9, '0')}Z`;
}

/** The instant as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
