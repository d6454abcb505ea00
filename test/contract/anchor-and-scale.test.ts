import { afterAll, afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes.ts';
import { resultRecordRequest } from '#shared/platform/owners/results.ts';
import { openAdaptiveRuns, sentenceOf, SHORT_BANK } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { seedVariant } from '#test/support/seed-variant.ts';
import { lazily } from '#test/support/lazily.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

/** Five right answers leave a standard error of about 62, five wrong ones of about 73. */
const MAXIMUM_REPORTABLE_ERROR = 67;
const seed = seedVariant({
  'fraction-subtraction/calibration.json': (calibration) => ({
    ...calibration,
    maximumReportableError: MAXIMUM_REPORTABLE_ERROR,
    // Just reliable enough: no run says anything of it.
    reliabilityCeiling: 0.8,
  }),
});

const stack = useTestStack({ seedDirectory: seed.directory });
const runs = lazily(() => openAdaptiveRuns(stack));
afterEach(async () => {
  await stack.control('POST', 'reset');
});
afterAll(() => {
  seed.remove();
});

const silence = () => stack.fault({ operation: 'extmap.verify_anchor', kind: 'status', times: 1000 });
const drop = (pointer: string, value: unknown) =>
  runs.change({ entity: 'extmap.anchor_table', id: 'r90', changes: [{ pointer, value }] });
async function answer(run: RunGiven, score: 0 | 1 = 1): Promise<RunGiven> {
  const { etag } = await runs.playAndInspect(run.body, score);
  return runs.advance(run.body.continuationToken, etag).sendForRun();
}

describe('an anchor that cannot be verified', () => {
  it('is said from the start on, also before any answer [MA-080, MA-081, MA-194]', async () => {
    await silence();
    const started = await runs.start().sendForRun();
    expect(sentenceOf(started)).toBe('201 in_progress anchor_unavailable');
    const inspected = await runs.inspect(started.body.continuationToken).sendForRun();
    expect(sentenceOf(inspected)).toBe('200 in_progress anchor_unavailable');
    await stack.control('DELETE', 'faults');
    expect(sentenceOf(await runs.inspect(started.body.continuationToken).send())).toBe(
      '200 in_progress pending',
    );
  });

  it.each([
    ['the pinned point', '/sourcePoints', []],
    ['the pinned version', '/tableVersion', 'other'],
  ])(
    'is 422 at start and simulation when its source lacks %s [MA-153, MA-195]',
    async (_, pointer, value) => {
      const undo = await drop(pointer, value);
      expect(sentenceOf(await runs.start().send())).toBe('422 calibration-invalid');
      const { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId } = z
        .record(z.string(), z.string())
        .parse(runs.startBody());
      const fixture = stack.seededTenants.get('tenant-aurora')!.fixtures.mastery.banks[0]!;
      const simulation = await callMastery(stack, simulateScoreRecovery, {
        body: {
          selectionPolicyId,
          scaleCalibrationId,
          testSpecId,
          testBankId,
          bankOperationId,
          profiles: [{ syntheticProfileId: 'synthetic:one', knownMastery: { [fixture.kcGuids[0]!]: 1 } }],
        },
      });
      expect(refusalOf(simulation)).toBe('422 calibration-invalid');
      await undo();
      expect(sentenceOf(await runs.start().send())).toBe('201 in_progress pending');
    },
  );

  it('that turns out absent after the start keeps the run provisional, and waiting at its end [MA-081, MA-138, MA-194]', async () => {
    let run = await runs.start().sendForRun();
    await drop('/sourcePoints', []);
    while (run.body.status === 'in_progress') run = await answer(run);
    expect(sentenceOf(run)).toBe('200 finalizing anchor_unavailable');
    expect(run.body.kcClassifications.some(({ evidenceItemRefs }) => evidenceItemRefs.length > 0)).toBe(true);
  });

  it('holds a stopped run in finalizing: 200, a renewed token, when to ask again, and a log line [MA-137, MA-194]', async () => {
    const awaiting = () =>
      stack.logs().filter(({ line }) => JSON.stringify(line).includes('"RUN_AWAITS_ANCHOR"')).length;
    const before = awaiting();
    let run = await runs.start().sendForRun();
    await silence();
    while (run.body.status === 'in_progress') {
      expect(run.headers.get('retry-after')).toBeNull();
      run = await answer(run);
    }
    for (let asked = 0; asked < 2; asked += 1) {
      expect(sentenceOf(run)).toBe('200 finalizing anchor_unavailable');
      expect(Number(run.headers.get('retry-after'))).toBeGreaterThan(0);
      const { continuationToken } = run.body;
      const { result, calls } = await callsDuring(stack, () =>
        runs.advance(continuationToken, run.etag).sendForRun(),
      );
      run = result;
      expect(run.body.continuationToken).not.toBe(continuationToken);
      expect(calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    }
    expect(awaiting() - before).toBe(3);
    await stack.control('DELETE', 'faults');
    const published = await runs.advance(run.body.continuationToken, run.etag).sendForRun();
    expect(sentenceOf(published)).toBe('200 completed reportable');
    expect(published.headers.get('retry-after')).toBeNull();
  });
});

describe('a calibration with a maximum reportable error', () => {
  const parameters = () =>
    stack.seededTenants
      .get('tenant-aurora')!
      .calibrations.map(({ parameters: { maximumReportableError } }) => maximumReportableError);

  it('keeps the scale pending until the error is small enough, and from the stop on says that it is not [MA-080, MA-082, MA-097, MA-098]', async () => {
    expect(parameters()).toContain(MAXIMUM_REPORTABLE_ERROR);
    const seen: string[] = [];
    for (const score of [0, 1] as const) {
      let run = await runs.start(runs.startBody({ bank: SHORT_BANK })).sendForRun();
      while (run.body.status === 'in_progress') {
        run = await answer(run, score);
        const { scale, status, scaleReportability } = run.body;
        seen.push(`${status} ${scaleReportability}`);
        if (status === 'in_progress') expect(scale === null).toBe(scaleReportability === 'pending');
        if (scale !== null && status === 'in_progress')
          expect(scale.standardError).toBeLessThanOrEqual(MAXIMUM_REPORTABLE_ERROR);
      }
      expect(sentenceOf(run)).toBe('200 completed reportable');
      const { standardError, limitations } = run.body.scale!;
      const held = (await runs.state()).entities['results.record']![run.body.resultRecordRef!];
      const { request } = z.object({ request: resultRecordRequest }).parse(held);
      const own = seededLimitations(stack, runs);
      const extra = limitations.slice(own.length);
      expect(limitations.slice(0, own.length)).toEqual(own);
      expect(extra.length).toBe(standardError > MAXIMUM_REPORTABLE_ERROR ? 1 : 0);
      expect(request.scale.limitations).toEqual(extra.length === 1 ? limitations : undefined);
      seen.push(`end ${extra.length}`);
    }
    expect(new Set(seen)).toEqual(
      new Set(['in_progress pending', 'in_progress reportable', 'completed reportable', 'end 0', 'end 1']),
    );
  });
});

describe('a calibration whose components cannot tell abilities apart', () => {
  const TOO_COARSE =
    'The scale score is too coarse for an individual: its reliability would stay below 0.80 with every knowledge component known.';

  it('says so in each scale score of a run and in the result record [MA-102]', async () => {
    const coarse = seedVariant({
      'fraction-subtraction/calibration.json': (calibration) => ({
        ...calibration,
        reliabilityCeiling: 0.7999,
      }),
    });
    const coarseStack = await startTestStack({ seedDirectory: coarse.directory });
    const coarseRuns = openAdaptiveRuns(coarseStack);
    try {
      const own = seededLimitations(coarseStack, coarseRuns);
      let run = await coarseRuns.start(coarseRuns.startBody({ bank: SHORT_BANK })).sendForRun();
      while (run.body.status === 'in_progress') {
        const { etag } = await coarseRuns.playAndInspect(run.body, 1);
        run = await coarseRuns.advance(run.body.continuationToken, etag).sendForRun();
        expect(run.body.scale!.limitations).toEqual([...own, TOO_COARSE]);
      }
      expect(sentenceOf(run)).toBe('200 completed reportable');
      const held = (await coarseRuns.state()).entities['results.record']![run.body.resultRecordRef!];
      const { request } = z.object({ request: resultRecordRequest }).parse(held);
      expect(request.scale.limitations).toEqual(run.body.scale!.limitations);
    } finally {
      coarseRuns.close();
      await coarseStack.close();
      coarse.remove();
    }
  });
});

/** The limitations that the seeded calibration of the short bank has of its own. */
function seededLimitations(ofStack: TestStack, ofRuns: AdaptiveRuns): readonly string[] {
  const { scaleCalibrationId } = z.object({ scaleCalibrationId: z.string() }).parse(ofRuns.startBody());
  return ofStack.seededTenants
    .get('tenant-aurora')!
    .calibrations.find(({ document }) => document.id === scaleCalibrationId)!.document.limitations;
}
