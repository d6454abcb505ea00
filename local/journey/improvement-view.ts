import type { AlignmentReport, ImprovementRun, MetricStatus, RevisionOrder } from '#client/index.ts';
import type { ImprovementRun as ContractRun } from '#shared/contract/reports/improvement-run.ts';
import type { RevisionOrder as ContractOrder } from '#shared/contract/reports/revision-order.ts';
import { bar, column, columnsOf, fit } from '#tools/terminal/line.ts';
import type { LineSpace, Style } from '#tools/terminal/line.ts';
import { factLine } from './report-view.ts';

/** Renders the progress of a run in one line. */
export function renderProgress(run: ImprovementRun, space: LineSpace): string {
  const { status, alignmentRecordCount: aligned, namedSourceCount: named } = run;
  return fit(space, [
    [runStyles[status] ?? 'dim', column(status, 25)],
    ['cyan', bar(named === 0 ? 1 : aligned / named, 20)],
    ['none', ` ${aligned} of ${named} sources aligned, ${run.revisionOrderCount} orders`],
    ['yellow', run.blockedOrderCount === 0 ? '' : `, ${run.blockedOrderCount} waiting for a receiver`],
  ]);
}

/** Returns a run with its alignments and orders, one string per line. */
export function renderImprovement(
  run: ImprovementRun,
  alignments: readonly AlignmentReport[],
  orders: readonly RevisionOrder[],
  space: LineSpace,
): readonly string[] {
  return [
    ...headLines(run, space),
    '',
    fit(space, [['bold', 'metrics']]),
    ...run.metricStatuses.map((metric) => metricLine(metric, space)),
    '',
    fit(space, [['bold', 'alignment of the blueprint']]),
    ...(alignments.length === 0 ? ['  the blueprint names no source test'] : []),
    ...alignments.flatMap((alignment) => alignmentLines(alignment, nameColumns(alignments), space)),
    '',
    fit(space, [
      ['bold', 'revision orders'],
      ['dim', `  ${orders.length} in all`],
    ]),
    ...(orders.length === 0 ? ['  no revision orders'] : []),
    ...orders.toSorted(byTarget).flatMap((order) => orderLines(order, space)),
    '',
    ...receiptLines(run, space),
  ];
}

function headLines(run: ImprovementRun, space: LineSpace): readonly string[] {
  return [
    fit(space, [
      ['bold', 'improvement run  '],
      [runStyles[run.status] ?? 'dim', run.status],
    ]),
    factLine(space, 'run', run.improvementRunId),
    factLine(space, 'administration', run.administrationId),
    factLine(space, 'blueprint', `${run.contentTestSpecId}, version ${run.contentTestSpecVersion}`),
    factLine(space, 'policy', `${run.analysisPolicyId}, version ${run.analysisPolicyVersion}`),
    factLine(space, 'omissions', run.omissions.length === 0 ? 'nothing' : run.omissions.join(', ')),
  ];
}

function metricLine(row: MetricStatus, space: LineSpace): string {
  const { metric, status, reasonCode, populationCount, sampleCount, suppressionRule } = row;
  const known =
    populationCount === null || sampleCount === null ? '' : `${sampleCount} of ${populationCount} sampled`;
  const why = [reasonCode, suppressionRule].filter((text) => text !== null && text !== status).join(': ');
  return fit(space, [
    ['none', `  ${column(metric, 25)} `],
    [status === 'available' ? 'green' : 'yellow', column(status, 13)],
    ['dim', known === '' ? why : known],
  ]);
}

function nameOf({ sourceAssessment, sourceVersion }: AlignmentReport): string {
  return `${sourceAssessment} ${sourceVersion}`;
}

/** As wide as the longest name, within reason, so that the bars are aligned. */
function nameColumns(alignments: readonly AlignmentReport[]): number {
  return Math.min(40, Math.max(...alignments.map((alignment) => columnsOf(nameOf(alignment)))));
}

function alignmentLines(alignment: AlignmentReport, columns: number, space: LineSpace): readonly string[] {
  const { alignmentPercent, numerator, denominator, contributions, limitations, predictedActual } = alignment;
  const gap = contributions.filter(({ reasonCode }) => reasonCode !== null).length;
  return [
    fit(space, [
      ['none', `  ${column(nameOf(alignment), columns)} `],
      ['cyan', bar(alignmentPercent / 100, 30)],
      ['bold', ` ${alignmentPercent.toFixed(2).padStart(6)} %`],
      ['dim', `  ${numerator} of ${denominator}; ${gap} of ${contributions.length} requirements are not met`],
    ]),
    ...(predictedActual === null ? [] : [comparisonLine(predictedActual, space)]),
    ...limitations.map((limitation) => fit(space, [['dim', `    ${limitation}`]])),
  ];
}

function comparisonLine(
  comparison: NonNullable<AlignmentReport['predictedActual']>,
  space: LineSpace,
): string {
  const { observedAgreement, predictedPassCount, actualPassCount, populationCount } = comparison;
  return fit(space, [
    ['none', '    predicted and actual results '],
    observedAgreement === null
      ? ['yellow', comparison.suppressionStatus]
      : ['none', `agree for ${(observedAgreement * 100).toFixed(1)} % of ${populationCount}`],
    [
      'dim',
      predictedPassCount === null
        ? ''
        : `: ${predictedPassCount} predicted to pass, ${actualPassCount ?? 0} passed`,
    ],
  ]);
}

function byTarget(a: RevisionOrder, b: RevisionOrder): number {
  const [first, second] = [a, b].map(
    ({ targetModule, requestedAction, revisionOrderId }) =>
      `${targetModule} ${requestedAction} ${revisionOrderId}`,
  );
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

function orderLines(order: RevisionOrder, space: LineSpace): readonly string[] {
  const { observedMetric, threshold, qtiItemId, qtiFormId, sourceKeys, caseGuids } = order;
  const about = qtiItemId ?? qtiFormId ?? sourceKeys.join(', ');
  const standards =
    caseGuids.length === 0 ? '' : `, ${caseGuids.length} CASE ${caseGuids.length === 1 ? 'item' : 'items'}`;
  return [
    fit(space, [
      ['none', `  ${column(order.targetModule, 10)}${column(order.requestedAction, 24)}`],
      [orderStyles[order.status] ?? 'dim', column(order.status, 17)],
      ['none', `${about}${standards}`],
    ]),
    fit(space, [
      ['dim', `    because ${order.reasonCodes.join(', ')}: `],
      ['none', `${observedMetric.name} is ${observedMetric.value} ${observedMetric.unit}`],
      ['dim', `, threshold ${threshold.operator} ${threshold.value}`],
    ]),
  ];
}

// A status that is not listed is of a later version.
const orderStyles: Readonly<Record<string, Style>> = {
  pending: 'dim',
  accepted: 'green',
  replayed: 'green',
  blocked_upstream: 'yellow',
  rejected: 'red',
  superseded: 'dim',
  unknown: 'dim',
} satisfies Record<ContractOrder['status'], Style>;

const runStyles: Readonly<Record<string, Style>> = {
  queued: 'dim',
  analyzing: 'dim',
  completed: 'green',
  completed_with_omissions: 'yellow',
  blocked_upstream: 'yellow',
  failed: 'red',
  unknown: 'dim',
} satisfies Record<ContractRun['status'], Style>;

function receiptLines({ receipt }: ImprovementRun, space: LineSpace): readonly string[] {
  if (receipt === null) return [fit(space, [['dim', 'no receipt: the run is not complete']])];
  return [
    factLine(space, 'receipt', receipt.sha256),
    // Whole at any width: it is there to be copied.
    `                ${receipt.downloadUrl}`,
    factLine(space, '', [
      'dim',
      `until ${receipt.expiresAt}; then verify with npm run receipts -- verify FILE`,
    ]),
  ];
}
