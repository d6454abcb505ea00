import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EntityName } from '#local/platform/entities.ts';
import { cohortKey } from '#local/platform/tenant-state.ts';
import type { ReportsSeed } from '#local/platform/tenant-state.ts';
import type { AttemptReport, AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import type { CohortReport } from '#shared/contract/reports/cohort-report.ts';
import type { EquivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import type { ReadinessReport } from '#shared/contract/reports/readiness-report.ts';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { factsOf, sentenceOf } from '#test/lemmas/compare-answers.ts';
import { openReads, somebody, tenantId } from '#test/lemmas/sound-reads.ts';
import type { Reads } from '#test/lemmas/sound-reads.ts';

// What an owner may answer by its own contract, and no report can be made of, or only one that says less.

let stack: TestStack;
let caller: ReportsCaller;
beforeAll(async () => {
  stack = await startTestStack();
  caller = openReportsCaller(stack);
});
afterEach(async () => {
  await stack.control('POST', 'reset');
});
afterAll(() => stack.close());

type Fixtures = ReturnType<ReportsCaller['fixtures']>;

/** What the owners hold of one thing that is reported on. */
interface Held {
  readonly fixtures: Fixtures;
  readonly attempt: ReportsSeed['attempts'][number];
  readonly record: ReportsSeed['records'][number];
  readonly criteria: ReportsSeed['criteria'][number];
  readonly crosswalks: ReportsSeed['crosswalks'][number];
  readonly framework: ReportsSeed['packages'][number];
  readonly analysis: ReportsSeed['formEquivalences'][number];
  readonly formEvidence: ReportsSeed['formEvidence'][number];
}

/** A change of one entity of an owner. */
interface Change {
  readonly entity: EntityName;
  readonly id: string;
  readonly pointer: string;
  readonly value: unknown;
}

type Make = (held: Held) => Change;
/** A value, or how it is made of what the owners hold. */
type Value = unknown;

function changing(entity: EntityName, idOf: (held: Held) => string) {
  return (pointer: string, value: Value): Make =>
    (held) => ({
      entity,
      id: idOf(held),
      pointer,
      value: typeof value === 'function' ? (value as (of: Held) => unknown)(held) : value,
    });
}

const attempt = changing('qti.attempt_evidence', (held) => held.attempt.attemptId);
const record = changing('results.settled_record', (held) => held.record.resultRecordId);
const criteria = changing('content.report_criteria', (held) => held.criteria.testSpecId);
const crosswalks = changing('content.crosswalks', (held) => held.crosswalks.testSpecId);
const framework = changing('case.package', (held) => held.framework.CFDocument.identifier);
const candidate = changing('oneroster.user', (held) => held.attempt.candidateSourcedId);
const form = changing('qti.form', ({ fixtures }) => fixtures.forms.equivalent);
const analysis = changing('analytics.form_equivalence', ({ fixtures }) => fixtures.forms.equivalent);
const formEvidence = changing('content.form_evidence', ({ fixtures }) => fixtures.forms.equivalent);
const classOf = changing('oneroster.class', ({ fixtures }) => fixtures.classes[0]!);
const school = changing('oneroster.school', ({ fixtures }) => fixtures.schools[0]!.schoolSourcedId);
const classRollup = changing('analytics.rollup', ({ fixtures }) =>
  cohortKey({ type: 'class', classSourcedId: fixtures.classes[0]! }),
);
const schoolRollup = changing('analytics.rollup', ({ fixtures }) =>
  cohortKey({ type: 'school_grade', ...fixtures.schools[0]! }),
);

/** What owners hold, and what a route answers then: a problem in one line, or what becomes of the report that it answers else. */
interface Defect<Body> {
  readonly title: string;
  readonly changes: readonly Make[];
  readonly expected: string | ((sound: Body) => object);
  readonly rules: string;
}

function defect<Body>(
  title: string,
  changes: Make | readonly Make[],
  expected: Defect<Body>['expected'],
  rules: string,
): Defect<Body> {
  return { title, changes: typeof changes === 'function' ? [changes] : changes, expected, rules };
}

function heldOf(role: keyof Fixtures['attempts']): Held {
  const fixtures = caller.fixtures(tenantId);
  const { reports } = stack.seededTenants.get(tenantId)!.platform;
  const theAttempt = reports.attempts.find(({ attemptId }) => attemptId === fixtures.attempts[role])!;
  const { contentTestSpecId } = theAttempt;
  const theCriteria = reports.criteria.find(({ testSpecId }) => testSpecId === contentTestSpecId)!;
  return {
    fixtures,
    attempt: theAttempt,
    record: reports.records.find(({ resultRecordId }) => resultRecordId === theAttempt.resultRecordId)!,
    criteria: theCriteria,
    crosswalks: reports.crosswalks.find(({ testSpecId }) => testSpecId === contentTestSpecId)!,
    framework: reports.packages.find(
      ({ CFDocument: { identifier } }) => identifier === theCriteria.caseFrameworkGuid,
    )!,
    analysis: reports.formEquivalences.find(({ qtiTestId }) => qtiTestId === fixtures.forms.equivalent)!,
    formEvidence: reports.formEvidence.find(({ qtiTestId }) => qtiTestId === fixtures.forms.equivalent)!,
  };
}

/** Describes a route's defects. Whatever an owner mends, the next answer is the sound one again. */
function describeDefects<Body>(
  route: Route,
  role: keyof Fixtures['attempts'],
  call: Parameters<typeof openReads>[2]['call'],
  defects: readonly Defect<Body>[],
): void {
  describe(`${route.operationId}, ${role}`, () => {
    let reads: Reads;
    beforeAll(async () => {
      reads = await openReads(stack, caller, { route, call });
    });
    for (const { title, changes, expected, rules } of defects)
      it(`${title} [${rules}]`, async () => {
        const held = heldOf(role);
        for (const { entity, id, pointer, value } of changes.map((make) => make(held)))
          await stack.control('PATCH', 'entities', {
            tenantId,
            entity,
            id,
            changes: [{ pointer, value }],
          });
        const asking = somebody();
        const reply = await reads.send(asking);
        const sentence = sentenceOf(stack, reads.sound, reply);
        if (typeof expected === 'string') expect(sentence).toBe(expected);
        else {
          expect(reply.status).toBe(200);
          const sound = JSON.parse(reads.sound.given.text) as Body;
          expect(factsOf(JSON.parse(reply.text))).toEqual(factsOf(expected(sound)));
        }
        await stack.control('POST', 'reset');
        expect(await reads.ask(asking)).toBe('200');
      });
  });
}

const hidden = '404 not-found';
const results = '503 dependency-incomplete results';
const qti = '503 dependency-incomplete qti';
const content = '503 dependency-incomplete content';
const caseIncomplete = '503 dependency-incomplete case';
const blueprint = '503 dependency-incomplete blueprint';
const analytics = '503 dependency-incomplete analytics';
const ofOther = (owner: string): string => `503 dependency-unavailable ${owner}`;

const mastery = ({ record: { mastery: rows } }: Held) => rows;
/** How many items have an outcome. */
const scoredItems = ({ attempt: { outcomes } }: Held): number =>
  new Set(outcomes.map(({ qtiItemId }) => qtiItemId)).size;
/** A child of the framework, by its place among the rows. */
const childAt = (held: Held): number =>
  mastery(held).findIndex(({ parentCaseGuid }) => parentCaseGuid !== null);

describeDefects<AttemptReport>(
  readAttemptReport,
  'gatePass',
  ({ attempts }) => ({ path: { attemptId: attempts.gatePass }, query: '?view=evidence' }),
  [
    defect('QTI has not scored the attempt', attempt('/status', 'submitted'), qti, 'RP-063'),
    defect('QTI has a status that nobody knows', attempt('/status', 'marked_by_owl'), qti, 'RP-063'),
    defect('Results has no record yet', attempt('/resultRecordId', null), results, 'RP-062'),
    defect('QTI’s lookup is stale', attempt('/freshness', 'stale'), qti, 'RP-087'),
    defect('QTI does not know how current its lookup is', attempt('/freshness', 'unknown'), qti, 'RP-087'),
    defect(
      'QTI names an outcome twice',
      attempt('/outcomes', ({ attempt: { outcomes } }: Held) => [...outcomes, outcomes[0]]),
      qti,
      'RP-096',
    ),
    defect(
      'QTI has scored more items than it says that it administered',
      attempt('/administeredItemCount', (held: Held) => scoredItems(held) - 1),
      qti,
      'RP-028, RP-106',
    ),
    defect(
      'QTI lacks an outcome of the evidence',
      attempt('/outcomes', ({ attempt: { outcomes } }: Held) => outcomes.slice(1)),
      qti,
      'RP-028, RP-099',
    ),
    defect(
      'QTI’s attempt is of a candidate whom the caller may not see',
      attempt('/candidateSourcedId', 'student-of-somebody-else'),
      hidden,
      'RP-058, RP-231',
    ),
    defect(
      'QTI’s attempt is of another candidate than its record',
      attempt('/candidateSourcedId', ({ fixtures }: Held) => fixtures.candidates.empty),
      ofOther('results'),
      'RP-017, RP-028',
    ),
    defect(
      'QTI refers to a version of the record that Results does not hold',
      attempt('/resultRecordVersion', 'another'),
      '409 source-version-conflict results',
      'RP-232',
    ),
    defect(
      'QTI refers to a version of the test spec that Content does not hold',
      attempt('/contentTestSpecVersion', 'another'),
      content,
      'RP-233',
    ),
    defect(
      'Results has written meanwhile',
      record('/version', 'another'),
      '409 source-version-conflict results',
      'RP-232',
    ),
    defect('the record is stale', record('/freshness', 'stale'), results, 'RP-087'),
    defect('the record is not settled', record('/settled', false), results, 'RP-062, RP-233'),
    defect('the record is of another attempt', record('/attemptId', 'another'), ofOther('results'), 'RP-028'),
    defect('the score is not settled', record('/score', null), results, 'RP-062, RP-233'),
    defect(
      'the score lies beyond its maximum',
      record('/score/maximum', ({ record: { score } }: Held) => score!.value - 1),
      results,
      'RP-081',
    ),
    defect(
      'the score lies below its minimum',
      record('/score/minimum', ({ record: { score } }: Held) => score!.value + 1),
      results,
      'RP-081',
    ),
    defect(
      'the score is on a mastery scale of no version',
      [record('/score/unit', 'mastery_scale'), record('/score/scaleVersion', null)],
      results,
      'RP-083',
    ),
    defect(
      'the score has a unit that nobody knows',
      record('/score/unit', 'owls'),
      (sound) => ({ ...sound, score: { ...sound.score, unit: 'unknown' } }),
      'RP-082',
    ),
    defect(
      'the score is not what its outcomes add up to',
      [record('/score/value', 3.25), record('/score/minimum', null), record('/score/maximum', null)],
      (sound) => ({ ...sound, score: { ...sound.score, value: 3.25, minimum: null, maximum: null } }),
      'RP-003, RP-080',
    ),
    defect('Results and Content name different kinds', record('/testKind', 'formative'), results, 'RP-008'),
    defect(
      'there are two rows of one standard',
      record('/mastery', (held: Held) => [...mastery(held), mastery(held)[0]]),
      results,
      'RP-064',
    ),
    defect('a row has no evidence', record('/mastery/0/evidence', []), results, 'RP-095'),
    defect(
      'a row has 501 pieces of evidence',
      record('/mastery/0/evidence', (held: Held) =>
        Array.from({ length: 501 }, () => mastery(held)[0]!.evidence[0]),
      ),
      results,
      'RP-095',
    ),
    defect(
      'evidence is of an item that QTI did not administer',
      record('/mastery/0/evidence/0/qtiItemId', 'an-item-of-another-form'),
      qti,
      'RP-096',
    ),
    defect('a row has no estimate', record('/mastery/0/estimate', null), results, 'RP-092'),
    defect('a row has no threshold', record('/mastery/0/threshold', null), results, 'RP-092'),
    defect(
      'a row is of a GUID that CASE does not have',
      record('/mastery/0/caseGuid', '7f7a9c6e-0000-4000-8000-000000000000'),
      caseIncomplete,
      'RP-089',
    ),
    defect(
      'a row has a parent that CASE does not have',
      (held) => record(`/mastery/${childAt(held)}/parentCaseGuid`, 'nowhere')(held),
      caseIncomplete,
      'RP-090',
    ),
    defect(
      'a row has another parent than in CASE',
      (held) =>
        record(`/mastery/${childAt(held)}/parentCaseGuid`, mastery(held)[childAt(held)]!.caseGuid)(held),
      results,
      'RP-090',
    ),
    defect(
      'a child has no parent',
      (held) => record(`/mastery/${childAt(held)}/parentCaseGuid`, null)(held),
      results,
      'RP-090',
    ),
    defect(
      'a row has a state and an uncertainty that nobody knows',
      [record('/mastery/0/state', 'enlightened'), record('/mastery/0/uncertaintyKind', 'gut')],
      ({ mastery: [first, ...others], ...sound }) => ({
        ...sound,
        mastery: [{ ...first, state: 'unknown', uncertaintyKind: 'unknown' }, ...others],
      }),
      'RP-091, RP-093',
    ),
    defect(
      'Results has no component of a piece of evidence, and a contribution against it',
      [
        record('/mastery/0/evidence/0/resultComponentId', null),
        record('/mastery/0/evidence/0/contribution', -7.125),
      ],
      ({ mastery: [first, ...others], ...sound }) => ({
        ...sound,
        mastery: [
          {
            ...first,
            evidence: first!.evidence!.map((evidence, at) =>
              at === 0 ? { ...evidence, resultComponentId: null, contribution: -7.125 } : evidence,
            ),
          },
          ...others,
        ],
      }),
      'RP-097, RP-098',
    ),
    defect('a fail names no gap', record('/gate/status', 'fail'), results, 'RP-105'),
    defect(
      'a pass is below its own threshold',
      [record('/gate/achieved', 10), record('/gate/required', 80), criteria('/criteria/required', 80)],
      results,
      'RP-010, RP-103',
    ),
    defect(
      'a pass names a gap',
      record('/gate/gapCaseGuids', (held: Held) => [mastery(held)[0]!.caseGuid]),
      results,
      'RP-105',
    ),
    defect(
      'the decision has a status that nobody knows',
      record('/gate/status', 'maybe'),
      (sound) => ({ ...sound, gate: { ...sound.gate, status: 'unknown' } }),
      'RP-100',
    ),
    defect(
      'a pass has no coverage evidence',
      record('/gate/coverageEvidenceId', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate', coverageEvidenceId: null },
      }),
      'RP-011',
    ),
    defect(
      'Results has made no decision',
      record('/gate', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: {
          ...sound.gate,
          status: 'indeterminate',
          achieved: null,
          gapCaseGuids: [],
          coverageEvidenceId: null,
        },
      }),
      'RP-010, RP-067',
    ),
    defect(
      'a pass has no measurement',
      record('/gate/achieved', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate', achieved: null },
      }),
      'RP-102',
    ),
    defect(
      'Content has no criteria',
      criteria('/criteria', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate' },
      }),
      'RP-011, RP-067',
    ),
    defect(
      'Content’s criteria have no threshold',
      criteria('/criteria/required', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate' },
      }),
      'RP-103',
    ),
    defect(
      'Results’ decision names neither criteria nor threshold',
      [record('/gate/criteriaVersion', null), record('/gate/required', null)],
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate' },
      }),
      'RP-101, RP-103',
    ),
    defect(
      'nobody has criteria',
      [record('/gate', null), criteria('/criteria', null)],
      content,
      'RP-028, RP-101',
    ),
    defect(
      'nobody has a threshold',
      [record('/gate/required', null), criteria('/criteria/required', null)],
      content,
      'RP-028, RP-103',
    ),
    defect(
      'Results decided under other criteria than Content’s',
      record('/gate/criteriaVersion', 'another'),
      '409 source-version-conflict results',
      'RP-010, RP-101',
    ),
    defect(
      'Results decided under another threshold than Content’s',
      record('/gate/required', 1),
      '409 source-version-conflict results',
      'RP-010, RP-103',
    ),
    defect('the criteria are stale', criteria('/freshness', 'stale'), content, 'RP-087'),
    defect(
      'owners have a kind that nobody knows',
      [record('/testKind', 'quiz'), criteria('/testKind', 'quiz')],
      (sound) => ({ ...sound, testKind: 'unknown', gate: null }),
      'RP-060, RP-061, RP-066',
    ),
    defect(
      'CASE has no framework of the test spec',
      criteria('/caseFrameworkGuid', 'nowhere'),
      caseIncomplete,
      'RP-089',
    ),
    defect(
      'the CASE framework is older than the test spec',
      criteria('/caseFrameworkChangedAt', '2999-01-01T00:00:00Z'),
      caseIncomplete,
      'RP-087',
    ),
    defect('CASE has lost the items', framework('/CFItems', []), caseIncomplete, 'RP-089'),
    defect('CASE has lost who is whose child', framework('/CFAssociations', []), results, 'RP-090'),
    defect(
      'the candidate has left the roster',
      candidate('/user/status', 'tobedeleted'),
      '503 dependency-incomplete oneroster',
      'RP-017',
    ),
  ],
);

describeDefects<AttemptReport>(
  readAttemptReport,
  'gateFail',
  ({ attempts }) => ({ path: { attemptId: attempts.gateFail }, query: '?view=evidence' }),
  [
    defect(
      'a fail does not list a gap of its rows',
      record('/gate/gapCaseGuids', ({ record: { gate } }: Held) => gate!.gapCaseGuids.slice(1)),
      results,
      'RP-105',
    ),
    defect(
      'a fail lists a gap twice',
      record('/gate/gapCaseGuids', ({ record: { gate } }: Held) => [
        ...gate!.gapCaseGuids,
        gate!.gapCaseGuids[0],
      ]),
      results,
      'RP-105',
    ),
    defect(
      'a fail lists a gap that CASE does not have',
      record('/gate/gapCaseGuids', ({ record: { gate } }: Held) => [...gate!.gapCaseGuids, 'nowhere']),
      caseIncomplete,
      'RP-028',
    ),
    defect('a pass lists gaps', record('/gate/status', 'pass'), results, 'RP-105'),
    defect(
      'a fail has no coverage evidence',
      record('/gate/coverageEvidenceId', null),
      (sound) => ({
        ...sound,
        status: 'indeterminate',
        gate: { ...sound.gate, status: 'indeterminate', coverageEvidenceId: null },
      }),
      'RP-011, RP-105',
    ),
  ],
);

describeDefects<AttemptReport>(
  readAttemptReport,
  'diagnostic',
  ({ attempts }) => ({ path: { attemptId: attempts.diagnostic }, query: '?view=evidence' }),
  [
    defect('Results measured nothing', record('/diagnostic', null), results, 'RP-068'),
    defect(
      'QTI administered nothing',
      [attempt('/administeredItemCount', 0), attempt('/outcomes', []), record('/mastery', [])],
      qti,
      'RP-106',
    ),
    defect(
      'QTI administered fewer items than it has scored',
      attempt('/administeredItemCount', (held: Held) => scoredItems(held) - 1),
      qti,
      'RP-106',
    ),
    defect(
      'QTI administered an item that it has not scored',
      attempt('/administeredItemCount', (held: Held) => scoredItems(held) + 1),
      ({ diagnostic, ...sound }) => ({
        ...sound,
        diagnostic: { ...diagnostic, administeredItemCount: diagnostic!.administeredItemCount + 1 },
      }),
      'RP-106',
    ),
    defect(
      'score and diagnostic are on two mastery scales',
      record('/score/scaleVersion', 'another'),
      results,
      'RP-083, RP-106',
    ),
    defect(
      'score and diagnostic are two scores on one mastery scale',
      record('/score/value', ({ record: { diagnostic } }: Held) => diagnostic!.scaleScore + 0.01),
      results,
      'RP-080, RP-106',
    ),
    defect(
      'the coarser of two scores on one mastery scale is not the finer one, rounded',
      record('/diagnostic/scaleScore', ({ record: { score } }: Held) => Math.round(score!.value) + 1),
      results,
      'RP-080, RP-106',
    ),
    defect(
      'the score of the diagnostic is the settled one, rounded',
      record('/diagnostic/scaleScore', ({ record: { score } }: Held) => Math.round(score!.value)),
      (sound) => ({
        ...sound,
        diagnostic: { ...sound.diagnostic, scaleScore: Math.round(sound.score.value) },
      }),
      'RP-080',
    ),
    defect(
      'the score is none on a mastery scale, beside which the diagnostic’s cannot be wrong',
      [record('/score/unit', 'percent'), record('/score/value', 61)],
      (sound) => ({ ...sound, score: { ...sound.score, unit: 'percent', value: 61 } }),
      'RP-082',
    ),
    defect(
      'the run stopped for a reason that nobody knows',
      record('/diagnostic/stoppingReason', 'boredom'),
      (sound) => ({ ...sound, diagnostic: { ...sound.diagnostic, stoppingReason: 'unknown' } }),
      'RP-107',
    ),
    defect(
      'the blueprint has norms of an external scale',
      criteria('/externalScale', { normsSet: 'norms-1999' }),
      (sound) => ({ ...sound, diagnostic: { ...sound.diagnostic, extNormsSet: 'norms-1999' } }),
      'RP-013, RP-108',
    ),
    defect(
      'Results holds a decision of a kind that has none',
      record('/gate', {
        status: 'fail',
        criteriaVersion: 'another',
        achieved: 1,
        required: 2,
        gapCaseGuids: [],
        coverageEvidenceId: null,
      }),
      (sound) => sound,
      'RP-009, RP-066',
    ),
  ],
);

/** The limitations that were there, and one that was not. */
const withOneMore = (before: readonly string[]): unknown =>
  expect.toSatisfy(
    (after: readonly string[]) =>
      after.length === before.length + 1 && before.every((limitation) => after.includes(limitation)),
  );

type Entry = ReadinessReport['entries'][number];
/** Every entry, or the one at a place, as undecided, for one more reason than it has. */
const undecided =
  (change: Partial<Entry> = {}, only?: number) =>
  ({ entries, ...sound }: ReadinessReport): object => ({
    ...sound,
    entries: entries.map((entry, at) =>
      only === undefined || at === only
        ? {
            ...entry,
            ...change,
            decision: 'indeterminate',
            limitations: withOneMore(entry.limitations),
          }
        : entry,
    ),
  });
/** The first source test, of which no number is made up, beside the others as they were. */
const withoutFirstEntry = ({ entries: [first, ...entries], ...sound }: ReadinessReport): object => ({
  ...sound,
  entries,
  omittedEntries: [
    { sourceTest: first!.sourceTest, sourceVersion: first!.sourceVersion, reason: 'coverage_missing' },
  ],
});

/** What makes the attempt’s own report a 503 although Results has settled its record: missing, unusable or stale. */
const unfit: readonly (readonly [string, Make | readonly Make[], string])[] = [
  ['the score is not settled', record('/score', null), 'RP-062, RP-118'],
  [
    'the score lies beyond its maximum',
    record('/score/maximum', ({ record: { score } }: Held) => score!.value - 1),
    'RP-081, RP-118',
  ],
  ['a row has no evidence', record('/mastery/0/evidence', []), 'RP-095, RP-118'],
  ['a row has no estimate', record('/mastery/0/estimate', null), 'RP-092, RP-118'],
  ['QTI has no outcomes of the attempt', attempt('/outcomes', []), 'RP-096, RP-118'],
  [
    'a row is of a GUID that CASE does not have',
    record('/mastery/0/caseGuid', '7f7a9c6e-0000-4000-8000-000000000000'),
    'RP-089, RP-118',
  ],
  [
    'the CASE framework is older than the test spec',
    criteria('/caseFrameworkChangedAt', '2999-01-01T00:00:00Z'),
    'RP-087, RP-118',
  ],
];
const crosswalkEntry = ({ crosswalks: { entries } }: Held) => entries[0]!;

describeDefects<ReadinessReport>(
  readReadiness,
  'gatePass',
  ({ attempts }) => ({ path: { attemptId: attempts.gatePass } }),
  [
    defect('QTI has not scored the attempt', attempt('/status', 'submitted'), qti, 'RP-063'),
    defect('Results has no record yet', attempt('/resultRecordId', null), results, 'RP-252'),
    defect('the record is not settled', record('/settled', false), results, 'RP-252'),
    defect(
      'Results has written meanwhile',
      record('/version', 'another'),
      '409 source-version-conflict results',
      'RP-251',
    ),
    defect('the blueprint has no crosswalk', crosswalks('/entries', []), hidden, 'RP-250'),
    defect(
      'the blueprint has no coverage evidence of a source test',
      crosswalks('/entries/0/coverageFraction', null),
      withoutFirstEntry,
      'RP-028, RP-109',
    ),
    defect(
      'the blueprint does not mention the coverage of a source test',
      crosswalks('/entries', ({ crosswalks: { entries } }: Held) =>
        entries.map(({ coverageFraction, ...entry }, at) =>
          at === 0 ? entry : { ...entry, coverageFraction },
        ),
      ),
      withoutFirstEntry,
      'RP-028, RP-109',
    ),
    defect(
      'the blueprint has no coverage evidence of any source test',
      crosswalks('/entries', ({ crosswalks: { entries } }: Held) =>
        entries.map((entry) => ({ ...entry, coverageFraction: null })),
      ),
      blueprint,
      'RP-110, RP-252',
    ),
    defect(
      'the blueprint has no evidence of the depth of knowledge of a source test',
      crosswalks('/entries/0/dokDominance', null),
      undecided({ dokDominance: 'indeterminate' }, 0),
      'RP-112, RP-118',
    ),
    ...unfit.map(([title, changes, rules]) => defect<ReadinessReport>(title, changes, undecided(), rules)),
    defect(
      'CASE has no framework of the test spec',
      criteria('/caseFrameworkGuid', 'nowhere'),
      (sound) =>
        withReceipt(undecided()(sound), 'case', {
          resourceId: 'nowhere',
          version: null,
          status: 'unavailable',
        }),
      'RP-089, RP-118',
    ),
    defect(
      'a pass is below its own threshold',
      record('/gate/achieved', ({ record: { gate } }: Held) => gate!.required! - 1),
      results,
      'RP-010, RP-252',
    ),
    defect(
      'a row has another parent than in CASE',
      (held) =>
        record(`/mastery/${childAt(held)}/parentCaseGuid`, mastery(held)[childAt(held)]!.caseGuid)(held),
      results,
      'RP-090, RP-252',
    ),
    defect(
      'QTI has scored more items than it says that it administered',
      attempt('/administeredItemCount', (held: Held) => scoredItems(held) - 1),
      qti,
      'RP-106, RP-252',
    ),
    defect(
      'Results and Content name different kinds',
      record('/testKind', 'formative'),
      results,
      'RP-008, RP-252',
    ),
    defect(
      'the blueprint has two crosswalks to one version of a source test',
      crosswalks('/entries', ({ crosswalks: { entries } }: Held) => [...entries, entries[0]]),
      blueprint,
      'RP-110',
    ),
    defect(
      'the blueprint has 101 crosswalks',
      crosswalks('/entries', (held: Held) =>
        Array.from({ length: 101 }, (_, at) => ({ ...crosswalkEntry(held), sourceVersion: String(at) })),
      ),
      blueprint,
      'RP-110',
    ),
    defect(
      'a slot qualifies twice',
      crosswalks('/entries/0/qualifyingBlueprintSlotIds', ['slot', 'slot']),
      blueprint,
      'RP-109',
    ),
    defect(
      'no slot qualifies',
      crosswalks('/entries/0/qualifyingBlueprintSlotIds', []),
      undecided({ qualifyingBlueprintSlotIds: [] }, 0),
      'RP-116',
    ),
    defect(
      'the blueprint covers all but a millionth',
      crosswalks('/entries/0/coverageFraction', 0.999999),
      undecided({ coverageFraction: 0.999999 }, 0),
      'RP-116',
    ),
    defect(
      'the depth of knowledge is of a kind that nobody knows',
      crosswalks('/entries/0/dokDominance', 'profound'),
      undecided({ dokDominance: 'indeterminate' }, 0),
      'RP-112, RP-116',
    ),
    defect('one crosswalk is stale', crosswalks('/entries/0/freshness', 'stale'), undecided({}, 0), 'RP-118'),
    defect(
      'there is room for no further limitation, and a reason for one',
      [
        crosswalks('/entries/0/qualifyingBlueprintSlotIds', []),
        crosswalks(
          '/entries/0/limitations',
          Array.from({ length: 50 }, (_, at) => `No ${at}.`),
        ),
      ],
      blueprint,
      'RP-114',
    ),
    defect(
      'the lookup is stale',
      attempt('/freshness', 'stale'),
      (sound) => withStatus(undecided()(sound), 'qti', 'stale'),
      'RP-118',
    ),
    defect(
      'nobody knows how current the record is',
      record('/freshness', 'unknown'),
      (sound) => withStatus(undecided()(sound), 'results', 'unknown'),
      'RP-118',
    ),
    defect(
      'the criteria are stale',
      criteria('/freshness', 'stale'),
      (sound) => withStatus(undecided()(sound), 'content', 'stale'),
      'RP-118',
    ),
    defect(
      'the decision has no coverage evidence',
      record('/gate/coverageEvidenceId', null),
      undecided(),
      'RP-011, RP-118',
    ),
    defect('a fail names no gap', record('/gate/status', 'fail'), results, 'RP-105'),
    defect(
      'an empty set of crosswalks is stale',
      [crosswalks('/entries', []), crosswalks('/freshness', 'stale')],
      blueprint,
      'RP-087, RP-252',
    ),
    defect(
      'the crosswalks are of another version of the test spec',
      crosswalks('/testSpecVersion', 'another'),
      blueprint,
      'RP-252',
    ),
    defect(
      'the candidate has left the roster',
      candidate('/user/status', 'tobedeleted'),
      '503 dependency-incomplete oneroster',
      'RP-252',
    ),
  ],
);

function withReceipt(report: object, owner: string, change: object): object {
  const { sources } = report as ReadinessReport;
  return {
    ...report,
    sources: sources.map((source) => (source.service === owner ? { ...source, ...change } : source)),
  };
}

function withStatus(report: object, owner: string, status: string): object {
  return withReceipt(report, owner, { status });
}

/** Every entry as it was, for one more reason. */
const limited = ({ entries, ...sound }: ReadinessReport): object => ({
  ...sound,
  entries: entries.map((entry) => ({ ...entry, limitations: withOneMore(entry.limitations) })),
});

describeDefects<ReadinessReport>(
  readReadiness,
  'gateFail',
  ({ attempts }) => ({ path: { attemptId: attempts.gateFail } }),
  [
    defect(
      'a fail is not ready, however stale the crosswalks',
      crosswalks('/freshness', 'stale'),
      (sound) => withStatus(sound, 'blueprint', 'stale'),
      'RP-117',
    ),
    defect(
      'a fail stays one on stale evidence, and says so',
      record('/freshness', 'stale'),
      (sound) => withStatus(limited(sound), 'results', 'stale'),
      'RP-117',
    ),
    ...unfit.map(([title, changes]) =>
      defect<ReadinessReport>(`a fail stays one where ${title}`, changes, limited, 'RP-117'),
    ),
  ],
);

describe('listCandidateReports', () => {
  const facts = (rows: AttemptReportPage['data']): unknown =>
    factsOf({ data: rows.map((row) => ({ ...row, sources: [] })) });
  let reads: Reads;
  let sound: AttemptReportPage;
  beforeAll(async () => {
    reads = await openReads(stack, caller, {
      route: listCandidateReports,
      call: ({ candidates }) => ({
        path: { candidateSourcedId: candidates.withHistory },
        // More than a day's: a row without a record stands behind the others of its day.
        query: '?limit=12',
      }),
    });
    sound = listCandidateReports.success.schema.parse(JSON.parse(reads.sound.given.text));
  });

  type Row = AttemptReportPage['data'][number];
  const ofRow = {
    attempt: { entity: 'qti.attempt_evidence', idOf: ({ attemptId }: Row) => attemptId },
    record: { entity: 'results.settled_record', idOf: ({ resultRecordId }: Row) => resultRecordId },
    criteria: { entity: 'content.report_criteria', idOf: ({ contentTestSpecId }: Row) => contentTestSpecId },
    candidate: { entity: 'oneroster.user', idOf: ({ candidateSourcedId }: Row) => candidateSourcedId },
  };

  /** Changes what an owner holds of the first row. */
  async function change(owned: keyof typeof ofRow, pointer: string, value: unknown): Promise<void> {
    const { entity, idOf } = ofRow[owned];
    const id = idOf(sound.data[0]!);
    await stack.control('PATCH', 'entities', { tenantId, entity, id, changes: [{ pointer, value }] });
  }

  it.each<[string, Parameters<typeof change>, string, string]>([
    [
      'a record is of another candidate',
      ['record', '/candidateSourcedId', 'another'],
      ofOther('results'),
      'RP-133',
    ],
    ['a record is of another kind than its test spec', ['record', '/testKind', 'quiz'], results, 'RP-008'],
    [
      'a record is of another version of the test spec than its row',
      ['record', '/contentTestSpecVersion', 'another'],
      '503 dependency-unavailable results',
      'RP-238',
    ],
    [
      'the candidate has left the roster',
      ['candidate', '/user/status', 'tobedeleted'],
      hidden,
      'RP-237, RP-316',
    ],
  ])('%s, and there is no page without it: %j %s [%s]', async (_, changed, expected) => {
    await change(...changed);
    const asking = somebody();
    expect(await reads.ask(asking)).toBe(expected);
    await stack.control('POST', 'reset');
    expect(await reads.ask(asking)).toBe('200');
  });

  it('has no page with two scores on one mastery scale, or with a pass below its threshold [RP-010, RP-106]', async () => {
    const contradicting = [
      [sound.data.find(({ diagnostic }) => diagnostic !== null)!, '/diagnostic/scaleScore'],
      [sound.data.find(({ gate }) => gate?.status === 'pass')!, '/gate/achieved'],
    ] as const;
    for (const [{ resultRecordId: id }, pointer] of contradicting) {
      const changes = [{ pointer, value: -1 }];
      await stack.control('PATCH', 'entities', {
        tenantId,
        entity: 'results.settled_record',
        id,
        changes,
      });
      expect([pointer, await reads.ask(somebody())]).toEqual([pointer, results]);
      await stack.control('POST', 'reset');
    }
  });

  it.each<[string, Parameters<typeof change>]>([
    ['is not scored [RP-063]', ['attempt', '/status', 'submitted']],
    ['has no record [RP-062]', ['attempt', '/resultRecordId', null]],
    ['is stale [RP-087]', ['record', '/freshness', 'stale']],
  ])('passes over an attempt that %s, and has the next one instead', async (_, changed) => {
    await change(...changed);
    const { text } = await reads.send(somebody());
    const { data } = listCandidateReports.success.schema.parse(JSON.parse(text));
    expect(data).toHaveLength(12);
    expect(facts(data.slice(0, 11))).toEqual(facts(sound.data.slice(1)));
  });
});

const withoutMeasures =
  (status: CohortReport['suppression']['status']) =>
  (sound: CohortReport): object => ({ ...sound, suppression: { status }, measures: undefined });

describeDefects<CohortReport>(
  readClassCohort,
  'gatePass',
  ({ classes }) => ({ path: { classSourcedId: classes[0]! } }),
  [
    defect('the class has left the roster', classOf('/class/status', 'tobedeleted'), hidden, 'RP-240'),
    defect('the rollup is stale', classRollup('/freshness', 'stale'), analytics, 'RP-087, RP-241'),
    defect(
      'the rollup is of another class',
      classRollup('/scope/classSourcedId', 'another'),
      ofOther('analytics'),
      'RP-004, RP-241',
    ),
    defect('the count is withheld', classRollup('/populationCount', null), analytics, 'RP-131'),
    defect(
      'the count of a suppressed rollup is withheld',
      [classRollup('/populationCount', null), classRollup('/suppression/status', 'suppressed')],
      analytics,
      'RP-131',
    ),
    defect(
      'the rollup is suppressed, and has values nevertheless',
      classRollup('/suppression/status', 'suppressed'),
      withoutMeasures('suppressed'),
      'RP-131',
    ),
    defect(
      'the rollup is suppressed, and Analytics publishes another count of it',
      [classRollup('/suppression/status', 'suppressed'), classRollup('/populationCount', 4)],
      (sound) => ({ ...withoutMeasures('suppressed')(sound), populationCount: 4 }),
      'RP-130, RP-131',
    ),
    defect(
      'nobody knows whether the rollup is suppressed',
      classRollup('/suppression/status', 'redacted'),
      withoutMeasures('unknown'),
      'RP-131',
    ),
  ],
);

describeDefects<CohortReport>(readSchoolGradeCohort, 'gatePass', ({ schools }) => ({ path: schools[0]! }), [
  defect('the school has left the roster', school('/org/status', 'tobedeleted'), hidden, 'RP-244'),
  defect('the rollup is stale', schoolRollup('/freshness', 'unknown'), analytics, 'RP-087, RP-245'),
  defect(
    'the rollup is of another grade',
    schoolRollup('/scope/grade', 'Other'),
    ofOther('analytics'),
    'RP-004, RP-245',
  ),
  defect(
    'the rollup is suppressed, and has values nevertheless',
    schoolRollup('/suppression/status', 'suppressed'),
    withoutMeasures('suppressed'),
    'RP-131',
  ),
  defect(
    'the count of a suppressed rollup is withheld',
    [schoolRollup('/populationCount', null), schoolRollup('/suppression/status', 'suppressed')],
    analytics,
    'RP-131',
  ),
]);

describeDefects<EquivalenceReport>(
  readEquivalence,
  'gatePass',
  ({ forms }) => ({ path: { qtiTestId: forms.equivalent } }),
  [
    defect('the form is stale', form('/freshness', 'stale'), qti, 'RP-087, RP-248'),
    defect('the analysis is stale', analysis('/freshness', 'stale'), analytics, 'RP-087, RP-248'),
    defect(
      'the form is of a version of the test spec that Content does not hold',
      form('/contentTestSpecVersion', 'another'),
      hidden,
      'RP-247',
    ),
    defect(
      'the analysis is of another version of the test spec',
      analysis('/contentTestSpecVersion', 'another'),
      // Which Content does not hold.
      content,
      'RP-248',
    ),
    defect(
      'the analysis is of another test spec',
      analysis('/contentTestSpecId', 'another'),
      analytics,
      'RP-248',
    ),
    defect(
      'the blueprint compares the form with others than Analytics',
      formEvidence('/comparisonQtiTestIds', ['another']),
      analytics,
      'RP-121, RP-248',
    ),
    defect(
      'the blueprint compares in another order',
      formEvidence('/comparisonQtiTestIds', ({ formEvidence: { comparisonQtiTestIds } }: Held) =>
        comparisonQtiTestIds.toReversed(),
      ),
      (sound) => sound,
      'RP-121',
    ),
    defect(
      'the analysis compares with nothing',
      [analysis('/comparisonQtiTestIds', []), formEvidence('/comparisonQtiTestIds', [])],
      analytics,
      'RP-121',
    ),
    defect(
      'the statistic lies outside its interval',
      analysis('/confidenceInterval/upper', ({ analysis: { statistic } }: Held) => statistic - 0.001),
      analytics,
      'RP-124',
    ),
    defect('the tolerance is negative', analysis('/tolerance', -0.001), analytics, 'RP-124'),
    defect('a form has no sample size', analysis('/sampleSizes', {}), analytics, 'RP-123'),
    defect('a sample size is of no form', analysis('/sampleSizes/another', 4), analytics, 'RP-123'),
    defect('a decision names no artifact', analysis('/evidenceArtifactUrl', null), analytics, 'RP-126'),
    defect(
      'an artifact is not reached by HTTPS',
      analysis('/evidenceArtifactUrl', 'http://analytics.example/a'),
      analytics,
      'RP-126',
    ),
    defect(
      'an artifact’s address holds a credential',
      analysis('/evidenceArtifactUrl', 'https://user:pass@analytics.example/a'),
      analytics,
      'RP-126',
    ),
    defect(
      'insufficient evidence names no artifact',
      [analysis('/decision', 'insufficient_evidence'), analysis('/evidenceArtifactUrl', null)],
      (sound) => ({ ...sound, decision: 'insufficient_evidence', evidenceArtifactUrl: null }),
      'RP-126',
    ),
    defect(
      'the decision is one that nobody knows',
      analysis('/decision', 'toss_a_coin'),
      (sound) => ({ ...sound, decision: 'unknown' }),
      'RP-125',
    ),
  ],
);
