import { watches, type Watched } from '#shared/observability/watches.ts';
import { logCodes, type FieldKind, type LogCode } from '#shared/observability/log-codes.ts';

/** The table of docs/log-codes.md: one row per registered code, in the order of the registry. */
export function renderLogCodes(): string {
  return [
    '| Code | Level | Blames | Alarm | Meaning | Fields |',
    '| --- | --- | --- | --- | --- | --- |',
    ...Object.entries<LogCode>(logCodes).map(
      ([code, { level, always, blames = '–', meaning, fields }]) =>
        `| \`${code}\` | ${level}${always === true ? ', always' : ''} | ${blames} | ${alarmOf(code)} | ${meaning} | ${Object.entries(fields).map(fieldOf).join(', ') || '–'} |`,
    ),
    '',
  ].join('\n');
}

const watched: Readonly<Partial<Record<string, Watched>>> = watches;

/** Whom the alarm on the lines of a code calls, or why there is none; a code that blames no one is not counted. */
function alarmOf(code: string): string {
  const watch = watched[code];
  if (watch === undefined) return '–';
  return 'quiet' in watch ? `none: ${watch.quiet}` : `[${watch.severity}](runbook.md#${watch.section})`;
}

/** A field by its name; a list of names with the members of its entries. */
function fieldOf([name, kind]: readonly [string, FieldKind]): string {
  if (typeof kind === 'string') return `\`${name}\``;
  return `\`${name}\` (${kind.map((member) => `\`${member}\``).join(' ')})`;
}
