import { expect } from 'vitest';
import type { EntityName } from '#local/platform/entities.ts';
import { cohortKey, type ReportsSeed } from '#local/platform/tenant-state.ts';
import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { ReadinessReport } from '#shared/contract/reports/readiness-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import type { TestStack } from '#test/support/stack.ts';
import { reports as kinds } from './faults-expected.ts';
import { tenantId } from './sound-reads.ts';

// Facts that their owner's own contract allows, and that contradict each other or leave a report without what it needs: what is changed
// at the platform emulator, and what each route returns then. One example of each way into the routes.

type Fixtures = ReturnType<ReportsCaller['fixtures']>;
type Role = 'gatePass' | 'gateFail' | 'diagnostic';

/** What the owners hold of one attempt and of one form. */
export interface Held {
  readonly fixtures: Fixtures;
  readonly attempt: ReportsSeed['attempts'][number];
  readonly record: ReportsSeed['records'][number];
  readonly criteria: ReportsSeed['criteria'][number];
  readonly crosswalks: ReportsSeed['crosswalks'][number];
  readonly framework: ReportsSeed['packages'][number];
  readonly analysis: ReportsSeed['formEquivalences'][number];
  readonly formEvidence: ReportsSeed['formEvidence'][number];
}

export function heldOf(stack: TestStack, fixtures: Fixtures, role: Role): Held {
  const { reports } = stack.seededTenants.get(tenantId)!.platform;
  const attempt = reports.attempts.find(({ attemptId }) => attemptId === fixtures.attempts[role])!;
  const spec = attempt.contentTestSpecId;
  const form = fixtures.forms.equivalent;
  const criteria = reports.criteria.find(({ testSpecId }) => testSpecId === spec)!;
  return {
    fixtures,
    attempt,
    record: reports.records.find(({ resultRecordId }) => resultRecordId === attempt.resultRecordId)!,
    criteria,
    crosswalks: reports.crosswalks.find(({ testSpecId }) => testSpecId === spec)!,
    framework: reports.packages.find(
      ({ CFDocument }) => CFDocument.identifier === criteria.caseFrameworkGuid,
    )!,
    analysis: reports.formEquivalences.find(({ qtiTestId }) => qtiTestId === form)!,
    formEvidence: reports.formEvidence.find(({ qtiTestId }) => qtiTestId === form)!,
  };
}

/** A change of one member of an owner's entity. */
interface Change {
  readonly entity: EntityName;
  readonly id: string;
  readonly pointer: string;
  readonly value: unknown;
}

/** What is changed. */
interface Fact {
  readonly what: string;
  readonly changes: (held: Held) => readonly Change[];
}

function fact(entity: EntityName, idOf: (held: Held) => string) {
  /** @param value the new value; what a function makes of the facts is named by `name` */
  return (pointer: string, value: unknown, name = JSON.stringify(value)): Fact => ({
    what: `${entity} ${pointer} ${name}`,
    changes: (held) => [
      {
        entity,
        id: idOf(held),
        pointer,
        value: typeof value === 'function' ? (value as (of: Held) => unknown)(held) : value,
      },
    ],
  });
}

/** Several changes at once. */
function all(...facts: readonly Fact[]): Fact {
  return {
    what: facts.map(({ what }) => what).join(' and '),
    changes: (held) => facts.flatMap(({ changes }) => changes(held)),
  };
}

const attempt = fact('qti.attempt_evidence', (held) => held.attempt.attemptId);
const record = fact('results.settled_record', (held) => held.record.resultRecordId);
const criteria = fact('content.report_criteria', (held) => held.criteria.testSpecId);
const crosswalks = fact('content.crosswalks', (held) => held.crosswalks.testSpecId);
const framework = fact('case.package', (held) => held.framework.CFDocument.identifier);
const candidate = fact('oneroster.user', (held) => held.attempt.candidateSourcedId);
const form = fact('qti.form', ({ fixtures }) => fixtures.forms.equivalent);
const analysis = fact('analytics.form_equivalence', ({ fixtures }) => fixtures.forms.equivalent);
const formEvidence = fact('content.form_evidence', ({ fixtures }) => fixtures.forms.equivalent);
const classOf = fact('oneroster.class', ({ fixtures }) => fixtures.classes[0]!);
const school = fact('oneroster.school', ({ fixtures }) => fixtures.schools[0]!.schoolSourcedId);
const classRollup = fact('analytics.rollup', ({ fixtures }) =>
  cohortKey({ type: 'class', classSourcedId: fixtures.classes[0]! }),
);
const schoolRollup = fact('analytics.rollup', ({ fixtures }) =>
  cohortKey({ type: 'school_grade', ...fixtures.schools[0]! }),
);

/**
 * A problem in one line, or in what the answer differs from the sound one: by the path of a member its new value, which a function makes of
 * the old one; undefined removes it.
 */
type Patch = Readonly<Record<string, unknown>>;
export type Expected = string | Patch;

/** A fact of a route, and what that route returns. */
type Own = readonly [Fact, Expected];

const { missing, unavailable, disagree, notFound } = kinds;
const same: Patch = {};

type Entry = ReadinessReport['entries'][number];
/** The limitations that were there, and one that was not. */
const withOneMore = (before: readonly string[]): unknown =>
  expect.toSatisfy(
    (after: readonly string[]) =>
      after.length === before.length + 1 && before.every((limitation) => after.includes(limitation)),
  );
const limited = (entry: Entry): object => ({ ...entry, limitations: withOneMore(entry.limitations) });
const undecidedEntry = (entry: Entry): object => ({ ...limited(entry), decision: 'indeterminate' });
const undecidedAgain = (entry: Entry): object => ({
  ...entry,
  decision: 'indeterminate',
  limitations: expect.arrayContaining([...entry.limitations, expect.stringContaining('gate')]) as unknown,
});
/** Every entry is undecided, for one more reason than it has. */
const undecided: Patch = { entries: (entries: readonly Entry[]) => entries.map(undecidedEntry) };
/** As `undecided`, but that a failed gate stays failed. */
const noPass: Patch = {
  entries: (entries: readonly Entry[]) =>
    entries.map((entry) => (entry.decision === 'not_ready' ? limited(entry) : undecidedEntry(entry))),
};
/** The first entry is undecided for one more reason, and differs in what is given. */
const firstUndecided = (change: Partial<Entry> = {}): Expected => ({
  'entries/0': (entry: Entry) => ({ ...undecidedEntry(entry), ...change }),
});
const receipts: readonly SourceService[] = ['qti', 'results', 'content', 'oneroster', 'case', 'blueprint'];
const outdated = (owner: SourceService): Patch => ({
  [`sources/${receipts.indexOf(owner)}/status`]: expect.stringMatching(/^(?:stale|unknown)$/) as unknown,
});

const nowhere = '7f7a9c6e-0000-4000-8000-000000000000';
const undecidedGate: Patch = { status: 'indeterminate', 'gate/status': 'indeterminate' };

/** What the two routes on an attempt return for a fact: its report, and its readiness where that is another answer. */
type OnAttempt = readonly [Fact, report: Expected, readiness?: Expected];

/** An example of each way in which a fact reaches the routes. Every fact by itself: the tables beside the compositions. */
const onAttempts: Readonly<Record<Role, readonly OnAttempt[]>> = {
  gatePass: [
    [attempt('/status', 'submitted'), missing('qti')],
    [attempt('/resultRecordId', null), missing('results')],
    [record('/settled', false), missing('results')],
    [record('/score', null), missing('results'), noPass],
    [attempt('/outcomes', []), missing('qti'), noPass],
    [record('/mastery/0/caseGuid', nowhere), missing('case'), noPass],
    [attempt('/freshness', 'stale'), missing('qti'), { ...undecided, ...outdated('qti') }],
    [record('/freshness', 'unknown'), missing('results'), { ...undecided, ...outdated('results') }],
    [criteria('/freshness', 'stale'), missing('content'), { ...noPass, ...outdated('content') }],
    [
      // Who says that its answer is old contradicts nobody.
      all(record('/freshness', 'stale'), record('/gate/required', 1)),
      missing('results'),
      { ...undecided, ...outdated('results') },
    ],
    [criteria('/caseFrameworkChangedAt', '2999-01-01T00:00:00Z'), missing('case'), noPass],
    [
      framework('/CFItems', []),
      missing('case'),
      { ...noPass, 'sources/4/version': expect.any(String) as unknown },
    ],
    [
      criteria('/caseFrameworkGuid', 'nowhere'),
      missing('case'),
      {
        ...noPass,
        'sources/4/resourceId': 'nowhere',
        'sources/4/version': null,
        'sources/4/status': 'unavailable',
      },
    ],
    [record('/testKind', 'formative'), missing('results')],
    [record('/gate/criteriaVersion', 'another'), disagree('results')],
    [record('/gate/required', 1), disagree('results')],
    [record('/version', 'another'), disagree('results')],
    [attempt('/resultRecordVersion', 'another'), disagree('results')],
    [attempt('/resultRecordVersion', null), disagree('results')],
    // The second read asks for the criteria in this version, which Content does not hold.
    [record('/contentTestSpecVersion', 'another'), missing('content')],
    [attempt('/contentTestSpecVersion', 'not at Content'), missing('content')],
    [record('/attemptId', 'another'), unavailable('results')],
    [record('/candidateSourcedId', 'another'), unavailable('results')],
    [record('/contentTestSpecId', 'another'), unavailable('results')],
    [attempt('/candidateSourcedId', 'student-of-somebody-else'), notFound],
    [
      attempt('/candidateSourcedId', ({ fixtures }: Held) => fixtures.candidates.empty, 'another'),
      unavailable('results'),
    ],
    [candidate('/user/status', 'tobedeleted'), missing('oneroster')],
    [
      all(record('/score/value', 3.25), record('/score/minimum', null), record('/score/maximum', null)),
      { 'score/value': 3.25, 'score/minimum': null, 'score/maximum': null },
      same,
    ],
    [record('/gate/status', 'maybe'), { status: 'unknown', 'gate/status': 'unknown' }, undecided],
    [criteria('/criteria', null), undecidedGate, undecided],
  ],
  gateFail: [
    [record('/score', null), missing('results'), noPass],
    // The gate may have been passed since.
    [record('/freshness', 'stale'), missing('results'), { ...undecided, ...outdated('results') }],
    [criteria('/freshness', 'stale'), missing('content'), { ...noPass, ...outdated('content') }],
    [
      record(
        '/gate/gapCaseGuids',
        ({ record: { gate } }: Held) => [...gate!.gapCaseGuids, 'nowhere'],
        'more',
      ),
      missing('case'),
      noPass,
    ],
    // What did not matter to a failed gate speaks against a pass.
    [
      criteria('/criteria', null),
      undecidedGate,
      { entries: (entries: readonly Entry[]) => entries.map(undecidedAgain) },
    ],
  ],
  diagnostic: [
    [record('/diagnostic', null), missing('results')],
    [
      criteria('/externalScale', { normsSet: 'norms-1999' }),
      { 'diagnostic/extNormsSet': 'norms-1999' },
      same,
    ],
  ],
};

/** A page without the attempt, which it counts under a reason; the receipts of what it has read for nothing are left. */
const withheld = (reason: WithheldReason): Expected => ({
  data: [],
  withheld: [{ reason, count: 1 }],
  sources: expect.any(Array) as unknown,
});

/** What a page makes of an attempt; that it agrees with the report: page-and-report.contract.test.ts. */
const pageRows: readonly Own[] = [
  [candidate('/user/status', 'tobedeleted'), notFound],
  [record('/settled', false), withheld('unsettled')],
  [record('/freshness', 'stale'), withheld('stale')],
  [record('/contentTestSpecVersion', 'another'), unavailable('results')],
];

const slots = '/entries/0/qualifyingBlueprintSlotIds';
const readinessRows: readonly Own[] = [
  [crosswalks('/entries', []), notFound],
  [all(crosswalks('/entries', []), crosswalks('/freshness', 'stale')), missing('blueprint')],
  [crosswalks('/testSpecVersion', 'another'), missing('blueprint')],
  [
    // Of the first source test no number is made up; the others are as they were.
    crosswalks('/entries/0/coverageFraction', null),
    {
      entries: (entries: readonly Entry[]) => entries.slice(1),
      omittedEntries: (_: undefined, { entries }: ReadinessReport) =>
        entries.slice(0, 1).map(({ sourceTest, sourceVersion }) => ({
          sourceTest,
          sourceVersion,
          reason: 'coverage_missing',
        })),
    },
  ],
  [crosswalks('/entries/0/freshness', 'unknown'), firstUndecided()],
  [crosswalks(slots, []), firstUndecided({ qualifyingBlueprintSlotIds: [] })],
  [crosswalks(slots, ['slot', 'slot']), missing('blueprint')],
];

/** A failed gate is not ready, however stale the crosswalks; what else speaks against a pass is named all the same. */
const failedReadinessRows: readonly Own[] = [
  [
    crosswalks('/freshness', 'stale'),
    {
      entries: (entries: readonly Entry[]) =>
        entries.map((entry) =>
          entry.limitations.some((limitation) => limitation.includes('not current')) ? entry : limited(entry),
        ),
      ...outdated('blueprint'),
    },
  ],
];

/** What both cohorts depend on: the entity that the caller names, and the snapshot of exactly its scope. */
const cohortRows = (
  deleted: Fact,
  rollup: ReturnType<typeof fact>,
  ...scopes: readonly (readonly [pointer: string, value: unknown])[]
): readonly Own[] => [
  [deleted, notFound],
  [rollup('/freshness', 'unknown'), missing('analytics')],
  ...scopes.map(([pointer, value]): Own => [rollup(pointer, value), unavailable('analytics')]),
  [rollup('/populationCount', null), missing('analytics')],
  [
    rollup('/measures', [{ name: 'growth', value: -3.5, unit: 'points' }]),
    { measures: [{ name: 'growth', value: -3.5, unit: 'points' }] },
  ],
  [
    all(rollup('/suppression/status', 'redacted'), rollup('/populationCount', 4)),
    { 'suppression/status': 'unknown', measures: undefined, populationCount: 4 },
  ],
];
const classRows = cohortRows(
  classOf('/class/status', 'tobedeleted'),
  classRollup,
  ['/scope/classSourcedId', 'another'],
  ['/scope', { type: 'school_grade', schoolSourcedId: 's', grade: '05' }],
);
const schoolRows = cohortRows(
  school('/org/status', 'tobedeleted'),
  schoolRollup,
  ['/scope/grade', 'Other'],
  ['/scope/schoolSourcedId', 'another'],
  ['/scope', { type: 'class', classSourcedId: 'c' }],
);

const compared = '/comparisonQtiTestIds';
const equivalenceRows: readonly Own[] = [
  [form('/freshness', 'stale'), missing('qti')],
  [form('/contentTestSpecVersion', 'another'), notFound],
  [criteria('/freshness', 'stale'), missing('content')],
  [analysis('/freshness', 'stale'), missing('analytics')],
  // Which Content does not hold.
  [analysis('/contentTestSpecVersion', 'another'), missing('content')],
  [analysis('/contentTestSpecId', 'another'), missing('analytics')],
  // Content is asked for versions of the form's own test spec, never for those of another one.
  [
    all(analysis('/contentTestSpecId', 'another'), analysis('/contentTestSpecVersion', 'another')),
    missing('analytics'),
  ],
  [formEvidence('/freshness', 'stale'), missing('blueprint')],
  [formEvidence(compared, ['another']), missing('analytics')],
  [
    formEvidence(
      compared,
      ({ formEvidence: held }: Held) => [...held.comparisonQtiTestIds, 'another'],
      'one more',
    ),
    missing('analytics'),
  ],
  [
    formEvidence(
      compared,
      ({ formEvidence: held }: Held) => held.comparisonQtiTestIds.toReversed(),
      'reversed',
    ),
    same,
  ],
  [
    all(analysis('/decision', 'insufficient_evidence'), analysis('/evidenceArtifactUrl', null)),
    { decision: 'insufficient_evidence', evidenceArtifactUrl: null },
  ],
  // Whatever the blueprint says: Analytics alone decides.
  [
    all(analysis('/decision', 'not_equivalent'), formEvidence('/dokMatch', false)),
    { decision: 'not_equivalent', dokMatch: false },
  ],
];

/** A route and what it is asked for. */
export interface Subject {
  readonly route: Route;
  readonly role: Role;
  readonly call: (held: Held) => GatewayCall;
  readonly cases: readonly Contradiction[];
}

interface Contradiction {
  readonly what: string;
  readonly changes: Fact['changes'];
  readonly expected: Expected;
}

const own = (rows: readonly Own[]): readonly Contradiction[] =>
  rows.map(([{ what, changes }, expected]) => ({ what, changes, expected }));
const readinessOf = (role: Role): readonly Contradiction[] =>
  own(onAttempts[role].map(([one, report, readiness = report]) => [one, readiness]));

const attemptOf = ({ attempt: { attemptId } }: Held): GatewayCall => ({ path: { attemptId } });
const roles = ['gatePass', 'gateFail', 'diagnostic'] as const;

export const subjects: readonly Subject[] = [
  ...roles.map((role) => ({
    route: readAttemptReport,
    role,
    call: (held: Held) => ({ ...attemptOf(held), query: '?view=evidence' }),
    cases: own(onAttempts[role].map(([one, report]) => [one, report])),
  })),
  ...roles.map((role) => ({
    route: listCandidateReports,
    role,
    call: ({ attempt: { candidateSourcedId, qtiTestId } }: Held) => ({
      path: { candidateSourcedId },
      query: `?qtiTestId=${qtiTestId}`,
    }),
    cases: own(role === 'gatePass' ? pageRows : []),
  })),
  {
    route: readReadiness,
    role: 'gatePass',
    call: attemptOf,
    cases: [...readinessOf('gatePass'), ...own(readinessRows)],
  },
  {
    route: readReadiness,
    role: 'gateFail',
    call: attemptOf,
    cases: [...readinessOf('gateFail'), ...own(failedReadinessRows)],
  },
  {
    route: readClassCohort,
    role: 'gatePass',
    call: ({ fixtures }) => ({ path: { classSourcedId: fixtures.classes[0]! } }),
    cases: own(classRows),
  },
  {
    route: readSchoolGradeCohort,
    role: 'gatePass',
    call: ({ fixtures }) => ({ path: fixtures.schools[0]! }),
    cases: own(schoolRows),
  },
  {
    route: readEquivalence,
    role: 'gatePass',
    call: ({ fixtures }) => ({ path: { qtiTestId: fixtures.forms.equivalent } }),
    cases: own(equivalenceRows),
  },
];
