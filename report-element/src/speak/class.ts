import type { AttemptReport, MasteryRow } from 'mastery-reports-client';
import type { ClassData, Fetched } from '../data.ts';
import { rowNames } from './attempt.ts';
import { auditSections } from './audit.ts';
import type { Block, Cell, Entry, Section, Spoken, Table } from './document.ts';
import { orderOf } from './order.ts';
import { gapsOfGateAlone, knownState, placesById } from './rows.ts';
import type { Speaker } from './speaker.ts';
import { stateOf } from './states.ts';

/** The most columns that are drawn. */
const MOST_COLUMNS = 24;

/** One standard or component of the class. */
interface Column {
  readonly id: string;
  readonly name: string;
  /** Its cell of each learner whose report has it. */
  readonly cells: ReadonlyMap<string, Cell>;
  /** Whose gap it is. */
  readonly needing: readonly string[];
}

type Subject = Pick<MasteryRow, 'kind' | 'caseGuid'>;

/** Returns the standards and components that the reports speak of: in the order of what builds on what, otherwise as the reports list them. */
function columnsOf(speaker: Speaker, reports: ReadonlyMap<string, AttemptReport>): readonly Column[] {
  type Filled = Subject & { readonly cells: Map<string, Cell>; readonly needing: string[] };
  const byKey = new Map<string, Filled>();
  const add = ({ kind, caseGuid }: Subject, learner: string, isGap: boolean, cell: Cell): void => {
    const key = JSON.stringify([kind, caseGuid]);
    const column: Filled = byKey.get(key) ?? { kind, caseGuid, cells: new Map(), needing: [] };
    byKey.set(key, column);
    column.cells.set(learner, cell);
    if (isGap) column.needing.push(learner);
  };
  for (const [learner, { mastery }] of reports) {
    for (const row of mastery) {
      const { tone, text } = stateOf(speaker, row);
      add(row, learner, knownState(row) === 'gap', { text, state: tone });
    }
  }
  // A decision gives only ids: a row of any learner shows which kind they are of.
  const rows = [...byKey.values()];
  const places = placesById(rows);
  for (const [learner, report] of reports) {
    for (const caseGuid of gapsOfGateAlone(report)) {
      const subject = rows[places.get(caseGuid) ?? -1] ?? { kind: '', caseGuid };
      const row = byKey.get(JSON.stringify([subject.kind, caseGuid]))?.cells.get(learner);
      const text = [row?.text, speaker.texts.gapOfDecision].filter((part) => part !== undefined).join('; ');
      add(subject, learner, true, { text, state: 'bad' });
    }
  }
  const all = [...byKey.values()];
  const names = rowNames(speaker, all);
  const order = new Map(
    orderOf(
      all.map(({ caseGuid }) => caseGuid),
      speaker.precedes,
    ).ids.map((id, at) => [id, at]),
  );
  return all
    .map(({ caseGuid, cells, needing }, at) => ({ id: caseGuid, name: names[at] ?? '', cells, needing }))
    .toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
}

function emptyCell({ texts }: Speaker, one: Fetched | undefined): Cell {
  if (one?.state === 'failed') return { text: texts.cellFailed };
  if (one?.state !== 'done') return { text: texts.cellWaiting };
  return { text: one.report === undefined ? texts.cellNone : texts.noRow };
}

/** Returns a class as far as it has been loaded: who shares a gap, and the states of all. */
export function speakClass(speaker: Speaker, data: ClassData, fetched: ReadonlyMap<string, Fetched>): Spoken {
  const { texts, list, hrefOf, nameOf } = speaker;
  const learners = [...new Set(data.learners)];
  const names = new Map(learners.map((id, at) => [id, nameOf(id) ?? texts.learner(String(at + 1))]));
  const named = (ids: readonly string[]): string => list(ids.map((id) => names.get(id) ?? ''));
  const inState = (wanted: Fetched['state']): readonly string[] =>
    learners.filter((id) => (fetched.get(id)?.state ?? 'waiting') === wanted);
  const reports = new Map(
    learners.flatMap((id): [string, AttemptReport][] => {
      const one = fetched.get(id);
      return one?.state === 'done' && one.report !== undefined ? [[id, one.report]] : [];
    }),
  );
  const columns = columnsOf(speaker, reports);
  const shared = columns
    .filter(({ needing }) => needing.length > 1)
    .toSorted((a, b) => b.needing.length - a.needing.length);
  const tableWith = (shown: readonly Column[]): Table => ({
    caption: texts.gridCaption,
    columns: [texts.columns.learner, ...shown.map(({ name }) => name)],
    rows: learners.map((id): Cell[] => {
      const report = reports.get(id);
      return [
        { text: names.get(id) ?? '', href: report === undefined ? undefined : hrefOf?.(report.attemptId) },
        ...shown.map(({ cells }) => cells.get(id) ?? emptyCell(speaker, fetched.get(id))),
      ];
    }),
  });
  const mostNeeded = new Set(
    columns.toSorted((a, b) => b.needing.length - a.needing.length).slice(0, MOST_COLUMNS),
  );
  const drawn = columns.filter((column) => mostNeeded.has(column));
  const waiting = inState('waiting');
  const failed = inState('failed');
  const without = inState('done').filter((id) => !reports.has(id));
  const isDone = waiting.length === 0;
  const [top] = shared;
  const here = [...reports.values()].filter(({ omitted }) => !omitted.includes('mastery')).length;
  // What is missing may share a gap with the rest.
  const noGap = here === learners.length ? texts.classNoGap : texts.classNoGapAmong(here);
  const verdict = !isDone
    ? texts.classLoading(waiting.length, learners.length)
    : top === undefined
      ? noGap
      : texts.classShared(top.needing.length, top.name);
  return {
    verdict: { tone: isDone && top !== undefined ? 'bad' : 'open', text: `${verdict}.` },
    facts: [
      `${texts.classTitle(learners.length)}.`,
      ...(failed.length === 0 ? [] : [texts.notLoaded(failed.length, named(failed))]),
      ...(without.length === 0 ? [] : [texts.withoutReport(without.length, named(without))]),
    ],
    teacher: [
      sharedSection(speaker, shared, named, isDone ? `${noGap}.` : texts.loading),
      {
        heading: texts.grid,
        blocks: [
          ...(columns.length === 0
            ? [{ kind: 'text' as const, text: isDone ? texts.nothing : texts.loading }]
            : [{ kind: 'table' as const, table: tableWith(drawn) }]),
          ...(columns.length > drawn.length
            ? [{ kind: 'text' as const, text: texts.columnsLeftOut(columns.length - drawn.length) }]
            : []),
          ...(failed.length > 0 && isDone ? [{ kind: 'again' as const, text: texts.loadMissing }] : []),
          { kind: 'csv', text: texts.csv, fileName: texts.csvName, table: tableWith(columns) },
        ],
      },
    ],
    sure: [{ heading: texts.limits, blocks: [{ kind: 'text', text: texts.stateMayChange }] }],
    audit: auditSections(speaker, {
      reports: learners.map((id) => {
        const { attemptId, requestId, observedAt } = reports.get(id) ?? {};
        return { candidateSourcedId: id, attemptId, requestId, observedAt };
      }),
    }),
  };
}

function sharedSection(
  { texts }: Speaker,
  shared: readonly Column[],
  named: (ids: readonly string[]) => string,
  none: string,
): Section {
  const blocks: readonly Block[] =
    shared.length === 0
      ? [{ kind: 'text', text: none }]
      : [
          {
            kind: 'entries',
            ordered: false,
            entries: shared.map(({ name, needing }): Entry => ({
              name,
              lines: [texts.needThis(needing.length, named(needing))],
            })),
          },
        ];
  return { heading: texts.sharedGaps, blocks };
}
