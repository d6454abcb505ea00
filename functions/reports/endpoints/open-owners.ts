import type { Moment } from '#functions/reports/facts/facts.ts';
import { profileProblem } from '#functions/reports/sources/problems.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { openPlatform } from '#shared/platform/open-platform.ts';
import type { OpenedPlatform, PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** Everything that a route of the reports service may use. */
export interface OwnerDependencies extends PlatformDependencies {
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The owners of the verified tenant for the length of one request. */
export interface OpenedOwners extends OpenedPlatform {
  readonly reader: SourceReader;
  /** Returns the time of composition: never before any observation that the response shows. */
  readonly moment: () => Moment;
}

/** Opens the owners of the verified tenant. If the clock is set back meanwhile, time stops for the request. */
export async function openOwners(
  dependencies: OwnerDependencies,
  request: OperationRequest,
): Promise<Result<OpenedOwners, Problem>> {
  const opened = await openPlatform(dependencies, request);
  if (!opened.ok) return err(profileProblem(opened.error));
  const { requestId, traceId } = request;
  let latest = 0;
  const now = (): number => (latest = Math.max(latest, dependencies.now()));
  return ok({
    ...opened.value,
    reader: createSourceReader(opened.value.platform, now),
    moment: () => ({ observedAt: formatInstant(now()), requestId, traceId }),
  });
}
