import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { RunBasis } from './owners.ts';
import type { RunState } from './state.ts';

/**
 * Logs the redacted trace of a request as one record and gives its content address, the answer's `receiptId` [MA-087, MA-088]: which
 * profile and host, what was reconciled, every call with status, version, hash and times. Nothing in it names a learner, a candidate, a
 * session or a score; a call that answered about another tenant would have ended the request before.
 */
export function recordReceipt(
  log: OperationRequest['log'],
  profile: ServiceProfile,
  platform: Platform,
  basis: RunBasis,
  state: RunState,
): string {
  const trace = {
    profile: profile.tenantId,
    hosts: [new URL(profile.baseUrl).host],
    tenantIsolation: 'every-answer-of-the-profile-tenant',
    runMode: state.runMode,
    runtimeVersion: basis.calibration.model.runtimeVersion,
    kernelHash: basis.calibration.model.kernelHash,
    resolvedPoolHash: state.pins.resolvedPoolHash,
    reconciledMembers: basis.bound.items.length,
    trace: platform.trace().map((entry) => ({ ...entry })),
  };
  const receiptId = hashCanonical(trace);
  log('RUN_RECEIPT', { receiptId, ...trace });
  return receiptId;
}
