import { serveReport } from '#functions/reports/cache/serve-report.ts';
import type { Compose, ReportServing } from '#functions/reports/cache/serve-report.ts';
import type { Moment } from '#functions/reports/facts/facts.ts';
import type { Frameworks, TenantFrameworks } from '#functions/reports/sources/case-package.ts';
import { profileProblem } from '#functions/reports/sources/problems.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { openPlatform } from '#shared/platform/open-platform.ts';
import type { OpenedPlatform, PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** Calls of one request that are under way at a time: the test specs of a whole page of the index, or what confirms a kept answer, are one turn. */
export const CALLS_AT_ONCE = 128;

/** All that a route of reports may touch. */
export interface ReportDependencies extends PlatformDependencies {
  readonly serving: ReportServing;
  readonly frameworks: Frameworks;
}

/** What a report is composed over: the owners of the verified tenant, and what this container has kept of its CASE frameworks. */
export interface Sources {
  readonly reader: SourceReader;
  readonly frameworks: TenantFrameworks;
}

/** The owners of the verified tenant, with what this container has kept of their CASE frameworks. */
export async function openReportOwners(
  dependencies: ReportDependencies,
  request: OperationRequest,
): Promise<Result<OpenedPlatform & { readonly frameworks: TenantFrameworks }, Problem>> {
  const opened = await openPlatform(dependencies, request);
  if (!opened.ok) return err(profileProblem(opened.error));
  return ok({ ...opened.value, frameworks: dependencies.frameworks.of(opened.value.profile) });
}

/** Answers one read with what `compose` makes of the owners' answers to this very request, or with one that they have just confirmed. */
export async function answerReport<R extends Route>(
  dependencies: ReportDependencies,
  route: R,
  request: OperationRequest<R>,
  compose: (sources: Sources, moment: Moment) => ReturnType<Compose<R>>,
): Promise<Result<OperationAnswer<R>, Problem>> {
  const opened = await openReportOwners(dependencies, request);
  if (!opened.ok) return opened;
  const { platform, profile, frameworks } = opened.value;
  return serveReport(dependencies.serving, { route, request, platform, profile }, (reader, moment) =>
    compose({ reader, frameworks }, moment),
  );
}
