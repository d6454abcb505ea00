import type { AlignmentContribution, AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';

// What alignments and orders have to say, worked out anew from what the owners hold and by none of the code that says it.

/** An exact number: `units` of 10^-20. */
type Exact = bigint;
const DIGITS = 20;
const ONE = 10n ** BigInt(DIGITS);

/** A number as JSON has it, without an exponent, as every number of a seed is. */
export function exact(value: number): Exact {
  const text = String(value);
  if (!/^-?\d+(\.\d{1,20})?$/.test(text)) throw new Error(`${text} is no plain number`);
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(DIGITS, '0')}`);
}

export function sumOf(values: readonly number[]): Exact {
  return values.reduce((sum, value) => sum + exact(value), 0n);
}

/** factor × part / whole of non-negative numbers with six digits, half up, in the form of JSON. */
export function sixDigits(factor: bigint, part: Exact, whole: Exact): number {
  const millionths = (2n * factor * 1_000_000n * part + whole) / (2n * whole);
  return Number(`${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`);
}

/** The number of JSON that an exact one is written as. */
export function written(value: Exact): number {
  return Number(`${value / ONE}.${String(value % ONE).padStart(DIGITS, '0')}`);
}

type Requirement = AlignmentCrosswalk['requirements'][number];

/** The current mappings of a requirement, without repetitions. */
function candidatesOf({ mappings }: Requirement): readonly Requirement['mappings'][number][] {
  const current = mappings.filter(({ status }) => status === 'current');
  return [...new Map(current.map((one) => [JSON.stringify(one), one])).values()];
}

/** Why a requirement counts zero; null where it counts in full. */
function shortfallOf(requirement: Requirement): AlignmentContribution['reasonCode'] {
  const { sourceDok, mappings } = requirement;
  const [mapping, another] = candidatesOf(requirement);
  if (mapping === undefined)
    return mappings.some(({ status }) => status === 'stale') ? 'stale_mapping' : 'missing_mapping';
  if (another !== undefined) return 'ambiguous_mapping';
  if (mapping.blueprintSlotId === null) return 'missing_mapping';
  if (mapping.targetDok === null) return 'unknown';
  return mapping.targetDok < sourceDok ? 'lower_dok' : null;
}

/** The alignment of a crosswalk. */
export function expectedAlignment({
  requirements,
}: AlignmentCrosswalk): Pick<
  AlignmentReport,
  'contributions' | 'numerator' | 'denominator' | 'alignmentPercent'
> {
  const contributions = requirements.map((requirement): AlignmentContribution => {
    const { sourceRequirementId, weight, sourceDok } = requirement;
    const reasonCode = shortfallOf(requirement);
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

/** What the owners hold for one run. */
export interface Grounds {
  readonly policy: Pick<AnalysisPolicy, 'triggers'>;
  /** Of the metrics that are available. */
  readonly metrics: readonly MetricArtifact[];
  readonly sources: readonly {
    readonly crosswalk: AlignmentCrosswalk;
    readonly comparison: ComparisonArtifact | undefined;
  }[];
}

/** What is known of an order before anybody has given it an id. */
export interface ExpectedOrder {
  readonly trigger: number;
  readonly value: number;
  readonly qtiItemId: string | null;
  readonly qtiFormId: string | null;
  readonly qtiTestId: string | null;
  readonly caseGuids: readonly string[];
  readonly sourceKeys: readonly string[];
  /** Ids of what it rests on. */
  readonly evidence: readonly string[];
}

type Observation = Omit<ExpectedOrder, 'trigger'> & { readonly metric: string; readonly name: string };

/** Whether an observed value is on the wrong side of a threshold; `outside` is further from zero than it. */
export function trips(
  { operator, value: limit }: { readonly operator: string; readonly value: number },
  value: number,
): boolean {
  const compare = { lt: value < limit, lte: value <= limit, gt: value > limit, gte: value >= limit };
  if (operator === 'outside') return value > limit || value < -limit;
  return compare[operator as keyof typeof compare];
}

/** The orders of a run: every observed value that trips a trigger and names all that the trigger requires. */
export function expectedOrders({ policy, metrics, sources }: Grounds): readonly ExpectedOrder[] {
  const observations = [...metrics.flatMap(observedInMetric), ...sources.flatMap(observedInSource)];
  return observations.flatMap(({ metric, name, ...observed }) =>
    policy.triggers.flatMap((trigger, index) => {
      if (trigger.metric !== metric || trigger.observed.name !== name) return [];
      if (!trips(trigger.threshold, observed.value)) return [];
      const isNamed = trigger.requiredSubjects.every((subject) => (observed[subject]?.length ?? 0) > 0);
      return isNamed ? [{ trigger: index, ...observed }] : [];
    }),
  );
}

function observedInMetric({ artifactRef, metric, rows }: MetricArtifact): readonly Observation[] {
  return rows.flatMap(({ measures, caseGuids, ...subjects }) =>
    measures.map(({ name, value }) => ({
      metric,
      name,
      value,
      ...subjects,
      caseGuids: ordered(caseGuids),
      sourceKeys: [],
      evidence: [artifactRef],
    })),
  );
}

function observedInSource({ crosswalk, comparison }: Grounds['sources'][number]): readonly Observation[] {
  const { contributions } = expectedAlignment(crosswalk);
  const of = (name: string, rows: typeof contributions): Observation => ({
    metric: 'alignment',
    name,
    value: rows.length,
    qtiItemId: null,
    qtiFormId: null,
    qtiTestId: null,
    caseGuids: ordered(rows.flatMap(({ caseGuid }) => caseGuid ?? [])),
    sourceKeys: [crosswalk.sourceKey],
    evidence: [crosswalk.crosswalkId],
  });
  const found = [
    of(
      'uncovered_requirements',
      contributions.filter(({ coverage }) => coverage === 0),
    ),
    of(
      'lower_dok_requirements',
      contributions.filter(({ reasonCode }) => reasonCode === 'lower_dok'),
    ),
  ];
  if (comparison === undefined || comparison.suppression.status !== 'not_suppressed') return found;
  const { populationCount, agreementCount, artifactRef } = comparison;
  if (populationCount === 0) return found;
  return [
    ...found,
    {
      metric: 'predicted_actual',
      name: 'observed_agreement',
      value: sixDigits(1n, exact(agreementCount!), exact(populationCount)),
      qtiItemId: null,
      qtiFormId: comparison.qtiFormId,
      qtiTestId: comparison.qtiTestId,
      caseGuids: ordered(comparison.caseGuids),
      sourceKeys: [crosswalk.sourceKey],
      evidence: [artifactRef],
    },
  ];
}

function ordered(guids: readonly string[]): readonly string[] {
  return [...new Set(guids)].toSorted();
}
