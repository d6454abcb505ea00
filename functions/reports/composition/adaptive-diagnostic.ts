import { diagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import type { DiagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Released } from '../facts/facts.ts';
import { incomplete } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';
import type { HeaderFacts, ReportKind } from './report-kind.ts';

/** A scale score with its uncertainty, beside the map of the mastery rows; never a pass or fail [RP-012, RP-068]. */
export const adaptiveDiagnostic: ReportKind = {
  gate: () => ok(null),
  diagnostic: composeDiagnostic,
};

/**
 * What Results measured, counted by QTI; the external scale is named only where the blueprint has a crosswalk to it [RP-106..RP-108]. As long
 * as the mastery engine is not proved with production learners, none is shown [RP-026].
 */
function composeDiagnostic({
  record: { diagnostic: settled },
  criteria,
  administeredItemCount,
  proved,
}: HeaderFacts & Released): Result<DiagnosticDetail, Problem> {
  if (!proved.has('mastery_engine_production_learner'))
    return err(
      incomplete(
        'mastery_engine',
        'Evidence of the mastery engine from production learners is not there yet.',
      ),
    );
  if (settled === null)
    return err(incomplete('results', 'Results holds no diagnostic of the adaptive attempt.'));
  if (administeredItemCount < 1)
    return err(incomplete('qti', 'QTI counts no administered item for the adaptive attempt.'));
  return ok({
    scaleScore: settled.scaleScore,
    scaleVersion: settled.scaleVersion,
    calibrationVersion: settled.calibrationVersion,
    standardError: settled.standardError,
    stoppingReason: known(diagnosticDetail.shape.stoppingReason.options, settled.stoppingReason),
    administeredItemCount,
    extNormsSet: criteria.externalScale?.normsSet ?? null,
  });
}
