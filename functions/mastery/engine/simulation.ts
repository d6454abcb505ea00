import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { ClassificationRule } from './classification.ts';
import type { CompiledModel } from './model.ts';
import { nextStep, weigh } from './run-step.ts';
import type { Evidence } from './run-step.ts';
import type { SelectionContext } from './selection.ts';
import type { StopReason, StoppingRules } from './stopping.ts';
import type { Estimate, KnownMastery, Outcome } from './types.ts';

/** Whoever answers the items of a simulated run: true for a correct answer to the item (a model index). */
export type Responder = (item: number) => boolean;

/** A run that was simulated to its stop. */
export interface SimulatedRun {
  readonly evidence: Evidence;
  /** `time_budget` never: answers of a simulation take no time. */
  readonly stopReason: StopReason;
  /**
   * How many numbers its steps went over: the pool's items, the KCs at every theta node, and the tables of KCs that answers tie together.
   * What the time of a run grows with, counted alike on every machine.
   */
  readonly work: number;
}

/**
 * Takes the test to its stop, each item answered at once. The same engine and rules as a learner's run, so that what a simulation says of
 * the test holds for it.
 */
export function simulateRun(
  context: SelectionContext,
  rules: StoppingRules & ClassificationRule,
  runSeed: string,
  respond: Responder,
): SimulatedRun {
  const { model, constraints } = context;
  let outcomes: readonly Outcome[] = [];
  let work = 0;
  for (;;) {
    const evidence = weigh(model, constraints.scope, rules, outcomes);
    work += numbersOf(model, evidence.estimate);
    const step = nextStep(context, rules, evidence, { runSeed, elapsedMilliseconds: 0 });
    if (step.kind === 'stop') return { evidence, stopReason: step.reason, work };
    outcomes = [...outcomes, { item: step.item, correct: respond(step.item) }];
  }
}

/** What `SimulatedRun.work` counts, of one step. */
function numbersOf({ itemIds, kcGuids }: CompiledModel, { thetaPosterior, components }: Estimate): number {
  const atNodes = kcGuids.length * thetaPosterior.length;
  return components.reduce((sum, { superset }) => sum + superset.length, itemIds.length + atNodes);
}

/** A simulated learner. */
export interface SimulatedLearner {
  /** Its draws depend on this name alone, whatever other simulated learners there are and whichever items it is offered before. */
  readonly name: string;
  /** Index of the theta node that it has. */
  readonly node: number;
  /** 1 or 0 for each KC of the model. */
  readonly mastered: Uint8Array;
}

/**
 * Draws a simulated learner from what is known of it: a theta node from the posterior given the known mastery; each known KC by its own
 * probability, every other one by that of the node.
 */
export function drawSimulatedLearner(
  model: CompiledModel,
  name: string,
  known: readonly KnownMastery[],
): SimulatedLearner {
  const theta = model.core.knownTheta(known);
  const node = pick(theta, uniform(name, 'theta'));
  const probabilities = new Map(known.map(({ kc, probability }) => [kc, probability]));
  const mastered = Uint8Array.from(model.kcGuids, (guid, kc) =>
    Number(uniform(name, 'kc', guid) < (probabilities.get(kc) ?? model.core.masteryAt(kc, node))),
  );
  return { name, node, mastered };
}

/** Answers as the model says that the simulated learner would; the same item always gets the same answer. */
export function responderOf(model: CompiledModel, { name, mastered }: SimulatedLearner): Responder {
  return (item) =>
    uniform(name, 'item', model.itemIds[item] ?? '') < model.core.successProbability(item, mastered);
}

/** The seed of a simulated learner's run, by which ties between items are broken. */
export function simulatedRunSeed(name: string): string {
  return sha256Hex(JSON.stringify(['simulated-run', name]));
}

const TWO_TO_52 = 4_503_599_627_370_496;

/** A number in [0, 1) of a stream that is keyed by name and purpose: 52 bits of SHA-256, so that no generator's state is carried along. */
function uniform(...key: readonly string[]): number {
  return parseInt(sha256Hex(JSON.stringify(key)).slice(0, 13), 16) / TWO_TO_52;
}

/** The index at which the running sum of the weights passes the share. */
function pick(weights: Float64Array, share: number): number {
  let sum = 0;
  for (let i = 0; i < weights.length - 1; i += 1) {
    sum += weights[i] ?? 0;
    if (share < sum) return i;
  }
  return weights.length - 1;
}
