import { conformanceEvent, uuidNames } from '#functions/mastery/evidence/caliper-event.ts';
import type { RunBasis } from '#functions/mastery/run/basis.ts';
import type { ScoreRecoverySimulation, SyntheticProfile } from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';

/** What a simulation's event speaks of. */
export interface Simulated {
  readonly tenantId: string;
  readonly basis: Pick<RunBasis, 'policy' | 'calibration' | 'pins'>;
  /** As they were asked for. */
  readonly profiles: readonly SyntheticProfile[];
  readonly matrix: Pick<
    ScoreRecoverySimulation,
    'profilesTotal' | 'replications' | 'recoveryErrors' | 'tolerance' | 'maxAbsoluteError' | 'withinTolerance'
  >;
  /** Epoch milliseconds of the control record's creation. */
  readonly at: number;
}

/**
 * The Caliper event of a simulation: non-learner evidence of what was simulated with what, and how it came out; profiles and matrix by their
 * hashes [MA-037, MA-199]. Its id follows from everything that it says, its time included: a repetition under the same key is the same
 * event, from any container, and no other simulation can claim its id.
 */
export function simulationEvent({ tenantId, basis, profiles, matrix, at }: Simulated): CaliperEvent {
  const { policy, calibration, pins } = basis;
  const { document, model } = calibration;
  const { recoveryErrors, ...figures } = matrix;
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
      profilesHash: hashCanonical(profiles),
      recoveryErrorsHash: hashCanonical(recoveryErrors),
      ...figures,
    },
  };
  // Not the purpose of earlier versions: their events have other names, and Caliper refuses one id with other content.
  const id = deterministicUuid('mastery-simulation-2', tenantId, hashCanonical(facts));
  return conformanceEvent(`urn:uuid:${id}`, facts, uuidNames);
}
