import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';
import { answerOf, expectHeadersOfEvery, openTitles } from './answers.ts';
import { openWorlds, operations, withOtherBody } from './worlds.ts';
import type { OperationId } from '#shared/contract/routes.ts';

// Every operation is served, and can be brought to the problems that its row names beside those of requests and principals.

const stack = useTestStack();
const worlds = lazily(() => openWorlds(stack));
const hold = { mastery: openPublishedContract('mastery'), reports: openPublishedContract('reports') };

const { titled, unused } = openTitles([
  [/^(?:start|inspect|advance|simulate|readSel|readScale)\w+ /, 'MA-147'],
  [/^(?:read(?!Sel|Scale)|list|materialize|analyze)\w+ 200/, 'RP-073, RP-327'],
  [/^(?:start|inspect|advance|simulate)\w+ [45]/, 'MA-205, MA-206, MA-207, MA-208'],
  [/ 409 idempotency-key-reused/, 'MA-191'],
  [/ 409 idempotency-conflict/, 'RP-256, RP-332'],
  [/ 412 stream-conflict/, 'MA-166, MA-172'],
  [/ 428 precondition-required/, 'MA-170, MA-172'],
]);

/** The trace that callers name. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

/** One way to each problem. */
const ways: readonly {
  readonly problem: (route: Route) => string;
  readonly applies: (route: Route) => boolean;
  readonly spoil: (call: GatewayCall, operation: OperationId) => GatewayCall;
  readonly fault?: Readonly<Record<string, unknown>>;
}[] = [
  {
    problem: ({ service }) =>
      service === 'mastery' ? '409 idempotency-key-reused: a key' : '409 idempotency-conflict: a key',
    applies: ({ request }) => request.body !== undefined && request.idempotencyKey,
    spoil: (call, operation) => withOtherBody(operation, call),
  },
  {
    problem: () => '412 stream-conflict: a stale precondition',
    applies: ({ request }) => request.ifMatch,
    spoil: (call) => ({ ...call, ifMatch: '"stale"' }),
  },
  {
    problem: () => '428 precondition-required: no precondition',
    applies: ({ request }) => request.ifMatch,
    spoil: ({ tenantId, claims, key, body }) => ({
      body,
      ...(tenantId === undefined ? {} : { tenantId }),
      ...(claims === undefined ? {} : { claims }),
      ...(key === undefined ? {} : { key }),
    }),
  },
  {
    problem: () => '424 upstream-unavailable: Bank without its manifest',
    applies: ({ service, budget }) => service === 'mastery' && budget.calls > 0,
    spoil: (call) => call,
    fault: { operation: 'bank.read_adaptive_pool_manifest', kind: 'status', times: 100 },
  },
  {
    problem: () => '502 qti-adaptive-pool-invalid: QTI with a pool that breaks its contract',
    applies: ({ service, budget }) => service === 'mastery' && budget.calls > 0,
    spoil: (call) => call,
    fault: { operation: 'qti.read_adaptive_pool_root', kind: 'overlong_id', times: 100 },
  },
];

describe.each(operations)('$operation', ({ operation, route }) => {
  it.each(
    localTenantIds.map((tenantId) => [titled(`${operation} ${route.success.status}: ${tenantId}`), tenantId]),
  )('%s', async (_, tenantId) => {
    const call = {
      ...(await worlds.request(operation, tenantId)),
      headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    };
    for (const claims of [call.claims, ...worlds.openers(operation, tenantId)]) {
      const reply = await worlds.send(operation, { ...call, ...(claims === undefined ? {} : { claims }) });
      expect([claims, ...answerOf(route, reply)]).toEqual([claims, `${route.success.status}`]);
      hold[route.service](route, reply);
      expectHeadersOfEvery(reply);
      const named = [`"requestId":"${reply.headers.get('x-request-id')}"`, `"traceId":"${TRACE}"`];
      const ids = new Set(reply.text.match(/"(?:requestId|traceId)":"[^"]+"/g));
      expect([...ids]).toEqual(ids.size === 0 ? [] : named);
    }
  });

  it.each(
    ways
      .filter(({ applies }) => applies(route))
      .map((way) => [titled(`${operation} ${way.problem(route)}`), way] as const),
  )('%s', async (_, { problem, spoil, fault }) => {
    const call = { ...(await worlds.request(operation)), key: randomUUID() };
    if (problem(route).startsWith('409')) await worlds.send(operation, call);
    if (fault !== undefined) await stack.fault(fault);
    const reply = await worlds.send(operation, spoil(call, operation));
    await stack.control('DELETE', 'faults');
    expect(answerOf(route, reply)[0]).toBe(problem(route).split(':')[0]);
    hold[route.service](route, reply);
    expectHeadersOfEvery(reply);
    const { instance, requestId, type } = JSON.parse(reply.text) as Readonly<Record<string, string>>;
    expect([reply.headers.get('x-request-id'), instance]).toEqual([requestId, `urn:uuid:${requestId}`]);
    expect(type).toMatch(/^https:\/\/.+\/problems\/[a-z-]+$/);
  });
});

it('attaches every rule to a case', () => {
  expect(unused()).toEqual([]);
});

it('the published document refuses what it does not describe', async () => {
  const { route } = operations.find((row) => row.operation === 'inspectAdaptiveRun')!;
  const reply = await worlds.send('inspectAdaptiveRun', await worlds.request('inspectAdaptiveRun'));
  const { receiptId, ...body } = JSON.parse(reply.text) as Record<string, unknown>;
  expect(typeof receiptId).toBe('string');
  const wrong = [
    { ...reply, text: JSON.stringify(body) },
    { ...reply, text: JSON.stringify({ ...body, receiptId, remainingUncertainty: -1 }) },
    { ...reply, text: JSON.stringify({ ...body, receiptId, executionPins: {} }) },
    { ...reply, text: JSON.stringify({ ...body, receiptId, status: 'complete' }) },
    { ...reply, status: 202 },
    { ...reply, headers: new Headers({ 'content-type': 'text/plain' }) },
    { ...reply, headers: new Headers({ 'content-type': 'application/json' }) },
    { ...reply, headers: new Headers([...reply.headers, ['cache-control', 'private']]) },
  ];
  for (const answer of wrong) expect(() => hold.mastery(route, answer)).toThrow();
});
