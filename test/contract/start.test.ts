import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inspectAdaptiveRun, startAdaptiveRun as start } from '#shared/contract/mastery/routes.ts';
import { adaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { RunReply } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf, refusalOf } from '#test/support/mastery-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { setProfileParameter } from '#test/support/profile-parameter.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = lazily(() => openAdaptiveRuns(stack));
const other = lazily(() => openAdaptiveRuns(stack, 'tenant-borealis'));

const body = (change: object = {}): object => ({ ...runs.startBody(), ...change });
const send = (call: GatewayCall): Promise<GatewayReply> => callMastery(stack, start, call);
const runIn = ({ text }: GatewayReply) => adaptiveRun.parse(JSON.parse(text));

/** What is answered to a request that no owner may hear of. */
async function refused(call: GatewayCall): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () => send(call));
  expect(calls).toEqual([]);
  return result;
}

describe('a repeated start', () => {
  it('answers 201 again with the same run, and writes nothing twice [MA-190, MA-192]', async () => {
    const key = randomUUID();
    const first = await send({ key, body: body() });
    const before = await runs.state();
    const again = await send({ key, body: body() });
    expect([first.status, again.status]).toEqual([201, 201]);
    const [one, two] = [runIn(first), runIn(again)];
    expect(two.offeredItem).toEqual(one.offeredItem);
    expect(two.continuationExpiresAt).toBe(one.continuationExpiresAt);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect((await runs.state()).counts).toEqual(before.counts);
    // Composed anew, not kept: the seal is another one and opens to the same run.
    expect(two.continuationToken).not.toBe(one.continuationToken);
    const [a, b] = await Promise.all(
      [one, two].map(({ continuationToken }) => runs.inspect(continuationToken).sendForRun()),
    );
    expect(a!.etag).toBe(b!.etag);
  });

  it('finds its offer also after the run has moved on [MA-190]', async () => {
    const key = randomUUID();
    const first = runIn(await send({ key, body: body() }));
    const { etag } = await runs.playAndInspect(first);
    const second = await runs.advance(first.continuationToken, etag).sendForRun();
    await runs.play(second.body);
    const before = await runs.state();
    const again = await send({ key, body: body() });
    expect(again.status).toBe(201);
    expect(runIn(again).offeredItem).toEqual(first.offeredItem);
    expect((await runs.state()).counts).toEqual(before.counts);
  });

  it('is the same request with members in another order and other white space', async () => {
    const key = randomUUID();
    const first = runIn(await send({ key, body: body() }));
    const reordered = Object.fromEntries(Object.entries(body()).reverse());
    const again = await send({ key, body: `\n ${JSON.stringify(reordered, null, 3)}\n` });
    expect(again.status).toBe(201);
    expect(runIn(again).offeredItem).toEqual(first.offeredItem);
  });

  it('at the same time as its twins makes one run', async () => {
    const key = randomUUID();
    const before = (await runs.state()).counts['qti.session']!;
    const replies = await Promise.all([1, 2, 3].map(() => send({ key, body: body() })));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(replies.map((reply) => runIn(reply).offeredItem?.deliverySessionId)).size).toBe(1);
    expect((await runs.state()).counts['qti.session']).toBe(before + 1);
  });

  it('under another key is another run', async () => {
    const [one, two] = [runIn(await send({ body: body() })), runIn(await send({ body: body() }))];
    expect(two.offeredItem?.deliverySessionId).not.toBe(one.offeredItem?.deliverySessionId);
  });

  it('under its key with another body is 409, before any call [MA-152, MA-191]', async () => {
    const key = randomUUID();
    expect((await send({ key, body: body() })).status).toBe(201);
    for (const changed of [
      body({ testSpecId: 'another' }),
      body({ resultsStudentId: 'another' }),
      runs.startBody({ mode: 'owner_conformance' }),
    ]) {
      const reply = await refused({ key, body: changed });
      expect(problemOf(reply)).toMatchObject({
        status: 409,
        code: 'idempotency-key-reused',
        retryable: false,
      });
    }
  });

  it('shares its key with no other endpoint and no other tenant [MA-189]', async () => {
    const key = randomUUID();
    const first = runIn(await send({ key, body: body() }));
    const inspected = await callMastery(stack, inspectAdaptiveRun, {
      key,
      body: { continuationToken: first.continuationToken },
    });
    expect(inspected.status).toBe(200);
    const foreign = await send({ key, tenantId: 'tenant-borealis', body: other.startBody() });
    expect(foreign.status).toBe(201);
    expect(runIn(foreign).offeredItem?.deliverySessionId).not.toBe(first.offeredItem?.deliverySessionId);
    expect(runIn(await send({ key, body: body() })).offeredItem).toEqual(first.offeredItem);
  });
});

describe('the body of a start', () => {
  it('names the learner in learner mode and in no other [MA-056, MA-057]', async () => {
    const conformance = runs.startBody({ mode: 'owner_conformance' });
    const { resultsStudentId, ...nobody } = body() as { resultsStudentId: string };
    expect(refusalOf(await refused({ body: nobody }))).toBe(
      '400 invalid-request /body/resultsStudentId required',
    );
    const named = await refused({ body: { ...conformance, resultsStudentId } });
    expect(refusalOf(named)).toBe('400 invalid-request /body/resultsStudentId forbidden');
    expect(named.text).not.toContain(resultsStudentId);
    expect((await send({ body: conformance })).status).toBe(201);
  });
});

describe('what only an owner can judge', () => {
  it('a bank that is not the spec’s is 400; an unknown spec, bank or operation the hidden 404 [MA-054, MA-055, MA-151]', async () => {
    const generated = runs.startBody({ bank: 'generated' }) as { testSpecId: string };
    const mixed = await send({ body: body({ testSpecId: generated.testSpecId }) });
    expect(refusalOf(mixed)).toMatch(/^400 invalid-request /);
    for (const name of ['testSpecId', 'testBankId', 'bankOperationId'])
      expect(refusalOf(await send({ body: body({ [name]: 'nothing/../there' }) }))).toBe(
        '404 resource-not-found',
      );
  });

  it('a learner starts only where the service profile says that Results takes components; a conformance run always does [MA-013, MA-035, MA-154]', async () => {
    const tenantId = 'tenant-borealis';
    const provide = (value: string | undefined): Promise<void> =>
      setProfileParameter(stack, start.operationId, tenantId, { name: 'RESULTS_KC_COMPONENTS', value });
    const key = randomUUID();
    const learner: GatewayCall = { tenantId, key, body: other.startBody() };
    for (const value of [undefined, 'Supported', 'unsupported']) {
      await provide(value);
      const { result: reply, calls } = await callsDuring(stack, () => send(learner));
      expect(problemOf(reply)).toMatchObject({
        status: 424,
        code: 'upstream-unavailable',
        retryable: false,
        upstream: { service: 'results', operation: 'results.write_kc_components' },
      });
      expect(reply.headers.get('retry-after')).toBeNull();
      expect(calls).toEqual([]);
    }
    const synthetic = other.startBody({ mode: 'owner_conformance' });
    expect((await send({ tenantId, body: synthetic })).status).toBe(201);
    await provide('supported');
    expect((await send(learner)).status).toBe(201);
  });

  it('a profile that points to a host which the stage has not approved makes no call [MA-008, MA-154]', async () => {
    const tenantId = 'tenant-borealis';
    const provide = (value: string): Promise<void> =>
      setProfileParameter(stack, start.operationId, tenantId, { name: 'PLATFORM_URL', value });
    const learner: GatewayCall = { tenantId, body: other.startBody() };
    for (const url of ['https://elsewhere.example', 'http://127.0.0.1.elsewhere.example']) {
      await provide(url);
      const reply = await send(learner);
      expect(problemOf(reply)).toMatchObject({
        status: 424,
        code: 'upstream-unavailable',
        retryable: false,
        upstream: { service: 'platform_auth' },
      });
      expect(reply.headers.get('retry-after')).toBeNull();
    }
    await provide(stack.urls.platformUrl);
    expect((await send(learner)).status).toBe(201);
  });

  it('no start asks Results anything: no operation tells what it takes [MA-035]', async () => {
    for (const mode of ['production_learner', 'owner_conformance'] as const) {
      const { result, calls } = await callsDuring(stack, () => send({ body: runs.startBody({ mode }) }));
      expect(result.status).toBe(201);
      expect(calls.length).toBeGreaterThan(5);
      expect(calls.filter(({ operation }) => operation?.startsWith('results.') !== false)).toEqual([]);
    }
  });
});

it('calls the owners with a credential that is not the caller’s: that one they refuse [MA-011]', async () => {
  const { calls } = await callsDuring(stack, () => send({ body: body() }));
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
  const { resultsStudentId: theirs } = other.startBody() as { resultsStudentId: string };
  const before = await other.state();
  const endOf = async (resultsStudentId: string): Promise<RunReply> => {
    let run = await runs.start(body({ resultsStudentId })).sendForRun();
    for (;;) {
      const { etag } = await runs.playAndInspect(run.body);
      const reply = await runs.advance(run.body.continuationToken, etag).send();
      if (reply.kind === 'problem' || reply.body.status !== 'in_progress') return reply;
      run = reply;
    }
  };
  const ends = [await endOf(theirs), await endOf(randomUUID())];
  const told = ends.map(({ body }) => {
    const { requestId, instance, upstream, ...rest } = body as Record<string, unknown>;
    const { service, operation } = upstream as Record<string, unknown>;
    return { ...rest, service, operation, named: [typeof requestId, typeof instance] };
  });
  expect(told[0]).toMatchObject({ status: 424, code: 'finalization-incomplete', service: 'results' });
  expect(told[0]).toEqual(told[1]);
  expect(await other.state()).toEqual(before);
});
