import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as operations from '#shared/platform/operations.ts';
import { lazily } from '#test/support/lazily.ts';
import { openMaterializer, outcomeOf } from '#test/support/materialize.ts';
import type { Materialization, Written } from '#test/support/materialize.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsProblemOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';

// What goes wrong on the way of a materialization, over the bundled functions: whatever it is, the same request brings it to its one end.

const stack = useTestStack({ bundled: true });
const materializer = lazily(() => openMaterializer(stack, 'tenant-aurora'));
let before: Written;
beforeEach(async () => {
  await stack.control('POST', 'reset');
  before = await materializer.written();
});
afterEach(() => {
  stack.awsFaults.reset();
});

/** More than any request asks. */
const ALWAYS = 1_000;
/** Longer than any test: whoever meets it is still waiting when its function dies. */
const FOREVER_MS = 120_000;
const ITEMS = 10;

/** Ends what was begun: everything is there once, and stays so. */
async function endsWell(request: Materialization, operationId: string): Promise<void> {
  const found = await request.record();
  const done = await request.succeed();
  expect(done).toMatchObject({ operationId, replayed: found?.state === 'completed' });
  expect(await request.record()).toMatchObject({ state: 'completed', terminalStatus: 200, operationId });
  const { result, calls } = await callsDuring(stack, () => request.succeed());
  expect(result).toMatchObject({ operationId, replayed: true });
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(await materializer.written()).toEqual({
    settlements: before.settlements + 1,
    components: before.components + ITEMS,
    records: before.records + 1,
    events: before.events + 1,
  });
}

const { writeSettledComponents, emitEvent } = operations;

it('names the operation on every later problem of it, but not to a caller who may not see the attempt [RP-316, RP-330]', async () => {
  const request = materializer.request('unsettled');
  const { operationId } = await request.succeed();
  await stack.fault({ operation: 'qti.read_attempt_evidence', kind: 'down', times: ALWAYS });
  const reply = await request.send();
  expect(outcomeOf(reply)).toBe('503 dependency-unavailable qti, operation');
  expect(reportsProblemOf(reply).operationId).toBe(operationId);
  await stack.control('DELETE', 'faults');
  expect(outcomeOf(await request.send({ claims: {} }))).toBe('404 not-found');
});

describe('a function that dies', () => {
  it.each([
    ['before the components are written', writeSettledComponents.id, 'POST', false, [0, 0]],
    ['after the components are written', writeSettledComponents.id, 'POST', true, [1, 0]],
    ['before the event is emitted', emitEvent.id, 'POST', false, [1, 0]],
    ['after the event is emitted', emitEvent.id, 'POST', true, [1, 1]],
    ['while it reads back', 'results.read_settled_record', 'GET', false, [1, 1]],
    ['before the last read', 'case.read_package', 'GET', false, [1, 1]],
  ] as const)(
    '%s: the repetition writes what is missing under the same names, once [RP-138, RP-220, RP-287]',
    async (_, operation, method, isAfter, [records, events]) => {
      const request = materializer.request('unsettled', { view: 'evidence' });
      // After the owner has done the work: the acknowledgement is lost, and the second try is under way.
      if (isAfter) await stack.fault({ operation, method, kind: 'lost_acknowledgement' });
      await stack.fault({ operation, method, kind: 'latency', milliseconds: FOREVER_MS });
      const answering = request.send();
      await stack.faultsStruck();
      expect(await stack.killWorkers('materializeAttemptReport')).toBe(1);
      expect(outcomeOf(await answering)).toBe('500 internal-error');
      const half = await materializer.written();
      expect([half.records - before.records, half.events - before.events]).toEqual([records, events]);
      const record = await request.record();
      expect(record).toMatchObject({ state: 'started' });
      await request.endLease();
      await endsWell(request, record?.operationId ?? '');
    },
  );

  it('holds up neither another key nor, once its lease has ended, its own [RP-292]', async () => {
    const request = materializer.request('unsettled');
    await stack.fault({ operation: emitEvent.id, method: 'POST', kind: 'latency', milliseconds: FOREVER_MS });
    const answering = request.send();
    await stack.faultsStruck();
    await stack.killWorkers('materializeAttemptReport');
    await answering;
    expect((await materializer.request('unsettled').succeed()).replayed).toBe(false);
    const record = await request.record();
    await request.endLease();
    await endsWell(request, record?.operationId ?? '');
  });
});

describe('the control table', () => {
  it.each([
    ['throttles the creation of records', () => stack.awsFaults.throttle('PutItem', ALWAYS)],
    ['throttles reading', () => stack.awsFaults.throttle('GetItem', ALWAYS)],
    ['is unavailable', () => stack.awsFaults.unavailable('dynamodb', ALWAYS)],
  ])('%s: 503, no write anywhere, and later as if nothing had been [RP-258]', async (_, fail) => {
    const request = materializer.request('unsettled');
    fail();
    const { result, calls } = await callsDuring(stack, () => request.send());
    expect(outcomeOf(result)).toBe('503 dependency-unavailable unknown');
    expect(calls.filter(({ method }) => method === 'POST')).toEqual([]);
    stack.awsFaults.reset();
    expect(await request.record()).toBeUndefined();
    expect((await request.succeed()).replayed).toBe(false);
  });

  it('takes no final state: the answer stands, the record stays started, the repetition finds everything written [RP-220]', async () => {
    const request = materializer.request('unsettled');
    stack.awsFaults.throttle('UpdateItem', ALWAYS);
    const { operationId } = await request.succeed();
    stack.awsFaults.reset();
    expect(await request.record()).toMatchObject({ state: 'started' });
    await request.endLease();
    await endsWell(request, operationId);
  });
});
