import { describe, expect, it } from 'vitest';
import { grade } from '#shared/contract/reports/cohort-report.ts';
import type { Route } from '#shared/contract/route.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import { indistinguishable, type GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';
import { type Rules, answerOf, expectHeadersOfEvery, notFound, openTitles, sendDraft } from './answers.ts';
import {
  CANARY,
  NAME,
  casesOf,
  draftOf,
  findingIn,
  inBody,
  inPath,
  oddIdsAt,
  servedVariants,
  targetOf,
  withHeader,
  withQuery,
} from './requests.ts';
import type { Draft, Header } from './requests.ts';
import { everyClaim, openWorlds, operations, ownedBy } from './worlds.ts';
import type { OperationId } from '#shared/contract/routes.ts';

const stack = useTestStack();
const worlds = lazily(() => openWorlds(stack));
const control = lazily(() => openControlRecords(stack));
const hold = { mastery: openPublishedContract('mastery'), reports: openPublishedContract('reports') };

async function draft(operation: OperationId, route: Route): Promise<Draft> {
  const call = await worlds.request(operation);
  return draftOf(route, call, await stack.tokenFor('tenant-aurora', [route.scope], call.claims ?? {}));
}

const send = (route: Route, request: Draft, method?: string): Promise<GatewayReply> =>
  sendDraft(stack, route, request, method);

/** The rules that a case guards, by what its title says. Every row is for some title. */
const rules: Rules = [
  [/^(?:read|list|materialize|analyze)\w+ 400 validation: \/(?:path|query|body)/, 'RP-331'],
  [/^readAttemptReport 400 .*\/(?:path|query)\//, 'RP-230'],
  [/^listCandidateReports 400 .*\/(?:path|query)\//, 'RP-235'],
  [
    /^(?:readReadiness|readClassCohort|readSchoolGradeCohort|readEquivalence|analyzeAdministration) 400 .*\/path\/\w+Id /,
    'RP-281',
  ],
  [
    /^(?:readImprovementRun|readAlignmentReport|listRevisionOrders) 400 .*\/path\/improvementRunId /,
    'RP-281',
  ],
  [/^readAlignmentReport 400 .*\/path\//, 'RP-270'],
  [
    /^(?:read(?:AttemptReport|Readiness)|analyze\w+|materialize\w+) 400 .*Id in no documented form/,
    'RP-049, RP-050',
  ],
  [/\/query\/qtiTestId /, 'RP-049, RP-050'],
  [/\/path\/grade /, 'RP-243'],
  [/\/path\/grade of the code list/, 'RP-005'],
  [/\/query\/view /, 'RP-048, RP-074'],
  [/\/query\/limit /, 'RP-048, RP-302'],
  [/\/query\/modifiedSince /, 'RP-048, RP-051, RP-300'],
  [/\/query\/testKind /, 'RP-048, RP-060'],
  [/\/query\/sort /, 'RP-236, RP-301, RP-308'],
  [/\/query\/cursor /, 'RP-134, RP-303'],
  [/^listRevisionOrders 400 validation: \/query\//, 'RP-275'],
  [/^listCandidateReports .*\/query with/, 'RP-236'],
  [/^listRevisionOrders .*\/query with/, 'RP-276'],
  [/^listRevisionOrders .*\/query\/(?:status|targetModule) /, 'RP-298, RP-299'],
  [/unsupported-parameter: \/query with/, 'RP-229, RP-307'],
  [/unsupported-parameter: \/query with a name that the route does not have/, 'RP-008, RP-225, RP-309'],
  [/unsupported-parameter: \/query with a name of any characters/, 'RP-324'],
  [/^materialize\w+ 400 unsupported-parameter: \/query with a name that the route/, 'RP-285'],
  [/unsupported-parameter: a defect in every place/, 'RP-307'],
  [/(?:validation|unsupported-parameter): (?:a defect in|more than a hundred)/, 'RP-329'],
  [/^(?:materialize|analyze)\w+ 400 .*\/headers\/idempotency-key/, 'RP-291'],
  [/^materialize\w+ 400 /, 'RP-254'],
  [/^materialize\w+ 400 .*\/headers\//, 'RP-286'],
  [/^materialize\w+ 400 .*\/body(?:\/\w+)? /, 'RP-047'],
  [/^materialize\w+ 400 .*\/body with a field/, 'RP-225'],
  [/^materialize\w+ 400 .*\/body\/view/, 'RP-284'],
  [/^analyze\w+ 400 .*(?:\/body|\/headers)/, 'RP-260, RP-294'],
  [/invalid-request: /, 'MA-187, MA-210'],
  [/invalid-request: \/query with a name that the route does not have/, 'MA-063, MA-200'],
  [/invalid-request: \/headers\/idempotency-key/, 'MA-045'],
  [/invalid-request: \/body with a field/, 'MA-003, MA-012, MA-188, MA-200'],
  [/^start\w+ .*\/body\/selectionPolicyId/, 'MA-051'],
  [/^start\w+ .*\/body\/scaleCalibrationId/, 'MA-052'],
  [/^start\w+ .*\/body\/testSpecId/, 'MA-053'],
  [/^start\w+ .*\/body\/testBankId/, 'MA-054'],
  [/^start\w+ .*\/body\/bankOperationId/, 'MA-055'],
  [/^start\w+ .*\/body\/runMode/, 'MA-056'],
  [/\/body\/continuationToken/, 'MA-059'],
  [/^simulate\w+ 400 .*\/body/, 'MA-124'],
  [/^simulate\w+ 400 .*\/body\/profiles/, 'MA-126'],
  [/\/syntheticProfileId/, 'MA-127'],
  [/\/knownMastery/, 'MA-041, MA-128'],
  [/413 simulation-limit-exceeded/, 'MA-182'],
  [/^(?:read|list|materialize|analyze)\w+ 404 not-found: /, 'RP-005, RP-049, RP-050, RP-316'],
  [/ 200: headers that it has no use for/, 'RP-224'],
  [/^start\w+ 404 /, 'MA-151'],
  [/^simulate\w+ 404 /, 'MA-180'],
  [/^readSelectionPolicy 404 /, 'MA-040, MA-174'],
  [/^readScaleCalibration 404 /, 'MA-040, MA-176'],
  [/^mastery 404 .*: a method or path of no route/, 'MA-003, MA-018, MA-227'],
  [/^reports 404 .*: a method or path of no route/, 'RP-223, RP-224'],
  [/^sandbox 404 .*: a method or path of no route/, 'RP-042, RP-043'],
];
const { titled, unused } = openTitles(rules);

describe.each(operations)('$operation', ({ operation, route }) => {
  it.each(casesOf(route).map((one) => [titled(`${operation} ${one.problem}: ${one.what}`), one] as const))(
    '%s',
    async (_, { problem, findings, requests }) => {
      const good = await draft(operation, route);
      const before = await control.items();
      const { calls } = await callsDuring(stack, async () => {
        for (const [name, change, own = findings] of requests) {
          const reply = await send(route, change(good));
          const expected = [problem, ...own.map((finding) => findingIn(good, finding))];
          expect([name, ...answerOf(route, reply).toSorted()]).toEqual([name, ...expected.toSorted()]);
          hold[route.service](route, reply);
          expectHeadersOfEvery(reply);
          expect(`${JSON.stringify([...reply.headers])}${reply.text}`).not.toContain(CANARY);
        }
      });
      expect(calls).toEqual([]);
      expect(await control.items()).toEqual(before);
    },
  );
});

/** Places whose ids the services' own stores are asked for, and no owner. */
const kept = [
  ...['selectionPolicyId', 'scaleCalibrationId', 'policyId', 'calibrationId'],
  ...['improvementRunId', 'sourceKey'],
];

describe.each(operations)('$operation', ({ operation, route }) => {
  it(titled(`${operation} ${route.success.status}: whatever spelling of a good request`), async () => {
    const good = await draft(operation, route);
    for (const [name, change] of servedVariants(route)) {
      const reply = await send(route, change(good));
      expect([name, ...answerOf(route, reply)]).toEqual([name, `${route.success.status}`]);
    }
  });

  const hidden = notFound[route.service];
  it.each(
    ownedBy(operation)
      .filter(([, name]) => name !== 'continuationToken')
      .map(
        (place) => [titled(`${operation} ${hidden}: /${place.join('/')} of odd characters`), place] as const,
      ),
  )('%s', async (_, [part, name]) => {
    const call = await worlds.request(operation);
    const odd = oddIdsAt(route, part, name);
    const claims = everyClaim(odd);
    const good = draftOf(route, call, await stack.tokenFor('tenant-aurora', [route.scope], claims));
    // No path can carry these, and no source key is one of them.
    const dots = part === 'path' && name !== 'sourceKey' ? ['.', '..', '%2E', '%2e%2E', '.%2e'] : [];
    // What reads a body is alike for all names in it.
    const ids = odd.filter((_id, at) => part === 'path' || kept.includes(name) || at % 3 === name.length % 3);
    const { calls } = await callsDuring(stack, async () => {
      for (const encoded of dots)
        expect([encoded, ...answerOf(route, await send(route, inPath(name, encoded)(good)))]).toEqual([
          encoded,
          hidden,
        ]);
      for (const id of ids) {
        const fresh = route.request.idempotencyKey
          ? withHeader('Idempotency-Key', crypto.randomUUID())(good)
          : good;
        const change = part === 'path' ? inPath(name, encodeURIComponent(id)) : inBody([name], id);
        const reply = await send(route, change(fresh));
        expect([id, ...answerOf(route, reply)]).toEqual([id, hidden]);
        expect(reply.text).not.toContain(CANARY);
      }
    });
    // Each goes on to its owner byte for byte, unless a proxy could take a part of it for a dot segment.
    const named = calls.flatMap(({ path }) => path.split('/').map(decodeURIComponent));
    const withheld = ids.filter((id) => kept.includes(name) || id.split('/').includes('..'));
    expect(ids.filter((id) => !named.includes(id))).toEqual(withheld);
    expect(named.filter((segment) => segment === '.' || segment === '..')).toEqual([]);
  });
});

/** Headers that a read has no use for. */
const noise: readonly (readonly Header[])[] = [
  [
    ['Accept', 'text/html'],
    ['Range', 'bytes=0-1'],
    ['Idempotency-Key', ''],
    ['If-Match', '"x"'],
    ['If-None-Match', '*'],
  ],
  // Another host, target, method and tenant.
  [
    ['X-Forwarded-Host', `${CANARY}.example`],
    ['Forwarded', `host=${CANARY};proto=http`],
    ['X-Original-URL', '/v1/forms/a/equivalence'],
    ['X-HTTP-Method', 'DELETE'],
    ['X-Tenant-Id', CANARY],
    ['X-Amzn-Oidc-Data', CANARY],
    ['Cookie', `tenantId=${CANARY}`],
  ],
  ['User-Agent', 'Origin', 'X-Request-Id', 'baggage', 'tracestate'].map((name): Header => [name, CANARY]),
  [
    ['X-Long', 'x'.repeat(9_000)],
    ['X-Odd', '\u00ff\u0080\u00a0'],
    ['traceparent', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`],
  ],
  Array.from({ length: 100 }, (_, at): Header => [`X-${at}`, 'x'.repeat(60)]),
];

/** What an answer says beside its ids and times. */
function factsOf({ status, text }: GatewayReply): unknown {
  const stamps = ['requestId', 'traceId', 'observedAt', 'nextCursor', 'downloadUrl', 'expiresAt'];
  return [
    status,
    JSON.parse(text, (name, value: unknown) => (stamps.includes(name) ? typeof value : value)) as unknown,
  ];
}

describe.each(operations.filter(({ route }) => route.method === 'GET'))(
  '$operation',
  ({ operation, route }) => {
    it(
      titled(`${operation} ${route.success.status}: headers that it has no use for change nothing`),
      async () => {
        const good = await draft(operation, route);
        const facts = factsOf(await send(route, good));
        for (const [what, headers] of noise.entries()) {
          const noisy = { ...good, headers: [...good.headers, ...headers] };
          const reply = await send(route, noisy);
          expect([what, factsOf(reply)]).toEqual([what, facts]);
          expect(reply.headers.get('content-type')).toBe('application/json');
          expect(reply.headers.get('cache-control')).toBe('no-store, no-transform');
          expect(reply.text).not.toContain(CANARY);
          const refused = await send(route, withQuery('foo=1')(noisy));
          expect([what, ...answerOf(route, refused).slice(1)]).toEqual([
            what,
            '/query/foo unsupported-parameter',
          ]);
        }
        const overridden = await send(route, withHeader('X-HTTP-Method-Override', 'DELETE')(good));
        expect(overridden.status).toBeGreaterThanOrEqual(400);
        expect(overridden.headers.get('content-type')).toBe('application/problem+json');
        const isStreamed = route.success.transfer === 'stream';
        for (const [accepted, coding] of [
          ['br, gzip;q=0.8', isStreamed ? 'gzip' : null],
          ['gzip;q=0, *', null],
          ['identity;q=0', null],
        ] as const) {
          const coded = withHeader('Accept-Encoding', accepted);
          const reply = await send(route, coded(good));
          expect([accepted, reply.headers.get('content-encoding'), factsOf(reply)]).toEqual([
            accepted,
            coding,
            facts,
          ]);
          expect(reply.headers.get('vary')).toBe(isStreamed ? 'Accept-Encoding' : null);
          expect(
            (await send(route, withQuery('foo=1')(coded(good)))).headers.get('content-encoding'),
          ).toBeNull();
        }
      },
    );
  },
);

it.each([
  ['startAdaptiveRun', 'testSpecId', '400 invalid-request'],
  ['materializeAttemptReport', 'attemptId', '400 validation'],
] as const)(
  '%s: bytes of %s that are not UTF-8 are %s, whichever they are [MA-187, RP-331]',
  async (name, member, problem) => {
    const row = operations.find(({ operation }) => operation === name)!;
    const good = await draft(row.operation, row.route);
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
      const { body = '' } = inBody([member], `a${String.fromCharCode(...bytes)}b`)(good);
      const sent = { method: row.route.method, headers: good.headers, body: Buffer.from(body, 'latin1') };
      const reply = await callRaw(stack.urls[`${row.route.service}Url`], row.route.path, sent);
      expect(answerOf(row.route, reply)).toEqual([problem, `/body/${member} invalid-format`]);
    }
  },
);

describe('values of a path that are no ids', () => {
  it(
    titled(
      'readSchoolGradeCohort: /path/grade of the code list, and no other, goes on to its owner as it is',
    ),
    async () => {
      const row = operations.find(({ operation }) => operation === 'readSchoolGradeCohort')!;
      const good = await draft(row.operation, row.route);
      expect(grade.options).toHaveLength(24);
      for (const code of grade.options) {
        const { result, calls } = await callsDuring(stack, () =>
          send(row.route, inPath('grade', code)(good)),
        );
        // Analytics has analysed it, never, or withholds its count.
        expect([code, [200, 404, 503].includes(result.status)]).toEqual([code, true]);
        expect(calls.filter(({ path }) => path.split('/').includes(code))).not.toEqual([]);
      }
      for (const unknown of ['14', '5', 'kg', 'Grade-05'])
        expect([
          unknown,
          ...answerOf(row.route, await send(row.route, inPath('grade', unknown)(good))),
        ]).toEqual([unknown, '400 validation', '/path/grade not-allowed']);
    },
  );
});

describe.each([
  ['mastery', operations.filter(({ route }) => route.service === 'mastery'), 'masteryUrl'],
  ['reports', operations.filter(({ route }) => route.service === 'reports'), 'reportsUrl'],
  ['sandbox', operations.filter(({ operation }) => operation in sandboxRoutes), 'sandboxUrl'],
] as const)('what the %s does not serve', (name, rows, url) => {
  const hidden = notFound[rows[0]!.route.service];

  it(titled(`${name} ${hidden}: a method or path of no route`), async () => {
    const paths = new Set([
      ...['', '/', '/v1', '/v1/', '/.env', '/v1/webhooks', '/v1/%2e%2e/_control/state', '/v1/../v1'],
      ...operations.flatMap(({ route: { path: template } }) => {
        const path = template.replaceAll(/\{\w+\}/g, 'a');
        const segments = path.split('/').slice(2);
        return [
          ...[path, path.replace('/v1', '/v2'), path.replace('/v1', '/V1'), path.replace('/v1', '')],
          ...[`${path}/`, `${path}/x`, path.replace('/v1/', '/v1//')],
          `/v1/${segments.join('%2F')}`.replace(/^(\/v1\/[^%]*)$/, '$1/b'),
          ...segments.map((_, at) => `/v1/${segments.with(at, '').join('/')}`),
          ...segments.map((segment, at) => `/v1/${segments.with(at, segment.toUpperCase()).join('/')}`),
          ...(path.includes(':') ? [path.replace(':', '%3A'), path.replace(/:.*/, ':x')] : []),
        ];
      }),
    ]);
    // A REST API serves a path with a slash at its end too.
    const served = rows.map(({ route }) => new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`));
    const odd = [...paths].filter((path) => !served.some((pattern) => pattern.test(path)));
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
    const distinct = new Set<string>();
    const token = await stack.tokenFor(
      'tenant-aurora',
      rows.map(({ route }) => route.scope),
    );
    const note = async (method: string, path: string): Promise<void> => {
      for (const headers of [[], [['Authorization', `Bearer ${token}`]]] as const) {
        const reply = await callRaw(stack.urls[url], path, { method, headers });
        expect([method, path, ...answerOf(rows[0]!.route, reply)]).toEqual([method, path, hidden]);
        distinct.add(JSON.stringify(indistinguishable(reply)));
      }
    };
    const { calls } = await callsDuring(stack, async () => {
      for (const path of odd) await note('GET', path);
      for (const { operation, route } of rows) {
        const target = targetOf(route, await draft(operation, route));
        const taken = rows.filter((row) => row.route.path === route.path).map((row) => row.route.method);
        for (const method of methods.filter((one) => !taken.some((own) => own === one)))
          await note(method, target);
      }
    });
    expect(calls).toEqual([]);
    expect(distinct.size).toBe(1);
  });
});

it('has put nothing of what was sent into a log line [MA-007, MA-063, MA-089, RP-324]', () => {
  const written = JSON.stringify(stack.logs());
  expect(written).toContain('REQUEST_REFUSED');
  const forms = [
    NAME,
    CANARY,
    Buffer.from(CANARY).toString('base64url').slice(0, -1),
    Buffer.from(CANARY).toString('hex'),
  ];
  expect(forms.filter((form) => written.includes(form))).toEqual([]);
  for (const code of ['REQUEST_FAILED', 'ANSWER_REFUSED', 'ANSWER_BROKEN', 'PROBLEM_UNDECLARED'])
    expect(written).not.toContain(code);
});

it('attaches every rule to a case', () => {
  expect(unused()).toEqual([]);
});
