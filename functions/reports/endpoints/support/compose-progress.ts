import type * as z from 'zod';
import type { Observed } from '#functions/reports/facts/facts.ts';
import { composeImprovementRun, type RunEvidence } from '#functions/reports/composition/improvement-run.ts';
import {
  pinProblem,
  readPinnedArtifact,
  readPinnedSourceSet,
  readTwice,
} from '#functions/reports/sources/pinned.ts';
import type { PinFault } from '#functions/reports/sources/pinned.ts';
import { together } from '#functions/reports/sources/problems.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { improvementRun } from '#shared/contract/reports/improvement-run.ts';
import type { PinnedRef, RunProgress, RunRecord } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { linkTo, type LinkDependencies } from './open-improvement.ts';
import type { OpenedOwners } from './owners.ts';

/** Composes the run from its present records, with a link to its receipt once it is complete. */
export async function composeProgress(
  links: LinkDependencies,
  { moment }: Pick<OpenedOwners, 'moment'>,
  progress: RunProgress,
  { artifacts, sources }: RunEvidence,
): Promise<z.input<typeof improvementRun>> {
  const now = moment();
  const { tenantId, receipt } = progress.run;
  const link = receipt === undefined ? null : await linkTo(links, tenantId, receipt, now);
  return composeImprovementRun({ progress, artifacts, sources, receipt: link }, now);
}

/**
 * Reads the evidence of a run again, concurrently. An artifact that can no longer be read is a 503 that names its owner [RP-268]. A failed run claims
 * nothing about its evidence, so it shows a lost artifact as lost.
 */
export async function readRunEvidence(
  reader: SourceReader,
  run: RunRecord,
): Promise<Result<RunEvidence, Problem>> {
  async function show<T>(
    operation: UpstreamOperation,
    { ref }: PinnedRef,
    read: () => Promise<Result<Observed<T>, PinFault>>,
  ): Promise<Result<Observed<T | undefined>, Problem>> {
    const answer = await readTwice(read);
    if (answer.ok) return answer;
    return run.state === 'failed' && answer.error.kind !== 'unavailable'
      ? ok({ value: undefined, receipt: reader.unavailable(operation, ref) })
      : err(pinProblem(answer.error));
  }
  const { readAlignmentSources, readAnalysisArtifact } = operations;
  const pinned = run.pins.metrics.flatMap(({ metric, artifact }) => (artifact ? [{ metric, artifact }] : []));
  const read = await together({
    sourceSet: show(readAlignmentSources, run.pins.sourceSet, () => readPinnedSourceSet(reader, run)),
    metrics: together<Record<string, Observed<MetricArtifact | undefined>>>(
      Object.fromEntries(
        pinned.map(({ metric, artifact }) => [
          metric,
          show(readAnalysisArtifact, artifact, () =>
            readPinnedArtifact(reader, run, artifact, { kind: 'metric', metric }),
          ),
        ]),
      ),
    ),
  });
  if (!read.ok) return read;
  const { sourceSet, metrics } = read.value;
  return ok({
    artifacts: new Map(pinned.map(({ metric }) => [metric, metrics[metric]?.value])),
    sources: [sourceSet.receipt, ...Object.values(metrics).map(({ receipt }) => receipt)],
  });
}
