import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { openReportsCaller, reportsAnswerOf, reportReads } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));

type Fixtures = ReturnType<ReportsCaller['fixtures']>;

/** The requests of every route that a tenant's fixtures answer with 200. */
function good({
  attempts,
  candidates,
  classes,
  schools,
  forms,
}: Fixtures): readonly (readonly [Route, GatewayCall])[] {
  const settled = ['gatePass', 'gateFail', 'gateIndeterminate', 'diagnostic', 'formative'] as const;
  const assessed = ['gatePass', 'gateFail', 'gateIndeterminate', 'diagnostic', 'stale'] as const;
  return [
    ...settled.flatMap((name) =>
      ['', '?view=summary', '?view=standards', '?view=evidence'].map(
        (query): readonly [Route, GatewayCall] => [
          readAttemptReport,
          { path: { attemptId: attempts[name] }, query },
        ],
      ),
    ),
    ...assessed.map((name): readonly [Route, GatewayCall] => [
      readReadiness,
      { path: { attemptId: attempts[name] } },
    ]),
    ...Object.values(candidates).map((candidateSourcedId): readonly [Route, GatewayCall] => [
      listCandidateReports,
      { path: { candidateSourcedId } },
    ]),
    ...classes.map((classSourcedId): readonly [Route, GatewayCall] => [
      readClassCohort,
      { path: { classSourcedId } },
    ]),
    ...schools.map((path): readonly [Route, GatewayCall] => [readSchoolGradeCohort, { path }]),
    ...Object.values(forms).map((qtiTestId): readonly [Route, GatewayCall] => [
      readEquivalence,
      { path: { qtiTestId } },
    ]),
  ];
}

describe.each(localTenantIds)('%s', (tenantId) => {
  it('reads every kind of report as the published document and its schema say, each with its receipts [RP-001, RP-006, RP-024]', async () => {
    const holdToDocument = openPublishedContract('reports');
    const requests = good(caller.fixtures(tenantId));
    for (const [route, call] of requests) {
      const reply = await caller.call(route, { tenantId, ...call });
      expect([route.operationId, call.path, reportsAnswerOf(reply)]).toEqual([
        route.operationId,
        call.path,
        '200',
      ]);
      holdToDocument(route, reply);
      const body = JSON.parse(reply.text) as object;
      expect(route.success.schema.safeParse(body).error?.issues ?? []).toEqual([]);
      expect(receiptsOf(body)).not.toEqual([]);
    }
    expect(new Set(requests.map(([route]) => route))).toEqual(new Set(reportReads));
  });

  it('joins an attempt without a settled or current record to no report [RP-062, RP-063, RP-087]', async () => {
    const { attempts } = caller.fixtures(tenantId);
    const read = async (attemptId: string): Promise<string> =>
      reportsAnswerOf(await caller.call(readAttemptReport, { tenantId, path: { attemptId } }));
    expect(await read(attempts.unscored)).toBe('503 dependency-incomplete results');
    expect(await read(attempts.unsettled)).toBe('503 dependency-incomplete results');
    expect(await read(attempts.stale)).toBe('503 dependency-incomplete results');
  });

  it('has nothing of a class, grade or form that Analytics has never analysed, nor of a class that is not on the roster [RP-004, RP-240, RP-244, RP-247]', async () => {
    const { special, attempts } = caller.fixtures(tenantId);
    const { reports } = stack.seededTenants.get(tenantId)!.platform;
    const form = reports.attempts.find(({ attemptId }) => attemptId === attempts.gateIndeterminate)!;
    const places: readonly (readonly [Route, Readonly<Record<string, string>>])[] = [
      [readClassCohort, { classSourcedId: special.classesDeleted[0]! }],
      [readClassCohort, { classSourcedId: special.classesWithoutRollup[0]! }],
      [readSchoolGradeCohort, special.schoolsWithoutRollup[0]!],
      [readEquivalence, { qtiTestId: form.qtiTestId }],
    ];
    for (const [route, path] of places) {
      const reply = await caller.call(route, { tenantId, path });
      expect([route.operationId, reportsAnswerOf(reply)]).toEqual([route.operationId, '404 not-found']);
      const nobodys = absent(path);
      const none = await caller.call(route, { tenantId, path: nobodys, claims: claimsNaming(nobodys) });
      expect(indistinguishable(reply)).toEqual(indistinguishable(none));
    }
  });
});

function receiptsOf(body: object): readonly unknown[] {
  const { sources, source } = body as { readonly sources?: readonly unknown[]; readonly source?: unknown };
  return sources ?? [source];
}

function claimsNaming(path: Readonly<Record<string, string>>): NonNullable<GatewayCall['claims']> {
  return {
    studentIds: [path['candidateSourcedId'] ?? ''],
    classSourcedIds: [path['classSourcedId'] ?? ''],
    schoolSourcedIds: [path['schoolSourcedId'] ?? ''],
  };
}

/** The same place with ids that nobody has. */
function absent({ grade, ...ids }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const others = Object.entries(ids).map(([name, id]): [string, string] => [name, `${id}-of-nobody`]);
  return { ...Object.fromEntries(others), ...(grade === undefined ? {} : { grade }) };
}
