import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openFaults } from '#local/platform/faults.ts';
import { identitiesOf } from '#local/platform/routes.ts';
import * as operations from '#shared/platform/operations.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import type { ControlRecords } from '#test/support/control-records.ts';
import { materialized, openMaterializer, outcomeOf } from '#test/support/materialize.ts';
import type { Materialization, Materializer, Written } from '#test/support/materialize.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsProblemOf } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// What goes wrong on the way of a materialization, over the bundled functions: whatever it is, the same request brings it to its one end.

let stack: TestStack;
let control: ControlRecords;
let materializer: Materializer;
let before: Written;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  control = openControlRecords(stack);
  materializer = openMaterializer(stack, 'tenant-aurora', control);
});
beforeEach(async () => {
  await stack.control('POST', 'reset');
  before = await materializer.written();
});
afterEach(() => {
  stack.awsFaults.reset();
});
afterAll(async () => {
  control.close();
  await stack.close();
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

describe.each([
  [writeSettledComponents, 'results'],
  [emitEvent, 'caliper'],
] as const)('$id', (operation, owner) => {
  const unavailable = `503 dependency-unavailable ${owner}, operation`;
  const table = [
    ['down', { kind: 'down' }, unavailable],
    ['500', { kind: 'status', status: 500 }, unavailable],
    ['503', { kind: 'status', status: 503 }, unavailable],
    ['429', { kind: 'status', status: 429, retryAfterSeconds: 60 }, unavailable],
    ['cut', { kind: 'cut' }, unavailable],
    ['lost acknowledgement', { kind: 'lost_acknowledgement' }, unavailable],
    ['401', { kind: 'status', status: 401 }, unavailable],
    ['403', { kind: 'status', status: 403 }, unavailable],
    ['409', { kind: 'status', status: 409 }, unavailable],
    ['422', { kind: 'status', status: 422 }, unavailable],
    ['404', { kind: 'status', status: 404 }, `503 dependency-incomplete ${owner}, operation`],
    // Caliper acknowledges with its status alone.
    ['malformed', { kind: 'malformed' }, owner === 'caliper' ? '200' : unavailable],
    ['wrong tenant', { kind: 'wrong_tenant' }, unavailable],
    ...identitiesOf(operation).map(
      (member) => [`another ${member}`, { kind: 'other_entity', member }, unavailable] as const,
    ),
  ] as const;

  for (const [name, arm, expected] of table) {
    const { id, method } = operation;
    if (!openFaults().arm({ operation: id, method, ...arm }).ok) continue;
    it(`${name}: ${expected}; the record stays started, and the repetition ends it [RP-017, RP-258, RP-330, RP-334]`, async () => {
      const request = materializer.request('unsettled');
      await stack.fault({ operation: id, method, times: ALWAYS, ...arm });
      const reply = await request.send();
      expect(outcomeOf(reply)).toBe(expected);
      await stack.control('DELETE', 'faults');
      if (reply.status === 200) {
        await endsWell(request, materialized(reply).operationId);
        return;
      }
      const { operationId, retryable } = reportsProblemOf(reply);
      expect(retryable).toBe(true);
      expect(reply.headers.has('retry-after')).toBe(true);
      expect(await request.record()).toMatchObject({ state: 'started', operationId });
      await endsWell(request, operationId ?? '');
    });
  }

  it('loses one acknowledgement: the request itself repeats the write, which is one [RP-288]', async () => {
    const request = materializer.request('unsettled');
    await stack.fault({ operation: operation.id, method: 'POST', kind: 'lost_acknowledgement' });
    const { operationId, replayed } = await request.succeed();
    expect(replayed).toBe(false);
    await endsWell(request, operationId);
  });
});

it('an event is never emitted of what Results has not acknowledged [RP-288]', async () => {
  await stack.fault({ operation: writeSettledComponents.id, kind: 'lost_acknowledgement', times: ALWAYS });
  const { calls } = await callsDuring(stack, () => materializer.request('unsettled').send());
  expect(calls.map(({ operation }) => operation)).not.toContain(emitEvent.id);
  expect((await materializer.written()).events).toBe(before.events);
});

describe('reading back', () => {
  it.each([
    ['results.read_settled_record', { kind: 'down' }, '503 dependency-unavailable results, operation'],
    ['results.read_settled_record', { kind: 'stale' }, '503 dependency-incomplete results, operation'],
    [
      'results.read_settled_record',
      { kind: 'version_drift' },
      '409 source-version-conflict results, operation',
    ],
    [
      'content.read_report_criteria',
      { kind: 'version_drift' },
      '409 source-version-conflict content, operation',
    ],
    ['content.read_report_criteria', { kind: 'malformed' }, '503 dependency-unavailable content, operation'],
    [
      'oneroster.read_user',
      { kind: 'status', status: 404 },
      '503 dependency-incomplete oneroster, operation',
    ],
    ['case.read_package', { kind: 'down' }, '503 dependency-unavailable case, operation'],
    // The first lookup decides who may, and passes.
    ['qti.read_attempt_evidence', { kind: 'down', skip: 1 }, '503 dependency-unavailable qti, operation'],
    ['qti.read_attempt_evidence', { kind: 'stale', skip: 1 }, '503 dependency-incomplete qti, operation'],
  ] as const)(
    '%s, %j: %s; the record stays started, and the repetition ends it [RP-017, RP-257, RP-258, RP-330, RP-333]',
    async (operation, arm, expected) => {
      const request = materializer.request('unsettled');
      await stack.fault({ operation, method: 'GET', times: ALWAYS, ...arm });
      const reply = await request.send();
      expect(outcomeOf(reply)).toBe(expected);
      await stack.control('DELETE', 'faults');
      const { operationId } = reportsProblemOf(reply);
      expect(await request.record()).toMatchObject({ state: 'started', operationId });
      await endsWell(request, operationId ?? '');
    },
  );

  it('goes without the receipt of an event that Caliper does not show yet [RP-071]', async () => {
    await stack.fault({
      operation: 'caliper.read_evidence_ack',
      method: 'GET',
      kind: 'stale',
      times: ALWAYS,
    });
    const { report } = await materializer.request('unsettled').succeed();
    expect(report.sources.at(-1)).toMatchObject({ service: 'caliper', status: 'unavailable' });
    expect(report.incompleteSections).toHaveLength(1);
  });

  it('of a record that is not current is 503, though it was acknowledged [RP-087, RP-258]', async () => {
    expect(outcomeOf(await materializer.request('stale').send())).toBe(
      '503 dependency-incomplete results, operation',
    );
  });

  it('names the operation on every later problem of it, but to nobody who may not see the attempt [RP-316, RP-330]', async () => {
    const request = materializer.request('unsettled');
    const { operationId } = await request.succeed();
    await stack.fault({ operation: 'qti.read_attempt_evidence', kind: 'down', times: ALWAYS });
    const reply = await request.send();
    expect(outcomeOf(reply)).toBe('503 dependency-unavailable qti, operation');
    expect(reportsProblemOf(reply).operationId).toBe(operationId);
    await stack.control('DELETE', 'faults');
    expect(outcomeOf(await request.send({ claims: {} }))).toBe('404 not-found');
  });
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
  ])('%s: 500, no write anywhere, and later as if nothing had been [RP-228, RP-258]', async (_, fail) => {
    const request = materializer.request('unsettled');
    fail();
    const { result, calls } = await callsDuring(stack, () => request.send());
    expect(outcomeOf(result)).toBe('500 internal-error');
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
