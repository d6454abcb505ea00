import type {
  AlignmentContribution,
  AlignmentReport,
  PredictedActualComparison,
} from '#shared/contract/reports/alignment-report.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';

// What alignments and orders have to say, worked out anew from what the owners hold and by none of the code that says it.

/** An exact number: `units` of 10^-20. */
type Exact = bigint;
const DIGITS = 20;
const ONE = 10n ** BigInt(DIGITS);

/** The decimal that the text of a number is, of at most 20 digits after its point. */
function exact(value: number): Exact {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const more = DIGITS + Number(exponent) - fraction.length;
  if (more < 0) throw new Error(`${value} has too many digits`);
  return BigInt(whole + fraction) * 10n ** BigInt(more);
}

function sumOf(values: readonly number[]): Exact {
  return values.reduce((sum, value) => sum + exact(value), 0n);
}

/** factor × part / whole of non-negative numbers with six digits, half up, in the form of JSON. */
function sixDigits(factor: bigint, part: Exact, whole: Exact): number {
  const millionths = (2n * factor * 1_000_000n * part + whole) / (2n * whole);
  return Number(`${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`);
}

/** The number of JSON that an exact one is written as. */
function written(value: Exact): number {
  return Number(`${value / ONE}.${String(value % ONE).padStart(DIGITS, '0')}`);
}

type Requirement = AlignmentCrosswalk['requirements'][number];

/** The current mappings of a requirement, without repetitions. */
function candidatesOf({ mappings }: Requirement): readonly Requirement['mappings'][number][] {
  const current = mappings.filter(({ status }) => status === 'current');
  return [...new Map(current.map((one) => [JSON.stringify(one), one])).values()];
}

/** What a mapping can lead to; undefined for a run of the rules before 3. */
type Targets = Pick<AlignmentSources, 'slotIds' | 'caseGuids'> | undefined;

/** Why a requirement counts zero; null where it counts in full. */
function shortfallOf(requirement: Requirement, targets: Targets): AlignmentContribution['reasonCode'] {
  const { sourceDok, mappings } = requirement;
  const [mapping, another] = candidatesOf(requirement);
  if (mapping === undefined) {
    const statuses = mappings.map(({ status }) => status);
    if (statuses.includes('stale')) return 'stale_mapping';
    return targets === undefined || statuses.length === 0 ? 'missing_mapping' : 'unknown';
  }
  if (another !== undefined) return 'ambiguous_mapping';
  if (mapping.blueprintSlotId === null) return 'missing_mapping';
  if (mapping.targetDok === null) return 'unknown';
  if (targets?.slotIds?.includes(mapping.blueprintSlotId) === false) return 'unknown';
  if (targets?.caseGuids?.includes(mapping.caseGuid) === false) return 'unknown';
  return mapping.targetDok < sourceDok ? 'lower_dok' : null;
}

/** The alignment of a crosswalk. */
export function expectedAlignment(
  { requirements }: AlignmentCrosswalk,
  targets: Targets,
): Pick<AlignmentReport, 'contributions' | 'numerator' | 'denominator' | 'alignmentPercent'> {
  const contributions = requirements.map((requirement): AlignmentContribution => {
    const { sourceRequirementId, weight, sourceDok } = requirement;
    const reasonCode = shortfallOf(requirement, targets);
    const candidates = candidatesOf(requirement);
    const [only] = candidates.length === 1 ? candidates : [];
    const isCovered = reasonCode === null || reasonCode === 'lower_dok';
    return {
      sourceRequirementId,
      caseGuid: only?.caseGuid ?? null,
      blueprintSlotId: only?.blueprintSlotId ?? null,
      weight,
      coverage: isCovered ? 1 : 0,
      rigor: reasonCode === null ? 1 : 0,
      sourceDok,
      targetDok: isCovered ? (only?.targetDok ?? null) : null,
      weightedContribution: reasonCode === null ? weight : 0,
      reasonCode,
    };
  });
  const numerator = sumOf(contributions.map(({ weightedContribution }) => weightedContribution));
  const denominator = sumOf(contributions.map(({ weight }) => weight));
  return {
    contributions,
    numerator: written(numerator),
    denominator: written(denominator),
    alignmentPercent: sixDigits(100n, numerator, denominator),
  };
}

/** What is shown of a comparison: its counts only where they can be and are not suppressed, itself only where anybody was compared. */
export function expectedComparison(artifact: ComparisonArtifact): PredictedActualComparison | null {
  const { artifactRef, populationCount, method, analysisVersion, suppression, ...counts } = artifact;
  const { predictedPassCount, actualPassCount, agreementCount } = counts;
  const identity = { artifactRef, populationCount, method, analysisVersion };
  if (populationCount === 0) return null;
  if (suppression.status === 'not_suppressed')
    return isPossible(artifact)
      ? {
          ...identity,
          suppressionStatus: 'not_suppressed',
          suppressionRule: null,
          ...{ predictedPassCount, actualPassCount, agreementCount },
          observedAgreement: sixDigits(1n, exact(agreementCount!), exact(populationCount)),
        }
      : null;
  const isSuppressed = suppression.status === 'suppressed';
  if (isSuppressed && suppression.rule === null) return null;
  return {
    ...identity,
    suppressionStatus: isSuppressed ? 'suppressed' : 'unknown',
    suppressionRule: isSuppressed ? suppression.rule : null,
    ...{ predictedPassCount: null, actualPassCount: null, agreementCount: null, observedAgreement: null },
  };
}

/** What the owners hold for one run. */
export interface Grounds {
  readonly policy: Pick<AnalysisPolicy, 'triggers'>;
  /** Of the metrics that are available. */
  readonly metrics: readonly MetricArtifact[];
  readonly sources: readonly {
    readonly crosswalk: AlignmentCrosswalk;
    readonly comparison: ComparisonArtifact | undefined;
    readonly targets?: Targets;
  }[];
}

/** Whether a trigger asks for an order about something. */
export interface ExpectedOrder {
  readonly trigger: number;
  /** Why it asks for none although it would. */
  readonly withheld?: 'unit_mismatch' | 'subject_missing';
  readonly value: number;
  readonly qtiItemId: string | null;
  readonly qtiFormId: string | null;
  readonly qtiTestId: string | null;
  readonly caseGuids: readonly string[];
  readonly sourceKeys: readonly string[];
  /** Ids of what it rests on. */
  readonly evidence: readonly string[];
}

type Observation = Omit<ExpectedOrder, 'trigger'> & {
  /** What has to trip too: the value if everything unknown counted in full. */
  readonly atBest?: number;
  readonly metric: string;
  readonly name: string;
  readonly unit: string;
};

/** Whether an observed value is on the wrong side of a threshold; `outside` is further from zero than it. */
export function trips(
  { operator, value: limit }: { readonly operator: string; readonly value: number },
  value: number,
): boolean {
  const compare = { lt: value < limit, lte: value <= limit, gt: value > limit, gte: value >= limit };
  if (operator === 'outside') return value > limit || value < -limit;
  return compare[operator as keyof typeof compare];
}

/** The decisions of a run, those that give no order with the reason: of several on the same subjects the one of the least value. */
export function expectedOrders({ policy, metrics, sources }: Grounds): readonly ExpectedOrder[] {
  const observations = [...metrics.flatMap(observedInMetric), ...sources.flatMap(observedInSource)];
  const decisions = new Map<string, ExpectedOrder>();
  for (const { metric, name, unit, atBest, ...observed } of observations)
    for (const [index, trigger] of policy.triggers.entries()) {
      if (trigger.metric !== metric || trigger.observed.name !== name) continue;
      const isComparable = unit === trigger.observed.unit;
      const values = [observed.value, atBest ?? observed.value];
      if (isComparable && !values.every((value) => trips(trigger.threshold, value))) continue;
      const isNamed = trigger.requiredSubjects.every((subject) => (observed[subject]?.length ?? 0) > 0);
      const reason = isComparable ? ('subject_missing' as const) : ('unit_mismatch' as const);
      const withheld = isComparable && isNamed ? {} : { withheld: reason };
      const decision = { trigger: index, ...observed, ...withheld };
      const key = JSON.stringify({ ...decision, value: null });
      if (decision.value < (decisions.get(key)?.value ?? Infinity)) decisions.set(key, decision);
    }
  return [...decisions.values()];
}

function observedInMetric({
  artifactRef,
  metric,
  rows,
  suppression,
}: MetricArtifact): readonly Observation[] {
  if (suppression.status !== 'not_suppressed') return [];
  return rows.flatMap(({ measures, caseGuids, qtiItemId, qtiFormId, qtiTestId }) =>
    measures.map((measure) => ({
      metric,
      ...measure,
      qtiItemId,
      qtiFormId,
      qtiTestId,
      caseGuids: ordered(caseGuids),
      sourceKeys: [],
      evidence: [artifactRef],
    })),
  );
}

function observedInSource({
  crosswalk,
  comparison,
  targets,
}: Grounds['sources'][number]): readonly Observation[] {
  const { contributions: all, denominator, alignmentPercent } = expectedAlignment(crosswalk, targets);
  // What is unknown is no defect since rules 3.
  const contributions = all.filter(({ reasonCode }) => targets === undefined || reasonCode !== 'unknown');
  const lost = sumOf(contributions.flatMap(({ reasonCode, weight }) => (reasonCode === null ? [] : weight)));
  const atBest = sixDigits(100n, exact(denominator) - lost, exact(denominator));
  const none = { qtiItemId: null, qtiFormId: null, qtiTestId: null, sourceKeys: [crosswalk.sourceKey] };
  const about = (rows: typeof contributions) => ({
    metric: 'alignment',
    unit: 'count',
    value: rows.length,
    ...none,
    caseGuids: ordered(rows.flatMap(({ caseGuid }) => caseGuid ?? [])),
    evidence: [crosswalk.crosswalkId],
  });
  const short = about(contributions.filter(({ reasonCode }) => reasonCode !== null));
  const uncovered = about(contributions.filter(({ coverage }) => coverage === 0));
  const lower = about(contributions.filter(({ reasonCode }) => reasonCode === 'lower_dok'));
  const found: Observation[] = [
    { ...short, name: 'alignment_percent', unit: 'percent', value: alignmentPercent, atBest },
    { ...uncovered, name: 'uncovered_requirements' },
    { ...lower, name: 'lower_dok_requirements' },
  ];
  if (comparison?.suppression.status !== 'not_suppressed' || !isPossible(comparison)) return found;
  const { populationCount, agreementCount, artifactRef, qtiFormId, qtiTestId, caseGuids } = comparison;
  return [
    ...found,
    {
      metric: 'predicted_actual',
      name: 'observed_agreement',
      unit: 'proportion',
      value: sixDigits(1n, exact(agreementCount!), exact(populationCount)),
      ...none,
      qtiFormId,
      qtiTestId,
      caseGuids: ordered(caseGuids),
      evidence: [artifactRef],
    },
  ];
}

/** Whether anybody was compared, and the counts are those of some division into who passed in both, in one, and in neither. */
function isPossible({
  populationCount: all,
  predictedPassCount: predicted,
  actualPassCount: actual,
  agreementCount,
}: ComparisonArtifact): boolean {
  if (all === 0 || predicted === null || actual === null) return false;
  return Array.from({ length: Math.min(predicted, actual) + 1 }, (_, both) => {
    const neither = all - predicted - actual + both;
    return neither >= 0 && both + neither === agreementCount;
  }).includes(true);
}

function ordered(guids: readonly string[]): readonly string[] {
  return [...new Set(guids)].toSorted();
}
