import { conformanceEvent, uuidNames } from '#functions/mastery/evidence/caliper-event.ts';
import type { RunBasis } from '#functions/mastery/run/basis.ts';
import type { evaluateRecovery } from '#functions/mastery/simulation/recovery.ts';
import type { SyntheticProfile } from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';

/** The content of a simulation's event. */
export interface Simulated {
  readonly tenantId: string;
  readonly basis: Pick<RunBasis, 'policy' | 'calibration' | 'pins'>;
  /** As the request lists them. */
  readonly profiles: readonly SyntheticProfile[];
  readonly matrix: ReturnType<typeof evaluateRecovery> & { readonly replications: number };
  /** Epoch milliseconds at which the idempotency record was created. */
  readonly at: number;
}

/**
 * Returns the Caliper event of a simulation: non-learner evidence of what was simulated, with which records, and the outcome; it contains profiles
 * and matrix as hashes [MA-037, MA-199]. Its id follows from all of its content, including its time: a repetition under the same key is the same
 * event in any container, and no other simulation can claim its id.
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
  // Not the purpose string of earlier versions: their events have other names, and Caliper rejects the same id with other content.
  const id = deterministicUuid('mastery-simulation-2', tenantId, hashCanonical(facts));
  return conformanceEvent(`urn:uuid:${id}`, facts, uuidNames);
}
