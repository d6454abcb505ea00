import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { receiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import { createAnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { prepareAnalysisPolicy, writeRecord } from '#shared/records/release.ts';
import { sampleAnalysisPolicyFile } from '#test/support/sample-files.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { onlyMetrics, openImprovementWorld, runOf } from '#test/support/improvement.ts';
import type { ImprovementWorld, Refused } from '#test/support/improvement.ts';
import { workRun } from './work-run.ts';
import type { Stalled, Worked } from './work-run.ts';

const FIVE_MINUTES = 300_000;

type Discrimination = NonNullable<NonNullable<Parameters<typeof runOf>[0]>['discrimination']>;

function work(
  world: ImprovementWorld,
  key: RunKey,
  remaining: number = FIVE_MINUTES,
): Promise<Result<Worked, Stalled>> {
  return workRun(world.dependencies, key, {
    receivedAt: world.now,
    endsAt: world.now + remaining,
    isReleased: () => Promise.resolve(true),
    log: () => undefined,
  });
}

async function outcomeOf(worked: Promise<Result<Worked, Stalled>>): Promise<string> {
  const result = await worked;
  if (!result.ok) return `stalled: ${result.error.reason} ${result.error.dependency}`;
  const { outcome, failure } = result.value;
  return failure === undefined ? outcome : `${outcome}: ${failure.reason} ${failure.dependency}`;
}

async function progressOf(world: ImprovementWorld, key: RunKey) {
  const progress = await world.store.readProgress(key);
  if (progress === undefined) throw new Error('there is no run');
  return progress;
}

const states = async (world: ImprovementWorld, key: RunKey): Promise<readonly string[]> =>
  (await progressOf(world, key)).orders.map(({ status }) => status);

async function openRuns(world: ImprovementWorld): Promise<number> {
  let count = 0;
  for await (const run of world.store.listOpen()) count += run.improvementRunId.length > 0 ? 1 : 0;
  return count;
}

/** One bank order for a weak item, one blueprint order a source, one for the comparison. */
const one = runOf();
const three = runOf({ sources: 3 });

let world: ImprovementWorld;
let key: RunKey;
/** Begins with another world, and a run in it. */
async function begin(improved: ReturnType<typeof runOf>, pins = improved.pins): Promise<void> {
  world = openImprovementWorld([improved]);
  key = await world.create('run_1', pins);
}
beforeEach(() => begin(three));

/** Works on the run as the one thing that is otherwise about its dependencies makes it. */
const workWith = (change: Partial<ImprovementWorld['dependencies']>) =>
  work({ ...world, dependencies: { ...world.dependencies, ...change } }, key);

const withoutProfile = () => {
  const resolve = () => Promise.resolve(err({ kind: 'missing', transient: false } as const));
  return workWith({ profiles: { ...world.dependencies.profiles, resolve } });
};

/** What its owner holds under the ref of an artifact. */
const heldAt = (ref: string): unknown => JSON.parse(Buffer.from(three.artifacts.get(ref) ?? []).toString());

/** Everything of a finished run is there: once at the receivers, wholly in the table, provable by its bundles. */
async function endedWell(done: ImprovementWorld, run: RunKey): Promise<void> {
  const progress = await progressOf(done, run);
  expect(progress.run.state).toBe('completed_with_omissions');
  expect(progress.orders.length).toBeGreaterThan(0);
  for (const { revisionOrderId, status, ack, updatedAt, createdAt } of progress.orders) {
    expect(['accepted', 'replayed']).toContain(status);
    expect(ack).not.toBeNull();
    expect(updatedAt).toBeGreaterThanOrEqual(createdAt);
    expect(done.held.has(revisionOrderId)).toBe(true);
  }
  expect(done.held.size).toBe(progress.orders.length);
  const tries = Map.groupBy(done.handed, ({ order }) => order.revisionOrderId);
  for (const [id, handed] of tries) {
    expect(new Set(handed.map(({ order }) => canonicalJson(order))).size).toBe(1);
    expect(handed.map(({ idempotencyKey }) => idempotencyKey)).toEqual(handed.map(() => id));
  }
  const { receipt, completedAt } = progress.run;
  const bundles = [receipt, ...progress.evidence.map((record) => record.receipt)].flatMap((ref) => ref ?? []);
  expect(bundles).toHaveLength(1 + progress.run.pins.sources.length);
  for (const { sha256 } of bundles) {
    const bytes = done.bundles.get(`${run.tenantId}/${sha256}`);
    expect(receiptBundle.safeParse(JSON.parse(Buffer.from(bytes ?? []).toString())).success).toBe(true);
  }
  for (const { evaluatedAt } of progress.evidence)
    expect(evaluatedAt).toBeGreaterThanOrEqual(progress.run.createdAt);
  const times = [
    progress.run.createdAt,
    ...progress.evidence.map(({ evaluatedAt }) => evaluatedAt),
    ...progress.orders.map(({ updatedAt }) => updatedAt),
  ];
  expect(completedAt).toBe(Math.max(...times));
  expect(await openRuns(done)).toBe(0);
}

describe('a run', () => {
  it('ends complete: all evaluated, every order once at its receiver, receipt and end recorded [RP-150, RP-153, RP-155, RP-219]', async () => {
    world.now += 60_000;
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    await endedWell(world, key);
    const { evidence, orders } = await progressOf(world, key);
    expect(evidence.map((record) => record.key)).toEqual([
      'metric:item_difficulty',
      'metric:item_discrimination',
      'source:source-002',
      'source:source-003',
      `source:${three.pins.sources[0]!.sourceKey}`,
    ]);
    expect(orders.map(({ targetModule }) => targetModule).toSorted()).toEqual([
      'bank',
      'blueprint',
      'blueprint',
      'blueprint',
      'blueprint',
    ]);
    expect(world.handed).toHaveLength(orders.length);
    expect(world.sent).toEqual([]);
    // No comparison is due of the two further sources, and that of the first is shown.
    expect(evidence.map(({ comparisonOmitted }) => comparisonOmitted)).toEqual([
      undefined,
      undefined,
      false,
      false,
      false,
    ]);
  });

  it('reads each artifact once, one crosswalk after another', async () => {
    await work(world, key);
    const reads = world.calls.filter((id) => !id.endsWith('receive_revision_order'));
    expect(reads.filter((id) => id === operations.readAlignmentCrosswalk.id)).toHaveLength(3);
    // Two metrics and a comparison.
    expect(reads.filter((id) => id === operations.readAnalysisArtifact.id)).toHaveLength(3);
  });

  it('is completed without omissions only where nothing was omitted [RP-152, RP-221]', async () => {
    const [difficulty, discrimination] = one.pins.metrics;
    // The two artifacts stand in for four available metrics: of the others nothing is derived.
    const whole = openImprovementWorld([one]);
    const judged = 'all' as const;
    const pins = { ...one.pins, metrics: [difficulty!, { ...discrimination!, judged }] };
    const complete = await whole.create('run_whole', pins);
    expect(await outcomeOf(work(whole, complete))).toBe('completed');
    const missing = {
      ...pins,
      sources: [{ ...one.pins.sources[0]!, comparison: 'missing' as const }],
    };
    const partly = { ...pins, metrics: [difficulty!, { ...discrimination!, judged: 'some' as const }] };
    expect(await outcomeOf(work(whole, await whole.create('run_partly', partly)))).toBe(
      'completed_with_omissions',
    );
    const without = await whole.create('run_missing', missing);
    expect(await outcomeOf(work(whole, without))).toBe('completed_with_omissions');
    expect((await progressOf(whole, without)).evidence.at(-1)).toMatchObject({ comparisonOmitted: true });
  });

  it('takes no order from a metric that is not available [RP-159]', async () => {
    await begin(one, { ...one.pins, metrics: onlyMetrics(one, []) });
    await work(world, key);
    expect(world.calls).not.toContain(operations.orderBankRevision.id);
    expect((await progressOf(world, key)).evidence.map((record) => record.key)).toEqual([
      `source:${one.pins.sources[0]!.sourceKey}`,
    ]);
  });

  it('that has ended is done: nothing is asked and nothing written', async () => {
    await work(world, key);
    const before = await progressOf(world, key);
    const asked = world.calls.length;
    world.now += 1_000;
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    expect(world.calls).toHaveLength(asked);
    expect(await progressOf(world, key)).toEqual(before);
  });

  it('that nobody knows is done', async () => {
    expect(await outcomeOf(work(world, { ...key, improvementRunId: 'run_nobody' }))).toBe('absent');
    expect(await outcomeOf(work(world, { ...key, tenantId: 'tenant-b' }))).toBe('absent');
    expect(world.calls).toEqual([]);
  });

  it('records nothing as older than itself, whatever this clock says [RP-155, RP-206]', async () => {
    world.now = three.pins.sources.length;
    await work(world, key);
    await endedWell(world, key);
  });
});

describe('a worker that dies', { timeout: 120_000 }, () => {
  class Killed extends Error {}

  /** Counts the steps to the outside, and ends the function for good before one of them. */
  function mortal() {
    let made = 0;
    let last = Infinity;
    return {
      step: (): Promise<void> => {
        if (made >= last) return Promise.reject(new Killed());
        made += 1;
        return Promise.resolve();
      },
      dieAfter: (steps: number): void => {
        made = 0;
        last = steps;
      },
      revive: (): void => {
        last = Infinity;
      },
      made: () => made,
    };
  }

  it('after any step: the message comes again, and everything is there once [RP-190, RP-205, RP-217]', async () => {
    const counting = mortal();
    const counted = openImprovementWorld([three], counting.step);
    const whole = await counted.create('run_1', three.pins);
    counting.dieAfter(Infinity);
    await work(counted, whole);
    const steps = counting.made();
    expect(steps).toBeGreaterThan(30);
    for (let after = 0; after < steps; after += 1) {
      const life = mortal();
      const dying = openImprovementWorld([three], life.step);
      const run = await dying.create('run_1', three.pins);
      life.dieAfter(after);
      await expect(work(dying, run), `${after}`).rejects.toBeInstanceOf(Killed);
      life.revive();
      expect((await dying.store.readRun(run))?.state, `${after}`).not.toBe('completed');
      dying.now += 1_000;
      expect(await outcomeOf(work(dying, run)), `${after}`).toBe('completed_with_omissions');
      await endedWell(dying, run);
    }
  });

  it('over and over gets on with each life', async () => {
    const life = mortal();
    const dying = openImprovementWorld([three], life.step);
    const run = await dying.create('run_1', three.pins);
    let lives = 0;
    let isDone = false;
    while (!isDone) {
      lives += 1;
      life.dieAfter(16);
      isDone = await work(dying, run).then(
        () => true,
        () => false,
      );
      dying.now += 1_000;
    }
    expect(lives).toBeGreaterThan(2);
    life.revive();
    await endedWell(dying, run);
  });
});

describe('workers at once', { timeout: 120_000 }, () => {
  it('whatever the order of their steps, do everything once between them [RP-190, RP-217]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 3 }), async (scheduler, workers) => {
        let isRacing = false;
        const shared = openImprovementWorld([one], (name) =>
          isRacing ? scheduler.schedule(Promise.resolve(), name) : Promise.resolve(),
        );
        const run = await shared.create('run_1', one.pins);
        isRacing = true;
        const racing = Promise.all(Array.from({ length: workers }, () => outcomeOf(work(shared, run))));
        await scheduler.waitFor(racing);
        isRacing = false;
        // Whoever reads while the other still delivers may park the run: the other one takes it out again.
        expect(await racing).toContain('completed_with_omissions');
        await endedWell(shared, run);
      }),
      { numRuns: 60 },
    );
  });

  it('on two runs that find the same: one order at its receiver, which the second run is told [RP-190, RP-219]', async () => {
    const later = await world.create('run_2', three.pins, world.now);
    await work(world, later);
    const first = await progressOf(world, later);
    await work(world, key);
    const second = await progressOf(world, key);
    expect(second.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(
      first.orders.map(({ revisionOrderId }) => revisionOrderId),
    );
    expect(new Set(first.orders.map(({ status }) => status))).toEqual(new Set(['accepted']));
    expect(new Set(second.orders.map(({ status }) => status))).toEqual(new Set(['replayed']));
    expect(world.held.size).toBe(first.orders.length);
  });
});

describe('changed evidence', { timeout: 120_000 }, () => {
  const discrimination = {
    ...(heldAt('artifact-item_discrimination') as Discrimination),
    artifactRef: 'artifact-item_discrimination-2',
  };
  const changed = runOf({ discrimination });

  beforeEach(async () => {
    world = openImprovementWorld([one, changed]);
    key = await world.create('run_1', one.pins, 1_000);
  });

  it('gives an order that supersedes the earlier run’s, which stays acknowledged [RP-190, RP-205]', async () => {
    await work(world, key);
    const later = await world.create('run_2', changed.pins, 2_000);
    await work(world, later);
    const [before] = (await progressOf(world, key)).orders.filter((order) => order.targetModule === 'bank');
    const [after] = (await progressOf(world, later)).orders.filter((order) => order.targetModule === 'bank');
    expect(before).toMatchObject({ status: 'superseded', ack: { version: '1' } });
    expect(after).toMatchObject({
      status: 'accepted',
      supersedesRevisionOrderId: before?.revisionOrderId,
    });
    expect(world.held.get(after?.revisionOrderId ?? '')).toMatchObject({
      supersedesRevisionOrderId: before?.revisionOrderId,
    });
  });

  const bankOrder = async (run: RunKey) => {
    const found = (await progressOf(world, run)).orders.find(({ targetModule }) => targetModule === 'bank');
    if (found === undefined) throw new Error('the run has an order for Bank');
    return found;
  };
  const handedToBank = (): readonly string[] =>
    world.handed.filter(({ module }) => module === 'bank').map(({ order }) => order.revisionOrderId);

  /** The earlier run, with the whole of the later one worked on before the so-manieth step of its worker. */
  async function interleaved(before: number): Promise<{ readonly steps: number; readonly later: RunKey }> {
    let steps = 0;
    let isWorking = false;
    world = openImprovementWorld([one, changed], async () => {
      if (!isWorking) return;
      steps += 1;
      if (steps !== before) return;
      isWorking = false;
      await work(world, later);
      isWorking = true;
    });
    key = await world.create('run_1', one.pins, 1_000);
    const later = await world.create('run_2', changed.pins, 2_000);
    isWorking = true;
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    isWorking = false;
    if (steps < before) await work(world, later);
    return { steps, later };
  }

  it('that overtakes an earlier run, at any of its steps: nothing replaced is handed over afterwards, and what was under way is recorded [RP-204, RP-205]', async () => {
    const { steps } = await interleaved(Infinity);
    expect(steps).toBeGreaterThan(20);
    let underWay = 0;
    let held = 0;
    for (let before = 1; before <= steps; before += 1) {
      const { later } = await interleaved(before);
      const [old, current] = [await bankOrder(key), await bankOrder(later)];
      expect([old.status, current.status], `${before}`).toEqual(['superseded', 'accepted']);
      const handed = handedToBank();
      // Whoever has the order has acknowledged it, and both are recorded.
      expect(old.ack !== null, `${before}`).toBe(handed.includes(old.revisionOrderId));
      expect(handed.includes(old.revisionOrderId), `${before}`).toBe(world.held.has(old.revisionOrderId));
      if (old.ack === null) held += 1;
      // Only where the later run comes between the last look at the order and the call itself.
      else if (handed.indexOf(old.revisionOrderId) > handed.indexOf(current.revisionOrderId)) underWay += 1;
    }
    expect(held).toBeGreaterThan(2);
    expect(underWay).toBe(1);
  });

  it('of an older run that comes after the newer is superseded at once, and is not handed over either [RP-205]', async () => {
    const later = await world.create('run_2', changed.pins, 2_000);
    await work(world, later);
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    const orders = (await progressOf(world, key)).orders;
    const [late] = orders.filter((order) => order.targetModule === 'bank');
    expect(late).toMatchObject({ status: 'superseded', ack: null });
    expect(world.held.has(late?.revisionOrderId ?? '')).toBe(false);
    expect(orders.filter(({ status }) => status === 'replayed')).toHaveLength(orders.length - 1);
  });
});

describe('a receiver', () => {
  const many = runOf({ sources: 20 });
  const blueprintOnly =
    (answer: Refused) =>
    ({ targetModule }: { readonly targetModule: string }): Refused | undefined =>
      targetModule === 'blueprint' ? answer : undefined;

  it.each([
    ['gives no answer', { kind: 'unavailable' }],
    ['answers 503', { kind: 'unavailable', status: 503 }],
    ['has no such door', { kind: 'not-found', status: 404 }],
    ['refuses the credential', { kind: 'rejected', status: 401 }],
    ['forbids', { kind: 'rejected', status: 403 }],
    ['answers about another tenant', { kind: 'wrong-tenant', status: 200 }],
  ] as const)(
    'that %s is missing: its orders are blocked, hardly any is tried, the other’s are delivered; back again, all are [RP-150, RP-217]',
    async (_, answer) => {
      await begin(many);
      world.receive = blueprintOnly(answer);
      expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
      const { run, orders, evidence } = await progressOf(world, key);
      expect(run).toMatchObject({ state: 'blocked_upstream' });
      expect(run.completedAt ?? run.receipt).toBeUndefined();
      // Evaluating does not wait for a receiver.
      expect(evidence).toHaveLength(22);
      for (const { targetModule, status, ack } of orders)
        expect([targetModule, status, ack === null]).toEqual(
          targetModule === 'bank' ? ['bank', 'accepted', false] : ['blueprint', 'blocked_upstream', true],
        );
      expect(world.handed.filter(({ module }) => module === 'blueprint').length).toBeLessThanOrEqual(8);
      expect(await openRuns(world)).toBe(1);

      // Still missing: it stays parked, and is not read again for every order.
      world.now += FIVE_MINUTES;
      const asked = world.calls.length;
      expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
      expect(world.calls.length - asked).toBeLessThan(5);

      world.receive = () => undefined;
      world.now += FIVE_MINUTES;
      expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
      await endedWell(world, key);
    },
  );

  it.each([
    ['refuses one order with 422', { kind: 'rejected', status: 422 }],
    ['holds another content under its id', { kind: 'conflict', status: 409 }],
    ['answers one order with something else', { kind: 'malformed', status: 200 }],
    ['acknowledges another order', { revisionOrderId: 'order_other' }],
  ] as const)(
    'that %s gets all the others; that one is blocked, and tried again [RP-217, RP-219]',
    async (_, answer) => {
      await begin(many);
      const refused = 'source-007';
      world.receive = ({ sourceKeys }) => (sourceKeys.includes(refused) ? answer : undefined);
      expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
      const blocked = (await progressOf(world, key)).orders.filter(({ status }) => status !== 'accepted');
      expect(blocked.map(({ evidence, status, ack }) => [evidence, status, ack])).toEqual([
        [`source:${refused}`, 'blocked_upstream', null],
      ]);
      const tried = world.handed.length;
      world.receive = () => undefined;
      world.now += FIVE_MINUTES;
      expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
      expect(world.handed).toHaveLength(tried + 1);
      await endedWell(world, key);
    },
  );

  it('whose acknowledgement was lost is asked again with the same bytes, and has one order [RP-190, RP-219]', async () => {
    const first = new Set<string>();
    const lost = world.receive;
    const { held } = world;
    world.receive = (order) => {
      if (first.has(order.revisionOrderId)) return lost(order);
      first.add(order.revisionOrderId);
      (held as Map<string, typeof order>).set(order.revisionOrderId, order);
      return { kind: 'unavailable' };
    };
    expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
    // Every order loses its first acknowledgement, and only the first one of a module is tried while that one seems to be missing.
    for (let sweeps = 0; (await openRuns(world)) > 0 && sweeps < 10; sweeps += 1) {
      world.now += FIVE_MINUTES;
      await work(world, key);
    }
    await endedWell(world, key);
    expect(await states(world, key)).toEqual((await progressOf(world, key)).orders.map(() => 'replayed'));
  });

  it('that rejects an order for good has had it: the run completes, with its receipt [RP-150, RP-204]', async () => {
    world.receive = ({ targetModule }) => (targetModule === 'bank' ? { decision: 'rejected' } : undefined);
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    const [order] = (await progressOf(world, key)).orders.filter(
      ({ targetModule }) => targetModule === 'bank',
    );
    expect(order).toMatchObject({
      status: 'rejected',
      ack: { receiptId: `receipt-of-${order?.revisionOrderId}` },
    });
    expect(await openRuns(world)).toBe(0);
  });

  it('is asked for the longest untried orders first, so that those it refuses hold up no other [RP-217]', async () => {
    await begin(many);
    const refuse = blueprintOnly({ kind: 'rejected', status: 422 });
    world.receive = refuse;
    await work(world, key);
    world.receive = (order) => {
      // So long that less than half of them fit into one invocation.
      world.now += 30_000;
      return refuse(order);
    };
    const tried: number[] = [];
    const ids = new Set<string>();
    for (let sweep = 0; sweep < 3; sweep += 1) {
      world.now += FIVE_MINUTES;
      const before = world.handed.length;
      expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
      const handed = world.handed.slice(before);
      tried.push(handed.length);
      for (const { order } of handed) ids.add(order.revisionOrderId);
    }
    expect(Math.max(...tried)).toBeLessThan(11);
    expect(ids.size).toBe(21);
  });
});

describe('evidence that no longer dereferences', () => {
  const [source] = three.pins.sources;
  const crosswalk = heldAt(source!.crosswalk.ref) as {
    readonly requirements: readonly unknown[];
  };
  const metric = heldAt('artifact-item_discrimination') as Discrimination;

  it.each([
    ['a crosswalk that is gone', source!.crosswalk.ref, undefined, 'evidence_gone blueprint'],
    [
      'a crosswalk of other bytes',
      source!.crosswalk.ref,
      { ...crosswalk, version: '4' },
      'evidence_changed blueprint',
    ],
    [
      'a crosswalk of another source',
      source!.crosswalk.ref,
      { ...crosswalk, sourceKey: 'x' },
      'evidence_moved blueprint',
    ],
    ['a metric that is gone', 'artifact-item_discrimination', undefined, 'evidence_gone analytics'],
    [
      'a metric of other bytes',
      'artifact-item_discrimination',
      { ...metric, sampleCount: 3 },
      'evidence_changed analytics',
    ],
    ['a comparison that is gone', 'artifact-comparison', undefined, 'evidence_gone analytics'],
  ] as const)(
    '%s: the run fails, without a receipt, for good [RP-154, RP-155]',
    async (_, ref, value, expected) => {
      world.serve(ref, value, value === undefined ? { kind: 'not-found', status: 404 } : undefined);
      expect(await outcomeOf(work(world, key))).toBe(`failed: ${expected}`);
      const { run } = await progressOf(world, key);
      expect([run.state, run.receipt, run.completedAt]).toEqual(['failed', undefined, world.now]);
      expect(await openRuns(world)).toBe(0);
      world.now += 1_000;
      const asked = world.calls.length;
      expect(await outcomeOf(work(world, key))).toBe('failed');
      expect(world.calls).toHaveLength(asked);
      expect(await progressOf(world, key)).toMatchObject({ run: { completedAt: world.now - 1_000 } });
    },
  );

  it('as it is another metric’s: the run fails [RP-154]', async () => {
    const [difficulty, discrimination, ...others] = three.pins.metrics;
    const metrics = [{ ...difficulty!, artifact: discrimination!.artifact }, discrimination!, ...others];
    const run = await world.create('run_moved', { ...three.pins, metrics });
    expect(await outcomeOf(work(world, run))).toBe('failed: evidence_moved analytics');
  });

  it('is asked for twice before it is believed', async () => {
    const { ref } = source!.crosswalk;
    let asked = 0;
    const flaky = openImprovementWorld([three], (name) => {
      if (name === operations.readAlignmentCrosswalk.id) {
        asked += 1;
        flaky.serve(ref, crosswalk, asked === 1 ? { kind: 'not-found', status: 404 } : undefined);
      }
      return Promise.resolve();
    });
    const run = await flaky.create('run_1', three.pins);
    expect(await outcomeOf(work(flaky, run))).toBe('completed_with_omissions');
  });

  it.each([
    ['has no requirements', { ...crosswalk, requirements: [] }],
    [
      'has a requirement twice',
      { ...crosswalk, requirements: [crosswalk.requirements[0], crosswalk.requirements[0]] },
    ],
  ])('or a crosswalk that %s, as it was pinned: the run fails [RP-150]', async (_, value) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const pins = one.pins;
    const unusable = {
      ...pins,
      sources: [{ ...source!, crosswalk: { ref: source!.crosswalk.ref, sha256: sha256Hex(bytes) } }],
    };
    world.serve(source!.crosswalk.ref, value);
    const run = await world.create('run_unusable', unusable);
    expect(await outcomeOf(work(world, run))).toBe('failed: evidence_unusable blueprint');
  });

  describe('or from which more follows than a bundle can hold', { timeout: 120_000 }, () => {
    const guids = Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(255, 'g'));
    const { rows, ...rest } = metric;
    const [row] = rows;
    const vast = runOf({ discrimination: { ...rest, rows: [{ ...row!, caseGuids: guids }] } });

    /** A policy that asks for so many orders about each item that hardly discriminates. */
    function asking(times: number): ImprovementWorld {
      const asked = openImprovementWorld([vast]);
      const [trigger] = asked.policy.triggers;
      const triggers = Array.from({ length: times }, (_, at) => ({
        ...trigger!,
        threshold: { operator: 'lt' as const, value: 0.9 + at / 10_000 },
      }));
      const readPinned = () => Promise.resolve(ok({ ...asked.policy, triggers }));
      const policies = { ...asked.dependencies.policies, readPinned };
      return { ...asked, dependencies: { ...asked.dependencies, policies } };
    }

    it('the run fails before any order is recorded [RP-150]', async () => {
      const asked = asking(300);
      const run = await asked.create('run_vast', { ...vast.pins, sources: [] });
      expect(await outcomeOf(work(asked, run))).toBe('failed: evidence_unusable analytics');
      expect((await progressOf(asked, run)).orders).toEqual([]);
      expect(asked.handed).toEqual([]);
    });

    it('as the bundle of the whole run: it fails without one [RP-150, RP-154]', async () => {
      const asked = asking(2);
      const run = await asked.create('run_vast', { ...vast.pins, sources: [] });
      const { store } = asked.dependencies;
      // Receivers' receipts stand in for a hundred thousand orders.
      const moveOrder: typeof store.moveOrder = (of, id, to, now) =>
        store.moveOrder(
          of,
          id,
          'ack' in to ? { ...to, ack: { ...to.ack, receiptId: 'r'.repeat(40_000_000) } } : to,
          now,
        );
      const dependencies = { ...asked.dependencies, store: { ...store, moveOrder } };
      expect(await outcomeOf(work({ ...asked, dependencies }, run))).toBe(
        'failed: evidence_unusable unknown',
      );
      expect((await asked.store.readRun(run))?.receipt).toBeUndefined();
    });
  });

  it.each([
    ['is not released any more', { id: 'another' }],
    ['is somebody else’s', { owner: 'tenant' as const }],
    ['has other triggers', { checksum: '0'.repeat(64) }],
  ])('or a policy that %s: the run fails before anything is asked [RP-146]', async (_, change) => {
    const { analysisPolicy } = three.pins;
    const run = await world.create('run_2', {
      ...three.pins,
      analysisPolicy: { ...analysisPolicy, ...change },
    });
    expect(await outcomeOf(work(world, run))).toBe('failed: policy unknown');
    expect(world.calls).toEqual([]);
  });
});

describe('an owner that gives no answer', () => {
  it.each([
    ['the crosswalk’s', three.pins.sources[1]!.crosswalk.ref, 'blueprint'],
    ['the metric’s', 'artifact-item_difficulty', 'analytics'],
    ['the comparison’s', 'artifact-comparison', 'analytics'],
  ])('%s: the message comes again, and finds what was done [RP-150]', async (_, ref, owner) => {
    world.serve(ref, undefined, { kind: 'unavailable', status: 503 });
    expect(await outcomeOf(work(world, key))).toBe(`stalled: owner ${owner}`);
    expect((await progressOf(world, key)).run.state).toBe('analyzing');
    expect(await openRuns(world)).toBe(1);
    world.serve(ref, heldAt(ref));
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    await endedWell(world, key);
  });

  it('stalls the run and does not end it where the tenant’s profile cannot be used', async () => {
    expect(await outcomeOf(withoutProfile())).toBe('stalled: profile unknown');
    expect(world.calls).toEqual([]);
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
  });
});

describe('a try', () => {
  const triesOf = async (run: RunKey = key) => (await world.store.readSummary(run))?.tries;
  const dying = () =>
    workWith({
      connect: () => {
        throw new Error('killed');
      },
    });

  it('counts where the worker dies or has no time, until one of them records something', async () => {
    for (let tries = 1; tries <= 3; tries += 1) {
      await expect(dying()).rejects.toThrow('killed');
      expect(await triesOf()).toBe(tries);
    }
    expect(await outcomeOf(work(world, key, 44_000))).toBe('stalled: time unknown');
    expect(await triesOf()).toBe(4);
    world.receive = () => {
      world.now += 290_000;
      return undefined;
    };
    expect(await outcomeOf(work(world, key))).toBe('handed_on');
    expect(await triesOf()).toBe(5);
    await expect(dying()).rejects.toThrow('killed');
    expect(await triesOf()).toBe(1);
    await expect(dying()).rejects.toThrow('killed');
    expect(await triesOf()).toBe(2);
  });

  it('does not count where an owner, a receiver or the profile is waited for', async () => {
    await expect(dying()).rejects.toThrow('killed');
    world.serve('artifact-item_difficulty', undefined, { kind: 'unavailable', status: 503 });
    expect(await outcomeOf(work(world, key))).toBe('stalled: owner analytics');
    expect(await triesOf()).toBe(0);
    await expect(dying()).rejects.toThrow('killed');
    expect(await outcomeOf(withoutProfile())).toBe('stalled: profile unknown');
    expect(await triesOf()).toBe(0);
    world.serve('artifact-item_difficulty', heldAt('artifact-item_difficulty'));
    world.receive = () => ({ kind: 'unavailable' });
    for (let time = 0; time < 3; time += 1) {
      expect(await outcomeOf(work(world, key))).toBe('blocked_upstream');
      expect(await triesOf()).toBe(0);
    }
  });
});

describe('the pinned policy', () => {
  it('that is stored damaged stalls the run and does not end it: it can be repaired [RP-146]', async () => {
    const readPinned = () => Promise.resolve(err({ kind: 'checksum-mismatch', lifecycle: {} } as const));
    const damaged = workWith({ policies: { ...world.dependencies.policies, readPinned } });
    expect(await outcomeOf(damaged)).toBe('stalled: policy unknown');
    expect((await progressOf(world, key)).run.state).toBe('analyzing');
    expect(world.calls).toEqual([]);
    expect((await world.store.readSummary(key))?.tries).toBe(0);
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    await endedWell(world, key);
  });

  it('is the one of the run, whatever its tenant has released under the id since or may choose [RP-146]', async () => {
    world = openImprovementWorld([three]);
    const table = createMemoryRecordsTable();
    const shared = await release(table, { ...world.policy, visibility: 'system' });
    const run = await world.create('run_2', {
      ...three.pins,
      analysisPolicy: { owner: 'system', id: shared.id, version: shared.version, checksum: shared.checksum },
    });
    await release(table, { ...world.policy, visibility: 'tenant', version: 'own-1' }, run.tenantId);
    const policies = createAnalysisPolicyStore({ table, mayReadSystem: () => false });
    expect(await policies.read(run.tenantId, shared.id)).toMatchObject({
      value: { owner: 'tenant', policy: { version: 'own-1' } },
    });
    const dependencies = { ...world.dependencies, policies };
    expect(await outcomeOf(work({ ...world, dependencies }, run))).toBe('completed_with_omissions');
    await endedWell(world, run);
  });

  /** Releases a policy: the platform's, or a tenant's own. */
  async function release(
    table: MemoryRecordsTable,
    policy: AnalysisPolicy,
    tenantId?: string,
  ): Promise<AnalysisPolicy> {
    const owner = tenantId === undefined ? {} : { tenantId };
    // The release makes its checksum.
    const document = Object.fromEntries(Object.entries(policy).filter(([name]) => name !== 'checksum'));
    const prepared = prepareAnalysisPolicy({ ...sampleAnalysisPolicyFile(), ...owner, document });
    if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
    await writeRecord(table, prepared.value);
    return analysisPolicy.parse(JSON.parse(prepared.value.stored.document));
  }
});

describe('a run that is longer than an invocation', () => {
  it('is handed on as often as it takes, with visible progress [RP-150]', async () => {
    const seen: number[] = [];
    world = openImprovementWorld([three], (name) => {
      if (name === 'receipts') world.now += 260_000;
      return Promise.resolve();
    });
    key = await world.create('run_1', three.pins);
    let outcome = '';
    do {
      outcome = await outcomeOf(work(world, key));
      seen.push((await progressOf(world, key)).evidence.length);
    } while (outcome === 'handed_on' && seen.length < 10);
    expect(outcome).toBe('completed_with_omissions');
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(world.sent).toEqual(Array.from({ length: seen.length - 1 }, () => key));
    await endedWell(world, key);
  });

  it('begins no delivery that it may not end: the rest goes on with the next message [RP-217]', async () => {
    world.receive = () => {
      world.now += 290_000;
      return undefined;
    };
    expect(await outcomeOf(work(world, key))).toBe('handed_on');
    expect(world.handed).toHaveLength(1);
    world.receive = () => undefined;
    expect(await outcomeOf(work(world, key))).toBe('completed_with_omissions');
    await endedWell(world, key);
  });

  it('never ends while an order is recorded that nobody has been asked to take [RP-150, RP-217]', async () => {
    const run = await world.store.readRun(key);
    await world.store.openOrder(
      run!,
      {
        revisionOrderId: 'order_of_another_build',
        evidence: 'metric:item_difficulty',
        targetModule: 'bank',
        lineage: '0'.repeat(64),
      },
      world.now,
    );
    expect(await outcomeOf(work(world, key))).toBe('handed_on');
    expect(await outcomeOf(work(world, key))).toBe('stalled: time unknown');
    expect(await openRuns(world)).toBe(1);
  });

  it('is not handed on for ever: without any progress its message fails', async () => {
    expect(await outcomeOf(work(world, key, 44_000))).toBe('stalled: time unknown');
    expect(world.sent).toEqual([]);
  });
});

describe('a write that comes too late', () => {
  /** Ends the run in the middle of the work, as the sweeper would, before the so-manieth step of a name. */
  async function overtaken(before: string, passing = 0): Promise<string> {
    let passed = 0;
    const raced = openImprovementWorld([three], async (name) => {
      if (name !== before) return;
      passed += 1;
      if (passed !== passing + 1) return;
      const to = { state: 'failed', completedAt: raced.now } as const;
      await raced.store.moveRun(run, ['queued', 'analyzing'], to, raced.now);
    });
    const run = await raced.create('run_1', three.pins);
    const outcome = await outcomeOf(work(raced, run));
    const { run: record } = await progressOf(raced, run);
    expect([record.state, record.receipt]).toEqual(['failed', undefined]);
    return outcome;
  }

  it('finds the run ended and leaves it so [RP-154]', async () => {
    expect(await overtaken('receipts')).toBe('failed');
    expect(await overtaken(operations.orderBankRevision.id)).toBe('failed');
    // The run's own bundle is the last one.
    expect(await overtaken('receipts', three.pins.sources.length)).toBe('failed');
  });

  it('as the failure of a run that has ended meanwhile: it stays complete', async () => {
    await work(world, key);
    const done = await progressOf(world, key);
    // What this worker has read before the other one ended the run.
    const before = { ...done, run: { ...done.run, state: 'analyzing' as const } };
    await workWith({
      store: { ...world.store, readProgress: () => Promise.resolve(before) },
      policies: { ...world.dependencies.policies, readPinned: () => Promise.resolve(ok(undefined)) },
    });
    expect(await progressOf(world, key)).toEqual(done);
  });
});
