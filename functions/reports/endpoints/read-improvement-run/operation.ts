import { notFound } from '#functions/reports/sources/problems.ts';
import type { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { composeProgress, readRunEvidence } from '../support/compose-progress.ts';
import { openRun, type ImprovementDependencies, type LinkDependencies } from '../support/open-improvement.ts';

/** Returns the progress of a run, in one consistent read of its records, with its evidence read again. */
export function readImprovementRunOperation(
  dependencies: ImprovementDependencies & LinkDependencies,
): Operation<typeof readImprovementRun> {
  return async (request) => {
    const opened = await openRun(dependencies, request, request.path.improvementRunId);
    if (!opened.ok) return opened;
    const { reader, run } = opened.value;
    const evidence = await readRunEvidence(reader, run);
    if (!evidence.ok) return evidence;
    const progress = await dependencies.runs.readProgress(run);
    if (progress === undefined) return err(notFound());
    return ok({
      body: await composeProgress(dependencies, opened.value, progress, evidence.value),
    });
  };
}
