import fc from 'fast-check';
import type * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { changed, expectForm, issuesOf } from '#test/support/changed.ts';
import type { Change } from '#test/support/changed.ts';
import {
  agreementOf,
  alignmentContribution,
  alignmentPercentOf,
  alignmentReport,
  predictedActualComparison,
} from './alignment-report.ts';
import { actions } from './analysis-policy.ts';
import {
  attemptReport,
  attemptReportPage,
  diagnosticDetail,
  gateDecision,
  masteryRow,
  score,
  view,
} from './attempt-report.ts';
import { cohortReport } from './cohort-report.ts';
import { equivalenceReport } from './equivalence-report.ts';
import * as examples from './examples.ts';
import { improvementRun, metricStatus } from './improvement-run.ts';
import { orderContent } from './order-content.ts';
import { readinessEntry, readinessReport } from './readiness-report.ts';
import { receiptLink } from './receipt-link.ts';
import { revisionOrder, revisionOrderPage } from './revision-order.ts';
import { sourceRef } from './source-ref.ts';

// The schemas of answers as the last look at them: every answer of the service passes them before it goes out.

/** A value with other members, by their paths. */
const but = <T>(value: T, change: Change): T =>
  Object.entries(change).reduce((to, [path, member]) => changed(to, path, member) as T, value);

const { failedGate, queuedRun, completedRun, alignment } = examples;
const [receipt] = failedGate.sources;
const [row] = failedGate.mastery;
const [available] = queuedRun.metricStatuses;
const [, suppressedMetric, unavailable] = completedRun.metricStatuses;
const [covered, missing] = alignment.contributions;
const [accepted] = examples.revisionOrders.data;
const acknowledged = accepted!.targetReceipt;
const without = {
  predictedPassCount: null,
  actualPassCount: null,
  agreementCount: null,
  observedAgreement: null,
};

/** Sound values. */
const samples = {
  report: [attemptReport, failedGate],
  pass: [attemptReport, but(failedGate, { 'gate/status': 'pass', 'gate/gapCaseGuids': [] })],
  diagnostic: [
    attemptReport,
    but(failedGate, {
      testKind: 'adaptive_diagnostic',
      gate: null,
      score: { value: 512, minimum: null, maximum: null, unit: 'mastery_scale', scaleVersion: 'scale-1' },
      diagnostic: {
        scaleScore: 512,
        scaleVersion: 'scale-1',
        calibrationVersion: 'calibration-2',
        standardError: 18.5,
        stoppingReason: 'max_items',
        administeredItemCount: 1,
        extNormsSet: null,
      },
    }),
  ],
  page: [attemptReportPage, examples.page],
  readiness: [readinessReport, examples.notReady],
  cohort: [cohortReport, examples.classCohort],
  equivalence: [equivalenceReport, examples.equivalentForms],
  receipt: [sourceRef, receipt],

  metric: [metricStatus, available],
  'suppressed metric': [metricStatus, suppressedMetric],
  'unavailable metric': [metricStatus, unavailable],
  'stale metric': [metricStatus, but(available, { status: 'stale', reasonCode: 'stale' })],
  'unknown metric': [metricStatus, but(unavailable, { status: 'unknown', artifactRef: 'artifact-811' })],

  run: [improvementRun, queuedRun],
  'analyzing run': [
    improvementRun,
    but(queuedRun, { status: 'analyzing', alignmentRecordCount: 1, revisionOrderCount: 3 }),
  ],
  'blocked run': [
    improvementRun,
    but(queuedRun, {
      status: 'blocked_upstream',
      alignmentRecordCount: 2,
      revisionOrderCount: 3,
      blockedOrderCount: 3,
    }),
  ],
  'complete run': [improvementRun, completedRun],
  'whole run': [
    improvementRun,
    but(completedRun, { status: 'completed', metricStatuses: queuedRun.metricStatuses, omissions: [] }),
  ],
  'failed run': [
    improvementRun,
    but(completedRun, { status: 'failed', alignmentRecordCount: 1, receipt: null }),
  ],
  'failed run with receipt': [
    improvementRun,
    but(completedRun, { status: 'failed', alignmentRecordCount: 1 }),
  ],

  order: [revisionOrder, accepted],
  'pending order': [revisionOrder, but(accepted, { status: 'pending', targetReceipt: null })],
  'blocked order': [revisionOrder, but(accepted, { status: 'blocked_upstream', targetReceipt: null })],
  'replayed order': [revisionOrder, but(accepted, { status: 'replayed' })],
  'rejected order': [revisionOrder, but(accepted, { status: 'rejected' })],
  'superseded order': [revisionOrder, but(accepted, { status: 'superseded' })],
  'unknown order': [revisionOrder, but(accepted, { status: 'unknown' })],
  'repair order': [
    revisionOrder,
    but(accepted, {
      targetModule: 'blueprint',
      requestedAction: 'repair_crosswalk',
      qtiItemId: null,
      sourceKeys: ['state-math-5.2025'],
      supersedesRevisionOrderId: 'order_1',
    }),
  ],
  'calibration order': [
    revisionOrder,
    but(accepted, {
      targetModule: 'blueprint',
      requestedAction: 'apply_calibration_delta',
      qtiItemId: null,
      qtiFormId: null,
      qtiTestId: null,
      caseGuids: [],
    }),
  ],
  orders: [revisionOrderPage, examples.revisionOrders],

  alignment: [alignmentReport, alignment],
  contribution: [alignmentContribution, covered],
  'missing contribution': [alignmentContribution, missing],
  'lower contribution': [
    alignmentContribution,
    but(covered, { rigor: 0, targetDok: 1, weightedContribution: 0, reasonCode: 'lower_dok' }),
  ],
  comparison: [predictedActualComparison, alignment.predictedActual],
  'suppressed comparison': [
    predictedActualComparison,
    but(alignment.predictedActual, {
      ...without,
      suppressionStatus: 'suppressed',
      suppressionRule: 'minimum 10',
    }),
  ],
  'unknown comparison': [
    predictedActualComparison,
    but(alignment.predictedActual, { ...without, suppressionStatus: 'unknown' }),
  ],
  link: [receiptLink, alignment.receipt],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, unknown]>>;
type Name = keyof typeof samples;
type Row = [title: string, name: Name, change: Change];

function issues(name: Name, change: Change = {}) {
  const [schema, sound] = samples[name];
  return issuesOf(schema, sound, change);
}
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `id-${at}`);

const rulesIn = (text: string): readonly string[] => text.match(/RP-\d{3}/g) ?? [];

const projected = { 'entries/0/decision': 'projected_pass' };
const half = { 'entries/0/coverageFraction': 0.999999 };
const { comparisonQtiTestIds: compared } = examples.equivalentForms;
const isSuppressed = { suppressionStatus: 'suppressed', suppressionRule: 'fewer than 10' };
/** Ten weights of 0.1, whose sum in the machine's arithmetic is not 1. */
const contributions = numbered(10).map((sourceRequirementId) =>
  but(covered!, { sourceRequirementId, weight: 0.1, weightedContribution: 0.1 }),
);
const tenths = { contributions, ...alignmentPercentOf(contributions) };

/** Members that have one of a few values, or a form of their own. */
const closed = [
  ...['object', 'testKind', 'status', 'score/unit', 'service', 'kind', 'state', 'uncertaintyKind'],
  ...['stoppingReason', 'decision', 'dokDominance', 'metric', 'suppressionStatus', 'reasonCode'],
  ...['targetModule', 'requestedAction', 'observedMetric/unit', 'operator', 'mediaType'],
  ...['observedAt', 'asOf', 'start', 'end', 'createdAt', 'updatedAt', 'completedAt', 'expiresAt'],
];
/** Members that have the free text of their owner. */
const texts = [
  ...['version', 'scaleVersion', 'criteriaVersion', 'calibrationVersion', 'policyId', 'policyVersion'],
  ...[
    'sourceTest',
    'sourceAssessment',
    'sourceVersion',
    'crosswalkVersion',
    'decisionRuleId',
    'decisionRuleVersion',
  ],
  ...['limitations', 'name', 'measures/0/unit', 'method', 'analysisVersion', 'formulaVersion'],
  ...['improvementRunId', 'revisionOrderId', 'contentTestSpecVersion', 'suppressionRule'],
  ...['analysisPolicyId', 'analysisPolicyVersion', 'requestId', 'traceId'],
];
const longest = { requestId: 128, traceId: 128, 'score/scaleVersion': 128, limitations: 500 };

it.each<[rules: string, name: Name, nullable: readonly string[], optional?: readonly string[]]>([
  [
    'RP-054, RP-059, RP-060, RP-061, RP-064, RP-066, RP-067, RP-070, RP-073, RP-080, RP-081, RP-082, RP-088, RP-091, RP-092, RP-093, RP-094, RP-096, RP-098, RP-100, RP-101, RP-102, RP-103, RP-340',
    'report',
    ['maximum', 'minimum', 'qtiSessionId', 'resultComponentId', 'version'],
    ['evidence'],
  ],
  [
    'RP-068, RP-083, RP-106, RP-107, RP-340',
    'diagnostic',
    ['qtiSessionId', 'resultComponentId', 'version'],
    ['evidence'],
  ],
  ['RP-133, RP-137', 'page', ['maximum', 'minimum', 'qtiSessionId', 'version']],
  ['RP-109, RP-111, RP-112, RP-113, RP-340', 'readiness', ['version']],
  ['RP-130, RP-340', 'cohort', ['version'], ['measures']],
  ['RP-121, RP-124, RP-125, RP-126, RP-340', 'equivalence', ['version']],
  ['RP-084, RP-085, RP-086, RP-087', 'receipt', ['version']],
  ['RP-158, RP-160, RP-161, RP-162, RP-163, RP-164, RP-165', 'metric', []],
  ['RP-158', 'unavailable metric', []],
  [
    'RP-007, RP-141, RP-142, RP-143, RP-144, RP-145, RP-146, RP-147, RP-148, RP-149, RP-152, RP-154, RP-155, RP-167',
    'run',
    ['version'],
  ],
  [
    'RP-007, RP-190, RP-191, RP-192, RP-193, RP-195, RP-196, RP-197, RP-198, RP-199, RP-201, RP-202, RP-203, RP-204, RP-205, RP-206, RP-208, RP-209',
    'orders',
    ['qtiFormId', 'qtiTestId', 'version'],
  ],
  ['RP-185, RP-186, RP-187, RP-188', 'comparison', []],
  ['RP-007, RP-147, RP-167, RP-168, RP-176, RP-180, RP-182', 'alignment', ['predictedActual', 'version']],
  ['RP-210, RP-211, RP-212, RP-213', 'link', []],
])('has its form in every place [RP-044, %s]: %s', (_, name, nullable, optional = []) => {
  const [schema, sound] = samples[name];
  // The formula of an alignment is a fixed name, that of a run or metric the text of its owner.
  const free = texts.filter((text) => name !== 'alignment' || text !== 'formulaVersion');
  expectForm(schema, sound, { nullable, optional, closed, texts: free, longest });
});

it.each(Object.keys(samples) as Name[])('takes the sound %s', (name) => {
  expect(issues(name)).toEqual([]);
});

it.each<[string, { readonly options: readonly string[] }, string]>([
  ['testKind [RP-060]', attemptReport.shape.testKind, 'mastery_gate adaptive_diagnostic formative unknown'],
  ['view [RP-074]', view, 'summary standards evidence'],
  ['status [RP-061]', attemptReport.shape.status, 'scored indeterminate unknown'],
  ['kind [RP-088]', masteryRow.shape.kind, 'standard knowledge_component'],
  ['source status [RP-087]', sourceRef.shape.status, 'current stale unavailable unknown'],
  ['unit [RP-082]', score.shape.unit, 'points percent mastery_scale unknown'],
  ['state [RP-091]', masteryRow.shape.state, 'mastered not_yet gap insufficient_evidence unknown'],
  [
    'uncertaintyKind [RP-093]',
    masteryRow.shape.uncertaintyKind,
    'standard_error interval_half_width policy_margin unknown',
  ],
  ['gate status [RP-100]', gateDecision.shape.status, 'pass fail indeterminate unknown'],
  [
    'stoppingReason [RP-107]',
    diagnosticDetail.shape.stoppingReason,
    'classifications_complete precision_target_met max_items time_budget unknown',
  ],
  [
    'readiness decision [RP-111]',
    readinessEntry.shape.decision,
    'projected_pass not_ready indeterminate unknown',
  ],
  ['dokDominance [RP-112]', readinessEntry.shape.dokDominance, 'satisfied not_satisfied indeterminate'],
  [
    'equivalence decision [RP-125]',
    equivalenceReport.shape.decision,
    'equivalent not_equivalent insufficient_evidence unknown',
  ],
  [
    'run status [RP-145]',
    improvementRun.shape.status,
    'queued analyzing completed completed_with_omissions blocked_upstream failed unknown',
  ],
  [
    'metric [RP-157]',
    metricStatus.shape.metric,
    'item_difficulty item_discrimination distractor_distribution form_summary',
  ],
  [
    'suppressionStatus [RP-185]',
    predictedActualComparison.shape.suppressionStatus,
    'not_suppressed suppressed unknown',
  ],
  [
    'order status [RP-203]',
    revisionOrder.shape.status,
    'pending accepted replayed blocked_upstream rejected superseded unknown',
  ],
  ['view [RP-074, RP-284]', view, 'summary standards evidence'],
])('has the values of the specification, no more and no fewer: %s', (_, { options }, values) => {
  expect(options.join(' ')).toBe(values);
});

describe('an answer', () => {
  it.each<Row>([
    ['a gate on another kind [RP-066]', 'report', { testKind: 'formative' }],
    ['a detail on another kind [RP-068]', 'diagnostic', { testKind: 'formative' }],
    ['no source [RP-069]', 'report', { sources: [] }],
    ['33 sources [RP-069]', 'report', { sources: times(33, receipt) }],
    ['an omission twice [RP-070]', 'report', { omitted: ['readiness', 'readiness'] }],
    ['an omitted section that is there [RP-065]', 'report', { omitted: ['mastery', 'readiness'] }],
    ['two rows of one kind and GUID [RP-064]', 'report', { mastery: [row, row] }],
    ['a score above its maximum [RP-081]', 'report', { 'score/value': 41 }],
    ['a score below its minimum [RP-081]', 'report', { 'score/value': -1 }],
    ['a negative uncertainty [RP-093]', 'report', { 'mastery/0/uncertainty': -0.1 }],
    ['a row with no evidence [RP-095]', 'report', { 'mastery/0/evidence': [] }],
    [
      'a row with 501 pieces of evidence [RP-095]',
      'report',
      { 'mastery/0/evidence': times(501, row!.evidence![0]) },
    ],
    ['5,001 rows [RP-064]', 'report', { mastery: numbered(5_001).map((caseGuid) => ({ ...row, caseGuid })) }],
    ['a pass with a gap [RP-105]', 'pass', { 'gate/gapCaseGuids': ['gap'] }],
    ['a fail without a gap [RP-105]', 'report', { 'gate/gapCaseGuids': [] }],
    ['a gap twice [RP-105]', 'report', { 'gate/gapCaseGuids': ['gap', 'gap'] }],
    ['a decision without coverage evidence [RP-011]', 'pass', { 'gate/coverageEvidenceId': null }],
    [
      'an unknown decision without coverage evidence [RP-011]',
      'pass',
      { 'gate/status': 'unknown', 'gate/coverageEvidenceId': null },
    ],
    ['no administered item [RP-106]', 'diagnostic', { 'diagnostic/administeredItemCount': 0 }],
    ['a negative standard error [RP-106]', 'diagnostic', { 'diagnostic/standardError': -1 }],
    ['a slot twice [RP-109]', 'readiness', { 'entries/0/qualifyingBlueprintSlotIds': ['slot', 'slot'] }],
    ['readiness without entries [RP-110]', 'readiness', { entries: [] }],
    ['two entries for one source [RP-110]', 'readiness', { entries: times(2, examples.notReady.entries[0]) }],
    ['a limitation of 501 characters [RP-114]', 'readiness', { 'entries/0/limitations': ['x'.repeat(501)] }],
    ['51 limitations [RP-114]', 'readiness', { 'entries/0/limitations': times(51, 'x') }],
    ['a pass of part of the requirements [RP-116]', 'readiness', { ...projected, ...half }],
    [
      'a pass of undecided demand [RP-116]',
      'readiness',
      { ...projected, 'entries/0/dokDominance': 'indeterminate' },
    ],
    [
      'a pass without a slot [RP-116]',
      'readiness',
      { ...projected, 'entries/0/qualifyingBlueprintSlotIds': [] },
    ],
    ['a form without sample size [RP-123]', 'equivalence', { comparisonQtiTestIds: ['form-fractions-5-c'] }],
    ['a sample size that is no count [RP-123]', 'equivalence', { 'sampleSizes/form-fractions-5-b': 1.5 }],
    ['a sample size of no form [RP-123]', 'equivalence', { 'sampleSizes/form-fractions-5-c': 40 }],
    [
      'a form compared twice [RP-121]',
      'equivalence',
      { comparisonQtiTestIds: [...compared, compared[0]], 'sampleSizes/further': 40 },
    ],
    ['a statistic above its interval [RP-124]', 'equivalence', { statistic: 0.04 }],
    ['a statistic below its interval [RP-124]', 'equivalence', { statistic: -0.009 }],
    ['a negative tolerance [RP-124]', 'equivalence', { tolerance: -0.05 }],
    ['an artifact without TLS [RP-126]', 'equivalence', { evidenceArtifactUrl: 'http://platform.example/a' }],
    ['a class scope without class [RP-129]', 'cohort', { scope: { type: 'class' } }],
    [
      'a grade that OneRoster does not know [RP-129]',
      'cohort',
      { scope: { type: 'school_grade', schoolSourcedId: 's', grade: '5' } },
    ],
    ['values of a suppressed snapshot [RP-131]', 'cohort', { 'suppression/status': 'suppressed' }],
    ['101 rows [RP-133]', 'page', { data: times(101, examples.page.data[0]) }],
    ['a cursor of 2049 characters [RP-134]', 'page', { hasMore: true, nextCursor: 'x'.repeat(2049) }],
    ['an empty cursor [RP-134]', 'page', { hasMore: true, nextCursor: '' }],
    ['more without a cursor [RP-136]', 'page', { hasMore: true }],
    ['a page without receipts [RP-137]', 'page', { sources: [] }],

    ['fewer than no learners [RP-161]', 'metric', { populationCount: -1 }],
    ['half a sample [RP-161]', 'metric', { sampleCount: 0.5 }],
    ['a suppressed metric without artifact [RP-160]', 'suppressed metric', { artifactRef: null }],
    [
      'an unavailable metric with an artifact [RP-160]',
      'unavailable metric',
      { artifactRef: 'artifact-811' },
    ],
    ['a suppressed metric with its population [RP-161]', 'suppressed metric', { populationCount: 9 }],
    ['a suppressed metric with its sample [RP-161]', 'suppressed metric', { sampleCount: 9 }],
    ['an unavailable metric with a population [RP-161]', 'unavailable metric', { populationCount: 9 }],
    ['an unavailable metric with a sample [RP-161]', 'unavailable metric', { sampleCount: 9 }],
    ['a suppressed metric without its rule [RP-162]', 'suppressed metric', { suppressionRule: null }],
    ['an available metric with a rule [RP-162]', 'metric', { suppressionRule: 'fewer than 10' }],
    ['an available metric that is suppressed [RP-162]', 'metric', isSuppressed],
    ['a stale metric that is suppressed [RP-162]', 'stale metric', isSuppressed],
    [
      'a suppressed metric that is not [RP-162]',
      'suppressed metric',
      { suppressionStatus: 'not_suppressed', suppressionRule: null },
    ],
    ['a window without start [RP-163]', 'stale metric', { 'analysisWindow/start': null }],
    ['a window without end [RP-163]', 'suppressed metric', { 'analysisWindow/end': null }],
    [
      'a window that ends a nanosecond before it starts [RP-163]',
      'metric',
      {
        'analysisWindow/start': '2026-02-01T00:00:00.000000002Z',
        'analysisWindow/end': '2026-02-01T00:00:00.000000001Z',
      },
    ],
    ['an available metric without window [RP-163]', 'metric', { analysisWindow: { start: null, end: null } }],
    ['a suppressed metric without formula [RP-164]', 'suppressed metric', { formulaVersion: null }],
    ['an available metric with a reason [RP-165]', 'metric', { reasonCode: 'unknown' }],
    ['a stale metric without reason [RP-165]', 'stale metric', { reasonCode: null }],

    ['a run of three metrics [RP-148, RP-157]', 'run', { metricStatuses: queuedRun.metricStatuses.slice(1) }],
    ['a metric twice [RP-148, RP-157]', 'run', { 'metricStatuses/3/metric': 'item_difficulty' }],
    ['an omission twice [RP-152]', 'run', { omissions: times(2, 'predicted_actual') }],
    ['nine omissions [RP-152]', 'run', { omissions: times(9, 'predicted_actual') }],
    ['a run without sources [RP-007]', 'run', { sources: [] }],
    ['a run of 33 sources [RP-007]', 'run', { sources: times(33, receipt) }],
    ['a run with more sources than keys [RP-149]', 'run', { sourceKeys: ['one'] }],
    ['a run with more keys than sources [RP-149]', 'run', { sourceKeys: ['a', 'b', 'c'] }],
    ['a run with one key of two sources [RP-167]', 'run', { sourceKeys: ['one', 'one'] }],
    ['a run with more alignments than sources [RP-150]', 'analyzing run', { alignmentRecordCount: 3 }],
    ['a complete run without one of its alignments [RP-150]', 'complete run', { alignmentRecordCount: 1 }],
    ['a complete run with an undelivered order [RP-217]', 'complete run', { blockedOrderCount: 1 }],
    ['a run with more blocked orders than orders [RP-151]', 'blocked run', { blockedOrderCount: 4 }],
    ['a run with omissions without its receipt [RP-153]', 'complete run', { receipt: null }],
    ['a completed run without its receipt [RP-153]', 'whole run', { receipt: null }],
    ['a queued run with a receipt [RP-154]', 'run', { receipt: completedRun.receipt }],
    ['an analyzing run with a receipt [RP-154]', 'analyzing run', { receipt: completedRun.receipt }],
    ['a blocked run with a receipt [RP-154]', 'blocked run', { receipt: completedRun.receipt }],
    [
      'a run of unknown state with a receipt [RP-154]',
      'run',
      { status: 'unknown', receipt: completedRun.receipt },
    ],
    ['a complete run without its end [RP-155]', 'complete run', { completedAt: null }],
    ['a completed run without its end [RP-155]', 'whole run', { completedAt: null }],
    ['a failed run without its end [RP-155]', 'failed run', { completedAt: null }],
    ['a queued run that has ended [RP-155]', 'run', { completedAt: completedRun.completedAt }],
    ['an analyzing run that has ended [RP-155]', 'analyzing run', { completedAt: completedRun.completedAt }],
    ['a blocked run that has ended [RP-155]', 'blocked run', { completedAt: completedRun.completedAt }],
    [
      'a run that ended before it began [RP-155]',
      'complete run',
      { completedAt: '2026-03-02T10:15:30.330Z' },
    ],
    [
      'a run that does not name what is suppressed [RP-166]',
      'complete run',
      { omissions: ['distractor_distribution'] },
    ],
    ['a completed run with omissions [RP-221]', 'whole run', { omissions: ['predicted_actual'] }],
    ['a run with omissions that names none [RP-221]', 'whole run', { status: 'completed_with_omissions' }],
    ['a run whose link has expired [RP-213]', 'complete run', { observedAt: '2026-03-02T10:20:30.001Z' }],
    ['a run whose link expires at once [RP-213]', 'complete run', { observedAt: '2026-03-02T10:20:30Z' }],

    ['a GUID twice [RP-196]', 'order', { caseGuids: ['a', 'b', 'a'] }],
    ['1001 GUIDs [RP-196]', 'order', { caseGuids: numbered(1001) }],
    ['a key with a slash [RP-196]', 'order', { sourceKeys: ['a/b'] }],
    ['a key twice [RP-196]', 'order', { sourceKeys: ['a', 'a'] }],
    ['1001 keys [RP-196]', 'order', { sourceKeys: numbered(1001) }],
    ['no reason [RP-197]', 'order', { reasonCodes: [] }],
    ['a reason twice [RP-197]', 'order', { reasonCodes: times(2, 'miskey_evidence') }],
    ['21 reasons [RP-197]', 'order', { reasonCodes: times(21, 'miskey_evidence') }],
    ['no artifact [RP-202]', 'order', { evidenceRefs: [] }],
    ['33 artifacts [RP-202]', 'order', { evidenceRefs: times(33, acknowledged) }],
    ['an order without the source that its action needs [RP-196]', 'repair order', { sourceKeys: [] }],
    ['an order on a value that is at the threshold [RP-199]', 'order', { 'observedMetric/value': 0.95 }],
    [
      'an order on a value within a tolerance [RP-199]',
      'order',
      { threshold: { operator: 'outside', value: 0.97 } },
    ],
    ['an order replayed without a receipt [RP-204]', 'replayed order', { targetReceipt: null }],
    ['an order rejected without a receipt [RP-204]', 'rejected order', { targetReceipt: null }],
    ['an order acknowledged while it is pending [RP-204]', 'pending order', { targetReceipt: receipt }],
    ['an order acknowledged while it is blocked [RP-204]', 'blocked order', { targetReceipt: receipt }],
    ['an order changed before it was made [RP-206]', 'order', { updatedAt: '2026-03-02T10:15:30.330Z' }],

    ['101 orders [RP-207]', 'orders', { data: times(101, accepted) }],
    ['an order that is none [RP-207]', 'orders', { 'data/0/reasonCodes': [] }],
    ['a cursor of 2049 characters [RP-208]', 'orders', { hasMore: true, nextCursor: 'x'.repeat(2049) }],
    ['an empty cursor [RP-208]', 'orders', { hasMore: true, nextCursor: '' }],
    ['more without a cursor [RP-136, RP-208]', 'orders', { hasMore: true }],
    ['a cursor to nothing [RP-136, RP-208]', 'orders', { nextCursor: 'next' }],
    ['orders without source [RP-007]', 'orders', { sources: [] }],

    ['a coverage without a slot [RP-179]', 'contribution', { blueprintSlotId: null }],
    ['a coverage without a standard [RP-178]', 'contribution', { caseGuid: null }],
    ['a coverage without a target DOK [RP-182]', 'lower contribution', { targetDok: null }],
    ['a target DOK of what is not covered [RP-182]', 'missing contribution', { targetDok: 3 }],
    ['a DOK beyond 4 [RP-182]', 'contribution', { targetDok: 5 }],
    ['rigor below the source’s DOK [RP-181]', 'contribution', { targetDok: 1 }],
    ['rigor without coverage [RP-181]', 'missing contribution', { rigor: 1 }],
    ['half a coverage [RP-181, RP-183]', 'contribution', { coverage: 0.5, weightedContribution: 1 }],
    ['no weight [RP-180]', 'missing contribution', { weight: 0 }],
    ['a contribution near its weight [RP-183]', 'contribution', { weightedContribution: 2.0000000001 }],
    ['a contribution of what does not count [RP-183]', 'lower contribution', { weightedContribution: 2 }],
    ['a reason for what counts in full [RP-184]', 'contribution', { reasonCode: 'lower_dok' }],
    ['no reason for what does not [RP-184]', 'missing contribution', { reasonCode: null }],

    ['a suppressed comparison without its rule [RP-186]', 'suppressed comparison', { suppressionRule: null }],
    ['a suppressed comparison with a count [RP-187]', 'suppressed comparison', { agreementCount: 371 }],
    [
      'a suppressed comparison with its agreement [RP-188]',
      'suppressed comparison',
      { observedAgreement: 0.951282 },
    ],
    ['a count beyond the population [RP-187]', 'comparison', { predictedPassCount: 391 }],
    ['an agreement that is not the quotient [RP-188]', 'comparison', { observedAgreement: 0.951283 }],
    ['half a learner [RP-185]', 'suppressed comparison', { populationCount: 389.5 }],
    ['fewer than no learners [RP-185]', 'suppressed comparison', { populationCount: -1 }],

    ['another numerator [RP-174]', 'alignment', { numerator: 2.5 }],
    ['another denominator [RP-174]', 'alignment', { denominator: 3 }],
    ['another percentage [RP-172]', 'alignment', { alignmentPercent: 57.142858 }],
    ['more digits than six [RP-172]', 'alignment', { alignmentPercent: 400 / 7 }],
    ['no contributions [RP-172, RP-173]', 'alignment', { contributions: [], numerator: 0 }],
    [
      'weights of 0 [RP-172, RP-180]',
      'alignment',
      { contributions: [{ ...missing, weight: 0 }], numerator: 0 },
    ],
    [
      'weights that have no sum [RP-170, RP-172]',
      'alignment',
      { contributions: [covered, { ...missing, weight: -2 }] },
    ],
    [
      'a requirement twice [RP-177]',
      'alignment',
      { contributions: times(2, covered), numerator: 4, denominator: 4, alignmentPercent: 100 },
    ],
    [
      'the sums of the machine’s arithmetic [RP-172, RP-174]',
      'alignment',
      { ...tenths, numerator: 0.9999999999999999, denominator: 0.9999999999999999 },
    ],
    ['an alignment without source [RP-007]', 'alignment', { sources: [] }],
    ['101 limitations [RP-176]', 'alignment', { limitations: times(101, 'stale') }],
    ['a hash in capitals [RP-169]', 'alignment', { crosswalkHash: alignment.crosswalkHash.toUpperCase() }],
    ['a link that has expired [RP-213]', 'alignment', { 'receipt/expiresAt': alignment.observedAt }],
    ['a key that is a step in a path [RP-167]', 'alignment', { sourceKey: '..' }],

    ['a digest in capitals [RP-211]', 'link', { sha256: alignment.receipt.sha256.toUpperCase() }],
    ['half a digest [RP-211]', 'link', { sha256: alignment.receipt.sha256.slice(32) }],
    ...[
      'http://receipts.example/x',
      'http://localhost.example/x',
      'http://127.0.0.1.example/x',
      's3://receipts/x',
      '/receipts/x',
    ].map((downloadUrl): Row => [`a link to ${downloadUrl} [RP-212]`, 'link', { downloadUrl }]),
  ])('never has %s', (title, name, change) => {
    const found = issues(name, change);
    expect(found).not.toEqual([]);
    // What a refinement says names its rules, one of which the title cites.
    for (const { message } of found) {
      const named = rulesIn(message);
      if (named.length > 0) expect(rulesIn(title)).toContainEqual(expect.toBeOneOf(named));
    }
  });

  it.each<Row>([
    [
      'two rows of one GUID that are of two kinds [RP-064]',
      'report',
      { mastery: [row, { ...row, kind: 'knowledge_component' }] },
    ],
    ['no row, where the authority has none [RP-045]', 'report', { mastery: [] }],
    ['a projected pass with complete evidence [RP-116]', 'readiness', projected],
    [
      'a further form with its sample size [RP-121]',
      'equivalence',
      { comparisonQtiTestIds: [...compared, 'further'], 'sampleSizes/further': 40 },
    ],
    ['a cursor of 2048 characters [RP-134]', 'page', { hasMore: true, nextCursor: 'x'.repeat(2048) }],
    ['a metric of one moment [RP-163]', 'metric', { 'analysisWindow/end': '2026-02-01T00:00:00.000Z' }],
    ['counts of zero [RP-161]', 'metric', { populationCount: 0, sampleCount: 0 }],
    [
      'neither window nor counts of a stale metric [RP-161, RP-163]',
      'stale metric',
      {
        populationCount: null,
        sampleCount: null,
        analysisWindow: { start: null, end: null },
        formulaVersion: null,
      },
    ],
    ['no artifact of an unknown metric [RP-160]', 'unknown metric', { artifactRef: null }],
    [
      'no window of a suppressed metric [RP-163]',
      'suppressed metric',
      { analysisWindow: { start: null, end: null } },
    ],
    [
      'an omission of an available metric, of which not all could be judged [RP-152]',
      'complete run',
      { omissions: [...completedRun.omissions, 'form_summary', 'predicted_actual'] },
    ],
    ['a run that ends as it begins [RP-155]', 'failed run', { completedAt: '2026-03-02T10:15:30.331000Z' }],
    ['a superseded order without receipt [RP-204]', 'superseded order', { targetReceipt: null }],
    ['an unknown order without receipt [RP-204]', 'unknown order', { targetReceipt: null }],
    [
      'an order with 1000 GUIDs and keys, and 32 artifacts [RP-196, RP-202]',
      'repair order',
      { caseGuids: numbered(1000), sourceKeys: numbered(1000), evidenceRefs: times(32, acknowledged) },
    ],
    [
      'an order that is as old as its last change [RP-206]',
      'order',
      { updatedAt: '2026-03-02T10:15:30.331000Z' },
    ],
    ['a page with a next one [RP-208]', 'orders', { hasMore: true, nextCursor: 'next' }],
    ['an empty page [RP-207]', 'orders', { data: [] }],
    ['100 orders [RP-207]', 'orders', { data: times(100, accepted) }],
    [
      'a stale mapping [RP-183, RP-184]',
      'missing contribution',
      { caseGuid: 'guid', reasonCode: 'stale_mapping' },
    ],
    ['no comparison [RP-175]', 'alignment', { predictedActual: null }],
    ['exact sums where the machine’s are not [RP-172, RP-174]', 'alignment', tenths],
    ...['http://127.0.0.1:4010/x', 'http://localhost:4010/x'].map((downloadUrl): Row => [
      `a link to ${downloadUrl} [RP-212]`,
      'link',
      { downloadUrl },
    ]),
  ])('may have %s', (_, name, change) => {
    expect(issues(name, change)).toEqual([]);
  });
});

it('asks each target for its own actions alone [RP-193]', () => {
  for (const [requestedAction, { targetModule }] of Object.entries(actions)) {
    const whole = { qtiItemId: 'item', requestedAction };
    expect(issues('repair order', { ...whole, targetModule })).toEqual([]);
    const other = targetModule === 'bank' ? 'blueprint' : 'bank';
    expect(issues('repair order', { ...whole, targetModule: other })).toMatchObject([
      { message: expect.stringContaining('RP-193') as string },
    ]);
  }
});

it('sends the content of an order without what becomes of it [RP-192]', () => {
  const names = Object.keys(orderContent.shape);
  const content = Object.fromEntries(Object.entries(accepted!).filter(([name]) => names.includes(name)));
  expect(issuesOf(orderContent, content, {})).toEqual([]);
  expect(issuesOf(orderContent, accepted, {})).toMatchObject([{ code: 'unrecognized_keys' }]);
});

it('states an agreement as a proportion, half up at the sixth digit [RP-188, RP-189]', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), fc.nat({ max: 2_147_483_647 }), (all, some) => {
      const agreed = some % (all + 1);
      const millionths = (2n * 1_000_000n * BigInt(agreed) + BigInt(all)) / (2n * BigInt(all));
      expect(agreementOf(agreed, all)).toBe(Number(millionths) / 1e6);
    }),
  );
});
