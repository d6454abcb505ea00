import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { provable } from '#shared/contract/gates.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { materializeAttemptReport as route } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { caliperEvent } from '#shared/platform/owners/caliper.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import { lazily } from '#test/support/lazily.ts';
import { materialized, openMaterializer } from '#test/support/materialize.ts';
import type { Materializer } from '#test/support/materialize.ts';
import { callsDuring, countedCalls, slowDown, takenBy } from '#test/support/platform-calls.ts';
import type { RecordedCall } from '#test/support/platform-calls.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';
import { factsOf } from '#test/lemmas/compare-answers.ts';

// What a materialization writes, and that it writes it once, over whole functions.

const stack = useTestStack();
const control = lazily(() => openControlRecords(stack));
const materializers = new Map<string, Materializer>(
  localTenantIds.map((tenantId) => [tenantId, lazily(() => openMaterializer(stack, tenantId))]),
);
beforeEach(() => stack.control('POST', 'reset'));

const of = (tenantId: string): Materializer => materializers.get(tenantId)!;
const aurora = (): Materializer => of('tenant-aurora');

const WRITES = ['results.write_settled_components', 'caliper.emit_completion_or_simulation'];

function writesAmong(calls: readonly RecordedCall[]): readonly (string | null)[] {
  return calls.filter(({ method }) => method === 'POST').map(({ operation }) => operation);
}

/** A report without the ids and times of its request. */
const factsIn = (report: object): unknown => factsOf(report);

describe.each(localTenantIds)('%s', (tenantId) => {
  it('settles an attempt that Results had not settled, publishes it and reports it [RP-020, RP-139, RP-253, RP-282, RP-288]', async () => {
    const materializer = of(tenantId);
    const { attempts, candidates } = materializer.caller.fixtures(tenantId);
    const before = await materializer.written();
    const unread = { tenantId, path: { attemptId: attempts.unsettled } };
    expect(reportsAnswerOf(await materializer.caller.call(readAttemptReport, unread))).toBe(
      '503 dependency-incomplete results',
    );

    const { result: reply, calls } = await callsDuring(stack, () =>
      materializer.request('unsettled', { view: 'evidence' }).send(),
    );
    openPublishedContract('reports')(route, reply);
    const { operationId, report, replayed } = materialized(reply);
    expect(operationId).toMatch(/^op_[\w-]{22}$/);
    expect(replayed).toBe(false);
    expect(report).toMatchObject({ attemptId: attempts.unsettled, status: 'scored', omitted: ['readiness'] });
    expect(report.sources.map(({ service }) => service)).toEqual([
      'qti',
      'results',
      'content',
      'oneroster',
      'case',
      'caliper',
    ]);

    // Written first, each once, and only then read back.
    expect(writesAmong(calls)).toEqual(WRITES);
    const order = calls.toSorted((a, b) => a.startedAt - b.startedAt).map(({ operation }) => operation);
    expect(order.indexOf(WRITES[0]!)).toBeLessThan(order.indexOf(WRITES[1]!));
    expect(order.indexOf(WRITES[1]!)).toBeLessThan(order.indexOf('results.read_settled_record'));
    expect(new Set(calls.map((call) => call.tenantId))).toEqual(new Set([tenantId]));
    const after = await materializer.written();
    expect(after).toEqual({
      settlements: before.settlements + 1,
      components: before.components + 10,
      records: before.records + 1,
      events: before.events + 1,
    });

    // … and it is what a read gives from now on, alone and in the candidate's list.
    const read = await materializer.caller.call(readAttemptReport, { ...unread, query: '?view=evidence' });
    expect(factsIn(JSON.parse(read.text) as object)).toEqual(factsIn(report));
    const list = await materializer.caller.call(listCandidateReports, {
      tenantId,
      path: { candidateSourcedId: report.candidateSourcedId },
    });
    expect(reportsAnswerOf(list)).toBe('200');
    expect(candidates.empty).not.toBe(report.candidateSourcedId);
  });

  it.each(['gatePass', 'gateFail', 'gateIndeterminate', 'diagnostic', 'formative', 'large'] as const)(
    'leaves what Results has settled as it is: %s, in every view [RP-003, RP-074, RP-139, RP-284]',
    async (role) => {
      const materializer = of(tenantId);
      const path = { attemptId: materializer.caller.fixtures(tenantId).attempts[role] };
      const before = await materializer.written();
      for (const view of ['summary', 'standards', 'evidence']) {
        const { report } = await materializer.request(role, { view }).succeed();
        const read = await materializer.caller.call(readAttemptReport, {
          tenantId,
          path,
          query: `?view=${view}`,
        });
        expect(factsIn(report)).toEqual(factsIn(JSON.parse(read.text) as object));
      }
      // Three operations, each with a key of its own: one set of components, one event.
      const after = await materializer.written();
      expect(after).toMatchObject({ settlements: before.settlements + 1, records: before.records });
      expect(after.events).toBe(before.events + 1);
    },
  );
});

it('shows a summary unless it is asked for another view [RP-284]', async () => {
  const { report } = await aurora().request('gatePass').succeed();
  expect([report.mastery, report.omitted]).toEqual([[], ['mastery', 'itemEvidence', 'readiness']]);
});

it('writes QTI’s outcomes and a GradeEvent of the settled score, and nothing that the service has thought of [RP-003, RP-027, RP-319]', async () => {
  const materializer = aurora();
  const { report } = await materializer.request('unsettled').succeed();
  const { entities } = await materializer.state();
  const [event] = Object.values(entities['caliper.event']!).map((entity) => caliperEvent.parse(entity));
  const record = entities['results.settled_record']![report.resultRecordId] as { modifiedAt: string };
  expect(event).toMatchObject({
    type: 'GradeEvent',
    profile: 'GradingProfile',
    action: 'Graded',
    actor: { type: 'SoftwareApplication' },
    object: { type: 'Attempt', assignee: { type: 'Person' }, assignable: { type: 'Assessment' } },
    generated: { type: 'Score', scoreGiven: report.score.value, maxScore: report.score.maximum },
    eventTime: new Date(record.modifiedAt).toISOString(),
  });
  expect(report.sources.at(-1)).toMatchObject({ service: 'caliper', resourceId: event?.id });
  const { components } = entities['results.settlement']![report.attemptId] as { components: object[] };
  const { outcomes } = entities['qti.attempt_evidence']![report.attemptId] as { outcomes: object[] };
  const unnamed = (parts: readonly object[]) => parts.map((part) => ({ ...part, componentId: '' }));
  expect(unnamed(components)).toEqual(expect.arrayContaining(unnamed(outcomes)));
  expect(components).toHaveLength(outcomes.length);
});

describe('a repetition', () => {
  it('writes nothing, keeps the operation, says so, and composes of what is true now [RP-138, RP-220, RP-287]', async () => {
    const materializer = aurora();
    const request = materializer.request('unsettled', { view: 'standards' });
    const first = await request.succeed();
    expect(first.replayed).toBe(false);
    const { attempts } = materializer.caller.fixtures('tenant-aurora');
    const before = await materializer.written();
    const changed = { tenantId: 'tenant-aurora', entity: 'results.settled_record' };
    await stack.control('PATCH', 'entities', {
      ...changed,
      id: first.report.resultRecordId,
      changes: [
        { pointer: '/score/value', value: 86 },
        { pointer: '/version', value: 'settled-anew' },
      ],
    });
    await stack.control('PATCH', 'entities', {
      ...changed,
      entity: 'qti.attempt_evidence',
      id: attempts.unsettled,
      changes: [{ pointer: '/resultRecordVersion', value: 'settled-anew' }],
    });
    const { result: again, calls } = await callsDuring(stack, () => request.succeed());
    expect(again).toMatchObject({ operationId: first.operationId, replayed: true });
    expect([first.report.score.value, again.report.score.value]).toEqual([85, 86]);
    expect(writesAmong(calls)).toEqual([]);
    expect(await materializer.written()).toEqual(before);
    expect(again.report.requestId).not.toBe(first.report.requestId);
  });

  it('that does the work for the first time is none: only one of a completed request says so [RP-287]', async () => {
    const request = aurora().request('unsettled');
    await stack.fault({ operation: WRITES[0], kind: 'status', status: 503, times: 100 });
    const refused = await request.send();
    expect(reportsAnswerOf(refused)).toBe('503 dependency-unavailable results');
    const { operationId } = reportsProblemOf(refused);
    await stack.control('POST', 'reset');
    expect(await request.succeed()).toMatchObject({ operationId, replayed: false });
    expect(await request.succeed()).toMatchObject({ operationId, replayed: true });
  });

  it('is the same request with a default left out or named, in either order [RP-284, RP-287, RP-332]', async () => {
    const materializer = aurora();
    for (const [one, other] of [
      [{}, { view: 'summary' }],
      [{ view: 'summary' }, {}],
    ]) {
      const request = materializer.request('gatePass', one);
      const first = await request.succeed();
      const again = await request.send({ body: materializer.body('gatePass', other) });
      expect(materialized(again)).toMatchObject({ operationId: first.operationId, replayed: true });
    }
  });

  it('of a request whose record an earlier version wrote is compared as it was sent [RP-287, RP-332]', async () => {
    const materializer = aurora();
    const request = materializer.request('gatePass');
    const { operationId } = await request.succeed();
    await request.writtenBefore();
    expect(await request.succeed()).toMatchObject({ operationId, replayed: true });
    const named = await request.send({ body: materializer.body('gatePass', { view: 'summary' }) });
    expect(reportsAnswerOf(named)).toBe('409 idempotency-conflict');
  });

  it('under its key with another body or view is 409 with the first operation, before any call [RP-256, RP-332]', async () => {
    const materializer = aurora();
    const request = materializer.request('gatePass', { view: 'summary' });
    const { operationId } = await request.succeed();
    const { calls } = await callsDuring(stack, async () => {
      for (const body of [
        materializer.body('gatePass', { view: 'evidence' }),
        materializer.body('gateFail', { view: 'summary' }),
        { ...request.body, administrationId: 'another' },
      ]) {
        const reply = await request.send({ body });
        expect(reportsAnswerOf(reply)).toBe('409 idempotency-conflict');
        expect(reportsProblemOf(reply)).toMatchObject({ operationId, retryable: false });
      }
    });
    expect(calls).toEqual([]);
    expect((await request.succeed()).replayed).toBe(true);
  });

  it('under another key, or in another tenant under the same, is another operation and no second event [RP-292]', async () => {
    const materializer = aurora();
    const first = await materializer.request('unsettled').succeed();
    const before = await materializer.written();
    const other = await materializer.request('unsettled').succeed();
    expect(other).toMatchObject({ replayed: false });
    expect(other.operationId).not.toBe(first.operationId);
    expect(await materializer.written()).toEqual(before);

    const key = randomUUID();
    const replies = await Promise.all(
      localTenantIds.map((tenantId) => of(tenantId).request('gatePass').send({ key })),
    );
    const given = replies.map(materialized);
    expect(given.map(({ replayed }) => replayed)).toEqual([false, false]);
    expect(new Set(given.map(({ operationId }) => operationId)).size).toBe(2);
  });

  it('twenty times at once is one write, one event and one operation [RP-138, RP-220]', async () => {
    const materializer = aurora();
    const request = materializer.request('unsettled');
    const before = await materializer.written();
    const { result: replies, calls } = await callsDuring(stack, () =>
      Promise.all(Array.from({ length: 20 }, () => request.send())),
    );
    const given = replies.map(materialized);
    expect(new Set(given.map(({ operationId }) => operationId)).size).toBe(1);
    expect(given.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(writesAmong(calls)).toEqual(WRITES);
    const after = await materializer.written();
    expect(after).toEqual({
      settlements: before.settlements + 1,
      components: before.components + 10,
      records: before.records + 1,
      events: before.events + 1,
    });
  }, 60_000);
});

it('leaves no fact of the request in the control table [RP-029, RP-335]', async () => {
  const request = aurora().request('unsettled', { view: 'evidence' });
  const { report, operationId } = await request.succeed();
  expect(await request.record()).toMatchObject({ state: 'completed', terminalStatus: 200, operationId });
  const text = JSON.stringify(await control.items());
  const { attemptId, administrationId, candidateSourcedId, resultRecordId } = report;
  for (const id of [attemptId, administrationId, candidateSourcedId, resultRecordId])
    expect(text).not.toContain(id);
  for (const fact of [request.key, 'tenant-aurora', 'evidence']) expect(text).not.toContain(fact);
});

it('does not exceed its budget, even if owners agree late, and a replay takes less', async () => {
  // While a kind is not released, Content is asked for the attempt's own.
  await using unproved = await startTestStack({
    proved: provable.filter((name) => name !== 'mastery_engine_production_learner'),
  });
  const materializer = openMaterializer(unproved, 'tenant-aurora');
  const claims = { studentIds: materializer.caller.fixtures('tenant-aurora').students };
  const { classes } = materializer.caller.fixtures('tenant-aurora');
  // Whoever is not named by the administration itself costs the most.
  const asking = { claims: { ...claims, classSourcedIds: classes } };
  const request = materializer.request('gatePass');
  await unproved.fault({
    operation: 'results.read_settled_record',
    method: 'GET',
    kind: 'version_drift',
  });
  await slowDown(unproved);
  const { result, calls } = await callsDuring(unproved, () => request.send(asking));
  expect(reportsAnswerOf(result)).toBe('200');
  // The rest of the budget reads the report's facts once more, if they cannot all be true.
  const again = { calls: 9, depth: 4 };
  const { budget } = route;
  expect(takenBy(calls)).toEqual({ calls: budget.calls - again.calls, depth: budget.depth - again.depth });

  const replay = await callsDuring(unproved, () => request.send(asking));
  expect(materialized(replay.result).replayed).toBe(true);
  expect(countedCalls(replay.calls)).toBe(9);
});
