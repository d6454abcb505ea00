import { confirmed } from '#functions/mastery/upstream/confirmed.ts';
import { invalidOwnerData, invalidPool, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RuntimeData } from '#shared/platform/owners/qti.ts';
import type { Platform, UpstreamAnswer } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { nameSessions, readOutcomes } from './outcomes.ts';
import type { Evidence, NamedRuntime, RuntimeFault } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** QTI's runtime of a run, read and understood. */
export interface RunRuntime extends Evidence {
  readonly named: NamedRuntime;
}

/**
 * Reads what QTI holds now for the run's sessions [MA-028]. A reading that contradicts the continuation is repeated before it is believed.
 */
export async function readRunRuntime(
  platform: Platform,
  state: AdaptiveRunState,
): Promise<Result<RunRuntime, Problem>> {
  return confirmed(platform, () => readOnce(platform, state));
}

/** The candidate's sessions, of which the outcomes do not matter here. A candidate that QTI has never met has none. */
export async function readSessions(
  platform: Platform,
  run: Pick<AdaptiveRunState, 'candidateRef' | 'offers' | 'runTag'>,
): Promise<Result<NamedRuntime, Problem>> {
  const { candidateRef } = run;
  const answer = await platform.call(operations.readCandidateRuntime, {
    path: { tenantId: platform.tenantId, candidateRef },
  });
  if (!answer.ok)
    return answer.error.kind === 'not-found'
      ? ok({ sessions: [], unnamed: [], others: [] })
      : err(upstreamProblem(answer.error));
  if (answer.value.value.candidateRef !== candidateRef) return err(foreignRuntime(answer.value));
  const named = nameSessions(run, answer.value.value);
  return named.ok ? named : err(runtimeProblem(named.error, answer.value.upstreamRequestId));
}

async function readOnce(platform: Platform, state: AdaptiveRunState): Promise<Result<RunRuntime, Problem>> {
  const answer = await platform.call(operations.readCandidateRuntime, {
    path: { tenantId: platform.tenantId, candidateRef: state.candidateRef },
  });
  if (!answer.ok) return err(upstreamProblem(answer.error));
  if (answer.value.value.candidateRef !== state.candidateRef) return err(foreignRuntime(answer.value));
  const { upstreamRequestId } = answer.value;
  const named = nameSessions(state, answer.value.value);
  if (!named.ok) return err(runtimeProblem(named.error, upstreamRequestId));
  const evidence = readOutcomes(state, named.value);
  return evidence.ok
    ? ok({ ...evidence.value, named: named.value })
    : err(runtimeProblem(evidence.error, upstreamRequestId));
}

/** What a fault of QTI's runtime means to the caller: a score that may still become readable is worth a retry, no other is. */
function runtimeProblem(fault: RuntimeFault, requestId: string | undefined): Problem {
  const row = operations.readCandidateRuntime;
  switch (fault) {
    case 'stream-conflict':
      return problem('mastery', 'stream-conflict', 409);
    case 'unprocessed':
      return invalidOwnerData(row, requestId, 'QTI has not completed the processing of an attempt.', true);
    case 'unreadable':
      return invalidOwnerData(row, requestId, 'A scored attempt is not a 0 or 1 score with its time.');
    case 'same-id':
      return invalidOwnerData(row, requestId, 'Two attempts of the run have one id.');
  }
}

function foreignRuntime({ upstreamRequestId }: UpstreamAnswer<RuntimeData>): Problem {
  return invalidPool(
    operations.readCandidateRuntime,
    upstreamRequestId,
    'The runtime data are of another candidate.',
  );
}
