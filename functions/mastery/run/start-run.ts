import type { startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { Control, Operation, OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import { readPool } from '#functions/mastery/pool/read-pool.ts';
import { invalidCalibration } from '#functions/mastery/records/load.ts';
import { composeRun } from './compose.ts';
import type { RunDependencies } from './dependencies.ts';
import { assess } from './diagnosis.ts';
import { runEntityTag } from './entity-tag.ts';
import { deriveIdentity } from './identity.ts';
import { nameSessions } from './outcomes.ts';
import { offerItem } from './offer-item.ts';
import {
  loadRecords,
  openPlatform,
  readBasis,
  readRuntime,
  requireKcComponents,
  runtimeProblem,
} from './owners.ts';
import type { RunRecordsPair } from './owners.ts';
import { recordReceipt } from './receipt.ts';
import { addOffer } from './transitions/add-offer.ts';
import { startState } from './transitions/start.ts';

type Start = typeof startAdaptiveRun;

/**
 * Starts a run: pins records and pool, offers the first item, and answers with the token that is the run's only handle [MA-135]. Repeated
 * with the same key it derives the same identity from the control record, finds its offer in QTI, and answers 201 again.
 */
export function startRun(dependencies: RunDependencies): Operation<Start> {
  return async (request) => {
    const { tenantId } = request.principal;
    const records = await loadRecords(dependencies, tenantId, request.body, request.receivedAt);
    if (!records.ok) return records;
    return request.idempotent((control) => begin(dependencies, request, records.value, control));
  };
}

async function begin(
  dependencies: RunDependencies,
  request: OperationRequest<Start>,
  records: RunRecordsPair,
  control: Control,
): Promise<Result<OperationAnswer<Start>, Problem>> {
  const { body, principal } = request;
  const opened = await openPlatform(dependencies, principal.tenantId, request);
  if (!opened.ok) return opened;
  const { platform, profile } = opened.value;
  const identity = await deriveIdentity(dependencies.keys, principal.tenantId, control);

  const [basis, runtime, publishable] = await Promise.all([
    readBasis(platform, records, readPool(platform, dependencies.pools, body)),
    readRuntime(platform, identity.candidateRef),
    body.runMode === 'production_learner' ? requireKcComponents(platform) : ok(undefined),
  ]);
  if (!basis.ok) return basis;
  if (!publishable.ok) return publishable;
  if (!runtime.ok) return runtime;

  const { policy, calibration, pins } = basis.value;
  const blank = startState(principal.tenantId, body, identity, pins, {
    selectionPolicy: policy.checksum,
    scaleCalibration: calibration.document.checksum,
  });
  const { diagnosis, next } = assess(basis.value, blank, []);
  if (next.kind === 'stop')
    return err(invalidCalibration('No item of the pool is eligible under the policy and the calibration.'));
  const named = nameSessions([], runtime.value);
  if (!named.ok) return err(runtimeProblem(named.error));
  const placed = await offerItem(platform, blank, named.value.unnamed, next.item);
  if (!placed.ok) return placed;

  const state = addOffer(blank, placed.value.offer);
  const continuation = await sealContinuation(dependencies.keys, state, control.createdAt);
  const receiptId = recordReceipt(request.log, profile, platform, basis.value, state);
  return ok({
    body: composeRun(continuation, diagnosis, receiptId),
    headers: { ETag: runEntityTag(state, { sessions: [placed.value], unnamed: [] }) },
  });
}
