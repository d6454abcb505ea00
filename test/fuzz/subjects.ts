/** The read routes of reports that are fuzzed, each with truthful answers of its owners to start from. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type * as z from 'zod';
import { readAttemptReportOperation } from '#functions/reports/endpoints/read-attempt-report/operation.ts';
import { readClassCohortOperation } from '#functions/reports/endpoints/read-class-cohort/operation.ts';
import { readEquivalenceOperation } from '#functions/reports/endpoints/read-equivalence/operation.ts';
import { readReadinessOperation } from '#functions/reports/endpoints/read-readiness/operation.ts';
import { readSchoolGradeCohortOperation } from '#functions/reports/endpoints/read-school-grade-cohort/operation.ts';
import type { ReportDependencies } from '#functions/reports/endpoints/support/owners.ts';
import type { AttemptFacts } from '#functions/reports/facts/facts.ts';
import { attemptReport, view, type View } from '#shared/contract/reports/attempt-report.ts';
import { cohortReport, grade } from '#shared/contract/reports/cohort-report.ts';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Operation, Principal } from '#shared/http/operation.ts';
import type { operations } from '#shared/platform/all-operations.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { principalWith } from '#test/support/principal.ts';
import {
  attemptFacts,
  instant,
  readinessFacts,
  reference,
  tenantId,
  text,
} from '#test/support/report-facts.ts';
import { dependenciesOver, requestOf, scriptOf, scriptedOwners } from '#test/support/scripted-owners.ts';
import type { OperationName, Script } from '#test/support/scripted-owners.ts';

/** When every draw is asked: epoch milliseconds. */
export const NOW = Date.UTC(2026, 2, 2, 10, 15, 30, 412);

/** The owners' answers by the operation that reads them, as JSON; null: the owner does not hold it. */
export type Answers = Readonly<Partial<Record<OperationName, unknown>>>;

type Rows = typeof operations;
type WholeAnswer<Row> = Row extends { wholeAnswer: infer Whole }
  ? Whole
  : Row extends { answer: infer Answer }
    ? Answer
    : never;
/** The answers as the schemas of their owners take them. Readiness may go without a framework. */
export type Facts = {
  readonly [Name in keyof Rows]:
    | z.output<WholeAnswer<Rows[Name]>>
    | (Name extends 'readPackage' ? null : never);
};

/** A request, and what the owners answer to it. */
export interface Case {
  readonly claims: Partial<Principal>;
  readonly path: Readonly<Record<string, string>>;
  readonly view?: View;
  readonly answers: Answers;
}

/** What a route returns: a body, or a problem in one line. */
export type Answer = { readonly body: unknown } | { readonly problem: string };

/** Asks a route. */
export type Ask = (asked: Case) => Promise<Answer>;

/** A route that is fuzzed. */
export interface Subject {
  /** Truthful facts: the route answers each of them. */
  readonly cases: Arbitrary<Case>;
  readonly ask: Ask;
  readonly response:
    | typeof attemptReport
    | typeof readinessReport
    | typeof cohortReport
    | typeof equivalenceReport;
}

/** Asks an operation whose owners give the answers of a case. An exception is the 500 that the pipeline would make of it. */
function over<R extends Route>(operationOver: (dependencies: ReportDependencies) => Operation<R>): Ask {
  return async ({ claims, path, view: shown, answers }) => {
    const script = Object.fromEntries(
      Object.entries(answers).map(([name, value]) => [
        name,
        value === null ? ({ kind: 'not-found' } as const) : { value },
      ]),
    ) satisfies Script;
    const operation = operationOver(dependenciesOver(() => scriptedOwners(script), { now: () => NOW }));
    const query = shown === undefined ? {} : { view: shown };
    try {
      const result = await operation(requestOf<R>(NOW, { principal: principalWith(claims), path, query }));
      if (result.ok) return { body: result.value.body };
      const { status, code, dependency, invariant } = result.error;
      return {
        problem: [status, code, dependency, invariant].filter((part) => part !== undefined).join(' '),
      };
    } catch (error) {
      return { problem: `500 ${String(error)}` };
    }
  };
}

const values = (script: Readonly<Record<string, { readonly value: object }>>): Answers =>
  Object.fromEntries(Object.entries(script).map(([name, { value }]) => [name, value]));

const eventIri = 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000001';
const thing = { id: eventIri, type: 'Thing' };
const event = {
  ...{
    '@context': CALIPER_CONTEXT,
    id: eventIri,
    type: 'GradeEvent',
    actor: thing,
    action: 'Graded',
    object: thing,
  },
  eventTime: '2026-03-02T10:15:30.412Z',
};
const stored = { tenantId, eventIri, event };

/** What the owners answer of an attempt, with the event of its completion or without. */
function answersOn(facts: Omit<AttemptFacts, 'enrichments'>, isPublished: boolean): Answers {
  const answers = values(scriptOf({ ...facts, enrichments: [] }));
  const record = { ...facts.record.value, completionEventIri: isPublished ? eventIri : null };
  return { ...answers, readSettledRecord: record, readEvidenceAck: isPublished ? stored : null };
}

function aboutAttempt({
  evidence: { value },
}: Pick<AttemptFacts, 'evidence'>): Pick<Case, 'claims' | 'path'> {
  return { claims: { studentIds: [value.candidateSourcedId] }, path: { attemptId: value.attemptId } };
}

const report = fc
  .tuple(
    attemptFacts(),
    fc.boolean(),
    fc.constantFrom(...view.options, 'evidence' as const, 'evidence' as const),
  )
  .map(([facts, isPublished, shown]) => ({
    ...aboutAttempt(facts),
    view: shown,
    answers: answersOn(facts, isPublished),
  }));

const readiness = readinessFacts.map((facts) => ({
  ...aboutAttempt(facts),
  answers: {
    ...answersOn(facts, false),
    readReadinessCrosswalks: facts.crosswalks.value,
  },
}));

const past = instant.filter((time) => Date.parse(time) <= NOW);
const measures = fc.uniqueArray(
  fc.oneof(
    fc.record({
      name: fc.constantFrom('share_proficient', 'proportion_correct', 'growth'),
      unit: fc.constant('proportion'),
      value: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ name: text, unit: fc.constant('count'), value: fc.nat() }),
  ),
  { maxLength: 4, selector: ({ name, unit }) => JSON.stringify([name, unit]) },
);

/** The rollup of a scope; of a suppressed one Analytics publishes no values. */
function rollup(scope: object): Arbitrary<object> {
  return fc
    .record({
      ...{ rollupId: reference, version: text, formulaVersion: text, asOf: past, measures },
      populationCount: fc.nat(1_000).map((count) => count + 1),
      status: fc.constantFrom('not_suppressed', 'not_suppressed', 'suppressed', 'veiled'),
    })
    .map(({ status, ...part }) => ({
      ...{ tenantId, ...part, freshness: 'current', scope, suppression: { status } },
      measures: status === 'not_suppressed' ? part.measures : [],
    }));
}

const ofClass = reference.chain((classSourcedId) =>
  rollup({ type: 'class', classSourcedId }).map((readClassRollup) => ({
    claims: { classSourcedIds: [classSourcedId] },
    path: { classSourcedId },
    answers: { readClass: { class: { sourcedId: classSourcedId, status: 'active' } }, readClassRollup },
  })),
);

const ofSchoolGrade = fc.tuple(reference, fc.constantFrom(...grade.options)).chain(([schoolSourcedId, of]) =>
  rollup({ type: 'school_grade', schoolSourcedId, grade: of }).map((readSchoolGradeRollup) => ({
    claims: { schoolSourcedIds: [schoolSourcedId] },
    path: { schoolSourcedId, grade: of },
    answers: { readSchool: { org: { sourcedId: schoolSourcedId, status: 'active' } }, readSchoolGradeRollup },
  })),
);

const small = fc.integer({ min: -40, max: 40 }).map((hundredths) => hundredths / 100);
const equivalence = fc
  .tuple(
    fc.uniqueArray(reference, { minLength: 2, maxLength: 4 }),
    fc.record({
      ...{
        testSpecId: reference,
        testSpecVersion: text,
        equivalenceId: reference,
        formEvidenceId: reference,
      },
      ...{ criteriaOf: attemptFacts(), version: text, method: text, analysisVersion: text },
      ends: fc.tuple(small, small, small).map((three) => three.toSorted((a, b) => a - b)),
      decision: fc.constantFrom('equivalent', 'not_equivalent', 'insufficient_evidence', 'pending'),
      size: fc.integer({ min: 1, max: 900 }),
      isDifference: fc.boolean(),
      ...{ coverageMatch: fc.boolean(), dokMatch: fc.boolean() },
    }),
  )
  .map(([[qtiTestId = '', ...comparisonQtiTestIds], part]) => {
    const { testSpecId, testSpecVersion, version, ends, decision, size } = part;
    const [lower = 0, statistic = 0, upper = 0] = ends;
    const versioned = { tenantId, version, freshness: 'current' };
    const governed = { contentTestSpecId: testSpecId, contentTestSpecVersion: testSpecVersion };
    const forms = [qtiTestId, ...comparisonQtiTestIds];
    return {
      claims: {},
      path: { qtiTestId },
      answers: {
        readForm: { ...versioned, qtiTestId, ...governed },
        readFormEquivalence: {
          ...{
            ...versioned,
            equivalenceId: part.equivalenceId,
            qtiTestId,
            comparisonQtiTestIds,
            ...governed,
          },
          sampleSizes: Object.fromEntries(forms.map((form, at) => [form, size + at])),
          ...{ method: part.method, analysisVersion: part.analysisVersion },
          ...(part.isDifference ? { statisticKind: 'difference' } : {}),
          ...{ statistic, confidenceInterval: { lower, upper }, tolerance: 0.4, decision },
          evidenceArtifactUrl: 'https://analytics.example/artifacts/1',
        },
        readReportCriteria: { ...part.criteriaOf.criteria.value, testSpecId, version: testSpecVersion },
        readFormEvidence: {
          ...{ ...versioned, testSpecId, testSpecVersion, formEvidenceId: part.formEvidenceId, qtiTestId },
          ...{ comparisonQtiTestIds, coverageMatch: part.coverageMatch, dokMatch: part.dokMatch },
        },
      },
    };
  });

/** Every route that is fuzzed. The page of a candidate is not: its rows are the reports' own. */
export const subjects = {
  report: { cases: report, ask: over(readAttemptReportOperation), response: attemptReport },
  readiness: { cases: readiness, ask: over(readReadinessOperation), response: readinessReport },
  classCohort: { cases: ofClass, ask: over(readClassCohortOperation), response: cohortReport },
  schoolCohort: { cases: ofSchoolGrade, ask: over(readSchoolGradeCohortOperation), response: cohortReport },
  equivalence: { cases: equivalence, ask: over(readEquivalenceOperation), response: equivalenceReport },
} as const satisfies Readonly<Record<string, Subject>>;

export type SubjectName = keyof typeof subjects;
