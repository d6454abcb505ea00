import { gateDecision, type GateDecision } from '#shared/contract/reports/attempt-report.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledGate } from '#shared/platform/owners/results.ts';
import { fallsShort, type Shortfall } from '../facts/incomplete.ts';
import { nameOrUnknown } from '../facts/name-or-unknown.ts';

type Criteria = NonNullable<ReportCriteria['criteria']>;

/**
 * Returns the decision of Results under the blueprint's criteria. The service itself decides only that something is unknown [RP-010]. Version and
 * threshold come from the decision, else from Content. If neither owner gives them, there is no object to show: 503 naming Content (the reading of
 * RP-104).
 * @param settled null if Results made no decision
 * @param criteria null if the blueprint has none
 */
export function decideGate(
  settled: SettledGate | null,
  criteria: Criteria | null,
): Result<GateDecision, Shortfall> {
  const criteriaVersion = settled?.criteriaVersion ?? criteria?.criteriaVersion;
  const required = settled?.required ?? criteria?.required ?? undefined;
  if (criteriaVersion === undefined || required === undefined) return fallsShort('noCriteria');
  return ok({
    status: statusOf(settled, criteria),
    criteriaVersion,
    achieved: settled?.achieved ?? null,
    required,
    gapCaseGuids: settled?.gapCaseGuids ?? [],
    coverageEvidenceId: settled?.coverageEvidenceId ?? null,
  });
}

/**
 * Returns the decision of Results unless a missing fact forces `indeterminate`, which overrides `fail` as well as `pass` [RP-011, RP-102, RP-103].
 */
function statusOf(settled: SettledGate | null, criteria: Criteria | null): GateDecision['status'] {
  const isComplete =
    settled !== null &&
    settled.achieved !== null &&
    settled.coverageEvidenceId !== null &&
    settled.criteriaVersion !== null &&
    settled.required !== null &&
    criteria !== null &&
    criteria.required !== null;
  return isComplete ? nameOrUnknown(gateDecision.shape.status.options, settled.status) : 'indeterminate';
}
