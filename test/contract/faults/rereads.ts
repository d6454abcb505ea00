import { expect } from 'vitest';
import type { RunGiven } from '#test/support/adaptive-run.ts';
import { conflict, drift, invalid, miscalibrated, refused, silent, unauthorized } from './fault-table.ts';
import type { FaultRow, FaultTable } from './fault-table.ts';

/** Nothing here is the caller's id any more: whatever an owner does not show is its own gap. */
const refusals = (service: string): Pick<FaultRow, 401 | 404 | 409 | 422> => ({
  401: unauthorized,
  404: refused(service),
  409: refused(service),
  422: refused(service),
});

const sound = '200 in_progress reportable';

/** What both inspect and advance read. Against the pins one reading is enough to see drift, and a second one to believe it. */
export const rereads: FaultTable = {
  readTestSpec: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: conflict,
    version_drift: sound,
    always_version_drift: conflict,
    stale: sound,
    always_stale: conflict,
    ...refusals('content'),
  },
  validateAdaptiveBankIdentity: {
    silent: silent('content'),
    malformed: refused('content'),
    wrong_tenant: refused('content'),
    other_entity: conflict,
    version_drift: sound,
    always_version_drift: conflict,
    stale: sound,
    always_stale: conflict,
    ...refusals('content'),
  },
  readAdaptivePoolManifest: {
    silent: silent('bank'),
    malformed: invalid('bank'),
    wrong_tenant: invalid('bank'),
    other_entity: {
      '/operationId': invalid('bank'),
      '/testSpecId': drift,
      '/testBankId': drift,
      '/root/packageId': drift,
      '/root/artifactId': drift,
      '/root/artifactVersionId': drift,
      // The root is read beside the manifest, which does not hang together with it.
      '/root/qtiIdentifier': invalid('qti'),
      '/members/0/artifactVersionId': invalid('qti'),
      '/members/0/qtiIdentifier': invalid('qti'),
    },
    version_drift: sound,
    always_version_drift: drift,
    // Not a contradiction: an operation that still runs is waited for.
    stale: silent('bank'),
    ...refusals('bank'),
  },
  readAdaptivePoolRoot: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: drift,
    version_drift: sound,
    always_version_drift: drift,
    stale: sound,
    always_stale: drift,
    ...refusals('qti'),
  },
  resolveMapping: {
    silent: silent('case'),
    malformed: refused('case'),
    wrong_tenant: miscalibrated,
    other_entity: miscalibrated,
    version_drift: miscalibrated,
    stale: '200 in_progress reportable',
    ...refusals('case'),
  },
  verifyAnchor: {
    silent: '200 in_progress anchor_unavailable',
    malformed: '200 in_progress anchor_unavailable',
    wrong_tenant: '200 in_progress anchor_unavailable',
    other_entity: '200 in_progress anchor_unavailable',
    version_drift: '200 in_progress anchor_unavailable',
    stale: '200 in_progress anchor_unavailable',
    401: '200 in_progress anchor_unavailable',
    404: '200 in_progress anchor_unavailable',
    409: '200 in_progress anchor_unavailable',
    422: '200 in_progress anchor_unavailable',
  },
};

/** QTI's runtime, but for an old view of it: what that means depends on what the old view leaves out. */
export const rereadRuntime = {
  silent: silent('qti'),
  malformed: invalid('qti'),
  wrong_tenant: invalid('qti'),
  other_entity: { '/candidateRef': invalid('qti'), '/sessions/0/rootArtifactVersionId': conflict },
  ...refusals('qti'),
};

/** A run that is shown says what it said before, except for a scale that no verified anchor carries. */
export function expectNothingInvented(reply: RunGiven, sound: RunGiven): void {
  const { scaleReportability } = reply.body;
  expect(reply.body).toMatchObject({
    executionPins: sound.body.executionPins,
    kcClassifications: sound.body.kcClassifications,
    remainingUncertainty: sound.body.remainingUncertainty,
    scale: scaleReportability === 'reportable' ? sound.body.scale : null,
  });
}
