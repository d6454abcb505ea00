import { randomBytes } from 'node:crypto';
import {
  GetItemCommand,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { isOvertaken, maxHolders, placeInLineage } from '#shared/improvement/lineage.ts';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import { improvementRunStates, isOpen, isTerminal, maxSources } from '#shared/improvement/records.ts';
import type {
  EvidenceRecord,
  ImprovementStore,
  ImprovementRunState,
  NewOrder,
  OpenRun,
  OrderRecord,
  RunKey,
  RunPins,
  RunRecord,
} from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { useTestAws } from '#test/support/aws.ts';
import { scanImprovement, undeclaredIn } from '#test/support/improvement-records.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createImprovementTable } from './improvement-table.ts';
import { makeDynamo } from './make-clients.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const TableName = localTableName('improvement');
const receipt = { sha256: sha256Hex('bundle'), mediaType: 'application/json' } as const;
const ack = { receiptId: 'receipt-1', version: '3', observedAt: T0 + 60 };

const pin = (ref: string) => ({ ref, sha256: sha256Hex(ref) });
const pins: RunPins = {
  contentTestSpecId: 'spec-1',
  contentTestSpecVersion: '4',
  analysisPolicy: { owner: 'tenant', id: 'policy', version: '2', checksum: sha256Hex('policy') },
  formulaVersion: 'alignment-v1',
  sourceSet: pin('set-1'),
  metrics: [
    { metric: 'item_difficulty', status: 'available', reasonCode: null, artifact: pin('artifact-1') },
    { metric: 'form_summary', status: 'unavailable', reasonCode: 'owner_artifact_missing', artifact: null },
  ],
  sources: [
    { sourceKey: 'act', crosswalk: pin('crosswalk-1'), comparison: pin('comparison-1') },
    { sourceKey: 'sat', crosswalk: pin('ü'), comparison: 'missing' },
    { sourceKey: 'x', crosswalk: pin('c"\\'), comparison: null },
  ],
};

const aws = useTestAws();
const { random, sleep } = processRuntime();
const tableOver = (client: DynamoDBClient, ports = { random, sleep }): ImprovementStore =>
  createImprovementTable(client, TableName, ports);

// Every test has a tenant of its own, for they share one table.
let tenants = 0;
let tenantId: string;
let store: ImprovementStore;
beforeEach(() => {
  tenants += 1;
  tenantId = `tenant-${tenants}`;
  store = tableOver(aws.dynamo);
});

const newRun = (improvementRunId: string, createdAt = T0) => ({
  tenantId,
  improvementRunId,
  administrationId: 'administration-1',
  pins,
  createdAt,
});

const openRun = (improvementRunId: string, createdAt?: number): Promise<RunRecord> =>
  store.createRun(newRun(improvementRunId, createdAt));

/** So many runs, each ten milliseconds after the one before. */
const openRuns = (count: number): Promise<RunRecord[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => openRun(`run_${n}`, T0 + n * 10)));

const order = (revisionOrderId: string, lineage = sha256Hex('lineage')): NewOrder => ({
  revisionOrderId,
  evidence: 'metric:item_difficulty',
  targetModule: 'bank',
  lineage,
});

/** The runs that are listed as open, in the order of their ids. */
async function listOpen(
  of?: Parameters<ImprovementStore['listOpen']>[0],
  from = store,
): Promise<readonly OpenRun[]> {
  const runs = await Array.fromAsync(from.listOpen(of));
  const name = (run: OpenRun): string => run.improvementRunId + run.tenantId;
  return runs.toSorted((a, b) => (name(a) < name(b) ? -1 : 1));
}

async function onlyOrder(run: RunRecord): Promise<OrderRecord | undefined> {
  return (await store.listOrders(run, { limit: 1 }))[0];
}

const endings = ['completed', 'completed_with_omissions', 'failed'] as const;

function moveTo(state: Exclude<ImprovementRunState, 'queued'>, completedAt: number) {
  if (state === 'failed') return { state, completedAt };
  if (state === 'completed' || state === 'completed_with_omissions') return { state, completedAt, receipt };
  return { state };
}

/** What the table promises, one call after the other, without keys, conditions and retries. */
function createModel(): ImprovementStore {
  const runs = new Map<string, { run: RunRecord; tries: number; recorded: number; parkedAt?: number }>();
  const evidence = new Map<string, EvidenceRecord>();
  const orders = new Map<string, OrderRecord>();
  const heads = new Map<string, LineageHead>();
  const formers = new Map<string, FormerOrder>();
  const at = (...ids: readonly string[]): string => JSON.stringify(ids);
  const ofRun = ({ tenantId: tenant, improvementRunId }: RunKey, id = ''): string =>
    at(tenant, improvementRunId, id);
  const ordersOf = (key: RunKey): readonly OrderRecord[] =>
    [...orders].filter(([name]) => name.startsWith(ofRun(key).slice(0, -4))).map(([, found]) => found);
  const byId = (a: OrderRecord, b: OrderRecord): number => (a.revisionOrderId < b.revisionOrderId ? -1 : 1);
  /** A run that has not ended. */
  const going = (key: RunKey) => {
    const found = runs.get(ofRun(key));
    return found === undefined || isTerminal(found.run.state) ? undefined : found;
  };
  const settle = <T>(value: T): Promise<T> => Promise.resolve(value);
  return {
    createRun(created) {
      const run: RunRecord = { ...created, state: 'queued', touchedAt: created.createdAt, sweeps: 0 };
      const name = ofRun(run);
      if (!runs.has(name)) runs.set(name, { run, tries: 0, recorded: 0 });
      return settle(runs.get(name)!.run);
    },
    readRun: (key) => settle(runs.get(ofRun(key))?.run),
    readSummary(key) {
      const found = runs.get(ofRun(key));
      if (found === undefined) return settle(undefined);
      const { run, tries, parkedAt } = found;
      const {
        tenantId: tenant,
        improvementRunId,
        administrationId,
        state,
        createdAt,
        touchedAt,
        sweeps,
      } = run;
      const standing = { tenantId: tenant, improvementRunId, administrationId, state, createdAt, touchedAt };
      return settle({ ...standing, sweeps, tries, ...(parkedAt === undefined ? {} : { parkedAt }) });
    },
    readProgress(key) {
      const run = runs.get(ofRun(key))?.run;
      const evaluated = ['metric:form_summary', 'source:act'].map((name) => evidence.get(ofRun(key, name)));
      return settle(
        run && {
          run,
          evidence: evaluated.filter((found) => found !== undefined),
          orders: ordersOf(key).toSorted(byId),
        },
      );
    },
    readEvidence: (key, name) => settle(evidence.get(ofRun(key, name))),
    listOrders: (key, { after = '', limit }) =>
      settle(
        ordersOf(key)
          .filter(({ revisionOrderId }) => revisionOrderId > after)
          .toSorted(byId)
          .slice(0, limit),
      ),
    moveRun(key, from, to, now) {
      const found = going(key);
      if (found === undefined || !from.includes(found.run.state)) return settle(false);
      const { createdAt } = found.run;
      const ended = 'completedAt' in to ? { completedAt: Math.max(createdAt, to.completedAt) } : {};
      found.run = { ...found.run, ...to, ...ended, touchedAt: now };
      if (to.state === 'blocked_upstream') found.parkedAt = now;
      return settle(true);
    },
    beginRun(key, recorded, now) {
      const found = going(key);
      if (found === undefined) return settle(undefined);
      found.run = { ...found.run, touchedAt: now, sweeps: 0 };
      found.tries = recorded > found.recorded ? 1 : found.tries + 1;
      found.recorded = Math.max(found.recorded, recorded);
      return settle(undefined);
    },
    touchRun(key, by, now, seen) {
      const found = going(key);
      if (found === undefined || (seen ?? found.run.touchedAt) !== found.run.touchedAt)
        return settle(undefined);
      const sweeps = found.run.sweeps + (by === 'sweeper' ? 1 : 0);
      found.run = { ...found.run, touchedAt: now, sweeps };
      if (by === 'worker') found.tries = 0;
      return settle(undefined);
    },
    putEvidence(key, record) {
      const name = ofRun(key, record.key);
      if (!evidence.has(name)) evidence.set(name, record);
      return settle(undefined);
    },
    openOrder(run, opened, now) {
      const name = ofRun(run, opened.revisionOrderId);
      const standing = orders.get(name);
      if (standing !== undefined) return settle(standing);
      const lineage = at(run.tenantId, opened.lineage);
      const head = heads.get(lineage);
      const former = formers.get(lineage + opened.revisionOrderId);
      const place = placeInLineage(head, former, run, opened.revisionOrderId);
      for (const improvementRunId of place.supersededIn) {
        const holder = ofRun({ ...run, improvementRunId }, head!.revisionOrderId);
        const { createdAt } = orders.get(holder)!;
        const updatedAt = Math.max(createdAt, now);
        orders.set(holder, { ...orders.get(holder)!, status: 'superseded', updatedAt });
      }
      if (place.head !== undefined) heads.set(lineage, place.head);
      if (place.former !== undefined) formers.set(lineage + place.former.revisionOrderId, place.former);
      const { status, supersedesRevisionOrderId } = place;
      const times = { createdAt: run.createdAt, updatedAt: Math.max(run.createdAt, now) };
      const record = { ...opened, status, supersedesRevisionOrderId, ack: null, ...times };
      orders.set(name, record);
      return settle(record);
    },
    confirmOrder(key, { revisionOrderId, lineage }, now) {
      const name = ofRun(key, revisionOrderId);
      const record = orders.get(name);
      const head = heads.get(at(key.tenantId, lineage));
      if (
        record !== undefined &&
        head !== undefined &&
        isOpen(record) &&
        isOvertaken(head, key, revisionOrderId)
      )
        orders.set(name, { ...record, status: 'superseded', updatedAt: Math.max(record.createdAt, now) });
      return settle(orders.get(name));
    },
    moveOrder(key, revisionOrderId, to, now) {
      const name = ofRun(key, revisionOrderId);
      const record = orders.get(name);
      if (record === undefined) return settle(false);
      const isLate = 'ack' in to && record.status === 'superseded' && record.ack === null;
      if (!isOpen(record) && !isLate) return settle(false);
      const updatedAt = Math.max(record.createdAt, now);
      const blocked = 'ack' in to ? {} : { blockedAt: now };
      const status = isLate ? 'superseded' : to.status;
      orders.set(name, { ...record, ...to, status, updatedAt, ...blocked });
      return settle(true);
    },
    async *listOpen(of) {
      for (const { run } of runs.values()) {
        const { tenantId: tenant, administrationId, improvementRunId, state } = run;
        const isWanted =
          of === undefined || (of.tenantId === tenant && of.administrationId === administrationId);
        if (isWanted && !isTerminal(state))
          yield await settle({ tenantId: tenant, administrationId, improvementRunId });
      }
    },
  };
}

describe('any sequence of calls', () => {
  /** Two runs of one moment, a later one, and a tenant and an id that together spell another tenant's. */
  const runs = [
    { tenantId: 'a', improvementRunId: 'run_1', administrationId: 'x', createdAt: T0 },
    { tenantId: 'a', improvementRunId: 'b#run_1', administrationId: 'x', createdAt: T0 },
    { tenantId: 'a', improvementRunId: 'run_0', administrationId: 'x1', createdAt: T0 + 10 },
    { tenantId: 'a#b', improvementRunId: 'run_1', administrationId: 'x', createdAt: T0 },
  ].map((run) => ({ ...run, pins }));
  const orders = ['order_1', 'order_2', 'order_3'];

  const call = fc.record({
    name: fc.constantFrom(
      ...([
        'createRun',
        'moveRun',
        'beginRun',
        'beginRun',
        'touchRun',
        'putEvidence',
        'readEvidence',
      ] as const),
      ...(['openOrder', 'openOrder', 'openOrder', 'confirmOrder', 'moveOrder', 'listOrders'] as const),
    ),
    at: fc.oneof({ arbitrary: fc.nat(2), weight: 9 }, fc.constant(3)),
    now: fc.integer({ min: T0 - 5, max: T0 + 20 }),
    from: fc.subarray([...improvementRunStates]),
    state: fc.constantFrom('analyzing' as const, 'blocked_upstream' as const, ...endings),
    recorded: fc.nat(1),
    by: fc.constantFrom('worker' as const, 'sweeper' as const),
    seen: fc.option(fc.integer({ min: T0, max: T0 + 5 }), { nil: undefined }),
    evidence: fc.constantFrom('source:act' as const, 'metric:form_summary' as const),
    orderId: fc.constantFrom(...orders),
    lineage: fc.constantFrom('l1', 'l1', 'l2'),
    status: fc.constantFrom('blocked_upstream' as const, 'accepted' as const, 'rejected' as const),
    limit: fc.integer({ min: 1, max: 3 }),
  });
  type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

  function make(table: ImprovementStore, tenant: string, c: Call): Promise<unknown> {
    const run = { ...runs[c.at]!, tenantId: `${tenant}${runs[c.at]!.tenantId}` };
    const whole: RunRecord = { ...run, state: 'queued', touchedAt: T0, sweeps: 0 };
    switch (c.name) {
      case 'createRun':
        return table.createRun(run);
      case 'moveRun':
        return table.moveRun(run, c.from, moveTo(c.state, c.now), c.now);
      case 'beginRun':
        return table.beginRun(run, c.recorded, c.now);
      case 'touchRun':
        return table.touchRun(run, c.by, c.now, c.seen);
      case 'putEvidence':
        return table.putEvidence(run, { key: c.evidence, evaluatedAt: c.now });
      case 'readEvidence':
        return table.readEvidence(run, c.evidence);
      case 'openOrder':
        return table.openOrder(whole, order(c.orderId, c.lineage), c.now);
      case 'confirmOrder':
        return table.confirmOrder(run, order(c.orderId, c.lineage), c.now);
      case 'moveOrder': {
        const to = c.status === 'blocked_upstream' ? { status: c.status } : { status: c.status, ack };
        return table.moveOrder(run, c.orderId, to, c.now);
      }
      case 'listOrders':
        return table.listOrders(run, { after: c.orderId, limit: c.limit });
    }
  }

  async function contents(table: ImprovementStore, tenant: string): Promise<unknown> {
    const keys = runs.map((run) => ({ ...run, tenantId: `${tenant}${run.tenantId}` }));
    const open = await listOpen(undefined, table);
    const contained = keys.map(async (key) => ({
      progress: await table.readProgress(key),
      run: await table.readRun(key),
      summary: await table.readSummary(key),
      open: await listOpen(key, table),
    }));
    return {
      runs: await Promise.all(contained),
      open: open.filter((run) => run.tenantId.startsWith(tenant)),
    };
  }

  it('gives what a simple model gives, and leaves what it leaves [RP-142, RP-203, RP-204]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 15, maxLength: 40, size: 'max' }), async (calls) => {
        const model = createModel();
        tenants += 1;
        const tenant = `sequence-${tenants}-`;
        for (const table of [store, model])
          for (const run of runs.slice(0, 2))
            await table.createRun({ ...run, tenantId: `${tenant}${run.tenantId}` });
        for (const made of calls) {
          const given = await make(store, tenant, made);
          expect(given).toEqual(await make(model, tenant, made));
        }
        expect(await contents(store, tenant)).toEqual(await contents(model, tenant));
      }),
      { numRuns: 30 },
    );
  }, 60_000);
});

describe('a run', () => {
  it('is created as queued, with its pins, and listed as open', async () => {
    const run = await openRun('run_1');
    expect(run).toEqual({ ...newRun('run_1'), state: 'queued', touchedAt: T0, sweeps: 0 });
    expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
    expect(await listOpen(run)).toEqual([
      { tenantId, improvementRunId: 'run_1', administrationId: 'administration-1' },
    ]);
  });

  it('is created once, also by twenty at once: later ones get the one that stands, as it is by then [RP-293]', async () => {
    const runs = await Promise.all(Array.from({ length: 20 }, (_, n) => openRun('run_1', T0 + n)));
    const stored = await store.readRun(runs[0]!);
    for (const run of runs) expect(run).toEqual(stored);
    expect(await listOpen(runs[0])).toHaveLength(1);
    await store.moveRun(runs[0]!, ['queued'], { state: 'analyzing' }, T0 + 50);
    const again = await store.createRun({ ...newRun('run_1'), administrationId: 'other' });
    expect(again).toEqual({ ...stored, state: 'analyzing', touchedAt: T0 + 50 });
    expect(await listOpen({ tenantId, administrationId: 'other' })).toEqual([]);
  });

  it.each(improvementRunStates)(
    'that is %s moves from there alone, and not at all once it has ended [RP-155, RP-156]',
    async (state) => {
      for (const to of ['analyzing', 'blocked_upstream', ...endings] as const) {
        const run = await openRun(`run_${to}`);
        if (state !== 'queued') await store.moveRun(run, ['queued'], moveTo(state, T0 + 1), T0 + 2);
        const standing = await store.readRun(run);
        const others = improvementRunStates.filter((other) => other !== state);
        // However late the clock of its worker is, a run does not end before it began.
        const move = (from: readonly ImprovementRunState[]) =>
          store.moveRun(run, from, moveTo(to, T0 - 3), T0 + 5);
        expect(await move(others)).toBe(false);
        expect(await store.readRun(run)).toEqual(standing);
        expect(await move(improvementRunStates)).toBe(!isTerminal(state));
        const moved = await store.readRun(run);
        const ended = isTerminal(to) ? { completedAt: T0 } : {};
        expect(moved).toEqual(
          isTerminal(state) ? standing : { ...standing, ...moveTo(to, T0 - 3), ...ended, touchedAt: T0 + 5 },
        );
        const names = (await listOpen(run)).map(({ improvementRunId }) => improvementRunId);
        expect(names.includes(run.improvementRunId)).toBe(!isTerminal(state) && !isTerminal(to));
      }
    },
  );

  it('is ended by exactly one of those who try at once', async () => {
    const run = await openRun('run_1');
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        store.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 + n }, T0 + n),
      ),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect((await store.readRun(run))?.completedAt).toBe(T0 + outcomes.indexOf(true));
  });

  it.each([
    ['too long', 'x'.repeat(2049)],
    ['not well-formed', '\ud800'],
  ])('and its orders have no id that is %s', async (_what, id) => {
    const run = await openRun('run_1');
    for (const key of [
      { ...run, improvementRunId: id },
      { ...run, tenantId: id },
    ]) {
      for (const read of ['readRun', 'readProgress', 'readSummary'] as const)
        expect(await store[read](key)).toBeUndefined();
      expect(await store.moveRun(key, ['queued'], { state: 'analyzing' }, T0)).toBe(false);
      await store.touchRun(key, 'worker', T0);
      await store.beginRun(key, 0, T0);
      await expect(store.createRun(key)).rejects.toThrow(RangeError);
      await expect(store.openOrder(key, order('order_1'), T0)).rejects.toThrow(RangeError);
    }
    expect(await listOpen({ tenantId, administrationId: id })).toEqual([]);
    await expect(store.createRun({ ...run, administrationId: id })).rejects.toThrow(RangeError);
    const evidence = `source:${id}` as const;
    expect(await store.readEvidence(run, evidence)).toBeUndefined();
    await expect(store.putEvidence(run, { key: evidence, evaluatedAt: T0 })).rejects.toThrow(RangeError);
    expect(await store.listOrders(run, { after: id, limit: 9 })).toEqual([]);
    expect(await store.moveOrder(run, id, { status: 'blocked_upstream' }, T0)).toBe(false);
    for (const impossible of [order(id), order('order_1', id)]) {
      expect(await store.confirmOrder(run, impossible, T0)).toBeUndefined();
      await expect(store.openOrder(run, impossible, T0)).rejects.toThrow(RangeError);
    }
    expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
  });
});

describe('the list of open runs', () => {
  it('names the runs of one administration and of none whose id begins like it', async () => {
    const ids = ['a', 'ab', 'a:1', '1:a', 'A', 'ä'];
    for (const tenant of [tenantId, `${tenantId}0`])
      for (const administrationId of ids)
        await store.createRun({ ...newRun(`run_${administrationId}`), tenantId: tenant, administrationId });
    for (const administrationId of ids)
      expect(await listOpen({ tenantId, administrationId })).toEqual([
        { tenantId, administrationId, improvementRunId: `run_${administrationId}` },
      ]);
    expect(await listOpen({ tenantId, administrationId: '' })).toEqual([]);
    expect(await listOpen({ tenantId: '', administrationId: 'a' })).toEqual([]);
  });
});

describe('an order', () => {
  const statuses = ['pending', 'blocked_upstream', 'accepted', 'replayed', 'rejected', 'superseded'] as const;

  it.each(statuses)(
    'that is %s is blocked or answered while it is open; its first answer is kept [RP-203, RP-204, RP-206]',
    async (status) => {
      for (const to of ['blocked_upstream', 'accepted', 'replayed', 'rejected'] as const) {
        const run = await openRun(`run_${to}`);
        const id = `order_${to}`;
        await store.openOrder(run, order(id, to), T0 + 1);
        if (status === 'superseded')
          await store.openOrder(await openRun(`run_${to}_2`, T0 + 1), order('order_2', to), T0 + 2);
        else if (status === 'blocked_upstream') await store.moveOrder(run, id, { status }, T0 + 2);
        else if (status !== 'pending') await store.moveOrder(run, id, { status, ack }, T0 + 2);
        const standing = (await onlyOrder(run))!;
        expect(standing).toMatchObject({ status, createdAt: T0 });
        const later = { ...ack, receiptId: 'receipt-2' };
        const change = to === 'blocked_upstream' ? { status: to } : { status: to, ack: later };
        const canMove = isOpen(standing) || (status === 'superseded' && to !== 'blocked_upstream');
        expect(await store.moveOrder(run, id, change, T0 - 4)).toBe(canMove);
        const moved = {
          ...standing,
          ...change,
          ...(status === 'superseded' ? { status } : {}),
          ...(to === 'blocked_upstream' ? { blockedAt: T0 - 4 } : {}),
          updatedAt: T0,
        };
        expect(await onlyOrder(run)).toEqual(canMove ? moved : standing);
        if (to !== 'blocked_upstream') expect(await store.moveOrder(run, id, change, T0 + 4)).toBe(false);
      }
    },
  );

  it('is one order when twenty open it at once', async () => {
    const run = await openRun('run_1');
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.openOrder(run, order('order_1'), T0 + n)),
    );
    for (const record of opened) expect(record).toEqual(await onlyOrder(run));
  });

  it('is settled by exactly one of two answers that come at once', async () => {
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    const answers = ['accepted', 'replayed'] as const;
    const outcomes = await Promise.all(
      answers.map((status) => store.moveOrder(run, 'order_1', { status, ack }, T0 + 1)),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(await onlyOrder(run)).toMatchObject({ status: answers[outcomes.indexOf(true)], ack });
  });
});

describe('a lineage', () => {
  it('has a later run’s order supersede the records of every run that holds the earlier one [RP-205]', async () => {
    const [first, second, latest] = await openRuns(3);
    for (const run of [first!, second!]) await store.openOrder(run, order('order_1'), T0 + 11);
    await store.moveOrder(first!, 'order_1', { status: 'accepted', ack }, T0 + 12);
    expect(await store.openOrder(latest!, order('order_2'), T0 + 31)).toMatchObject({
      status: 'pending',
      supersedesRevisionOrderId: 'order_1',
    });
    const superseded = { status: 'superseded', updatedAt: T0 + 31 };
    expect(await onlyOrder(first!)).toMatchObject({ ...superseded, ack });
    expect(await onlyOrder(second!)).toMatchObject({ ...superseded, ack: null });
  });

  it('of eight runs at once leaves one live order, the latest run’s, in one unbroken chain [RP-205]', async () => {
    const runs = await openRuns(8);
    const opened = await Promise.all(runs.map((run, n) => store.openOrder(run, order(`order_${n}`), T0 + 9)));
    const statuses = (await Promise.all(runs.map(onlyOrder))).map((record) => record?.status);
    expect(statuses).toEqual([...Array.from({ length: 7 }, () => 'superseded'), 'pending']);
    const sent = opened.filter(({ status }) => status === 'pending');
    const byId = new Map(sent.map((record) => [record.revisionOrderId, record]));
    const chain = [];
    for (let id: string | null = 'order_7'; id !== null && chain.length < 9;) {
      chain.push(id);
      id = byId.get(id)?.supersedesRevisionOrderId ?? null;
    }
    expect(chain).toHaveLength(sent.length);
  });

  it('is superseded in as many runs as one transaction can change; the others are found out before they are handed over', async () => {
    const runs = await openRuns(maxHolders + 3);
    const latest = runs.pop()!;
    for (const run of runs) await store.openOrder(run, order('order_1'), T0);
    await store.openOrder(latest, order('order_2'), T0 + 1000);
    const statuses = (await Promise.all(runs.map(onlyOrder))).map((record) => record?.status);
    expect(statuses).toEqual([
      'pending',
      'pending',
      ...Array.from({ length: maxHolders }, () => 'superseded'),
    ]);
    const updatedAt = T0 + 1001;
    for (const run of runs.slice(0, 2)) {
      const confirmed = await store.confirmOrder(run, order('order_1'), updatedAt);
      expect(confirmed).toMatchObject({ status: 'superseded', ack: null, updatedAt });
      expect(await onlyOrder(run)).toEqual(confirmed);
    }
  });
});

describe('a write that meets others', () => {
  // The least pause between two attempts of a client.
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => vi.restoreAllMocks());

  const cancelled = (...codes: readonly string[]): TransactionCanceledException =>
    new TransactionCanceledException({
      message: 'cancelled',
      $metadata: {},
      CancellationReasons: codes.map((Code) => ({ Code })),
    });

  /** Refuses the next `count` commands of a kind. */
  function refusing(kind: 'TransactWriteItemsCommand' | 'UpdateItemCommand', error: Error, count: number) {
    let left = count;
    const client = aws.dynamoAfter(({ name }) => {
      if (name !== kind || left === 0) return;
      left -= 1;
      throw error;
    });
    const busy = tableOver(client, { random, sleep: () => Promise.resolve() });
    return { busy, left: () => left };
  }

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'is made again when its transaction is cancelled for %s',
    async (code) => {
      const { busy, left } = refusing('TransactWriteItemsCommand', cancelled('None', code), 9);
      const run = await busy.createRun(newRun('run_1'));
      expect(left()).toBe(0);
      expect(await store.readRun(run)).toEqual(run);
    },
  );

  it('is made again when a transaction is just changing its item', async () => {
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    const conflict = new TransactionConflictException({ message: 'conflict', $metadata: {} });
    const { busy, left } = refusing('UpdateItemCommand', conflict, 4);
    expect(await busy.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0)).toBe(true);
    expect(left()).toBe(0);
  });

  it.each<readonly [string, (run: RunRecord, table: ImprovementStore) => Promise<unknown>]>([
    ['opening', (run, table) => table.openOrder(run, order('order_2'), T0)],
    ['ending', (run, table) => table.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 }, T0)],
    ['creation', (_run, table) => table.createRun(newRun('run_2'))],
  ])('gives up after ten attempts, and at once for what will not pass: %s', async (_what, write) => {
    const run = await openRun('run_1');
    for (const [code, attempts] of [
      ['TransactionConflict', 10],
      ['ValidationError', 1],
    ] as const) {
      const error = cancelled(code, 'None');
      const { busy, left } = refusing('TransactWriteItemsCommand', error, 20);
      await expect(write(run, busy)).rejects.toBe(error);
      expect(20 - left()).toBe(attempts);
    }
    expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
    expect(await listOpen(run)).toHaveLength(1);
  });

  it('sees a lineage that changed after it was read, and opens the order in what it has become', async () => {
    const [first, second, third] = await openRuns(3);
    await store.openOrder(first!, order('order_1'), T0);
    let isOvertaken = false;
    const slow = aws.dynamoAfter(async ({ name }) => {
      if (name !== 'TransactWriteItemsCommand' || isOvertaken) return;
      isOvertaken = true;
      await store.openOrder(second!, order('order_2'), T0 + 11);
    });
    expect(await tableOver(slow).openOrder(third!, order('order_3'), T0 + 21)).toMatchObject({
      status: 'pending',
      supersedesRevisionOrderId: 'order_2',
    });
    expect((await onlyOrder(second!))?.status).toBe('superseded');
  });

  it('or a read of a table that throttles is made three times by the client, and then fails', async () => {
    const client = makeDynamo({
      endpoint: aws.aws.url,
      region: localRegion,
      credentials: localCredentials,
    });
    const throttled = tableOver(client);
    const run = await openRun('run_1');
    for (const [operation, call] of [
      ['TransactWriteItems', () => throttled.openOrder(run, order('order_1'), T0)],
      ['UpdateItem', () => throttled.moveRun(run, ['queued'], { state: 'analyzing' }, T0)],
      ['PutItem', () => throttled.putEvidence(run, { key: 'source:act', evaluatedAt: T0 })],
      ['GetItem', () => throttled.readEvidence(run, 'source:act')],
      ['Query', () => throttled.readProgress(run)],
    ] as const) {
      aws.aws.faults.throttle(operation, 3);
      await expect(call()).rejects.toThrow(ProvisionedThroughputExceededException);
      aws.aws.faults.throttle(operation, 2);
      await call();
    }
    expect(await store.readProgress(run)).toMatchObject({
      run: { state: 'analyzing' },
      evidence: [{ key: 'source:act' }],
      orders: [{ status: 'pending' }],
    });
    client.destroy();
  });
});

describe('a read', () => {
  it('is strongly consistent, always', async () => {
    const reads: unknown[] = [];
    const client = aws.dynamoAfter(({ name, input }) => {
      if (name === 'QueryCommand' || name === 'GetItemCommand') reads.push({ name, ...input });
    });
    store = tableOver(client);
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    await store.readProgress(run);
    await store.readSummary(run);
    await store.confirmOrder(run, order('order_1'), T0);
    await listOpen(run);
    await store.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 }, T0);
    expect(reads.length).toBeGreaterThan(7);
    for (const read of reads) expect(read).toMatchObject({ ConsistentRead: true });
  });
});

describe('a large run', () => {
  /** 255 characters that no compression shortens much. */
  const noise = (): string => randomBytes(192).toString('base64url').slice(0, 255);
  const noisyPin = () => ({ ref: noise(), sha256: randomBytes(32).toString('hex') });
  const largePins = (): RunPins => ({
    ...pins,
    sources: Array.from({ length: maxSources }, () => ({
      sourceKey: noise(),
      crosswalk: noisyPin(),
      comparison: noisyPin(),
    })),
  });

  it('keeps the pins of as many sources as a run can have, those with ordinary ids in one item', async () => {
    const sources = Array.from({ length: maxSources }, (_, n) => ({
      sourceKey: `assessment-${n}`,
      crosswalk: pin(`https://content.example/crosswalks/${n}/${'x'.repeat(200)}`),
      comparison: 'missing' as const,
    }));
    const ordinary = await store.createRun({ ...newRun('run_1'), pins: { ...pins, sources } });
    const large = await store.createRun({ ...newRun('run_2'), pins: largePins() });
    for (const run of [ordinary, large]) expect(await store.readRun(run)).toEqual(run);
    const items = await scanImprovement(aws.dynamo);
    const parts = items.filter(
      (item) => item['pk']?.S === `run#${tenantId}#run_1` && item['pins'] !== undefined,
    );
    expect(parts).toHaveLength(1);
  });

  it('is read whole over several pages, its orders listed over several too', async () => {
    const run = await store.createRun({ ...newRun('run_1'), pins: largePins() });
    const ids = Array.from(
      { length: 240 },
      (_, n) => `order_${String(n).padStart(3, '0')}${'x'.repeat(900)}`,
    );
    const open = (id: string) =>
      store.openOrder(
        run,
        { ...order(id, id + 'y'.repeat(1000)), evidence: `source:${'s'.repeat(255)}` },
        T0,
      );
    for (let n = 0; n < ids.length; n += 24) await Promise.all(ids.slice(n, n + 24).map(open));
    let pages = 0;
    store = tableOver(
      aws.dynamoAfter(({ name }) => {
        if (name === 'QueryCommand') pages += 1;
      }),
    );
    const progress = await store.readProgress(run);
    expect(pages).toBeGreaterThan(1);
    expect(progress?.run).toEqual(run);
    expect(progress?.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(ids);
    const all = await store.listOrders(run, { limit: 1000 });
    expect(all).toEqual(progress?.orders);
    expect(await store.listOrders(run, { limit: 239 })).toEqual(all.slice(0, 239));
  });

  it('that ends while it is read is never shown as ended, nor an evidence as evaluated, without all records', async () => {
    const run = await store.createRun({ ...newRun('run_1'), pins: largePins() });
    const filler = (n: number) => ({ key: `source:${n}${'f'.repeat(900)}`, evaluatedAt: T0 }) as const;
    await Promise.all(Array.from({ length: 220 }, (_, n) => store.putEvidence(run, filler(n))));
    let queries = 0;
    const interrupted = aws.dynamoAfter(async ({ name }) => {
      if (name !== 'QueryCommand') return;
      queries += 1;
      if (queries !== 2) return;
      await store.openOrder(run, order('order_1'), T0);
      await store.putEvidence(run, { key: 'source:late', evaluatedAt: T0 });
      await store.moveRun(run, ['queued'], { state: 'completed', completedAt: T0, receipt }, T0);
    });
    const progress = await tableOver(interrupted).readProgress(run);
    expect(queries).toBeGreaterThan(1);
    expect(progress?.run.state).toBe('queued');
    expect(progress?.evidence.at(-1)?.key).toBe('source:late');
    expect(progress?.orders).toHaveLength(1);
    expect((await store.readProgress(run))?.run.state).toBe('completed');
  });
});

describe('a stored item', () => {
  /** Puts an item back with some of its columns changed or, where undefined, taken away. */
  async function damage(sk: string, columns: Record<string, AttributeValue | undefined>): Promise<void> {
    const Key = { pk: { S: `run#${tenantId}#run_1` }, sk: { S: sk } };
    const { Item } = await aws.dynamo.send(new GetItemCommand({ TableName, Key }));
    const entries = Object.entries({ ...Item, ...columns }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    await aws.dynamo.send(new PutItemCommand({ TableName, Item: Object.fromEntries(entries) }));
  }

  it.each<readonly ['readProgress' | 'readSummary', string, Record<string, AttributeValue | undefined>]>([
    ['readProgress', '0-run', { state: { S: 'toString' } }],
    ['readProgress', '0-run', { createdAt: { S: 'yesterday' } }],
    ['readProgress', '0-run', { sweeps: undefined }],
    ['readProgress', '0-run', { pinsParts: { N: '2' } }],
    ['readProgress', '0-run', { receiptSha256: { S: 'x' }, receiptMediaType: { S: 'text/html' } }],
    ['readProgress', '1-pins#00', { pins: { B: new Uint8Array([1, 2, 3]) } }],
    ['readProgress', '1-pins#00', { pins: { S: '{}' } }],
    ['readProgress', '2-evidence#source:act', { key: { S: 'act' } }],
    ['readProgress', '2-evidence#source:act', { comparisonOmitted: { S: 'true' } }],
    ['readProgress', '3-order#order_1', { status: { S: 'lost' } }],
    ['readProgress', '3-order#order_1', { updatedAt: { N: '0.5' } }],
    ['readProgress', '3-order#order_1', { receiptVersion: undefined }],
    ['readProgress', '3-order#order_1', { supersedes: { BOOL: true } }],
    ['readSummary', '0-run', { tries: undefined }],
    ['readSummary', '0-run', { parkedAt: { S: 'yesterday' } }],
  ])('that this service did not write so is refused by %s: %s %o', async (read, sk, columns) => {
    const run = await openRun('run_1');
    await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0, comparisonOmitted: false });
    await store.openOrder(run, order('order_1'), T0);
    await store.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0);
    await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0);
    await damage(sk, {});
    await store[read](run);
    await damage(sk, columns);
    await expect(store[read](run)).rejects.toThrow();
  });

  it('contains no member that pins do not have: a run that would bring one is not created [RP-002]', async () => {
    const more = { ...pins, observed: 0.71 };
    await expect(store.createRun({ ...newRun('run_1'), pins: more })).rejects.toThrow();
    expect(await store.readRun(newRun('run_1'))).toBeUndefined();
  });

  it('contains only ids, references, versions, digests, states, times and counts [RP-002]', async () => {
    const [first, second] = await openRuns(2);
    for (const run of [first!, second!]) {
      await store.openOrder(run, order(`order_${run.createdAt}`), T0);
      await store.moveOrder(run, `order_${run.createdAt}`, { status: 'blocked_upstream' }, T0);
      await store.moveOrder(run, `order_${run.createdAt}`, { status: 'accepted', ack }, T0);
      await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0, receipt, comparisonOmitted: true });
      await store.beginRun(run, 100_000, T0);
      await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0);
    }
    await store.moveRun(first!, ['blocked_upstream'], { state: 'completed', completedAt: T0, receipt }, T0);
    const mine = (await scanImprovement(aws.dynamo)).filter((item) =>
      JSON.stringify(item).includes(tenantId),
    );
    const ofRun = ['0-run', '1-pins', '2-evidence', '3-order'];
    const listed = `${tenantId.length}:${tenantId}16:administration-1run_1`;
    expect(mine.map((item) => item['sk']?.S?.replace(/#.*/, '')).toSorted()).toEqual(
      [...ofRun, ...ofRun, listed, 'former', 'head'].toSorted(),
    );
    expect(undeclaredIn(mine)).toEqual([]);
    // The check sees what it is for.
    for (const [column, value] of [
      ['observed', { N: '0.71' }],
      ['state', { S: 'learner-4711 answered B' }],
      ['sweeps', { N: '0.5' }],
    ] as const) {
      const planted = mine.map((item) => (item['sk']?.S === '0-run' ? { ...item, [column]: value } : item));
      expect(undeclaredIn(planted)).toEqual([`run.${column}`]);
    }
    expect(undeclaredIn([...mine, { pk: { S: 'learner#1' }, sk: { S: 'x' } }])).toEqual([
      'stray.pk',
      'stray.sk',
    ]);
  });
});
