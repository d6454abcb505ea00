import { afterEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { openAdaptiveRuns, receiptTraceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import { simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';
import { operations } from '#shared/platform/all-operations.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});

describe('the trace of a receipt', () => {
  it('has of every call the tenant that its answer named [MA-088]', async () => {
    const { body } = await runs.start().sendForRun();
    const { trace } = receiptTraceOf(stack, body.receiptId);
    const named = trace.filter(({ tenant }) => tenant === 'same');
    expect(named.map(({ operation }) => operation)).toContain('bank.read_adaptive_pool_manifest');
    for (const { namedTenant } of named) expect(namedTenant, 'as the profile').toBeUndefined();
    const silent = trace.filter(({ tenant }) => tenant === 'not-named');
    expect(silent.map(({ operation }) => operation)).toContain('case.resolve_mapping');
    for (const { namedTenant } of silent) expect(namedTenant).toBeUndefined();
  });

  it('has the digest and the outcome of the stage’s last isolation proof, of a run and of a simulation [MA-088]', async () => {
    const { body } = await runs.start().sendForRun();
    const { receiptId } = simulationIn(await simulate(stack, { body: simulationBody(stack) }));
    // The local stack is opened by a rehearsal, and its receipt says so.
    const digest = sha256Hex(JSON.stringify({ rehearsal: true, opens: 'D', proves: null }));
    for (const id of [body.receiptId, receiptId])
      expect(receiptTraceOf(stack, id)).toMatchObject({
        isolationOutcome: 'rehearsed',
        isolationDigest: digest,
      });
  });

  it('says that nothing is proved on a stage without such a proof, which keeps nothing from being answered [MA-088]', async () => {
    await using unproved = await startTestStack({ proved: ['A', 'B', 'C'] });
    const { body } = await openAdaptiveRuns(unproved).start().sendForRun();
    const receipt = receiptTraceOf(unproved, body.receiptId);
    expect(receipt).toHaveProperty('isolationOutcome', 'not_proved');
    expect(receipt).not.toHaveProperty('isolationDigest');
  });
});

describe('a pool that is refused', () => {
  /** The receipt of a 502, which the log must hold whole. */
  function refusalReceipt({ receiptId = '' }: { readonly receiptId?: string | undefined }) {
    expect(receiptId).toMatch(/^[0-9a-f]{64}$/);
    const receipt = receiptTraceOf(stack, receiptId);
    expect(receipt.code).toBe('POOL_RECEIPT');
    return receipt;
  }

  it('has a receipt in the 502 of a start, an inspection, an advance and a simulation [MA-221]', async () => {
    const run = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(run.body);
    const { continuationToken } = run.body;
    const { id: operation, method } = operations.readAdaptivePoolManifest;
    await stack.fault({ operation, method, kind: 'overlong_id', times: 100 });
    for (const request of [
      runs.start(),
      runs.inspect(continuationToken),
      runs.advance(continuationToken, etag),
    ]) {
      const reply = await request.send();
      if (reply.kind === 'run') throw new Error('a broken pool was taken');
      expect(reply.body.code).toBe('qti-adaptive-pool-invalid');
      const { trace } = refusalReceipt(reply.body);
      expect(trace.map(({ operation }) => operation)).toContain('bank.read_adaptive_pool_manifest');
    }
    refusalReceipt(problemOf(await simulate(stack, { body: simulationBody(stack) })));
  });

  it('of another tenant names that tenant in the trace, and not in the answer [MA-088, MA-221]', async () => {
    const { id: operation, method } = operations.readAdaptivePoolManifest;
    await stack.fault({ operation, method, kind: 'wrong_tenant', times: 2 });
    const reply = await callMastery(stack, startAdaptiveRun, { body: runs.startBody() });
    const problem = problemOf(reply);
    expect(problem).toMatchObject({ status: 502, code: 'qti-adaptive-pool-invalid' });
    const { trace } = refusalReceipt(problem);
    const foreign = trace.find(({ tenant }) => tenant === 'other');
    expect(foreign?.operation).toBe(operation);
    expect(foreign?.namedTenant).toBeTruthy();
    expect(foreign?.namedTenant).not.toBe('tenant-aurora');
    expect(reply.text).not.toContain(foreign!.namedTenant!);
  });
});
