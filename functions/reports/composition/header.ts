import { testKind } from '#shared/contract/reports/attempt-report.ts';
import type {
  AttemptReport,
  DiagnosticDetail,
  GateDecision,
  Score,
  TestKind,
} from '#shared/contract/reports/attempt-report.ts';
import { canBeOneValue } from '#shared/kernel/decimal.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { composeDiagnostic } from './adaptive-diagnostic.ts';
import { shortfall } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';
import { decideGate } from './gate-decision.ts';
import type { HeaderFacts, Released } from '../facts/facts.ts';
import { composeScore } from './score.ts';

/** What a report says of its attempt beside whose it is and what was mastered. */
export type ComposedHeader = Pick<AttemptReport, 'testKind' | 'status' | 'score' | 'gate' | 'diagnostic'>;

/** An attempt that Results has not settled is no report [RP-062]. */
export function checkSettled({ settled }: HeaderFacts['record']): Shortfall | undefined {
  return settled
    ? undefined
    : shortfall('unsettled', 'results', 'Results has not settled the record of the attempt.');
}

/** The kind of a settled attempt: the one on which Results and Content agree, never a caller's [RP-008]. */
export function settledKind({
  record,
  criteria,
}: Pick<HeaderFacts, 'record' | 'criteria'>): Result<TestKind, Shortfall> {
  const unsettled = checkSettled(record);
  if (unsettled !== undefined) return err(unsettled);
  if (record.testKind !== criteria.testKind)
    return err(
      shortfall('contradiction', 'results', 'Results and Content name different test kinds for the attempt.'),
    );
  return ok(known(testKind.options, criteria.testKind));
}

/** Only a mastery gate has a decision. For any other kind it is null, whatever an owner holds [RP-009, RP-014, RP-015]. */
export function composeGate(
  kind: TestKind,
  { record, criteria }: Pick<HeaderFacts, 'record' | 'criteria'>,
): Result<GateDecision | null, Shortfall> {
  return kind === 'mastery_gate' ? decideGate(record.gate, criteria.criteria) : ok(null);
}

/** Score, gate and diagnostic as the attempt's kind supports them. */
export function composeHeader(facts: HeaderFacts & Released): Result<ComposedHeader, Shortfall> {
  const kind = settledKind(facts);
  if (!kind.ok) return kind;
  const score = composeScore(facts.record.score);
  if (!score.ok) return score;
  const gate = composeGate(kind.value, facts);
  if (!gate.ok) return gate;
  const diagnostic = kind.value === 'adaptive_diagnostic' ? composeDiagnostic(facts) : ok(null);
  if (!diagnostic.ok) return diagnostic;
  const conflict = checkScales(score.value, diagnostic.value);
  if (conflict !== undefined) return err(conflict);
  return ok({
    testKind: kind.value,
    // Whatever its kind, an attempt with a report is a settled one; only a gate can leave it open (the reading of RP-104).
    status: gate.value?.status === 'indeterminate' ? 'indeterminate' : 'scored',
    score: score.value,
    gate: gate.value,
    diagnostic: diagnostic.value,
  });
}

/** A report has one mastery scale and one score on it; what is said twice may differ in precision alone (the reading on contradictions). */
function checkScales(
  { unit, value, scaleVersion }: Score,
  diagnostic: DiagnosticDetail | null,
): Shortfall | undefined {
  if (diagnostic === null || unit !== 'mastery_scale') return undefined;
  if (scaleVersion !== diagnostic.scaleVersion)
    return shortfall(
      'contradiction',
      'results',
      'Score and diagnostic at Results are on two mastery scales.',
    );
  return canBeOneValue(value, diagnostic.scaleScore)
    ? undefined
    : shortfall('contradiction', 'results', 'Score and diagnostic at Results are two scores on one scale.');
}
