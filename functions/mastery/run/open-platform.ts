import { profileProblem } from '#functions/mastery/upstream/problems.ts';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { openPlatform } from '#shared/platform/open-platform.ts';
import type { PlatformDependencies, PlatformRequest } from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { IsolationWatch } from '#shared/release/release-state.ts';
import { recordPoolReceipt } from './receipt.ts';
import type { OpenedRun } from './receipt.ts';

/**
 * Works with the platform of the verified tenant; without a usable profile of exactly that tenant, the engine's problem [MA-009, MA-010].
 * A pool that is refused leaves a receipt, and its problem names it [MA-221].
 */
export async function withRunPlatform<T>(
  dependencies: PlatformDependencies & { readonly isolationProof: IsolationWatch },
  request: PlatformRequest,
  work: (opened: OpenedRun) => Promise<Result<T, Problem>>,
): Promise<Result<T, Problem>> {
  const [platform, isolation] = await Promise.all([
    openPlatform(dependencies, request),
    dependencies.isolationProof(),
  ]);
  if (!platform.ok) return err(profileProblem(platform.error));
  const opened = { ...platform.value, isolation };
  const result = await work(opened);
  if (result.ok || result.error.code !== 'qti-adaptive-pool-invalid') return result;
  return err({ ...result.error, receiptId: recordPoolReceipt(request.log, opened) });
}
