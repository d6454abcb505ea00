import fc from 'fast-check';
import { expect, it } from 'vitest';
import { notFound } from '#functions/reports/sources/problems.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err } from '#shared/kernel/result.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { dependenciesOver, requestOf, scriptedOwners } from '#test/support/scripted-owners.ts';
import type { ReportDependencies } from './answer-report.ts';
import { listCandidateReportsOperation } from './list-candidate-reports/operation.ts';
import { openListCursor } from './list-cursor.ts';
import { readAttemptReportOperation } from './read-attempt-report/operation.ts';
import { readClassCohortOperation } from './read-class-cohort/operation.ts';
import { readEquivalenceOperation } from './read-equivalence/operation.ts';
import { readReadinessOperation } from './read-readiness/operation.ts';
import { readSchoolGradeCohortOperation } from './read-school-grade-cohort/operation.ts';

const NOW = Date.parse('2026-03-01T08:00:00Z');
const allowed = principalWith({
  studentIds: ['student-1'],
  classSourcedIds: ['class-1'],
  schoolSourcedIds: ['school-1'],
});

/** Sends a request to an operation. */
function asking<R extends Route>(
  bind: (dependencies: ReportDependencies) => Operation<R>,
  path: object,
  defaults: object = {},
) {
  return (dependencies: ReportDependencies, principal = allowed, query: object = {}) =>
    bind(dependencies)(requestOf<R>(NOW, { principal, path, query: { ...defaults, ...query } }));
}

const list = asking(
  (dependencies) => listCandidateReportsOperation({ ...dependencies, keys: createMemoryKeyRing() }),
  { candidateSourcedId: 'student-1' },
  { sort: '-modifiedAt', limit: 25 },
);
const routes = [
  ['a candidate', list],
  ['a class', asking(readClassCohortOperation, { classSourcedId: 'class-1' })],
  ['a school', asking(readSchoolGradeCohortOperation, { schoolSourcedId: 'school-1', grade: '05' })],
  ['an attempt', asking(readAttemptReportOperation, { attemptId: 'attempt-1' }, { view: 'summary' })],
  ['readiness', asking(readReadinessOperation, { attemptId: 'attempt-1' })],
  ['a form', asking(readEquivalenceOperation, { qtiTestId: 'form-1' })],
] as const;

it.each(routes)(
  '%s without a usable service profile is 503, and no owner is asked [RP-334]',
  async (_, ask) => {
    const owners = scriptedOwners({});
    const dependencies = dependenciesOver(() => owners, { fault: { kind: 'missing', transient: false } });
    expect(await ask(dependencies)).toMatchObject(
      err({ status: 503, code: 'dependency-unavailable', dependency: 'unknown', retryable: true }),
    );
    expect(owners.asked).toEqual([]);
  },
);

it.each(routes.slice(0, 3))(
  '%s that the claims do not name is the one 404 before the profile is looked for [RP-313, RP-316]',
  async (_, ask) => {
    const dependencies = dependenciesOver(() => scriptedOwners({}), {
      fault: { kind: 'missing', transient: false },
    });
    expect(await ask(dependencies, principalWith({}))).toEqual(err(notFound()));
  },
);

it('a cursor that was not given for the request is refused whoever asks, before the claims are looked at [RP-303, RP-331]', async () => {
  const owners = scriptedOwners({});
  const principals = fc.constantFrom(allowed, principalWith({ studentIds: [] }));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), principals, async (cursor, principal) => {
      expect(
        await list(
          dependenciesOver(() => owners),
          principal,
          { cursor },
        ),
      ).toMatchObject(err({ status: 400, code: 'validation', invalidParams: [{ name: '/query/cursor' }] }));
    }),
  );
  expect(owners.asked).toEqual([]);
});

it('a cursor goes for one hour after its request [RP-303]', async () => {
  const keys = createMemoryKeyRing();
  const place = { modifiedAt: '2026-02-01T00:00:00Z', attemptId: 'attempt-1' };
  const open = (receivedAt: number, cursor?: string) =>
    openListCursor(keys, listCandidateReports, ['modifiedAt', 'attemptId'], {
      principal: allowed,
      path: {},
      query: { cursor },
      receivedAt,
    });
  const first = await open(NOW);
  const cursor = first.ok ? await first.value.seal(place) : null;
  expect(await open(NOW + 3_599_999, cursor!)).toMatchObject({ ok: true, value: { after: place } });
  expect(await open(NOW + 3_600_000, cursor!)).toMatchObject({ ok: false });
});

it('an answer is not older than its sources, even if the clock is set back while they are read [RP-085]', async () => {
  const owners = scriptedOwners({
    readUser: { value: { user: { sourcedId: 'student-1', status: 'active' } } },
    listCandidateAttempts: {
      value: {
        tenantId: 'tenant-1',
        candidateSourcedId: 'student-1',
        version: '1',
        freshness: 'current',
        rows: [],
        hasMore: false,
      },
    },
  });
  let time = NOW;
  const answer = await list(dependenciesOver(() => owners, { now: () => (time -= 5_000) }));
  const { observedAt, sources } = listCandidateReports.success.schema.parse(answer.ok && answer.value.body);
  expect(sources).toHaveLength(2);
  for (const source of sources) expect(source.observedAt <= observedAt).toBe(true);
});
