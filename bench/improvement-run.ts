import { workRun } from '#functions/reports/improvement/work-run.ts';
import { analyzeRun } from '#shared/contract/background.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { openImprovementWorld, runOf } from '#test/support/improvement.ts';
import { requirementsOf } from './crosswalk.ts';
import { above, duration, guardIn, ratio, table, type Part, type Progress, type Report } from './measure.ts';

/** The largest number of requirements that a source may have. */
const REQUIREMENTS = 10_000;
const QUICK_REQUIREMENTS = 1_000;
/** As many named sources as a blueprint is expected to have, and a tenth of them. */
const SOURCES = [5, 50] as const;
/** Guard, ours: how much dearer ten times the sources may be. More would mean that a run slows down as it goes. */
const GROWTH_GUARD = 13;
/** The share of the function's time, without owners and stores. */
const SHARE_GUARD = 0.25;

interface Figures {
  readonly cpu: number;
  readonly wall: number;
  /** Megabytes of this process, with all inputs. */
  readonly memory: number;
}

/** One invocation of the worker over owners, receivers and stores in this process: what the function costs, with its table. */
async function workOn(sources: number, requirements: number): Promise<Figures> {
  const run = runOf({ crosswalk: largeCrosswalk(requirements), comparison: null, sources });
  const world = await openImprovementWorld(run);
  const key = await world.create('run_large', run.pins);
  const { now } = world;
  // Written and forgotten, as in a bucket.
  const receipts = { ...world.dependencies.receipts, put: () => Promise.resolve() };
  const start = performance.now();
  const before = process.cpuUsage();
  const isDone = await workRun({ ...world.dependencies, receipts }, key, {
    received: 1,
    receivedAt: now,
    endsAt: now + analyzeRun.lambda.timeoutSeconds * 1000,
    isReleased: () => Promise.resolve(true),
    log: () => undefined,
  });
  const { user, system } = process.cpuUsage(before);
  const figures = {
    cpu: (user + system) / 1000,
    wall: performance.now() - start,
    memory: process.memoryUsage().rss / 2 ** 20,
  };
  const ended = await world.store.readRun(key);
  if (!isDone || !ended?.state.startsWith('completed')) throw new Error('the run did not end');
  return figures;
}

function largeCrosswalk(requirements: number): AlignmentCrosswalk {
  return {
    tenantId: 'tenant-a',
    testSpecId: 'spec-fractions-grade-5',
    testSpecVersion: '12',
    crosswalkId: 'crosswalk-large',
    version: '1',
    sourceKey: 'source-001',
    sourceAssessment: 'assessment',
    sourceVersion: '1',
    requirements: requirementsOf(requirements, (n) => (1 + (n % 50)) / 10),
  };
}

async function improvementRun(progress: Progress, isQuick: boolean): Promise<Report> {
  const requirements = isQuick ? QUICK_REQUIREMENTS : REQUIREMENTS;
  const growthGuard = guardIn(GROWTH_GUARD, isQuick);
  await workOn(1, requirements);
  const figures: Figures[] = [];
  for (const sources of SOURCES) {
    progress(`${sources} sources`);
    figures.push(await workOn(sources, requirements));
  }
  const [few, many] = figures;
  const growth = (many?.cpu ?? NaN) / (few?.cpu ?? NaN);
  const share = (many?.cpu ?? NaN) / (analyzeRun.lambda.timeoutSeconds * 1000);
  return {
    text: table(
      [
        '',
        'CPU',
        'CPU, one source',
        'of the function’s time',
        'time here',
        'memory of all',
        'CPU to above',
        'guard',
      ],
      figures.map(({ cpu, wall, memory }, n) => [
        `${SOURCES[n]} sources of ${requirements} requirements`,
        duration(cpu),
        duration(cpu / (SOURCES[n] ?? NaN)),
        `${((cpu / (analyzeRun.lambda.timeoutSeconds * 1000)) * 100).toFixed(1)} %`,
        duration(wall),
        `${memory.toFixed(0)} MB`,
        ...(n === 0 ? ['', ''] : [ratio(growth), `≤ ${growthGuard}`]),
      ]),
    ),
    missed: [
      ...above('a run of ten times the sources, to a tenth of them', growth, growthGuard),
      ...above('the largest run, to the function’s time', share, SHARE_GUARD),
    ],
  };
}

export const improvementRunPart: Part = {
  title: 'Improvement run: one invocation of the worker on the largest sources, without owners and stores',
  run: improvementRun,
};
