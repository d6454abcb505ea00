import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { sandboxIds } from '#shared/contract/sandbox.ts';
import { attemptReport, attemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { materializeResponse } from '#shared/contract/reports/materialize.ts';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { reportsProblemOf } from '#test/support/reports-call.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { startSandbox } from '#test/support/sandbox.ts';
import type { TestSandbox } from '#test/support/sandbox.ts';

/*
 * The bundle that deploys, behind a gateway and with nothing else: no variable of the reports service is set, no owner can be asked.
 */
let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const { masteryGateAttempt, adaptiveDiagnosticAttempt, candidate, form } = sandboxIds;
const history = `/v1/candidates/${candidate}/attempt-reports`;
const gateReport = `/v1/attempt-reports/${masteryGateAttempt}`;

/** One request of everything that the manifest holds. */
const fixtures = [
  [sandboxRoutes.readAttemptReport, gateReport],
  [sandboxRoutes.readAttemptReport, `${gateReport}?view=standards`],
  [sandboxRoutes.readAttemptReport, `${gateReport}?view=evidence`],
  [sandboxRoutes.readAttemptReport, `/v1/attempt-reports/${adaptiveDiagnosticAttempt}?view=evidence`],
  [sandboxRoutes.readReadiness, `${gateReport}/readiness`],
  [sandboxRoutes.listCandidateReports, history],
  [sandboxRoutes.listCandidateReports, `${history}?limit=1`],
  [sandboxRoutes.listCandidateReports, `${history}?testKind=formative`],
  [sandboxRoutes.readEquivalence, `/v1/forms/${form}/equivalence`],
  [sandboxRoutes.materializeAttemptReport, '/v1/attempt-reports:materialize'],
] as const;

function methodOf(target: string): 'GET' | 'POST' {
  return target.endsWith(':materialize') ? 'POST' : 'GET';
}

async function read<T>(schema: z.ZodType<T>, target: string): Promise<T> {
  const { status, text } = await sandbox.call(target, { method: methodOf(target) });
  expect(status).toBe(200);
  return schema.parse(JSON.parse(text));
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** All of an answer but the ids of its request. */
function sameness({ status, headers, text }: GatewayReply): object {
  const { requestId, traceId } = idsOf(text);
  const named = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-amzn-requestid'].includes(name));
  return { status, named, text: text.replaceAll(requestId, 'R').replaceAll(traceId, 'T') };
}

/** A page has them in its rows, a materialization in its report; an empty page has none. */
function idsOf(text: string): { readonly requestId: string; readonly traceId: string } {
  const [, requestId = 'none'] = /"requestId":"([^"]+)"/.exec(text) ?? [];
  const [, traceId = 'none'] = /"traceId":"([^"]+)"/.exec(text) ?? [];
  return { requestId, traceId };
}

describe('every fixture', () => {
  const named = fixtures.map(([route, target]) => [route.operationId, target, route] as const);

  it('stands under a method and path of production [RP-033, RP-223]', () => {
    const production = routesOf('reports').map(({ method, path }) => `${method} ${path}`);
    for (const { method, path } of Object.values(sandboxRoutes)) {
      expect(production).toContain(`${method} ${path}`);
      expect(path).toMatch(/^\/v1\//);
    }
  });

  it.each(named)('%s: %s is answered as the published document says [RP-033]', async (_, target, route) => {
    const reply = await sandbox.call(target, { method: route.method });
    expect(reply.status).toBe(200);
    openPublishedContract('sandbox')(route, reply);
    // And as production's own schema says, which knows no other member.
    const production = routesOf('reports').find(({ operationId }) => operationId === route.operationId);
    expect(production?.success.schema.safeParse(JSON.parse(reply.text)).error?.issues ?? []).toEqual([]);
  });

  it('has the headers of every answer, and follows a trace [RP-073]', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { headers, text } = await sandbox.call(gateReport, {
      headers: [['traceparent', `00-${traceId}-00f067aa0ba902b7-01`]],
    });
    const report = attemptReport.parse(JSON.parse(text));
    expect(report.traceId).toBe(traceId);
    expect(headers.get('x-request-id')).toBe(report.requestId);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toContain('max-age=63072000');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('the token', () => {
  const expired = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4IiwidGVuYW50SWQiOiJ0ZW5hbnQtYXVyb3JhIiwiZXhwIjoxfQ.AAAA';
  it.each<readonly [string, readonly (readonly [string, string])[]]>([
    ['none', []],
    ['an empty one', [['Authorization', '']]],
    ['another scheme', [['Authorization', 'Basic dXNlcjpwYXNz']]],
    ['no JWT', [['Authorization', 'Bearer no.such.token']]],
    ['an expired one', [['Authorization', `Bearer ${expired}`]]],
    ['an unsigned one', [['Authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.']]],
    [
      'two of them',
      [
        ['Authorization', 'Bearer a'],
        ['Authorization', 'Bearer b'],
      ],
    ],
    ['five kilobytes of it', [['Authorization', `Bearer ${'A'.repeat(5_000)}`]]],
  ])(
    '%s: every fixture is answered as ever, and so is what it does not hold [RP-034]',
    async (_, headers) => {
      for (const target of [...fixtures.map(([, fixture]) => fixture), '/v1/attempt-reports/other']) {
        const method = methodOf(target);
        const expected = sameness(await sandbox.call(target, { method }));
        expect(sameness(await sandbox.call(target, { method, headers }))).toEqual(expected);
      }
    },
  );
});

describe('the fixed attempts', () => {
  it('one failed its mastery gate: one gap with nested evidence, and no diagnostic [RP-035]', async () => {
    const report = await read(attemptReport, `${gateReport}?view=evidence`);
    expect(report).toMatchObject({ testKind: 'mastery_gate', diagnostic: null, gate: { status: 'fail' } });
    expect(report.attemptId).toBe(masteryGateAttempt);
    expect(report.mastery).toHaveLength(1);
    const [row] = report.mastery;
    expect(row?.state).toBe('gap');
    expect(row?.evidence?.length).toBeGreaterThan(0);
    expect(report.gate?.gapCaseGuids).toEqual([row?.caseGuid]);
    expect(report.gate?.achieved).toBeLessThan(report.gate?.required ?? 0);
  });

  it('one is an adaptive diagnostic with every state, both kinds and no external norms [RP-036]', async () => {
    const report = await read(
      attemptReport,
      `/v1/attempt-reports/${adaptiveDiagnosticAttempt}?view=evidence`,
    );
    expect(report.testKind).toBe('adaptive_diagnostic');
    expect(report.gate).toBeNull();
    expect(report.diagnostic).toMatchObject({ extNormsSet: null });
    expect(report.diagnostic?.scaleScore).toBe(report.score.value);
    expect(report.diagnostic?.scaleVersion).toBe(report.score.scaleVersion);
    expect(new Set(report.mastery.map(({ kind }) => kind))).toEqual(
      new Set(['standard', 'knowledge_component']),
    );
    expect(new Set(report.mastery.map(({ state }) => state))).toEqual(
      new Set(['mastered', 'not_yet', 'gap']),
    );
    const guids = report.mastery.map(({ caseGuid }) => caseGuid);
    for (const { kind, parentCaseGuid, evidence } of report.mastery) {
      expect(evidence?.length).toBeGreaterThan(0);
      if (kind === 'knowledge_component') expect(guids).toContain(parentCaseGuid);
      else expect(parentCaseGuid).toBeNull();
    }
    const items = report.mastery.flatMap(({ evidence = [] }) => evidence.map(({ qtiItemId }) => qtiItemId));
    expect(new Set(items).size).toBe(report.diagnostic?.administeredItemCount);
  });

  it.each([masteryGateAttempt, adaptiveDiagnosticAttempt])(
    'a view of %s only projects [RP-074, RP-076]',
    async (id) => {
      const views = ['?view=evidence', '?view=standards', '?view=summary', ''];
      const [evidence, standards, summary, byDefault] = await Promise.all(
        views.map((view) => read(attemptReport, `/v1/attempt-reports/${id}${view}`)),
      );
      const rest = (report: unknown): object => ({
        ...(report as object),
        mastery: [],
        omitted: [],
        requestId: '',
        traceId: '',
      });
      for (const report of [standards, summary, byDefault]) expect(rest(report)).toEqual(rest(evidence));
      expect(evidence?.omitted).toEqual(['readiness']);
      expect(standards?.omitted).toEqual(['itemEvidence', 'readiness']);
      expect(standards?.mastery).toEqual(
        evidence?.mastery.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'evidence')),
        ),
      );
      for (const report of [summary, byDefault])
        expect(report).toMatchObject({ mastery: [], omitted: ['mastery', 'itemEvidence', 'readiness'] });
    },
  );

  it('readiness of the failed gate is not ready [RP-040]', async () => {
    const { attemptId, entries } = await read(readinessReport, `${gateReport}/readiness`);
    expect(attemptId).toBe(masteryGateAttempt);
    expect(entries.map(({ decision }) => decision)).toEqual(['not_ready']);
    expect(entries[0]).toMatchObject({
      decisionRuleId: 'gate-implies-readiness',
      decisionRuleVersion: '2',
    });
  });
});

describe('materializing', () => {
  const call = (headers: readonly (readonly [string, string])[], body?: string): Promise<GatewayReply> =>
    sandbox.call('/v1/attempt-reports:materialize', {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    });

  it('is always the same operation, whatever key and body [RP-037, RP-042]', async () => {
    const first = await call([]);
    const { operationId, report } = materializeResponse.parse(JSON.parse(first.text));
    expect(operationId).toMatch(/^op_/);
    expect(report).toMatchObject({
      attemptId: masteryGateAttempt,
      omitted: ['mastery', 'itemEvidence', 'readiness'],
    });
    const key = (value: string): readonly [string, string] => ['Idempotency-Key', value];
    const json = ['Content-Type', 'application/json'] as const;
    const requests: readonly (readonly [readonly (readonly [string, string])[], string?])[] = [
      [[key('k'), json], '{"attemptId":"a","administrationId":"b"}'],
      // The same key with another body, and without a change: neither a conflict nor a replay.
      [[key('k'), json], '{"attemptId":"other"}'],
      [[key('k'), json], '{"attemptId":"other"}'],
      [[key(' '), key('two')], '{"unknown":1}'],
      [[key('x'.repeat(300)), ['Content-Type', 'text/plain']], '{{'],
      [[json], '{"a":1,"a":2}'],
      [[json], ' '.repeat(100_000)],
      [[json], '['.repeat(100_000)],
    ];
    for (const [headers, body] of requests)
      expect(sameness(await call(headers, body))).toEqual(sameness(first));
    expect(first.headers.has('idempotent-replayed')).toBe(false);
  });
});

describe('the candidate', () => {
  const page = (query: string) => read(attemptReportPage, `${history}${query}`);
  const kindsOf = ({ data }: z.output<typeof attemptReportPage>): readonly string[] =>
    data.map(({ testKind }) => testKind);

  it('has both attempts, as summaries, newest first [RP-133]', async () => {
    const { data, nextCursor, hasMore } = await page('');
    expect(data.map(({ attemptId }) => attemptId)).toEqual([masteryGateAttempt, adaptiveDiagnosticAttempt]);
    for (const row of data) {
      expect(row).toMatchObject({ candidateSourcedId: candidate, mastery: [] });
      expect(row.omitted).toEqual(['mastery', 'itemEvidence', 'readiness']);
    }
    expect({ nextCursor, hasMore }).toEqual({ nextCursor: null, hasMore: false });
  });

  it.each(['mastery_gate', 'adaptive_diagnostic', 'formative'])(
    'has of the kind %s what the fixture has, and an empty last page without any [RP-038]',
    async (kind) => {
      const found = await page(`?testKind=${kind}`);
      expect(kindsOf(found)).toEqual(kind === 'formative' ? [] : [kind]);
      expect(found).toMatchObject({ nextCursor: null, hasMore: false });
    },
  );

  it.each([
    ['?status=scored', 2],
    ['?status=indeterminate', 0],
    [`?qtiTestId=${form}`, 1],
    ['?qtiTestId=other', 0],
    ['?modifiedSince=2026-01-14T15:20:00Z', 1],
    ['?modifiedSince=2026-01-14T15:20:00.000000001Z', 0],
    ['?sort=-modifiedAt', 2],
    ['?status=scored&testKind=adaptive_diagnostic&modifiedSince=2026-01-01T00:00:00Z', 1],
  ])('every row matches %s', async (query, rows) => {
    expect((await page(query)).data).toHaveLength(rows);
  });

  it('is walked with cursors to a last page [RP-039]', async () => {
    const first = await page('?limit=1');
    expect(kindsOf(first)).toEqual(['mastery_gate']);
    expect(first.hasMore).toBe(true);
    const last = await page(`?limit=1&cursor=${encodeURIComponent(first.nextCursor ?? '')}`);
    expect(kindsOf(last)).toEqual(['adaptive_diagnostic']);
    expect(last).toMatchObject({ nextCursor: null, hasMore: false });
  });

  it('takes a cursor with the filters, sort and limit that it was given out for, and no other [RP-303]', async () => {
    const { nextCursor } = await page('?limit=1&status=scored');
    const cursor = nextCursor ?? '';
    const answers = new Set<string>();
    for (const query of [
      `limit=1&cursor=${cursor}`,
      `limit=2&status=scored&cursor=${cursor}`,
      `limit=1&status=scored&testKind=mastery_gate&cursor=${cursor}`,
      `limit=1&status=scored&cursor=${cursor.slice(0, -1)}`,
      `limit=1&status=scored&cursor=${cursor.toUpperCase()}`,
      'limit=1&status=scored&cursor=1',
      `limit=1&status=scored&cursor=${'A'.repeat(2049)}`,
      'limit=1&status=scored&cursor=',
    ]) {
      const reply = await sandbox.call(`${history}?${query}`);
      const problem = reportsProblemOf(reply);
      expect(problem.type).toMatch(/\/validation$/);
      answers.add(JSON.stringify(problem.fieldErrors));
    }
    expect([...answers]).toHaveLength(1);
    // The sort is the default one, and one instant has many spellings.
    expect((await page(`?limit=1&status=scored&sort=-modifiedAt&cursor=${cursor}`)).hasMore).toBe(false);
  });
});

describe('the form', () => {
  it('is the one of which equivalence can be read [RP-041]', async () => {
    const report = await read(equivalenceReport, `/v1/forms/${form}/equivalence`);
    expect(report.qtiTestId).toBe(form);
    for (const other of [...report.comparisonQtiTestIds, 'sandbox-form-adaptive', form.toUpperCase()]) {
      const { status } = await sandbox.call(`/v1/forms/${other}/equivalence`);
      expect([other, status]).toEqual([other, 404]);
    }
  });
});

describe('what is not on the manifest', () => {
  const unknown: readonly (readonly [method: string, target: string])[] = [
    ['GET', '/v1/attempt-reports/other'],
    ['GET', `/v1/attempt-reports/${masteryGateAttempt.toUpperCase()}`],
    ['GET', `/v1/attempt-reports/${candidate}`],
    ['GET', '/v1/attempt-reports/__proto__'],
    ['GET', '/v1/attempt-reports/%ZZ'],
    ['GET', '/v1/attempt-reports/%20'],
    ['GET', `/v1/attempt-reports/${'x'.repeat(400)}`],
    ['GET', '/v1/attempt-reports/other?testId=1'],
    ['GET', `/v1/attempt-reports/${adaptiveDiagnosticAttempt}/readiness`],
    ['GET', '/v1/candidates/other/attempt-reports'],
    ['GET', '/v1/classes/class-1/cohort-report'],
    ['GET', '/v1/schools/school-1/grades/05/cohort-report'],
    ['POST', '/v1/administrations/administration-1/improvement-runs:analyze'],
    ['GET', '/v1/improvement-runs/run-1'],
    ['GET', '/v1/improvement-runs/run-1/alignment-reports/source-1'],
    ['GET', '/v1/improvement-runs/run-1/revision-orders'],
    ['POST', gateReport],
    ['PUT', gateReport],
    ['DELETE', gateReport],
    ['HEAD', gateReport],
    ['OPTIONS', gateReport],
    ['GET', '/v1/attempt-reports:materialize'],
    ['POST', '/v1/attempt-reports%3Amaterialize'],
    ['GET', `${gateReport}/`],
    ['GET', `/v2/attempt-reports/${masteryGateAttempt}`],
    ['GET', `/attempt-reports/${masteryGateAttempt}`],
    ['POST', '/v1/tokens'],
    ['GET', '/v1'],
    ['GET', ''],
  ];
  it.each(unknown)('%s %s is the one 404 [RP-042, RP-043]', async (method, target) => {
    const reply = await sandbox.call(target, { method });
    expect(reply.status).toBe(404);
    if (method === 'HEAD') return;
    const expected = reportsProblemOf(await sandbox.call('/v1/attempt-reports/any'));
    const problem = reportsProblemOf(reply);
    expect({ ...problem, requestId: '', traceId: '', instance: '' }).toEqual({
      ...expected,
      requestId: '',
      traceId: '',
      instance: '',
    });
    expect(problem.type).toMatch(/\/not-found$/);
    expect(reply.headers.get('x-request-id')).toBe(problem.requestId);
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  it('an id may be spelled as the gateway allows, and is compared decoded', async () => {
    const spelled = masteryGateAttempt.replaceAll('-', '%2D');
    expect((await sandbox.call(`/v1/attempt-reports/${spelled}`)).status).toBe(200);
  });
});

describe('what is asked of a known resource', () => {
  it.each([
    [`${gateReport}?testId=1`, 'unsupported-parameter', '/query/testId'],
    [`${gateReport}?view=summary&tenantId=x`, 'unsupported-parameter', '/query/tenantId'],
    [`${gateReport}/readiness?view=evidence`, 'unsupported-parameter', '/query/view'],
    [`/v1/forms/${form}/equivalence?x=1`, 'unsupported-parameter', '/query/x'],
    [`${history}?testId=1&limit=0`, 'unsupported-parameter', '/query/testId'],
    [`${history}?sort=modifiedAt`, 'unsupported-parameter', '/query/sort'],
    [`${gateReport}?view=Summary`, 'validation', '/query/view'],
    [`${gateReport}?view=`, 'validation', '/query/view'],
    [`${gateReport}?view=summary&view=summary`, 'validation', '/query/view'],
    [`${history}?testKind=unknown`, 'validation', '/query/testKind'],
    [`${history}?limit=0`, 'validation', '/query/limit'],
    [`${history}?limit=101`, 'validation', '/query/limit'],
    [`${history}?modifiedSince=yesterday`, 'validation', '/query/modifiedSince'],
  ])('%s is a 400 %s, as in production [RP-042, RP-307]', async (target, code, pointer) => {
    const reply = await sandbox.call(target);
    const problem = reportsProblemOf(reply);
    expect([reply.status, problem.type.split('/').at(-1)]).toEqual([400, code]);
    expect(problem.fieldErrors?.map((error) => error.pointer)).toEqual([pointer]);
    openPublishedContract('sandbox')(
      Object.values(sandboxRoutes).find(({ path }) => matches(path, target))!,
      reply,
    );
  });
});

function matches(template: string, target: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(target.replace(/\?.*$/, ''));
}

describe('hostile requests', () => {
  const secret = 'secret-of-a-caller';
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(secret, '..', '%00', '\u0000'),
  );
  const segment = fc.oneof(
    fc.constantFrom(
      'v1',
      'attempt-reports',
      'candidates',
      'forms',
      'readiness',
      'equivalence',
      ...Object.values(sandboxIds),
    ),
    text.map((value) => encodeURIComponent(value.toWellFormed())),
    fc.string({ unit: fc.constantFrom('%', 'Z', '2', 'F', '.', ';', ':', '~', '!', "'") }),
  );
  const target = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...fixtures.map(([, fixture]) => fixture.replace(/\?.*$/, ''))),
        fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`),
      ),
      fc.array(
        fc.tuple(fc.constantFrom('view', 'limit', 'cursor', 'sort', 'testKind', '__proto__', 'x'), text),
        {
          maxLength: 4,
        },
      ),
    )
    .map(([path, query]) =>
      query.length === 0
        ? path
        : `${path}?${query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&')}`,
    );
  const header = fc.tuple(
    fc.constantFrom(
      'Authorization',
      'Idempotency-Key',
      'X-Request-Id',
      'traceparent',
      'Accept',
      'X-Forwarded-Host',
      'x-amzn-requestid',
    ),
    fc.oneof(
      fc.constant(secret),
      fc.string({
        unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
        maxLength: 300,
      }),
    ),
  );
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'),
    headers: fc.array(header, { maxLength: 5 }),
    body: fc.option(fc.oneof(text, fc.constant(`{"${secret}":"${'x'.repeat(100_000)}"}`)), {
      nil: undefined,
    }),
  });

  it('never end in a failure of the server, and are answered with a problem or a fixture', async () => {
    await fc.assert(
      fc.asyncProperty(target, request, async (path, { body, ...call }) => {
        const reply = await sandbox.call(path, body === undefined ? call : { ...call, body });
        expect([200, 400, 404]).toContain(reply.status);
        if (reply.status !== 200) reportsProblemOf(reply);
        expect(reply.text).not.toContain(secret);
      }),
      { numRuns: 200 },
    );
  });

  it('leave nothing of themselves in the log', async () => {
    await sandbox.call(`/v1/attempt-reports/${secret}?view=${secret}&${secret}=1`, {
      headers: [
        ['Authorization', `Bearer ${secret}`],
        [secret, secret],
      ],
      body: secret,
    });
    await sandbox.call(`${history}?cursor=${secret}&limit=${secret}`, { headers: [['Cookie', secret]] });
    await sandbox.call('/v1/attempt-reports:materialize', { method: 'POST', body: `{"${secret}":1}` });
    const lines = sandbox.logs().map(({ line }) => JSON.stringify(line));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      expect(line).not.toContain(secret);
      for (const id of Object.values(sandboxIds)) expect(line).not.toContain(id);
      expect((JSON.parse(line) as { code?: string }).code).toMatch(/^REQUEST_(?:STARTED|REFUSED|COMPLETED)$/);
      // Of a request, its ids alone: the gateway's and the invocation's.
      expect(line.match(UUID)).toHaveLength(2);
    }
  });
});
