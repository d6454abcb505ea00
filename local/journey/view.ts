import { bar, column, columnsOf, fit, gauge } from '#tools/terminal/line.ts';
import type { LineSpace, Segment, Style } from '#tools/terminal/line.ts';
import type { TrueState } from './learner.ts';
import type { AdaptiveRun, OfferedItem } from '#client/index.ts';

/** What the seed calls an item. */
export interface ItemText {
  readonly name: string;
  readonly stem: string;
}

/** What a person sees of a run: a value that grows with every state and knows nothing of terminals. */
export interface JourneyView {
  readonly heading: string;
  /** Labels by CASE GUID, in the order of the bank. */
  readonly labels: ReadonlyMap<string, string>;
  readonly trueState: TrueState | undefined;
  readonly run: AdaptiveRun | undefined;
  readonly answers: readonly { readonly item: ItemText; readonly correct: boolean }[];
  readonly offered: { readonly sequence: number; readonly item: ItemText } | undefined;
  /** Both ends of the scale's axis: wide enough for every band so far. */
  readonly axis: { readonly low: number; readonly high: number } | undefined;
  /** The uncertainty before any answer, which is a full bar. */
  readonly firstUncertainty: number;
}

export function openView(
  heading: string,
  labels: ReadonlyMap<string, string>,
  trueState: TrueState | undefined,
): JourneyView {
  return {
    heading,
    labels,
    trueState,
    run: undefined,
    answers: [],
    offered: undefined,
    axis: undefined,
    firstUncertainty: 0,
  };
}

export function withState(
  view: JourneyView,
  run: AdaptiveRun,
  answered: { readonly item: OfferedItem; readonly correct: boolean } | undefined,
  textOf: (artifactVersionId: string) => ItemText,
): JourneyView {
  const { offeredItem, scale } = run;
  const band =
    scale === null
      ? undefined
      : // The first band is the widest: four errors leave room for the score to move.
        {
          low: scale.scaleScore - (view.axis === undefined ? 4 : 1) * scale.standardError,
          high: scale.scaleScore + (view.axis === undefined ? 4 : 1) * scale.standardError,
        };
  const axis =
    view.axis === undefined || band === undefined
      ? (band ?? view.axis)
      : { low: Math.min(view.axis.low, band.low), high: Math.max(view.axis.high, band.high) };
  return {
    ...view,
    run,
    answers:
      answered === undefined
        ? view.answers
        : [...view.answers, { item: textOf(answered.item.artifactVersionId), correct: answered.correct }],
    offered:
      offeredItem === null
        ? undefined
        : { sequence: offeredItem.sequence, item: textOf(offeredItem.artifactVersionId) },
    axis,
    firstUncertainty: view.run === undefined ? run.remainingUncertainty : view.firstUncertainty,
  };
}

interface Screen extends LineSpace {
  /** Rows; at least the last knowledge components give way to a line that counts them. */
  readonly height: number;
}

/** Returns the live view, one string per row. */
export function renderLive(view: JourneyView, screen: Screen): readonly string[] {
  const { run } = view;
  if (run === undefined) return [fit(screen, [['bold', view.heading]]), fit(screen, [['dim', 'starting …']])];
  const below = [
    fit(screen, []),
    scaleLine(view, run, screen),
    uncertaintyLine(view, run, screen),
    fit(screen, []),
    answersLine(view, screen),
    offerLine(view, run, screen),
  ];
  return [
    fit(screen, [['bold', view.heading]]),
    fit(screen, []),
    ...componentLines(view, run, { ...screen, height: Math.max(1, screen.height - below.length - 3) }),
    ...below,
  ];
}

/** Returns one line for a log, without any escape code: what the last answer changed. */
export function renderStep(view: JourneyView): string {
  const { run } = view;
  if (run === undefined) return view.heading;
  const last = view.answers.at(-1);
  const settled = run.kcClassifications.filter(isSettled).length;
  return [
    last === undefined
      ? 'started'
      : `item ${view.answers.length} ${last.item.name} ${last.correct ? 'correct' : 'incorrect'}`,
    `settled ${settled}/${view.labels.size}`,
    `scale ${scaleText(run)}`,
    `uncertainty ${run.remainingUncertainty.toFixed(3)} bits`,
    ...(run.stopReason === null ? [] : [`${run.status}: ${run.stopReason}`]),
  ].join('  ');
}

export function renderSummary(view: JourneyView, screen: LineSpace): readonly string[] {
  const { run, trueState } = view;
  if (run === undefined) return [];
  const correct = view.answers.filter((answer) => answer.correct).length;
  const facts: (readonly [string, string])[] = [
    ['stop reason', run.stopReason ?? 'none'],
    ['items', `${view.answers.length}, ${correct} correct`],
    ['scale', run.scale === null ? scaleText(run) : `${scaleText(run)} on ${run.scale.scaleId}`],
    ...(trueState === undefined ? [] : [['true scale value', trueState.scale.toFixed(1)] as const]),
    ['uncertainty left', `${run.remainingUncertainty.toFixed(3)} bits per component`],
    ['results record', run.resultRecordRef ?? 'none: this run mode writes no learner result'],
    ['event', run.caliperEventRef ?? 'none'],
    ['receipt', run.receiptId],
  ];
  const table = [...view.labels].map(([guid, label]) => {
    const found = run.kcClassifications.find((row) => row.caseCompetencyGuid === guid);
    const known = trueState?.mastered.has(guid);
    return {
      label,
      classification: found?.classification ?? 'not_yet',
      posterior: found?.posteriorProbability.toFixed(3) ?? '',
      items: String(found?.evidenceItemRefs.length ?? 0),
      truth: known === undefined ? '' : known ? 'mastered' : 'gap',
      inScope: found !== undefined,
    };
  });
  const rows = table.filter(({ inScope }) => inScope);
  const settled = rows.filter(isSettled);
  const agreeing = settled.filter((row) => row.classification === row.truth).length;
  const columns = `${'classification'.padEnd(16)}${'posterior'.padStart(9)}${'items'.padStart(7)}${trueState === undefined ? '' : '  truth   '}`;
  const labelWidth = labelColumn(view, screen.width - columns.length);
  return [
    ...facts.map(([name, value]) =>
      fit(screen, [
        ['dim', name.padEnd(18)],
        ['none', value],
      ]),
    ),
    '',
    fit(screen, [['dim', `${column('knowledge component', labelWidth - 2)}  ${columns.trimEnd()}`]]),
    ...rows.map((row) =>
      fit(screen, [
        ['none', `${column(row.label, labelWidth - 2)}  `],
        [colourOf(row.classification), row.classification.padEnd(16)],
        ['none', row.posterior.padStart(9) + row.items.padStart(7)],
        ['dim', row.truth === '' ? '' : `  ${row.truth}`],
      ]),
    ),
    ...(trueState === undefined
      ? []
      : [
          '',
          fit(screen, [['none', `${agreeing} of ${settled.length} settled components match the simulation`]]),
        ]),
  ];
}

type Component = AdaptiveRun['kcClassifications'][number];

/** Only these two: a classification that a later version adds may be undecided too. */
function isSettled({ classification }: { readonly classification: string }): boolean {
  return classification === 'mastered' || classification === 'gap';
}

function colourOf(classification: string): Style {
  if (classification === 'mastered') return 'green';
  return classification === 'gap' ? 'red' : 'dim';
}

/** Width of the label column with its gap: what the longest label needs, within what the rest of the line leaves. */
function labelColumn(view: JourneyView, available: number): number {
  const longest = Math.max(...[...view.labels.values()].map(columnsOf), 'knowledge component'.length);
  return Math.max(10, Math.min(longest + 2, available));
}

const FIGURES = '  0.00  mastered  00'.length;

/** In the bank's order; when there are too many, those with evidence that are still open come first. */
function componentLines(view: JourneyView, run: AdaptiveRun, screen: Screen): readonly string[] {
  const order = new Map([...view.labels.keys()].map((guid, at) => [guid, at]));
  const all = [...run.kcClassifications].sort(
    (a, b) => (order.get(a.caseCompetencyGuid) ?? Infinity) - (order.get(b.caseCompetencyGuid) ?? Infinity),
  );
  const interest = (row: Component): number =>
    row.evidenceItemRefs.length === 0 ? 2 : isSettled(row) ? 1 : 0;
  const room = all.length <= screen.height ? all.length : Math.max(0, screen.height - 1);
  const chosen = new Set(
    all
      .map((row, at) => ({ row, at }))
      .sort((a, b) => interest(a.row) - interest(b.row) || a.at - b.at)
      .slice(0, room)
      .map(({ row }) => row),
  );
  const hidden = all.filter((row) => !chosen.has(row));
  const labelWidth = labelColumn(view, Math.floor(screen.width * 0.45));
  const barWidth = Math.min(40, screen.width - labelWidth - FIGURES);
  const lines = all
    .filter((row) => chosen.has(row))
    .map((row) => {
      const colour = row.evidenceItemRefs.length === 0 ? 'dim' : colourOf(row.classification);
      const label = view.labels.get(row.caseCompetencyGuid) ?? row.caseCompetencyGuid;
      return fit(screen, [
        ['none', `${column(label, labelWidth - 1)} `],
        [colour, bar(row.posteriorProbability, barWidth)],
        ['none', `  ${row.posteriorProbability.toFixed(2)}  `],
        [colour, row.classification.replace('_', ' ').padEnd(8)],
        ['dim', `  ${row.evidenceItemRefs.length}`],
      ]);
    });
  if (hidden.length === 0) return lines;
  const counts = ['mastered', 'gap', 'not_yet']
    .map((name) => [name, hidden.filter((row) => row.classification === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name.replace('_', ' ')}`);
  return [...lines, fit(screen, [['dim', `… and ${hidden.length} more: ${counts.join(', ')}`]])];
}

function scaleText(run: AdaptiveRun): string {
  return run.scale === null
    ? run.scaleReportability.replace('_', ' ')
    : `${run.scale.scaleScore.toFixed(1)} ± ${run.scale.standardError.toFixed(1)}`;
}

/** Returns the score on its axis with one standard error to both sides. */
function scaleLine(view: JourneyView, run: AdaptiveRun, screen: Screen): string {
  const text = scaleText(run);
  const width = Math.min(50, screen.width - 13 - text.length - 2);
  if (run.scale === null || view.axis === undefined || width < 8) {
    return fit(screen, [
      ['dim', 'scale        '],
      ['none', text],
    ]);
  }
  const { scaleScore: value, standardError: error } = run.scale;
  return fit(screen, [
    ['dim', 'scale        '],
    ...gauge(view.axis, width, { value, error }, 'cyan'),
    ['none', `  ${text}`],
  ]);
}

function uncertaintyLine(view: JourneyView, run: AdaptiveRun, screen: Screen): string {
  const text = `${run.remainingUncertainty.toFixed(3)} bits`;
  const share = view.firstUncertainty > 0 ? run.remainingUncertainty / view.firstUncertainty : 0;
  return fit(screen, [
    ['dim', 'uncertainty  '],
    ['yellow', bar(share, Math.min(50, screen.width - 13 - text.length - 2))],
    ['none', `  ${text}`],
  ]);
}

function answersLine(view: JourneyView, screen: Screen): string {
  const room = Math.max(1, screen.width - 13 - 2);
  const shown = view.answers.slice(-room);
  return fit(screen, [
    ['dim', 'answers      '],
    ['none', shown.length < view.answers.length ? '…' : ''],
    ...shown.map(({ correct }): Segment => (correct ? ['green', '✓'] : ['red', '✗'])),
  ]);
}

function offerLine(view: JourneyView, run: AdaptiveRun, screen: Screen): string {
  if (view.offered === undefined) {
    return fit(screen, [
      ['dim', `${run.status.padEnd(11)}  `],
      ['none', run.stopReason ?? ''],
    ]);
  }
  return fit(screen, [
    ['dim', `item ${view.offered.sequence}`.padEnd(13)],
    ['bold', view.offered.item.name],
    ['none', `  ${view.offered.item.stem}`],
  ]);
}
