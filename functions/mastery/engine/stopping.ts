import { roundSignificant } from '#shared/kernel/numbers.ts';
import type { Classification } from './classification.ts';

export type StopReason = 'classifications_complete' | 'precision_target_met' | 'max_items' | 'time_budget';

/**
 * The actual cause of a run's end: the stop reason, or the rule because of which no further item could be offered; such a run ends with `max_items`.
 * `pool_exhausted`: no item is left that may be offered at all; `content_maxima` and `component_limit`: without that rule there would be one;
 * `no_informative_item`: the gain of each remaining item is below the policy's `minimumGain`; `no_deciding_item`: the gain
 * of each remaining item on those of its KCs that are not classified yet is below `minimumDecisionGain`.
 */
export type StopCause =
  | StopReason
  | 'pool_exhausted'
  | 'content_maxima'
  | 'component_limit'
  | 'no_informative_item'
  | 'no_deciding_item';

/** The rules that stop a run, in addition to those that selection has been prepared with. */
export interface StoppingRules {
  /** Bits. */
  readonly precisionTarget: number;
  /** Decimal significant digits to which uncertainty is rounded before it is compared. */
  readonly numericPrecision: number;
  readonly coverageFloors: readonly { readonly guid: string; readonly items: number }[];
  readonly timeBudgetSeconds: number | null;
}

/** Everything that decides whether a run continues. */
export interface StoppingInput extends Omit<StoppingRules, 'coverageFloors'> {
  /** One for each in-scope KC. */
  readonly classifications: readonly Classification[];
  /** Bits, at full precision. */
  readonly remainingUncertainty: number;
  /** For each coverage floor: how many scored items carry its GUID, and how many it requires. */
  readonly coverage: readonly { readonly scoredItems: number; readonly minimum: number }[];
  /** Items offered so far, all of them scored. */
  readonly itemsOffered: number;
  readonly maxItems: number;
  /** Milliseconds of the time budget that have passed. */
  readonly elapsedMilliseconds: number;
}

/**
 * Returns the first stopping rule that holds, in the order classifications_complete, precision_target_met, max_items, time_budget [MA-198]; undefined
 * while the run continues. A coverage floor that the pool can no longer meet keeps precision from stopping the run, as any unmet floor does [MA-109].
 * It does not prevent the other rules and no longer restricts selection, so that every run ends. A scope without KCs is never complete.
 */
export function stopReason(input: StoppingInput): StopReason | undefined {
  const { classifications } = input;
  if (classifications.length > 0 && classifications.every((value) => value !== 'not_yet')) {
    return 'classifications_complete';
  }
  const uncertainty = roundSignificant(input.remainingUncertainty, input.numericPrecision);
  const covered = input.coverage.every(({ scoredItems, minimum }) => scoredItems >= minimum);
  // Before the first answer nothing has been measured, however sure the prior is.
  if (input.itemsOffered > 0 && covered && uncertainty <= input.precisionTarget)
    return 'precision_target_met';
  if (input.itemsOffered >= input.maxItems) return 'max_items';
  const { timeBudgetSeconds } = input;
  if (timeBudgetSeconds !== null && input.elapsedMilliseconds >= timeBudgetSeconds * 1000)
    return 'time_budget';
  return undefined;
}
