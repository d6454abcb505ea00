import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import { alignmentPercentOf, type AlignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { bindingSubjects, isBreached, measureOf } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger, Subject } from '#shared/contract/reports/analysis-policy.ts';
import { MAX_SUBJECTS, type OrderContent } from '#shared/contract/reports/order-content.ts';
import type { SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { PinnedRef, RunPins } from '#shared/improvement/records.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';

/** The facts that all orders of a run share. */
export interface OrderGrounds extends Pick<
  OrderContent,
  'administrationId' | 'contentTestSpecId' | 'contentTestSpecVersion'
> {
  readonly tenantId: string;
  readonly policy: AnalysisPolicy;
  readonly rules: RunPins['rules'];
}

/** The subjects of an order. */
type OrderSubjects = Pick<OrderContent, Subject>;

/** The artifact that an order is based on, with the owner that its receipt names. */
type OrderEvidence = PinnedRef & { readonly service: 'analytics' | 'blueprint' };

/** A comparison of predicted with actual results, as its run is pinned to it. */
export interface Compared {
  readonly pin: PinnedRef;
  readonly artifact: ComparisonArtifact;
}

/** An order that the evidence asks for. */
export interface DerivedOrder {
  readonly content: OrderContent;
  /** SHA-256 hex of what the order is about, independent of its evidence: no two orders of a run have the same. */
  readonly lineage: string;
  /** Index of its trigger in the policy. */
  readonly trigger: number;
  readonly evidence: OrderEvidence;
}

type UnrelatedOrder = Omit<DerivedOrder, 'lineage'>;

/**
 * A decision that cannot become an order: the value breaches the threshold, but its evidence lacks a subject that the trigger requires; or its unit
 * is not the threshold's; or the trigger refers to a measure that no longer exists.
 */
type Withheld = SourceReceipt['withheld'][number];

/** The orders of some evidence, always sorted alike, even if the evidence lists its rows in another order. */
export interface Derived {
  /** Ascending by id, no id twice. */
  readonly orders: readonly DerivedOrder[];
  /** Ascending by trigger, no decision twice. */
  readonly withheld: readonly Withheld[];
}

/** Figures about the same subjects, with their artifact. */
interface Observation {
  readonly metric: string;
  readonly evidence: OrderEvidence;
  readonly measures: readonly {
    readonly name: string;
    readonly value: number;
    readonly unit: string;
    /** The value if every unknown counted in full: there is an order only if this value breaches the threshold too. */
    readonly atBest?: number;
  }[];
  /** The GUIDs may repeat and are in no order. */
  readonly subjects: OrderSubjects;
}

/**
 * Returns the orders of one metric: each of its rows against each trigger on a measure of the row [RP-190..RP-201].
 * @param pin of the artifact
 * @param artifact of a metric that is `available`, since no other may trigger an order [RP-159]; one that is not `not_suppressed` triggers none
 */
export function deriveMetricOrders(grounds: OrderGrounds, pin: PinnedRef, artifact: MetricArtifact): Derived {
  const { metric, suppression } = artifact;
  const rows = suppression.status === 'not_suppressed' ? artifact.rows : [];
  const evidence: OrderEvidence = { service: 'analytics', ...pin };
  return derive(
    grounds,
    rows.map(({ measures, ...subjects }) => ({
      metric,
      evidence,
      measures,
      subjects: { ...subjects, sourceKeys: [] },
    })),
  );
}

/** A named, aligned source; `comparison` is undefined if Analytics has none. */
interface AlignedSource {
  readonly sourceKey: string;
  readonly crosswalk: PinnedRef;
  readonly alignment: Alignment;
  readonly comparison?: Compared | undefined;
}

/** Returns the orders of one named source: on its alignment, and on its comparison of predicted with actual results where that can be shown. */
export function deriveSourceOrders(grounds: OrderGrounds, source: AlignedSource): Derived {
  return derive(grounds, [...observeAlignment(source, grounds), ...observeComparison(source)]);
}

/**
 * Returns the observations on an alignment. A count refers to the standards of the contributions that it counts, the percentage to all contributions
 * that do not count in full. Since rules 3 an `unknown` is no defect: it is not counted, and the percentage must also trip if each `unknown` counted
 * in full.
 */
function observeAlignment(
  { sourceKey, crosswalk, alignment }: AlignedSource,
  { rules }: Pick<OrderGrounds, 'rules'>,
): readonly Observation[] {
  const { alignmentPercent: value } = alignment;
  const isSpared = ({ reasonCode }: AlignmentContribution) => rules === '3' && reasonCode === 'unknown';
  const contributions = alignment.contributions.filter((contribution) => !isSpared(contribution));
  const atBest =
    contributions.length === alignment.contributions.length
      ? value
      : alignmentPercentOf(
          alignment.contributions.map((row) =>
            isSpared(row) ? { ...row, weightedContribution: row.weight } : row,
          ),
        ).alignmentPercent;
  const observe = (
    name: string,
    unit: string,
    affected: readonly AlignmentContribution[],
    figures: Pick<Observation['measures'][number], 'value' | 'atBest'> = { value: affected.length },
  ): Observation => ({
    metric: 'alignment',
    evidence: { service: 'blueprint', ...crosswalk },
    measures: [{ name, unit, ...figures }],
    subjects: {
      qtiItemId: null,
      qtiFormId: null,
      qtiTestId: null,
      sourceKeys: [sourceKey],
      caseGuids: affected.flatMap(({ caseGuid }) => caseGuid ?? []),
    },
  });
  const notInFull = contributions.filter(({ reasonCode }) => reasonCode !== null);
  const uncovered = contributions.filter(({ coverage }) => coverage === 0);
  const lowerDok = contributions.filter(({ reasonCode }) => reasonCode === 'lower_dok');
  return [
    observe('alignment_percent', 'percent', notInFull, { value, atBest }),
    observe('uncovered_requirements', 'count', uncovered),
    observe('lower_dok_requirements', 'count', lowerDok),
  ];
}

function observeComparison({ sourceKey, comparison }: AlignedSource): readonly Observation[] {
  if (comparison === undefined) return [];
  const { pin, artifact } = comparison;
  const value = showComparison(comparison).comparison?.observedAgreement ?? null;
  if (value === null) return [];
  const { qtiFormId, qtiTestId, caseGuids } = artifact;
  return [
    {
      metric: 'predicted_actual',
      evidence: { service: 'analytics', ...pin },
      measures: [{ name: 'observed_agreement', value, unit: 'proportion' }],
      subjects: { qtiItemId: null, qtiFormId, qtiTestId, sourceKeys: [sourceKey], caseGuids },
    },
  ];
}

/**
 * Returns one order per trigger and set of subjects. Evidence that reports the same subjects twice gives one order, with the least value that trips:
 * an id is made of trigger, subjects and evidence [RP-190], and one id cannot have two contents.
 */
function derive(grounds: OrderGrounds, observations: readonly Observation[]): Derived {
  const orders = new Map<string, UnrelatedOrder>();
  const withheld = new Map<string, Withheld>();
  for (const { metric, evidence, measures, subjects: named } of observations) {
    // Sorted once for all triggers, and only if one needs it: there may be many long lists.
    let sorted: OrderSubjects | undefined;
    const about = () => (sorted ??= inOrder(named));
    for (const [index, trigger] of grounds.policy.triggers.entries()) {
      if (trigger.metric !== metric) continue;
      const withhold = (reason: Withheld['reason']) => {
        const subjects = about();
        withheld.set(`${reason} ${digestOf(subjects)} ${index}`, { trigger: index, reason, subjects });
      };
      if (measureOf(trigger) === undefined) withhold('not_judged');
      for (const { name, value, unit, atBest = value } of measures) {
        if (name !== trigger.observed.name) continue;
        if (unit !== trigger.observed.unit) withhold('unit_mismatch');
        else if (![value, atBest].every((figure) => isBreached(trigger.threshold, figure))) continue;
        else if (bindingSubjects(trigger).some((subject) => (named[subject]?.length ?? 0) === 0))
          withhold('subject_missing');
        else
          for (const subjects of partsOf(about())) {
            const content = contentOf(grounds, trigger, evidence, subjects, value);
            const { revisionOrderId: id } = content;
            if (value < (orders.get(id)?.content.observedMetric.value ?? Infinity))
              orders.set(id, { content, trigger: index, evidence });
          }
      }
    }
  }
  return {
    orders: withLineage(grounds, orders.values()).toSorted((a, b) =>
      compareText(a.content.revisionOrderId, b.content.revisionOrderId),
    ),
    withheld: [...withheld]
      .toSorted(([one, a], [other, b]) => a.trigger - b.trigger || compareText(one, other))
      .map(([, decision]) => decision),
  };
}

/** Returns subjects with each GUID once, in the order of UTF-16 code units. */
function inOrder({ qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids }: OrderSubjects): OrderSubjects {
  return { qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids: [...new Set(caseGuids)].toSorted() };
}

/** Splits subjects into parts of as many GUIDs as an order can name; returns one part if there are none. */
function partsOf(whole: OrderSubjects): readonly OrderSubjects[] {
  const { caseGuids } = whole;
  if (caseGuids.length <= MAX_SUBJECTS) return [whole];
  return Array.from({ length: Math.ceil(caseGuids.length / MAX_SUBJECTS) }, (_, at) => ({
    ...whole,
    caseGuids: caseGuids.slice(at * MAX_SUBJECTS, (at + 1) * MAX_SUBJECTS),
  }));
}

/** Returns the digest of subjects. */
function digestOf({ qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids }: OrderSubjects): string {
  return sha256Hex(JSON.stringify([qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids]));
}

/**
 * Adds the lineage to each order. Orders that differ only in their GUIDs, such as the parts of a long list, are numbered in the order of the GUIDs,
 * so that every order of a run has at most one predecessor.
 */
function withLineage(grounds: OrderGrounds, orders: Iterable<UnrelatedOrder>): readonly DerivedOrder[] {
  const guidsOf = ({ content }: UnrelatedOrder) => JSON.stringify(content.caseGuids);
  return [...Map.groupBy(orders, (order) => aboutOf(grounds, order))].flatMap(([about, alike]) =>
    alike
      .toSorted((a, b) => compareText(guidsOf(a), guidsOf(b)))
      .map((order, part) => ({ ...order, lineage: sha256Hex(`${part} ${about}`) })),
  );
}

/** Returns an order's identity, without evidence, versions and threshold value. GUIDs are part of it only if there is no other subject. */
function aboutOf(
  { tenantId, administrationId, policy }: OrderGrounds,
  { content, trigger }: UnrelatedOrder,
): string {
  const { qtiItemId, qtiFormId, qtiTestId, sourceKeys, caseGuids } = content;
  const natives = [qtiItemId, qtiFormId, qtiTestId, ...sourceKeys];
  return JSON.stringify([
    tenantId,
    administrationId,
    content.targetModule,
    content.requestedAction,
    policy.triggers[trigger]?.metric,
    content.observedMetric.name,
    content.threshold.operator,
    natives,
    natives.every((id) => id === null) ? caseGuids : [],
  ]);
}

/**
 * Returns the content of an order. Its id is made of everything in it [RP-190]. Administration and blueprint are among its native subjects: the same
 * crosswalk under the same policy asks for its repair once per administration.
 */
function contentOf(
  { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion, policy }: OrderGrounds,
  trigger: AnalysisTrigger,
  evidence: OrderEvidence,
  subjects: OrderSubjects,
  value: number,
): OrderContent {
  const { targetModule, requestedAction, reasonCodes, observed, threshold } = trigger;
  const id = deterministicUuid(
    'revision-order',
    tenantId,
    targetModule,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    digestOf(subjects),
    policy.id,
    policy.version,
    hashCanonical({ evidence: [evidence], trigger }),
  );
  return {
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
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
