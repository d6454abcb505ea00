import * as z from 'zod';
import { alignmentFormula } from './improvement-run.ts';
import { MAX_COUNT, sha256, text } from './primitives.ts';

export const unit = z.enum(['proportion', 'count', 'points', 'percent']);

export const targetModule = z.enum(['bank', 'blueprint']);

/** Members of a revision order that name its subjects. */
const subject = z.enum(['qtiItemId', 'qtiFormId', 'qtiTestId', 'caseGuids', 'sourceKeys']);
export type Subject = z.infer<typeof subject>;

export const threshold = z.strictObject({
  operator: z.enum(['lt', 'lte', 'gt', 'gte', 'outside']),
  value: z.number(),
});

/** One number that a metric offers, with its least and greatest value. */
export interface Measure {
  readonly name: string;
  readonly unit: z.infer<typeof unit>;
  readonly least: number;
  readonly greatest: number;
  /** Whether it can have a value even if its subject names no CASE GUID; `at_zero`: only the value 0. */
  readonly withoutGuids?: 'ever' | 'at_zero';
}

interface MetricRow {
  readonly subjects: readonly Subject[];
  readonly measures: readonly Measure[];
}

const ofCount = { unit: 'count', least: 0, greatest: MAX_COUNT } as const;
const ofItems = ['qtiItemId', 'qtiFormId', 'qtiTestId', 'caseGuids'] as const;

/** What each metric measures, and which subjects its evidence names (docs/records.md explains each measure). */
const metricRows = {
  item_difficulty: {
    subjects: ofItems,
    measures: [
      { name: 'proportion_correct', unit: 'proportion', least: 0, greatest: 1 },
      { name: 'difficulty_difference', unit: 'proportion', least: -1, greatest: 1 },
    ],
  },
  item_discrimination: {
    subjects: ofItems,
    measures: [{ name: 'discrimination_index', unit: 'proportion', least: -1, greatest: 1 }],
  },
  distractor_distribution: {
    subjects: ofItems,
    measures: [
      { name: 'lowest_distractor_share', unit: 'proportion', least: 0, greatest: 1 },
      { name: 'distractor_over_key', unit: 'proportion', least: -1, greatest: 1 },
      { name: 'untagged_distractors', ...ofCount },
    ],
  },
  form_summary: {
    subjects: ['qtiFormId', 'qtiTestId', 'caseGuids'],
    measures: [
      { name: 'mean_percent_correct', unit: 'percent', least: 0, greatest: 100 },
      { name: 'mean_score_difference', unit: 'points', least: -Infinity, greatest: Infinity },
      { name: 'score_standard_deviation', unit: 'points', least: 0, greatest: Infinity },
    ],
  },
  alignment: {
    subjects: ['caseGuids', 'sourceKeys'],
    measures: [
      { name: 'alignment_percent', unit: 'percent', least: 0, greatest: 100, withoutGuids: 'ever' },
      { name: 'uncovered_requirements', ...ofCount, withoutGuids: 'ever' },
      { name: 'lower_dok_requirements', ...ofCount, withoutGuids: 'at_zero' },
    ],
  },
  predicted_actual: {
    subjects: ['qtiFormId', 'qtiTestId', 'caseGuids', 'sourceKeys'],
    measures: [{ name: 'observed_agreement', unit: 'proportion', least: 0, greatest: 1 }],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

type Metric = keyof typeof metricRows;
export const metrics: Readonly<Record<Metric, MetricRow>> = metricRows;
/** The four metrics of an improvement run, and the values of its alignment and of its comparison of predicted with actual results. */
const metric = z.enum(Object.keys(metrics) as Metric[]);

interface ActionRow {
  readonly targetModule: z.infer<typeof targetModule>;
  readonly subjects: readonly Subject[];
}

/** The receiver of each action, and the subjects that the action requires [RP-193, RP-194]. */
const actionRows = {
  regenerate_item: { targetModule: 'bank', subjects: ['qtiItemId'] },
  rotate_item: { targetModule: 'bank', subjects: ['qtiItemId'] },
  review_miskey: { targetModule: 'bank', subjects: ['qtiItemId'] },
  tag_distractor: { targetModule: 'bank', subjects: ['qtiItemId'] },
  apply_calibration_delta: { targetModule: 'blueprint', subjects: [] },
  repair_crosswalk: { targetModule: 'blueprint', subjects: ['sourceKeys'] },
} as const satisfies Readonly<Record<string, ActionRow>>;

type RequestedAction = keyof typeof actionRows;
export const actions: Readonly<Record<RequestedAction, ActionRow>> = actionRows;
export const requestedAction = z.enum(Object.keys(actions) as RequestedAction[]);

interface ReasonRow {
  readonly metrics: readonly Metric[];
  readonly actions: readonly RequestedAction[];
}

/** Which metrics can show a reason, and which actions answer it. */
const reasonRows = {
  low_discrimination: {
    metrics: ['item_discrimination'],
    actions: ['regenerate_item', 'rotate_item', 'review_miskey'],
  },
  difficulty_out_of_band: {
    metrics: ['item_difficulty', 'form_summary'],
    actions: ['regenerate_item', 'rotate_item', 'review_miskey', 'apply_calibration_delta'],
  },
  dead_distractor: {
    metrics: ['distractor_distribution'],
    actions: ['regenerate_item', 'rotate_item', 'tag_distractor'],
  },
  untagged_distractor: { metrics: ['distractor_distribution'], actions: ['tag_distractor'] },
  miskey_evidence: {
    metrics: ['item_difficulty', 'item_discrimination', 'distractor_distribution'],
    actions: ['regenerate_item', 'rotate_item', 'review_miskey'],
  },
  readiness_tolerance_breach: {
    metrics: ['form_summary', 'predicted_actual'],
    actions: ['apply_calibration_delta', 'repair_crosswalk'],
  },
  blueprint_coverage_defect: { metrics: ['alignment'], actions: ['repair_crosswalk'] },
  blueprint_rigor_defect: { metrics: ['alignment'], actions: ['repair_crosswalk'] },
} as const satisfies Readonly<Record<string, ReasonRow>>;

type ReasonCode = keyof typeof reasonRows;
export const reasons: Readonly<Record<ReasonCode, ReasonRow>> = reasonRows;
export const reasonCode = z.enum(Object.keys(reasons) as ReasonCode[]);

/** Which observed value triggers which revision. `observed` and `threshold` have the form that they have in the order [RP-198, RP-199]. */
export const analysisTrigger = z.strictObject({
  metric,
  observed: z.strictObject({ name: text, unit }),
  threshold,
  targetModule,
  requestedAction,
  reasonCodes: z.array(reasonCode).min(1).max(20),
  /** There is no order without all of these; they include those that the action needs [RP-195]. */
  requiredSubjects: z.array(subject),
});
export type AnalysisTrigger = z.infer<typeof analysisTrigger>;

/** An immutable analysis policy: the thresholds of an improvement run [RP-146, RP-201]. */
export const analysisPolicy = z.strictObject({
  id: text,
  version: text,
  visibility: z.enum(['tenant', 'system']),
  formulaVersion: z.literal(alignmentFormula),
  triggers: z.array(analysisTrigger).min(1),
  checksum: sha256,
});
export type AnalysisPolicy = z.infer<typeof analysisPolicy>;

/** Returns the measure of a trigger; undefined if the trigger was released when there was another measure. */
export function measureOf({
  metric: name,
  observed,
}: Pick<AnalysisTrigger, 'metric' | 'observed'>): Measure | undefined {
  return metrics[name].measures.find((measure) => measure.name === observed.name);
}

/** Returns whether a value that breaches a measure's threshold can lack any CASE GUID: a requirement without a mapping has none. */
export function canLackGuids(
  { withoutGuids }: Pick<Measure, 'withoutGuids'>,
  tripped: z.infer<typeof threshold>,
): boolean {
  return withoutGuids === 'ever' || (withoutGuids === 'at_zero' && isBreached(tripped, 0));
}

/**
 * Returns the subjects that an order of a trigger has to name: those that it requires. It ignores a demand for GUIDs that can be lacking by
 * construction, since the breach would disappear; such a policy is no longer released.
 */
export function bindingSubjects(trigger: AnalysisTrigger): readonly Subject[] {
  const measure = measureOf(trigger);
  return measure !== undefined && canLackGuids(measure, trigger.threshold)
    ? trigger.requiredSubjects.filter((subject) => subject !== 'caseGuids')
    : trigger.requiredSubjects;
}

/**
 * Returns whether an observed value breaches a threshold. `outside`: its magnitude is above the threshold's, on either side of 0 [RP-199, RP-200].
 */
export function isBreached({ operator, value }: z.infer<typeof threshold>, observed: number): boolean {
  switch (operator) {
    case 'lt':
      return observed < value;
    case 'lte':
      return observed <= value;
    case 'gt':
      return observed > value;
    case 'gte':
      return observed >= value;
    case 'outside':
      return Math.abs(observed) > value;
  }
}
