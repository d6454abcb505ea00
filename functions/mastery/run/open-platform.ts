import { profileProblem } from '#functions/mastery/upstream/problems.ts';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { openPlatform } from '#shared/platform/open-platform.ts';
import type {
  OpenedPlatform,
  PlatformDependencies,
  PlatformRequest,
} from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** The platform for the verified tenant; without a usable profile of exactly that tenant, the engine's problem [MA-009, MA-010]. */
export async function openRunPlatform(
  dependencies: PlatformDependencies,
  request: PlatformRequest,
): Promise<Result<OpenedPlatform, Problem>> {
  const opened = await openPlatform(dependencies, request);
  return opened.ok ? opened : err(profileProblem(opened.error));
}
