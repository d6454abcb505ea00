import type { SQSEvent } from 'aws-lambda';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMessageFunction } from '#functions/reports/background/analyze-run/take-messages.ts';
import type { RunDependencies } from '#functions/reports/improvement/work-run.ts';
import { receiptBundle, type SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { closed } from '#shared/release/release-state.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import { rowOf, runArtifacts } from '#test/support/improvement-facts.ts';
import { openImprovementWorld, runOf } from '#test/support/improvement.ts';
import type { ImprovementWorld, Refused, WorldRun } from '#test/support/improvement.ts';
import { wholeRelease } from '#test/support/release.ts';

// What owners and receivers return instead of what is asked of them: the faults of the worker in test/lemmas.

const FIVE_MINUTES = 300_000;
const open: WatchedRelease = { state: wholeRelease };
const withoutF: WatchedRelease = { state: { ...wholeRelease, open: new Set(['A', 'B', 'C', 'D']) } };
let watched: WatchedRelease;

type Line = Readonly<Record<string, unknown>>;

/** What the function logs of a message; fails unless the message comes again where it does not log that it has worked on a run. */
async function take(
  body: string,
  bind: () => RunDependencies = () => world.dependencies,
  left = FIVE_MINUTES,
) {
  const lines: Line[] = [];
  const write = (line: string): number => {
    written.push(line);
    return lines.push(JSON.parse(line) as Line);
  };
  const ports = { environment: {}, now: () => world.now, write };
  const workOn = createMessageFunction(bind, ports, () => () => Promise.resolve(watched));
  const record = { messageId: 'message', body, attributes: { ApproximateReceiveCount: '2' } };
  const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => left };
  const { batchItemFailures } = await workOn({ Records: [record] } as SQSEvent, context);
  const isDone = lines.some(({ code }) => code === 'IMPROVEMENT_RUN_WORKED');
  expect(batchItemFailures).toEqual(isDone ? [] : [{ itemIdentifier: 'message' }]);
  return lines;
}
/** Everything that was logged in a test. */
const written: string[] = [];
const logged = (): readonly Line[] => written.map((line) => JSON.parse(line) as Line);

interface Said {
  readonly outcome: string;
  readonly reason?: string;
  readonly owner?: string;
}

/** What becomes of a run by its message, with the reason where it fails or waits. */
async function work(run: RunKey = key, change: Partial<RunDependencies> = {}, left = FIVE_MINUTES) {
  const lines = await take(writeRunMessage(run), () => ({ ...world.dependencies, ...change }), left);
  const { outcome, reason, owner } = Object.assign({ outcome: 'stalled' }, ...lines) as Said;
  return reason === undefined ? outcome : `${outcome}: ${reason} ${owner}`;
}

const progressOf = async (run: RunKey = key) => (await world.store.readProgress(run))!;
const bankOrderOf = async (run: RunKey) =>
  (await progressOf(run)).orders.find(({ targetModule }) => targetModule === 'bank')!;

/** Fails unless the run ends well, once nothing is in its way any more. */
async function recovers(): Promise<void> {
  world.receive = () => undefined;
  expect(await work()).toBe('completed_with_omissions');
  await endedWell();
}

/** One order to Bank for a weak item, one to Blueprint for each source and one for the comparison. */
const one = runOf();
const three = runOf({ sources: 3 });
const withoutProfile = {
  profiles: {
    resolve: () => Promise.resolve(err('missing' as const)),
    forget: () => false,
  },
};

let world: ImprovementWorld;
let key: RunKey;
/** Begins with another world, and a run in it. */
async function begin(run: WorldRun, pins = run.pins): Promise<void> {
  world = await openImprovementWorld(run);
  key = await world.create('run_1', pins);
}
beforeEach(async () => {
  written.length = 0;
  watched = open;
  await begin(three);
});

/** Fails unless everything of a finished run is there: once at the receivers, wholly in the table, in bundles that can be read. */
async function endedWell(run: RunKey = key): Promise<void> {
  const { run: record, evidence, orders } = await progressOf(run);
  expect(record.state).toBe('completed_with_omissions');
  expect(orders.length).toBeGreaterThan(0);
  for (const { revisionOrderId, status, ack, updatedAt, createdAt } of orders) {
    expect(['accepted', 'replayed']).toContain(status);
    expect(ack).not.toBeNull();
    expect(updatedAt).toBeGreaterThanOrEqual(createdAt);
    expect(world.held.has(revisionOrderId)).toBe(true);
  }
  expect(world.held.size).toBe(orders.length);
  for (const [id, handed] of Map.groupBy(world.handed, ({ order }) => order.revisionOrderId)) {
    expect(new Set(handed.map(({ order }) => canonicalJson(order))).size).toBe(1);
    expect(new Set(handed.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([id]));
  }
  const bundles = [record.receipt, ...evidence.map(({ receipt }) => receipt)].flatMap((ref) => ref ?? []);
  expect(bundles).toHaveLength(1 + record.pins.sources.length);
  for (const { sha256 } of bundles) {
    const bytes = world.bundles.get(`${run.tenantId}/${sha256}`) ?? [];
    expect(() => receiptBundle.parse(JSON.parse(Buffer.from(bytes).toString()))).not.toThrow();
  }
  const evaluated = evidence.map(({ evaluatedAt }) => evaluatedAt);
  expect(Math.min(...evaluated)).toBeGreaterThanOrEqual(record.createdAt);
  expect(record.completedAt).toBe(Math.max(...evaluated, ...orders.map(({ updatedAt }) => updatedAt)));
  expect(await world.open()).toEqual([]);
}

describe('a run', () => {
  it('ends complete: all evaluated from one reading of each artifact, every order once at its receiver, receipt and end recorded [RP-150, RP-153, RP-155, RP-219]', async () => {
    world.now += 60_000;
    expect(await work()).toBe('completed_with_omissions');
    await endedWell();
    const { evidence, orders } = await progressOf();
    expect(evidence.map((record) => [record.key, record.comparisonOmitted])).toEqual([
      ['metric:item_difficulty', undefined],
      ['metric:item_discrimination', undefined],
      // No comparison is due of the two further sources, and that of the first is shown.
      ['source:source-002', false],
      ['source:source-003', false],
      ['source:state-math-5.2025', false],
    ]);
    const { orderBankRevision, orderBlueprintRevision } = operations;
    const { readAlignmentCrosswalk, readAlignmentSources, readAnalysisArtifact } = operations;
    expect(orders).toHaveLength(5);
    expect(world.calls.toSorted()).toEqual(
      [
        ...Array.from({ length: 3 }, () => [readAlignmentCrosswalk.id, readAnalysisArtifact.id]).flat(),
        ...Array.from({ length: 4 }, () => orderBlueprintRevision.id),
        orderBankRevision.id,
        // What all sources are judged by.
        readAlignmentSources.id,
      ].toSorted(),
    );
    expect(world.sent).toEqual([]);
    expect(logged()).toMatchObject([
      {
        ...{ code: 'IMPROVEMENT_RUN_WORKED', operation: 'analyzeImprovementRun', requestId: 'request-1' },
        ...{ improvementRunId: 'run_1', received: 2, evaluated: 5, opened: 5, delivered: 5, blocked: 0 },
      },
    ]);
  });

  it('records nothing as older than itself, whatever this clock says [RP-155, RP-206]', async () => {
    world.now = 0;
    await work();
    await endedWell();
  });
});

describe('a worker that dies', { timeout: 120_000 }, () => {
  it('before any step: the message comes again, and everything is there once [RP-190, RP-205, RP-217]', async () => {
    let isDone = false;
    let deaths = 0;
    for (; !isDone; deaths += 1) {
      await begin(one);
      let left = deaths;
      world.step = () => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error('killed')) : Promise.resolve();
      };
      isDone = (await work().catch(() => 'killed')) !== 'killed';
      world.step = () => Promise.resolve();
      if (!isDone) expect((await progressOf()).run.state).not.toMatch(/^completed/);
      world.now += 1_000;
      expect(await work(), `${deaths}`).toBe('completed_with_omissions');
      await endedWell();
    }
    expect(deaths).toBeGreaterThan(25);
  });
});

describe('workers at once', { timeout: 120_000 }, () => {
  it('whatever the order of their steps, do everything once between them [RP-190, RP-217]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 3 }), async (scheduler, workers) => {
        await begin(one);
        world.step = (name) => scheduler.schedule(Promise.resolve(), name);
        const racing = Promise.all(Array.from({ length: workers }, () => work()));
        await scheduler.waitFor(racing);
        world.step = () => Promise.resolve();
        // A worker that reads while another one still delivers may park the run: the other one takes it out again.
        expect(await racing).toContain('completed_with_omissions');
        await endedWell();
      }),
      { numRuns: 20 },
    );
  });
});

describe('changed evidence', { timeout: 120_000 }, () => {
  const { discrimination } = runArtifacts;
  const changed = runOf({
    discrimination: { ...discrimination, artifactRef: `${discrimination.artifactRef}-2` },
  });
  let later: RunKey;
  const beginBoth = async (): Promise<void> => {
    world = await openImprovementWorld(one, changed);
    key = await world.create('run_1', one.pins, 1_000);
    later = await world.create('run_2', changed.pins, 2_000);
  };

  /** The earlier run, with the whole of the later one worked on before one of the steps of its worker; returns the number of its steps. */
  async function interleaved(before: number): Promise<number> {
    await beginBoth();
    let steps = 0;
    const step = async (): Promise<void> => {
      steps += 1;
      if (steps !== before) return;
      world.step = () => Promise.resolve();
      await work(later);
      world.step = step;
    };
    world.step = step;
    expect(await work()).toBe('completed_with_omissions');
    world.step = () => Promise.resolve();
    return steps;
  }

  it('that overtakes an earlier run, at any of its steps: nothing replaced is handed over afterwards, and what was under way is recorded [RP-204, RP-205]', async () => {
    const steps = await interleaved(Infinity);
    expect(steps).toBeGreaterThan(20);
    let underWay = 0;
    let held = 0;
    for (let before = 1; before <= steps; before += 1) {
      await interleaved(before);
      const [old, current] = [await bankOrderOf(key), await bankOrderOf(later)];
      expect([old.status, current.status], `${before}`).toEqual(['superseded', 'accepted']);
      const handed = world.handed.map(({ order }) => order.revisionOrderId);
      // Every order that the receiver has is acknowledged, and both are recorded.
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
    await beginBoth();
    await work(later);
    expect(await work()).toBe('completed_with_omissions');
    const { orders } = await progressOf();
    const late = await bankOrderOf(key);
    expect(late).toMatchObject({ status: 'superseded', ack: null });
    expect(world.held.has(late.revisionOrderId)).toBe(false);
    expect(orders.filter(({ status }) => status === 'replayed')).toHaveLength(orders.length - 1);
  });
});

describe('a mapping to what the blueprint does not have', () => {
  const { sourceSet } = one.pins;
  const list = JSON.parse(Buffer.from(one.artifacts.get(sourceSet.ref)!).toString()) as object;
  const unknown = [
    [0, 'unknown'],
    [0, 'unknown'],
  ];

  it.each([
    ['3', { slotIds: ['another'] }, { percent: 0, rows: unknown, caseGuids: [] }],
    ['3', { caseGuids: ['another'] }, { percent: 0, rows: unknown, caseGuids: [] }],
    [
      '2',
      { slotIds: ['another'], caseGuids: ['another'] },
      {
        percent: 52.631579,
        rows: [
          [1, null],
          [1, 'lower_dok'],
        ],
        caseGuids: ['guid-2'],
      },
    ],
  ] as const)(
    'counts zero as unknown, is named, and requests no revision; in a run of earlier rules it counts in full: rules %s, %j [RP-171, RP-176, RP-181, RP-184]',
    async (rules, change, expected) => {
      const bytes = Buffer.from(JSON.stringify({ ...list, ...change }));
      const pins = { ...one.pins, rules, sourceSet: { ...sourceSet, sha256: sha256Hex(bytes) } };
      await begin({ pins, artifacts: new Map([...one.artifacts, [sourceSet.ref, bytes]]) });
      expect(await work()).toMatch(/^completed/);
      const [ref] = (await progressOf()).evidence.flatMap(({ receipt }) => receipt ?? []);
      const bundle = world.bundles.get(`${key.tenantId}/${ref!.sha256}`)!;
      const { contributions, ...receipt } = JSON.parse(Buffer.from(bundle).toString()) as SourceReceipt;
      const mapped = contributions.filter(({ blueprintSlotId }) => blueprintSlotId !== null);
      expect(mapped.map(({ coverage, reasonCode }) => [coverage, reasonCode])).toEqual(expected.rows);
      expect(receipt.alignmentPercent).toBe(expected.percent);
      expect(receipt.limitations.join().includes(`(unknown, first ${mapped[0]!.sourceRequirementId})`)).toBe(
        rules === '3',
      );
      const orders = [...world.held.values()].filter(
        (order) => order.observedMetric.name === 'alignment_percent',
      );
      expect(orders.map(({ caseGuids }) => caseGuids)).toEqual([expected.caseGuids]);
      expect(world.calls.includes(operations.readAlignmentSources.id)).toBe(rules === '3');
    },
  );
});

describe('a receiver', () => {
  it.each(['accepted', 'replayed', 'rejected'] as const)(
    'that answers %s is recorded with its own receipt and its version, and is not asked again [RP-203, RP-206]',
    async (decision) => {
      world.receive = () => ({ decision, receiptId: 'receipt-of-it', version: '7' });
      await work();
      const { orders } = await progressOf();
      const ack = { receiptId: 'receipt-of-it', version: '7', observedAt: world.now };
      expect(orders.map((order) => [order.status, order.ack])).toEqual(orders.map(() => [decision, ack]));
      expect(world.handed).toHaveLength(orders.length);
    },
  );

  it.each([
    ['no answer', { kind: 'unavailable' }, true],
    ['404', { kind: 'not-found', status: 404 }, true],
    ['401', { kind: 'unauthorized', status: 401 }, true],
    ['403', { kind: 'forbidden', status: 403 }, true],
    ['413', { kind: 'rejected', status: 413 }, false],
    ['another tenant’s answer', { kind: 'wrong-tenant', status: 200 }, true],
    ['422', { kind: 'refused-id', status: 422 }, false],
    ['409', { kind: 'conflict', status: 409 }, false],
    ['no acknowledgement', { kind: 'malformed', status: 200 }, false],
    ['the acknowledgement of another order', { revisionOrderId: 'order_other' }, false],
  ] as const)(
    'that returns %s for an order leaves it blocked, and those that follow exactly if none can be taken; back again, it gets them all [RP-150, RP-217, RP-219]',
    async (_, answer, isMissing) => {
      world.receive = ({ sourceKeys }) => (sourceKeys.includes('source-002') ? answer : undefined);
      expect(await work()).toBe('blocked_upstream');
      const { run, orders, evidence } = await progressOf();
      expect([run.completedAt, run.receipt]).toEqual([undefined, undefined]);
      // Evaluating does not wait for a receiver.
      expect(evidence).toHaveLength(5);
      const blocked = orders.filter(({ status }) => status !== 'accepted');
      expect(blocked.map(({ status, ack }) => [status, ack])).toEqual(
        blocked.map(() => ['blocked_upstream', null]),
      );
      expect(blocked.map((order) => order.evidence).toSorted()).toEqual(
        isMissing ? ['source:source-002', 'source:source-003'] : ['source:source-002'],
      );
      expect(world.handed).toHaveLength(isMissing ? 4 : 5);
      expect(await world.open()).toHaveLength(1);
      world.now += FIVE_MINUTES;
      await recovers();
    },
  );

  it('that is still missing is not asked for every order, and no evidence is read for it', async () => {
    world.receive = ({ targetModule }) =>
      targetModule === 'blueprint' ? { kind: 'unavailable' } : undefined;
    await work();
    world.now += FIVE_MINUTES;
    const asked = world.calls.length;
    expect(await work()).toBe('blocked_upstream');
    expect(world.calls.length - asked).toBeLessThan(6);
  });

  it('is asked for the longest untried orders first, so that those it refuses hold up no other [RP-217]', async () => {
    const { discrimination } = runArtifacts;
    const rows = Array.from({ length: 30 }, (_, at) => rowOf(`item-${at}`, 'discrimination_index', 0.1));
    await begin(runOf({ sources: 6, discrimination: { ...discrimination, rows } }));
    const refusal: Refused = { kind: 'refused-id', status: 422 };
    world.receive = () => refusal;
    await work();
    world.receive = () => {
      // So long that less than half of them fit into one invocation.
      world.now += 30_000;
      return refusal;
    };
    const ids = new Set<string>();
    for (let sweep = 0; sweep < 4; sweep += 1) {
      world.now += FIVE_MINUTES;
      const before = world.handed.length;
      expect(await work()).toBe('blocked_upstream');
      const tried = world.handed.slice(before);
      expect(tried.length).toBeLessThan(20);
      for (const { order } of tried) ids.add(order.revisionOrderId);
    }
    // Thirty to Bank, one to Blueprint for each source and one for the comparison.
    expect(ids.size).toBe(37);
  });
});

describe('a run that can never end well fails, for good and without a receipt', () => {
  const { crosswalk } = runArtifacts;
  const [requirement] = crosswalk.requirements;
  const { analysisPolicy } = one.pins;
  const withoutPolicy = {
    ...one,
    pins: { ...one.pins, analysisPolicy: { ...analysisPolicy, checksum: '0'.repeat(64) } },
  };
  /** As it was pinned, but for one requirement that is there twice, or for all that are not there. */
  const unaligned = (...requirements: readonly (typeof requirement)[]): WorldRun => {
    const value = { ...crosswalk, requirements: requirements.flatMap((row) => row ?? []) };
    const bytes = Buffer.from(JSON.stringify(value));
    const pinned = { ref: crosswalk.crosswalkId, sha256: sha256Hex(bytes) };
    return {
      pins: { ...one.pins, sources: [{ ...one.pins.sources[0]!, crosswalk: pinned }] },
      artifacts: new Map([...one.artifacts, [pinned.ref, bytes]]),
    };
  };
  // Pinned evidence that is lost or has changed: the faults of the worker in test/lemmas.
  it.each<[string, string, WorldRun]>([
    ['a crosswalk without requirements [RP-150]', 'evidence_unusable blueprint', unaligned()],
    [
      'a crosswalk with a requirement twice [RP-150]',
      'evidence_unusable blueprint',
      unaligned(requirement, requirement),
    ],
    ['a policy that is not there [RP-146]', 'policy unknown', withoutPolicy],
  ])('as with %s', async (_, reason, run) => {
    await begin(run);
    expect(await work()).toBe(`failed: ${reason}`);
    if (reason.startsWith('policy')) expect(world.calls).toEqual([]);
    const { run: record } = await progressOf();
    expect([record.state, record.receipt, record.completedAt]).toEqual(['failed', undefined, world.now]);
    expect(await world.open()).toEqual([]);
    world.now += 1_000;
    expect(await work()).toBe('failed');
    expect((await progressOf()).run).toEqual(record);
  });

  describe('as with evidence from which more follows than a bundle can hold', { timeout: 120_000 }, () => {
    const { discrimination: artifact } = runArtifacts;
    const caseGuids = Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(255, 'g'));
    const row = { ...rowOf('item-weak', 'discrimination_index', 0.1), caseGuids };
    const vast = runOf({ discrimination: { ...artifact, rows: [row] } });

    /** Works on it under a policy with so many triggers that it trips. */
    async function asking(times: number, change: Partial<RunDependencies> = {}) {
      const [trigger] = world.policy.triggers;
      const triggers = Array.from({ length: times }, (_, at) => ({
        ...trigger!,
        threshold: { operator: 'lt' as const, value: 0.9 + at / 10_000 },
      }));
      const readPinned = () => Promise.resolve(ok({ ...world.policy, triggers }));
      return work(key, { policies: { ...world.dependencies.policies, readPinned }, ...change });
    }
    beforeEach(() => begin(vast, { ...vast.pins, sources: [] }));

    it('of one evidence: before any order is recorded [RP-150]', async () => {
      expect(await asking(300)).toBe('failed: evidence_unusable analytics');
      expect((await progressOf()).orders).toEqual([]);
      expect(world.handed).toEqual([]);
    });

    it('of the whole run [RP-150, RP-154]', async () => {
      const { store } = world.dependencies;
      // As long as a hundred thousand receipts of receivers.
      const receiptId = 'r'.repeat(40_000_000);
      const readProgress: typeof store.readProgress = async (run) => {
        const found = await store.readProgress(run);
        const orders = found!.orders.map((order) => ({
          ...order,
          ack: order.ack && { ...order.ack, receiptId },
        }));
        return { ...found!, orders };
      };
      expect(await asking(2, { store: { ...store, readProgress } })).toBe(
        'failed: evidence_unusable unknown',
      );
      expect((await progressOf()).run.receipt).toBeUndefined();
    });
  });
});

describe('a try', () => {
  const tries = async () => (await world.store.readSummary(key))?.tries;
  const dying = (): Promise<string> =>
    work(key, {
      connect: () => {
        throw new Error('killed');
      },
    });

  it('counts where the worker dies or has no time, until one of them records something', async () => {
    for (let count = 1; count <= 3; count += 1) {
      await expect(dying()).rejects.toThrow();
      expect(await tries()).toBe(count);
    }
    expect(await work(key, {}, 44_000)).toBe('stalled: time unknown');
    expect([await tries(), world.sent]).toEqual([4, []]);
    // No delivery begins that may not end.
    world.receive = () => {
      world.now += 290_000;
      return undefined;
    };
    expect(await work()).toBe('handed_on');
    expect([await tries(), world.handed.length, world.sent]).toEqual([5, 1, [key]]);
    for (const count of [1, 2]) {
      await expect(dying()).rejects.toThrow();
      expect(await tries()).toBe(count);
    }
    await recovers();
  });

  it('does not count where an owner, a receiver, the profile or the record of the policy is waited for [RP-146]', async () => {
    const readPinned = () => Promise.resolve(err({ kind: 'checksum-mismatch', lifecycle: {} } as const));
    const damaged = { policies: { ...world.dependencies.policies, readPinned } };
    for (const [change, expected] of [
      [withoutProfile, 'stalled: profile unknown'],
      [damaged, 'stalled: policy unknown'],
    ] as const) {
      await expect(dying()).rejects.toThrow();
      expect([await work(key, change), await tries()]).toEqual([expected, 0]);
      expect([(await progressOf()).run.state, world.calls]).toEqual(['analyzing', []]);
    }
    const { ref } = three.pins.metrics[0]!.artifact!;
    const artifact = JSON.parse(Buffer.from(three.artifacts.get(ref)!).toString()) as unknown;
    world.serve(ref, undefined, { kind: 'unavailable', status: 503 });
    await expect(dying()).rejects.toThrow();
    expect([await work(), await tries()]).toEqual(['stalled: owner analytics', 0]);
    world.serve(ref, artifact);
    world.receive = () => ({ kind: 'unavailable' });
    expect([await work(), await tries()]).toEqual(['blocked_upstream', 0]);
    await recovers();
  });
});

describe('a run that is longer than an invocation', () => {
  it('is handed on as often as it takes, with visible progress [RP-150]', async () => {
    world.step = (name) => {
      if (name === 'put') world.now += 260_000;
      return Promise.resolve();
    };
    const seen: number[] = [];
    let outcome: string;
    do {
      outcome = await work();
      seen.push((await progressOf()).evidence.length);
    } while (outcome === 'handed_on' && seen.length < 10);
    expect(outcome).toBe('completed_with_omissions');
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(world.sent).toEqual(seen.slice(1).map(() => key));
    await endedWell();
  });

  it('never ends while an order is recorded that no receiver has been asked to take [RP-150, RP-217]', async () => {
    const order = {
      revisionOrderId: 'order_of_another_build',
      evidence: 'metric:item_difficulty',
      targetModule: 'bank',
      lineage: '0'.repeat(64),
    } as const;
    await world.store.openOrder((await progressOf()).run, order, world.now);
    for (const refused of [{ kind: 'unavailable' }, undefined] as const) {
      world.receive = () => refused;
      expect(await work()).toBe('handed_on');
      expect(await work()).toBe('stalled: time unknown');
    }
    expect(await world.open()).toHaveLength(1);
  });
});

describe('a write that comes too late', () => {
  it('finds the run ended and leaves it so, whatever it would have recorded [RP-154]', async () => {
    // The last bundle is that of the run.
    for (const [name, passing] of [
      ['put', 0],
      [operations.orderBankRevision.id, 0],
      ['put', 3],
    ] as const) {
      await begin(three);
      let passed = 0;
      world.step = async (step) => {
        if (step !== name) return;
        passed += 1;
        if (passed !== passing + 1) return;
        const to = { state: 'failed', completedAt: world.now } as const;
        await world.store.moveRun(key, to, world.now);
      };
      expect([name, await work()]).toEqual([name, 'failed']);
      const { run } = await progressOf();
      expect([run.state, run.receipt]).toEqual(['failed', undefined]);
    }
  });

  it('as the failure of a run that has ended meanwhile: it stays complete', async () => {
    await work();
    const done = await progressOf();
    // What this worker has read before the other one ended the run.
    const before = [{ ...done, run: { ...done.run, state: 'analyzing' as const } }];
    const readProgress = async (of: RunKey) => before.pop() ?? (await world.store.readProgress(of));
    const ended = await work(key, {
      store: { ...world.store, readProgress },
      policies: { ...world.dependencies.policies, readPinned: () => Promise.resolve(ok(undefined)) },
    });
    expect(ended).toBe('completed_with_omissions');
    expect(await progressOf()).toEqual(done);
  });
});

describe('a message', () => {
  it.each(['run_1', '{"improvementRunId":"run_1"}'])(
    'that names no run fails, so that it becomes a dead letter: %j',
    async (body) => {
      expect(await take(body)).toMatchObject([{ code: 'MESSAGE_REFUSED', level: 'ERROR', received: 2 }]);
      expect(world.calls).toEqual([]);
    },
  );

  it('of a run that does not exist, or of another tenant’s run, is done', async () => {
    for (const change of [{ improvementRunId: 'run_2' }, { tenantId: 'tenant-b' }])
      expect(await work({ ...key, ...change })).toBe('absent');
    expect((await progressOf()).run.state).toBe('queued');
  });

  it('whose work a defect or an outage ends fails with an error that quotes nothing', async () => {
    const quoting = new Error('the table quotes tenant-a', { cause: new TypeError('tenant-a') });
    quoting.stack = `${quoting.stack ?? ''}\n    at ${writeRunMessage(key)} (file:///tenant-a {}:1:1)`;
    world.step = () => Promise.reject(quoting);
    await expect(work()).rejects.toThrow(
      /^a defect or an outage stopped the work; the log line BACKGROUND_WORK_BROKEN says where$/,
    );
    expect(logged()).toMatchObject([
      { code: 'BACKGROUND_WORK_BROKEN', error: 'Error', improvementRunId: 'run_1' },
    ]);
    expect(written.join('')).not.toContain('tenant-a');
  });

  it('finds the function’s environment lacking, and the log names the variables', async () => {
    const bind = () => readEnvironment(['IMPROVEMENT_TABLE'], {}) as never;
    await expect(take(writeRunMessage(key), bind)).rejects.toThrow();
    expect(logged()).toMatchObject([
      { code: 'ENVIRONMENT_INVALID', variables: ['IMPROVEMENT_TABLE'] },
      { code: 'BACKGROUND_WORK_BROKEN' },
    ]);
  });
});

describe('while a gate is withdrawn', () => {
  it.each<[string, WatchedRelease, object]>([
    ['F', withoutF, { code: 'RELEASE_WITHDRAWN', level: 'INFO', missing: ['F'] }],
    [
      'everything, since nothing is proved',
      { state: closed, fault: 'expired' },
      { code: 'RELEASE_UNPROVED', level: 'ERROR', reason: 'expired' },
    ],
  ])('(%s) every message stays in its queue, and its run as it was', async (_, release, line) => {
    watched = release;
    const before = await progressOf();
    for (const body of [writeRunMessage(key), 'no message']) expect(await take(body)).toMatchObject([line]);
    expect(await progressOf()).toStrictEqual(before);
    expect([world.calls, world.sent]).toEqual([[], []]);
    watched = open;
    expect(await work()).toBe('completed_with_omissions');
  });

  it('on the way, the work stops before the next step, hands nothing on, and goes on from there', async () => {
    world.receive = () => {
      watched = withoutF;
      return undefined;
    };
    expect(await work()).toBe('stalled: release unknown');
    expect([world.handed.length, world.sent, (await progressOf()).run.state]).toEqual([1, [], 'analyzing']);
    expect(logged()).toMatchObject([{ code: 'RELEASE_WITHDRAWN', missing: ['F'] }, { delivered: 1 }]);
    watched = open;
    await recovers();
  });
});
