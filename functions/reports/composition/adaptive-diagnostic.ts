import { diagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import type { DiagnosticDetail } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { HeaderFacts, Released } from '../facts/facts.ts';
import { shortfall } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';

/** As long as the mastery engine is not proved with production learners, no diagnostic is shown [RP-026]. */
export function checkReleased(proved: Released['proved']): Shortfall | undefined {
  return proved.has('mastery_engine_production_learner')
    ? undefined
    : shortfall(
        'unreleased',
        'mastery_engine',
        'Evidence of the mastery engine from production learners is not there yet.',
      );
}

/**
 * A scale score with its uncertainty, as Results measured it and QTI counted the items; never a pass or fail [RP-012, RP-068]. The external
 * scale is named only where the blueprint has a crosswalk to it [RP-106..RP-108].
 */
export function composeDiagnostic({
  record: { diagnostic: settled },
  criteria,
  administeredItemCount,
  proved,
}: HeaderFacts & Released): Result<DiagnosticDetail, Shortfall> {
  const unreleased = checkReleased(proved);
  if (unreleased !== undefined) return err(unreleased);
  if (settled === null)
    return err(shortfall('unsettled', 'results', 'Results holds no diagnostic of the adaptive attempt.'));
  if (administeredItemCount < 1)
    return err(shortfall('unusable', 'qti', 'QTI counts no administered item for the adaptive attempt.'));
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
