import { describe, expect, it } from 'vitest';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import * as operations from '#shared/platform/operations.ts';
import { everyClaim, nobodys as nobodysId } from '#test/lemmas/worlds.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller, reportsAnswerOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// What owners hide or forbid. What another tenant has and what claims do not name is in test/lemmas/principals.contract.test.ts.

type Path = Readonly<Record<string, string>>;
type Claims = NonNullable<GatewayCall['claims']>;

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));

/** The same place with ids of the same form that nobody has. */
function nobodys(path: Path): Path {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, name === 'grade' ? value : nobodysId(value)]),
  );
}

/** Every claim naming every id of a path, and every student of the tenant, whose attempts are not named by their own ids. */
const naming = (tenantId: string, path: Path): Claims =>
  everyClaim([...Object.values(path), ...caller.fixtures(tenantId).students]);

const directions = [
  ['tenant-aurora', 'tenant-borealis'],
  ['tenant-borealis', 'tenant-aurora'],
] as const;

describe.each(directions)('%s and what belongs to %s', (tenantId, otherTenant) => {
  const send = (route: Route, call: GatewayCall): Promise<GatewayReply> =>
    caller.call(route, { tenantId, ...call });
  /** A denial, and what the owners were asked for it. */
  const denied = async (route: Route, path: Path, claims: Claims) => {
    const { result, calls } = await callsDuring(stack, () => send(route, { path, claims }));
    expect(reportsAnswerOf(result)).toBe('404 not-found');
    expect(calls.filter((call) => call.tenantId !== tenantId)).toEqual([]);
    return { answer: indistinguishable(result), operations: calls.map(({ operation }) => operation).sort() };
  };

  it('a candidate, class or school that is to be deleted is like nobody’s [RP-237, RP-240, RP-244, RP-316]', async () => {
    const { special, schools } = caller.fixtures(tenantId);
    const { schoolSourcedId, grade } = schools[0]!;
    const deleted = (status: string): Promise<unknown> =>
      stack.control('PATCH', 'entities', {
        tenantId,
        entity: 'oneroster.school',
        id: schoolSourcedId,
        changes: [{ pointer: '/org/status', value: status }],
      });
    await deleted('tobedeleted');
    const places = [
      [listCandidateReports, { candidateSourcedId: special.studentsDeleted[0]! }],
      [readClassCohort, { classSourcedId: special.classesDeleted[0]! }],
      [readSchoolGradeCohort, { schoolSourcedId, grade }],
    ] as const;
    for (const [route, path] of places) {
      const gone = await denied(route, path, naming(tenantId, path));
      const absent = nobodys(path);
      expect([route.operationId, gone]).toEqual([
        route.operationId,
        await denied(route, absent, naming(tenantId, absent)),
      ]);
      expect(gone.answer).toEqual((await denied(route, path, {})).answer);
    }
    await deleted('active');
    const path = { schoolSourcedId, grade };
    expect((await send(readSchoolGradeCohort, { path, claims: naming(tenantId, path) })).status).toBe(200);
  });

  it('an attempt of a candidate who has left is hidden from whom the claims do not name; to others the roster’s gap is named [RP-028, RP-231, RP-250, RP-316]', async () => {
    const attemptId = caller.fixtures(tenantId).special.attempts['of-a-student-who-left']!;
    const [studentId = ''] = caller.fixtures(tenantId).special.studentsDeleted;
    for (const route of [readAttemptReport, readReadiness]) {
      const hidden = await denied(route, { attemptId }, {});
      expect(hidden).toEqual(await denied(route, nobodys({ attemptId }), {}));
      const named = await send(route, { path: { attemptId }, claims: { studentIds: [studentId] } });
      expect(reportsAnswerOf(named)).toBe('503 dependency-incomplete oneroster');
    }
  });

  it('a form whose test spec Content hides is like nobody’s form [RP-247, RP-314, RP-316]', async () => {
    const path = { qtiTestId: caller.fixtures(tenantId).forms.equivalent };
    const { answer } = await denied(readEquivalence, nobodys(path), {});
    for (const fault of [{ kind: 'status', status: 404 }, { kind: 'wrong_tenant' }]) {
      await stack.fault({ operation: operations.readReportCriteria.id, ...fault, times: 9 });
      expect([fault, (await denied(readEquivalence, path, {})).answer]).toEqual([fault, answer]);
      await stack.control('DELETE', 'faults');
    }
    expect((await send(readEquivalence, { path })).status).toBe(200);
  });

  it('what QTI hides, or answers for another tenant, is like nobody’s attempt [RP-316, RP-324]', async () => {
    const path = { attemptId: caller.fixtures(tenantId).attempts.gatePass };
    for (const route of [readAttemptReport, readReadiness]) {
      const { answer } = await denied(route, nobodys(path), {});
      for (const fault of [{ kind: 'status', status: 404 }, { kind: 'wrong_tenant' }]) {
        await stack.fault({ operation: operations.readAttemptEvidence.id, ...fault, times: 9 });
        const hidden = await denied(route, path, naming(tenantId, path));
        expect([fault, hidden.answer]).toEqual([fault, answer]);
        await stack.control('DELETE', 'faults');
      }
    }
  });

  const forbidden = [
    [readAttemptReport, operations.readAttemptEvidence, 'qti'],
    [readReadiness, operations.readAttemptEvidence, 'qti'],
    [listCandidateReports, operations.readUser, 'oneroster'],
    [readClassCohort, operations.readClass, 'oneroster'],
    [readSchoolGradeCohort, operations.readSchool, 'oneroster'],
    [readEquivalence, operations.readForm, 'qti'],
  ] as const;
  it.each(
    forbidden.map(([route, operation, owner]) => [route.operationId, owner, route, operation] as const),
  )(
    '%s: where %s forbids us the caller’s id, the answer is a 503 that names it, and the other tenant’s stays like nobody’s [RP-017, RP-316, RP-324, RP-334]',
    async (_operationId, owner, route, operation) => {
      const pathOf = (of: string): Path => {
        const { attempts, candidates, classes, schools, forms } = caller.fixtures(of);
        const all: Path = {
          attemptId: attempts.gateFail,
          candidateSourcedId: candidates.withHistory,
          classSourcedId: classes[0]!,
          ...schools[0]!,
          qtiTestId: forms.equivalent,
        };
        return Object.fromEntries(Object.keys(route.request.path.shape).map((name) => [name, all[name]!]));
      };
      const [own, foreign] = [pathOf(tenantId), pathOf(otherTenant)];
      await stack.fault({ operation: operation.id, kind: 'status', status: 403, times: 9 });
      const [refused, hidden, absent] = [
        await send(route, { path: own, claims: naming(tenantId, own) }),
        await send(route, { path: foreign, claims: naming(otherTenant, foreign) }),
        await send(route, { path: nobodys(own), claims: naming(tenantId, nobodys(own)) }),
      ];
      await stack.control('DELETE', 'faults');
      expect(reportsAnswerOf(refused)).toBe(`503 dependency-unavailable ${owner}`);
      expect(indistinguishable(hidden)).toEqual(indistinguishable(absent));
    },
  );

  it('a form whose test spec Content forbids us is a 503 that names Content [RP-017, RP-248, RP-334]', async () => {
    const path = { qtiTestId: caller.fixtures(tenantId).forms.equivalent };
    await stack.fault({ operation: operations.readReportCriteria.id, kind: 'status', status: 403, times: 9 });
    const reply = await send(readEquivalence, { path });
    await stack.control('DELETE', 'faults');
    expect(reportsAnswerOf(reply)).toBe('503 dependency-unavailable content');
  });
});
