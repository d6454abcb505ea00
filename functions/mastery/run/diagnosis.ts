import type { AdaptiveRun, ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import { losesMinimum, nextStep, computeEvidence } from '#functions/mastery/engine/index.ts';
import type { Evidence, StopCause } from '#functions/mastery/engine/index.ts';
import type { RunBasis } from './basis.ts';
import { runRulesOf } from '#functions/mastery/records/engine-rules.ts';
import type { BoundItem, BoundPool } from './bound-pool.ts';
import type { NamedRuntime, ScoredOutcome } from './outcomes.ts';
import { hasUnusualAnswers, UNUSUAL_ANSWERS } from './person-fit.ts';
import { priorUse } from './prior-use.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** The diagnosis from the consumed outcomes, as a response shows it: every number at the calibration's pinned precision [MA-117]. */
export type Diagnosis = Pick<
  AdaptiveRun,
  'kcClassifications' | 'scaleReportability' | 'scale' | 'remainingUncertainty'
>;

/** A diagnosis together with the next step. */
export interface Assessment {
  readonly diagnosis: Diagnosis;
  /** The rule that ends the run, the item to offer next, or the problem of Content without which neither is decided. */
  readonly next:
    | { readonly kind: 'stop'; readonly reason: StopReason; readonly cause: StopCause }
    | { readonly kind: 'offer'; readonly item: BoundItem }
    | { readonly kind: 'refused'; readonly problem: Problem };
}

/**
 * Assesses the outcomes of a run: posterior, classifications, scale, and the stop or the next item. Content binds an offer; it binds a stop only if
 * selection itself finds it and its minima come from the blueprint, since no stopping rule needs it.
 * @param elapsedMilliseconds of the time budget
 * @param met the artifact versions that the learner met in earlier runs
 */
export function assess(
  basis: RunBasis,
  state: AdaptiveRunState,
  outcomes: readonly ScoredOutcome[],
  { elapsedMilliseconds, met }: { readonly elapsedMilliseconds: number; readonly met: ReadonlySet<string> },
): Assessment {
  const evidence = weighOutcomes(basis, outcomes);
  const { policy, calibration, bound, content } = basis;
  const step = nextStep(bound.selection(), runRulesOf(policy, calibration.document), evidence, {
    runSeed: state.runSeed,
    elapsedMilliseconds,
    met: modelItems(bound, met),
  });
  const stopReason = step.kind === 'stop' ? step.reason : null;
  const diagnosis = describe(basis, { ...state, stopReason }, outcomes, evidence);
  const needsContent =
    step.kind === 'offer' ||
    (policy.eligibilityRules.blueprintCoverage === 'slots' && step.reason !== step.cause);
  if (content?.ok === false && needsContent)
    return { diagnosis, next: { kind: 'refused', problem: content.error } };
  if (step.kind === 'stop') return { diagnosis, next: step };
  const item = bound.items.find((one) => one.item === step.item);
  if (item === undefined) throw new Error('a selected item is not a member of the pool');
  return { diagnosis, next: { kind: 'offer', item } };
}

/**
 * Returns whether a policy that excludes items met before leaves a start too few items for a floor or minimum that the pool can meet. A start that has
 * made its offer stays valid, regardless of the offers of other runs since.
 */
export function excludesTooMuch({ policy, bound }: RunBasis, runtime: NamedRuntime): boolean {
  if (runtime.unnamed.length > 0) return false;
  const met = priorUse(runtime);
  if (policy.eligibilityRules.priorUse !== 'exclude' || met.size === 0) return false;
  return losesMinimum(bound.selection(), modelItems(bound, met));
}

/** Returns only the diagnosis, for a state in which nothing is decided. */
export function diagnose(
  basis: RunBasis,
  state: AdaptiveRunState,
  outcomes: readonly ScoredOutcome[],
): Diagnosis {
  return describe(basis, state, outcomes, weighOutcomes(basis, outcomes));
}

function weighOutcomes(
  { calibration, policy, bound }: RunBasis,
  outcomes: readonly ScoredOutcome[],
): Evidence {
  return computeEvidence(
    calibration.model,
    bound.scope.map(({ modelKc }) => modelKc),
    runRulesOf(policy, calibration.document),
    outcomes.map((outcome) => ({ item: itemOf(bound, outcome).item, correct: outcome.correct })),
  );
}

/** The findings that a stopped run publishes to Results and Caliper. */
export interface Findings extends Pick<AdaptiveRun, 'kcClassifications'> {
  readonly stopReason: StopReason;
  readonly scale: ScaleResult;
  readonly outcomes: readonly ScoredOutcome[];
  readonly lastOutcome: ScoredOutcome;
}

/** Returns the findings of a stopped run; undefined while there is nothing to publish: it continues, or its anchor is not verified [MA-081]. */
export function findingsOf(
  { stopReason }: AdaptiveRunState,
  { scale, kcClassifications }: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Findings | undefined {
  const lastOutcome = outcomes.at(-1);
  if (stopReason === null || scale === null || lastOutcome === undefined) return undefined;
  return { stopReason, scale, kcClassifications, outcomes, lastOutcome };
}

/** The limitations that a run adds to those of its calibration. */
const IMPRECISE = 'The standard error is above the limit of this calibration for a precise score.';
const COARSE =
  'The scale score is too coarse for an individual: its reliability would stay below 0.80 with every knowledge component known.';

/** Returns whether a run has added to the limitations of its calibration. */
export function isLimited({ limitations }: ScaleResult): boolean {
  return [IMPRECISE, COARSE, UNUSUAL_ANSWERS].some((added) => limitations.includes(added));
}

function describe(
  { calibration, policy, bound, isAnchored }: RunBasis,
  state: AdaptiveRunState,
  outcomes: readonly ScoredOutcome[],
  evidence: Evidence,
): Diagnosis {
  const { document } = calibration;
  const items = outcomes.map((outcome) => itemOf(bound, outcome));
  const shown = (value: number): number => roundSignificant(value, document.numericPrecision);
  const standardError = shown(evidence.estimate.standardError);
  const { maximumReportableError = Infinity, reliabilityCeiling = 1 } = calibration.parameters;
  const isPrecise = standardError <= maximumReportableError;
  const isPublishable = outcomes.length > 0 && (state.stopReason !== null || isPrecise);
  const scaleReportability = !isAnchored ? 'anchor_unavailable' : isPublishable ? 'reportable' : 'pending';
  return {
    kcClassifications: bound.scope.map(({ guid, modelKc }, index) => ({
      caseCompetencyGuid: guid,
      caseFrameworkGuid: document.caseFrameworkGuid,
      caseMappingVersion: document.caseMappingVersion,
      classification: evidence.classifications[index] ?? 'not_yet',
      posteriorProbability: shown(evidence.estimate.kcPosteriors[modelKc] ?? NaN),
      cutScore: policy.kcCutScore,
      confidenceThreshold: policy.confidenceThreshold,
      evidenceItemRefs: evidenceFor(guid, items),
    })),
    scaleReportability,
    scale:
      scaleReportability === 'reportable'
        ? {
            scaleScore: shown(evidence.estimate.scaleScore),
            standardError,
            scaleId: document.scaleId,
            scaleCalibrationId: document.id,
            anchor: document.anchor,
            validFrom: document.validFrom,
            validUntil: document.validUntil,
            limitations: [
              ...document.limitations,
              ...(isPrecise ? [] : [IMPRECISE]),
              ...(reliabilityCeiling < INDIVIDUAL_RELIABILITY ? [COARSE] : []),
              ...(hasUnusualAnswers(state, calibration.model, evidence.outcomes) ? [UNUSUAL_ANSWERS] : []),
            ],
          }
        : null,
    remainingUncertainty: shown(evidence.remainingUncertainty),
  };
}

/** Returns the model indices of those artifact versions that are in the pool. */
function modelItems({ byArtifactVersion }: BoundPool, artifactVersions: ReadonlySet<string>): number[] {
  return [...artifactVersions].flatMap((id) => byArtifactVersion.get(id)?.item ?? []);
}

/** Returns the QTI identifiers of the scored items on a KC, each once, in the order of the run [MA-096]. */
function evidenceFor(guid: string, items: readonly BoundItem[]): string[] {
  return [
    ...new Set(items.filter(({ kcGuids }) => kcGuids.includes(guid)).map((item) => item.qtiIdentifier)),
  ];
}

/** Returns the pool's item that was offered; a pinned pool without it is a drift and never gets here. */
function itemOf({ byArtifactVersion }: BoundPool, { artifactVersionId }: ScoredOutcome): BoundItem {
  const item = byArtifactVersion.get(artifactVersionId);
  if (item === undefined) throw new Error('an offered item is not a member of the pinned pool');
  return item;
}
