/** An existing day: in long months, short months, February, and February 29 in leap years. */
const DAY =
  '(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)';
const TIME = String.raw`(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?`;

/** RFC 3339 instants that end in `Z` [MA-042]: any fraction, no offset, no leap second, no lower case. The documents publish this pattern. */
export const INSTANT = new RegExp(`^${DAY}T${TIME}Z$`);
const UTC_INSTANT = new RegExp(`^${DAY}T${TIME}(?:Z|\\+00:00)$`);

/** Returns epoch milliseconds, finer digits cut off; undefined if no instant in `Z` exists with this text (February 30, second 60, an offset). */
export function parseInstant(text: string): number | undefined {
  return INSTANT.test(text) ? Date.parse(text) : undefined;
}

/** Does the same for a UTC instant that may also end in `+00:00`, as the owners of the mastery engine's data write it. */
export function parseUtcInstant(text: string): number | undefined {
  return UTC_INSTANT.test(text) ? Date.parse(text) : undefined;
}

/**
 * Returns the exact order of two instants, for sorting: negative if `a` is earlier, positive if it is later, 0 if both are the same instant in any
 * spelling. Every digit counts, of which a number of milliseconds keeps three. Throws for a text that parseUtcInstant rejects.
 */
export function compareInstants(a: string, b: string): number {
  // Without the `Z`, the shorter of two fractions with the same beginning is the earlier text.
  const [first, second] = [normalizeInstant(a).slice(0, -1), normalizeInstant(b).slice(0, -1)];
  return first < second ? -1 : Number(first > second);
}

/**
 * Returns the canonical spelling of an instant, so that equal texts are equal instants: with a final `Z`, nine fractional digits, and further ones up
 * to the last that is not zero. Throws for a text that parseUtcInstant rejects.
 */
export function normalizeInstant(text: string): string {
  if (parseUtcInstant(text) === undefined) throw new TypeError('normalizeInstant: not an instant');
  const digits = /\.(\d+)/.exec(text)?.[1] ?? '';
  const further = digits.slice(9).replace(/0+$/, '');
  return `${text.slice(0, 19)}.${digits.slice(0, 9).padEnd(9, '0')}${further}Z`;
}

/** Returns the instant as `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
