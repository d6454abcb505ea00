import { describe, expect, it } from 'vitest';
import { sentenceOf, useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { storeCalibration } from '#test/support/released-records.ts';
import { useTestStack } from '#test/support/stack.ts';

/** Five right answers leave a standard error of about 62, five wrong ones of about 73. */
const MAXIMUM_REPORTABLE_ERROR = 67;
const TOO_COARSE =
  'The scale score is too coarse for an individual: its reliability would stay below 0.80 with every knowledge component known.';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

/** The limitations that the seeded calibration has of its own. */
const ownLimitations = (): readonly string[] =>
  stack.seededTenants
    .get('tenant-aurora')!
    .calibrations.find(({ document }) => document.id === runs.startBody().scaleCalibrationId)!.document
    .limitations;

/** The steps of a run under the calibration with other parameters, until it is completed with a score. */
async function takeUnder(parameters: object, score?: 0 | 1): Promise<readonly RunGiven[]> {
  const body = runs.startBody();
  const scaleCalibrationId = await storeCalibration(stack, body.scaleCalibrationId, (record) =>
    Object.assign(record.parameters, parameters),
  );
  let run = await runs.start({ ...body, scaleCalibrationId }).sendForRun();
  const steps: RunGiven[] = [];
  while (run.body.status === 'in_progress') {
    run = await runs.answer(run, score);
    steps.push(run);
  }
  expect(sentenceOf(run)).toBe('200 completed reportable');
  return steps;
}

describe('the scale of a run', () => {
  it.each([0, 1] as const)(
    'is pending until its error is at most the calibration’s maximum, and from the stop on says that it is not: answers of %i [MA-080, MA-082, MA-097, MA-098]',
    async (score) => {
      // Just reliable enough: no run says anything of it.
      const parameters = { maximumReportableError: MAXIMUM_REPORTABLE_ERROR, reliabilityCeiling: 0.8 };
      const steps = await takeUnder(parameters, score);
      const last = steps.at(-1)!;
      const underWay = steps.slice(0, -1).map(({ body }) => body);
      expect(underWay.map((body) => body.scaleReportability)).toContain('pending');
      expect(underWay.some((body) => body.scale !== null)).toBe(score === 1);
      for (const { scale, scaleReportability } of underWay) {
        expect(scale === null).toBe(scaleReportability === 'pending');
        expect(scale?.standardError ?? 0).toBeLessThanOrEqual(MAXIMUM_REPORTABLE_ERROR);
      }
      const { standardError, limitations } = last.body.scale!;
      expect(standardError > MAXIMUM_REPORTABLE_ERROR).toBe(score === 0);
      const added = score === 0 ? [expect.stringContaining('standard error') as string] : [];
      expect(limitations).toEqual([...ownLimitations(), ...added]);
      const record = await runs.recordOf(last);
      expect(record.scale.limitations).toEqual(score === 0 ? limitations : undefined);
    },
  );

  it('says in each score and in the result record that components cannot tell abilities apart [MA-102]', async () => {
    const steps = await takeUnder({ reliabilityCeiling: 0.7999 });
    const limitations = [...ownLimitations(), TOO_COARSE];
    for (const { body } of steps) expect(body.scale!.limitations).toEqual(limitations);
    expect((await runs.recordOf(steps.at(-1)!)).scale.limitations).toEqual(limitations);
  });
});
