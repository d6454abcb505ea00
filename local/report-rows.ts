import type { AttemptReport, MasteryRow } from '#client/index.ts';

/** The states of a mastery row; what needs attention comes first. */
export const rowStates = ['gap', 'not_yet', 'insufficient_evidence', 'unknown', 'mastered'] as const;
export type RowState = (typeof rowStates)[number];

/** A state of a later version counts as `unknown`. */
export function knownState({ state }: Pick<MasteryRow, 'state'>): RowState {
  return rowStates.find((known) => known === state) ?? 'unknown';
}

/** The rows of a report, gaps first, and in each state the one first that is furthest below its threshold. */
export function rowsByNeed({ mastery }: Pick<AttemptReport, 'mastery'>): readonly MasteryRow[] {
  return mastery.toSorted(
    (a, b) =>
      rowStates.indexOf(knownState(a)) - rowStates.indexOf(knownState(b)) ||
      a.estimate - a.threshold - (b.estimate - b.threshold) ||
      (a.caseGuid < b.caseGuid ? -1 : 1),
  );
}

/** Whether the uncertainty is only that of a yes or no that holds with this probability. */
export function isProbability({ kind, estimate, uncertainty, uncertaintyKind }: MasteryRow): boolean {
  return (
    kind === 'knowledge_component' &&
    uncertaintyKind === 'standard_error' &&
    Math.abs(uncertainty ** 2 - estimate * (1 - estimate)) < 1e-5
  );
}
