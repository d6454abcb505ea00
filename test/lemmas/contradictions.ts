import { expect } from 'vitest';
import type { EntityName } from '#local/platform/entities.ts';
import { cohortKey } from '#local/platform/tenant-state.ts';
import type { ReportsSeed } from '#local/platform/tenant-state.ts';
import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { EquivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
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
// at the platform emulator, and by its class what each route returns then.

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
  /** The owner that a problem names. */
  readonly owner: SourceService;
  readonly what: string;
  readonly changes: (held: Held) => readonly Change[];
}

function fact(entity: EntityName, owner: SourceService, idOf: (held: Held) => string) {
  /** @param value the new value; what a function makes of the facts is named by `name` */
  return (pointer: string, value: unknown, name = JSON.stringify(value)): Fact => ({
    owner,
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

/** Several changes at once: the problem names the owner of the first one. */
function all(...facts: readonly [Fact, ...Fact[]]): Fact {
  return {
    owner: facts[0].owner,
    what: facts.map(({ what }) => what).join(' and '),
    changes: (held) => facts.flatMap(({ changes }) => changes(held)),
  };
}

/** A change at one owner that leaves another one with the blame. */
const blaming = (owner: SourceService, changed: Fact): Fact => ({ ...changed, owner });

const attempt = fact('qti.attempt_evidence', 'qti', (held) => held.attempt.attemptId);
const record = fact('results.settled_record', 'results', (held) => held.record.resultRecordId);
const criteria = fact('content.report_criteria', 'content', (held) => held.criteria.testSpecId);
const crosswalks = fact('content.crosswalks', 'blueprint', (held) => held.crosswalks.testSpecId);
const framework = fact('case.package', 'case', (held) => held.framework.CFDocument.identifier);
const candidate = fact('oneroster.user', 'oneroster', (held) => held.attempt.candidateSourcedId);
const form = fact('qti.form', 'qti', ({ fixtures }) => fixtures.forms.equivalent);
const analysis = fact('analytics.form_equivalence', 'analytics', ({ fixtures }) => fixtures.forms.equivalent);
const formEvidence = fact('content.form_evidence', 'blueprint', ({ fixtures }) => fixtures.forms.equivalent);
const classOf = fact('oneroster.class', 'oneroster', ({ fixtures }) => fixtures.classes[0]!);
const school = fact('oneroster.school', 'oneroster', ({ fixtures }) => fixtures.schools[0]!.schoolSourcedId);
const classRollup = fact('analytics.rollup', 'analytics', ({ fixtures }) =>
  cohortKey({ type: 'class', classSourcedId: fixtures.classes[0]! }),
);
const schoolRollup = fact('analytics.rollup', 'analytics', ({ fixtures }) =>
  cohortKey({ type: 'school_grade', ...fixtures.schools[0]! }),
);

/**
 * A problem in one line, or in what the answer differs from the sound one: by the path of a member its new value, which a function makes of
 * the old one; undefined removes it.
 */
type Patch = Readonly<Record<string, unknown>>;
export type Expected = string | Patch;

/** What the routes on an attempt return: its report, its readiness, and the page that would list it alone. */
interface Answers {
  readonly report: Expected;
  readonly readiness: Expected;
  readonly page: Expected;
}
const alike = (answer: Expected): Answers => ({ report: answer, readiness: answer, page: answer });
/** What the class of a fact makes of it, by the owner to blame. */
type Class = (owner: SourceService) => Answers;

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

/** A page without the attempt, which it counts under a reason or not at all; what it has read for nothing leaves receipts or not. */
const emptyPage = (withheld?: readonly object[]): Expected => ({
  data: [],
  withheld,
  sources: expect.any(Array) as unknown,
});
/** A page whose gate is held against another version of the framework, and one that has no gate. */
const newFramework: Patch = {
  'data/0/sources/3/version': expect.any(String) as unknown,
  'sources/2/version': expect.any(String) as unknown,
};
const exceptOfCase = (sources: readonly SourceRef[]) => sources.filter(({ service }) => service !== 'case');
const withoutFramework: Patch = { 'data/0/sources': exceptOfCase, sources: exceptOfCase };
const withheld = (reason: WithheldReason): Expected => emptyPage([{ reason, count: 1 }]);

/** One rule per class. */
const classes = {
  /** QTI has not scored the attempt: it is no report. */
  unscored: (owner) => ({ ...alike(missing(owner)), page: emptyPage() }),
  /** Results has not settled the attempt. */
  unsettled: (owner) => ({ ...alike(missing(owner)), page: withheld('unsettled') }),
  /** A settled attempt lacks a fact that its summary shows. */
  lacking: (owner) => ({ report: missing(owner), readiness: noPass, page: withheld('unsettled') }),
  /** An owner says that its answer is old. A page does not read QTI. */
  stale: (owner) => ({
    report: missing(owner),
    // The gate may have been passed since the lookup or the record.
    readiness: { ...(owner === 'qti' || owner === 'results' ? undecided : noPass), ...outdated(owner) },
    page: owner === 'qti' ? same : withheld('stale'),
  }),
  /** A fact of the summary breaks its own bounds. */
  unusable: (owner) => ({ report: missing(owner), readiness: noPass, page: withheld('unverified') }),
  /** A fact that no page reads is missing or breaks its own bounds. */
  'lacking beyond the summary': (owner) => ({ report: missing(owner), readiness: noPass, page: same }),
  /** A framework that the gate stands on is old, or does not hold it up. */
  'old framework': (owner) => ({ report: missing(owner), readiness: noPass, page: withheld('stale') }),
  'not in CASE': (owner) => ({ report: missing(owner), readiness: noPass, page: withheld('unverified') }),
  /** Two facts cannot both be true, both of which a page reads. */
  contradiction: (owner) => ({ ...alike(missing(owner)), page: withheld('unverified') }),
  /** Two facts cannot both be true, one of which no page reads. */
  'contradiction beyond the summary': (owner) => ({ ...alike(missing(owner)), page: same }),
  /** Owners hold different versions. A page has no 409: the owner that does not converge cannot be used. */
  'other version': (owner) => ({ ...alike(disagree(owner)), page: unavailable(owner) }),
  /** An answer about something else. */
  'other entity': (owner) => alike(unavailable(owner)),
} satisfies Readonly<Record<string, Class>>;

/** A class by its name, or what one fact makes that no class decides. */
type Kind = keyof typeof classes | { readonly name: string; readonly answers: Class };

/** The owners’ facts make another report: the summary shows what the report shows, apart from mastery. */
function shown(report: Patch, readiness: Expected = same, onPage: Patch = same): Kind {
  const summary = Object.entries(report).filter(([path]) => !path.startsWith('mastery'));
  const page = Object.fromEntries(summary.map(([path, value]) => [`data/0/${path}`, value]));
  return { name: 'another report', answers: () => ({ report, readiness, page: { ...page, ...onPage } }) };
}
/** As `shown`, of a gate that is not decided any more. */
const shownUndecided = (report: Patch, readiness: Patch = undecided): Kind =>
  shown({ status: 'indeterminate', 'gate/status': 'indeterminate', ...report }, readiness);
const exception = (name: string, kind: keyof typeof classes, change: Partial<Answers>): Kind => ({
  name,
  answers: (owner) => ({ ...classes[kind](owner), ...change }),
});

interface Row {
  readonly role: Role;
  readonly kind: Kind;
  readonly fact: Fact;
}
const on =
  (role: Role) =>
  (kind: Kind, ...facts: readonly Fact[]): readonly Row[] =>
    facts.map((one) => ({ role, kind, fact: one }));
const [pass, fail, diagnostic] = [on('gatePass'), on('gateFail'), on('diagnostic')];

const rowsOf = ({ record: { mastery } }: Held) => mastery;
const gapsOf = ({ record: { gate } }: Held): readonly string[] => gate!.gapCaseGuids;
const scoreOf = ({ record: { score } }: Held): number => score!.value;
/** How many items have an outcome. */
const scoredItems = ({ attempt: { outcomes } }: Held): number =>
  new Set(outcomes.map(({ qtiItemId }) => qtiItemId)).size;
const tooFew = attempt('/administeredItemCount', (held: Held) => scoredItems(held) - 1, 'too few');
const nowhere = '7f7a9c6e-0000-4000-8000-000000000000';
const evidence = '/mastery/0/evidence';
/** Of the second mastery row, a child of the first one. */
const parent = '/mastery/1/parentCaseGuid';

/** The associations of CASE, and one that has the second row above itself. */
const aboveItself = ({ framework: { CFAssociations: links }, record: { mastery } }: Held) => {
  const node = { ...links[0]!.originNodeURI, identifier: mastery[1]!.caseGuid };
  return [...links, { ...links[0]!, originNodeURI: node, destinationNodeURI: node }];
};

/** The mastery rows, all in one state, with estimates that fit any state. */
const inState = (state: string) => (held: Held) =>
  rowsOf(held).map((row) => ({ ...row, state, uncertaintyKind: 'gut' }));
const firstGuid = (held: Held): readonly string[] => [rowsOf(held)[0]!.caseGuid];
const twiceCounted = (held: Held) => {
  const [piece] = rowsOf(held)[0]!.evidence;
  return [piece, { ...piece, contribution: -0.5 }];
};

/** What makes no report of a settled attempt, and leaves no pass. */
const shortfalls: readonly (readonly [Kind, ...Fact[]])[] = [
  [
    'lacking',
    record('/score', null),
    all(record('/score/unit', 'mastery_scale'), record('/score/scaleVersion', null)),
  ],
  [
    'stale',
    attempt('/freshness', 'stale'),
    attempt('/freshness', 'unknown'),
    record('/freshness', 'stale'),
    record('/freshness', 'unknown'),
    // Who says that its answer is old contradicts nobody.
    all(record('/freshness', 'stale'), record('/gate/required', 1)),
    criteria('/freshness', 'stale'),
  ],
  [
    'unusable',
    record('/score/maximum', (held: Held) => scoreOf(held) - 1, 'below the value'),
    record('/score/minimum', (held: Held) => scoreOf(held) + 1, 'above the value'),
  ],
  [
    'lacking beyond the summary',
    attempt('/outcomes', []),
    attempt('/outcomes', ({ attempt: { outcomes } }: Held) => outcomes.slice(1), 'without one'),
    attempt(
      '/outcomes',
      ({ attempt: { outcomes } }: Held) => [...outcomes, outcomes[0]],
      'one of them twice',
    ),
    record('/mastery/0/estimate', null),
    record('/mastery/0/threshold', null),
    record(evidence, []),
    record(
      evidence,
      (held: Held) => Array.from({ length: 501 }, () => rowsOf(held)[0]!.evidence[0]),
      'of 501 pieces',
    ),
    blaming('qti', record(`${evidence}/0/qtiItemId`, 'an-item-of-another-form')),
    blaming(
      'qti',
      record(
        `${evidence}/0/qtiOutcomeId`,
        (held: Held) => rowsOf(held)[0]!.evidence[1]!.qtiOutcomeId,
        'of another item',
      ),
    ),
    blaming('case', record('/mastery/0/caseGuid', nowhere)),
    blaming('case', record(parent, nowhere)),
  ],
  ['old framework', blaming('case', criteria('/caseFrameworkChangedAt', '2999-01-01T00:00:00Z'))],
];

/** What leaves a decision without something that it stands on, over a fail too, and what else is shown then. */
const unfounded: readonly (readonly [Patch, ...Fact[]])[] = [
  [{ 'gate/coverageEvidenceId': null }, record('/gate/coverageEvidenceId', null)],
  [{ 'gate/achieved': null }, record('/gate/achieved', null)],
  [
    {},
    record('/gate/status', 'indeterminate'),
    criteria('/criteria', null),
    criteria('/criteria/required', null),
    record('/gate/criteriaVersion', null),
    record('/gate/required', null),
    all(record('/gate/criteriaVersion', null), record('/gate/required', null)),
  ],
];

const attemptRows: readonly Row[] = [
  ...pass(
    'unscored',
    attempt('/status', 'submitted'),
    attempt('/status', 'marked_by_owl'),
    blaming('results', all(attempt('/status', 'submitted'), attempt('/resultRecordId', null))),
  ),
  ...pass('unsettled', blaming('results', attempt('/resultRecordId', null)), record('/settled', false)),
  ...shortfalls.flatMap(([kind, ...facts]) => [...pass(kind, ...facts), ...fail(kind, ...facts)]),
  ...pass(
    exception('lacking', 'lacking', { readiness: undecided }),
    all(criteria('/criteria', null), record('/gate', null)),
    all(criteria('/criteria/required', null), record('/gate/required', null)),
  ),
  ...pass(
    'contradiction',
    record('/testKind', 'formative'),
    record('/gate/status', 'fail'),
    record('/gate/gapCaseGuids', (held: Held) => [rowsOf(held)[0]!.caseGuid], 'of a pass'),
    all(record('/gate/achieved', 10), record('/gate/required', 80), criteria('/criteria/required', 80)),
    // Of a passed gate: gaps that are not listed, however many.
    record('/mastery/0/state', 'gap'),
    all(
      record('/mastery/0/state', 'gap'),
      criteria('/criteria/governedCaseGuids', firstGuid, 'of the first row'),
    ),
    record('/mastery', inState('gap'), 'all gaps'),
  ),
  ...pass(
    'contradiction beyond the summary',
    record('/mastery', (held: Held) => [...rowsOf(held), rowsOf(held)[0]], 'one row twice'),
    record(evidence, twiceCounted, 'one outcome twice'),
    all(
      record('/mastery/0/estimate', 0.01),
      record('/mastery/0/threshold', 0.9),
      record('/mastery/0/uncertainty', 0.05),
    ),
  ),
  ...pass(
    shown(
      { 'mastery/0/state': 'gap', 'mastery/0/uncertaintyKind': 'unknown' },
      {
        entries: (entries: readonly Entry[]) => entries.map(undecidedEntry),
      },
    ),
    all(
      record(
        '/mastery',
        (held: Held) => rowsOf(held).map((row, at) => (at === 0 ? inState('gap')(held)[0] : row)),
        'the first a gap',
      ),
      criteria('/criteria/governedCaseGuids', [nowhere]),
    ),
  ),
  // Nothing that is mastered is shown beside the pass.
  ...pass(shown({ mastery: [] }, undecided), record('/mastery', [])),
  ...pass(
    shown(
      {
        mastery: (rows: readonly object[]) =>
          rows.map((row) => ({
            ...row,
            state: 'insufficient_evidence',
            uncertaintyKind: 'unknown',
          })),
      },
      undecided,
    ),
    record('/mastery', inState('insufficient_evidence'), 'all without sufficient evidence'),
  ),
  ...fail(
    'contradiction beyond the summary',
    record('/mastery', (held: Held) => [...rowsOf(held), rowsOf(held)[0]], 'one row twice'),
    record('/mastery', inState('mastered'), 'all mastered'),
  ),
  // Short of the total without a gap.
  ...fail(
    shown({
      'gate/gapCaseGuids': [],
      mastery: (rows: readonly object[]) =>
        rows.map((row) => ({ ...row, state: 'not_yet', uncertaintyKind: 'unknown' })),
    }),
    all(record('/gate/gapCaseGuids', []), record('/mastery', inState('not_yet'), 'all not yet')),
  ),
  ...fail(
    'contradiction',
    record('/gate/status', 'pass'),
    all(
      record('/gate/gapCaseGuids', []),
      record('/gate/achieved', (held: Held) => held.record.gate!.required, 'at its threshold'),
    ),
    record('/gate/gapCaseGuids', (held: Held) => [...gapsOf(held), gapsOf(held)[0]], 'one of them twice'),
  ),
  ...pass(
    'contradiction beyond the summary',
    tooFew,
    record(parent, null),
    record(parent, (held: Held) => rowsOf(held)[1]!.caseGuid, 'another one than in CASE'),
  ),
  ...pass(
    exception('contradiction beyond the summary', 'contradiction beyond the summary', { page: newFramework }),
    blaming('results', framework('/CFAssociations', [])),
    all(
      framework('/CFAssociations', aboveItself, 'a standard above itself'),
      record(parent, (held: Held) => rowsOf(held)[1]!.caseGuid, 'itself'),
    ),
  ),
  ...fail(
    'contradiction',
    record('/gate/gapCaseGuids', (held: Held) => gapsOf(held).slice(1), 'without a gap of the rows'),
  ),
  ...pass('other version', record('/gate/criteriaVersion', 'another'), record('/gate/required', 1)),
  ...pass(
    // The second read asks for the criteria in this version, which Content does not hold.
    exception('other version', 'contradiction', { page: unavailable('results') }),
    blaming('content', record('/contentTestSpecVersion', 'another')),
  ),
  ...pass(
    'other entity',
    record('/attemptId', 'another'),
    record('/candidateSourcedId', 'another'),
    record('/contentTestSpecId', 'another'),
  ),

  ...pass(
    // The index has the version that Results holds.
    exception('other version', 'other version', {
      page: { 'data/0/sources/0/version': 'another', 'sources/0/version': expect.any(String) as unknown },
    }),
    record('/version', 'another'),
  ),
  ...pass(
    exception('other version', 'other version', { page: same }),
    blaming('results', attempt('/resultRecordVersion', 'another')),
    blaming('results', attempt('/resultRecordVersion', null)),
  ),
  ...pass('contradiction', blaming('content', attempt('/contentTestSpecVersion', 'not at Content'))),
  ...pass(
    { name: 'hidden', answers: () => ({ ...alike(notFound), page: emptyPage() }) },
    attempt('/candidateSourcedId', 'student-of-somebody-else'),
  ),
  ...pass(
    exception('other entity', 'other entity', { page: emptyPage() }),
    blaming(
      'results',
      attempt('/candidateSourcedId', ({ fixtures }: Held) => fixtures.candidates.empty, 'another'),
    ),
  ),
  ...pass(
    exception('off the roster', 'contradiction', { page: notFound }),
    candidate('/user/status', 'tobedeleted'),
  ),
  ...pass(
    exception('not in CASE', 'lacking beyond the summary', {
      readiness: { ...noPass, 'sources/4/version': expect.any(String) as unknown },
      page: newFramework,
    }),
    framework('/CFItems', []),
  ),
  ...pass(
    exception('not in CASE', 'not in CASE', {
      readiness: {
        ...noPass,
        'sources/4/resourceId': 'nowhere',
        'sources/4/version': null,
        'sources/4/status': 'unavailable',
      },
    }),
    blaming('case', criteria('/caseFrameworkGuid', 'nowhere')),
  ),
  ...fail(
    exception('not in CASE', 'not in CASE', {
      readiness: { ...noPass, 'sources/4/version': expect.any(String) as unknown },
    }),
    framework('/CFItems', []),
  ),
  ...fail(
    'not in CASE',
    blaming(
      'case',
      record('/gate/gapCaseGuids', (held: Held) => [...gapsOf(held), 'nowhere'], 'one not in CASE'),
    ),
  ),

  ...pass(
    shown({}),
    criteria(
      '/caseFrameworkChangedAt',
      ({ framework: { CFDocument } }: Held) => CFDocument.lastChangeDateTime,
      'the instant of the framework',
    ),
  ),
  ...pass(shown({ 'score/unit': 'unknown' }), record('/score/unit', 'owls')),
  ...pass(shown({ 'mastery/0/state': 'unknown' }), record('/mastery/0/state', 'enlightened')),
  ...pass(shown({ 'mastery/0/uncertaintyKind': 'unknown' }), record('/mastery/0/uncertaintyKind', 'gut')),
  ...pass(shown({ status: 'unknown', 'gate/status': 'unknown' }, undecided), record('/gate/status', 'maybe')),
  ...pass(
    shown({ testKind: 'unknown', gate: null }, undecided, withoutFramework),
    all(record('/testKind', 'quiz'), criteria('/testKind', 'quiz')),
  ),
  ...pass(
    shown({ 'score/value': 3.25, 'score/minimum': null, 'score/maximum': null }),
    all(record('/score/value', 3.25), record('/score/minimum', null), record('/score/maximum', null)),
  ),
  ...pass(
    shown({ [`mastery/0/evidence/0/resultComponentId`]: null }),
    record(`${evidence}/0/resultComponentId`, null),
  ),
  ...pass(
    shown({ [`mastery/0/evidence/0/contribution`]: -7.125 }),
    record(`${evidence}/0/contribution`, -7.125),
  ),
  ...unfounded.flatMap(([report, ...facts]) => [
    ...pass(shownUndecided(report), ...facts),
    // What did not matter to a failed gate speaks against a pass.
    ...fail(
      shownUndecided(report, { entries: (entries: readonly Entry[]) => entries.map(undecidedAgain) }),
      ...facts,
    ),
  ]),
  ...pass(shownUndecided({ 'gate/achieved': null, 'gate/coverageEvidenceId': null }), record('/gate', null)),
  ...[pass, fail].flatMap((gate) =>
    gate(
      shown({ 'gate/achieved': expect.any(Number) as unknown }),
      record('/gate/achieved', (held: Held) => held.record.gate!.required, 'at its threshold'),
    ),
  ),

  ...diagnostic('lacking', record('/diagnostic', null)),
  ...diagnostic(
    'unusable',
    all(attempt('/administeredItemCount', 0), attempt('/outcomes', []), record('/mastery', [])),
  ),
  ...diagnostic(
    exception('contradiction', 'contradiction', {
      page: { 'data/0/diagnostic/administeredItemCount': (count: number) => count - 1 },
    }),
    tooFew,
  ),
  ...diagnostic(
    'contradiction',
    record('/score/scaleVersion', 'another'),
    record('/score/value', (held: Held) => scoreOf(held) + 0.01, 'another one than the diagnostic’s'),
    record('/diagnostic/scaleScore', (held: Held) => Math.round(scoreOf(held)) + 1, 'wrongly rounded'),
  ),
  ...diagnostic(
    shown({ 'diagnostic/administeredItemCount': (count: number) => count + 1 }),
    attempt('/administeredItemCount', (held: Held) => scoredItems(held) + 1, 'one more'),
  ),
  ...diagnostic(
    shown({ 'diagnostic/scaleScore': (score: number) => Math.round(score) }),
    record('/diagnostic/scaleScore', (held: Held) => Math.round(scoreOf(held)), 'rounded'),
  ),
  ...diagnostic(
    shown({ 'score/unit': 'percent', 'score/value': 61 }),
    all(record('/score/unit', 'percent'), record('/score/value', 61)),
  ),
  ...diagnostic(
    shown({ 'diagnostic/stoppingReason': 'unknown' }),
    record('/diagnostic/stoppingReason', 'boredom'),
  ),
  ...diagnostic(
    shown({ 'diagnostic/extNormsSet': 'norms-1999' }),
    criteria('/externalScale', { normsSet: 'norms-1999' }),
  ),
  ...diagnostic(
    shown({}),
    record(
      '/gate',
      ({ record: { score } }: Held) => ({
        status: 'fail',
        criteriaVersion: 'another',
        achieved: score!.value,
        required: 2,
        gapCaseGuids: [],
        coverageEvidenceId: null,
      }),
      'a decision of a kind that has none',
    ),
  ),
];

/** A fact of a route that alone depends on it, and what that route returns. */
type Own = readonly [Fact, Expected];

const entriesOf = ({ crosswalks: { entries } }: Held) => entries;
const uncovered = (held: Held): unknown =>
  entriesOf(held).map((entry) => ({ ...entry, coverageFraction: null }));
const unmentioned = (held: Held): unknown =>
  entriesOf(held).map(({ coverageFraction, ...entry }, at) =>
    at === 0 ? entry : { ...entry, coverageFraction },
  );
const manyEntries = (held: Held): unknown =>
  Array.from({ length: 101 }, (_, at) => ({ ...entriesOf(held)[0], sourceVersion: `${at}` }));
/** The first source test, of which no number is made up, beside the others as they were. */
const withoutFirst: Expected = {
  entries: (entries: readonly Entry[]) => entries.slice(1),
  omittedEntries: (_: undefined, { entries }: ReadinessReport) =>
    entries.slice(0, 1).map(({ sourceTest, sourceVersion }) => ({
      sourceTest,
      sourceVersion,
      reason: 'coverage_missing',
    })),
};
const first = '/entries/0';
const slots = `${first}/qualifyingBlueprintSlotIds`;

const readinessRows: readonly Own[] = [
  [crosswalks('/entries', []), notFound],
  [all(crosswalks('/entries', []), crosswalks('/freshness', 'stale')), missing('blueprint')],
  [crosswalks('/entries', manyEntries, '101 of them'), missing('blueprint')],
  [
    crosswalks('/entries', (held: Held) => [...entriesOf(held), entriesOf(held)[0]], 'one of them twice'),
    missing('blueprint'),
  ],
  [crosswalks('/testSpecVersion', 'another'), missing('blueprint')],
  [crosswalks(`${first}/coverageFraction`, null), withoutFirst],
  [crosswalks('/entries', unmentioned, 'the first without its coverage'), withoutFirst],
  [crosswalks('/entries', uncovered, 'without coverage'), missing('blueprint')],
  [crosswalks(`${first}/coverageFraction`, 0.999999), firstUndecided({ coverageFraction: 0.999999 })],
  [crosswalks(`${first}/dokDominance`, null), firstUndecided({ dokDominance: 'indeterminate' })],
  [crosswalks(`${first}/dokDominance`, 'profound'), firstUndecided({ dokDominance: 'indeterminate' })],
  [crosswalks(`${first}/dokDominance`, 'not_satisfied'), firstUndecided({ dokDominance: 'not_satisfied' })],
  [crosswalks(`${first}/freshness`, 'stale'), firstUndecided()],
  [crosswalks(`${first}/freshness`, 'unknown'), firstUndecided()],
  [crosswalks(slots, []), firstUndecided({ qualifyingBlueprintSlotIds: [] })],
  [crosswalks(slots, ['slot', 'slot']), missing('blueprint')],
  [
    all(crosswalks(slots, []), crosswalks(`${first}/limitations`, Array(50).fill('No.'), '50 of them')),
    {
      'entries/0': (entry: Entry) => ({
        ...entry,
        decision: 'indeterminate',
        qualifyingBlueprintSlotIds: [],
        limitations: [
          ...Array<string>(49).fill('No.'),
          'No slot of the blueprint qualifies for the source test. No.',
        ],
      }),
    },
  ],
  [
    all(
      crosswalks(slots, []),
      crosswalks(`${first}/limitations`, Array(51).fill('N'.repeat(480)), '51 long ones'),
    ),
    missing('blueprint'),
  ],
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

const withoutMeasures = (status: string): Patch => ({
  'suppression/status': status,
  measures: undefined,
});
const suppressed = '/suppression/status';

interface Shown {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}
const share = (value: number): Shown => ({ name: 'share_proficient', value, unit: 'proportion' });
const count = (value: number): Shown => ({ name: 'tardies', value, unit: 'count' });
const contradictoryMeasures: readonly (readonly Shown[])[] = [
  [share(-0.7)],
  [share(1.7)],
  [{ name: 'mean_percent_correct', value: 1e21, unit: 'percent' }],
  [share(0.5), share(0.6)],
  [count(-1)],
  [count(1.5)],
];
const possibleMeasures: readonly (readonly Shown[])[] = [
  [share(0)],
  [share(1)],
  // Growth below zero, and a share in another unit.
  [
    { name: 'growth', value: -3.5, unit: 'points' },
    { name: 'share_proficient', value: 70, unit: 'percent' },
  ],
];

/** What both cohorts depend on: the entity that the caller names, and the snapshot of exactly its scope. */
const cohortRows = (
  deleted: Fact,
  rollup: ReturnType<typeof fact>,
  ...scopes: readonly (readonly [pointer: string, value: unknown])[]
): readonly Own[] => [
  [deleted, notFound],
  [rollup('/freshness', 'stale'), missing('analytics')],
  [rollup('/freshness', 'unknown'), missing('analytics')],
  ...scopes.map(([pointer, value]): Own => [rollup(pointer, value), unavailable('analytics')]),
  [rollup('/populationCount', null), missing('analytics')],
  [all(rollup('/populationCount', null), rollup(suppressed, 'suppressed')), missing('analytics')],
  ...contradictoryMeasures.map((measures): Own => [rollup('/measures', measures), missing('analytics')]),
  ...possibleMeasures.map((measures): Own => [rollup('/measures', measures), { measures }]),
  [rollup('/populationCount', 0), missing('analytics')],
  [
    all(rollup('/populationCount', 0), rollup('/measures', [count(0)])),
    { populationCount: 0, measures: [count(0)] },
  ],
  [rollup('/asOf', '2999-01-01T00:00:00Z'), missing('analytics')],
  // Values that are not shown are not judged.
  [
    all(rollup(suppressed, 'suppressed'), rollup('/measures', contradictoryMeasures[0])),
    withoutMeasures('suppressed'),
  ],
  [rollup(suppressed, 'suppressed'), withoutMeasures('suppressed')],
  [rollup(suppressed, 'redacted'), withoutMeasures('unknown')],
  [
    all(rollup(suppressed, 'suppressed'), rollup('/populationCount', 4)),
    { ...withoutMeasures('suppressed'), populationCount: 4 },
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
const artifact = '/evidenceArtifactUrl';
const otherSizes = ({ analysis: { sampleSizes } }: Held): object =>
  Object.fromEntries([['another', 1], ...Object.entries(sampleSizes).slice(1)]);
/** Forms that both owners name, each with its sample size, and as many sizes as names. */
const alsoAtBlueprint = (forms: (held: Held) => readonly string[], name: string): Fact => {
  const sizes = (held: Held): object => {
    const named = [held.analysis.qtiTestId, ...forms(held)];
    return Object.fromEntries(
      [...new Set([...named, 'another'])].slice(0, named.length).map((id) => [id, 1]),
    );
  };
  return all(
    analysis(compared, forms, name),
    formEvidence(compared, forms, name),
    analysis('/sampleSizes', sizes, 'of them'),
  );
};

const beyondTolerance = analysis(
  '/tolerance',
  ({ analysis: { statistic } }: Held) => statistic - 0.001,
  'less than the statistic',
);
const beyond: Patch = { tolerance: (_: number, { statistic }: EquivalenceReport) => statistic - 0.001 };
const noSample = (): Fact =>
  analysis(
    '/sampleSizes',
    ({ analysis: { sampleSizes } }: Held) =>
      Object.fromEntries(Object.keys(sampleSizes).map((form) => [form, 0])),
    'all of them 0',
  );

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
  ...[
    alsoAtBlueprint(() => [], 'none'),
    alsoAtBlueprint(
      ({ analysis: { comparisonQtiTestIds } }) => [
        ...comparisonQtiTestIds,
        ...comparisonQtiTestIds.slice(0, 1),
      ],
      'one twice',
    ),
    alsoAtBlueprint(({ fixtures }) => [fixtures.forms.equivalent], 'the form itself'),
  ].map((compares): Own => [compares, missing('analytics')]),
  [
    analysis(
      '/confidenceInterval/upper',
      (held: Held) => held.analysis.statistic - 0.001,
      'below the statistic',
    ),
    missing('analytics'),
  ],
  [
    analysis(
      '/confidenceInterval/lower',
      (held: Held) => held.analysis.statistic + 0.001,
      'above the statistic',
    ),
    missing('analytics'),
  ],
  ...(['lower', 'upper'] as const).map((end): Own => [
    analysis(`/confidenceInterval/${end}`, (held: Held) => held.analysis.statistic, 'at the statistic'),
    { [`confidenceInterval/${end}`]: (_: number, { statistic }: EquivalenceReport) => statistic },
  ]),
  [analysis('/tolerance', -0.001), missing('analytics')],
  [analysis('/sampleSizes', {}), missing('analytics')],
  [analysis('/sampleSizes/another', 4), missing('analytics')],
  [analysis('/sampleSizes', otherSizes, 'of another form in the place of one'), missing('analytics')],
  [analysis(artifact, null), missing('analytics')],
  ...['not_equivalent', 'toss_a_coin'].map((decision): Own => [
    all(analysis('/decision', decision), analysis(artifact, null)),
    missing('analytics'),
  ]),
  ...[
    'http://analytics.example/a',
    'javascript:alert(1)',
    'https://user@analytics.example/a',
    'https://:pass@analytics.example/a',
    'https://',
    ' https://analytics.example/a',
    'https://analytics.example/a?X-Amz-Signature=x',
    'https://[::1]/a',
    '',
  ].map((url): Own => [analysis(artifact, url), missing('analytics')]),
  [
    all(analysis('/decision', 'insufficient_evidence'), analysis(artifact, null)),
    { decision: 'insufficient_evidence', evidenceArtifactUrl: null },
  ],
  [analysis('/decision', 'toss_a_coin'), { decision: 'unknown' }],
  // Whatever the blueprint says: Analytics alone decides.
  [
    formEvidence('/coverageMatch', false),
    { coverageMatch: false, limitations: [expect.stringContaining('do not cover it alike')] },
  ],
  [
    all(formEvidence('/dokMatch', false), formEvidence('/coverageMatch', false)),
    {
      coverageMatch: false,
      dokMatch: false,
      limitations: [
        expect.stringContaining('do not cover it alike'),
        expect.stringContaining('depth of knowledge'),
      ],
    },
  ],
  [
    all(analysis('/decision', 'not_equivalent'), formEvidence('/dokMatch', false)),
    { decision: 'not_equivalent', dokMatch: false },
  ],
  [beyondTolerance, missing('analytics')],
  // A ratio is not bounded by the tolerance; two other decisions are possible at any statistic.
  [all(beyondTolerance, analysis('/statisticKind', 'ratio')), beyond],
  [all(beyondTolerance, analysis('/decision', 'not_equivalent')), { ...beyond, decision: 'not_equivalent' }],
  [
    analysis('/tolerance', ({ analysis: { statistic } }: Held) => statistic, 'the statistic'),
    { tolerance: (_: number, { statistic }: EquivalenceReport) => statistic },
  ],
  [noSample(), missing('analytics')],
  [
    all(noSample(), analysis('/decision', 'insufficient_evidence')),
    {
      decision: 'insufficient_evidence',
      sampleSizes: (sizes: Record<string, number>) =>
        Object.fromEntries(Object.keys(sizes).map((form) => [form, 0])),
    },
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
const ofAttempts = (role: Role, route: keyof Answers): readonly Contradiction[] =>
  attemptRows
    .filter((row) => row.role === role)
    .map(({ kind, fact: { what, changes, owner } }) => {
      const [name, answers] = typeof kind === 'string' ? [kind, classes[kind]] : [kind.name, kind.answers];
      return { what: `${name}: ${what}`, changes, expected: answers(owner)[route] };
    });

const attemptOf = ({ attempt: { attemptId } }: Held): GatewayCall => ({ path: { attemptId } });
const roles = ['gatePass', 'gateFail', 'diagnostic'] as const;

export const subjects: readonly Subject[] = [
  ...roles.map((role) => ({
    route: readAttemptReport,
    role,
    call: (held: Held) => ({ ...attemptOf(held), query: '?view=evidence' }),
    cases: ofAttempts(role, 'report'),
  })),
  ...roles.map((role) => ({
    route: listCandidateReports,
    role,
    call: ({ attempt: { candidateSourcedId, qtiTestId } }: Held) => ({
      path: { candidateSourcedId },
      query: `?qtiTestId=${qtiTestId}`,
    }),
    cases: ofAttempts(role, 'page'),
  })),
  {
    route: readReadiness,
    role: 'gatePass',
    call: attemptOf,
    cases: [...ofAttempts('gatePass', 'readiness'), ...own(readinessRows)],
  },
  {
    route: readReadiness,
    role: 'gateFail',
    call: attemptOf,
    cases: [...ofAttempts('gateFail', 'readiness'), ...own(failedReadinessRows)],
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
