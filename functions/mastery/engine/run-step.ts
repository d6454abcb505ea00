import { classify, type Classification, type ClassificationRule } from './classification.ts';
import { estimate, remainingUncertainty, type CompiledModel } from './model.ts';
import { selectItem, type SelectionContext } from './selection.ts';
import { stopReason, type StopCause, type StopReason, type StoppingRules } from './stopping.ts';
import type { Estimate, Outcome } from './types.ts';

/** The evidence from the outcomes of a run, at full precision. */
export interface Evidence {
  /** In canonical order. */
  readonly outcomes: readonly Outcome[];
  readonly estimate: Estimate;
  /** One for each in-scope KC. */
  readonly classifications: readonly Classification[];
  /** By which they are classified. */
  readonly rule: ClassificationRule;
  /** Bits. */
  readonly remainingUncertainty: number;
}

/** Computes the evidence for the KCs (model indices) that the run reports on. */
export function computeEvidence(
  model: CompiledModel,
  scope: readonly number[],
  rule: ClassificationRule,
  outcomes: readonly Outcome[],
): Evidence {
  const posterior = estimate(model, outcomes);
  const measured = new Set(outcomes.flatMap(({ item }) => model.itemKcs[item] ?? []));
  return {
    outcomes,
    estimate: posterior,
    rule,
    classifications: scope.map((kc) => classify(rule, posterior.kcPosteriors[kc] ?? NaN, measured.has(kc))),
    remainingUncertainty: remainingUncertainty(model, posterior, scope),
  };
}

/** The clock of a run whose offered items are all scored. */
export interface RunClock {
  readonly runSeed: string;
  /** Milliseconds of the time budget that have passed. */
  readonly elapsedMilliseconds: number;
  /** Items that the learner met in earlier runs (model indices); absent: none. */
  readonly met?: readonly number[] | undefined;
}

/** The rule that ends the run, or the item (a model index) to offer next. Exactly one of the two. */
export type Step =
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly cause: StopCause }
  | { readonly kind: 'offer'; readonly item: number };

/** Returns a stopping rule that already holds, else the next item, else `max_items` if the pool has no further item [MA-198]. */
export function nextStep(
  context: SelectionContext,
  rules: StoppingRules,
  evidence: Evidence,
  { runSeed, elapsedMilliseconds, met = [] }: RunClock,
): Step {
  const used = evidence.outcomes.map(({ item }) => item);
  const reason = stopReason({
    ...rules,
    ...evidence,
    coverage: rules.coverageFloors.map(({ guid, items }) => ({
      scoredItems: used.filter((item) => context.members[item]?.tags.includes(guid) === true).length,
      minimum: items,
    })),
    itemsOffered: used.length,
    maxItems: context.constraints.maxItems,
    elapsedMilliseconds,
  });
  // An exhausted pool takes precedence over the time budget, unless only the blueprint could reveal it: a rule that holds ends a run without the
  // blueprint.
  if (reason !== undefined && (reason !== 'time_budget' || context.constraints.blueprintCoverage === 'slots'))
    return { kind: 'stop', reason, cause: reason };
  const selection = selectItem(context, evidence.estimate, {
    used,
    runSeed,
    sequence: used.length + 1,
    met,
    unsettled: context.constraints.scope.filter((_, at) => evidence.classifications[at] === 'not_yet'),
    rule: evidence.rule,
  });
  if (typeof selection === 'string') return { kind: 'stop', reason: 'max_items', cause: selection };
  return reason === undefined
    ? { kind: 'offer', item: selection.item }
    : { kind: 'stop', reason, cause: reason };
}
