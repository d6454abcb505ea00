import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
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
import * as operations from '#shared/platform/operations.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import type { RecordedCall } from '#test/support/platform-calls.ts';
import { callRaw } from '#test/support/raw-call.ts';
import {
  openReportsCaller,
  reportsAnswerOf,
  reportsProblemOf,
  reportReads,
} from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// Who may read what, over whole functions: what is denied cannot be told from what nobody has, neither by an answer nor by what is
// asked of the owners for it.

type Path = Readonly<Record<string, string>>;
type Claims = NonNullable<GatewayCall['claims']>;
type Claim = 'studentIds' | 'classSourcedIds' | 'schoolSourcedIds';
const claimNames = ['studentIds', 'classSourcedIds', 'schoolSourcedIds', 'administrationIds'] as const;

/** Something of a tenant that a route gives. */
interface Resource {
  readonly path: Path;
  /** The id that a claim has to hold for it; undefined where none has to. */
  readonly opener: string | undefined;
  /** Another of the tenant's own ids of that kind. */
  readonly other: string;
}
interface Subject {
  readonly route: Route;
  /** The claim that opens it. */
  readonly claim: Claim | undefined;
  readonly of: (tenantId: string) => Resource;
  /** What its row says of it. */
  readonly rules: string;
}

let stack: TestStack;
let caller: ReportsCaller;
beforeAll(async () => {
  stack = await startTestStack();
  caller = openReportsCaller(stack);
});
afterAll(() => stack.close());

function attemptOf(tenantId: string, role: 'gatePass' | 'gateFail'): Resource {
  const { attempts, candidates } = caller.fixtures(tenantId);
  const held = stack.seededTenants
    .get(tenantId)!
    .platform.reports.attempts.find(({ attemptId }) => attemptId === attempts[role])!;
  return {
    path: { attemptId: held.attemptId },
    opener: held.candidateSourcedId,
    other: candidates.withHistory,
  };
}

const subjects: readonly Subject[] = [
  {
    route: readAttemptReport,
    claim: 'studentIds',
    of: (tenantId) => attemptOf(tenantId, 'gatePass'),
    rules: 'RP-058, RP-229, RP-231',
  },
  {
    route: readReadiness,
    claim: 'studentIds',
    of: (tenantId) => attemptOf(tenantId, 'gateFail'),
    rules: 'RP-249, RP-250',
  },
  {
    route: listCandidateReports,
    claim: 'studentIds',
    of: (tenantId) => {
      const { withHistory, empty } = caller.fixtures(tenantId).candidates;
      return { path: { candidateSourcedId: withHistory }, opener: withHistory, other: empty };
    },
    rules: 'RP-234, RP-237',
  },
  {
    route: readClassCohort,
    claim: 'classSourcedIds',
    of: (tenantId) => {
      const [classSourcedId = '', other = ''] = caller.fixtures(tenantId).classes;
      return { path: { classSourcedId }, opener: classSourcedId, other };
    },
    rules: 'RP-239, RP-240',
  },
  {
    route: readSchoolGradeCohort,
    claim: 'schoolSourcedIds',
    of: (tenantId) => {
      const { schools } = caller.fixtures(tenantId);
      const path = schools[0]!;
      const other = schools.find(({ schoolSourcedId }) => schoolSourcedId !== path.schoolSourcedId)!;
      return { path, opener: path.schoolSourcedId, other: other.schoolSourcedId };
    },
    rules: 'RP-242, RP-244',
  },
  {
    route: readEquivalence,
    claim: undefined,
    of: (tenantId) => {
      const { equivalent, notEquivalent } = caller.fixtures(tenantId).forms;
      return { path: { qtiTestId: equivalent }, opener: undefined, other: notEquivalent };
    },
    rules: 'RP-246, RP-247',
  },
];

/** The same place with ids of the same form that nobody has. */
function nobodys(path: Path): Path {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, name === 'grade' ? value : nobodysId(value)]),
  );
}

function nobodysId(id: string): string {
  return id.replace(/[0-9a-f](?=[0-9a-f]{3}$)/, (digit) => (digit === '0' ? '1' : '0'));
}

/** Every claim naming every id of a path, and more. */
function naming(path: Path, ...more: readonly (string | undefined)[]): Claims {
  const ids = [...Object.values(path), ...more].filter((id) => id !== undefined);
  return Object.fromEntries(claimNames.map((name) => [name, ids]));
}

/** Claims that come close to the one that opens a resource and do not. */
function closeTo(
  claim: Claim,
  { path, opener = '', other }: Resource,
): readonly (readonly [string, Claims])[] {
  const others = claimNames.filter((name) => name !== claim);
  const everywhereElse = Object.fromEntries(others.map((name) => [name, [opener, other]]));
  return [
    ['no claim', {}],
    ['an empty claim', { [claim]: [] }],
    ['another id of the tenant’s', { [claim]: [other] }],
    ['the id in another case', { [claim]: [opener.toUpperCase()] }],
    ['the id’s parts and patterns', { [claim]: [opener.slice(0, -1), `${opener}0`, ` ${opener}`, '*', ''] }],
    ['the id in every claim of another kind', everywhereElse],
    ['the tenant and the role in its place', { [claim]: ['tenant-aurora', 'admin'], role: 'admin' }],
    // An attempt is opened by its candidate, never by its own id.
    ...(Object.values(path).includes(opener)
      ? []
      : [['the ids of the path in every claim', naming(path)] as const]),
  ];
}

const directions = [
  ['tenant-aurora', 'tenant-borealis'],
  ['tenant-borealis', 'tenant-aurora'],
] as const;

it('looks at every route of the service', () => {
  expect(new Set(subjects.map(({ route }) => route))).toEqual(new Set(reportReads));
});

describe.each(directions)('%s and what belongs to %s', (tenantId, otherTenant) => {
  const send = (route: Route, call: GatewayCall): Promise<GatewayReply> =>
    caller.call(route, { tenantId, ...call });
  const asked = (calls: readonly RecordedCall[]): readonly (string | null)[] =>
    calls.map(({ operation }) => operation).sort();
  /** A denial, and what the owners were asked for it. */
  const denied = async (route: Route, path: Path, claims: Claims) => {
    const { result, calls } = await callsDuring(stack, () => send(route, { path, claims }));
    expect(reportsAnswerOf(result)).toBe('404 not-found');
    expect(calls.filter((call) => call.tenantId !== tenantId)).toEqual([]);
    return { answer: indistinguishable(result), operations: asked(calls) };
  };

  it.each(subjects.map((subject) => [subject.route.operationId, subject.rules, subject] as const))(
    '%s: one’s own within the claims is served; the other tenant’s and whatever the claims do not name are like nobody’s, byte for byte, after it was served as well as before [%s, RP-005, RP-024, RP-313, RP-314, RP-316, RP-317, RP-324, RP-337]',
    async (_operationId, _rules, { route, claim, of }) => {
      const own = of(tenantId);
      const foreign = of(otherTenant);
      const within: Claims =
        claim === undefined || own.opener === undefined ? {} : { [claim]: [own.other, own.opener] };
      const nobody = nobodys(own.path);
      // The other tenant’s is denied with claims that name it, as it would be if the tenants were one.
      const namedForeign = naming(foreign.path, foreign.opener);

      const baseline = await denied(route, nobody, {});
      const outside: [string, Path, Claims][] = [
        ['the other tenant’s, unnamed', foreign.path, {}],
        ...(claim === undefined
          ? []
          : closeTo(claim, own).map(([what, claims]): [string, Path, Claims] => [what, own.path, claims])),
      ];
      const visible: [string, Path, Claims][] = [
        ['nobody’s, named', nobody, naming(nobody, own.opener)],
        ['the other tenant’s, named', foreign.path, namedForeign],
      ];

      const compare = async (when: string): Promise<void> => {
        for (const [what, path, claims] of outside)
          expect([when, what, await denied(route, path, claims)]).toEqual([when, what, baseline]);
        const named = [];
        for (const [what, path, claims] of visible) {
          const { answer, operations: calls } = await denied(route, path, claims);
          expect([when, what, answer]).toEqual([when, what, baseline.answer]);
          named.push(calls);
        }
        expect(named[1]).toEqual(named[0]);
      };
      await compare('before');
      const served = await send(route, { path: own.path, claims: within });
      expect(served.status).toBe(200);
      expect((await send(route, { path: own.path, claims: within })).status).toBe(200);
      await compare('after');

      // A claim that can be judged alone is judged before any owner hears of the request; an attempt’s candidate is asked for, nothing else.
      if (claim === undefined) return;
      const isAttempt = Object.hasOwn(own.path, 'attemptId');
      expect(baseline.operations).toEqual(isAttempt ? [operations.readAttemptEvidence.id] : []);
    },
  );

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
      const gone = await denied(route, path, naming(path));
      const absent = nobodys(path);
      expect([route.operationId, gone]).toEqual([
        route.operationId,
        await denied(route, absent, naming(absent)),
      ]);
      expect(gone.answer).toEqual((await denied(route, path, {})).answer);
    }
    await deleted('active');
    const path = { schoolSourcedId, grade };
    expect((await send(readSchoolGradeCohort, { path, claims: naming(path) })).status).toBe(200);
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
    const { path, opener } = attemptOf(tenantId, 'gatePass');
    for (const route of [readAttemptReport, readReadiness]) {
      const { answer } = await denied(route, nobodys(path), {});
      for (const fault of [{ kind: 'status', status: 404 }, { kind: 'wrong_tenant' }]) {
        await stack.fault({ operation: operations.readAttemptEvidence.id, ...fault, times: 9 });
        const hidden = await denied(route, path, naming(path, opener));
        expect([fault, hidden.answer]).toEqual([fault, answer]);
        await stack.control('DELETE', 'faults');
      }
    }
  });

  it.each(
    (
      [
        [readAttemptReport, operations.readAttemptEvidence, 'qti'],
        [readReadiness, operations.readAttemptEvidence, 'qti'],
        [listCandidateReports, operations.readUser, 'oneroster'],
        [readClassCohort, operations.readClass, 'oneroster'],
        [readSchoolGradeCohort, operations.readSchool, 'oneroster'],
        [readEquivalence, operations.readForm, 'qti'],
      ] as const
    ).map(([route, operation, owner]) => [route.operationId, owner, route, operation] as const),
  )(
    '%s: where %s forbids us the caller’s id, the answer is a 503 that names it, and the other tenant’s stays like nobody’s [RP-017, RP-316, RP-324, RP-334]',
    async (_operationId, owner, route, operation) => {
      const { of } = subjects.find((subject) => subject.route === route)!;
      const [own, foreign] = [of(tenantId), of(otherTenant)];
      const nobody = nobodys(own.path);
      await stack.fault({ operation: operation.id, kind: 'status', status: 403, times: 9 });
      const refused = await send(route, { path: own.path, claims: naming(own.path, own.opener) });
      const hidden = await send(route, {
        path: foreign.path,
        claims: naming(foreign.path, foreign.opener),
      });
      const absent = await send(route, { path: nobody, claims: naming(nobody, own.opener) });
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

  it('whoever is not known, or lacks the scope, is told so alike wherever the resource belongs to, and no owner hears of it [RP-024, RP-226, RP-227, RP-311, RP-312]', async () => {
    const { result: answers, calls } = await callsDuring(stack, async () => {
      const all = new Map<string, Set<string>>();
      for (const { route, of } of subjects) {
        for (const { path, opener } of [of(tenantId), of(otherTenant)]) {
          for (const place of [path, nobodys(path)]) {
            const target = targetOf(route, place);
            const claims = naming(path, opener);
            for (const [what, headers] of await strangers(claims)) {
              const reply = await callRaw(stack.urls.reportsUrl, target, { headers });
              expect([what, reportsAnswerOf(reply)]).toEqual([what, '401 authentication-required']);
              // As a REST API renames it.
              expect(reply.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
              remember(all, `401 ${route.success.transfer}`, reply);
            }
            for (const scopes of foreignScopes) {
              const reply = await send(route, { path: place, claims, scopes });
              expect([scopes, reportsAnswerOf(reply)]).toEqual([scopes, '403 authorization-denied']);
              remember(all, `403 ${route.success.transfer}`, reply);
            }
          }
        }
      }
      return all;
    });
    expect(calls).toEqual([]);
    expect([...answers].map(([what, distinct]) => [what, distinct.size])).toEqual([
      ['401 stream', 1],
      ['403 stream', 1],
      ['401 buffered', 1],
      ['403 buffered', 1],
    ]);
  });

  /** What a caller sends who cannot be known. */
  async function strangers(claims: Claims): Promise<[string, [string, string][]][]> {
    const token = await stack.tokenFor(tenantId, ['reports:read'], claims);
    const expired = await stack.tokenFor(tenantId, ['reports:read'], { ...claims, expiresInSeconds: -61 });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    const authorization = (value: string): [string, string] => ['Authorization', value];
    return [
      ['no header', []],
      ['an empty header', [authorization('')]],
      ['Basic', [authorization(`Basic ${Buffer.from('a:b').toString('base64')}`)]],
      ['two headers', [authorization(`Bearer ${token}`), authorization(`Bearer ${token}`)]],
      ['expired', [authorization(`Bearer ${expired}`)]],
      ['unsigned', [authorization(`Bearer ${unsigned}.${payload}.`)]],
      ['a changed signature', [authorization(`Bearer ${header}.${payload}.${turned(signature)}`)]],
      ['another tenant in it', [authorization(`Bearer ${header}.${swapped(payload)}.${signature}`)]],
    ];
  }

  function swapped(payload: string): string {
    const text = Buffer.from(payload, 'base64url').toString();
    return Buffer.from(text.replaceAll(tenantId, otherTenant)).toString('base64url');
  }

  it('a tenant is chosen by the token alone: a header changes nothing, a parameter or body is refused [RP-225, RP-307]', async () => {
    const headers = Object.fromEntries(
      ['X-Tenant-Id', 'X-Tenant', 'Tenant', 'X-Forwarded-Host', 'X-Amzn-Oidc-Data', 'Cookie'].map((name) => [
        name,
        name === 'Cookie' ? `tenantId=${otherTenant}` : otherTenant,
      ]),
    );
    for (const { route, of } of subjects) {
      const own = of(tenantId);
      const foreign = of(otherTenant);
      const claims = naming(own.path, own.opener, ...Object.values(foreign.path), foreign.opener);
      const plain = await send(route, { path: own.path, claims });
      const mine = await callsDuring(stack, () => send(route, { path: own.path, claims, headers }));
      expect(factsOf(mine.result)).toEqual(factsOf(plain));
      expect(mine.calls.filter((call) => call.tenantId !== tenantId)).toEqual([]);
      expect(mine.calls.filter(({ path }) => path.includes(otherTenant))).toEqual([]);
      await denied(route, foreign.path, claims);
      expect(reportsAnswerOf(await send(route, { path: foreign.path, claims, headers }))).toBe(
        '404 not-found',
      );
      for (const name of ['tenantId', 'tenant', 'tenant_id', 'X-Tenant-Id']) {
        const refused = await send(route, { path: own.path, claims, query: `?${name}=${tenantId}` });
        expect(reportsAnswerOf(refused)).toBe('400 unsupported-parameter');
        expect(reportsProblemOf(refused).fieldErrors).toEqual([
          {
            pointer: `/query/${name}`,
            code: 'unsupported-parameter',
            message: 'is not a parameter of this operation',
          },
        ]);
      }
      const target = targetOf(route, own.path);
      const inBody = await callRaw(stack.urls.reportsUrl, target, {
        headers: [
          ['Authorization', `Bearer ${await stack.tokenFor(tenantId, [route.scope], claims)}`],
          ['Content-Type', 'application/json'],
        ],
        body: JSON.stringify({ tenantId }),
      });
      expect(reportsAnswerOf(inBody)).toBe('400 validation');
      expect(reportsProblemOf(inBody).fieldErrors?.map(({ pointer }) => pointer)).toEqual(['/body']);
    }
  });
});

describe('the ids of a request', () => {
  it('are its own: a trace is the one that the caller names or a new one, and nothing of an earlier request comes back [RP-024, RP-073, RP-327]', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = { traceparent: `00-${trace}-00f067aa0ba902b7-01`, 'X-Request-Id': 'mine' };
    const requestIds: string[] = [];
    const traceIds: string[] = [];
    for (const tenantId of localTenantIds) {
      for (const { route, of } of subjects) {
        const { path, opener } = of(tenantId);
        for (const place of [path, nobodys(path)]) {
          for (const headers of [traced, {}, traced, {}]) {
            const claims = naming(place, opener);
            const reply = await caller.call(route, { tenantId, path: place, claims, headers });
            const { requestId, traceId } = idsIn(reply);
            expect(reply.headers.get('x-request-id')).toBe(requestId);
            requestIds.push(requestId);
            if (headers === traced) expect(traceId).toBe(trace);
            else traceIds.push(traceId);
          }
        }
      }
    }
    expect(new Set(requestIds).size).toBe(requestIds.length);
    expect(new Set([...traceIds, trace, 'mine', ...requestIds]).size).toBe(
      traceIds.length + 2 + requestIds.length,
    );
  });
});

describe('what is written', () => {
  it('no answer to one tenant holds anything of the other, whatever it asks for, and no log line holds an id, a cursor or a token of anybody [RP-024, RP-324]', async () => {
    const ids = new Map(localTenantIds.map((tenantId) => [tenantId as string, idsOf(tenantId)]));
    const [aurora, borealis] = localTenantIds.map((tenantId) => ids.get(tenantId)!);
    expect([...aurora!].filter((id) => borealis!.has(id))).toEqual([]);

    const answers: { readonly of: string; readonly text: string }[] = [];
    const ask = async (tenantId: string, route: Route, call: GatewayCall): Promise<GatewayReply> => {
      const reply = await caller.call(route, { tenantId, ...call });
      answers.push({ of: tenantId, text: `${JSON.stringify([...reply.headers])}\n${reply.text}` });
      return reply;
    };
    for (const [tenantId, otherTenant] of directions) {
      const { attempts, candidates } = caller.fixtures(tenantId);
      for (const { route, of } of subjects) {
        for (const { path, opener } of [of(tenantId), of(otherTenant)]) {
          const claims = naming(path, opener);
          await ask(tenantId, route, { path, claims });
          await ask(tenantId, route, { path, claims: {} });
          await ask(tenantId, route, { path, claims, query: `?cursor=${opener ?? ''}&of=${opener ?? ''}` });
          await ask(tenantId, route, { path, claims, scopes: Object.values(path) });
          const [name = ''] = Object.keys(path);
          await ask(tenantId, route, { path: { ...path, [name]: `${path[name]!} ${path[name]!}` }, claims });
        }
      }
      for (const attemptId of Object.values(attempts).filter((id) => id !== attempts.large))
        await ask(tenantId, readAttemptReport, { path: { attemptId }, query: '?view=evidence' });
      await stack.fault({ operation: operations.readSettledRecord.id, kind: 'wrong_tenant' });
      await ask(tenantId, readAttemptReport, { path: { attemptId: attempts.diagnostic } });
      await stack.fault({
        operation: operations.readSettledRecord.id,
        kind: 'status',
        status: 500,
        times: 9,
      });
      await ask(tenantId, readAttemptReport, { path: { attemptId: attempts.formative } });
      await stack.control('DELETE', 'faults');
      const list = { path: { candidateSourcedId: candidates.withHistory } };
      const { nextCursor } = JSON.parse(
        (await ask(tenantId, listCandidateReports, { ...list, query: '?limit=1' })).text,
      ) as { nextCursor: string };
      await ask(tenantId, listCandidateReports, { ...list, query: `?limit=1&cursor=${nextCursor}` });
      // The cursor of one in the hands of the other.
      await ask(otherTenant, listCandidateReports, {
        ...list,
        claims: naming(list.path),
        query: `?limit=1&cursor=${nextCursor}`,
      });
    }

    for (const { of, text } of answers) {
      const [foreign = ''] = localTenantIds.filter((tenantId) => tenantId !== of);
      expect([...ids.get(foreign)!, foreign].filter((id) => text.includes(id))).toEqual([]);
    }

    const lines = await vi.waitFor(() => {
      const written = stack.logs();
      const completed = written.filter(({ line }) => JSON.stringify(line).includes('REQUEST_COMPLETED'));
      expect(completed.length).toBeGreaterThanOrEqual(answers.length);
      return written;
    });
    const written = JSON.stringify(lines);
    for (const tenantId of localTenantIds)
      expect([...ids.get(tenantId)!, tenantId].filter((id) => written.includes(id))).toEqual([]);
    expect(written).not.toMatch(/Bearer|eyJ[\w-]{8,}/);
  });
});

/** Every id of a tenant's reports, as its owners hold them. */
function idsOf(tenantId: string): ReadonlySet<string> {
  const { reports, students } = stack.seededTenants.get(tenantId)!.platform;
  const found = new Set<string>(students);
  const look = (value: unknown): void => {
    if (typeof value === 'string' && /[0-9a-f]{12}/.test(value)) found.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  look(reports);
  for (const own of reports.generated.attemptIds.values()) own.forEach((id) => found.add(id));
  for (const id of reports.generated.records.keys()) found.add(id);
  expect(found.size).toBeGreaterThan(500);
  return found;
}

/** The ids of the request that an answer names: a page names them in its rows. */
function idsIn({ text }: GatewayReply): { readonly requestId: string; readonly traceId: string } {
  type Ids = ReturnType<typeof idsIn>;
  const body = JSON.parse(text) as Ids | { readonly data: readonly [Ids] };
  return 'data' in body ? body.data[0] : body;
}

/** The request line's path to a resource. */
function targetOf({ path: template }: Route, path: Path): string {
  return Object.entries(path).reduce<string>(
    (target, [name, value]) => target.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  );
}

/** Scopes that are not the one of the routes. */
const foreignScopes = [
  [],
  ['reports:write'],
  ['mastery:run', 'mastery:read', 'mastery:simulate'],
  [
    'reports:readx',
    'xreports:read',
    'reports',
    'reports:*',
    '*',
    'Reports:Read',
    'reports:read,reports:write',
  ],
];

function remember(all: Map<string, Set<string>>, what: string, reply: GatewayReply): void {
  all.set(what, (all.get(what) ?? new Set()).add(JSON.stringify(indistinguishable(reply))));
}

/** Another character in the middle, where every bit counts. */
function turned(signature: string): string {
  return `${signature.slice(0, 40)}${signature[40] === 'A' ? 'B' : 'A'}${signature.slice(41)}`;
}

/** What an answer says beside its ids and times. */
function factsOf({ status, text }: GatewayReply): unknown {
  const stamps = ['requestId', 'traceId', 'observedAt', 'nextCursor'];
  return [
    status,
    JSON.parse(text, (name, value: unknown) => (stamps.includes(name) ? typeof value : value)) as unknown,
  ];
}
