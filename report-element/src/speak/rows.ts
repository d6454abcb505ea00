import type { AttemptReport, MasteryRow } from 'mastery-reports-client';
import type { Listed } from './speaker.ts';

export type RowState = Listed<MasteryRow['state']>;

/** The states of a mastery row by their need: what needs attention comes first. */
const needs: Readonly<Record<RowState, number>> = {
  gap: 0,
  not_yet: 1,
  insufficient_evidence: 2,
  unknown: 3,
  mastered: 4,
};
// SAFETY: the keys of the table are the states.
export const rowStates = (Object.keys(needs) as RowState[]).toSorted((a, b) => needs[a] - needs[b]);

/** Returns a state; one of a later version counts as `unknown`. */
export function knownState({ state }: { readonly state: string }): RowState {
  return rowStates.find((known) => known === state) ?? 'unknown';
}

/** Returns the rows of a report, gaps first, and in each state the one first that is furthest below its threshold. */
export function rowsByNeed({ mastery }: Pick<AttemptReport, 'mastery'>): readonly MasteryRow[] {
  return mastery.toSorted(
    (a, b) =>
      needs[knownState(a)] - needs[knownState(b)] ||
      a.estimate - a.threshold - (b.estimate - b.threshold) ||
      (a.caseGuid < b.caseGuid ? -1 : 1),
  );
}

/** Returns the gaps that only the decision of a gate lists: no row of theirs is a gap. */
export function gapsOfGateAlone({
  gate,
  mastery,
}: Pick<AttemptReport, 'gate' | 'mastery'>): readonly string[] {
  const gaps = new Set(mastery.filter((row) => knownState(row) === 'gap').map(({ caseGuid }) => caseGuid));
  return (gate?.gapCaseGuids ?? []).filter((id) => !gaps.has(id));
}

/** Returns the places of rows by their ids. Where a standard and a component have one id, it means the standard. */
export function placesById(
  rows: readonly Pick<MasteryRow, 'kind' | 'caseGuid'>[],
): ReadonlyMap<string, number> {
  const places = rows.map((row, at) => ({ ...row, at }));
  const [standards = [], others = []] = [true, false].map((wanted) =>
    places.filter(({ kind }) => (kind === 'standard') === wanted),
  );
  return new Map([...others, ...standards].map(({ caseGuid, at }) => [caseGuid, at]));
}

/** Returns whether the uncertainty is only that of a yes or no that holds with this probability. */
export function isProbability({ kind, estimate, uncertainty, uncertaintyKind }: MasteryRow): boolean {
  return (
    kind === 'knowledge_component' &&
    uncertaintyKind === 'standard_error' &&
    Math.abs(uncertainty ** 2 - estimate * (1 - estimate)) < 1e-5
  );
}
