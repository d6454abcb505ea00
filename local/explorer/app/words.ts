/** The words for what the contract has members of enumerations and codes for. No page shows the members themselves. */
import {
  CallError,
  ProblemError,
  type AdaptiveRun,
  type AttemptReport,
  type EquivalenceReport,
  type ImprovementRun,
  type MasteryRow,
  type ProblemCode,
  type RevisionOrder,
  type WaitingFor,
} from '#client/index.ts';
import type { Bank } from './session.ts';
import { createSpeaker, type Listed } from '#report-element/speak/speaker.ts';
import { en } from '#report-element/texts/en.ts';
import { ruleText, zonesOf as zonesOfRule, type Rule } from '#report-element/speak/states.ts';

type StateMember = Listed<
  | AdaptiveRun['kcClassifications'][number]['classification']
  | MasteryRow['state']
  | NonNullable<AttemptReport['gate']>['status']
  | EquivalenceReport['decision']
  | ImprovementRun['status']
  | RevisionOrder['status']
>;

type StateWords = readonly [sign: string, words: string, kind: 'good' | 'bad' | 'open'];

/** A word and a sign for each state, so that no meaning depends only on a colour. A report has the same words. */
const states: Readonly<Record<StateMember, StateWords>> = {
  mastered: ['●', en.mastered, 'good'],
  gap: ['▲', en.gap, 'bad'],
  not_yet: ['○', en.notSettled, 'open'],
  insufficient_evidence: ['○', en.tooLittle, 'open'],
  pass: ['●', en.passed, 'good'],
  fail: ['▲', en.failed, 'bad'],
  indeterminate: ['○', en.undecided, 'open'],
  equivalent: ['●', 'equivalent', 'good'],
  not_equivalent: ['▲', 'not equivalent', 'bad'],
  queued: ['○', 'waiting to begin', 'open'],
  analyzing: ['○', 'under way', 'open'],
  completed: ['●', 'completed', 'good'],
  completed_with_omissions: ['●', 'completed with omissions', 'good'],
  failed: ['▲', 'failed', 'bad'],
  blocked_upstream: ['▲', 'waits for its receiver', 'bad'],
  pending: ['○', 'not sent yet', 'open'],
  accepted: ['●', 'accepted', 'good'],
  replayed: ['●', 'accepted before', 'good'],
  rejected: ['▲', 'rejected', 'bad'],
  superseded: ['○', 'replaced by a later one', 'open'],
  unknown: ['○', 'unknown', 'open'],
};

const stopReasons: Readonly<Record<Listed<Exclude<AdaptiveRun['stopReason'], null>>, string>> = {
  classifications_complete: 'every knowledge component is settled',
  precision_target_met: 'the remaining uncertainty has reached its target',
  max_items: 'there is no further item to ask, or the largest number of items is reached',
  time_budget: 'the time is up',
};

/** Why a test of the reason `max_items` ended, by the cause in its result record. */
const stopCauses: Readonly<Record<string, string>> = {
  max_items: 'the largest number of items is reached',
  pool_exhausted: 'each item that could be asked has been asked',
  content_maxima: 'the test may have no more items about what is left',
  component_limit: 'what is left would tie too many knowledge components together',
  no_informative_item: 'each item that is left would tell too little',
  no_deciding_item: 'no item that is left would tell enough about what is not settled',
};

const modules: Readonly<Record<Listed<RevisionOrder['targetModule']>, string>> = {
  bank: 'Bank',
  blueprint: 'Blueprint',
};

const actions: Readonly<Record<Listed<RevisionOrder['requestedAction']>, string>> = {
  regenerate_item: 'Write the item anew',
  rotate_item: 'Take the item out of rotation',
  review_miskey: 'Check the key of the item',
  tag_distractor: 'Name the misconception behind each wrong option',
  apply_calibration_delta: 'Correct the difficulty of the form',
  repair_crosswalk: 'Complete the mapping to the external assessment',
};

const reasons: Readonly<Record<Listed<RevisionOrder['reasonCodes'][number]>, string>> = {
  low_discrimination: 'the item hardly tells stronger from weaker learners',
  difficulty_out_of_band: 'the difficulty is outside of what was planned',
  dead_distractor: 'a wrong option is hardly ever chosen',
  untagged_distractor: 'a wrong option names no misconception',
  miskey_evidence: 'the key may be wrong',
  readiness_tolerance_breach: 'predicted and actual results differ by too much',
  blueprint_coverage_defect: 'the blueprint does not cover all requirements',
  blueprint_rigor_defect: 'the blueprint asks for less rigor than the assessment',
};

const metrics: Readonly<Record<Listed<ImprovementRun['metricStatuses'][number]['metric']>, string>> = {
  item_difficulty: 'difficulty of the items',
  item_discrimination: 'discrimination of the items',
  distractor_distribution: 'choice of wrong options',
  form_summary: 'scores of the form',
};

const metricStates: Readonly<Record<Listed<ImprovementRun['metricStatuses'][number]['status']>, string>> = {
  available: 'available',
  unavailable: 'not available',
  suppressed: 'suppressed',
  stale: 'out of date',
  unknown: 'unknown',
};

/** What is measured, by the name that the owner gives it. */
const measures: Readonly<Record<string, string>> = {
  proportion_correct: 'share of correct answers',
  difficulty_difference: 'difference of difficulty',
  discrimination_index: 'discrimination',
  lowest_distractor_share: 'share of the option that is chosen least',
  distractor_over_key: 'lead of a wrong option over the key',
  untagged_distractors: 'wrong options without a misconception',
  mean_percent_correct: 'mean of correct answers',
  mean_score_difference: 'difference of the mean scores',
  score_standard_deviation: 'spread of the scores',
  alignment_percent: 'alignment',
  uncovered_requirements: 'requirements that nothing covers',
  lower_dok_requirements: 'requirements met with less rigor',
  observed_agreement: 'agreement of prediction and result',
};

const operators: Readonly<Record<Listed<RevisionOrder['threshold']['operator']>, string>> = {
  lt: 'below',
  lte: 'at or below',
  gt: 'above',
  gte: 'at or above',
  outside: 'further from zero than',
};

const units: Readonly<Record<Listed<RevisionOrder['observedMetric']['unit']>, string>> = {
  proportion: '',
  count: '',
  points: ' points',
  percent: ' %',
};

const whyNot: Readonly<Record<string, string>> = {
  missing_mapping: 'no mapping',
  ambiguous_mapping: 'more than one mapping',
  stale_mapping: 'the mapping is out of date',
  lower_dok: 'less rigor than asked for',
  owner_artifact_missing: 'Analytics has not published it',
  owner_field_missing: 'what Analytics has published cannot be used',
  suppressed: 'the group is too small to be shown',
  stale: 'out of date',
  receiver_unavailable: 'the receiver does not respond',
  predicted_actual: 'comparison of predicted with actual results',
};

const tables = {
  stopReasons,
  stopCauses,
  modules,
  actions,
  reasons,
  metrics,
  metricStates,
  measures,
  whyNot,
} as const;

/** Returns the words for a member, or neutral ones for a member of a later version. */
export function wordsFor(table: keyof typeof tables, member: string): string {
  return (
    new Map(Object.entries<string>(tables[table])).get(member) ?? 'something that this page does not know'
  );
}

export function stateOf(member: string): StateWords {
  return new Map(Object.entries<StateWords>(states)).get(member) ?? ['○', en.unknownValue, 'open'];
}

/** Returns a number as people read it: three significant digits, and no fraction above a hundred. */
export function figure(value: number): string {
  return value.toLocaleString('en', {
    maximumSignificantDigits: Math.max(3, Math.trunc(Math.abs(value)).toString().length),
  });
}

/** Returns a probability in percent; no rounding makes it a certainty, or takes it to another zone of the rule. */
export function percent(share: number, rule: StateRule): string {
  const { mastered, gap } = zonesOf(rule);
  return english.probability(share, [mastered, gap]);
}

/** Returns whether a classification is final for now; one of a later version is not known to be. */
export function isSettled({ classification }: { readonly classification: string }): boolean {
  return ['mastered', 'gap'].includes(classification);
}

/** Returns when a test ends, as the end of a sentence. */
export function endOf({ maxItems, timeBudgetSeconds, minimumDecisionGain }: Bank['rule']): string {
  const time = typeof timeBudgetSeconds === 'number' ? `, when ${timeBudgetSeconds} seconds are over` : '';
  const items =
    minimumDecisionGain === undefined
      ? 'there is no further item to ask'
      : 'no further item would tell enough about what is not settled';
  return `once every component is settled, when the remaining uncertainty has reached its target${time}, when ${items}, or after ${maxItems} items`;
}

export interface StateRule {
  readonly kcCutScore: number;
  readonly confidenceThreshold: number;
}

const asInReports = ({ kcCutScore, confidenceThreshold }: StateRule): Rule => ({
  cutScore: kcCutScore,
  confidence: confidenceThreshold,
});

/** Returns from which probability a component is mastered, and up to which it is a gap; in between it is not settled. */
export function zonesOf(rule: StateRule): ReturnType<typeof zonesOfRule> {
  return zonesOfRule(asInReports(rule));
}

const english = createSpeaker('en', {
  names: {},
  precedes: [],
  learner: undefined,
  scales: {},
  hrefOf: undefined,
});

/** Returns the rule of a state in one sentence, the same as in a report. */
export function ruleOf(rule: StateRule): string {
  return ruleText(english, asInReports(rule));
}

/** Returns why a revision is asked for: what was observed, and from where on it is asked for. */
export function orderRule({
  observedMetric,
  threshold,
}: Pick<RevisionOrder, 'observedMetric' | 'threshold'>): string {
  const unit = new Map(Object.entries(units)).get(observedMetric.unit) ?? '';
  const operator = new Map(Object.entries(operators)).get(threshold.operator) ?? 'by the policy at';
  return `${wordsFor('measures', observedMetric.name)}: ${figure(observedMetric.value)}${unit}; a revision is asked for ${operator} ${figure(threshold.value)}${unit}`;
}

/** Returns what a tenant or a thing of the seed is called: its id names it, `spring-gate` is `Spring gate`. */
export function nameFrom(id: string): string {
  const words = id.replace(/^tenant-/, '').replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const owners: Readonly<Record<string, string>> = {
  qti: 'QTI, which delivers and scores the items,',
  results: 'Results, which keeps the scores,',
  content: 'Content, which has the blueprints,',
  case: 'CASE, which has the standards,',
  analytics: 'Analytics',
  bank: 'Bank',
  blueprint: 'Blueprint',
  caliper: 'the store of learning events',
  anchor: 'the owner of the external scale',
  oneroster: 'the roster of classes',
  administration: 'the register of administrations',
  mastery_engine: 'the mastery engine',
  platform_auth: 'the sign-in of the platform',
};

type OwnerSentence = (owner: string) => string;
const silent: OwnerSentence = (owner) => `${owner} does not respond`;
const changed: OwnerSentence = () => 'The test was changed while you took it';
const refused: OwnerSentence = () => 'The service did not accept this request';

/** What happened, by the code of a problem. */
const problems: Readonly<Record<ProblemCode, OwnerSentence>> = {
  'dependency-unavailable': silent,
  'upstream-unavailable': silent,
  'dependency-incomplete': (owner) => `${owner} does not have all facts yet, or they contradict others`,
  'finalization-incomplete': (owner) => `${owner} has not confirmed the result yet`,
  'source-version-conflict': () => 'The facts changed while they were read',
  'rate-limited': () => 'There were too many requests in a short time',
  'internal-error': () => 'The service failed',
  'not-found': () => 'There is nothing here that you may see',
  'resource-not-found': () => 'There is nothing here that you may see',
  'authentication-required': () => 'The sign-in has expired',
  'authorization-denied': () => 'You may not see this',
  'insufficient-scope': () => 'You may not see this',
  'stream-conflict': () => 'This run was continued elsewhere, or its facts changed',
  'adaptive-pool-version-drift': changed,
  'qti-adaptive-pool-invalid': () => 'The item pool of this test cannot be used',
  'calibration-invalid': () => 'The calibration of this test cannot be used',
  'invalid-request': refused,
  validation: refused,
  'unsupported-parameter': refused,
  'payload-too-large': refused,
  'precondition-required': refused,
  'simulation-limit-exceeded': refused,
  'idempotency-conflict': refused,
  'idempotency-key-reused': refused,
};

/** Returns what failed in one sentence without a full stop. The messages of errors are for developers: they name operations and ids. */
export function failureOf(error: unknown): string {
  if (error instanceof ProblemError) {
    const { upstream, dependency } = error.problem;
    const owner = owners[upstream?.service ?? dependency ?? ''] ?? 'An owner of the facts';
    const sentence = new Map<string, OwnerSentence>(Object.entries(problems)).get(error.code) ?? refused;
    return capital(sentence(owner));
  }
  if (error instanceof CallError) return 'The service does not respond';
  if (error instanceof PlainError) return error.message;
  if (error instanceof Error && error.name === 'RunStalledError')
    return 'There has been no news for two minutes';
  return 'Something failed on this page';
}

/** Returns what a run waits for. */
export function waitOf({ service }: Pick<WaitingFor, 'service'>): string {
  if (service === 'qti') return 'Your answer is not scored yet';
  // The anchor is verified, and nothing is handed to its owner.
  if (service === 'anchor')
    return 'The anchor of the scale cannot be verified, so the result is not published yet';
  return `${capital(owners[service] ?? 'An owner of the facts')} has not confirmed the result yet`;
}

/** An error whose message is a sentence for the person at the page. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
