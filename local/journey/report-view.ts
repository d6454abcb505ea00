import type { AttemptReport, MasteryRow } from '#client/index.ts';
import { column, columnsOf, fit, gauge } from '#tools/terminal/line.ts';
import type { LineSpace, Segment, Style } from '#tools/terminal/line.ts';
import {
  isProbability,
  knownState,
  rowsByNeed,
  rowStates,
  type RowState,
} from '#report-element/speak/rows.ts';

/** What the seed calls things that a report names by id; undefined where it does not know them. */
export interface ReportNames {
  /** By CASE GUID. */
  readonly component: (caseGuid: string) => string | undefined;
  /** By QTI identifier. */
  readonly item: (qtiItemId: string) => string | undefined;
}

const stateStyles: Readonly<Record<string, Style>> = {
  gap: 'red',
  not_yet: 'dim',
  insufficient_evidence: 'dim',
  unknown: 'dim',
  mastered: 'green',
} satisfies Record<RowState, Style>;

function styleOf(state: string): Style {
  return stateStyles[state] ?? 'dim';
}

export function nameOf({ kind, caseGuid }: MasteryRow, names: ReportNames): string {
  return names.component(caseGuid) ?? `${kind} ${caseGuid}`;
}

/** Returns a report without its evidence, one string per line. */
export function renderReport(report: AttemptReport, names: ReportNames, space: LineSpace): readonly string[] {
  return [
    ...headLines(report, space),
    '',
    ...masteryLines(report, names, space),
    '',
    ...sourceLines(report, space),
    '',
    ...incompleteLines(report, space),
    factLine(space, 'left out', report.omitted.length === 0 ? 'nothing' : report.omitted.join(', ')),
  ];
}

const FACT_COLUMNS = 16;

/** Renders a named fact; text without a style is plain. */
export function factLine(space: LineSpace, name: string, ...segments: readonly (string | Segment)[]): string {
  return fit(space, [
    ['dim', `${column(name, FACT_COLUMNS - 1)} `],
    ...segments.map((segment): Segment => (typeof segment === 'string' ? ['none', segment] : segment)),
  ]);
}

function headLines(report: AttemptReport, space: LineSpace): readonly string[] {
  const { diagnostic, score } = report;
  const scale = score.scaleVersion === null ? ` ${score.unit}` : ` (scale ${score.scaleVersion})`;
  return [
    fit(space, [
      ['bold', 'attempt report'],
      ['none', `  ${report.testKind}, `],
      [report.status === 'scored' ? 'none' : 'yellow', report.status],
    ]),
    factLine(space, 'attempt', report.attemptId),
    factLine(space, 'results record', report.resultRecordId),
    factLine(space, 'student', report.candidateSourcedId),
    factLine(space, 'score', ['bold', scoreText(report)], scale),
    ...(diagnostic === null
      ? []
      : [
          scaleLine(diagnostic.scaleScore, diagnostic.standardError, score, space),
          factLine(space, 'calibration', diagnostic.calibrationVersion),
          factLine(
            space,
            'stopped',
            `${diagnostic.stoppingReason}, after ${counted(diagnostic.administeredItemCount, 'item')}`,
          ),
        ]),
  ];
}

function scoreText({ score, diagnostic }: AttemptReport): string {
  return diagnostic === null
    ? score.value.toFixed(1)
    : `${diagnostic.scaleScore.toFixed(1)} ± ${diagnostic.standardError.toFixed(1)}`;
}

/** Returns the score with one standard error to both sides, on the scale's own bounds or on four errors around it. */
function scaleLine(
  value: number,
  error: number,
  { minimum, maximum }: AttemptReport['score'],
  space: LineSpace,
): string {
  const axis = { low: minimum ?? value - 4 * error, high: maximum ?? value + 4 * error };
  const ends = [`${axis.low.toFixed(0)} `, ` ${axis.high.toFixed(0)}`] as const;
  const width = Math.min(50, space.width - FACT_COLUMNS - ends.join('').length);
  return factLine(space, '', ['dim', ends[0]], ...gauge(axis, width, { value, error }, 'cyan'), [
    'dim',
    ends[1],
  ]);
}

const ESTIMATE = '0.000 ± 0.000';
const FIGURES = `  ${ESTIMATE}  0.000  00 items`;
const MAX_GAUGE = 40;

function masteryLines(report: AttemptReport, names: ReportNames, space: LineSpace): readonly string[] {
  const rows = rowsByNeed(report);
  if (rows.length === 0)
    return [fit(space, [['dim', 'this attempt has no evidence of any knowledge component']])];
  const longest = Math.max(...rows.map((row) => columnsOf(nameOf(row, names))));
  const room = space.width - FIGURES.length;
  const shared = Math.min(longest + 4, Math.max(room - MAX_GAUGE, Math.floor(space.width * 0.4)));
  // A gauge without room for its three marks is useless.
  const gaugeWidth = room - shared < 8 ? 0 : Math.min(MAX_GAUGE, room - shared);
  const labelWidth = gaugeWidth === 0 ? Math.max(8, Math.min(longest + 4, room)) : shared;
  const ends = rows.flatMap(({ estimate, threshold }) => [estimate, threshold]);
  const axis = { low: Math.min(0, ...ends), high: Math.max(1, ...ends) };
  const kinds = [
    ...new Set(rows.filter((row) => !isProbability(row)).map(({ uncertaintyKind }) => uncertaintyKind)),
  ].join(' or ');
  const estimate = [
    ...(rows.some(isProbability) ? ['probability of mastery p ●'] : []),
    ...(kinds === '' ? [] : [`estimate ● ± ${kinds} ━`]),
  ].join(', ');
  return [
    fit(space, [
      ['bold', 'mastery, gaps first'],
      ['dim', `  ${estimate}, threshold ┃`],
    ]),
    ...rowStates.flatMap((state) => {
      const own = rows.filter((row) => knownState(row) === state);
      if (own.length === 0) return [];
      return [
        fit(space, [[styleOf(state), `${state} (${own.length})`]]),
        ...own.map((row) =>
          fit(space, [
            ['none', `  ${column(nameOf(row, names), labelWidth - 4)}  `],
            ...gauge(
              axis,
              gaugeWidth,
              {
                value: row.estimate,
                error: isProbability(row) ? 0 : row.uncertainty,
                threshold: row.threshold,
              },
              styleOf(state),
            ),
            ['none', `  ${measured(row).padStart(ESTIMATE.length)}  ${row.threshold.toFixed(3)}`],
            ['dim', row.evidence === undefined ? '' : `  ${counted(row.evidence.length, 'item')}`],
          ]),
        ),
      ];
    }),
  ];
}

function measured(row: MasteryRow): string {
  return isProbability(row)
    ? `p ${row.estimate.toFixed(3)}`
    : `${row.estimate.toFixed(3)} ± ${row.uncertainty.toFixed(3)}`;
}

/** Returns the receipts; the age is how long before the end of the composition the source was observed. */
function sourceLines({ sources, observedAt }: AttemptReport, space: LineSpace): readonly string[] {
  const rows = sources.map((source) => [
    source.service,
    source.resourceId,
    source.version ?? 'none',
    source.status,
    age(Date.parse(observedAt) - Date.parse(source.observedAt)),
  ]);
  const heading = ['source', 'resource', 'version', 'status', 'age'];
  const longest = heading.map((_, at) =>
    Math.max(...[heading, ...rows].map((row) => columnsOf(row[at] ?? ''))),
  );
  const [service = 0, resource = 0, version = 0, status = 0, seconds = 0] = longest;
  // Ids and versions are shortened first: the others matter more.
  const room = Math.max(12, space.width - service - status - seconds - 4 * GAP.length);
  const versionWidth = Math.min(version, Math.max(6, room - resource, Math.floor(room / 3)));
  const widths = [
    service,
    Math.min(resource, Math.max(6, room - versionWidth)),
    versionWidth,
    status,
    seconds,
  ];
  const line = (row: readonly string[]): string =>
    row
      .map((text, at) => column(text, widths[at] ?? 0))
      .join(GAP)
      .trimEnd();
  return [
    fit(space, [['dim', line(heading)]]),
    ...rows.map((row, at) =>
      fit(space, [[sources[at]?.status === 'current' ? 'none' : 'yellow', line(row)]]),
    ),
  ];
}
const GAP = '  ';

function age(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  return milliseconds < 60_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.floor(milliseconds / 60_000)} min`;
}

function incompleteLines({ incompleteSections }: AttemptReport, space: LineSpace): readonly string[] {
  if (incompleteSections.length === 0) return [factLine(space, 'incomplete', 'nothing')];
  return incompleteSections.map(({ status, title, dependency }) =>
    factLine(space, 'incomplete', ['yellow', `${dependency ?? 'unknown'}: ${title} (${status})`]),
  );
}

/** Renders the evidence of a row: every outcome that counts for or against it, with the policy that weighed them. */
export function renderEvidence(row: MasteryRow, names: ReportNames, space: LineSpace): readonly string[] {
  const evidence = row.evidence ?? [];
  const items = evidence.map(({ qtiItemId }) => names.item(qtiItemId) ?? qtiItemId);
  const itemWidth = Math.max(
    4,
    Math.min(Math.max(0, ...items.map(columnsOf)), Math.floor(space.width * 0.3)),
  );
  const contributions = evidence.map(
    ({ contribution }) => `${contribution < 0 ? '' : '+'}${Number(contribution.toFixed(3))}`,
  );
  const signedWidth = Math.max('contribution'.length, ...contributions.map((text) => text.length));
  const timeWidth = Math.max('scored at'.length, ...evidence.map(({ observedAt }) => observedAt.length));
  const ids = evidence.map(({ qtiOutcomeId, resultComponentId }) =>
    [qtiOutcomeId, resultComponentId ?? 'no component'].join(', '),
  );
  const figures = 2 + itemWidth + GAP.length + signedWidth + GAP.length + timeWidth;
  // Ids that are cut off could not be looked up: where they do not fit, they are below.
  const beside = ids.every((text) => figures + GAP.length + columnsOf(text) <= space.width);
  const idHeading = 'QTI outcome, results component';
  return [
    fit(space, [
      ['bold', nameOf(row, names)],
      ['none', '  '],
      [styleOf(row.state), row.state],
      ['none', `  ${measured(row)} against ${row.threshold.toFixed(3)}`],
    ]),
    fit(space, [['dim', `  CASE ${row.caseGuid}, under ${row.parentCaseGuid ?? 'no parent'}`]]),
    fit(space, [['dim', `  policy ${row.policyId}, version ${row.policyVersion}`]]),
    fit(space, [
      [
        'dim',
        `  ${column('item', itemWidth)}${GAP}${'contribution'.padStart(signedWidth)}${GAP}${column('scored at', timeWidth)}${GAP}${beside ? idHeading : ''}`.trimEnd(),
      ],
    ]),
    ...(beside ? [] : [fit(space, [['dim', `    ${idHeading}`]])]),
    ...evidence.flatMap(({ contribution, observedAt }, at) => {
      const line: readonly Segment[] = [
        ['none', `  ${column(items[at] ?? '', itemWidth)}${GAP}`],
        [contribution < 0 ? 'red' : 'green', (contributions[at] ?? '').padStart(signedWidth)],
        ['none', `${GAP}${beside ? column(observedAt, timeWidth) : observedAt}`],
      ];
      const text = ids[at] ?? '';
      return beside
        ? [fit(space, [...line, ['dim', `${GAP}${text}`]])]
        : [fit(space, line), fit(space, [['dim', `    ${text}`]])];
    }),
  ];
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
