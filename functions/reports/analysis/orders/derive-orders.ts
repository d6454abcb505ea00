import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import type { AlignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { bindingSubjects, isBreached, measureOf } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger, Subject } from '#shared/contract/reports/analysis-policy.ts';
import { MAX_SUBJECTS } from '#shared/contract/reports/order-content.ts';
import type { OrderContent } from '#shared/contract/reports/order-content.ts';
import type { Pin } from '#shared/improvement/records.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';

/** What all orders of a run have in common. */
export interface OrderGrounds {
  readonly tenantId: string;
  readonly administrationId: string;
  readonly contentTestSpecId: string;
  readonly contentTestSpecVersion: string;
  readonly policy: AnalysisPolicy;
}

/** What an order is about. */
export type OrderSubjects = Pick<OrderContent, Subject>;

/** The artifact that an order rests on, with the owner that its receipt names. */
export type OrderEvidence = Pin & { readonly service: 'analytics' | 'blueprint' };

/** A comparison of predicted with actual results, as its run is pinned to it. */
export interface Compared {
  readonly pin: Pin;
  readonly artifact: ComparisonArtifact;
}

/** An order that the evidence asks for. */
export interface DerivedOrder {
  readonly content: OrderContent;
  /** SHA-256 hex of what it is about, whatever its evidence says: no two orders of a run have the same. */
  readonly lineage: string;
  /** Index of its trigger in the policy. */
  readonly trigger: number;
  readonly evidence: OrderEvidence;
}

/** A decision that cannot become an order. */
export interface Withheld {
  /** Index of its trigger in the policy. */
  readonly trigger: number;
  /**
   * The value trips and its evidence names not all that the trigger requires; or it has another unit than the threshold; or the trigger looks at
   * a measure that is none any more.
   */
  readonly reason: 'subject_missing' | 'unit_mismatch' | 'not_judged';
  readonly subjects: OrderSubjects;
}

/** The same in the same sequence, in whatever sequence the evidence has its rows. */
export interface Derived {
  /** Ascending by id, no id twice. */
  readonly orders: readonly DerivedOrder[];
  /** Ascending by trigger, no decision twice. */
  readonly withheld: readonly Withheld[];
}

/** Figures about the same subjects. */
interface Observation {
  readonly measures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
  /** Sorted and hashed only when a figure counts: there may be many long lists. */
  readonly about: () => Part;
}

/** Figures of one metric with the artifact that they are read from. */
interface Observed {
  readonly metric: string;
  readonly evidence: OrderEvidence;
  readonly observations: readonly Observation[];
}

/** Subjects, with a digest that no others have. */
interface Part {
  readonly subjects: OrderSubjects;
  readonly digest: string;
}

/**
 * The orders of one metric: each of its rows against each trigger on a measure of the row [RP-190..RP-201].
 * @param pin of the artifact
 * @param artifact of a metric that is `available`, since no other may trigger an order [RP-159]; one that is not `not_suppressed` gives none
 */
export function deriveMetricOrders(grounds: OrderGrounds, pin: Pin, artifact: MetricArtifact): Derived {
  const rows = artifact.suppression.status === 'not_suppressed' ? artifact.rows : [];
  return derive(grounds, [
    {
      metric: artifact.metric,
      evidence: { service: 'analytics', ref: pin.ref, sha256: pin.sha256 },
      observations: rows.map(({ measures, qtiItemId, qtiFormId, qtiTestId, caseGuids }) => ({
        measures,
        about: aboutGuids(caseGuids, { qtiItemId, qtiFormId, qtiTestId, sourceKeys: [] }),
      })),
    },
  ]);
}

/**
 * The orders of one named source: on its alignment, and on its comparison of predicted with actual results where that can be shown.
 * @param source `comparison` is undefined when Analytics has none
 */
export function deriveSourceOrders(
  grounds: OrderGrounds,
  source: {
    readonly sourceKey: string;
    readonly crosswalk: Pin;
    readonly alignment: Alignment;
    readonly comparison?: Compared;
  },
): Derived {
  const { sourceKey, crosswalk, alignment, comparison } = source;
  const sets: Observed[] = [
    {
      metric: 'alignment',
      evidence: { service: 'blueprint', ref: crosswalk.ref, sha256: crosswalk.sha256 },
      observations: observeAlignment(sourceKey, alignment),
    },
  ];
  if (comparison !== undefined) {
    const { pin, artifact } = comparison;
    sets.push({
      metric: 'predicted_actual',
      evidence: { service: 'analytics', ref: pin.ref, sha256: pin.sha256 },
      observations: observeComparison(sourceKey, artifact),
    });
  }
  return derive(grounds, sets);
}

const unnamed = { qtiItemId: null, qtiFormId: null, qtiTestId: null };

/** Every figure is about the standards of the contributions that it counts; the percentage about all that do not count in full. */
function observeAlignment(
  sourceKey: string,
  { alignmentPercent, contributions }: Alignment,
): readonly Observation[] {
  const observe = (
    name: string,
    unit: string,
    affected: readonly AlignmentContribution[],
    value = affected.length,
  ): Observation => ({
    measures: [{ name, value, unit }],
    about: aboutGuids(
      affected.flatMap(({ caseGuid }) => caseGuid ?? []),
      { ...unnamed, sourceKeys: [sourceKey] },
    ),
  });
  const notInFull = contributions.filter(({ reasonCode }) => reasonCode !== null);
  const uncovered = contributions.filter(({ coverage }) => coverage === 0);
  const lowerDok = contributions.filter(({ reasonCode }) => reasonCode === 'lower_dok');
  return [
    observe('alignment_percent', 'percent', notInFull, alignmentPercent),
    observe('uncovered_requirements', 'count', uncovered),
    observe('lower_dok_requirements', 'count', lowerDok),
  ];
}

function observeComparison(sourceKey: string, artifact: ComparisonArtifact): readonly Observation[] {
  const observedAgreement = showComparison(artifact).comparison?.observedAgreement ?? null;
  if (observedAgreement === null) return [];
  const { qtiFormId, qtiTestId, caseGuids } = artifact;
  return [
    {
      measures: [{ name: 'observed_agreement', value: observedAgreement, unit: 'proportion' }],
      about: aboutGuids(caseGuids, { ...unnamed, qtiFormId, qtiTestId, sourceKeys: [sourceKey] }),
    },
  ];
}

/** Subjects on which a trigger has tripped. */
interface Breached extends Part {
  readonly index: number;
  readonly trigger: AnalysisTrigger;
  readonly evidence: OrderEvidence;
  /** SHA-256 hex of the evidence and of what is asked of it. */
  readonly evidenceDigest: string;
  readonly value: number;
}

/**
 * One order for each trigger and each set of subjects on which it has tripped. Evidence that reports the same subjects twice gives one order,
 * with the least of the values that trip: an id is made of trigger, subjects and evidence [RP-190], and one id cannot have two contents.
 */
function derive(grounds: OrderGrounds, sets: readonly Observed[]): Derived {
  const breached = new Map<string, Breached>();
  const withheld = new Map<string, Withheld & Part>();
  for (const { metric, evidence, observations } of sets)
    for (const [index, trigger] of grounds.policy.triggers.entries()) {
      if (trigger.metric !== metric) continue;
      const { observed, threshold } = trigger;
      const required = bindingSubjects(trigger);
      const evidenceDigest = hashCanonical({ evidence: [evidence], trigger });
      for (const { measures, about } of observations) {
        const withhold = (reason: Withheld['reason']) =>
          withheld.set(`${index} ${reason} ${about().digest}`, { trigger: index, reason, ...about() });
        if (measureOf(trigger) === undefined) withhold('not_judged');
        for (const { name, value, unit } of measures) {
          if (name !== observed.name) continue;
          if (unit !== observed.unit) withhold('unit_mismatch');
          else if (!isBreached(threshold, value)) continue;
          else if (required.some((subject) => (about().subjects[subject]?.length ?? 0) === 0))
            withhold('subject_missing');
          else
            for (const part of partsOf(about())) {
              const key = `${index} ${part.digest}`;
              if (value < (breached.get(key)?.value ?? Infinity))
                breached.set(key, { ...part, index, trigger, evidence, evidenceDigest, value });
            }
        }
      }
    }
  return {
    orders: numbered(grounds, breached.values())
      .map(([one, lineage]) => orderOf(grounds, one, lineage))
      .toSorted((a, b) => compareText(a.content.revisionOrderId, b.content.revisionOrderId)),
    withheld: [...withheld.values()]
      .toSorted(
        (a, b) => a.trigger - b.trigger || compareText(a.reason, b.reason) || compareText(a.digest, b.digest),
      )
      .map(({ trigger, reason, subjects }) => ({ trigger, reason, subjects })),
  };
}

/** Subjects with their GUIDs once each, in the order of UTF-16 code units. */
function aboutGuids(caseGuids: readonly string[], others: Omit<OrderSubjects, 'caseGuids'>): () => Part {
  let made: Part | undefined;
  return () => (made ??= partOf({ ...others, caseGuids: [...new Set(caseGuids)].toSorted() }));
}

/** Subjects in parts of as many GUIDs as an order can name: one part without any, if there are none. */
function partsOf(whole: Part): readonly Part[] {
  const { subjects } = whole;
  const { caseGuids } = subjects;
  if (caseGuids.length <= MAX_SUBJECTS) return [whole];
  return Array.from({ length: Math.ceil(caseGuids.length / MAX_SUBJECTS) }, (_, at) =>
    partOf({ ...subjects, caseGuids: caseGuids.slice(at * MAX_SUBJECTS, (at + 1) * MAX_SUBJECTS) }),
  );
}

function partOf(subjects: OrderSubjects): Part {
  const { qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids } = subjects;
  const digest = sha256Hex(JSON.stringify([qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids]));
  return { subjects, digest };
}

/**
 * Every one with its lineage. What is about the same but for its GUIDs, as the parts of a long list are, is numbered in the order of the GUIDs,
 * so that every order of a run has at most one predecessor.
 */
function numbered(grounds: OrderGrounds, breached: Iterable<Breached>): [one: Breached, lineage: string][] {
  return [...Map.groupBy(breached, (one) => aboutOf(grounds, one))].flatMap(([about, ones]) =>
    ones
      .map((one) => ({ one, guids: JSON.stringify(one.subjects.caseGuids) }))
      .toSorted((a, b) => compareText(a.guids, b.guids))
      .map(({ one }, part): [Breached, string] => [one, sha256Hex(`${part} ${about}`)]),
  );
}

/** What an order is about, whatever its evidence, its versions and its threshold's value are. GUIDs tell it only where nothing else does. */
function aboutOf(
  { tenantId, administrationId }: OrderGrounds,
  { subjects: { qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids }, trigger }: Breached,
): string {
  const natives = [qtiItemId, qtiFormId, qtiTestId, ...sourceKeys];
  return JSON.stringify([
    tenantId,
    administrationId,
    trigger.targetModule,
    trigger.requestedAction,
    trigger.metric,
    trigger.observed.name,
    trigger.threshold.operator,
    natives,
    natives.every((id) => id === null) ? caseGuids : [],
  ]);
}

/**
 * The id is made of everything that the content is made of [RP-190]. Administration and blueprint are among its native subjects: the same
 * crosswalk under the same policy asks for its repair once for each administration.
 */
function orderOf(
  { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion, policy }: OrderGrounds,
  { index, trigger, evidence, evidenceDigest, subjects, digest, value }: Breached,
  lineage: string,
): DerivedOrder {
  const { targetModule, requestedAction, reasonCodes, observed, threshold } = trigger;
  const id = deterministicUuid(
    'revision-order',
    tenantId,
    targetModule,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    digest,
    policy.id,
    policy.version,
    evidenceDigest,
  );
  return {
    content: {
      revisionOrderId: `order_${id}`,
      administrationId,
      targetModule,
      requestedAction,
      ...subjects,
      contentTestSpecId,
      contentTestSpecVersion,
      reasonCodes,
      observedMetric: { ...observed, value },
      threshold,
      analysisPolicyId: policy.id,
      analysisPolicyVersion: policy.version,
    },
    lineage,
    trigger: index,
    evidence,
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
