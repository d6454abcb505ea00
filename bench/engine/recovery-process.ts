import {
  drawSimulatedLearner,
  createResponder,
  simulatedRunSeed,
  simulateRun,
} from '#functions/mastery/engine/index.ts';
import { makeRandom } from '../bank.ts';
import { peakMb } from '../measure.ts';
import { bankOf, contextOf, range, REFERENCE, RUN_LENGTH } from './positions.ts';

/** What the matrix took, the preparation of model and pool included. */
export interface MatrixFigures {
  readonly profiles: number;
  /** Answered by all profiles together. */
  readonly items: number;
  /** Milliseconds of all threads. */
  readonly cpu: number;
  /** Megabytes of the process at its peak. */
  readonly peak: number;
}

const PROFILES = Number(process.argv[2]);
/** No run ends before its sixtieth item. */
const rules = {
  kcCutScore: 0.5,
  confidenceThreshold: 1,
  precisionTarget: 0,
  numericPrecision: 9,
  coverageFloors: [],
  timeBudgetSeconds: null,
};

const before = process.cpuUsage();
const context = contextOf(bankOf(REFERENCE));
const { model } = context;
let items = 0;
for (const profile of range(PROFILES)) {
  const random = makeRandom(profile + 1);
  const name = `synthetic:${profile}`;
  const known = range(REFERENCE.kcs).map((kc) => ({ kc, probability: random() }));
  const respond = createResponder(model, drawSimulatedLearner(model, name, known));
  items += simulateRun(context, rules, simulatedRunSeed(name), respond).evidence.outcomes.length;
}
const { user, system } = process.cpuUsage(before);
if (items !== PROFILES * RUN_LENGTH) throw new Error(`${items} items were answered`);
const figures: MatrixFigures = {
  profiles: PROFILES,
  items,
  cpu: (user + system) / 1000,
  peak: peakMb(),
};
process.stdout.write(JSON.stringify(figures));
