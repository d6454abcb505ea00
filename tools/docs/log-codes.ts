import { logCodes, type FieldKind, type LogCode } from '#shared/observability/log-codes.ts';

/** The table of docs/log-codes.md: one row per registered code, in the order of the registry. */
export function renderLogCodes(): string {
  return [
    '| Code | Level | Meaning | Fields |',
    '| --- | --- | --- | --- |',
    ...Object.entries<LogCode>(logCodes).map(
      ([code, { level, always, alarm, meaning, fields }]) =>
        `| \`${code}\` | ${level}${always === true ? ', always' : ''}${alarm === undefined ? '' : `, [alarm](runbook.md#${alarm.section})`} | ${meaning} | ${Object.entries(fields).map(fieldOf).join(', ') || '–'} |`,
    ),
    '',
  ].join('\n');
}

/** A field by its name; a list of names with the members of its entries. */
function fieldOf([name, kind]: readonly [string, FieldKind]): string {
  if (typeof kind === 'string') return `\`${name}\``;
  return `\`${name}\` (${kind.map((member) => `\`${member}\``).join(' ')})`;
}
