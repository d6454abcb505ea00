import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startAdaptiveRun as start } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { adaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { useAdaptiveRuns, type RunReply } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { setProfileParameter } from '#test/support/profile-parameter.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
const other = useAdaptiveRuns(stack, 'tenant-borealis');

const body = (change: object = {}): object => ({ ...runs.startBody(), ...change });
const send = (call: GatewayCall): Promise<GatewayReply> => callMastery(stack, start, call);
const runIn = ({ text }: GatewayReply) => adaptiveRun.parse(JSON.parse(text));

/** What is answered to a request that no owner may hear of. */
async function refused(call: GatewayCall): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () => send(call));
  expect(calls).toEqual([]);
  return result;
}

it('answers a repeated start with the same run, also after that has moved on, and writes nothing twice [MA-190, MA-192]', async () => {
  const key = randomUUID();
  const first = await send({ key, body: body() });
  expect(first.status).toBe(201);
  const one = runIn(first);
  for (const moves of [false, true]) {
    if (moves) {
      const { etag } = await runs.playAndInspect(one);
      const second = await runs.advance(one.continuationToken, etag).sendForRun();
      await runs.play(second.body);
    }
    const before = await runs.state();
    const again = await send({ key, body: body() });
    expect(again.status).toBe(201);
    const two = runIn(again);
    expect([two.offeredItem, two.continuationExpiresAt]).toEqual([
      one.offeredItem,
      one.continuationExpiresAt,
    ]);
    expect((await runs.state()).counts).toEqual(before.counts);
    if (moves) continue;
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    // Composed anew, not kept: the seal is another one and opens to the same run.
    expect(two.continuationToken).not.toBe(one.continuationToken);
    expect((await runs.inspect(two.continuationToken).sendForRun()).etag).toBe(first.headers.get('etag'));
  }
});

describe('the service profile of a tenant', () => {
  const tenantId = 'tenant-borealis';
  const provide = (name: string, value: string | undefined): Promise<void> =>
    setProfileParameter(stack, start.operationId, tenantId, { name, value });

  it.each([
    [
      'RESULTS_KC_COMPONENTS',
      'that does not say that Results takes components starts no learner, but a conformance run [MA-013, MA-035, MA-154]',
      [undefined, 'Supported', 'unsupported'],
      () => 'supported',
      { service: 'results', operation: 'results.write_kc_components' },
    ],
    [
      'PLATFORM_URL',
      'that points to a host which the stage has not approved makes no call [MA-008, MA-154]',
      ['https://elsewhere.example', 'http://127.0.0.1.elsewhere.example'],
      () => stack.urls.platformUrl,
      { service: 'platform_auth' },
    ],
  ])('with a %s %s', async (name, _, values, sound, upstream) => {
    const learner: GatewayCall = { tenantId, key: randomUUID(), body: other.startBody() };
    for (const value of values) {
      await provide(name, value);
      const reply = await refused(learner);
      expect(problemOf(reply)).toMatchObject({
        status: 424,
        code: 'upstream-unavailable',
        retryable: false,
        upstream,
      });
      expect(reply.headers.get('retry-after')).toBeNull();
    }
    if (upstream.service === 'results') {
      const synthetic = other.startBody({ mode: 'owner_conformance' });
      expect((await send({ tenantId, body: synthetic })).status).toBe(201);
    }
    await provide(name, sound());
    expect((await send(learner)).status).toBe(201);
  });
});

it('calls the owners with a credential that is not the caller’s: that one they refuse; it asks Results nothing, since no operation tells what it takes [MA-011, MA-035]', async () => {
  const { calls } = await callsDuring(stack, () => send({ body: body() }));
  expect(calls.filter(({ operation }) => operation?.startsWith('results.') !== false)).toEqual([]);
  const reads = calls.filter(({ method }) => method === 'GET');
  expect(reads.length).toBeGreaterThan(5);
  const Authorization = `Bearer ${await stack.tokenFor('tenant-aurora', ['mastery:run', 'mastery:read'])}`;
  for (const { path, status } of reads) {
    expect(status).toBeLessThan(400);
    const refused = await fetch(`${stack.urls.platformUrl}${path}`, { headers: { Authorization } });
    expect(refused.status).toBe(403);
  }
});

it('another tenant’s student is like nobody’s to the end, and gets no result [MA-169]', async () => {
  const { resultsStudentId: theirs } = other.startBody();
  const before = await other.state();
  /** The bank's policy ends a run with its fifth answer. */
  const endOf = async (resultsStudentId: string): Promise<RunReply> => {
    let run = await runs.start(body({ resultsStudentId })).sendForRun();
    while (run.body.offeredItem!.sequence < 5) run = await runs.answer(run);
    const { etag } = await runs.playAndInspect(run.body);
    return runs.advance(run.body.continuationToken, etag).send();
  };
  const ends = [await endOf(theirs!), await endOf(randomUUID())];
  const told = ends.map(({ body }) => {
    const { requestId, instance, upstream, ...rest } = body as Record<string, unknown>;
    const { service, operation } = upstream as Record<string, unknown>;
    return { ...rest, service, operation, named: [typeof requestId, typeof instance] };
  });
  expect(told[0]).toMatchObject({ status: 424, code: 'finalization-incomplete', service: 'results' });
  expect(told[0]).toEqual(told[1]);
  expect(await other.state()).toEqual(before);
});
