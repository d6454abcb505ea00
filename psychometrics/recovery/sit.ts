import {
  areAnswersUnusual,
  classify,
  compileModel,
  estimate,
  prepareSelection,
  simulatedRunSeed,
  simulateRun,
  type CalibratedParameters,
  type CompiledModel,
  type Evidence,
  type Exposure,
  type SelectionContext,
} from '#functions/mastery/engine/index.ts';
import { policies, type Condition } from './conditions.ts';
import { knownParameters } from './knowledge.ts';
import { answerOf, drawLearner } from './learners.ts';
import { weightedLikelihood } from './weighted-likelihood.ts';
import { abilityOfScale, kcGuid, makeWorld, type World } from './world.ts';

/** The known state of a learner and the result of the test. Abilities in standard deviations of the prior. */
export interface Sitting {
  readonly ability: number;
  /** The scale score, as an ability: the posterior mean. */
  readonly recovered: number;
  /** The standard error of the scale score, as an ability: the posterior standard deviation. */
  readonly error: number;
  /** The weighted likelihood estimate of the same answers, as an ability. */
  readonly weighted: number;
  /** Indices of the items in the order in which they were given. */
  readonly items: readonly number[];
  /** The KCs that the test covers. */
  readonly kcs: readonly SittingKc[];
  /** After how many items every posterior of those had the confidence that the test requires; NaN if it requires none. */
  readonly confidentAfter: number;
  /** Whether a real run would state that its answers contradict each other. */
  readonly isUnusual: boolean;
}

/** One KC of one learner. */
export interface SittingKc {
  readonly mastered: boolean;
  readonly posterior: number;
  /** How many of the learner's items measured it. */
  readonly items: number;
  /** Whether the engine would call it mastered or a gap at `STATED_CONFIDENCE`. */
  readonly classified: boolean;
}

/** The confidence at which rows state the share of classified KCs. */
export const STATED_CONFIDENCE = 0.9;

/** The cut score of every test. */
export const CUT = 0.5;
const PRECISION = 12;

/** A test that is prepared for one world. */
interface Prepared {
  /** The source of learners and their answers. */
  readonly world: World;
  /** The engine's parameters. */
  readonly known: CalibratedParameters;
  readonly context: SelectionContext;
}

function prepare(condition: Condition, worldName: string, exposure: Exposure | undefined): Prepared {
  const world = makeWorld(worldName, condition.size, condition.quality);
  const known = knownParameters(world, condition.knowledge);
  const model = compiled(known);
  const context = prepareSelection(
    model,
    known.items.map(({ artifactVersionId, kcs }, item) => ({
      item,
      artifactVersionId,
      qtiIdentifier: artifactVersionId,
      tags: [...kcs],
      accessibility: [],
    })),
    {
      scope: [...model.kcGuids.keys()].slice(0, condition.scope),
      maxItems: condition.length,
      requiredAccessibility: [],
      excludedItems: [],
      ...policies[condition.policy].limits(world, condition.length),
      ...(exposure === undefined ? {} : { exposure }),
    },
  );
  return { world, known, context };
}

/** Compiles parameters that have no defects. */
export function compiled(parameters: CalibratedParameters): CompiledModel {
  const model = compileModel(parameters);
  if (!model.ok)
    throw new Error(model.error.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'));
  return model.value;
}

/**
 * Gives the test to this many learners of one world, by the rules of a learner's run.
 * @param exposure replaces the policy's own
 * @param cohort other learners for another name
 */
export function* sitAll(
  condition: Condition,
  worldName: string,
  learners: number,
  exposure?: Exposure,
  cohort = '',
): Generator<Sitting, undefined> {
  const { world, known, context } = prepare(condition, worldName, exposure);
  const rule = { kcCutScore: CUT, confidenceThreshold: condition.confidence, numericPrecision: PRECISION };
  // Only classification and length end a run.
  const rules = { ...rule, precisionTarget: 0, coverageFloors: [], timeBudgetSeconds: null };
  for (let n = 0; n < learners; n += 1) {
    const learner = drawLearner(
      world,
      `${worldName} ${cohort}${n}`,
      condition.population,
      condition.structure,
    );
    const { evidence } = simulateRun(context, rules, simulatedRunSeed(learner.name), (index) => {
      const item = world.items[index];
      return item !== undefined && answerOf(learner, item, condition.answers);
    });
    const items = evidence.outcomes.map(({ item }) => item);
    const { scaleScore, standardError, kcPosteriors, thetaPosterior } = evidence.estimate;
    const measured = (kc: number): number =>
      items.filter((item) => known.items[item]?.kcs.includes(kcGuid(kc)) === true).length;
    yield {
      ability: learner.ability,
      recovered: abilityOfScale(scaleScore),
      error: abilityOfScale(standardError) - abilityOfScale(0),
      weighted: weightedLikelihood(
        known,
        thetaPosterior,
        [...world.kcs.keys()].filter((kc) => measured(kc) > 0),
      ),
      items,
      confidentAfter:
        condition.confidence < 1 ? confidentAfter(context, condition.confidence, evidence) : NaN,
      isUnusual: areAnswersUnusual(context.model, evidence.outcomes) === true,
      kcs: learner.mastered.slice(0, condition.scope).map((mastered, kc) => {
        const posterior = kcPosteriors[kc] ?? NaN;
        const own = measured(kc);
        const stated = classify({ ...rule, confidenceThreshold: STATED_CONFIDENCE }, posterior, own > 0);
        return { mastered, posterior, items: own, classified: stated !== 'not_yet' };
      }),
    };
  }
}

/** Returns after how many answers no in-scope posterior is between the confidence and its complement. */
function confidentAfter(
  { model, constraints }: SelectionContext,
  confidence: number,
  { outcomes }: Evidence,
): number {
  const isConfident = (count: number): boolean => {
    const { kcPosteriors } = estimate(model, outcomes.slice(0, count));
    return constraints.scope.every((kc) => {
      const posterior = kcPosteriors[kc] ?? NaN;
      return Math.max(posterior, 1 - posterior) >= confidence;
    });
  };
  const count = outcomes.findIndex((_, n) => isConfident(n));
  return count < 0 ? outcomes.length : count;
}
