import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import { improvementRun, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { completedRun } from '#shared/contract/reports/examples.ts';
import { recordedRun } from '#test/support/improvement-facts.ts';
import type { RecordedRun } from '#test/support/improvement-facts.ts';
import { frozen, moment } from '#test/support/report-facts.ts';
import { composeRun } from './improvement-run.ts';

const sources = completedRun.sources;

/** The answer on a recorded run, with a link where its receipt is recorded. */
function shown({ progress, artifacts }: RecordedRun): ImprovementRun {
  const receipt = progress.run.receipt === undefined ? null : completedRun.receipt;
  return composeRun({ progress: frozen(progress), artifacts, sources, receipt }, moment);
}

/** Any run in one of these states. */
function runIn(...states: readonly string[]) {
  return recordedRun.filter(({ progress }) => states.includes(progress.run.state));
}

describe('a run, in whatever state its records are', () => {
  it('passes the contract [RP-141, RP-145, RP-148, RP-150, RP-151, RP-153, RP-154, RP-157, RP-221]', () => {
    fc.assert(
      fc.property(recordedRun, (recorded) => {
        const body = shown(recorded);
        expect(improvementRun.parse(body)).toEqual(body);
      }),
      { numRuns: 500 },
    );
  });

  it('is named and pinned as it was created [RP-142, RP-143, RP-144, RP-146, RP-147]', () => {
    fc.assert(
      fc.property(recordedRun, (recorded) => {
        const { improvementRunId, administrationId, pins, state } = recorded.progress.run;
        expect(shown(recorded)).toMatchObject({
          improvementRunId,
          administrationId,
          status: state,
          contentTestSpecId: pins.contentTestSpecId,
          contentTestSpecVersion: pins.contentTestSpecVersion,
          analysisPolicyId: pins.analysisPolicy.id,
          analysisPolicyVersion: pins.analysisPolicy.version,
          formulaVersion: pins.formulaVersion,
          sources,
          observedAt: moment.observedAt,
          requestId: moment.requestId,
          traceId: moment.traceId,
        });
      }),
    );
  });

  it('counts its named sources, those that are aligned, its orders and those that are blocked [RP-149, RP-150, RP-151]', () => {
    fc.assert(
      fc.property(recordedRun, (recorded) => {
        const { run, evidence, orders } = recorded.progress;
        const body = shown(recorded);
        expect(body.namedSourceCount).toBe(run.pins.sources.length);
        expect(body.alignmentRecordCount).toBe(
          evidence.filter(({ key }) => key.startsWith('source:')).length,
        );
        expect(body.revisionOrderCount).toBe(orders.length);
        expect(body.blockedOrderCount).toBe(
          orders.reduce((blocked, { status }) => blocked + (status === 'blocked_upstream' ? 1 : 0), 0),
        );
      }),
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

  it('ends exactly when it is terminal, and never before it began [RP-155]', () => {
    fc.assert(
      fc.property(recordedRun, (recorded) => {
        const { createdAt, completedAt } = recorded.progress.run;
        const body = shown(recorded);
        expect(Date.parse(body.createdAt)).toBe(createdAt);
        if (completedAt === undefined) expect(body.completedAt).toBeNull();
        else expect(Date.parse(body.completedAt ?? '')).toBe(Math.max(createdAt, completedAt));
      }),
    );
  });

  it('names what it goes without, in the order of the contract [RP-152, RP-166]', () => {
    fc.assert(
      fc.property(
        runIn('queued', 'analyzing', 'blocked_upstream', 'completed_with_omissions'),
        (recorded) => {
          expect(shown(recorded).omissions).toEqual(omissionsOf(recorded.progress));
        },
      ),
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
