import { testKind } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, TestKind } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { adaptiveDiagnostic } from './adaptive-diagnostic.ts';
import { formative } from './formative.ts';
import { incomplete } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';
import { masteryGate } from './mastery-gate.ts';
import type { Released } from '../facts/facts.ts';
import type { HeaderFacts, ReportKind } from './report-kind.ts';
import { composeScore } from './score.ts';
import { unknownKind } from './unknown-kind.ts';

export const reportKinds: Readonly<Record<TestKind, ReportKind>> = {
  mastery_gate: masteryGate,
  adaptive_diagnostic: adaptiveDiagnostic,
  formative,
  unknown: unknownKind,
};

/** What a report says of its attempt beside whose it is and what was mastered. */
export type ComposedHeader = Pick<AttemptReport, 'testKind' | 'status' | 'score' | 'gate' | 'diagnostic'>;

/** The kind of a settled attempt: the one on which Results and Content agree, never a caller's [RP-008]. */
export function settledKind({
  record,
  criteria,
}: Pick<HeaderFacts, 'record' | 'criteria'>): Result<TestKind, Problem> {
  if (!record.settled)
    return err(incomplete('results', 'Results has not settled the record of the attempt.'));
  if (record.testKind !== criteria.testKind)
    return err(incomplete('results', 'Results and Content name different test kinds for the attempt.'));
  return ok(known(testKind.options, criteria.testKind));
}

/** Score, gate and diagnostic as the attempt's kind supports them. */
export function composeHeader(facts: HeaderFacts & Released): Result<ComposedHeader, Problem> {
  const settled = settledKind(facts);
  if (!settled.ok) return settled;
  const kind = reportKinds[settled.value];
  const score = composeScore(facts.record.score);
  if (!score.ok) return score;
  const gate = kind.gate(facts);
  if (!gate.ok) return gate;
  const diagnostic = kind.diagnostic(facts);
  if (!diagnostic.ok) return diagnostic;
  return ok({
    testKind: settled.value,
    // Whatever its kind, an attempt with a report is a settled one; only a gate can leave it open (the reading of RP-104).
    status: gate.value?.status === 'indeterminate' ? 'indeterminate' : 'scored',
    score: score.value,
    gate: gate.value,
    diagnostic: diagnostic.value,
  });
}
