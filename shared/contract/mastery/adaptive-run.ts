import * as z from 'zod';
import { when } from '../conditions.ts';
import { stopReason } from '../stop-reason.ts';
import {
  identifier,
  probability,
  recordIdentifier,
  requestIdentifier,
  sha256,
  strongEntityTag,
  studentReference,
  timestamp,
} from './primitives.ts';
import { upstreamReference } from './problem.ts';
import { anchor } from './scale-calibration.ts';

export const runMode = z.enum(['owner_conformance', 'production_learner']);
export type RunMode = z.infer<typeof runMode>;

/** `resultsStudentId` is required for a learner and forbidden otherwise [MA-057]; every other defect is reported together with that one. */
export const startAdaptiveRunRequest = z
  .strictObject({
    selectionPolicyId: recordIdentifier,
    scaleCalibrationId: recordIdentifier,
    testSpecId: requestIdentifier,
    testBankId: requestIdentifier,
    bankOperationId: requestIdentifier,
    runMode,
    resultsStudentId: studentReference.optional(),
  })
  .check(
    when(
      {
        if: { runMode: z.literal('production_learner') },
        then: { resultsStudentId: z.string() },
        else: { resultsStudentId: z.never().optional() },
      },
      {
        path: ['resultsStudentId'],
        message: 'is forbidden in run mode owner_conformance',
        params: { reason: 'forbidden' },
      },
    ),
  );
export type StartAdaptiveRunRequest = z.infer<typeof startAdaptiveRunRequest>;

/** The body of inspect and advance [MA-059, MA-188]: five base64url parts, of which the key part is empty (`alg: dir`). */
export const continuationRequest = z.strictObject({
  continuationToken: z.string().regex(/^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/),
});

export const executionPins = z.strictObject({
  testSpecId: identifier,
  testSpecHash: sha256,
  testBankId: identifier,
  testBankIdentityHash: sha256,
  bankOperationId: identifier,
  qtiPoolPackageId: identifier,
  qtiPoolArtifactId: identifier,
  qtiPoolArtifactVersionId: identifier,
  qtiPoolPackageHash: sha256,
  qtiPoolEtag: strongEntityTag,
  resolvedPoolHash: sha256,
});
export type ExecutionPins = z.infer<typeof executionPins>;

export const offeredItem = z.strictObject({
  deliverySessionId: identifier,
  artifactVersionId: identifier,
  sequence: z.int().min(1),
});
export type OfferedItem = z.infer<typeof offeredItem>;

export const kcClassification = z.strictObject({
  caseCompetencyGuid: identifier,
  caseFrameworkGuid: identifier,
  caseMappingVersion: identifier,
  classification: z.enum(['mastered', 'gap', 'not_yet']),
  posteriorProbability: probability,
  cutScore: probability,
  confidenceThreshold: probability,
  evidenceItemRefs: z.array(identifier),
});
export type KcClassification = z.infer<typeof kcClassification>;

export const scaleResult = z.strictObject({
  scaleScore: z.number(),
  standardError: z.number().min(0),
  scaleId: identifier,
  scaleCalibrationId: identifier,
  anchor,
  validFrom: timestamp,
  validUntil: timestamp,
  limitations: z.array(z.string().min(1)).min(1),
});
export type ScaleResult = z.infer<typeof scaleResult>;

/** A step that a run waits for and that its caller cannot take. */
export const waitingFor = z.strictObject({
  service: upstreamReference.shape.service,
  operation: upstreamReference.shape.operation,
  since: timestamp.optional(),
});

/** The response of start, inspect and advance [MA-072]. */
export const adaptiveRun = z
  .strictObject({
    continuationToken: z.string().min(1),
    continuationExpiresAt: timestamp,
    status: z.enum(['in_progress', 'finalizing', 'completed']),
    runMode,
    selectionPolicyId: identifier,
    scaleCalibrationId: identifier,
    executionPins,
    offeredItem: offeredItem.nullable(),
    kcClassifications: z.array(kcClassification),
    scaleReportability: z.enum(['pending', 'reportable', 'anchor_unavailable']),
    scale: scaleResult.nullable(),
    stopReason: stopReason.nullable(),
    remainingUncertainty: z.number().min(0),
    timeBudgetEndsAt: timestamp.optional(),
    waitingFor: waitingFor.optional(),
    resultRecordRef: identifier.optional(),
    caliperEventRef: identifier.optional(),
    receiptId: identifier,
  })
  .check(
    when(
      {
        if: { scaleReportability: z.literal('reportable') },
        then: { scale: z.looseObject({}) },
        else: { scale: z.null() },
      },
      { message: 'scale is present exactly when it is reportable [MA-082]', path: ['scale'] },
    ),
  );
export type AdaptiveRun = z.infer<typeof adaptiveRun>;
