import type { GateDecision } from '#shared/contract/reports/attempt-report.ts';
import { ok } from '#shared/kernel/result.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import { decideGate } from './gate-decision.ts';
import { shortfall } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import type { ReportKind } from './report-kind.ts';

/** A pass or fail of Results with every gap; indeterminate where criteria or coverage evidence are missing [RP-010, RP-066, RP-067]. */
export const masteryGate: ReportKind = {
  gate: ({ record, criteria }) => decideGate(record.gate, criteria.criteria),
  diagnostic: () => ok(null),
};

/** A failed gate lists every gap that the mastery rows show [RP-105]. */
export function checkGaps(
  gate: GateDecision | null,
  mastery: readonly Pick<SettledMastery, 'caseGuid' | 'state'>[],
): Shortfall | undefined {
  if (gate?.status !== 'fail') return undefined;
  const listed = new Set(gate.gapCaseGuids);
  return mastery.every(({ caseGuid, state }) => state !== 'gap' || listed.has(caseGuid))
    ? undefined
    : shortfall(
        'contradiction',
        'results',
        'The failed gate at Results does not list every gap of its mastery rows.',
      );
}
