import type { KcClassification, ScaleResult, StopReason } from '#shared/contract/mastery/adaptive-run.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import {
  classify,
  estimate,
  remainingUncertainty,
  scoredItemsPerKc,
  selectItem,
  stopReason,
} from '#functions/mastery/engine/index.ts';
import type { Classification, Estimate } from '#functions/mastery/engine/index.ts';
import type { BoundItem } from '#functions/mastery/records/bind-model.ts';
import type { RunBasis } from './basis.ts';
import type { BoundPool } from './bound-pool.ts';
import type { ScoredOutcome } from './outcomes.ts';
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
  const evidence = weigh(basis, outcomes);
  return { diagnosis: describe(basis, evidence), next: decide(basis, state, evidence) };
}

/** The diagnosis alone, for a state in which nothing is decided any more. */
export function diagnose(basis: RunBasis, outcomes: readonly ScoredOutcome[]): Diagnosis {
  return describe(basis, weigh(basis, outcomes));
}

/** What the outcomes say, at full precision. */
interface Weighed {
  readonly outcomes: readonly ScoredOutcome[];
  /** The pool's item of each outcome. */
  readonly items: readonly BoundItem[];
  readonly estimate: Estimate;
  /** One for each in-scope KC. */
  readonly classifications: readonly Classification[];
  readonly remainingUncertainty: number;
}

function weigh({ calibration, policy, bound }: RunBasis, outcomes: readonly ScoredOutcome[]): Weighed {
  const { model, document } = calibration;
  const items = outcomes.map(({ artifactVersionId }) => itemOf(bound, artifactVersionId));
  const modelItems = items.map(({ modelItem }) => modelItem);
  const posterior = estimate(
    model,
    outcomes.map(({ correct }, index) => ({ item: modelItems[index] ?? -1, correct })),
  );
  const scored = scoredItemsPerKc(model.itemKcs, model.kcGuids.length, modelItems);
  const rule = { ...policy, numericPrecision: document.numericPrecision };
  const scope = bound.scope.map(({ modelKc }) => modelKc);
  return {
    outcomes,
    items,
    estimate: posterior,
    classifications: scope.map((kc) => classify(rule, posterior.kcPosteriors[kc] ?? NaN, scored[kc] ?? 0)),
    remainingUncertainty: remainingUncertainty(model, posterior, scope),
  };
}

function describe({ calibration, bound, anchor }: RunBasis, evidence: Weighed): Diagnosis {
  const { document } = calibration;
  const shown = (value: number): number => roundSignificant(value, document.numericPrecision);
  const scaleReportability =
    evidence.outcomes.length === 0 ? 'pending' : anchor === 'verified' ? 'reportable' : 'anchor_unavailable';
  return {
    classifications: bound.scope.map(({ guid, modelKc }, index) => ({
      caseCompetencyGuid: guid,
      caseFrameworkGuid: document.caseFrameworkGuid,
      caseMappingVersion: document.caseMappingVersion,
      classification: evidence.classifications[index] ?? 'not_yet',
      posteriorProbability: shown(evidence.estimate.kcPosteriors[modelKc] ?? NaN),
      evidenceItemRefs: evidenceFor(guid, evidence.items),
    })),
    scaleReportability,
    scale:
      scaleReportability === 'reportable'
        ? {
            scaleScore: shown(evidence.estimate.scaleScore),
            standardError: shown(evidence.estimate.standardError),
            scaleId: document.scaleId,
            scaleCalibrationId: document.id,
            anchor: document.anchor,
            validFrom: document.validFrom,
            validUntil: document.validUntil,
            limitations: document.limitations,
          }
        : null,
    remainingUncertainty: shown(evidence.remainingUncertainty),
  };
}

/** A stopping rule that holds already, else the next item, else a pool that has no further item: `max_items`. */
function decide(basis: RunBasis, state: RunState, evidence: Weighed): Assessment['next'] {
  const { calibration, policy } = basis;
  const lastOutcome = evidence.outcomes.at(-1);
  const stopping = {
    classifications: evidence.classifications,
    remainingUncertainty: evidence.remainingUncertainty,
    precisionTarget: policy.precisionTarget,
    numericPrecision: calibration.document.numericPrecision,
    coverage: policy.coverageFloors.map(({ caseCompetencyGuid, minimumEvidenceItems }) => ({
      scoredItems: evidence.items.filter(({ tags }) => tags.includes(caseCompetencyGuid)).length,
      minimum: minimumEvidenceItems,
    })),
    itemsOffered: state.offers.length,
    maxItems: policy.maxItems,
    elapsedMilliseconds: lastOutcome === undefined ? 0 : lastOutcome.scoredAtMs - state.startedAt,
    timeBudgetSeconds: policy.timeBudgetSeconds,
  };
  // A run always offers its first item: before any answer there is nothing that could end it, but an empty pool.
  const reason = lastOutcome === undefined ? undefined : stopReason({ ...stopping, poolExhausted: false });
  // An exhausted pool comes before the time budget: only then is the selection worth its work.
  if (reason !== undefined && reason !== 'time_budget') return { kind: 'stop', reason };
  const item = selectNext(basis, state, evidence.estimate);
  if (item === undefined)
    return { kind: 'stop', reason: stopReason({ ...stopping, poolExhausted: true }) ?? 'max_items' };
  return reason === undefined ? { kind: 'offer', item } : { kind: 'stop', reason };
}

function selectNext({ bound }: RunBasis, state: RunState, posterior: Estimate): BoundItem | undefined {
  const selection = selectItem(bound.selection(), posterior, {
    used: state.offers.map((offer) => itemOf(bound, offer.artifactVersionId).modelItem),
    runSeed: state.runSeed,
    sequence: state.offers.length + 1,
  });
  return selection.kind === 'exhausted' ? undefined : bound.byModelItem.get(selection.item);
}

/** QTI identifiers of the scored items on a KC, each once, in the order of the run [MA-096]. */
function evidenceFor(guid: string, items: readonly BoundItem[]): string[] {
  return [
    ...new Set(items.filter(({ kcGuids }) => kcGuids.includes(guid)).map((item) => item.qtiIdentifier)),
  ];
}

/** The pool's item that was offered; a pinned pool that lacks it has been told apart before as drift. */
function itemOf({ byArtifactVersion }: BoundPool, artifactVersionId: string): BoundItem {
  const item = byArtifactVersion.get(artifactVersionId);
  if (item === undefined) throw new Error('an offered item is not a member of the pinned pool');
  return item;
}
