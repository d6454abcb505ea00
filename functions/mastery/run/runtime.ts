import { confirmed } from '#functions/mastery/upstream/confirmed.ts';
import { invalidOwnerData, invalidPool, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { nameSessions, readOutcomes } from './outcomes.ts';
import type { Evidence, NamedRuntime, RuntimeFault } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** QTI's runtime of a run, read and understood. */
export interface RunRuntime extends Evidence {
  readonly named: NamedRuntime;
}

type OfferedRun = Pick<AdaptiveRunState, 'candidateRef' | 'offers' | 'runTag'>;

/**
 * Reads what QTI holds now for the run's sessions [MA-028]. A reading that contradicts the continuation is repeated before it is believed.
 */
export async function readRunRuntime(
  platform: Platform,
  state: AdaptiveRunState,
): Promise<Result<RunRuntime, Problem>> {
  return confirmed(platform, () =>
    readRuntime(platform, state, (named) => {
      const evidence = readOutcomes(state, named);
      return evidence.ok ? ok({ ...evidence.value, named }) : evidence;
    }),
  );
}

/** The candidate's sessions, of which the outcomes do not matter here. A candidate that QTI has never met has none. */
export async function readSessions(
  platform: Platform,
  run: OfferedRun,
): Promise<Result<NamedRuntime, Problem>> {
  return readRuntime(platform, run, ok, { sessions: [], unnamed: [], others: [] });
}

/** @param unmet what a candidate has that QTI has never met; default: that is QTI's gap, 424 */
async function readRuntime<T>(
  platform: Platform,
  run: OfferedRun,
  understand: (named: NamedRuntime) => Result<T, RuntimeFault>,
  unmet?: T,
): Promise<Result<T, Problem>> {
  const { candidateRef } = run;
  const row = operations.readCandidateRuntime;
  const answer = await platform.call(row, { path: { candidateRef } });
  if (!answer.ok)
    return unmet !== undefined && answer.error.kind === 'not-found'
      ? ok(unmet)
      : err(upstreamProblem(answer.error));
  const { value, upstreamRequestId } = answer.value;
  if (value.candidateRef !== candidateRef)
    return err(invalidPool(row, upstreamRequestId, 'The runtime data are of another candidate.'));
  const named = nameSessions(run, value);
  const understood = named.ok ? understand(named.value) : named;
  return understood.ok ? understood : err(runtimeProblem(understood.error, upstreamRequestId));
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
