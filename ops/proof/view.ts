import { bar, column, columnsOf, fit, type LineSpace, type Segment } from '#tools/terminal/line.ts';
import { checkId, groups, sides, type Group, type Outcome } from './check.ts';
import type { ProofRun, Row } from './run-proof.ts';

/** What each group of checks tests, in its heading. */
const headings: Readonly<Record<Group, string>> = {
  routes: 'which routes are open',
  anonymous: 'no access without a valid token',
  matrix: 'three test kinds, three views',
  reads: 'each tenant reads its own data',
  run: 'an adaptive run with synthetic facts',
  denial: 'data of the other tenant is invisible',
  claims: 'data outside the resource claims is invisible',
  cache: 'no cached response reaches the other tenant',
  idempotency: 'one idempotency key, two tenants',
  trace: 'one trace, two tenants',
  cursor: 'a cursor of the other tenant',
  selector: 'only the token selects the tenant',
  isolation: 'over the whole run',
};

const marks: Readonly<Record<Outcome['result'], Segment>> = {
  passed: ['green', '✓'],
  failed: ['red', '✗'],
  not_open: ['dim', '–'],
  not_asked: ['yellow', '–'],
};

export function renderProgress(done: number, of: number, next: string | undefined, space: LineSpace): string {
  return fit(space, [
    ['cyan', bar(of === 0 ? 1 : done / of, 30)],
    ['none', ` ${done} of ${of}  `],
    ['dim', next ?? ''],
  ]);
}

/** Returns every check of a run: a block for each group, a line for each subject, a mark for each side; below, what failed and why. */
export function renderRun(run: ProofRun, space: LineSpace): readonly string[] {
  const width = Math.max(...run.rows.map(({ check }) => columnsOf(check.subject)));
  const blocks = groups.flatMap((group) => {
    const rows = run.rows.filter(({ check }) => check.group === group);
    return rows.length === 0 ? [] : [...groupLines(group, rows, width, space), ''];
  });
  const lines = [
    fit(space, [
      ['bold', `two-tenant proof of the ${run.service} service  `],
      ['none', run.target],
    ]),
    '',
    ...blocks,
    ...reasonLines(run.rows, space),
    ...failureLines(run.rows, space),
    ...(run.marks.length === 0
      ? []
      : [...run.marks.map((mark) => fit(space, [['yellow', `! rehearsal: ${mark}`]])), '']),
    countLine(run.rows, space),
  ];
  return lines.map((line) => line.trimEnd());
}

const SIDE_COLUMNS = 5;

function groupLines(group: Group, rows: readonly Row[], width: number, space: LineSpace): readonly string[] {
  const shown = sides.filter((side) => rows.some(({ check }) => check.side === side));
  const subjects = [...new Set(rows.map(({ check }) => check.subject))];
  const head = shown
    .map((side) => column(side === 'both' ? '' : side.replace('-', '→'), SIDE_COLUMNS))
    .join('');
  return [
    fit(space, [
      ['bold', column(group, width + 4)],
      ['dim', `${head} ${headings[group]}`],
    ]),
    ...subjects.map((subject) =>
      fit(space, [
        ['none', `  ${column(subject, width)}  `],
        ...shown.flatMap((side): readonly Segment[] => {
          const row = rows.find(({ check }) => check.subject === subject && check.side === side);
          return row === undefined
            ? [['none', ' '.repeat(SIDE_COLUMNS)]]
            : [marks[row.outcome.result], ['none', ' '.repeat(SIDE_COLUMNS - 1)]];
        }),
      ]),
    ),
  ];
}

function reasonLines(rows: readonly Row[], space: LineSpace): readonly string[] {
  const reasons = rows.flatMap(({ check, outcome }) =>
    outcome.result === 'not_asked' ? [[checkId(check), outcome.why] as const] : [],
  );
  const lines = reasons.map(([id, why]) =>
    fit(space, [
      ['yellow', '– '],
      ['none', `${id}: `],
      ['dim', why],
    ]),
  );
  return lines.length === 0 ? [] : [...lines, ''];
}

const SHOWN = 6;

function failureLines(rows: readonly Row[], space: LineSpace): readonly string[] {
  return rows.flatMap(({ check, outcome }) => {
    if (outcome.result !== 'failed') return [];
    const { findings } = outcome;
    const more = findings.length - SHOWN;
    return [
      fit(space, [
        ['red', '✗ '],
        ['bold', checkId(check)],
        ['dim', `  ${check.title}`],
      ]),
      fit(space, [['dim', `    requests: ${check.asked}`]]),
      ...findings.slice(0, SHOWN).map((finding) => fit(space, [['none', `    ${finding}`]])),
      ...(more > 0 ? [fit(space, [['dim', `    and ${more} more`]])] : []),
      '',
    ];
  });
}

function countLine(rows: readonly Row[], space: LineSpace): string {
  const of = (result: Outcome['result']): number =>
    rows.filter(({ outcome }) => outcome.result === result).length;
  const rest = (
    [
      ['not_open', 'routes not open'],
      ['not_asked', 'not run'],
    ] as const
  )
    .map(([result, words]) => [of(result), words] as const)
    .filter(([count]) => count > 0)
    .map(([count, words]) => `, ${count} ${words}`)
    .join('');
  return fit(space, [
    ['green', `${of('passed')} checks passed`],
    [of('failed') > 0 ? 'red' : 'none', of('failed') > 0 ? `, ${of('failed')} failed` : ''],
    ['dim', rest],
  ]);
}
