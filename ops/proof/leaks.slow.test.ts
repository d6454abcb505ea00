import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startLeakyProxy } from '#test/support/leaky-proxy.ts';
import type { Answer, Leak, LeakyProxy, Passing } from '#test/support/leaky-proxy.ts';
import { asBuilt, localDescription, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { checkId } from './check.ts';
import { localProof } from './local.ts';
import type { LocalProof } from './local.ts';
import { runProof } from './run-proof.ts';
import type { ProofRun } from './run-proof.ts';

// A proxy between the suite and the real service leaks in one way at a time: the checks that have to see it do, and no others.

// Runs of the suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

let stack: TestStack;
let reports: LocalProof;
let mastery: LocalProof;
let reportsProxy: LeakyProxy;
let masteryProxy: LeakyProxy;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  const local = async (service: 'reports' | 'mastery'): Promise<LocalProof> => {
    const proof = await localProof(service, localDescription(stack), [], tokenOf, Date.now());
    if (!proof.ok) throw new Error(proof.error);
    return proof.value;
  };
  reports = await local('reports');
  mastery = await local('mastery');
  reportsProxy = await startLeakyProxy(stack.urls.reportsUrl);
  masteryProxy = await startLeakyProxy(stack.urls.masteryUrl);
});
afterAll(async () => {
  await reportsProxy.close();
  await masteryProxy.close();
  await stack.close();
});
afterEach(() => {
  reportsProxy.leak = undefined;
  masteryProxy.leak = undefined;
});

const tokenOf: Parameters<typeof localProof>[3] = ({ tenantId, scopes, ...claims }) =>
  stack.tokenFor(tenantId, scopes, claims);

/** What most leaks are looked for with: one read, one list and one write, and all that is looked at over the whole run. */
const sample =
  /^(?:routes\.readAttemptReport|\w+\.(?:readAttemptReport\.mastery_gate|mastery_gate\.\w+|listCandidateReports|materializeAttemptReport|request-ids|ids))\.[\w-]+$/;

async function run(
  service: 'reports' | 'mastery',
  leak: Leak | undefined,
  only: RegExp = sample,
): Promise<ProofRun> {
  const proxy = service === 'reports' ? reportsProxy : masteryProxy;
  proxy.leak = leak;
  const proof = await runProof({
    ...(service === 'reports' ? reports : mastery),
    service,
    url: proxy.url,
    clock: Date.now,
    onProgress: () => undefined,
    only: (id) => only.test(id),
  });
  if (!proof.ok) throw new Error(proof.error);
  return proof.value;
}

/** The checks that failed, without the directions in which they did. */
async function caught(
  service: 'reports' | 'mastery',
  leak: Leak | undefined,
  only?: RegExp,
): Promise<string[]> {
  const { rows } = await run(service, leak, only);
  const failed = rows.filter(({ outcome }) => outcome.result === 'failed');
  return [...new Set(failed.map(({ check }) => checkId(check).replace(/\.[^.]+$/, '')))];
}

const bearer = ({ headers }: Passing): string => (headers.get('authorization') ?? '').replace(/^Bearer /, '');
const asToken = (request: Passing, token: string): Passing => {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...request, headers };
};
/** The side whose token a request has. */
const sideOf = (request: Passing): 'A' | 'B' | undefined =>
  [reports, mastery]
    .flatMap(({ a, b }) => [a, b])
    .find(({ full, withoutClaims }) => [full, withoutClaims].includes(bearer(request)))?.side;
/** Whether a request names something of the other tenant’s. */
function isForeign(request: Passing): boolean {
  const side = sideOf(request);
  if (side === undefined) return false;
  const others = (side === 'A' ? reports.b : reports.a).reports!;
  const ids = [others.attempts.mastery_gate, others.candidateSourcedId!, others.materialize!.attemptId];
  return ids.some((id) => `${request.target}${request.body}`.includes(id));
}
const withHeader = (answer: Answer, name: string, value: string): Answer => {
  const headers = new Headers(answer.headers);
  headers.set(name, value);
  return { ...answer, headers };
};
const withBody = (answer: Answer, change: (body: Record<string, unknown>) => object): Answer => ({
  ...answer,
  body: JSON.stringify(change(JSON.parse(answer.body) as Record<string, unknown>)),
});
/** A leak that shows in the answer to a request for what is the other tenant’s. */
const onDenial =
  (change: (answer: Answer) => Answer): Leak =>
  async (request, pass) => {
    const answer = await pass(request);
    return isForeign(request) && answer.status === 404 ? change(answer) : answer;
  };

/** Every check that compares the other tenant's with nobody's. */
const comparisons = [
  'denial.readAttemptReport.mastery_gate',
  'denial.listCandidateReports',
  'denial.materializeAttemptReport',
  'cache.readAttemptReport.mastery_gate',
  'cache.listCandidateReports',
  'idempotency.materializeAttemptReport',
  'selector.readAttemptReport.mastery_gate',
  'selector.listCandidateReports',
];

it('finds nothing in a service that leaks nothing, behind the same proxy [RP-024]', async () => {
  expect(await caught('reports', undefined)).toEqual([]);
});

describe('a denial', () => {
  const denials: readonly (readonly [string, Leak])[] = [
    [
      'with another detail',
      onDenial((answer) => withBody(answer, (body) => ({ ...body, detail: 'Not yours.' }))),
    ],
    [
      'that is a 403',
      onDenial((answer) =>
        withBody({ ...answer, status: 403 }, (body) => ({
          ...body,
          status: 403,
          type: String(body['type']).replace('not-found', 'authorization-denied'),
        })),
      ),
    ],
    ['with a header more', onDenial((answer) => withHeader(answer, 'X-Cache', 'Hit'))],
    ['with another value of a header', onDenial((answer) => withHeader(answer, 'Vary', 'Authorization'))],
    ['with a byte more', onDenial((answer) => ({ ...answer, body: `${answer.body} ` }))],
    [
      'with a request id of another form',
      onDenial((answer) =>
        withBody(answer, (body) => ({ ...body, instance: `urn:tenant:${String(body['requestId'])}` })),
      ),
    ],
    [
      'in another order of its members',
      onDenial((answer) => withBody(answer, (body) => Object.fromEntries(Object.entries(body).toReversed()))),
    ],
  ];
  it.each(denials)(
    '%s is caught by every comparison with nobody’s [RP-024, RP-316, RP-324]',
    async (_, leak) => {
      expect((await caught('reports', leak)).toSorted()).toEqual(comparisons.toSorted());
    },
  );

  it('that changes only once its owner was served is caught too [RP-024, RP-316]', async () => {
    const denied = new Set<string>();
    const served = new Set<string>();
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      const isDenial = isForeign(request) && answer.status === 404;
      if (isDenial) denied.add(request.target);
      if (answer.status === 200 && denied.has(request.target)) served.add(request.target);
      return isDenial && served.has(request.target)
        ? withHeader(answer, 'Last-Modified', 'Thu, 01 Jan 1970 00:00:00 GMT')
        : answer;
    };
    const found = await run('reports', leak, /^denial\.readAttemptReport\.mastery_gate\.A-B$/);
    expect(found.rows.map(({ outcome }) => outcome)).toEqual([
      {
        result: 'failed',
        findings: [
          expect.stringMatching(
            /^B’s resource differs from an unknown one after B has read it: .*last-modified$/,
          ),
        ],
      },
    ]);
  });

  it('of somebody’s own that the claims do not name is compared as well [RP-313, RP-316]', async () => {
    const leak: Leak = (request, pass) => {
      const tenant = [reports.a, reports.b].find(({ withoutClaims }) => withoutClaims === bearer(request));
      return pass(tenant === undefined ? request : asToken(request, tenant.full));
    };
    expect(await caught('reports', leak)).toEqual([
      'claims.readAttemptReport.mastery_gate',
      'claims.listCandidateReports',
      'claims.materializeAttemptReport',
    ]);
  });
});

describe('a cache between tenants', () => {
  it('that keeps answers by their address is caught [RP-024, RP-337]', async () => {
    const kept = new Map<string, Answer>();
    const leak: Leak = async (request, pass) => {
      if (request.method !== 'GET' || sideOf(request) === undefined) return pass(request);
      const found = kept.get(request.target) ?? (await pass(request));
      if (found.status === 200) kept.set(request.target, found);
      return found;
    };
    const found = await caught('reports', leak);
    expect(found).toEqual(
      expect.arrayContaining([
        'denial.readAttemptReport.mastery_gate',
        'denial.listCandidateReports',
        'claims.readAttemptReport.mastery_gate',
        'cache.readAttemptReport.mastery_gate',
        'cache.listCandidateReports',
        'isolation.request-ids',
        'isolation.ids',
      ]),
    );
  });

  it('that answers 304 to whoever knows the owner’s entity tag is caught by the cache’s checks alone [RP-024, RP-337]', async () => {
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      const condition = request.headers.get('if-none-match');
      if (condition === '"owner"' && isForeign(request))
        return { status: 304, headers: new Headers({ ETag: '"owner"' }), body: '' };
      return answer.status === 200 ? withHeader(answer, 'ETag', '"owner"') : answer;
    };
    expect(await caught('reports', leak)).toEqual([
      'cache.readAttemptReport.mastery_gate',
      'cache.listCandidateReports',
    ]);
  });

  it('may not be told to keep anything [RP-024, RP-336]', async () => {
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      return answer.status === 200 ? withHeader(answer, 'Cache-Control', 'max-age=30') : answer;
    };
    const { rows } = await run('reports', leak, /^matrix\.mastery_gate\.summary\./);
    expect(rows.map(({ outcome }) => outcome.result)).toEqual(['failed', 'failed']);
  });
});

describe('an idempotency key', () => {
  const keyOf = ({ headers, target }: Passing): string | null => {
    const key = headers.get('idempotency-key');
    return key === null ? null : `${target} ${key}`;
  };

  it('that replays one tenant’s operation to the other is caught by the keys’ check alone [RP-024, RP-292]', async () => {
    const kept = new Map<string, Answer>();
    const leak: Leak = async (request, pass) => {
      const key = keyOf(request);
      const found = key === null ? undefined : kept.get(key);
      if (found !== undefined) return withHeader(found, 'Idempotent-Replayed', 'true');
      const answer = await pass(request);
      if (key !== null && answer.status === 200) kept.set(key, answer);
      return answer;
    };
    const found = await caught('reports', leak);
    expect(found.filter((id) => !id.startsWith('isolation.'))).toEqual([
      'idempotency.materializeAttemptReport',
    ]);
    expect(found).toContain('isolation.ids');
  });

  it('that conflicts with the other tenant’s is caught [RP-024, RP-292]', async () => {
    const owners = new Map<string, string | undefined>();
    const leak: Leak = async (request, pass) => {
      const key = keyOf(request);
      if (key === null) return pass(request);
      const owner = owners.get(key) ?? sideOf(request);
      owners.set(key, owner);
      const answer = await pass(request);
      return owner === sideOf(request)
        ? answer
        : {
            ...answer,
            status: 409,
            headers: new Headers({ 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' }),
          };
    };
    expect(await caught('reports', leak)).toEqual(['idempotency.materializeAttemptReport']);
  });
});

describe('a trace', () => {
  it('that lends a request the id of another is caught over the whole run [RP-024, RP-327]', async () => {
    let last: string | undefined;
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      if (answer.status !== 200 || request.method !== 'GET') return answer;
      const { requestId } = JSON.parse(answer.body) as { requestId?: string };
      const lent = last ?? requestId ?? '';
      last = requestId;
      return requestId === undefined
        ? answer
        : withHeader(
            withBody(answer, (body) => ({ ...body, requestId: lent })),
            'X-Request-Id',
            lent,
          );
    };
    expect(await caught('reports', leak)).toContain('isolation.request-ids');
  });

  it('that takes a caller’s word for its request id is caught [RP-024, RP-327]', async () => {
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      const claimed = request.headers.get('x-request-id');
      return claimed === null
        ? answer
        : withHeader(
            withBody(answer, (body) => ({ ...body, requestId: claimed })),
            'X-Request-Id',
            claimed,
          );
    };
    expect(await caught('reports', leak)).toEqual([
      'trace.readAttemptReport.mastery_gate',
      'trace.listCandidateReports',
      'isolation.request-ids',
    ]);
  });

  it('that finds another tenant’s answer again is caught [RP-024, RP-073]', async () => {
    const kept = new Map<string, Answer>();
    const leak: Leak = async (request, pass) => {
      const trace = request.headers.get('traceparent');
      const found = trace === null ? undefined : kept.get(trace);
      if (found !== undefined) return found;
      const answer = await pass(request);
      if (trace !== null) kept.set(trace, answer);
      return answer;
    };
    const found = await caught('reports', leak);
    expect(found).toEqual(
      expect.arrayContaining(['trace.readAttemptReport.mastery_gate', 'trace.listCandidateReports']),
    );
    expect(found.filter((id) => !/^(?:trace|isolation)\./.test(id))).toEqual([]);
  });

  it('of two tenants at one time, when their answers are mixed up, is caught [RP-024]', async () => {
    let first: { readonly side: string | undefined; readonly own: Answer } | undefined;
    const swapped = Promise.withResolvers<Answer>();
    let isDone = false;
    const leak: Leak = async (request, pass) => {
      const own = await pass(request);
      const side = sideOf(request);
      if (!request.headers.has('traceparent') || isDone || first?.side === side) return own;
      if (first === undefined) {
        first = { side, own };
        return swapped.promise;
      }
      isDone = true;
      swapped.resolve(own);
      return first.own;
    };
    const { rows } = await run('reports', leak, /^trace\.concurrent\./);
    expect(rows.map(({ outcome }) => outcome.result)).toEqual(['failed']);
  });
});

it('a cursor of another tenant that is accepted is caught by the cursor’s check alone [RP-024, RP-303]', async () => {
  const given = new Map<string, string>();
  const leak: Leak = async (request, pass) => {
    const cursor = new URL(request.target, 'http://localhost').searchParams.get('cursor');
    const owner = cursor === null ? undefined : given.get(cursor);
    const answer = await pass(owner === undefined ? request : asToken(request, owner));
    if (answer.status === 200 && request.target.includes('attempt-reports?')) {
      const { nextCursor } = JSON.parse(answer.body) as { nextCursor?: string };
      if (typeof nextCursor === 'string') given.set(nextCursor, bearer(request));
    }
    return answer;
  };
  expect((await caught('reports', leak)).filter((id) => !id.startsWith('isolation.'))).toEqual([
    'cursor.listCandidateReports',
  ]);
});

describe('nobody', () => {
  const anonymous = [
    'anonymous.readAttemptReport.mastery_gate',
    'anonymous.listCandidateReports',
    'anonymous.materializeAttemptReport',
  ];
  const leaks: readonly (readonly [string, Leak, readonly string[]])[] = [
    [
      'who is answered',
      (request, pass) => pass(bearer(request) === '' ? asToken(request, reports.a.full) : request),
      [
        'routes.readAttemptReport',
        'routes.listCandidateReports',
        'routes.materializeAttemptReport',
        ...anonymous,
      ],
    ],
    [
      'whose token nobody signed and who is answered',
      (request, pass) => pass(bearer(request).endsWith('.') ? asToken(request, reports.a.full) : request),
      anonymous,
    ],
    [
      'whose garbled token is answered',
      (request, pass) => pass(bearer(request) === 'garbled' ? asToken(request, reports.b.full) : request),
      anonymous,
    ],
    [
      'who is told which ids exist',
      async (request, pass) => {
        const answer = await pass(request);
        const exists = request.target.includes(reports.a.reports!.attempts.mastery_gate);
        return answer.status === 401 && exists ? withHeader(answer, 'X-Found', 'yes') : answer;
      },
      anonymous.slice(0, 1),
    ],
  ];
  it.each(leaks)('%s is caught [RP-024, RP-226]', async (_, leak, expected) => {
    expect(await caught('reports', leak)).toEqual(expected);
  });
});

it('a header that chooses the tenant is caught by the selector’s check alone [RP-225]', async () => {
  const leak: Leak = (request, pass) => {
    const named = [reports.a, reports.b].find(
      ({ tenantId }) => tenantId === request.headers.get('x-tenant-id'),
    );
    return pass(named === undefined ? request : asToken(request, named.full));
  };
  expect((await caught('reports', leak)).filter((id) => !id.startsWith('isolation.'))).toEqual([
    'selector.readAttemptReport.mastery_gate',
    'selector.listCandidateReports',
  ]);
});

describe('what a tenant is served', () => {
  it('when it names something of the other’s is caught [RP-024]', async () => {
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      return answer.status === 200 && sideOf(request) === 'A' && request.target.includes('view=evidence')
        ? withBody(answer, (body) => ({
            ...body,
            administrationId: reports.b.reports!.materialize!.administrationId,
          }))
        : answer;
    };
    expect(await caught('reports', leak)).toEqual(
      expect.arrayContaining([
        'matrix.mastery_gate.evidence',
        'trace.readAttemptReport.mastery_gate',
        'isolation.ids',
      ]),
    );
  });

  it('in another view than it has asked for, or of another kind, is caught by the matrix [RP-008, RP-009, RP-024]', async () => {
    const unseeing: Leak = (request, pass) =>
      pass({ ...request, target: request.target.replace('view=evidence', 'view=summary') });
    expect(await caught('reports', unseeing)).toEqual(['matrix.mastery_gate.evidence']);
    const mistaken: Leak = (request, pass) =>
      pass({
        ...request,
        target: request.target.replace(
          reports.a.reports!.attempts.mastery_gate,
          reports.a.reports!.attempts.formative,
        ),
      });
    const found = await caught('reports', mistaken, /^matrix\.mastery_gate\./);
    expect(found).toEqual([
      'matrix.mastery_gate.summary',
      'matrix.mastery_gate.standards',
      'matrix.mastery_gate.evidence',
    ]);
  });

  it('when it is nothing is caught: what hides everything from everybody isolates nobody [RP-024]', async () => {
    const leak: Leak = async (request, pass) =>
      request.target.includes('candidates/') && sideOf(request) !== undefined
        ? pass({ ...request, target: request.target.replace(/candidates\/[^/]+/, 'candidates/nobody') })
        : pass(request);
    expect(await caught('reports', leak)).toEqual(
      expect.arrayContaining(['reads.listCandidateReports', 'denial.listCandidateReports']),
    );
  });
});

describe('a closed route', () => {
  it('is told from a hidden resource by who asks, and is not held to anything [RP-016]', async () => {
    const leak: Leak = (request, pass) =>
      pass(request.target.includes('/equivalence') ? { ...request, target: '/v1/nothing' } : request);
    const { rows, routes } = await run('reports', leak, /readEquivalence|isolation\.ids/);
    expect(routes.filter(({ open }) => !open).map(({ route }) => route.operationId)).toEqual([
      'readEquivalence',
    ]);
    expect(rows.map(({ check, outcome }) => [checkId(check), outcome.result])).toEqual([
      ['routes.readEquivalence.both', 'not_open'],
      ['isolation.ids.both', 'passed'],
    ]);
  });

  it('is none when a token opens it [RP-016, RP-226]', async () => {
    const leak: Leak = async (request, pass) => {
      const isEquivalence = request.target.includes('/equivalence');
      return pass(isEquivalence && bearer(request) === '' ? { ...request, target: '/v1/nothing' } : request);
    };
    expect(await caught('reports', leak, /^(?:routes|anonymous)\.readEquivalence\./)).toEqual([
      'routes.readEquivalence',
      'anonymous.readEquivalence',
    ]);
  });
});

describe('of the mastery engine', () => {
  /** Every check but those that take a whole run. */
  const all = /^(?!run\.)/;
  const continuationOf = ({ body }: Passing): string | undefined =>
    body.includes('continuationToken')
      ? (JSON.parse(body) as { continuationToken: string }).continuationToken
      : undefined;

  it('nothing is found when nothing leaks, also when a run cannot be played [MA-013, MA-021, MA-039]', async () => {
    const { url, a, b } = mastery;
    const proof = await runProof({
      url,
      a,
      b,
      service: 'mastery',
      clock: Date.now,
      onProgress: () => undefined,
    });
    if (!proof.ok) throw new Error(proof.error);
    const notPassed = proof.value.rows.filter(({ outcome }) => outcome.result !== 'passed');
    expect(notPassed.map(({ check, outcome }) => [checkId(check), outcome])).toEqual(
      ['A', 'B'].map((side) => [
        `run.advance-to-stop.${side}`,
        {
          result: 'not_asked',
          why: expect.stringMatching(/^the platform’s player cannot be reached/) as string,
        },
      ]),
    );
    expect(await caught('mastery', undefined, /^run\./)).toEqual([]);
  });

  it('a continuation that opens for another tenant is caught [MA-021, MA-159]', async () => {
    const owners = new Map<string, string>();
    const leak: Leak = async (request, pass) => {
      const owner = owners.get(continuationOf(request) ?? '');
      const answer = await pass(
        owner === undefined || sideOf(request) === undefined ? request : asToken(request, owner),
      );
      if (answer.status < 300 && answer.body.includes('continuationToken')) {
        const { continuationToken } = JSON.parse(answer.body) as { continuationToken: string };
        if (!owners.has(continuationToken)) owners.set(continuationToken, bearer(request));
      }
      return answer;
    };
    expect((await caught('mastery', leak, all)).filter((id) => !id.startsWith('isolation.'))).toEqual([
      'denial.inspectAdaptiveRun',
      'denial.advanceAdaptiveRun',
      'idempotency.inspectAdaptiveRun',
    ]);
  });

  it('a continuation whose denial says that it is a real one is caught [MA-159, MA-214]', async () => {
    const known = new Set<string>();
    const leak: Leak = async (request, pass) => {
      const answer = await pass(request);
      const token = continuationOf(request);
      if (answer.status < 300 && answer.body.includes('continuationToken'))
        known.add((JSON.parse(answer.body) as { continuationToken: string }).continuationToken);
      return answer.status === 404 && token !== undefined && known.has(token)
        ? withBody(answer, (body) => ({ ...body, detail: 'The continuation is of another tenant.' }))
        : answer;
    };
    expect(await caught('mastery', leak, all)).toEqual([
      'denial.inspectAdaptiveRun',
      'denial.advanceAdaptiveRun',
      'idempotency.inspectAdaptiveRun',
    ]);
  });

  it('a policy of another tenant that is shown, and a caller without a token who is served, are caught [MA-021, MA-174]', async () => {
    const shown: Leak = (request, pass) => {
      const owner = [mastery.a, mastery.b].find(({ mastery: own }) =>
        request.target.endsWith(own!.selectionPolicyId),
      );
      return pass(
        owner === undefined || sideOf(request) === undefined ? request : asToken(request, owner.full),
      );
    };
    expect(await caught('mastery', shown, all)).toEqual(
      expect.arrayContaining(['denial.readSelectionPolicy', 'cache.readSelectionPolicy']),
    );
    const open: Leak = (request, pass) =>
      pass(bearer(request) === '' ? asToken(request, mastery.a.full) : request);
    expect(await caught('mastery', open, /^(?:routes|anonymous)\./)).toContain('anonymous.startAdaptiveRun');
  });

  it('a start that is replayed to another tenant is caught by the keys’ check [MA-021, MA-189]', async () => {
    const kept = new Map<string, Answer>();
    const leak: Leak = async (request, pass) => {
      const key = `${request.target} ${request.headers.get('idempotency-key') ?? ''}`;
      if (request.method !== 'POST') return pass(request);
      const found = kept.get(key) ?? (await pass(request));
      if (found.status === 201) kept.set(key, found);
      return found;
    };
    const found = await caught('mastery', leak, /^(?:denial|idempotency)\./);
    expect(found).toEqual(['idempotency.startAdaptiveRun']);
  });
});
