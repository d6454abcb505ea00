import type { Section, Table } from './document.ts';
import type { Speaker } from './speaker.ts';

type Json = unknown;

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: Json): value is readonly Readonly<Record<string, Json>>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** How many simple values of a list fit into one cell. */
const MOST_IN_CELL = 20;

/**
 * Returns an answer as it came: its members as one table, and each of its lists as a table of its own. Values are as in the JSON; only a text that is
 * no JSON itself has no quotes.
 */
export function auditSections(speaker: Speaker, answer: object): readonly Section[] {
  const { texts } = speaker;
  const members: [path: string, value: string][] = [];
  const tables: Table[] = [];
  const visit = (value: Json, path: string): void => {
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [name, member] of Object.entries(value))
        visit(member, path === '' ? name : `${path}.${name}`);
    } else if (isList(value)) {
      tables.push(tableOf(speaker, path, value));
    } else if (Array.isArray(value) && value.length > MOST_IN_CELL) {
      const { value: column } = texts.columns;
      const rows = value.map((one: Json) => ({ [column]: one }));
      tables.push(tableOf(speaker, path, rows));
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

function tableOf(speaker: Speaker, caption: string, rows: readonly Readonly<Record<string, Json>>[]): Table {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return {
    caption,
    columns,
    rows: rows.map((row) => columns.map((column) => ({ text: textOf(speaker, row[column]) }))),
  };
}

function textOf({ texts }: Speaker, value: Json): string {
  if (value === undefined) return texts.absent;
  if (isList(value)) return texts.countOf(value.length);
  return typeof value === 'string' && !isJson(value) ? value : JSON.stringify(value);
}

/** Returns whether a text without quotes would be read as another value. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text.trim() === '';
  }
}
