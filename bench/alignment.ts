import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import { alignment as example } from '#shared/contract/reports/examples.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { checkBody } from '#shared/http/check-response.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { requirementsOf } from './crosswalk.ts';
import { above, duration, guardIn, verdict, ratio, table, timeAll, unwrap } from './measure.ts';
import type { Part, Progress, Report, Timed } from './measure.ts';

/** The largest number of requirements that a source may have. */
const LARGE = 10_000;
/** Aim in milliseconds, on a machine like a Lambda with one whole processor. */
const ALIGN_CPU = 50;
/** Guards, ours: how much dearer ten times the requirements may be, and weights of every magnitude than tenths. */
const GROWTH_GUARD = 14;
const MAGNITUDE_GUARD = 6;

/** Weights whose exact sum has the fewest digits, and the most: from the least number to the greatest of which 10,000 have a sum. */
const weights = {
  tenths: (n: number) => (1 + (n % 50)) / 10,
  magnitudes: (n: number) =>
    [5e-324, 1.7e303, 0.1, 1e300 / (n + 1), 2.225e-308 * (1 + n / LARGE)][n % 5] ?? 1,
};

function crosswalkOf(length: number, weightOf: (n: number) => number): AlignmentCrosswalk {
  return {
    tenantId: 'tenant',
    testSpecId: 'spec',
    testSpecVersion: '1',
    crosswalkId: 'crosswalk',
    version: '1',
    sourceKey: 'source',
    sourceAssessment: 'assessment',
    sourceVersion: '1',
    requirements: requirementsOf(length, weightOf),
  };
}

/** The targets: every slot and standard to which a crosswalk maps. */
const targets = {
  slotIds: Array.from({ length: LARGE }, (_, n) => `slot-${n}`),
  caseGuids: Array.from({ length: LARGE }, (_, n) => [`guid-${n}-0`, `guid-${n}-1`]).flat(),
};

function align(crosswalk: AlignmentCrosswalk) {
  return unwrap(alignSource(crosswalk, targets));
}

async function alignment(progress: Progress, isQuick: boolean): Promise<Report> {
  const tenth = crosswalkOf(LARGE / 10, weights.tenths);
  const large = crosswalkOf(LARGE, weights.tenths);
  const wild = crosswalkOf(LARGE, weights.magnitudes);
  const report = { ...example, ...align(large) };
  const check = () => unwrap(checkBody(readAlignmentReport.success.schema, report));
  const cases: readonly Timed[] = [
    { name: `${LARGE / 10} requirements`, calls: [() => align(tenth)] },
    { name: `${LARGE} requirements`, calls: [() => align(large)] },
    { name: `${LARGE}, weights of every magnitude`, calls: [() => align(wild)] },
    { name: `report of ${LARGE}, checked`, calls: [check] },
  ];
  const timings = await timeAll(cases, isQuick ? 3 : 20, progress);
  const [small = NaN, whole = NaN, magnitudes = NaN] = timings.map(({ cpu }) => cpu);
  const ratios = [NaN, whole / small, magnitudes / whole, NaN];
  const growthGuard = guardIn(GROWTH_GUARD, isQuick);
  const magnitudeGuard = guardIn(MAGNITUDE_GUARD, isQuick);
  const guards = [NaN, growthGuard, magnitudeGuard, NaN];
  return {
    text: table(
      ['', 'p50', 'p95', 'CPU, mean', 'CPU to above', 'guard', `aim: CPU ≤ ${ALIGN_CPU} ms`],
      timings.map(({ name, p50, p95, cpu }, n) => {
        const [value = NaN, guard = NaN] = [ratios[n], guards[n]];
        return [
          name,
          ...[p50, p95, cpu].map(duration),
          ...(Number.isNaN(guard) ? ['', ''] : [ratio(value), `≤ ${guard}`]),
          n === 0 ? '' : verdict(cpu <= ALIGN_CPU),
        ];
      }),
    ),
    missed: [
      ...above('alignment, ten times the requirements, to a tenth of them', ratios[1] ?? NaN, growthGuard),
      ...above('alignment, weights of every magnitude, to tenths', ratios[2] ?? NaN, magnitudeGuard),
    ],
  };
}

export const alignmentPart: Part = {
  title: 'Alignment: the largest number of requirements, with exact sums, and the check of its report',
  run: alignment,
};
