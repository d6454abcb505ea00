import { roundSignificant } from '#shared/kernel/numbers.ts';
import type { Classification } from './classification.ts';

export type StopReason = 'classifications_complete' | 'precision_target_met' | 'max_items' | 'time_budget';

/**
 * What truly ended a run: the reason, or the rule because of which no further item could be offered, which ends as `max_items`.
 * `pool_exhausted`: no item is left that may be offered at all; `content_maxima` and `component_limit`: one would be without that rule;
 * `no_informative_item`: what is left tells less than the policy's `minimumGain`.
 */
export type StopCause =
  | StopReason
  | 'pool_exhausted'
  | 'content_maxima'
  | 'component_limit'
  | 'no_informative_item';

/** When a run stops, beside what selection has been prepared with. */
export interface StoppingRules {
  /** Bits. */
  readonly precisionTarget: number;
  /** Decimal significant digits to which uncertainty is rounded before it is compared. */
  readonly numericPrecision: number;
  readonly coverageFloors: readonly { readonly guid: string; readonly items: number }[];
  readonly timeBudgetSeconds: number | null;
}

/** All that decides whether a run goes on. */
export interface StoppingInput extends Omit<StoppingRules, 'coverageFloors'> {
  /** One for each in-scope KC. */
  readonly classifications: readonly Classification[];
  /** Bits, at full precision. */
  readonly remainingUncertainty: number;
  /** For each coverage floor: how many scored items carry its GUID, and how many it asks for. */
  readonly coverage: readonly { readonly scoredItems: number; readonly minimum: number }[];
  /** Items offered so far, all of them scored. */
  readonly itemsOffered: number;
  readonly maxItems: number;
  /** Milliseconds of the time budget that are over. */
  readonly elapsedMilliseconds: number;
}

/**
 * The first stopping rule that holds, in the order classifications_complete, precision_target_met, max_items, time_budget [MA-198];
 * undefined while the run goes on. A coverage floor that the pool can no longer meet keeps precision from stopping the run, as any unmet
 * floor does [MA-109], but not the other rules, and it does not restrict selection any more: no such run goes on without end. A scope
 * without KCs is never complete.
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
