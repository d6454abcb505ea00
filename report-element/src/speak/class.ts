import type { MasteryRow } from 'mastery-reports-client';
import type { ClassData, Fetched } from '../data.ts';
import { rowNames } from './attempt.ts';
import { auditSections } from './audit.ts';
import type { Block, Cell, Entry, Section, Spoken, Table } from './document.ts';
import { inOrder } from './order.ts';
import { knownState } from './rows.ts';
import type { Speaker } from './speaker.ts';
import { stateOf } from './states.ts';

/** The most columns that are drawn. */
const MOST_COLUMNS = 24;

/** One standard or component of the class. */
interface Column {
  readonly id: string;
  readonly name: string;
  /** The rows about it, by learner. */
  readonly rows: ReadonlyMap<string, MasteryRow>;
  /** Whose gap it is. */
  readonly needing: readonly string[];
}

type Reports = ReadonlyMap<string, Fetched>;

/** Returns the standards and components that the reports speak of: in the order of what builds on what, otherwise as the reports list them. */
function columnsOf(speaker: Speaker, learners: readonly string[], fetched: Reports): readonly Column[] {
  const byKey = new Map<string, { readonly first: MasteryRow; readonly rows: Map<string, MasteryRow> }>();
  for (const learner of learners) {
    const one = fetched.get(learner);
    if (one?.state !== 'done') continue;
    for (const row of one.report?.mastery ?? []) {
      const key = JSON.stringify([row.kind, row.caseGuid]);
      const column = byKey.get(key) ?? { first: row, rows: new Map<string, MasteryRow>() };
      column.rows.set(learner, row);
      byKey.set(key, column);
    }
  }
  const all = [...byKey.values()];
  const names = rowNames(
    speaker,
    all.map(({ first }) => first),
  );
  const columns = all.map(({ first, rows }, at) => ({
    id: first.caseGuid,
    name: names[at] ?? '',
    rows,
    needing: [...rows].flatMap(([learner, row]) => (knownState(row) === 'gap' ? [learner] : [])),
  }));
  const order = new Map(
    inOrder(
      columns.map(({ id }) => id),
      speaker.precedes,
    ).map((id, at) => [id, at]),
  );
  return columns.toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
}

function cellOf(speaker: Speaker, learner: string, column: Column, fetched: Reports): Cell {
  const { texts } = speaker;
  const one = fetched.get(learner);
  const row = column.rows.get(learner);
  if (row !== undefined) {
    const { tone, text } = stateOf(speaker, row);
    return { text, state: tone };
  }
  if (one?.state === 'failed') return { text: texts.cellFailed };
  if (one?.state !== 'done') return { text: texts.cellWaiting };
  return { text: one.report === undefined ? texts.cellNone : texts.noRow };
}

/** Returns a class as far as it has been loaded: who shares a gap, and the states of all. */
export function speakClass(speaker: Speaker, { learners }: ClassData, fetched: Reports): Spoken {
  const { texts, list, hrefOf, nameOf } = speaker;
  const names = new Map(learners.map((id, at) => [id, nameOf(id) ?? texts.learner(String(at + 1))]));
  const named = (ids: readonly string[]): string => list(ids.map((id) => names.get(id) ?? ''));
  const inState = (wanted: Fetched['state']): readonly string[] =>
    learners.filter((id) => (fetched.get(id)?.state ?? 'waiting') === wanted);
  const reportOf = (id: string) => {
    const one = fetched.get(id);
    return one?.state === 'done' ? one.report : undefined;
  };
  const columns = columnsOf(speaker, learners, fetched);
  const shared = columns
    .filter(({ needing }) => needing.length > 1)
    .toSorted((a, b) => b.needing.length - a.needing.length);
  const tableWith = (shown: readonly Column[]): Table => ({
    caption: texts.gridCaption,
    columns: [texts.columns.learner, ...shown.map(({ name }) => name)],
    rows: learners.map((id): Cell[] => {
      const report = reportOf(id);
      return [
        { text: names.get(id) ?? '', href: report === undefined ? undefined : hrefOf?.(report.attemptId) },
        ...shown.map((column) => cellOf(speaker, id, column, fetched)),
      ];
    }),
  });
  const mostNeeded = new Set(
    columns.toSorted((a, b) => b.needing.length - a.needing.length).slice(0, MOST_COLUMNS),
  );
  const drawn = columns.filter((column) => mostNeeded.has(column));
  const waiting = inState('waiting');
  const failed = inState('failed');
  const without = inState('done').filter((id) => reportOf(id) === undefined);
  const isDone = waiting.length === 0;
  const [top] = shared;
  const here = learners
    .map(reportOf)
    .filter((report) => report?.omitted.includes('mastery') === false).length;
  // What is missing may share a gap with the rest.
  const noGap = here === learners.length ? texts.classNoGap : texts.classNoGapAmong(here);
  const [loaded, all] = [learners.length - waiting.length, learners.length].map(String) as [string, string];
  const verdict = !isDone
    ? texts.classLoading(Number(loaded), Number(all))
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
        const { attemptId, requestId, observedAt } = reportOf(id) ?? {};
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
