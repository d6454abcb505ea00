import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startLeakyProxy } from '#test/support/leaky-proxy.ts';
import type { Answer, Leak, LeakyProxy, Passing } from '#test/support/leaky-proxy.ts';
import { localDescription, startTestStack, type TestStack } from '#test/support/stack.ts';
import { checkId } from './check.ts';
import { localProof, type LocalProof } from './local.ts';
import { runProof, type ProofRun } from './run-proof.ts';

// A proxy between the suite and the real service leaks in one way at a time: the checks that have to see it do, and no others.

// Runs of the suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

type Service = 'reports' | 'mastery';
let stack: TestStack;
const proofs = {} as Record<Service, LocalProof>;
const proxies = {} as Record<Service, LeakyProxy>;
beforeAll(async () => {
  stack = await startTestStack({ bundled: true });
  for (const service of ['reports', 'mastery'] as const) {
    const tokenOf: Parameters<typeof localProof>[3] = ({ tenantId, scopes, ...claims }) =>
      stack.tokenFor(tenantId, scopes, claims);
    const proof = await localProof(service, localDescription(stack), [], tokenOf, Date.now());
    if (!proof.ok) throw new Error(proof.error);
    proofs[service] = proof.value;
    proxies[service] = await startLeakyProxy(stack.urls[`${service}Url`]);
  }
});
afterAll(async () => {
  for (const proxy of Object.values(proxies)) await proxy.close();
  await stack.close();
});
afterEach(() => {
  for (const proxy of Object.values(proxies)) proxy.leak = undefined;
});

/** What most leaks are looked for with: one read, one list and one write, and all that is looked at over the whole run. */
const sample =
  /^(?:routes\.readAttemptReport|\w+\.(?:readAttemptReport\.mastery_gate|mastery_gate\.\w+|listCandidateReports|materializeAttemptReport|request-ids|ids))\.[\w-]+$/;

async function run(service: Service, leak: Leak | undefined, only: RegExp = sample): Promise<ProofRun> {
  const proxy = proxies[service];
  proxy.leak = leak;
  const proof = await runProof({
    ...proofs[service],
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
async function caught(...args: Parameters<typeof run>): Promise<readonly string[]> {
  const { rows } = await run(...args);
  const failed = rows.filter(({ outcome }) => outcome.result === 'failed');
  return [...new Set(failed.map(({ check }) => checkId(check).replace(/\.[^.]+$/, '')))].toSorted();
}

const bearer = ({ headers }: Passing): string => (headers.get('authorization') ?? '').replace(/^Bearer /, '');
const tenants = () => Object.values(proofs).flatMap(({ a, b }) => [a, b]);
/** The side whose token a request has. */
const sideOf = (request: Passing): 'A' | 'B' | undefined =>
  tenants().find(({ full, withoutClaims }) => [full, withoutClaims].includes(bearer(request)))?.side;
/** Whether a request names something of the other tenant’s. */
function isForeign(request: Passing): boolean {
  const side = sideOf(request);
  if (side === undefined) return false;
  const others = proofs.reports[side === 'A' ? 'b' : 'a'].reports!;
  const ids = [others.attempts.mastery_gate, others.candidateSourcedId!, others.materialize!.attemptId];
  return ids.some((id) => `${request.target}${request.body}`.includes(id));
}
function withHeader(answer: Answer, name: string, value: string): Answer {
  const headers = new Headers(answer.headers);
  headers.set(name, value);
  return { ...answer, headers };
}
const membersOf = ({ body }: Answer | Passing) => JSON.parse(body) as Record<string, string | undefined>;
const withMembers = (answer: Answer, members: Readonly<Record<string, unknown>>): Answer => ({
  ...answer,
  body: JSON.stringify({ ...membersOf(answer), ...members }),
});
const withRequestId = (answer: Answer, requestId: string): Answer =>
  withHeader(withMembers(answer, { requestId }), 'X-Request-Id', requestId);

/** Changes answers. */
const changing =
  (change: (answer: Answer, request: Passing) => Answer): Leak =>
  async (request, pass) =>
    change(await pass(request), request);
/** Changes the answers to requests for what is the other tenant’s. */
const onDenial = (change: (answer: Answer) => Answer): Leak =>
  changing((answer, request) => (isForeign(request) && answer.status === 404 ? change(answer) : answer));
/** Asks for something else. */
const asking =
  (target: (request: Passing) => string): Leak =>
  (request, pass) =>
    pass({ ...request, target: target(request) });
/** Asks under another token, if there is one. */
const askingAs =
  (tokenFor: (request: Passing) => string | undefined): Leak =>
  (request, pass) => {
    const token = tokenFor(request);
    if (token === undefined) return pass(request);
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${token}`);
    return pass({ ...request, headers });
  };
/** Keeps answers, and gives them to whoever asks under the same key; one without a key is not kept. */
function keeping(
  keyOf: (request: Passing) => string | false | null,
  mark: (answer: Answer) => Answer = (answer) => answer,
): Leak {
  const kept = new Map<string, Answer>();
  return async (request, pass) => {
    const key = keyOf(request);
    if (key === null || key === false) return pass(request);
    const found = kept.get(key);
    if (found !== undefined) return mark(found);
    const answer = await pass(request);
    if (answer.status < 300) kept.set(key, answer);
    return answer;
  };
}
/** Lets a secret that one tenant was given work for another. */
function lending(
  usedIn: (request: Passing) => string | null | undefined,
  givenIn: (answer: Answer) => string | undefined,
): Leak {
  const owners = new Map<string, string>();
  return async (request, pass) => {
    const isSigned = sideOf(request) !== undefined;
    const answer = await askingAs((asked) => (isSigned ? owners.get(usedIn(asked) ?? '') : undefined))(
      request,
      pass,
    );
    const given = answer.status < 300 ? givenIn(answer) : undefined;
    if (given !== undefined && !owners.has(given)) owners.set(given, bearer(request));
    return answer;
  };
}

const keyed = ({ headers, target }: Passing): string | null =>
  headers.get('idempotency-key') && `${target} ${headers.get('idempotency-key') ?? ''}`;
const attempt = (kind: 'mastery_gate' | 'formative') => proofs.reports.a.reports!.attempts[kind];

/** The checks of a group over the one read, list and write of the sample. */
const READ = 'readAttemptReport.mastery_gate';
const LIST = 'listCandidateReports';
const WRITE = 'materializeAttemptReport';
const over = (group: string, ...names: readonly string[]) => names.map((name) => `${group}.${name}`);
/** Every check that compares the other tenant's with nobody's. */
const comparisons = [
  ...over('denial', READ, LIST, WRITE),
  ...over('cache', READ, LIST),
  ...over('idempotency', WRITE),
  ...over('selector', READ, LIST),
];

/** A leak, the checks that catch it, and which checks are run. Those of the whole run (`isolation`) may find it, and must if they are named. */
type Row = readonly [expected: readonly string[], leak: () => Leak, only?: RegExp];

async function isCaught(service: Service, expected: Row[0], leak: Row[1], only: Row[2]): Promise<void> {
  const found = await caught(service, leak(), only);
  const ofRun = (id: string): boolean => id.startsWith('isolation.');
  const others = (ids: readonly string[]) => ids.filter((id) => !ofRun(id)).toSorted();
  expect(others(found)).toEqual(others(expected));
  expect(found).toEqual(expect.arrayContaining(expected.filter(ofRun)));
}

it('finds nothing in a service that leaks nothing, behind the same proxy [RP-024]', async () => {
  expect(await caught('reports', undefined)).toEqual([]);
});

it.each(
  Object.entries<Row>({
    'a denial that is a 403 [RP-316, RP-324]': [
      comparisons,
      () =>
        onDenial((answer) => {
          const type = membersOf(answer)['type']?.replace('not-found', 'authorization-denied');
          return withMembers({ ...answer, status: 403 }, { status: 403, type });
        }),
    ],
    'a denial that changes once its owner was served [RP-316]': [
      ['denial.readAttemptReport.mastery_gate'],
      () => {
        const denied = new Set<string>();
        const served = new Set<string>();
        return changing((answer, request) => {
          const isDenial = isForeign(request) && answer.status === 404;
          if (isDenial) denied.add(request.target);
          if (answer.status === 200 && denied.has(request.target)) served.add(request.target);
          return isDenial && served.has(request.target) ? withHeader(answer, 'Age', '1') : answer;
        });
      },
      /^denial\.readAttemptReport\.mastery_gate\.A-B$/,
    ],
    'somebody’s own that the claims do not name [RP-313, RP-316]': [
      over('claims', READ, LIST, WRITE),
      () =>
        askingAs((request) => tenants().find(({ withoutClaims }) => withoutClaims === bearer(request))?.full),
    ],
    'a cache that keeps answers by their address [RP-337]': [
      [
        ...['denial', 'claims', 'cache', 'selector'].flatMap((group) => over(group, READ, LIST)),
        ...['cursor.listCandidateReports', 'isolation.request-ids', 'isolation.ids'],
      ],
      () => keeping((request) => request.method === 'GET' && sideOf(request) !== undefined && request.target),
    ],
    'a cache that answers 304 to whoever has the owner’s entity tag [RP-337]': [
      over('cache', READ, LIST),
      () =>
        changing((answer, request) => {
          if (request.headers.get('if-none-match') === '"owner"' && isForeign(request))
            return { status: 304, headers: new Headers({ ETag: '"owner"' }), body: '' };
          return answer.status === 200 ? withHeader(answer, 'ETag', '"owner"') : answer;
        }),
    ],
    'a cache that is told to keep something [RP-336]': [
      ['matrix.mastery_gate.summary'],
      () =>
        changing((answer) =>
          answer.status === 200 ? withHeader(answer, 'Cache-Control', 'max-age=30') : answer,
        ),
      /^matrix\.mastery_gate\.summary\./,
    ],
    'an idempotency key that replays the other tenant’s operation [RP-292]': [
      [...over('idempotency', WRITE), 'isolation.ids'],
      () => keeping(keyed, (answer) => withHeader(answer, 'Idempotent-Replayed', 'true')),
    ],
    'an idempotency key that conflicts with the other tenant’s [RP-292]': [
      over('idempotency', WRITE),
      () => {
        const owners = new Map<string, string | undefined>();
        return changing((answer, request) => {
          const key = keyed(request) ?? '';
          const side = sideOf(request);
          if (!owners.has(key)) owners.set(key, side);
          if (key === '' || owners.get(key) === side) return answer;
          const headers = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
          return { ...answer, status: 409, headers: new Headers(headers) };
        });
      },
    ],
    'a request id that is lent to the next request [RP-327]': [
      ['isolation.request-ids'],
      () => {
        let last: string | undefined;
        return changing((answer, { method }) => {
          if (answer.status !== 200 || method !== 'GET') return answer;
          const { requestId = '' } = membersOf(answer);
          const lent = last ?? requestId;
          last = requestId;
          return requestId === '' ? answer : withRequestId(answer, lent);
        });
      },
      /^(?:matrix\.mastery_gate\.summary|isolation\.request-ids)\./,
    ],
    'a request id that the caller claims [RP-327]': [
      [...over('trace', READ, LIST), 'isolation.request-ids'],
      () =>
        changing((answer, { headers }) => {
          const claimed = headers.get('x-request-id');
          return claimed === null ? answer : withRequestId(answer, claimed);
        }),
    ],
    'a trace by which another tenant’s answer is found again [RP-073]': [
      over('trace', READ, LIST),
      () => keeping(({ headers }) => headers.get('traceparent')),
    ],
    'two answers that are mixed up at one time': [
      ['trace.concurrent'],
      () => {
        let first: { readonly side: string | undefined; readonly own: Answer } | undefined;
        const swapped = Promise.withResolvers<Answer>();
        let isDone = false;
        return async (request, pass) => {
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
      },
      /^trace\.concurrent\./,
    ],
    'a cursor that works for another tenant [RP-303]': [
      ['cursor.listCandidateReports'],
      () =>
        lending(
          ({ target }) => new URL(target, 'http://localhost').searchParams.get('cursor'),
          (answer) => membersOf(answer)['nextCursor'] ?? undefined,
        ),
    ],
    'nobody, who is served [RP-226]': [
      [
        ...['routes.readAttemptReport', `routes.${LIST}`, `routes.${WRITE}`],
        ...over('anonymous', READ, LIST, WRITE),
      ],
      () => askingAs((request) => (bearer(request) === '' ? proofs.reports.a.full : undefined)),
    ],
    'a token without a signature that is accepted [RP-226]': [
      over('anonymous', READ, LIST, WRITE),
      () => askingAs((request) => (bearer(request).endsWith('.') ? proofs.reports.a.full : undefined)),
    ],
    'a malformed token that is accepted [RP-226]': [
      over('anonymous', READ, LIST, WRITE),
      () => askingAs((request) => (bearer(request) === 'garbled' ? proofs.reports.b.full : undefined)),
    ],
    'nobody, who is told which ids exist [RP-226]': [
      over('anonymous', READ),
      () =>
        changing((answer, { target }) =>
          answer.status === 401 && target.includes(attempt('mastery_gate'))
            ? withHeader(answer, 'X-Found', 'yes')
            : answer,
        ),
    ],
    'a closed route that a token opens [RP-016, RP-226]': [
      ['routes.readEquivalence', 'anonymous.readEquivalence'],
      () =>
        asking((request) =>
          request.target.includes('/equivalence') && bearer(request) === '' ? '/v1/nothing' : request.target,
        ),
      /^(?:routes|anonymous)\.readEquivalence\./,
    ],
    'a header that chooses the tenant [RP-225]': [
      over('selector', READ, LIST),
      () =>
        askingAs(
          ({ headers }) => tenants().find(({ tenantId }) => tenantId === headers.get('x-tenant-id'))?.full,
        ),
    ],
    'a report that names something of the other tenant’s': [
      ['matrix.mastery_gate.evidence', `selector.${READ}`, `trace.${READ}`, 'isolation.ids'],
      () =>
        changing((answer, request) => {
          const { administrationId } = proofs.reports.b.reports!.materialize!;
          return answer.status === 200 && sideOf(request) === 'A' && request.target.includes('view=evidence')
            ? withMembers(answer, { administrationId })
            : answer;
        }),
    ],
    'a report in another view than was asked for [RP-008]': [
      ['matrix.mastery_gate.evidence'],
      () => asking(({ target }) => target.replace('view=evidence', 'view=summary')),
    ],
    'a report of another kind of test than was asked for [RP-009]': [
      over('matrix.mastery_gate', 'summary', 'standards', 'evidence'),
      () => asking(({ target }) => target.replace(attempt('mastery_gate'), attempt('formative'))),
      /^matrix\.mastery_gate\./,
    ],
    'a list that hides everything from everybody': [
      ['reads', 'denial', 'claims', 'cache', 'trace', 'cursor', 'selector'].map(
        (group) => `${group}.${LIST}`,
      ),
      () =>
        asking((request) =>
          sideOf(request) === undefined
            ? request.target
            : request.target.replace(/candidates\/[^/]+/, 'candidates/nobody'),
        ),
    ],
  }),
)('catches %s [RP-024]', (_, [expected, leak, only]) => isCaught('reports', expected, leak, only));

it('tells a closed route from a hidden resource by who asks, and holds it to nothing [RP-016]', async () => {
  const leak = asking(({ target }) => (target.includes('/equivalence') ? '/v1/nothing' : target));
  const { rows, routes } = await run('reports', leak, /readEquivalence|isolation\.ids/);
  expect(routes.filter(({ open }) => !open).map(({ route }) => route.operationId)).toEqual([
    'readEquivalence',
  ]);
  expect(rows.map(({ check, outcome }) => [checkId(check), outcome.result])).toEqual([
    ['routes.readEquivalence.both', 'not_open'],
    ['isolation.ids.both', 'passed'],
  ]);
});

describe('of the mastery engine', () => {
  /** Every check but those that take a whole run. */
  const all = /^(?!run\.)/;
  const continuations = [
    'denial.inspectAdaptiveRun',
    'denial.advanceAdaptiveRun',
    'idempotency.inspectAdaptiveRun',
  ];
  const continuationIn = ({ body }: Passing | Answer): string | undefined =>
    body.includes('continuationToken') ? membersOf({ body } as Passing)['continuationToken'] : undefined;

  it('nothing is found when nothing leaks, also when a run cannot be played [MA-013, MA-021, MA-039]', async () => {
    const { url, a, b } = proofs.mastery;
    const proof = await runProof({
      ...{ url, a, b, service: 'mastery', clock: Date.now },
      onProgress: () => undefined,
    });
    if (!proof.ok) throw new Error(proof.error);
    const sides = proof.value.rows.flatMap(({ check }) => (check.group === 'denial' ? check.side : []));
    expect(new Set(sides)).toEqual(new Set(['A-B', 'B-A']));
    const notPassed = proof.value.rows.filter(({ outcome }) => outcome.result !== 'passed');
    const why = expect.stringMatching(/^the platform’s player cannot be reached/) as string;
    expect(notPassed.map(({ check, outcome }) => [checkId(check), outcome])).toEqual(
      ['A', 'B'].map((side) => [`run.advance-to-stop.${side}`, { result: 'not_asked', why }]),
    );
    expect(await caught('mastery', undefined, /^run\./)).toEqual([]);
  });

  it.each(
    Object.entries<Row>({
      'a continuation that opens for another tenant [MA-159]': [
        continuations,
        () => lending(continuationIn, continuationIn),
        all,
      ],
      'a denial that says that a continuation is a real one [MA-159, MA-214]': [
        continuations,
        () => {
          const known = new Set<string>();
          return changing((answer, request) => {
            const given = answer.status < 300 ? continuationIn(answer) : undefined;
            if (given !== undefined) known.add(given);
            return answer.status === 404 && known.has(continuationIn(request) ?? '')
              ? withMembers(answer, { detail: 'The continuation is of another tenant.' })
              : answer;
          });
        },
        all,
      ],
      'a policy of another tenant [MA-174]': [
        ['denial', 'cache', 'selector'].map((group) => `${group}.readSelectionPolicy`),
        () =>
          askingAs((request) =>
            sideOf(request) === undefined
              ? undefined
              : tenants().find(({ mastery }) => request.target.endsWith(mastery?.selectionPolicyId ?? '?'))
                  ?.full,
          ),
        all,
      ],
      'a caller without a token who is served': [
        over('anonymous', 'startAdaptiveRun'),
        () => askingAs((request) => (bearer(request) === '' ? proofs.mastery.a.full : undefined)),
        /^anonymous\.startAdaptiveRun\./,
      ],
      'a start that is replayed to another tenant [MA-189]': [
        over('idempotency', 'startAdaptiveRun'),
        () => keeping((request) => request.target === '/v1/adaptive-runs' && keyed(request)),
        /^(?:denial|idempotency)\./,
      ],
    }),
  )('catches %s [MA-021]', (_, [expected, leak, only]) => isCaught('mastery', expected, leak, only));
});
