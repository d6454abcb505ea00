import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { analyzeRun } from '#shared/contract/background.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import * as operations from '#shared/platform/operations.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// What goes wrong on the way of an improvement run, over the bundled functions: whatever it is, the run comes to its one end, and every order
// to its receiver once.

let stack: TestStack;
let runs: ImprovementRuns;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openImprovementRuns(stack);
});
beforeEach(async () => {
  await stack.control('POST', 'reset');
});
afterEach(async () => {
  stack.awsFaults.reset();
  await stack.control('DELETE', 'faults');
  stack.improvement.resume();
  await stack.improvement.settled();
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

/** More than any run asks. */
const ALWAYS = 10_000;
/** Longer than any test: whoever meets it is still waiting when its function dies. */
const FOREVER_MS = 120_000;
const ADMINISTRATION = 'spring-gate';

const { readAnalysisArtifact, readAlignmentCrosswalk, orderBankRevision, orderBlueprintRevision } =
  operations;

/** A run whose message lies on the queue, which is paused. */
async function waitingRun(name = ADMINISTRATION): Promise<RunKey & { readonly administrationId: string }> {
  stack.improvement.pause();
  const administrationId = runs.administration(name);
  return { ...(await runs.analyze(administrationId)), administrationId };
}

async function workOn(): Promise<void> {
  stack.improvement.resume();
  await stack.improvement.settled();
}

const stateOf = async (run: RunKey): Promise<string> => (await runs.progress(run)).run.state;

describe('a worker that dies', () => {
  it.each([
    ['before a metric is read', readAnalysisArtifact, 0, false],
    ['before a source is aligned', readAlignmentCrosswalk, 1, false],
    ['before Bank has an order', orderBankRevision, 0, false],
    ['after Bank has an order', orderBankRevision, 0, true],
    ['before Blueprint has an order', orderBlueprintRevision, 0, false],
    ['after Blueprint has an order', orderBlueprintRevision, 0, true],
  ] as const)(
    '%s: the message comes again, every order is there once [RP-190, RP-217, RP-219]',
    async (_, { id, method }, skip, isAfter) => {
      const run = await waitingRun();
      // After the receiver has done the work: the acknowledgement is lost, and the second try is under way.
      if (isAfter) await stack.fault({ operation: id, method, kind: 'lost_acknowledgement', skip });
      await stack.fault({ operation: id, method, kind: 'latency', milliseconds: FOREVER_MS, skip });
      stack.improvement.resume();
      await stack.faultsStruck();
      expect(await runs.killWorkers()).toBe(1);
      await runs.endedWell(run.administrationId, run);
      expect(stack.improvement.deadLetters()).toEqual([]);
    },
  );

  it('before one of its calls to AWS after another, life after life, ends the run whole [RP-150, RP-190, RP-217]', async () => {
    const mortal = await waitingRun();
    let lives = 0;
    for (let calls = 0; ; calls += 3) {
      runs.sendMessage(mortal);
      const held = stack.awsFaults.hold(calls).then(() => 'held');
      stack.improvement.resume();
      const outcome = await Promise.race([held, stack.improvement.settled().then(() => 'settled')]);
      if (outcome === 'settled') break;
      lives += 1;
      stack.improvement.pause();
      expect(await runs.killWorkers()).toBeGreaterThan(0);
      await stack.improvement.settled();
    }
    // What was left to hold would meet the calls of this test.
    stack.awsFaults.reset();
    expect(lives).toBeGreaterThan(10);
    await runs.endedWell(mortal.administrationId, mortal);
  }, 300_000);
});

describe('a message', () => {
  it('that comes three times, and at once, is one run [RP-190]', async () => {
    const run = await waitingRun();
    runs.sendMessage(run);
    runs.sendMessage(run);
    await workOn();
    await runs.endedWell(run.administrationId, run);
  });

  it('of a run that has ended changes nothing and asks nobody', async () => {
    const run = await waitingRun();
    await workOn();
    const before = await runs.progress(run);
    const { calls } = await callsDuring(stack, async () => {
      runs.sendMessage(run);
      await stack.improvement.settled();
    });
    expect(calls).toEqual([]);
    expect(await runs.progress(run)).toEqual(before);
  });

  it('that names no run in the agreed form ends among the dead letters, one of an unknown run is done', async () => {
    const before = stack.improvement.deadLetters().length;
    const texts = ['null', '{"improvementRunId":"run_1"}'];
    for (const text of texts) stack.improvement.send(text);
    runs.sendMessage({ tenantId: 'tenant-aurora', improvementRunId: 'run_nobody' });
    await stack.improvement.settled();
    expect(new Set(stack.improvement.deadLetters().slice(before))).toEqual(new Set(texts));
  });
});

describe('two runs of one administration', () => {
  it('at once find the same: one order at each receiver, which the second run is told [RP-190, RP-219]', async () => {
    const administrationId = runs.administration(ADMINISTRATION);
    const both = await Promise.all([runs.analyze(administrationId), runs.analyze(administrationId)]);
    expect(both[0].improvementRunId).not.toBe(both[1].improvementRunId);
    await stack.improvement.settled();
    await runs.endedWell(administrationId, ...both);
    const [first, second] = await Promise.all(both.map(runs.progress));
    const ids = (found: typeof first) => found?.orders.map(({ revisionOrderId }) => revisionOrderId);
    expect(ids(second)).toEqual(ids(first));
    for (const [at, order] of first!.orders.entries())
      expect([order.status, second!.orders[at]!.status].toSorted()).toEqual(['accepted', 'replayed']);
  });

  /** Analytics publishes what it had not published yet. */
  async function publishLater(administrationId: string): Promise<void> {
    const { reports } = stack.seededTenants.get('tenant-aurora')!.platform;
    const [later] = reports.laterAnalyses.get(administrationId) ?? [];
    await stack.control('PATCH', 'entities', {
      tenantId: 'tenant-aurora',
      entity: 'analytics.administration_analysis',
      id: administrationId,
      changes: [
        { pointer: '/version', value: later!.version },
        { pointer: '/metrics', value: later!.metrics },
        { pointer: '/comparisons', value: later!.comparisons },
      ],
    });
  }

  it('of which the later has new evidence: its orders supersede the earlier ones, and say which [RP-190, RP-205]', async () => {
    const first = await waitingRun();
    await workOn();
    await publishLater(first.administrationId);
    const second = await runs.analyze(first.administrationId);
    await runs.endedWell(first.administrationId, first, second);
    const before = new Map(
      (await runs.progress(first)).orders.map((order) => [order.revisionOrderId, order.status]),
    );
    const changed = (await runs.progress(second)).orders.filter(
      ({ supersedesRevisionOrderId }) => supersedesRevisionOrderId !== null,
    );
    expect(changed.length).toBeGreaterThan(0);
    for (const { supersedesRevisionOrderId } of changed)
      expect(before.get(supersedesRevisionOrderId!)).toBe('superseded');
  });

  it('of which the later overtakes the earlier, whose order is under way: it is superseded, and its acknowledgement recorded [RP-204, RP-205]', async () => {
    const first = await waitingRun();
    await stack.fault({ operation: orderBankRevision.id, kind: 'latency', milliseconds: 8_000 });
    stack.improvement.resume();
    await stack.faultsStruck();
    await publishLater(first.administrationId);
    const second = await runs.analyze(first.administrationId);
    await runs.endedWell(first.administrationId, first, second);
    const overtaken = new Set(
      (await runs.progress(second)).orders.map((order) => order.supersedesRevisionOrderId),
    );
    const bank = (await runs.progress(first)).orders.filter(
      ({ targetModule, revisionOrderId }) => targetModule === 'bank' && overtaken.has(revisionOrderId),
    );
    expect(bank.length).toBeGreaterThan(0);
    const held = await runs.received(first.administrationId);
    for (const { status, ack, revisionOrderId } of bank) {
      expect(status).toBe('superseded');
      expect(ack?.receiptId).toBe(held.get(revisionOrderId)?.receiptId);
    }
  });

  it('of which the earlier one is begun after the later has ended: what that has replaced is not delivered [RP-205]', async () => {
    const administrationId = runs.administration(ADMINISTRATION);
    const key = 'whose-message-is-lost-and-found';
    stack.awsFaults.unavailable('sqs', ALWAYS);
    expect((await runs.send(administrationId, { key })).status).toBe(500);
    stack.awsFaults.reset();
    await publishLater(administrationId);
    const later = await runs.analyze(administrationId);
    await stack.improvement.settled();
    expect(await stateOf(later)).toMatch(/^completed/);
    const replaced = new Set(
      (await runs.progress(later)).orders.map(
        ({ lineage, revisionOrderId }) => `${lineage} ${revisionOrderId}`,
      ),
    );
    const lineages = new Set((await runs.progress(later)).orders.map(({ lineage }) => lineage));

    const earlier = await runs.analyze(administrationId, key);
    await runs.endedWell(administrationId, later, earlier);
    const { orders } = await runs.progress(earlier);
    const late = orders.filter(
      ({ lineage, revisionOrderId }) =>
        lineages.has(lineage) && !replaced.has(`${lineage} ${revisionOrderId}`),
    );
    expect(late.length).toBeGreaterThan(0);
    const held = await runs.received(administrationId);
    for (const { status, ack, revisionOrderId } of late)
      expect([status, ack, held.has(revisionOrderId)]).toEqual(['superseded', null, false]);
  });
});

describe('a receiver', () => {
  const set = (module: 'bank' | 'blueprint', administrationId: string, status: 'available' | 'missing') =>
    stack.control('PATCH', 'entities', {
      tenantId: 'tenant-aurora',
      entity: `${module}.receiver`,
      id: administrationId,
      changes: [{ pointer: '/status', value: status }],
    });

  it('that is missing parks the run; the sweeper takes it up once the receiver is back [RP-150, RP-217]', async () => {
    // Blueprint is missing for it in the seed.
    const run = await waitingRun('autumn-gate');
    await workOn();
    const shown = await runs.read(run);
    expect(shown).toMatchObject({ status: 'blocked_upstream', receipt: null, completedAt: null });
    expect(shown.blockedOrderCount).toBeGreaterThan(0);
    expect(shown.alignmentRecordCount).toBe(shown.namedSourceCount);
    const delivered = await runs.received(run.administrationId);
    expect(new Set([...delivered.values()].map(({ module }) => module))).toEqual(new Set(['bank']));

    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect(await stateOf(run)).toBe('blocked_upstream');

    await set('blueprint', run.administrationId, 'available');
    await stack.improvement.sweep();
    await runs.endedWell(run.administrationId, run);
    expect((await runs.read(run)).blockedOrderCount).toBe(0);
  });

  it('that is back is asked by the next analysis too, without the sweeper [RP-217]', async () => {
    const run = await waitingRun('autumn-gate');
    await workOn();
    expect(await stateOf(run)).toBe('blocked_upstream');
    await set('blueprint', run.administrationId, 'available');
    const next = await runs.analyze(run.administrationId);
    await runs.endedWell(run.administrationId, run, next);
  });

  it.each([
    ['loses every acknowledgement', { kind: 'lost_acknowledgement' }],
    ['acknowledges another order', { kind: 'other_entity' }],
    ['acknowledges for another tenant', { kind: 'wrong_tenant' }],
    ['answers something else', { kind: 'malformed' }],
    ['answers half', { kind: 'cut' }],
    ['refuses', { kind: 'status', status: 422 }],
    ['contradicts', { kind: 'status', status: 409 }],
    ['is gone', { kind: 'status', status: 404 }],
    ['is down', { kind: 'down' }],
  ] as const)(
    'that %s has acknowledged nothing; afterwards, each order is there once [RP-217, RP-219]',
    async (_, fault) => {
      const run = await waitingRun();
      await stack.fault({ operation: orderBlueprintRevision.id, times: ALWAYS, ...fault });
      await workOn();
      const { run: record, orders } = await runs.progress(run);
      expect(record.state).toBe('blocked_upstream');
      for (const { targetModule, status, ack } of orders)
        expect([targetModule, status, ack === null]).toEqual(
          targetModule === 'bank' ? ['bank', 'accepted', false] : ['blueprint', 'blocked_upstream', true],
        );
      await stack.control('DELETE', 'faults');
      await stack.improvement.sweep();
      await runs.endedWell(run.administrationId, run);
    },
  );

  it('that rejects has received: the run completes [RP-150, RP-204]', async () => {
    const run = await waitingRun('refused-by-bank');
    await workOn();
    await runs.endedWell(run.administrationId, run);
    expect((await runs.progress(run)).orders.map(({ status }) => status)).toContain('rejected');
  });
});

describe('AWS', () => {
  it.each([
    ['throttles queries', () => stack.awsFaults.throttle('Query', 4)],
    ['throttles transactions', () => stack.awsFaults.throttle('TransactWriteItems', 4)],
    ['throttles updates', () => stack.awsFaults.throttle('UpdateItem', 7)],
    ['throttles writes', () => stack.awsFaults.throttle('PutItem', 4)],
    ['has no table for a while', () => stack.awsFaults.unavailable('dynamodb', 8)],
    ['has no bucket for a while', () => stack.awsFaults.unavailable('s3', 8)],
    ['throttles the bucket', () => stack.awsFaults.throttle('PutObject', 4)],
    ['is writing the same bundle', () => stack.awsFaults.conflict(7)],
  ])('%s: the message comes again, and everything is there once [RP-150, RP-190]', async (_, fail) => {
    const run = await waitingRun();
    fail();
    await workOn();
    await runs.endedWell(run.administrationId, run);
  });

  it('gives a message up: what failed all five times is a dead letter, and the sweeper sends the run on', async () => {
    const before = stack.improvement.deadLetters().length;
    const run = await waitingRun();
    stack.awsFaults.unavailable('s3', ALWAYS);
    await workOn();
    expect(stack.improvement.deadLetters()).toHaveLength(before + 1);
    expect(await stateOf(run)).toBe('analyzing');
    stack.awsFaults.reset();
    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect(await stateOf(run)).toBe('analyzing');
    await runs.leaveAlone(run);
    await stack.improvement.sweep();
    await runs.endedWell(run.administrationId, run);
  });

  it('takes no message: the analysis is 500, and the run it has begun is found by sweeper and repetition', async () => {
    const administrationId = runs.administration(ADMINISTRATION);
    const key = 'a-key-whose-message-is-lost';
    stack.awsFaults.unavailable('sqs', ALWAYS);
    expect((await runs.send(administrationId, { key })).status).toBe(500);
    stack.awsFaults.reset();
    stack.improvement.pause();
    const run = await runs.analyze(administrationId, key);
    expect(await stateOf(run)).toBe('queued');
    await workOn();
    await runs.endedWell(administrationId, run);
  });

  it('takes no message of the sweeper: the sweep fails, and the next one sends it', async () => {
    const run = await waitingRun('autumn-gate');
    await workOn();
    stack.awsFaults.unavailable('sqs', ALWAYS);
    await expect(stack.improvement.sweep()).rejects.toThrow();
    stack.awsFaults.reset();
    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect(await stateOf(run)).toBe('blocked_upstream');
  });
});

describe('evidence', () => {
  it('that its owner does not answer for: the message comes again and again, then the sweeper, until it does [RP-150]', async () => {
    const before = stack.improvement.deadLetters().length;
    const run = await waitingRun();
    await stack.fault({ operation: readAnalysisArtifact.id, kind: 'down', times: ALWAYS });
    await workOn();
    expect(await stateOf(run)).toBe('analyzing');
    expect(stack.improvement.deadLetters()).toHaveLength(before + 1);
    expect((await runs.received(run.administrationId)).size).toBe(0);
    await stack.control('DELETE', 'faults');
    await runs.leaveAlone(run);
    await stack.improvement.sweep();
    await runs.endedWell(run.administrationId, run);
  });

  it.each([
    ['a crosswalk that is gone', readAlignmentCrosswalk, { kind: 'status', status: 404 }],
    ['a crosswalk that has changed', readAlignmentCrosswalk, { kind: 'version_drift' }],
    ['an artifact of Analytics that is gone', readAnalysisArtifact, { kind: 'status', status: 404 }],
    ['an artifact of Analytics that has changed', readAnalysisArtifact, { kind: 'version_drift' }],
  ] as const)(
    '%s since it was pinned fails the run, without a receipt [RP-154, RP-155]',
    async (_, { id }, fault) => {
      const run = await waitingRun();
      await stack.fault({ operation: id, times: ALWAYS, ...fault });
      await workOn();
      const { run: record } = await runs.progress(run);
      expect([record.state, record.receipt, typeof record.completedAt]).toEqual([
        'failed',
        undefined,
        'number',
      ]);
      await stack.control('DELETE', 'faults');
      const shown = await runs.read(run);
      expect(shown).toMatchObject({ status: 'failed', receipt: null });
      // Only a new analysis goes on.
      runs.sendMessage(run);
      await stack.improvement.sweep();
      await stack.improvement.settled();
      expect(await stateOf(run)).toBe('failed');
      const again = await runs.analyze(run.administrationId);
      await stack.improvement.settled();
      expect(await stateOf(again)).toMatch(/^completed/);
    },
  );
});

it('leaves no id of a tenant, an administration, a subject or an order in the worker’s log', async () => {
  const from = stack.logs().length;
  const run = await waitingRun();
  await stack.fault({ operation: orderBankRevision.id, kind: 'down', times: ALWAYS });
  await workOn();
  const { orders, run: record } = await runs.progress(run);
  const lines = stack
    .logs()
    .slice(from)
    .filter(({ function: name }) => name === analyzeRun.operationId)
    .map((line) => JSON.stringify(line));
  expect(lines.some((line) => line.includes('IMPROVEMENT_RUN_WORKED'))).toBe(true);
  const held = [...(await runs.received(run.administrationId)).values()];
  const secrets = [
    'tenant-aurora',
    run.administrationId,
    record.pins.contentTestSpecId,
    ...record.pins.sources.flatMap(({ sourceKey, crosswalk }) => [sourceKey, crosswalk.ref]),
    ...orders.map(({ revisionOrderId }) => revisionOrderId),
    ...held.flatMap(({ order }) => order.caseGuids),
  ];
  for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret);
});
