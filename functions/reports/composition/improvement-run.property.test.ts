import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { improvementRun, runMetrics, type ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { completedRun } from '#shared/contract/reports/examples.ts';
import { recordedRun, type RecordedRun } from '#test/support/improvement-facts.ts';
import { frozen, moment } from '#test/support/report-facts.ts';
import { composeImprovementRun } from './improvement-run.ts';

const sources = completedRun.sources;

/** The answer on a recorded run, with a link where its receipt is recorded. */
function shown({ progress, artifacts }: RecordedRun): ImprovementRun {
  const receipt = progress.run.receipt === undefined ? null : completedRun.receipt;
  return composeImprovementRun({ progress: frozen(progress), artifacts, sources, receipt }, moment);
}

/** Any run in one of these states. */
function runIn(...states: readonly string[]) {
  return recordedRun.filter(({ progress }) => states.includes(progress.run.state));
}

describe('a run, in whatever state its records are', () => {
  it('names what was read for two metrics once [RP-007]', () => {
    fc.assert(
      fc.property(recordedRun, ({ progress, artifacts }) => {
        const receipt = progress.run.receipt === undefined ? null : completedRun.receipt;
        const twice = [...sources, ...sources];
        expect(
          composeImprovementRun({ progress, artifacts, sources: twice, receipt }, moment).sources,
        ).toEqual(sources);
      }),
      { numRuns: 10 },
    );
  });

  it('is named and pinned as it was created, counts its sources, alignments and orders, and ends exactly when it is terminal, never before it began [RP-141, RP-142, RP-143, RP-144, RP-145, RP-146, RP-147, RP-148, RP-149, RP-150, RP-151, RP-153, RP-154, RP-155, RP-157, RP-221]', () => {
    fc.assert(
      fc.property(recordedRun, (recorded) => {
        const { run, evidence, orders } = recorded.progress;
        const { pins, createdAt, completedAt } = run;
        const body = shown(recorded);
        expect(improvementRun.parse(body)).toEqual(body);
        expect(body).toMatchObject({
          improvementRunId: run.improvementRunId,
          administrationId: run.administrationId,
          status: run.state,
          contentTestSpecId: pins.contentTestSpecId,
          contentTestSpecVersion: pins.contentTestSpecVersion,
          analysisPolicyId: pins.analysisPolicy.id,
          analysisPolicyVersion: pins.analysisPolicy.version,
          formulaVersion: pins.formulaVersion,
          namedSourceCount: pins.sources.length,
          sourceKeys: pins.sources.map(({ sourceKey }) => sourceKey),
          alignmentRecordCount: evidence.filter(({ key }) => key.startsWith('source:')).length,
          revisionOrderCount: orders.length,
          blockedOrderCount: orders.filter(({ status }) => status === 'blocked_upstream').length,
          createdAt: new Date(createdAt).toISOString(),
          completedAt: completedAt === undefined ? null : new Date(completedAt).toISOString(),
          sources,
          observedAt: moment.observedAt,
          requestId: moment.requestId,
          traceId: moment.traceId,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('counts no source as aligned whose bundle is not recorded [RP-150]', () => {
    fc.assert(
      fc.property(runIn('analyzing'), (recorded) => {
        const evidence = recorded.progress.evidence.map(({ key, evaluatedAt }) => ({ key, evaluatedAt }));
        const body = shown({ ...recorded, progress: { ...recorded.progress, evidence } });
        expect(body.alignmentRecordCount).toBe(0);
      }),
    );
  });

  it('goes without the metrics whose artifacts are lost, which only a failed run can show [RP-154, RP-166]', () => {
    fc.assert(
      fc.property(runIn('failed'), ({ progress }) => {
        const body = shown({ progress, artifacts: new Map() });
        expect(improvementRun.parse(body)).toEqual(body);
        expect(body.omissions.slice(0, 4)).toEqual(runMetrics);
        expect(body.receipt).toBeNull();
      }),
    );
  });
});
