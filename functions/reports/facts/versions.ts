import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { RecordHeader, SettledGate } from '#shared/platform/owners/results.ts';
import type { EquivalenceFacts, Observed } from './facts.ts';
import { requireCurrent } from './incomplete.ts';

/** The versions that the lookup by attempt, or an index row, pins for the other owners. */
export type Pins = Pick<AttemptEvidence, 'resultRecordVersion' | 'contentTestSpecVersion'>;

/**
 * Returns the first owner whose fact is of another version than the one that the attempt pins; undefined if all belong together. A reader reads once
 * more before it treats a disagreement as final.
 */
export function disagreement(
  pins: Pins,
  record: RecordHeader,
  criteria: ReportCriteria,
): SourceService | undefined {
  if (record.version !== pins.resultRecordVersion) return 'results';
  if (record.contentTestSpecVersion !== pins.contentTestSpecVersion) return 'results';
  if (criteria.version !== pins.contentTestSpecVersion) return 'content';
  // Only a gate shows a decision, so only a gate's decision can disagree.
  if (criteria.testKind === 'mastery_gate' && decidedOtherwise(record.gate, criteria.criteria))
    return 'results';
  return undefined;
}

/**
 * Returns the owner of a disagreement that persists after a second read. An owner that marks its response as not current contradicts no other: then
 * the function returns undefined, and the composition judges the stale facts.
 */
export function finalDisagreement(
  owner: SourceService | undefined,
  facts: readonly Observed<unknown>[],
): SourceService | undefined {
  return requireCurrent(facts.map(({ receipt }) => receipt)) === undefined ? owner : undefined;
}

/** Returns whether Results decided under other criteria than those that Content holds [RP-010, RP-101]. */
function decidedOtherwise(gate: SettledGate | null, criteria: ReportCriteria['criteria']): boolean {
  return (
    differ(gate?.criteriaVersion, criteria?.criteriaVersion) || differ(gate?.required, criteria?.required)
  );
}

/** Returns whether two owners' facts differ. A fact that only one of them holds is a missing fact, not a disagreement. */
function differ<T>(one: T | null | undefined, other: T | null | undefined): boolean {
  return (one ?? undefined) !== undefined && (other ?? undefined) !== undefined && one !== other;
}

/**
 * Returns the first owner that names another blueprint version than the form, or other forms than Analytics compared; undefined if all name the same.
 * The order of the forms in a set makes no difference.
 */
export function equivalenceDisagreement({
  form: { value: form },
  equivalence: { value: equivalence },
  criteria: { value: criteria },
  formEvidence: { value: formEvidence },
}: EquivalenceFacts): SourceService | undefined {
  const isGoverned = (testSpecId: string, version: string): boolean =>
    testSpecId === form.contentTestSpecId && version === form.contentTestSpecVersion;
  if (!isGoverned(equivalence.contentTestSpecId, equivalence.contentTestSpecVersion)) return 'analytics';
  if (!isGoverned(criteria.testSpecId, criteria.version)) return 'content';
  if (!isGoverned(formEvidence.testSpecId, formEvidence.testSpecVersion)) return 'blueprint';
  const compared = new Set(equivalence.comparisonQtiTestIds);
  const named = new Set(formEvidence.comparisonQtiTestIds);
  const areSame = compared.size === named.size && [...named].every((form) => compared.has(form));
  return areSame ? undefined : 'analytics';
}
