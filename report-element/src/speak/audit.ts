import type { Section, Table } from './document.ts';
import type { Speaker } from './speaker.ts';

/** The most rows of one list, and of the texts of one value, that the layer shows. */
const MOST_ROWS = 200;

type Json = unknown;

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an answer as it came: its members as one table, and each of its lists as a table of its own. */
export function auditSections(speaker: Speaker, answer: object): readonly Section[] {
  const { texts } = speaker;
  const members: [path: string, value: string][] = [];
  const tables: Table[] = [];
  const visit = (value: Json, path: string): void => {
    if (isObject(value)) {
      for (const [name, member] of Object.entries(value))
        visit(member, path === '' ? name : `${path}.${name}`);
    } else if (Array.isArray(value) && value.some(isObject)) {
      tables.push(tableOf(speaker, path, value.filter(isObject)));
    } else members.push([path, textOf(speaker, value)]);
  };
  visit(answer, '');
  const { member, value } = texts.columns;
  return [
    {
      heading: texts.members,
      blocks: [
        {
          kind: 'table',
          table: {
            caption: texts.members,
            columns: [member, value],
            rows: members.map((row) => row.map((text) => ({ text }))),
          },
        },
      ],
    },
    ...tables.map((table) => ({ heading: table.caption, blocks: [{ kind: 'table' as const, table }] })),
  ];
}

function tableOf(speaker: Speaker, path: string, rows: readonly Readonly<Record<string, Json>>[]): Table {
  const shown = rows.slice(0, MOST_ROWS);
  const columns = [...new Set(shown.flatMap(Object.keys))];
  const count = rows.length > shown.length ? ` (${shown.length} / ${rows.length})` : '';
  return {
    caption: `${path}${count}`,
    columns,
    rows: shown.map((row) => columns.map((column) => ({ text: textOf(speaker, row[column]) }))),
  };
}

function textOf({ texts, number }: Speaker, value: Json): string {
  if (Array.isArray(value))
    return value.some((member) => typeof member === 'object')
      ? texts.countOf(value.length)
      : value.slice(0, MOST_ROWS).join(', ');
  if (typeof value === 'number') return number(value);
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
