import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns, type Analysis } from '#test/support/improvement-runs.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// What may not be analyzed and which runs may not be read, over whole functions: nothing is given away, and no run begun.

const stack = useTestStack();
const aurora = lazily(() => openImprovementRuns(stack, AURORA));
beforeAll(() => {
  // A run that has begun is enough here: nobody works on it.
  stack.improvement.pause();
});
beforeEach(() => stack.control('POST', 'reset'));

const AURORA = 'tenant-aurora';
const BOREALIS = 'tenant-borealis';
type Claims = NonNullable<GatewayCall['claims']>;

const request = (administrationId: string): Analysis => aurora.request(administrationId);
const idOf = (name: string): string => aurora.administration(name);

/** Fails unless something begins no run. */
async function beginningNoRun<T>(work: () => Promise<T>): Promise<T> {
  const before = await aurora.records.items();
  const result = await work();
  expect(await aurora.records.items()).toEqual(before);
  return result;
}

/** The answer to an analysis that is refused, for which nobody is asked for more than it needs. */
async function refused(analysis: Analysis): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () => analysis.send());
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(result.headers.has('idempotent-replayed')).toBe(false);
  return result;
}

describe('claims', () => {
  it('have to name the administration itself of a run that has recorded neither its class nor its school [RP-267, RP-316]', async () => {
    const { run } = await request(idOf('spring-gate')).succeed();
    const found = await aurora.records.store.readRun({
      tenantId: AURORA,
      improvementRunId: run.improvementRunId,
    });
    // As runs were recorded before.
    const former = { ...found!, improvementRunId: `${run.improvementRunId}-former` };
    delete former.classSourcedId;
    delete former.schoolSourcedId;
    await aurora.records.store.createRun(former);
    const { administrationId, classSourcedId } = aurora.held('spring-gate').administration;
    const read = async (claims: Claims) =>
      reportsAnswerOf(await aurora.ask(former.improvementRunId, { claims }));
    expect(await read({ administrationIds: [administrationId] })).toBe('200');
    expect(await read({ classSourcedIds: [classSourcedId!] })).toBe('404 not-found');
  });

  it('that no longer hold hide a run also from who has begun it, and a repetition too [RP-261, RP-267]', async () => {
    const analysis = request(idOf('spring-gate'));
    const { run } = await analysis.succeed();
    expect(reportsAnswerOf(await analysis.send({ claims: {} }))).toBe('404 not-found');
    expect(reportsAnswerOf(await aurora.ask(run.improvementRunId, { claims: {} }))).toBe('404 not-found');
    expect((await analysis.succeed()).run.improvementRunId).toBe(run.improvementRunId);
  });
});

describe('what nothing can be analyzed of', () => {
  const gate = () => idOf('spring-gate');

  // What else owners can lack or contradict each other in: test/lemmas/faults-reports.ts, and operation.test.ts beside the operation.
  it.each([
    ['/status', 'open'],
    ['/status', 'SCORED'],
    ['/freshness', 'stale'],
  ])(
    'an administration of the %s %s is 503, and there is no run; once it is mended, the same request begins one [RP-017, RP-087, RP-144, RP-265, RP-290]',
    async (pointer, value) => {
      await aurora.change('administration.administration', gate(), pointer, value);
      const analysis = request(gate());
      const reply = await beginningNoRun(() => refused(analysis));
      expect(reportsAnswerOf(reply)).toBe('503 dependency-incomplete unknown');
      const { retryable, operationId } = reportsProblemOf(reply);
      expect([retryable, reply.headers.has('retry-after')]).toEqual([true, true]);
      const record = await analysis.record();
      // What is not current begins nothing at all.
      if (pointer === '/freshness') expect(record).toBeUndefined();
      else expect(record).toMatchObject({ state: 'started', operationId });
      await stack.control('POST', 'reset');
      const { run, replayed } = await analysis.succeed();
      expect([run.status, replayed]).toEqual(['queued', false]);
    },
  );

  it('without a released policy that the tenant’s profile names, its own or shared with it, there is no run; with it again, there is [RP-265, RP-294]', async () => {
    const { analysisPolicyId } = stack.seededTenants.get(AURORA)!.fixtures.reports;
    const theirs = stack.seededTenants.get(BOREALIS)!.fixtures.reports.analysisPolicyId;
    const analysis = request(gate());
    for (const chosen of [undefined, 'a-policy-of-nobody', theirs]) {
      await aurora.choosePolicy(chosen);
      expect([chosen, reportsAnswerOf(await beginningNoRun(() => refused(analysis)))]).toEqual([
        chosen,
        '503 dependency-incomplete unknown',
      ]);
    }
    await aurora.choosePolicy(analysisPolicyId);
    expect((await analysis.succeed()).run.analysisPolicyId).toBe(analysisPolicyId);
  });
});
