import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import { openContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { Continuation, ContinuationFault } from '#functions/mastery/continuation/continuation.ts';
import { revalidatePool } from '#functions/mastery/pool/read-pool.ts';
import type { RunDependencies } from './dependencies.ts';
import { nameSessions } from './outcomes.ts';
import type { NamedRuntime } from './outcomes.ts';
import { loadPinnedRecords, openPlatform, readBasis, readRuntime, runtimeProblem } from './owners.ts';
import type { RunBasis } from './owners.ts';

/** Opens the caller's continuation: 400 when it is malformed or too late, and one hidden 404 for everything else [MA-061, MA-159]. */
export async function openForCaller(
  dependencies: RunDependencies,
  request: Pick<OperationRequest, 'principal' | 'receivedAt'>,
  token: string,
): Promise<Result<Continuation, Problem>> {
  const opened = await openContinuation(
    dependencies.keys,
    token,
    request.principal.tenantId,
    request.receivedAt,
  );
  return opened.ok ? opened : err(continuationProblem(opened.error));
}

/** A run that was opened again, with everything that its owners say of it now. */
export interface ReopenedRun {
  readonly platform: Platform;
  readonly profile: ServiceProfile;
  readonly runtime: NamedRuntime;
  /** Kept apart from the runtime: a precondition is judged by the runtime alone, before anything else can fail. */
  readonly basis: Result<RunBasis, Problem>;
}

/** Rereads records, pool, CASE, anchor and runtime of a run, side by side as far as they do not depend on each other [MA-066, MA-157]. */
export async function reopenRun(
  dependencies: RunDependencies,
  request: Pick<OperationRequest, 'receivedAt' | 'deadline'>,
  { state }: Continuation,
): Promise<Result<ReopenedRun, Problem>> {
  const [records, opened] = await Promise.all([
    loadPinnedRecords(dependencies, state, request.receivedAt),
    openPlatform(dependencies, state.tenantId, request),
  ]);
  if (!records.ok) return records;
  if (!opened.ok) return opened;
  const { platform, profile } = opened.value;
  const [basis, runtime] = await Promise.all([
    readBasis(platform, records.value, revalidatePool(platform, dependencies.pools, state.pins)),
    readRuntime(platform, state.candidateRef),
  ]);
  if (!runtime.ok) return runtime;
  const named = nameSessions(state.offers, runtime.value);
  if (!named.ok) return err(runtimeProblem(named.error));
  return ok({ platform, profile, basis, runtime: named.value });
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
