import type { KcClassification, ScaleResult, StopReason } from '#shared/contract/mastery/adaptive-run.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import {
  classify,
  estimate,
  prepareSelection,
  remainingUncertainty,
  scoredItemsPerKc,
  selectItem,
  stopReason,
} from '#functions/mastery/engine/index.ts';
import type { Constraints, Estimate, SelectionContext } from '#functions/mastery/engine/index.ts';
import type { BoundItem } from '#functions/mastery/records/bind-model.ts';
import type { ScoredOutcome } from './outcomes.ts';
import type { RunBasis } from './owners.ts';
import type { RunState } from './state.ts';

/** What the consumed outcomes say, as it is shown: every number at the calibration's pinned precision [MA-117]. */
export interface Diagnosis {
  /** Sorted by `caseCompetencyGuid`. */
  readonly classifications: readonly KcClassification[];
  readonly scaleReportability: 'pending' | 'reportable' | 'anchor_unavailable';
  readonly scale: ScaleResult | null;
  /** Bits. */
  readonly remainingUncertainty: number;
}

/** A diagnosis together with what the next step is decided from. */
export interface Assessment {
  readonly diagnosis: Diagnosis;
  /** The rule that ends the run, or the item to offer next. Exactly one of the two. */
  readonly next:
    | { readonly kind: 'stop'; readonly reason: StopReason }
    | { readonly kind: 'offer'; readonly item: BoundItem };
}

/** The only place where a run meets the engine: outcomes in, posterior, classifications, scale, stop or next item out. */
export function assess(basis: RunBasis, state: RunState, outcomes: readonly ScoredOutcome[]): Assessment {
  const posterior = posteriorOf(basis, outcomes);
  return {
    diagnosis: describe(basis, posterior, outcomes),
    next: decide(basis, state, posterior, outcomes),
  };
}

/** The diagnosis alone, for a state in which nothing is decided any more. */
export function diagnose(basis: RunBasis, outcomes: readonly ScoredOutcome[]): Diagnosis {
  return describe(basis, posteriorOf(basis, outcomes), outcomes);
}

interface Posterior {
  readonly estimate: Estimate;
  readonly items: readonly BoundItem[];
}

function posteriorOf(basis: RunBasis, outcomes: readonly ScoredOutcome[]): Posterior {
  const byVersion = itemsByVersion(basis);
  const items = outcomes.map(({ artifactVersionId }) => {
    const item = byVersion.get(artifactVersionId);
    if (item === undefined) throw new Error('assess: an offered item is not a member of the pinned pool');
    return item;
  });
  return {
    items,
    estimate: estimate(
      basis.calibration.model,
      outcomes.map(({ correct }, index) => ({ item: items[index]?.modelItem ?? -1, correct })),
    ),
  };
}

function describe(
  { calibration, policy, bound, anchor }: RunBasis,
  posterior: Posterior,
  outcomes: readonly ScoredOutcome[],
): Diagnosis {
  const { document, model } = calibration;
  const { numericPrecision } = document;
  const scored = scoredItemsOf(model.itemKcs, model.kcGuids.length, posterior);
  const classifications = bound.scope.map(({ guid, modelKc }): KcClassification => {
    const probability = posterior.estimate.kcPosteriors[modelKc] ?? NaN;
    return {
      caseCompetencyGuid: guid,
      caseFrameworkGuid: document.caseFrameworkGuid,
      caseMappingVersion: document.caseMappingVersion,
      classification: classify({ ...policy, numericPrecision }, probability, scored[modelKc] ?? 0),
      posteriorProbability: roundSignificant(probability, numericPrecision),
      evidenceItemRefs: evidenceFor(guid, posterior.items),
    };
  });
  const scaleReportability =
    outcomes.length === 0 ? 'pending' : anchor === 'verified' ? 'reportable' : 'anchor_unavailable';
  return {
    classifications,
    scaleReportability,
    scale:
      scaleReportability === 'reportable'
        ? {
            scaleScore: roundSignificant(posterior.estimate.scaleScore, numericPrecision),
            standardError: roundSignificant(posterior.estimate.standardError, numericPrecision),
            scaleId: document.scaleId,
            scaleCalibrationId: document.id,
            anchor: document.anchor,
            validFrom: document.validFrom,
            validUntil: document.validUntil,
            limitations: document.limitations,
          }
        : null,
    remainingUncertainty: roundSignificant(uncertaintyOf(calibration, bound, posterior), numericPrecision),
  };
}

/** A stopping rule that holds already, else the next item, else a pool that has no further item: `max_items`. */
function decide(
  basis: RunBasis,
  state: RunState,
  posterior: Posterior,
  outcomes: readonly ScoredOutcome[],
): Assessment['next'] {
  const { calibration, policy, bound } = basis;
  const { numericPrecision } = calibration.document;
  const { model } = calibration;
  const scored = scoredItemsOf(model.itemKcs, model.kcGuids.length, posterior);
  const lastOutcome = outcomes.at(-1);
  const reason = (poolExhausted: boolean): StopReason | undefined =>
    stopReason({
      classifications: bound.scope.map(({ modelKc }) =>
        classify(
          { ...policy, numericPrecision },
          posterior.estimate.kcPosteriors[modelKc] ?? NaN,
          scored[modelKc] ?? 0,
        ),
      ),
      remainingUncertainty: uncertaintyOf(calibration, bound, posterior),
      precisionTarget: policy.precisionTarget,
      numericPrecision,
      coverage: policy.coverageFloors.map(({ caseCompetencyGuid, minimumEvidenceItems }) => ({
        scoredItems: posterior.items.filter(({ tags }) => tags.includes(caseCompetencyGuid)).length,
        minimum: minimumEvidenceItems,
      })),
      itemsOffered: state.offers.length,
      maxItems: policy.maxItems,
      poolExhausted,
      elapsedMilliseconds: lastOutcome === undefined ? 0 : lastOutcome.scoredAtMs - state.startedAt,
      timeBudgetSeconds: policy.timeBudgetSeconds,
    });
  // A run always offers its first item: before any answer there is nothing that could end it.
  const stop = outcomes.length === 0 ? undefined : reason(false);
  if (stop !== undefined) return { kind: 'stop', reason: stop };
  const item = selectNext(basis, state, posterior.estimate);
  return item === undefined ? { kind: 'stop', reason: reason(true) ?? 'max_items' } : { kind: 'offer', item };
}

function selectNext(basis: RunBasis, state: RunState, posterior: Estimate): BoundItem | undefined {
  const byVersion = itemsByVersion(basis);
  const selection = selectItem(selectionContextOf(basis), posterior, {
    used: state.offers.map((offer) => byVersion.get(offer.artifactVersionId)?.modelItem ?? -1),
    // A run has a pseudonym of its own: what its candidate has met are the run's own items, which are never offered twice.
    alreadyMet: [],
    runSeed: state.runSeed,
    sequence: state.offers.length + 1,
  });
  if (selection.kind === 'exhausted') return undefined;
  return basis.bound.items.find((item) => item.modelItem === selection.item);
}

function selectionContextOf({ calibration, policy, bound }: RunBasis): SelectionContext {
  return prepareSelection(
    calibration.model,
    bound.items.map((item) => ({ ...item, item: item.modelItem })),
    constraintsOf(
      policy,
      bound.scope.map(({ modelKc }) => modelKc),
    ),
  );
}

/** The policy in the engine's vocabulary: coverage floors and content minima are demands of one kind. */
function constraintsOf(policy: RunBasis['policy'], scope: readonly number[]): Constraints {
  const { eligibilityRules, coverageFloors, maxItems } = policy;
  const content = Object.entries(eligibilityRules.contentConstraints ?? {});
  return {
    scope,
    maxItems,
    requiredAccessibility: eligibilityRules.requiredAccessibility ?? [],
    enemySets: eligibilityRules.enemySets ?? [],
    excludedItems: eligibilityRules.excludedItems ?? [],
    minima: [
      ...coverageFloors.map((floor) => ({
        guid: floor.caseCompetencyGuid,
        items: floor.minimumEvidenceItems,
      })),
      ...content.flatMap(([guid, { minItems }]) =>
        minItems === undefined ? [] : [{ guid, items: minItems }],
      ),
    ],
    maxima: content.flatMap(([guid, { maxItems: maximum }]) =>
      maximum === undefined ? [] : [{ guid, items: maximum }],
    ),
    randomesqueSize: eligibilityRules.exposure?.size ?? 1,
  };
}

function uncertaintyOf(
  calibration: RunBasis['calibration'],
  bound: RunBasis['bound'],
  posterior: Posterior,
): number {
  return remainingUncertainty(
    calibration.model,
    posterior.estimate,
    bound.scope.map(({ modelKc }) => modelKc),
  );
}

function scoredItemsOf(
  itemKcs: readonly (readonly number[])[],
  kcCount: number,
  posterior: Posterior,
): Int32Array {
  return scoredItemsPerKc(
    itemKcs,
    kcCount,
    posterior.items.map(({ modelItem }) => modelItem),
  );
}

/** QTI identifiers of the scored items on a KC, each once, in the order of the run [MA-096]. */
function evidenceFor(guid: string, items: readonly BoundItem[]): string[] {
  return [
    ...new Set(items.filter(({ kcGuids }) => kcGuids.includes(guid)).map((item) => item.qtiIdentifier)),
  ];
}

function itemsByVersion({ bound }: RunBasis): ReadonlyMap<string, BoundItem> {
  return new Map(bound.items.map((item) => [item.artifactVersionId, item]));
}
