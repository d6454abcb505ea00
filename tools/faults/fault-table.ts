import { renderTable } from '../terminal/table.ts';

/** A test of a walk, as the test runner reports it. */
interface Cell {
  readonly ancestorTitles: readonly string[];
  /** For a call to an owner: `FLOW ANSWER: METHOD OPERATION FAULT [RULES]`. */
  readonly title: string;
  readonly status: string;
  readonly failureMessages?: readonly string[] | null | undefined;
}

/**
 * Returns the lines of a table with a row per flow or store: how many cells were tried, their answers by status, and how many differ; then every
 * difference with the first line of its failure. Cells that were not run do not count.
 */
export function faultTable(cells: readonly Cell[]): {
  readonly lines: readonly string[];
  readonly tried: number;
  readonly differences: number;
} {
  const run = cells.filter(({ status }) => status === 'passed' || status === 'failed');
  const rows = Map.groupBy(run, ({ ancestorTitles, title }) => ancestorTitles.join(', ') || title);
  const failed = run.filter(({ status }) => status === 'failed');
  const table = [
    ['under fault', 'cells', 'differ', 'answers'],
    ...[...rows].map(([name, ofRow]) => [
      name,
      String(ofRow.length),
      String(ofRow.filter(({ status }) => status === 'failed').length),
      answersOf(name, ofRow),
    ]),
    ['all', String(run.length), String(failed.length), ''],
  ];
  const lines = renderTable(table).split('\n');
  const differences = failed.flatMap(({ ancestorTitles, title, failureMessages }) => [
    `  ${[...ancestorTitles, title].join(' > ')}`,
    `    ${(failureMessages?.[0] ?? '').split('\n')[0] ?? ''}`,
  ]);
  const lists = differences.length === 0 ? [] : ['', 'Differences:', ...differences];
  return { lines: [...lines, ...lists], tried: run.length, differences: failed.length };
}

/** How many cells expect each status, such as `200 × 12, 503 × 40`. */
function answersOf(name: string, cells: readonly Cell[]): string {
  const statuses = cells.flatMap(({ title }) =>
    title.startsWith(`${name} `) ? [/^\d{3}\b/.exec(title.slice(name.length + 1))?.[0] ?? ''] : [],
  );
  const counts = Map.groupBy(
    statuses.filter((status) => status !== ''),
    (status) => status,
  );
  return [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([status, { length }]) => `${status} × ${length}`)
    .join(', ');
}
