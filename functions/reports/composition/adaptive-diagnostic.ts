import { diagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import type { DiagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { incomplete } from './incomplete.ts';
import { known } from './known.ts';
import type { HeaderFacts, ReportKind } from './report-kind.ts';

/** A scale score with its uncertainty, beside the map of the mastery rows; never a pass or fail [RP-012, RP-068]. */
export const adaptiveDiagnostic: ReportKind = {
  gate: () => ok(null),
  diagnostic: composeDiagnostic,
};

/** What Results measured, counted by QTI; the external scale is named only where the blueprint has a crosswalk to it [RP-106..RP-108]. */
function composeDiagnostic({
  record: { diagnostic: settled },
  criteria,
  administeredItemCount,
}: HeaderFacts): Result<DiagnosticDetail, Problem> {
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
