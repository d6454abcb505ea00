import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openAdaptiveRuns, sentenceOf, SHORT_BANK, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { seedVariant } from '#test/support/seed-variant.ts';
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
const runs = useAdaptiveRuns(stack);
afterAll(() => {
  seed.remove();
});

describe('a calibration with a maximum reportable error', () => {
  it('keeps the scale pending until the error is small enough, and from the stop on says that it is not [MA-080, MA-082, MA-097, MA-098]', async () => {
    const seen: string[] = [];
    for (const score of [0, 1] as const) {
      let run = await runs.start(runs.startBody({ bank: SHORT_BANK })).sendForRun();
      while (run.body.status === 'in_progress') {
        run = await runs.answer(run, score);
        const { scale, status, scaleReportability } = run.body;
        seen.push(`${status} ${scaleReportability}`);
        if (status === 'in_progress') expect(scale === null).toBe(scaleReportability === 'pending');
        if (scale !== null && status === 'in_progress')
          expect(scale.standardError).toBeLessThanOrEqual(MAXIMUM_REPORTABLE_ERROR);
      }
      expect(sentenceOf(run)).toBe('200 completed reportable');
      const { standardError, limitations } = run.body.scale!;
      const record = await runs.recordOf(run);
      const own = seededLimitations(stack, runs);
      const extra = limitations.slice(own.length);
      expect(limitations.slice(0, own.length)).toEqual(own);
      expect(extra.length).toBe(standardError > MAXIMUM_REPORTABLE_ERROR ? 1 : 0);
      expect(record.scale.limitations).toEqual(extra.length === 1 ? limitations : undefined);
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
        run = await coarseRuns.answer(run);
        expect(run.body.scale!.limitations).toEqual([...own, TOO_COARSE]);
      }
      expect(sentenceOf(run)).toBe('200 completed reportable');
      const record = await coarseRuns.recordOf(run);
      expect(record.scale.limitations).toEqual(run.body.scale!.limitations);
    } finally {
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
