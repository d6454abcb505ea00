import { conformanceEvent } from '#functions/mastery/evidence/caliper-event.ts';
import type { RunBasis } from '#functions/mastery/run/basis.ts';
import type { ScoreRecoverySimulation, SyntheticProfile } from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';

/** What a simulation's event speaks of. */
export interface Simulated {
  readonly tenantId: string;
  readonly basis: Pick<RunBasis, 'policy' | 'calibration' | 'pins'>;
  /** As they were asked for. */
  readonly profiles: readonly SyntheticProfile[];
  readonly matrix: Pick<
    ScoreRecoverySimulation,
    'profilesTotal' | 'recoveryErrors' | 'tolerance' | 'maxAbsoluteError' | 'withinTolerance'
  >;
}

/**
 * The Caliper event of a simulation: non-learner evidence of what was simulated with what, and how it came out; profiles and matrix by their
 * hashes [MA-037, MA-199]. Its id follows from everything that it says, and its time is the calibration's `validFrom`: the same request is
 * the same event, under any key, from any container, at any time, and no other simulation can claim its id.
 */
export function simulationEvent({ tenantId, basis, profiles, matrix }: Simulated): CaliperEvent {
  const { policy, calibration, pins } = basis;
  const { document, model } = calibration;
  const at = parseInstant(document.validFrom);
  if (at === undefined) throw new TypeError('a released calibration has a validFrom that is no instant');
  const facts = {
    tenantId,
    testBankId: pins.testBankId,
    at,
    extensions: {
      executionPinsHash: hashCanonical(pins),
      resolvedPoolHash: pins.resolvedPoolHash,
      qtiPoolPackageHash: pins.qtiPoolPackageHash,
      selectionPolicyChecksum: policy.checksum,
      scaleCalibrationChecksum: document.checksum,
      runtimeVersion: model.runtimeVersion,
      kernelHash: model.kernelHash,
      profilesTotal: matrix.profilesTotal,
      profilesHash: hashCanonical(profiles),
      recoveryErrorsHash: hashCanonical(matrix.recoveryErrors),
      tolerance: matrix.tolerance,
      maxAbsoluteError: matrix.maxAbsoluteError,
      withinTolerance: matrix.withinTolerance,
    },
  };
  const id = deterministicUuid('mastery-simulation', tenantId, hashCanonical(facts));
  return conformanceEvent(`urn:uuid:${id}`, facts);
}
