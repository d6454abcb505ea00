import * as z from 'zod';

const upperCase = z.iso.datetime({ offset: true });
/** The longest text checked: far more than any fraction of a second needs. */
const MAX_LENGTH = 100;

/**
 * Returns whether a text is an existing RFC 3339 date-time, with any offset: the format `date-time` of JSON Schema. A leap second is valid only at
 * the end of a UTC day. (Instants of the services themselves are narrower: always UTC.)
 */
export function isDateTime(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const stated = text.toUpperCase();
  const ordinary = stated.replace(/:60(?=[.Z+-])/, ':59');
  if (!upperCase.safeParse(ordinary).success) return false;
  const time = new Date(ordinary);
  return ordinary === stated || (time.getUTCHours() === 23 && time.getUTCMinutes() === 59);
}
