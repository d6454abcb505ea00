import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { provable } from '#shared/contract/gates.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { materializeAttemptReport as route } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { lazily } from '#test/support/lazily.ts';
import { materialized, openMaterializer, type Materializer } from '#test/support/materialize.ts';
import { callsDuring, countedCalls, slowDown, takenBy } from '#test/support/platform-calls.ts';
import type { RecordedCall } from '#test/support/platform-calls.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';
import { factsOf } from '#test/lemmas/compare-answers.ts';

// What a materialization writes, and that it writes it once, over whole functions.

const stack = useTestStack();
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

  it('of a request whose record an earlier version wrote is compared as it was sent; the conflict names the first operation [RP-256, RP-287, RP-332]', async () => {
    const materializer = aurora();
    const request = materializer.request('gatePass');
    const { operationId } = await request.succeed();
    await request.writtenBefore();
    expect(await request.succeed()).toMatchObject({ operationId, replayed: true });
    const named = await request.send({ body: materializer.body('gatePass', { view: 'summary' }) });
    expect(reportsAnswerOf(named)).toBe('409 idempotency-conflict');
    expect(reportsProblemOf(named)).toMatchObject({ operationId, retryable: false });
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
