import { composeAlignmentReport } from '#functions/reports/composition/alignment-report.ts';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import { readComparison } from '#functions/reports/improvement/evidence.ts';
import {
  pinProblem,
  readPinnedCrosswalk,
  readPinnedSourceSet,
  readTwice,
} from '#functions/reports/sources/pinned.ts';
import type { PinFault } from '#functions/reports/sources/pinned.ts';
import { conflicting, notFound, together } from '#functions/reports/sources/problems.ts';
import type { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { linkTo, openRun } from '../support/open-improvement.ts';
import type { ImprovementDependencies, LinkDependencies } from '../support/open-improvement.ts';

/** Returns the alignment of one named source of a run, recomputed from the crosswalk that the run is pinned to. */
export function readAlignmentReportOperation(
  dependencies: ImprovementDependencies & LinkDependencies,
): Operation<typeof readAlignmentReport> {
  return async (request) => {
    const { improvementRunId, sourceKey } = request.path;
    const opened = await openRun(dependencies, request, improvementRunId);
    if (!opened.ok) return opened;
    const { reader, run, moment } = opened.value;
    const source = run.pins.sources.find((named) => named.sourceKey === sourceKey);
    if (source === undefined) return err(notFound());
    const record = await dependencies.runs.readEvidence(run, `source:${sourceKey}`);
    // The run has not reached the source yet, or never will.
    if (record?.receipt === undefined)
      return err(
        run.state === 'failed'
          ? notFound()
          : incomplete('unknown', 'The improvement run has not aligned this source yet.'),
      );

    // An owner that returns twice another version or other ids than requested is a 409 [RP-272]; one that returns nothing, or other bytes under the
    // pinned id, is a 503.
    const facts = await together({
      crosswalk: settled(readTwice(() => readPinnedCrosswalk(reader, run, source))),
      comparison: settled(readComparison(reader, run, source)),
      sourceSet:
        run.pins.rules === '3'
          ? settled(readTwice(() => readPinnedSourceSet(reader, run)))
          : Promise.resolve(ok(undefined)),
    });
    if (!facts.ok) return facts;
    const { crosswalk, comparison, sourceSet } = facts.value;
    const alignment = alignSource(crosswalk.value, sourceSet?.value);
    if (!alignment.ok) return err(incomplete('blueprint', alignment.error));
    const now = moment();
    return ok({
      body: composeAlignmentReport(
        {
          run,
          sourceSet: sourceSet?.receipt,
          crosswalk,
          crosswalkHash: source.crosswalk.sha256,
          alignment: alignment.value,
          comparison,
          receipt: await linkTo(dependencies, run.tenantId, record.receipt, now),
        },
        now,
      ),
    });
  };
}

async function settled<T>(read: Promise<Result<T, PinFault>>): Promise<Result<T, Problem>> {
  const answer = await read;
  if (answer.ok) return answer;
  return err(answer.error.kind === 'moved' ? conflicting(answer.error.service) : pinProblem(answer.error));
}
