import type { Table } from './speak/document.ts';

/** Returns a table as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvOf({ columns, rows }: Table): string {
  const field = (text: string): string => {
    // A spreadsheet may split at semicolons and tabs too.
    const safe = text.replaceAll(/(^|[;,\t\r\n])(\s*[=+\-@\t\r＝＋－＠])/g, "$1'$2");
    return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [columns, ...rows.map((row) => row.map(({ text }) => text))];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}
