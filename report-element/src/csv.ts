import type { Table } from './speak/document.ts';

/** Returns a table as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvOf({ columns, rows }: Table): string {
  const field = (text: string): string => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [columns, ...rows.map((row) => row.map(({ text }) => text))];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}
