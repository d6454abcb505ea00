import { invariantTables } from '#shared/contract/reports/invariants/tables.ts';

/** The tables of docs/invariants.md: one per kind of answer, a row per invariant, in the order in which they are checked. */
export function renderInvariants(): string {
  return Object.entries(invariantTables)
    .flatMap(([title, table]) => [
      `## ${title}`,
      '',
      '| Id | What is wrong | Whom to ask | What is allowed |',
      '| --- | --- | --- | --- |',
      ...Object.entries(table).map(
        ([id, { broken, owner, allows }]) => `| \`${id}\` | ${broken} | \`${owner}\` | ${allows} |`,
      ),
      '',
    ])
    .join('\n');
}
