import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { ClassificationRule } from './classification.ts';
import type { CompiledModel } from './model.ts';
import { nextStep, computeEvidence, type Evidence } from './run-step.ts';
import type { SelectionContext } from './selection.ts';
import type { StopReason, StoppingRules } from './stopping.ts';
import type { KnownMastery, Outcome } from './types.ts';

/** Answers an item (a model index) for a simulated learner: true if the answer is correct. */
export type Responder = (item: number) => boolean;

/** The result of a run that was simulated until a stopping rule applied or it was aborted. */
export interface SimulatedRun {
  readonly evidence: Evidence;
  /** `time_budget` only if the simulation was aborted: simulated answers take no time. */
  readonly stopReason: StopReason;
  /** Estimated nanoseconds on one core, including drawing the learner; computed from operation counts, so the same on every machine. */
  readonly estimatedCost: number;
}

/**
 * Simulates one adaptive run until it stops. Each item is answered immediately. The engine and the rules are those of a real run, so the result
 * applies to the test.
 * @param isTimedOut returns true to abort; called before each item
 */
export function simulateRun(
  context: SelectionContext,
  rules: StoppingRules & ClassificationRule,
  runSeed: string,
  respond: Responder,
  isTimedOut: () => boolean = () => false,
): SimulatedRun {
  const { model, constraints, cost: selectionCost } = context;
  let outcomes: readonly Outcome[] = [];
  let cost = DRAW_COST * model.kcGuids.length - selectionCost.total;
  for (;;) {
    const evidence = computeEvidence(model, constraints.scope, rules, outcomes);
    cost += estimateStepCost(model, rules, evidence);
    if (isTimedOut())
      return { evidence, stopReason: 'time_budget', estimatedCost: cost + selectionCost.total };
    const step = nextStep(context, rules, evidence, { runSeed, elapsedMilliseconds: 0 });
    if (step.kind === 'stop')
      return { evidence, stopReason: step.reason, estimatedCost: cost + selectionCost.total };
    outcomes = [...outcomes, { item: step.item, correct: respond(step.item) }];
  }
}

/** Returns the estimated cost of one step in nanoseconds, without item selection (`SelectionContext.cost`). Its constants were measured together with those of the selection. */
function estimateStepCost(
  { itemKcs, kcGuids }: CompiledModel,
  { coverageFloors }: StoppingRules,
  { outcomes, estimate: { thetaPosterior, components, joint } }: Evidence,
): number {
  const patterns = new Float64Array(kcGuids.length);
  let cost = 70_000 + kcGuids.length * (thetaPosterior.length + outcomes.length);
  cost += 50 * coverageFloors.length * outcomes.length;
  if (joint !== undefined) cost += 40 * joint.numbers;
  for (const { kcs, superset } of components) {
    for (const kc of kcs) patterns[kc] = 1 << kcs.length;
    cost += 2 * superset.length * (4 + kcs.length);
  }
  for (const { item } of outcomes) cost += 17 * (patterns[itemKcs[item]?.[0] ?? -1] ?? 0);
  return cost;
}

/** Nanoseconds to draw one KC of a simulated learner. */
const DRAW_COST = 10_600;

/** A simulated learner. */
export interface SimulatedLearner {
  /** The key of all draws. They do not depend on other simulated learners or on the items offered before. */
  readonly name: string;
  /** Index of the learner's theta node. */
  readonly node: number;
  /** 1 or 0 for each KC of the model. */
  readonly mastered: Uint8Array;
}

/**
 * Draws a simulated learner, given known mastery probabilities: first a theta node from the posterior given `known`; then each known KC with its own
 * probability, and each other KC with its probability at that node. In a block, each KC has its probability given those drawn before it.
 */
export function drawSimulatedLearner(
  model: CompiledModel,
  name: string,
  known: readonly KnownMastery[],
): SimulatedLearner {
  const theta = model.core.knownTheta(known);
  const node = pick(theta, uniform(name, 'theta'));
  const chance = (kc: number): number => uniform(name, 'kc', model.kcGuids[kc] ?? '');
  if (model.core.drawPattern !== undefined)
    return { name, node, mastered: model.core.drawPattern(known, node, chance) };
  const probabilities = new Map(known.map(({ kc, probability }) => [kc, probability]));
  const mastered = Uint8Array.from(model.kcGuids, (_, kc) =>
    Number(chance(kc) < (probabilities.get(kc) ?? model.core.masteryAt(kc, node))),
  );
  return { name, node, mastered };
}

/** Returns a responder that answers each item correctly with the probability that the model predicts for the simulated learner. An item always gets the same answer. */
export function createResponder(model: CompiledModel, { name, mastered }: SimulatedLearner): Responder {
  return (item) =>
    uniform(name, 'item', model.itemIds[item] ?? '') < model.core.successProbability(item, mastered);
}

/** Returns the seed of a simulated learner's run, which breaks ties between items. */
export function simulatedRunSeed(name: string): string {
  return sha256Hex(JSON.stringify(['simulated-run', name]));
}

const TWO_TO_52 = 4_503_599_627_370_496;

/** Returns a number in [0, 1) from 52 bits of the key's SHA-256. Hashing needs no generator state. */
function uniform(...key: readonly string[]): number {
  return parseInt(sha256Hex(JSON.stringify(key)).slice(0, 13), 16) / TWO_TO_52;
}

/** Returns an index with the probability of its weight, given a uniform `share` in [0, 1). The weights sum to 1. */
function pick(weights: Float64Array, share: number): number {
  let sum = 0;
  for (let i = 0; i < weights.length - 1; i += 1) {
    sum += weights[i] ?? 0;
    if (share < sum) return i;
  }
  return weights.length - 1;
}
