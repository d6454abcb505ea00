import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localCredentials, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import {
  advanceAdaptiveRun,
  inspectAdaptiveRun,
  readScaleCalibration,
  readSelectionPolicy,
  simulateScoreRecovery,
  startAdaptiveRun,
} from '#shared/contract/mastery/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { deprecateRecord } from '#shared/records/release.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { simulationBody } from '#test/support/score-recovery.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

const root = new URL('../../', import.meta.url);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let stack: TestStack;
let runs: AdaptiveRuns;
let started: RunGiven;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  started = await runs.start().sendForRun();
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

describe('rows and handlers', () => {
  it('every row names a file, and every handler is named by one row', () => {
    for (const { handler } of deployedFunctions)
      expect([handler, existsSync(new URL(handler, root))]).toEqual([handler, true]);
    const handlers = readdirSync(new URL('functions', root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('handler.ts'))
      .map((file) => `functions/${file}`);
    expect(handlers.sort()).toEqual(deployedFunctions.map(({ handler }) => handler as string).sort());
  });
});

/** A request of a route that is served. */
function good(route: Route): GatewayCall {
  const body = runs.startBody() as Readonly<Record<string, string>>;
  const { continuationToken } = started.body;
  switch (route) {
    case startAdaptiveRun:
      return { body };
    case inspectAdaptiveRun:
      return { body: { continuationToken } };
    case advanceAdaptiveRun:
      return { body: { continuationToken }, ifMatch: started.etag };
    case readSelectionPolicy:
      return { path: { policyId: body['selectionPolicyId']! } };
    case simulateScoreRecovery:
      return { body: simulationBody(stack) };
    default:
      return { path: { calibrationId: body['scaleCalibrationId']! } };
  }
}

/** Another body of the same form. */
function other(body: object): object {
  const [name = ''] = Object.keys(body);
  const value = (body as Readonly<Record<string, string>>)[name] ?? '';
  return { ...body, [name]: `${value.slice(0, -4)}AAAA` };
}

/** Which rule names the scope of a route. */
const scopeRules: Readonly<Partial<Record<Route['scope'], string>>> = {
  'mastery:run': 'MA-150',
  'mastery:read': 'MA-158',
  'mastery:simulate': 'MA-179',
};

/** One way to each answer that a route can be brought to. */
const ways: readonly {
  readonly answer: string;
  readonly applies?: (route: Route) => boolean;
  readonly call: (route: Route) => GatewayCall;
  readonly fault?: Readonly<Record<string, unknown>>;
  /** What of a route's answer this one way shows, beside what every answer does. */
  readonly rule?: (route: Route) => string;
}[] = [
  { answer: 'success', call: good },
  {
    answer: '400 invalid-request',
    rule: () => 'MA-187',
    call: (route) => ({ ...good(route), query: '?view=full' }),
  },
  {
    answer: '401 authentication-required',
    rule: () => 'MA-148',
    call: (route) => ({ ...good(route), headers: { Authorization: 'Bearer no.such.token' } }),
  },
  {
    answer: '403 insufficient-scope',
    rule: ({ scope }) => scopeRules[scope] ?? '',
    call: (route) => ({
      ...good(route),
      scopes: ['mastery:run', 'mastery:read', 'mastery:simulate', 'mastery', 'mastery:*'].filter(
        (scope) => scope !== route.scope,
      ),
    }),
  },
  { answer: '404 resource-not-found', call: (route) => ({ ...good(route), tenantId: 'tenant-borealis' }) },
  {
    answer: '409 idempotency-key-reused',
    applies: hasBody,
    call: (route) => ({ ...good(route), key: randomUUID(), body: other(good(route).body as object) }),
  },
  {
    answer: '412 stream-conflict',
    applies: ({ request }) => request.ifMatch,
    call: (route) => ({ ...good(route), ifMatch: '"stale"' }),
  },
  {
    answer: '413 payload-too-large',
    applies: hasBody,
    call: (route) => ({ ...good(route), body: ' '.repeat(route.request.maxBodyBytes + 1) }),
  },
  {
    answer: '413 simulation-limit-exceeded',
    applies: ({ request }) => request.limit !== undefined,
    rule: () => 'MA-182',
    call: () => ({ body: { profiles: Array.from({ length: 101 }, () => null) } }),
  },
  {
    answer: '424 upstream-unavailable',
    applies: ({ budget }) => budget.calls > 0,
    call: good,
    fault: { operation: 'bank.read_adaptive_pool_manifest', kind: 'status', times: 100 },
  },
  {
    answer: '428 precondition-required',
    applies: ({ request }) => request.ifMatch,
    call: () => ({ body: { continuationToken: started.body.continuationToken } }),
  },
  {
    answer: '502 qti-adaptive-pool-invalid',
    applies: ({ budget }) => budget.calls > 0,
    call: good,
    fault: { operation: 'qti.read_adaptive_pool_root', kind: 'malformed', times: 100 },
  },
];

/** Every answer has its media type; every problem has the envelope too. */
function rulesOf(answer: string, own: string | undefined): string {
  const envelope = answer === 'success' ? [] : ['MA-205', 'MA-206', 'MA-207', 'MA-208'];
  return ['MA-147', ...(own === undefined ? [] : [own]), ...envelope].join(', ');
}

function hasBody({ request }: Route): boolean {
  return request.body !== undefined;
}

describe.each(routesOf('mastery').map((route) => [route.operationId, route] as const))(
  '%s answers as the published document says',
  (_, route) => {
    const holdToDocument = openPublishedContract('mastery');

    const possible = ways.filter(({ applies }) => applies?.(route) ?? true);
    it.each(possible.map((way) => [way.answer, rulesOf(way.answer, way.rule?.(route)), way] as const))(
      '%s, with the headers of every answer [%s]',
      async (answer, _rules, { call, fault }) => {
        const request = call(route);
        if (request.key !== undefined) await callMastery(stack, route, { ...good(route), key: request.key });
        if (fault !== undefined) await stack.fault(fault);
        const reply = await callMastery(stack, route, request);
        await stack.control('DELETE', 'faults');
        expect(answerOf(reply)).toBe(answer === 'success' ? `${route.success.status}` : answer);
        holdToDocument(route, reply);
        expectHeadersOfEvery(reply);
        if (reply.status < 400) return;
        const problem = problemOf(reply);
        expect(problem.type).toMatch(new RegExp(`^https://.+/problems/${problem.code}$`));
        expect(reply.headers.get('x-request-id')).toBe(problem.requestId);
        expect(problem.instance).toBe(`urn:uuid:${problem.requestId}`);
      },
    );
  },
);

it('the published document refuses what it does not describe', async () => {
  const holdToDocument = openPublishedContract('mastery');
  const reply = await callMastery(stack, inspectAdaptiveRun, good(inspectAdaptiveRun));
  const { receiptId, ...body } = JSON.parse(reply.text) as Record<string, unknown>;
  expect(typeof receiptId).toBe('string');
  const wrong = [
    { ...reply, text: JSON.stringify(body) },
    { ...reply, text: JSON.stringify({ ...body, receiptId, remainingUncertainty: -1 }) },
    { ...reply, text: JSON.stringify({ ...body, receiptId, executionPins: {} }) },
    { ...reply, status: 202 },
    { ...reply, headers: new Headers({ 'content-type': 'text/plain' }) },
  ];
  for (const answer of wrong) expect(() => holdToDocument(inspectAdaptiveRun, answer)).toThrow();
});

function answerOf(reply: GatewayReply): string {
  return reply.status < 400 ? `${reply.status}` : `${reply.status} ${problemOf(reply).code}`;
}

function expectHeadersOfEvery({ headers }: GatewayReply): void {
  expect(headers.get('x-request-id')).toMatch(UUID);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('strict-transport-security')).toContain('max-age=63072000');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const telling of ['server', 'x-powered-by', 'set-cookie'])
    expect([telling, headers.get(telling)]).toEqual([telling, null]);
}

describe('what is not served', () => {
  it.each([
    ['DELETE', '/v1/adaptive-runs'],
    ['GET', '/v1/adaptive-runs'],
    ['GET', '/v1/adaptive-runs?modifiedSince=2026-01-01T00:00:00Z'],
    ['PUT', '/v1/adaptive-runs'],
    ['POST', '/v1/adaptive-runs/some-run:advance'],
    ['GET', '/v1/adaptive-runs/some-run'],
    ['POST', '/v1/adaptive-runs%3Aadvance'],
    ['POST', '/v1/adaptive-runs:cancel'],
    ['GET', '/v1/selection-policies'],
    ['POST', '/v1/selection-policies'],
    ['PUT', '/v1/selection-policies/some-policy'],
    ['DELETE', '/v1/scale-calibrations/some-calibration'],
    ['POST', '/v1/scale-calibrations'],
    ['GET', '/v1/score-recovery-simulations'],
    ['POST', '/v1/score-recovery-simulations/some-simulation'],
    ['POST', '/v1/webhooks'],
    ['POST', '/v2/adaptive-runs'],
    ['POST', '/adaptive-runs'],
    ['GET', '/v1'],
  ])('%s %s is the 404 problem, with a token and without [MA-003, MA-018, MA-227]', async (method, path) => {
    const token = await stack.tokenFor('tenant-aurora', ['mastery:run', 'mastery:read']);
    for (const headers of [{}, { Authorization: `Bearer ${token}` }]) {
      const response = await fetch(`${stack.urls.masteryUrl}${path}`, { method, headers });
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const problem = masteryProblem.parse(await response.json());
      expect(problem).toMatchObject({ status: 404, code: 'resource-not-found', retryable: false });
      expect(response.headers.get('x-request-id')).toBe(problem.requestId);
    }
  });
});

describe('an owner that is missing for now', () => {
  it('closes no route for good: the same request is served once the owner is back [MA-017, MA-219]', async () => {
    const starting = runs.start();
    await stack.fault({ operation: 'bank.read_adaptive_pool_manifest', kind: 'down', times: 1_000 });
    const missing = await starting.send();
    expect(missing.body).toMatchObject({ status: 424, code: 'upstream-unavailable', retryable: true });
    await stack.control('DELETE', 'faults');
    expect((await starting.sendForRun()).status).toBe(201);
  });
});

describe('a deprecated record', () => {
  it.each([
    ['policy', readSelectionPolicy, 'policyId', 'selectionPolicyId'],
    ['calibration', readScaleCalibration, 'calibrationId', 'scaleCalibrationId'],
  ] as const)(
    '%s: says so in its headers and stays as it is [MA-049, MA-050]',
    async (kind, route, parameter, name) => {
      const tenantId = 'tenant-borealis';
      const other = openAdaptiveRuns(stack, tenantId);
      const { [name]: id = '' } = other.startBody({ bank: 'generated' }) as Readonly<Record<string, string>>;
      other.close();
      const read = () => callMastery(stack, route, { tenantId, path: { [parameter]: id } });
      const before = await read();
      for (const header of ['deprecation', 'sunset', 'link']) expect(before.headers.get(header)).toBeNull();
      const clients = createEndpointClients({
        endpoint: stack.urls.awsUrl,
        region: localRegion,
        credentials: localCredentials,
      });
      const deprecated = await deprecateRecord(
        createRecordsTable(clients.dynamo, localTableName('records')),
        { kind, id, tenantId },
        { deprecatedAt: '2026-06-01T00:00:00Z', sunsetAt: '2027-06-01T12:00:00Z' },
      );
      clients.destroy();
      expect(deprecated.ok).toBe(true);
      // Records are kept for minutes by each container.
      await stack.killWorkers(route.operationId);
      const after = await read();
      expect(after.status).toBe(200);
      expect(after.text).toBe(before.text);
      expect(after.headers.get('deprecation')).toBe('@1780272000');
      expect(after.headers.get('sunset')).toBe('Tue, 01 Jun 2027 12:00:00 GMT');
      expect(after.headers.get('link')).toMatch(/^<https:.*>; rel="deprecation"/);
      openPublishedContract('mastery')(route, after);
    },
  );
});
