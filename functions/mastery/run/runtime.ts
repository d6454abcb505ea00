import { confirmed, type UnconfirmedProblem } from '#functions/mastery/upstream/confirmed.ts';
import { answerProblem } from '#functions/mastery/upstream/problems.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readCandidateRuntime } from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { nameSessions, older, readOutcomes, type Evidence, type NamedRuntime } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** QTI's runtime of a run, read and understood. */
export interface RunRuntime extends Evidence {
  readonly named: NamedRuntime;
}

/** Reads QTI's present state of the run's sessions [MA-028]. A reading that contradicts the continuation is repeated before the service believes it. */
export async function readRunRuntime(
  platform: Platform,
  state: AdaptiveRunState,
  { receivedAt }: { readonly receivedAt: number },
): Promise<Result<RunRuntime, Problem>> {
  return confirmed(platform, async () => {
    const named = await readSessions(platform, state);
    if (!named.ok) return named;
    const evidence = readOutcomes(state, named.value, receivedAt);
    return evidence.ok ? ok({ ...evidence.value, named: named.value }) : evidence;
  });
}

/** Reads the sessions of the run's candidate. Before the run's first offer QTI may not know the candidate, which then has none. */
export async function readSessions(
  platform: Platform,
  run: Pick<AdaptiveRunState, 'candidateRef' | 'offers' | 'runTag'>,
): Promise<Result<NamedRuntime, Problem | UnconfirmedProblem>> {
  const { candidateRef } = run;
  const answer = await platform.call(readCandidateRuntime, { path: { candidateRef } });
  if (answer.ok) return nameSessions(run, answer.value.value, answer.value.upstreamRequestId);
  const { kind, upstreamRequestId } = answer.error;
  if (kind !== 'not-found') return err(answerProblem(readCandidateRuntime, 'run', answer.error));
  return run.offers.length === 0 ? ok({ sessions: [], unnamed: [], others: [] }) : older(upstreamRequestId);
}
