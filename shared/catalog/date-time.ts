const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
/** Far more than any fraction of a second needs. */
const MAX_LENGTH = 100;

/**
 * Whether a text is an RFC 3339 date-time that exists, with any offset: the format `date-time` of JSON Schema. A leap second stands at the
 * end of a UTC day only. (Instants of the services themselves are narrower: always UTC.)
 */
export function isDateTime(text: string): boolean {
  const parts = text.length > MAX_LENGTH ? null : DATE_TIME.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const [offsetHour, offsetMinute] = [Number(parts[8] ?? 0), Number(parts[9] ?? 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (parts[7] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const minuteOfDay = (hour * 60 + minute - offset + 2 * 1440) % 1440;
  return minuteOfDay === 1439;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
