import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { notFound } from '#functions/reports/sources/problems.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Operation, OperationAnswer, OperationRequest, Principal } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ProfileFault } from '#shared/platform/service-profiles.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { wholeRelease } from '#test/support/release.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script, ScriptedOwners } from '#test/support/scripted-owners.ts';
import type { ListCandidateReportsDependencies } from './list-candidate-reports/operation.ts';
import { openListCursor } from './list-cursor.ts';
import { listCandidateReportsOperation } from './list-candidate-reports/operation.ts';
import { readAttemptReportOperation } from './read-attempt-report/operation.ts';
import { readClassCohortOperation } from './read-class-cohort/operation.ts';
import { readEquivalenceOperation } from './read-equivalence/operation.ts';
import { readReadinessOperation } from './read-readiness/operation.ts';
import { readSchoolGradeCohortOperation } from './read-school-grade-cohort/operation.ts';

const NOW = Date.parse('2026-03-01T08:00:00Z');

interface Container {
  readonly owners: ScriptedOwners;
  readonly dependencies: ListCandidateReportsDependencies;
}

/** What a container binds, over scripted owners. */
function container(script: Script = {}, fault?: ProfileFault, now: () => number = () => NOW): Container {
  const owners = scriptedOwners(script);
  return {
    owners,
    dependencies: {
      profiles: {
        resolve: (tenantId) =>
          Promise.resolve(
            fault === undefined
              ? ok({ tenantId, baseUrl: 'https://platform.example', credential: secret('jwt') })
              : err(fault),
          ),
        forget: () => false,
      },
      connect: () => owners,
      frameworks: createFrameworks(),
      now,
      keys: createMemoryKeyRing(),
    },
  };
}

type Ask = (
  made: Container,
  principal: Principal,
  query?: Readonly<Record<string, unknown>>,
) => Promise<Result<OperationAnswer, Problem>>;

/** Asks an operation as the pipeline does: path and query are what the route's schemas make of them. */
function asking<R extends Route>(
  bind: (dependencies: ListCandidateReportsDependencies) => Operation<R>,
  path: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, unknown>> = {},
): Ask {
  return (made, principal, query = {}) =>
    bind(made.dependencies)({
      requestId: '0f8e6d1c-6f0b-4a57-9d3e-2b7f4c1a9e55',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      problemsUrl: 'https://problems.example',
      principal,
      path,
      query: { ...defaults, ...query },
      body: undefined,
      ifMatch: undefined,
      proved: wholeRelease.proved,
      receivedAt: NOW,
      deadline: NOW + 10_000,
      log: () => undefined,
      idempotent: () => Promise.reject(new Error('a read has no idempotency')),
      // SAFETY: these are the members that the pipeline hands to an operation, for a route without a body.
    } as unknown as OperationRequest<R>);
}

const list = asking(
  listCandidateReportsOperation,
  { candidateSourcedId: 'student-1' },
  { sort: '-modifiedAt', limit: 25 },
);
const routes: readonly (readonly [string, Ask])[] = [
  ['a candidate', list],
  ['a class', asking(readClassCohortOperation, { classSourcedId: 'class-1' })],
  ['a school', asking(readSchoolGradeCohortOperation, { schoolSourcedId: 'school-1', grade: '05' })],
  ['an attempt', asking(readAttemptReportOperation, { attemptId: 'attempt-1' }, { view: 'summary' })],
  ['readiness', asking(readReadinessOperation, { attemptId: 'attempt-1' })],
  ['a form', asking(readEquivalenceOperation, { qtiTestId: 'form-1' })],
];

const allowed = principalWith({
  studentIds: ['student-1'],
  classSourcedIds: ['class-1'],
  schoolSourcedIds: ['school-1'],
});

it.each(routes.slice(0, 3))(
  '%s that the claims do not name is the one 404 before anybody is asked, and before the profile is looked for [RP-313, RP-316]',
  async (_, ask) => {
    const made = container({}, { kind: 'missing', transient: false });
    expect(await ask(made, principalWith({}))).toEqual(err(notFound()));
    expect(made.owners.asked).toEqual([]);
  },
);

it.each(routes)(
  '%s without a usable service profile is 503, and no owner is asked [RP-334]',
  async (_, ask) => {
    for (const kind of ['missing', 'tenant-mismatch', 'invalid', 'unreachable'] as const) {
      const made = container({}, { kind, transient: kind === 'unreachable' });
      expect(await ask(made, allowed)).toMatchObject(
        err({ status: 503, code: 'dependency-unavailable', dependency: 'unknown', retryable: true }),
      );
      expect(made.owners.asked).toEqual([]);
    }
  },
);

describe('a cursor', () => {
  const refused = err({ status: 400, code: 'validation', invalidParams: [{ name: '/query/cursor' }] });

  it('that was not given for the request is refused whoever asks, before the claims are looked at [RP-303, RP-331]', async () => {
    const made = container();
    const principals = fc.constantFrom(allowed, principalWith({ studentIds: [] }));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), principals, async (cursor, principal) => {
        expect(await list(made, principal, { cursor })).toMatchObject(refused);
      }),
    );
    expect(made.owners.asked).toEqual([]);
  });

  it('goes for one hour [RP-303]', async () => {
    const keys = createMemoryKeyRing();
    const place = { modifiedAt: '2026-02-01T00:00:00Z', attemptId: 'attempt-1' };
    const open = (receivedAt: number, cursor?: string) =>
      openListCursor(keys, listCandidateReports, ['modifiedAt', 'attemptId'], {
        principal: allowed,
        path: { candidateSourcedId: 'student-1' },
        query: { limit: 25, cursor },
        receivedAt,
      });
    const first = await open(NOW);
    const cursor = first.ok ? await first.value.seal(place) : null;
    expect(await open(NOW + 3_599_999, cursor ?? '')).toMatchObject(ok({ after: place }));
    expect(await open(NOW + 3_600_000, cursor ?? '')).toMatchObject(refused);
  });
});

describe('an empty history', () => {
  const script = {
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
  };

  it('is a page without rows and without a cursor [RP-045, RP-136, RP-306]', async () => {
    expect(await list(container(script), allowed)).toMatchObject(
      ok({ body: { data: [], nextCursor: null, hasMore: false } }),
    );
  });

  it('is not older than its sources, even if the clock is set back while they are read [RP-085]', async () => {
    let time = NOW;
    const answer = await list(
      container(script, undefined, () => (time -= 5_000)),
      allowed,
    );
    const { observedAt, sources } = listCandidateReports.success.schema.parse(answer.ok && answer.value.body);
    expect(sources).toHaveLength(2);
    for (const source of sources) expect(source.observedAt <= observedAt).toBe(true);
  });
});
