import type * as z from 'zod';
import type { ComposedAttempt } from '#functions/reports/composition/attempt-report.ts';
import type { Moment } from '#functions/reports/facts/facts.ts';
import type { Frameworks, TenantFrameworks } from '#functions/reports/sources/case-package.ts';
import { profileProblem } from '#functions/reports/sources/problems.ts';
import { createSourceReader, type SourceReader } from '#functions/reports/sources/reader.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import { openPlatform } from '#shared/platform/open-platform.ts';
import type { OpenedPlatform, PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** The most calls of one request that are under way at a time: the test specs of a whole page of the index are read together. */
export const CALLS_AT_ONCE = 128;

/** What every route of the reports service may touch. */
export interface OwnerDependencies extends PlatformDependencies {
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The owners of the verified tenant for the length of one request. */
export interface OpenedOwners extends OpenedPlatform {
  readonly reader: SourceReader;
  /** The moment of composition: never before anything that the reader has observed. */
  readonly moment: () => Moment;
}

/** Opens the owners of the verified tenant. A clock that is set back meanwhile stands still for the request. */
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

/** All that a route of reports may touch. */
export interface ReportDependencies extends OwnerDependencies {
  readonly frameworks: Frameworks;
}

/** The sources of a report: the owners of the verified tenant, and the CASE frameworks that this container has cached for it. */
export interface ReportOwners extends OpenedOwners {
  readonly frameworks: TenantFrameworks;
}

/**
 * Returns what is composed from the owners' responses. It reads facts that cannot all be true once more before it believes them: an owner may have
 * been writing.
 * @param compose reads and composes everything
 */
export async function retryContradiction<T>(
  compose: () => Promise<Result<T, Problem>>,
): Promise<Result<T, Problem>> {
  const first = await compose();
  return first.ok || first.error.invariant === undefined ? first : compose();
}

/** Logs for operators that a report needed an assumption about Results and Content. */
export function logUngovernedGaps(log: Log, { ungovernedGapCount }: ComposedAttempt): void {
  if (ungovernedGapCount > 0) log('GAP_NOT_GOVERNED');
}

/** Responds with what `compose` makes of the owners' responses to this very request. No response is cached for another request [RP-336]. */
export async function answerReport<R extends Route>(
  dependencies: ReportDependencies,
  request: OperationRequest<R>,
  compose: (owners: ReportOwners) => Promise<Result<z.input<R['success']['schema']>, Problem>>,
): Promise<Result<OperationAnswer<R>, Problem>> {
  const opened = await openOwners(dependencies, request);
  if (!opened.ok) return opened;
  const body = await compose({
    ...opened.value,
    frameworks: dependencies.frameworks.of(opened.value.profile),
  });
  return body.ok ? ok({ body: body.value }) : body;
}
