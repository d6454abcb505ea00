/** RFC 3339 UTC instants [MA-042]: terminal `Z`, optional fraction, no offset, no leap second, no lower case. */
const PATTERN = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;

/** Milliseconds since the epoch, or undefined when the text is not an instant that exists (February 30, second 60, an offset). */
export function parseInstant(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) return undefined;
  // Date.parse rolls February 30 over into March: the parts must come back as they went in.
  return new Date(milliseconds).toISOString().slice(0, 19) === text.slice(0, 19) ? milliseconds : undefined;
}

/**
 * The exact order of two instants, for sorting: negative when `a` is earlier, positive when it is later, 0 when both are the same instant,
 * however many zeros end their fractions. Nanoseconds count, which a number of milliseconds since the epoch cannot hold.
 * Throws on what parseInstant refuses.
 */
export function compareInstants(a: string, b: string): number {
  const [first, second] = [ordinal(a), ordinal(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** All digits of an instant at fixed places, so that texts stand in the order of time. */
function ordinal(text: string): string {
  if (parseInstant(text) === undefined) throw new TypeError('compareInstants: not an instant');
  return `${text.slice(0, 19)}.${text.slice(20, -1).padEnd(9, '0')}`;
}

/** The instant as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
