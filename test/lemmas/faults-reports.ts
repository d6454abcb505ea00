import { expect } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { analyzed, openImprovementRuns, type ImprovementRuns } from '#test/support/improvement-runs.ts';
import { materialized, openMaterializer, outcomeOf, type Materializer } from '#test/support/materialize.ts';
import { reportsAnswerOf, reportsProblemOf, type ReportsCaller } from '#test/support/reports-call.ts';
import type { TestStack } from '#test/support/stack.ts';
import { sentenceOf, withoutSection } from './compare-answers.ts';
import { openReads, somebody, tenantId } from './sound-reads.ts';
import { reports as kinds, type Dependencies, type Dependency } from './faults-expected.ts';
import type { Flow, Seen } from './faults-walk.ts';

// The routes of the reports service, and what they depend on.

export interface ReportsWorld {
  readonly stack: TestStack;
  readonly caller: ReportsCaller;
  readonly materializer: Materializer;
  readonly runs: ImprovementRuns;
  /** A run that has ended. */
  readonly run: RunKey;
}

export async function openReportsWorld(stack: TestStack): Promise<ReportsWorld> {
  const runs = openImprovementRuns(stack);
  const materializer = openMaterializer(stack, tenantId);
  const run = await runs.analyze(runs.administration('spring-gate'));
  await stack.improvement.settled();
  return { stack, caller: runs.caller, materializer, runs, run };
}
type ReportsFlow = Flow<ReportsWorld>;

const { same, notFound, unavailable, missing, disagree } = kinds;

/** A page that has passed over everything. */
const withheld = (reason: WithheldReason): string => `200, withheld ${reason}`;
/** The calm answer, but that every entry is undecided since an owner is not current. */
const undecided = (owner: SourceService): string => `200, ${owner} stale, indeterminate`;

/** QTI's lookup names who holds the rest: a candidate beyond the claims hides it, and records that do not fit it contradict it. */
const lookup = (stale: string) => ({
  ...kinds.visible('qti'),
  ...kinds.free('qti', stale),
  'wrong-entity': {
    '/attemptId': unavailable('qti'),
    '/candidateSourcedId': notFound,
    '/contentTestSpecId': unavailable('results'),
    '/resultRecordId': missing('results'),
  },
});

const settledAttempt = (stale: (owner: SourceService) => string) => ({
  readSettledRecord: { ...kinds.derived('results'), ...kinds.pinned(disagree('results'), stale('results')) },
  readReportCriteria: { ...kinds.derived('content'), ...kinds.pinned(disagree('content'), stale('content')) },
  readUser: { ...kinds.derived('oneroster'), ...kinds.onRoster(true) },
});

const seenOf = (sentence: string, reply: GatewayReply): Seen => ({
  sentence,
  isProblem: reply.status >= 400,
  retryAfter: reply.headers.get('retry-after'),
});

/**
 * A route that reads: each request comes from a caller of its own.
 * @param state with it, each case begins in a function that has just been started
 */
function reading(
  route: ReportsFlow['route'] & Parameters<typeof openReads>[2]['route'],
  call: (fixtures: ReturnType<ReportsCaller['fixtures']>, world: ReportsWorld) => GatewayCall,
  dependencies: Dependencies,
  state?: string,
): ReportsFlow {
  return {
    route,
    ...(state === undefined ? {} : { state, skip: {} }),
    calm: same,
    dependencies,
    async open(world) {
      const { stack, caller } = world;
      const { sound, send } = await openReads(stack, caller, {
        route,
        call: (fixtures) => call(fixtures, world),
      });
      return async () => {
        if (state !== undefined) await stack.killWorkers(route.operationId);
        return {
          async send() {
            const reply = await send(somebody());
            return seenOf(sentenceOf(stack, sound, reply), reply);
          },
        };
      };
    },
  };
}

/** What a run has pinned: evidence that does not dereference. */
const evidence = (owner: SourceService, other: string = missing(owner)) => ({
  ...kinds.derived(owner),
  ...kinds.bytes(missing(owner)),
  'wrong-entity': other,
});
const ofRun = ({ runs, run }: ReportsWorld, path: GatewayCall['path'] = {}): GatewayCall => ({
  claims: { classSourcedIds: runs.caller.fixtures(tenantId).classes },
  path: { improvementRunId: run.improvementRunId, ...path },
});

const WITHOUT_METRICS =
  '200, without item_difficulty item_discrimination distractor_distribution form_summary';
/** An administration’s owner has no name among the sources. */
const scope = { ...kinds.visible('unknown'), ...kinds.pinned(same), ...staleIs(missing('unknown')) };
function staleIs(answer: string) {
  return { staleOnce: answer, stale: answer };
}

const analysis: ReportsFlow = {
  route: analyzeAdministration,
  calm: same,
  dependencies: {
    readAdministration: scope,
    // Whichever bytes it gives are the ones that are pinned.
    readAlignmentSources: { ...kinds.derived('blueprint'), ...kinds.pinned(same) },
    readAdministrationAnalysis: {
      ...kinds.derived('analytics'),
      ...kinds.pinned(same),
      // It has never analyzed the administration, or what it names is old.
      'not-found': WITHOUT_METRICS,
      ...staleIs(WITHOUT_METRICS),
      'wrong-entity': {
        '/administrationId': unavailable('analytics'),
        '/contentTestSpecId': disagree('analytics'),
      },
    },
    // Analytics names artifacts that it does not hold or show: then the metrics are not available.
    readAnalysisArtifact: { ...kinds.enriched(WITHOUT_METRICS), ...kinds.bytes(disagree('analytics')) },
  },
  open: ({ stack, caller, runs }) => {
    // None of these runs is worked on.
    stack.improvement.pause();
    return Promise.resolve(() => {
      const asked = runs.request(runs.administration('spring-gate'));
      const call = { claims: { classSourcedIds: caller.fixtures(tenantId).classes } };
      return Promise.resolve({
        async send() {
          const reply = await asked.send(call);
          return seenOf(analysisSentence(stack, reply), reply);
        },
        isRepeated: ({ isProblem }) => isProblem,
        async afterFault({ isProblem }) {
          // The work of what was answered a retryable problem after it had begun goes on with the next request.
          const record = await asked.record();
          if (record !== undefined) expect(record.state).toBe(isProblem ? 'started' : 'completed');
        },
      });
    });
  },
};

/** An analysis in one line: of a run also the metrics that it goes without. */
function analysisSentence(stack: TestStack, reply: GatewayReply): string {
  const sentence = reportsAnswerOf(reply);
  if (reply.status === 200) {
    const lacking = analyzed(reply).run.metricStatuses.filter(({ status }) => status !== 'available');
    return lacking.length === 0
      ? sentence
      : `${sentence}, without ${lacking.map(({ metric }) => metric).join(' ')}`;
  }
  expectQuiet(stack, reply);
  return sentence;
}

/** A problem is retryable unless it hides something, and tells nothing of an owner. */
function expectQuiet(stack: TestStack, reply: GatewayReply): void {
  const { retryable } = reportsProblemOf(reply);
  expect([retryable, reply.headers.has('retry-after')]).toEqual([reply.status !== 404, reply.status !== 404]);
  for (const word of [tenantId, 'injected', new URL(stack.urls.platformUrl).host])
    expect(reply.text).not.toContain(word);
}

/** After a materialization has begun, every problem names its operation. */
const begun = (answer: string): string => (answer.startsWith('2') ? answer : `${answer}, operation`);
const inOperation = ({ 'wrong-entity': another, ...answers }: Dependency): Dependency => {
  const named = (of: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(of).map(([name, answer]) => [name, begun(answer)]));
  // SAFETY: the same members with other answers.
  return {
    ...(named(answers) as unknown as Dependency),
    'wrong-entity': typeof another === 'string' ? begun(another) : named(another),
  };
};
const settled = settledAttempt(missing);

const materialization = (
  dependencies: Dependencies,
  more: Pick<ReportsFlow, 'state' | 'skip'> = {},
): ReportsFlow => ({
  route: materializeAttemptReport,
  ...more,
  calm: same,
  dependencies,
  async open({ stack, materializer }) {
    await stack.control('POST', 'reset');
    const { students: studentIds, classes: classSourcedIds } = materializer.caller.fixtures(tenantId);
    // Whom the administration does not name itself: its owner is asked too.
    const claims = { studentIds, classSourcedIds };
    return async () => {
      await stack.control('POST', 'reset');
      const before = await materializer.written();
      const request = materializer.request('unsettled');
      return {
        async send() {
          const reply = await request.send({ claims });
          if (reply.status >= 400) {
            expectQuiet(stack, reply);
            return seenOf(outcomeOf(reply), reply);
          }
          const { sources, incompleteSections } = materialized(reply).report;
          const lacking = sources.filter(({ status }) => status !== 'current');
          return seenOf(
            [
              same,
              ...lacking.map(({ service, status }) => `${service} ${status}`),
              ...incompleteSections.map(withoutSection),
            ].join(', '),
            reply,
          );
        },
        async afterFault({ sentence }) {
          const record = await request.record();
          if (sentence.endsWith(begun('')))
            expect(record).toMatchObject({ state: sentence.startsWith('404') ? 'failed' : 'started' });
        },
        async afterwards(_, { sentence }) {
          // What has failed for good is composed again, and stays failed.
          const state = sentence === begun(notFound) ? 'failed' : 'completed';
          expect(await request.record()).toMatchObject({ state });
          const { settlements, records, events } = await materializer.written();
          expect([settlements, records, events]).toEqual([
            before.settlements + 1,
            before.records + 1,
            before.events + 1,
          ]);
        },
      };
    };
  },
});

const readPackage = { ...kinds.derived('case'), ...kinds.free('case', missing('case')) };
const withEvidence = ({ attempts }: ReturnType<ReportsCaller['fixtures']>): GatewayCall => ({
  path: { attemptId: attempts.gatePass },
  query: '?view=evidence',
});

export const reportsFlows: readonly ReportsFlow[] = [
  reading(readAttemptReport, withEvidence, {
    readAttemptEvidence: lookup(missing('qti')),
    ...settledAttempt(missing),
    readPackage,
    readEvidenceAck: kinds.enrichment,
  }),
  reading(readAttemptReport, withEvidence, { readPackage }, 'without a kept framework'),
  reading(readReadiness, ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }), {
    readAttemptEvidence: lookup(undecided('qti')),
    ...settledAttempt(undecided),
    readReadinessCrosswalks: {
      ...kinds.derived('blueprint'),
      ...kinds.free('blueprint', undecided('blueprint')),
    },
    // Without the framework there is no report, and so no projected pass. An older one is a current answer.
    readPackage: {
      ...kinds.derived('case'),
      'not-found': '200, case unavailable, indeterminate',
      ...kinds.free('case', '200, case newer, indeterminate'),
    },
  }),
  reading(
    listCandidateReports,
    ({ candidates }) => ({
      path: { candidateSourcedId: candidates.withHistory },
      query: '?limit=4&testKind=mastery_gate',
    }),
    {
      readUser: { ...kinds.named('oneroster'), ...kinds.onRoster(true) },
      listCandidateAttempts: { ...kinds.derived('results'), ...kinds.free('results', missing('results')) },
      // One record that names what its owner lacks does not close the whole history.
      readReportCriteria: {
        ...kinds.derived('content'),
        ...kinds.pinned(unavailable('content'), withheld('stale')),
        'not-found': withheld('unverified'),
      },
      readPackage: {
        ...kinds.derived('case'),
        ...kinds.free('case', withheld('stale')),
        'not-found': withheld('unverified'),
      },
    },
  ),
  reading(readClassCohort, ({ classes: [classSourcedId = ''] }) => ({ path: { classSourcedId } }), {
    readClass: { ...kinds.named('oneroster'), ...kinds.onRoster(false) },
    readClassRollup: { ...kinds.confirmed('analytics'), ...kinds.free('analytics', missing('analytics')) },
  }),
  reading(readSchoolGradeCohort, ({ schools: [path = { schoolSourcedId: '', grade: '' }] }) => ({ path }), {
    readSchool: { ...kinds.named('oneroster'), ...kinds.onRoster(false) },
    readSchoolGradeRollup: {
      ...kinds.confirmed('analytics'),
      ...kinds.free('analytics', missing('analytics')),
    },
  }),
  reading(readEquivalence, ({ forms }) => ({ path: { qtiTestId: forms.equivalent } }), {
    readForm: {
      ...kinds.visible('qti'),
      ...kinds.free('qti', missing('qti')),
      // No caller may see the forms of a test spec that there is not.
      'wrong-entity': { '/qtiTestId': unavailable('qti'), '/contentTestSpecId': notFound },
    },
    readFormEquivalence: {
      ...kinds.confirmed('analytics'),
      ...kinds.free('analytics', missing('analytics')),
      'wrong-entity': { '/qtiTestId': unavailable('analytics'), '/contentTestSpecId': missing('analytics') },
    },
    // Who may not see the test spec may not see its forms.
    readReportCriteria: { ...kinds.visible('content'), ...kinds.pinned(missing('content')) },
    readFormEvidence: { ...kinds.derived('blueprint'), ...kinds.free('blueprint', missing('blueprint')) },
  }),
  reading(readImprovementRun, (_, world) => ofRun(world), {
    readAlignmentSources: evidence('blueprint'),
    readAnalysisArtifact: evidence('analytics'),
  }),
  reading(readAlignmentReport, ({ sourceKeys: [sourceKey = ''] }, world) => ofRun(world, { sourceKey }), {
    readAlignmentSources: evidence('blueprint', disagree('blueprint')),
    readAlignmentCrosswalk: evidence('blueprint', disagree('blueprint')),
    readAnalysisArtifact: evidence('analytics', disagree('analytics')),
  }),
  reading(listRevisionOrders, (_, world) => ({ ...ofRun(world), query: '?limit=100' }), {
    readAlignmentSources: evidence('blueprint'),
    readAlignmentCrosswalk: evidence('blueprint'),
    readAnalysisArtifact: evidence('analytics'),
  }),
  analysis,
  materialization({
    readAdministration: scope,
    // What decides who may know of the attempt is asked before anything is begun.
    readAttemptEvidence: {
      ...lookup(missing('qti')),
      'wrong-entity': {
        ...lookup('')['wrong-entity'],
        '/contentTestSpecId': begun(unavailable('results')),
        '/resultRecordId': begun(missing('results')),
      },
      // Results takes no outcomes of another version than QTI's.
      driftedOnce: begun(unavailable('results')),
      drifted: begun(unavailable('results')),
    },
    writeSettledComponents: inOperation(kinds.derived('results')),
    // Caliper acknowledges with its status alone.
    emitEvent: inOperation({ ...kinds.derived('caliper'), malformed: same }),
    readSettledRecord: inOperation(settled.readSettledRecord),
    readReportCriteria: inOperation(settled.readReportCriteria),
    readUser: inOperation({ ...kinds.derived('oneroster'), ...kinds.onRoster(false) }),
    readPackage: inOperation({
      ...kinds.derived('case'),
      ...kinds.pinned(same),
      ...staleIs(missing('case')),
    }),
    readEvidenceAck: kinds.enrichment,
  }),
  materialization(
    {
      readAttemptEvidence: inOperation({
        ...lookup(missing('qti')),
        ...kinds.pinned(same),
        ...staleIs(missing('qti')),
      }),
    },
    { state: 'reading back', skip: { readAttemptEvidence: 1 } },
  ),
];
