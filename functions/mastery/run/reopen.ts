import { openContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { Continuation, ContinuationFault } from '#functions/mastery/continuation/continuation.ts';
import { revalidatePool } from '#functions/mastery/pool/read-pool.ts';
import type { ContentUse } from '#functions/mastery/pool/read-pool.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { readBasis } from './basis.ts';
import type { RunBasis } from './basis.ts';
import type { RunDependencies } from './dependencies.ts';
import { loadPinnedRecords } from './pinned-records.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** Opens the caller's continuation: 400 when it is malformed or too late, and one hidden 404 for everything else [MA-061, MA-159]. */
export async function openForCaller(
  dependencies: RunDependencies,
  request: Pick<OperationRequest, 'principal' | 'receivedAt'>,
  token: string,
): Promise<Result<Continuation, Problem>> {
  const { principal, receivedAt } = request;
  const opened = await openContinuation(dependencies.keys, token, principal.tenantId, receivedAt);
  return opened.ok ? opened : err(continuationProblem(opened.error));
}

/**
 * Rereads everything that a run is pinned to: records, pool, CASE and anchor [MA-066, MA-157].
 * @param afterStop what Content is to the run once it has stopped
 */
export async function reopenBasis(
  dependencies: RunDependencies,
  request: Pick<OperationRequest, 'receivedAt'>,
  platform: Platform,
  state: AdaptiveRunState,
  afterStop: ContentUse,
): Promise<Result<RunBasis, Problem>> {
  const records = await loadPinnedRecords(dependencies, state, request.receivedAt);
  if (!records.ok) return records;
  const use = state.stopReason === null ? 'binding' : afterStop;
  const reading = revalidatePool(platform, dependencies.pools, state.pins, use);
  return readBasis(platform, records.value, reading, 'under_way');
}

function continuationProblem(fault: ContinuationFault): Problem {
  switch (fault) {
    case 'unopenable':
      return problem('mastery', 'resource-not-found', 404);
    case 'malformed':
      return invalidToken('malformed', 'must be a continuation token of this service');
    case 'expired':
      return invalidToken('expired', 'has expired; start a new run');
  }
}

function invalidToken(reason: string, message: string): Problem {
  return problem('mastery', 'invalid-request', 400, {
    invalidParams: [{ name: '/body/continuationToken', reason, message }],
  });
}
