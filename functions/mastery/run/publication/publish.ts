import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import { verdicts } from '#shared/platform/verdicts.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { emitAndReadBack, eventNamesOf } from '#functions/mastery/evidence/caliper-event.ts';
import { answerProblem, type Unusable } from '#functions/mastery/upstream/problems.ts';
import { resultsAcknowledged, type AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { acknowledge } from '../transitions.ts';
import type { Findings } from '../diagnosis.ts';
import { namesOf } from '../names.ts';
import { completionEvent, kcComponents, resultRecord } from './writings.ts';

/** Why a publication stopped: an owner is silent for now (the run stays `finalizing`), or has refused. */
type Halt = 'silent' | Problem;

type Publication = (
  platform: Platform,
  state: AdaptiveRunState,
  findings: Findings,
) => Promise<Result<AdaptiveRunState, Halt>>;

/**
 * Publishes a run, finalizing → completed, as far as the owners allow: Results record, its components, the Caliper event, its read-back, in this order, each
 * only once the one before is acknowledged [MA-138, MA-202]. Every write is idempotent: repeated, it stays one record and one event. A silent owner leaves
 * the run `finalizing` with its acknowledgements; a refusal is a 424 `finalization-incomplete` [MA-169].
 */
export async function publish(
  platform: Platform,
  state: AdaptiveRunState,
  findings: Findings,
): Promise<Result<AdaptiveRunState, Problem>> {
  let current = state;
  for (const step of [publishRecord, publishComponents, publishEvent]) {
    const outcome = await step(platform, current, findings);
    if (outcome.ok) current = outcome.value;
    else return outcome.error === 'silent' ? ok(current) : err(outcome.error);
  }
  return ok(current);
}

const publishRecord: Publication = async (platform, state, findings) => {
  const { resultsStudentId } = state;
  if (resultsStudentId === undefined || state.acknowledgements.resultRecordId !== undefined) return ok(state);
  const { producerResultId } = namesOf(state);
  const answer = await platform.call(operations.writeResultRecord, {
    idempotencyKey: producerResultId,
    body: resultRecord(state, resultsStudentId, findings),
  });
  if (!answer.ok) return err(halted(operations.writeResultRecord, 'write', answer.error));
  return ok(acknowledge(state, { resultRecordId: answer.value.value.resultRecordId }));
};

const publishComponents: Publication = async (platform, state, { kcClassifications }) => {
  const { resultRecordId } = state.acknowledgements;
  if (resultsAcknowledged(state) || resultRecordId === undefined) return ok(state);
  const body = kcComponents(state, resultRecordId, kcClassifications);
  const answer = await platform.call(operations.writeKcComponents, {
    path: { resultRecordId },
    idempotencyKey: namesOf(state).componentsKey,
    body,
  });
  if (!answer.ok) return err(halted(operations.writeKcComponents, 'write', answer.error));
  const { value, upstreamRequestId } = answer.value;
  const { count, componentIds } = value;
  const sent = body.components.map(({ componentId }) => componentId).sort();
  const complete = count === sent.length && canonicalJson(componentIds.toSorted()) === canonicalJson(sent);
  if (complete) return ok(acknowledge(state, { componentsAcknowledged: true }));
  const broken = { kind: 'broken', transient: false, upstreamRequestId } as const;
  return err(halted(operations.writeKcComponents, 'write', broken));
};

const publishEvent: Publication = async (platform, state, findings) => {
  if (state.acknowledgements.caliperEventIri !== undefined) return ok(state);
  const event = completionEvent(state, findings);
  const acknowledged = await emitAndReadBack(platform, event, eventNamesOf(state));
  if (acknowledged.ok) return ok(acknowledge(state, { caliperEventIri: event.id }));
  const { operation, use, fault } = acknowledged.error;
  return err(halted(operation, use, fault));
};

/** Returns why a call stops the publication: the owner is silent, or anything else, which is its refusal. */
function halted(operation: UpstreamOperation, use: 'write' | 'read-back', fault: Unusable): Halt {
  return verdicts[use][fault.kind] === 'finalizing' ? 'silent' : answerProblem(operation, use, fault);
}
