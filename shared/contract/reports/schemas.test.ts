import fc from 'fast-check';
import type * as z from 'zod';
import { expect, it } from 'vitest';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { but, expectForm, issuesOf, type Change } from '#test/support/changed.ts';
import {
  agreementOf,
  alignmentContribution,
  alignmentPercentOf,
  alignmentReport,
  predictedActualComparison,
} from './alignment-report.ts';
import { actions } from './analysis-policy.ts';
import { attemptReport, attemptReportPage } from './attempt-report.ts';
import { cohortReport } from './cohort-report.ts';
import { equivalenceReport } from './equivalence-report.ts';
import * as examples from './examples.ts';
import { improvementRun, metricStatus } from './improvement-run.ts';
import { orderContent } from './order-content.ts';
import { readinessReport } from './readiness-report.ts';
import { receiptLink } from './receipt-link.ts';
import { revisionOrder, revisionOrderPage } from './revision-order.ts';
import { sourceRef } from './source-ref.ts';

// The schemas of answers as the last look at them: every answer of the service passes them before it goes out.

// SAFETY: the components of answers are objects.
const schemas = renderOpenApi('reports', allOpen).components?.schemas as Readonly<
  Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>
>;

const { failedGate, queuedRun, completedRun, alignment } = examples;
const [receipt] = failedGate.sources;
const [row] = failedGate.mastery;
const [available] = queuedRun.metricStatuses;
const [, suppressedMetric, unavailable] = completedRun.metricStatuses;
const [covered, missing] = alignment.contributions;
const [accepted] = examples.revisionOrders.data;

/** Sound values. */
const samples = {
  report: [attemptReport, failedGate],
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
  run: [improvementRun, queuedRun],
  'complete run': [improvementRun, completedRun],
  order: [revisionOrder, accepted],
  orders: [revisionOrderPage, examples.revisionOrders],
  alignment: [alignmentReport, alignment],
  contribution: [alignmentContribution, covered],
  'missing contribution': [alignmentContribution, missing],
  comparison: [predictedActualComparison, alignment.predictedActual],
  link: [receiptLink, alignment.receipt],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, unknown]>>;
type Name = keyof typeof samples;

function issues(name: Name, change: Change = {}) {
  const [schema, sound] = samples[name];
  return issuesOf(schema, sound, change);
}
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `id-${at}`);

const rulesIn = (text: string): readonly string[] => text.match(/RP-\d{3}/g) ?? [];

// Other sound states of these values.
const pass = { 'gate/status': 'pass', 'gate/gapCaseGuids': [] };
const stale = { status: 'stale', reasonCode: 'stale' };
const unknownMetric = { status: 'unknown', artifactRef: 'artifact-811' };
const analyzing = { status: 'analyzing', alignmentRecordCount: 1, revisionOrderCount: 3 };
const blocked = { ...analyzing, status: 'blocked_upstream', alignmentRecordCount: 2, blockedOrderCount: 3 };
const whole = { status: 'completed', metricStatuses: queuedRun.metricStatuses, omissions: [] };
const failed = { status: 'failed', alignmentRecordCount: 1 };
const pending = { status: 'pending', targetReceipt: null };
const ofBlueprint = { targetModule: 'blueprint', qtiItemId: null };
const repair = {
  ...ofBlueprint,
  requestedAction: 'repair_crosswalk',
  sourceKeys: ['state-math-5.2025'],
  supersedesRevisionOrderId: 'order_1',
};
const calibrate = {
  ...ofBlueprint,
  requestedAction: 'apply_calibration_delta',
  qtiFormId: null,
  qtiTestId: null,
  caseGuids: [],
};
const lower = { rigor: 0, targetDok: 1, weightedContribution: 0, reasonCode: 'lower_dok' };
const without = {
  predictedPassCount: null,
  actualPassCount: null,
  agreementCount: null,
  observedAgreement: null,
};
const suppressed = { ...without, suppressionStatus: 'suppressed', suppressionRule: 'minimum 10' };

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

/** Rule and place of each enumeration, with its values; and of each list, number or text that has bounds, with these. */
const members = `
  RP-060 AttemptReport.testKind mastery_gate adaptive_diagnostic formative unknown
  RP-061 AttemptReport.status scored indeterminate unknown
  RP-070 AttemptReport.omitted mastery itemEvidence readiness
  RP-082 Score.unit points percent mastery_scale unknown
  RP-087 SourceRef.status current stale unavailable unknown
  RP-088 MasteryRow.kind standard knowledge_component
  RP-091 MasteryRow.state mastered not_yet gap insufficient_evidence unknown
  RP-093 MasteryRow.uncertaintyKind standard_error interval_half_width policy_margin unknown
  RP-100 GateDecision.status pass fail indeterminate unknown
  RP-107 DiagnosticDetail.stoppingReason classifications_complete precision_target_met max_items time_budget unknown
  RP-111 ReadinessEntry.decision projected_pass not_ready indeterminate unknown
  RP-112 ReadinessEntry.dokDominance satisfied not_satisfied indeterminate
  RP-125 EquivalenceReport.decision equivalent not_equivalent insufficient_evidence unknown
  RP-145 ImprovementRun.status queued analyzing completed completed_with_omissions blocked_upstream failed unknown
  RP-157 MetricStatus.metric item_difficulty item_discrimination distractor_distribution form_summary
  RP-185 PredictedActualComparison.suppressionStatus not_suppressed suppressed unknown
  RP-203 RevisionOrder.status pending accepted replayed blocked_upstream rejected superseded unknown
  RP-064 AttemptReport.mastery maxItems:5000
  RP-069 AttemptReport.sources minItems:1 maxItems:32
  RP-093 MasteryRow.uncertainty minimum:0
  RP-095 MasteryRow.evidence minItems:1 maxItems:500
  RP-106 DiagnosticDetail.administeredItemCount minimum:1
  RP-106 DiagnosticDetail.standardError minimum:0
  RP-110 ReadinessReport.entries minItems:1
  RP-114 ReadinessEntry.limitations maxItems:50 maxLength:500
  RP-124 EquivalenceReport.tolerance minimum:0
  RP-133 AttemptReportPage.data maxItems:100
  RP-134 AttemptReportPage.nextCursor minLength:1 maxLength:2048
  RP-137 AttemptReportPage.sources minItems:1
  RP-007 ImprovementRun.sources minItems:1 maxItems:32
  RP-148 ImprovementRun.metricStatuses minItems:4 maxItems:4
  RP-152 ImprovementRun.omissions maxItems:8
  RP-196 RevisionOrder.caseGuids maxItems:1000
  RP-196 RevisionOrder.sourceKeys maxItems:1000
  RP-197 RevisionOrder.reasonCodes minItems:1 maxItems:20
  RP-202 RevisionOrder.evidenceRefs minItems:1 maxItems:32
  RP-007 RevisionOrderPage.sources minItems:1
  RP-207 RevisionOrderPage.data maxItems:100
  RP-208 RevisionOrderPage.nextCursor minLength:1 maxLength:2048
  RP-182 AlignmentContribution.targetDok minimum:1 maximum:4
  RP-007 AlignmentReport.sources minItems:1
  RP-176 AlignmentReport.limitations maxItems:100
`;

it.each(members.trim().split(/\n */))(
  'has the values of the specification, no more and no fewer, or its bounds: %s',
  (row) => {
    const [, place = '', ...words] = row.split(' ');
    const [id = '', member = ''] = place.split('.');
    const schema = JSON.stringify(schemas[id]?.properties?.[member]);
    if (!row.includes(':')) expect(schema).toContain(`"x-extensible-enum":${JSON.stringify(words)}`);
    else for (const bound of words) expect(schema.replaceAll('"', '')).toMatch(new RegExp(`\\b${bound}\\b`));
  },
);

/** Other members of sound values, by what is then the case. */
type Cases = Readonly<Partial<Record<Name, Readonly<Record<string, Change>>>>>;
const casesOf = (all: Cases): readonly [Name, string, Change][] =>
  Object.entries(all).flatMap(([name, cases]) =>
    Object.entries(cases).map(([what, change]): [Name, string, Change] => [name as Name, what, change]),
  );
const linksTo = (...urls: readonly string[]): Readonly<Record<string, Change>> =>
  Object.fromEntries(urls.map((downloadUrl) => [`a link to ${downloadUrl} [RP-212]`, { downloadUrl }]));
const statusesTogether = (
  ...pairs: readonly (readonly [gate: string, report: string])[]
): Readonly<Record<string, Change>> =>
  Object.fromEntries(
    pairs.map(([gate, status]) => [
      `the gate ${gate} and itself ${status} [RP-104]`,
      { 'gate/status': gate, status },
    ]),
  );

// A row twice, of every list: invariants/lists.test.ts.
const wrong: Cases = {
  report: {
    'a gate on another kind [RP-066]': { testKind: 'formative' },
    'an omitted section that is there [RP-065]': { omitted: ['mastery', 'readiness'] },
    'a score above its maximum [RP-081]': { 'score/value': 41 },
    'a score below its minimum [RP-081]': { 'score/value': -1 },
    'a pass with a gap [RP-105]': { ...pass, 'gate/gapCaseGuids': ['gap'] },
    ...statusesTogether(['fail', 'indeterminate'], ['indeterminate', 'unknown'], ['unknown', 'scored']),
    'a decision without coverage evidence [RP-011]': { ...pass, 'gate/coverageEvidenceId': null },
    'an unknown decision without coverage evidence [RP-011]': {
      ...pass,
      status: 'unknown',
      'gate/status': 'unknown',
      'gate/coverageEvidenceId': null,
    },
  },
  diagnostic: {
    'a detail on another kind [RP-068]': { testKind: 'formative' },
    'a status that only a gate can have [RP-104]': { status: 'indeterminate' },
  },
  readiness: {
    'a pass of part of the requirements [RP-116]': { ...projected, ...half },
    'a pass of undecided demand [RP-116]': { ...projected, 'entries/0/dokDominance': 'indeterminate' },
    'a pass without a slot [RP-116]': { ...projected, 'entries/0/qualifyingBlueprintSlotIds': [] },
  },
  equivalence: {
    'a form without sample size [RP-123]': { comparisonQtiTestIds: ['form-fractions-5-c'] },
    'a sample size that is no count [RP-123]': { 'sampleSizes/form-fractions-5-b': 1.5 },
    'a sample size of no form [RP-123]': { 'sampleSizes/form-fractions-5-c': 40 },
    'a statistic above its interval [RP-124]': { statistic: 0.04 },
    'a statistic below its interval [RP-124]': { statistic: -0.013 },
    'an artifact without TLS [RP-126]': { evidenceArtifactUrl: 'http://platform.example/a' },
  },
  cohort: {
    'a class scope without class [RP-129]': { scope: { type: 'class' } },
    'a grade that OneRoster does not know [RP-129]': {
      scope: { type: 'school_grade', schoolSourcedId: 's', grade: '5' },
    },
    'values of a suppressed snapshot [RP-131]': { 'suppression/status': 'suppressed' },
  },
  page: {
    'more without a cursor [RP-136]': { hasMore: true },
  },
  metric: {
    'fewer than no learners [RP-161]': { populationCount: -1 },
    'half a sample [RP-161]': { sampleCount: 0.5 },
    'an available metric with a rule [RP-162]': { suppressionRule: 'fewer than 10' },
    'an available metric that is suppressed [RP-162]': isSuppressed,
    'a stale metric that is suppressed [RP-162]': { ...stale, ...isSuppressed },
    'a window without start [RP-163]': { ...stale, 'analysisWindow/start': null },
    'a window that ends a nanosecond before it starts [RP-163]': {
      'analysisWindow/start': '2026-02-01T00:00:00.000000002Z',
      'analysisWindow/end': '2026-02-01T00:00:00.000000001Z',
    },
    'an available metric without window [RP-163]': { analysisWindow: { start: null, end: null } },
    'an available metric with a reason [RP-165]': { reasonCode: 'unknown' },
    'a stale metric without reason [RP-165]': { ...stale, reasonCode: null },
  },
  'suppressed metric': {
    'a suppressed metric without artifact [RP-160]': { artifactRef: null },
    'a suppressed metric with its population [RP-161]': { populationCount: 9 },
    'a suppressed metric with its sample [RP-161]': { sampleCount: 9 },
    'a suppressed metric without its rule [RP-162]': { suppressionRule: null },
    'a suppressed metric that is not [RP-162]': {
      suppressionStatus: 'not_suppressed',
      suppressionRule: null,
    },
    'a window without end [RP-163]': { 'analysisWindow/end': null },
    'a suppressed metric without formula [RP-164]': { formulaVersion: null },
  },
  'unavailable metric': {
    'an unavailable metric with an artifact [RP-160]': { artifactRef: 'artifact-811' },
    'an unavailable metric with a population [RP-161]': { populationCount: 9 },
    'an unavailable metric with a sample [RP-161]': { sampleCount: 9 },
  },
  run: {
    'a run with more sources than keys [RP-149]': { sourceKeys: ['one'] },
    'a run with more keys than sources [RP-149]': { sourceKeys: ['a', 'b', 'c'] },
    'a run with more alignments than sources [RP-150]': { ...analyzing, alignmentRecordCount: 3 },
    'a run with more blocked orders than orders [RP-151]': { ...blocked, blockedOrderCount: 4 },
    ...Object.fromEntries(
      [{}, analyzing, blocked, { status: 'unknown' }].map((state) => [
        `a receipt in the state ${JSON.stringify(state)} [RP-154]`,
        { ...state, receipt: completedRun.receipt },
      ]),
    ),
    ...Object.fromEntries(
      [{}, analyzing, blocked].map((state) => [
        `an end in the state ${JSON.stringify(state)} [RP-155]`,
        { ...state, completedAt: completedRun.completedAt },
      ]),
    ),
  },
  'complete run': {
    'a complete run without one of its alignments [RP-150]': { alignmentRecordCount: 1 },
    'a complete run with an undelivered order [RP-217]': { blockedOrderCount: 1 },
    'a run with omissions without its receipt [RP-153]': { receipt: null },
    'a completed run without its receipt [RP-153]': { ...whole, receipt: null },
    'a complete run without its end [RP-155]': { completedAt: null },
    'a completed run without its end [RP-155]': { ...whole, completedAt: null },
    'a failed run without its end [RP-155]': { ...failed, completedAt: null },
    'a run that ended before it began [RP-155]': { completedAt: '2026-03-02T10:15:30.330Z' },
    'a run that does not name what is suppressed [RP-166]': { omissions: ['distractor_distribution'] },
    'a completed run with omissions [RP-221]': { ...whole, omissions: ['predicted_actual'] },
    'a run with omissions that names none [RP-221]': { ...whole, status: 'completed_with_omissions' },
    'a run whose link has expired [RP-213]': { observedAt: '2026-03-02T10:20:30.001Z' },
    'a run whose link expires at once [RP-213]': { observedAt: '2026-03-02T10:20:30Z' },
  },
  order: {
    'a key with a slash [RP-196]': { sourceKeys: ['a/b'] },
    'a key twice [RP-196]': { sourceKeys: ['a', 'a'] },
    'an order without the source that its action needs [RP-196]': { ...repair, sourceKeys: [] },
    'an order on a value that is at the threshold [RP-199]': { 'observedMetric/value': 0.95 },
    'an order on a value within a tolerance [RP-199]': { threshold: { operator: 'outside', value: 0.97 } },
    'an order replayed without a receipt [RP-204]': { status: 'replayed', targetReceipt: null },
    'an order rejected without a receipt [RP-204]': { status: 'rejected', targetReceipt: null },
    'an order acknowledged while it is pending [RP-204]': { ...pending, targetReceipt: receipt },
    'an order acknowledged while it is blocked [RP-204]': {
      ...pending,
      status: 'blocked_upstream',
      targetReceipt: receipt,
    },
    'an order changed before it was made [RP-206]': { updatedAt: '2026-03-02T10:15:30.330Z' },
  },
  orders: {
    'an order that is none [RP-207]': { 'data/0/reasonCodes': [] },
    'more without a cursor [RP-136, RP-208]': { hasMore: true },
    'a cursor to nothing [RP-136, RP-208]': { nextCursor: 'next' },
  },
  contribution: {
    'a coverage without a slot [RP-179]': { blueprintSlotId: null },
    'a coverage without a standard [RP-178]': { caseGuid: null },
    'a coverage without a target DOK [RP-182]': { ...lower, targetDok: null },
    'rigor below the source’s DOK [RP-181]': { targetDok: 1 },
    'half a coverage [RP-181, RP-183]': { coverage: 0.5, weightedContribution: 1 },
    'a contribution near its weight [RP-183]': { weightedContribution: 2.0000000001 },
    'a contribution of what does not count [RP-183]': { ...lower, weightedContribution: 2 },
    'a reason for what counts in full [RP-184]': { reasonCode: 'lower_dok' },
  },
  'missing contribution': {
    'a target DOK of what is not covered [RP-182]': { targetDok: 3 },
    'rigor without coverage [RP-181]': { rigor: 1 },
    'no weight [RP-180]': { weight: 0 },
    'no reason for what does not [RP-184]': { reasonCode: null },
  },
  comparison: {
    'a suppressed comparison without its rule [RP-186]': { ...suppressed, suppressionRule: null },
    'a suppressed comparison with a count [RP-187]': { ...suppressed, agreementCount: 371 },
    'a suppressed comparison with its agreement [RP-188]': { ...suppressed, observedAgreement: 0.951282 },
    'a count beyond the population [RP-187]': { predictedPassCount: 391 },
    'an agreement that is not the quotient [RP-188]': { observedAgreement: 0.951283 },
    'half a learner [RP-185]': { ...suppressed, populationCount: 389.5 },
    'fewer than no learners [RP-185]': { ...suppressed, populationCount: -1 },
  },
  alignment: {
    'another numerator [RP-174]': { numerator: 2.5 },
    'another denominator [RP-174]': { denominator: 3 },
    'another percentage [RP-172]': { alignmentPercent: 57.142858 },
    'more digits than six [RP-172]': { alignmentPercent: 400 / 7 },
    'no contributions [RP-172, RP-173]': { contributions: [], numerator: 0 },
    'weights of 0 [RP-172, RP-180]': { contributions: [{ ...missing, weight: 0 }], numerator: 0 },
    'weights that have no sum [RP-170, RP-172]': { contributions: [covered, { ...missing, weight: -2 }] },
    'the sums of the machine’s arithmetic [RP-172, RP-174]': {
      ...tenths,
      numerator: 0.9999999999999999,
      denominator: 0.9999999999999999,
    },
    'a hash in capitals [RP-169]': { crosswalkHash: alignment.crosswalkHash.toUpperCase() },
    'a link that has expired [RP-213]': { 'receipt/expiresAt': alignment.observedAt },
    'a key that is a step in a path [RP-167]': { sourceKey: '..' },
  },
  link: {
    'a digest in capitals [RP-211]': { sha256: alignment.receipt.sha256.toUpperCase() },
    'half a digest [RP-211]': { sha256: alignment.receipt.sha256.slice(32) },
    ...linksTo(
      'http://receipts.example/x',
      'http://localhost.example/x',
      'http://127.0.0.1.example/x',
      's3://receipts/x',
      '/receipts/x',
    ),
  },
};

const right: Cases = {
  report: {
    'two rows of one GUID that are of two kinds [RP-064]': {
      mastery: [row, { ...row, kind: 'knowledge_component' }],
    },
    'no row, where the authority has none [RP-045]': { mastery: [] },
    'a pass without gaps [RP-105]': pass,
    ...statusesTogether(['fail', 'scored'], ['indeterminate', 'indeterminate'], ['unknown', 'unknown']),
  },
  readiness: {
    'a projected pass with complete evidence [RP-116]': projected,
  },
  equivalence: {
    'a further form with its sample size [RP-121]': {
      comparisonQtiTestIds: [...compared, 'further'],
      'sampleSizes/further': 40,
    },
  },
  metric: {
    'a metric of one moment [RP-163]': { 'analysisWindow/end': '2026-02-01T00:00:00.000Z' },
    'counts of zero [RP-161]': { populationCount: 0, sampleCount: 0 },
    'neither window nor counts of a stale metric [RP-161, RP-163]': {
      ...stale,
      populationCount: null,
      sampleCount: null,
      analysisWindow: { start: null, end: null },
      formulaVersion: null,
    },
    'a status that is stale [RP-158, RP-165]': stale,
  },
  'unavailable metric': {
    'no artifact of an unknown metric [RP-160]': { ...unknownMetric, artifactRef: null },
    'a status that is unknown [RP-158]': unknownMetric,
  },
  'suppressed metric': {
    'no window of a suppressed metric [RP-163]': { analysisWindow: { start: null, end: null } },
  },
  'complete run': {
    'an omission of an available metric, of which not all could be judged [RP-152]': {
      omissions: [...completedRun.omissions, 'form_summary', 'predicted_actual'],
    },
    'a run that ends as it begins [RP-155]': { ...failed, completedAt: '2026-03-02T10:15:30.331000Z' },
    'nothing omitted [RP-221]': whole,
    'failed, with a receipt [RP-153]': failed,
    'failed, without a receipt [RP-153]': { ...failed, receipt: null },
  },
  order: {
    'a superseded order without receipt [RP-204]': { status: 'superseded', targetReceipt: null },
    'an unknown order without receipt [RP-204]': { status: 'unknown', targetReceipt: null },
    'an order that is as old as its last change [RP-206]': { updatedAt: '2026-03-02T10:15:30.331000Z' },
    'the state pending [RP-203]': pending,
    'the state blocked [RP-203]': { ...pending, status: 'blocked_upstream' },
    'any other state [RP-203]': { status: 'unknown' },
    'a crosswalk to repair [RP-193]': repair,
    'a calibration to apply, of no item [RP-193, RP-195]': calibrate,
  },
  orders: {
    'a page with a next one [RP-208]': { hasMore: true, nextCursor: 'next' },
    'an empty page [RP-207]': { data: [] },
  },
  'missing contribution': {
    'a stale mapping [RP-183, RP-184]': { caseGuid: 'guid', reasonCode: 'stale_mapping' },
  },
  alignment: {
    'no comparison [RP-175]': { predictedActual: null },
    'exact sums where the machine’s are not [RP-172, RP-174]': tenths,
  },
  run: {
    'the state analyzing [RP-145]': analyzing,
    'the state blocked [RP-145]': blocked,
  },
  contribution: {
    'a rigor below the source’s [RP-181, RP-183, RP-184]': lower,
  },
  comparison: {
    'its values suppressed [RP-186, RP-187, RP-188]': suppressed,
    'a suppression that is not known [RP-187, RP-188]': { ...without, suppressionStatus: 'unknown' },
  },
  link: {
    ...linksTo('http://127.0.0.1:4010/x', 'http://localhost:4010/x'),
  },
};

it.each(casesOf(wrong))('a %s never has %s', (name, title, change) => {
  const found = issues(name, change);
  expect(found).not.toEqual([]);
  // What a refinement says names its rules, one of which the title cites.
  for (const { message } of found) {
    const named = rulesIn(message);
    if (named.length > 0) expect(rulesIn(title)).toContainEqual(expect.toBeOneOf(named));
  }
});

it.each(casesOf(right))('a %s may have %s', (name, _, change) => {
  expect(issues(name, change)).toEqual([]);
});

it('asks each target for its own actions alone [RP-193]', () => {
  for (const [requestedAction, { targetModule }] of Object.entries(actions)) {
    const order = { ...repair, qtiItemId: 'item', requestedAction };
    expect(issues('order', { ...order, targetModule })).toEqual([]);
    const other = targetModule === 'bank' ? 'blueprint' : 'bank';
    expect(issues('order', { ...order, targetModule: other })).toMatchObject([
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
