import { randomBytes } from 'node:crypto';
import {
  PutItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { isOvertaken, maxHolders, placeInLineage } from '#shared/improvement/lineage.ts';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import { isUndelivered, maxSources } from '#shared/improvement/records.ts';
import type {
  EvidenceRecord,
  ImprovementStore,
  NewOrder,
  OrderRecord,
  RunKey,
  RunPins,
  RunRecord,
} from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { scanImprovement, undeclaredIn } from '#test/support/improvement-records.ts';
import { openImprovementTable, type TestImprovementTable } from '#test/support/improvement-table.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const tenantId = 'tenant-1';
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

let table: TestImprovementTable;
let store: ImprovementStore;
beforeEach(async () => {
  table = await openImprovementTable();
  ({ store } = table);
});

/** A run as it is created. */
const newRun = (improvementRunId: string, createdAt = T0): RunRecord => ({
  ...{ tenantId, improvementRunId, administrationId: 'administration-1', pins },
  ...{ state: 'queued', createdAt, touchedAt: createdAt, sweeps: 0 },
});
const openRun = (improvementRunId: string, createdAt?: number): Promise<RunRecord> =>
  store.createRun(newRun(improvementRunId, createdAt));
/** So many runs, each ten milliseconds after the one before. */
const openRuns = (count: number): Promise<RunRecord[]> =>
  atOnce(count, (n) => openRun(`run_${n}`, T0 + n * 10));

function atOnce<T>(count: number, call: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => call(n)));
}

const order = (revisionOrderId: string, lineage = sha256Hex('lineage')): NewOrder => ({
  ...{ revisionOrderId, lineage, evidence: 'metric:item_difficulty', targetModule: 'bank' },
});

const onlyOrder = async (run: RunRecord): Promise<OrderRecord | undefined> =>
  (await store.listOrders(run, { limit: 1 }))[0];
const allOpen = (): Promise<unknown[]> => Array.fromAsync(store.listOpen());

describe('any sequence of calls', () => {
  /** Two runs of one moment, a later one, and a tenant and an id that together spell another tenant's. */
  const runs: readonly RunRecord[] = [
    { ...newRun('run_1'), tenantId: 'a', administrationId: 'x' },
    { ...newRun('b#run_1'), tenantId: 'a', administrationId: 'x' },
    { ...newRun('run_0', T0 + 10), tenantId: 'a', administrationId: 'x1' },
    { ...newRun('run_1'), tenantId: 'a#b', administrationId: 'x' },
  ].map((one) => ({ ...one, pins: { ...pins, metrics: [], sources: [] } }));
  const orderIds = ['order_1', 'order_2', 'order_3'] as const;
  const evidenceKeys = ['metric:form_summary', 'source:act'] as const;

  type Write =
    | 'createRun'
    | 'moveRun'
    | 'beginRun'
    | 'touchRun'
    | 'putEvidence'
    | 'openOrder'
    | 'confirmOrder'
    | 'moveOrder';
  interface Call {
    readonly name: Write;
    readonly args: readonly unknown[];
  }

  const moment = fc.integer({ min: T0 - 5, max: T0 + 20 });
  const run = fc.constantFrom(...runs.slice(0, 3), ...runs);
  const asked = fc
    .tuple(fc.constantFrom(...orderIds), fc.constantFrom('l1', 'l1', 'l2'))
    .map(([id, lineage]) => order(id, lineage));
  const to = moment.chain((completedAt) =>
    fc.constantFrom(
      { state: 'analyzing' } as const,
      { state: 'blocked_upstream' } as const,
      { state: 'completed', completedAt, receipt } as const,
      { state: 'completed_with_omissions', completedAt, receipt } as const,
      { state: 'failed', completedAt } as const,
    ),
  );
  const answer = fc.constantFrom(
    { status: 'blocked_upstream' } as const,
    { status: 'accepted', ack } as const,
    { status: 'replayed', ack } as const,
    { status: 'rejected', ack: { ...ack, receiptId: 'receipt-2' } } as const,
  );
  const of = <Name extends Write>(
    name: Name,
    args: fc.Arbitrary<Parameters<ImprovementStore[Name]>>,
  ): fc.Arbitrary<Call> => args.map((given) => ({ name, args: given }));
  const record = fc.record({ key: fc.constantFrom(...evidenceKeys), evaluatedAt: moment });
  const seen = fc.option(fc.integer({ min: T0, max: T0 + 5 }), { nil: undefined });
  const call = fc.oneof(
    of('createRun', fc.tuple(run)),
    of('moveRun', fc.tuple(run, to, moment)),
    of('beginRun', fc.tuple(run, fc.nat(2), moment)),
    of('touchRun', fc.tuple(run, fc.constantFrom('worker', 'sweeper'), moment, seen)),
    of('putEvidence', fc.tuple(run, record)),
    { weight: 4, arbitrary: of('openOrder', fc.tuple(run, asked, moment)) },
    of('confirmOrder', fc.tuple(run, asked, moment)),
    { weight: 2, arbitrary: of('moveOrder', fc.tuple(run, fc.constantFrom(...orderIds), answer, moment)) },
  );

  const make = (made: object, { name, args }: Call): unknown =>
    (made as Readonly<Record<string, (...given: readonly unknown[]) => unknown>>)[name]!(...args);

  /** What the table promises, one call after the other, without keys, conditions and retries. */
  function createModel() {
    interface Held {
      run: RunRecord;
      tries: number;
      recorded: number;
      parkedAt?: number;
      readonly evidence: Map<string, EvidenceRecord>;
      readonly orders: Map<string, OrderRecord>;
    }
    const held = new Map<string, Held>();
    const heads = new Map<string, LineageHead>();
    const formers = new Map<string, FormerOrder>();
    const nameOf = (key: RunKey): string => JSON.stringify([key.tenantId, key.improvementRunId]);
    const find = (key: RunKey): Held => held.get(nameOf(key))!;
    const isTerminal = (state: string): boolean =>
      ['completed', 'completed_with_omissions', 'failed'].includes(state);
    const going = (key: RunKey): Held | undefined =>
      isTerminal(find(key).run.state) ? undefined : find(key);
    const replace = (orders: Held['orders'], was: OrderRecord, now: number, change: Partial<OrderRecord>) =>
      orders.set(was.revisionOrderId, { ...was, ...change, updatedAt: Math.max(was.createdAt, now) });

    const writes: {
      readonly [Name in Write]: (
        ...args: Parameters<ImprovementStore[Name]>
      ) => Awaited<ReturnType<ImprovementStore[Name]>>;
    } = {
      createRun(created) {
        const name = nameOf(created);
        const fresh = { ...created, state: 'queued', touchedAt: created.createdAt, sweeps: 0 } as const;
        if (!held.has(name))
          held.set(name, { run: fresh, tries: 0, recorded: 0, evidence: new Map(), orders: new Map() });
        return find(created).run;
      },
      moveRun(key, moved, now) {
        const found = going(key);
        const isLate = moved.state === 'analyzing' && found?.run.state !== 'queued';
        const isParked = moved.state === 'blocked_upstream' && found?.run.state === moved.state;
        if (found === undefined || isLate || isParked) return false;
        const { createdAt } = found.run;
        const ended = 'completedAt' in moved ? { completedAt: Math.max(createdAt, moved.completedAt) } : {};
        found.run = { ...found.run, ...moved, ...ended, touchedAt: now };
        if (moved.state === 'blocked_upstream') found.parkedAt = now;
        return true;
      },
      beginRun(key, recorded, now) {
        const found = going(key);
        if (found === undefined) return;
        found.run = { ...found.run, touchedAt: now, sweeps: 0 };
        found.tries = recorded > found.recorded ? 1 : found.tries + 1;
        found.recorded = Math.max(found.recorded, recorded);
      },
      touchRun(key, by, now, touchedAt) {
        const found = going(key);
        if (found === undefined || (touchedAt ?? found.run.touchedAt) !== found.run.touchedAt) return;
        const sweeps = found.run.sweeps + (by === 'sweeper' ? 1 : 0);
        found.run = { ...found.run, touchedAt: now, sweeps };
        if (by === 'worker') found.tries = 0;
      },
      putEvidence(key, evaluated) {
        const { evidence } = find(key);
        evidence.set(evaluated.key, evidence.get(evaluated.key) ?? evaluated);
      },
      openOrder(opener, opened, now) {
        const { orders } = find(opener);
        const standing = orders.get(opened.revisionOrderId);
        if (standing !== undefined) return standing;
        const lineage = JSON.stringify([opener.tenantId, opened.lineage]);
        const head = heads.get(lineage);
        const former = formers.get(lineage + opened.revisionOrderId);
        const place = placeInLineage(head, former, opener, opened.revisionOrderId);
        for (const improvementRunId of place.supersededIn) {
          const holder = find({ ...opener, improvementRunId }).orders;
          replace(holder, holder.get(head!.revisionOrderId)!, now, { status: 'superseded' });
        }
        if (place.head !== undefined) heads.set(lineage, place.head);
        if (place.former !== undefined) formers.set(lineage + place.former.revisionOrderId, place.former);
        const { status, supersedesRevisionOrderId } = place;
        const { createdAt } = opener;
        const first = { status, supersedesRevisionOrderId, ack: null, createdAt, updatedAt: createdAt };
        replace(orders, { ...opened, ...first }, now, {});
        return orders.get(opened.revisionOrderId)!;
      },
      confirmOrder(key, { revisionOrderId, lineage }, now) {
        const { orders } = find(key);
        const found = orders.get(revisionOrderId);
        const head = heads.get(JSON.stringify([key.tenantId, lineage]));
        if (found !== undefined && isUndelivered(found) && head && isOvertaken(head, key, revisionOrderId))
          replace(orders, found, now, { status: 'superseded' });
        return orders.get(revisionOrderId);
      },
      moveOrder(key, revisionOrderId, moved, now) {
        const { orders } = find(key);
        const found = orders.get(revisionOrderId);
        if (found === undefined) return false;
        const isLate = 'ack' in moved && found.status === 'superseded' && found.ack === null;
        if (!isUndelivered(found) && !isLate) return false;
        const status = isLate ? found.status : moved.status;
        replace(orders, found, now, { ...moved, status, ...('ack' in moved ? {} : { blockedAt: now }) });
        return true;
      },
    };
    const openOf = (wanted: (run: RunRecord) => boolean) =>
      [...held.values()]
        .map((one) => one.run)
        .filter((one) => !isTerminal(one.state) && wanted(one))
        .map(({ tenantId: tenant, administrationId, improvementRunId }) => {
          return { tenantId: tenant, administrationId, improvementRunId };
        });
    /** What the reads of a run give. */
    function shown(key: RunRecord) {
      const { run: of, tries, parkedAt, evidence, orders } = find(key);
      const sorted = orderIds.flatMap((id) => orders.get(id) ?? []);
      const { administrationId, improvementRunId, state, createdAt, touchedAt, sweeps } = of;
      const summary = { administrationId, improvementRunId, state, createdAt, touchedAt, sweeps, tries };
      const evaluated = evidenceKeys.map((name) => evidence.get(name));
      return {
        run: of,
        summary: { ...summary, tenantId: of.tenantId, parkedAt },
        progress: { run: of, evidence: evaluated.filter((one) => one !== undefined), orders: sorted },
        evidence: evaluated,
        orders: ['', ...orderIds].map((after) =>
          sorted.filter(({ revisionOrderId }) => revisionOrderId > after).slice(0, 2),
        ),
        open: openOf(
          (other) => other.tenantId === key.tenantId && other.administrationId === key.administrationId,
        ),
      };
    }
    return { writes, shown, open: () => openOf(() => true) };
  }

  async function shownBy(from: ImprovementStore, key: RunRecord) {
    return {
      run: await from.readRun(key),
      summary: await from.readSummary(key),
      progress: await from.readProgress(key),
      evidence: await Promise.all(evidenceKeys.map((name) => from.readEvidence(key, name))),
      orders: await Promise.all(['', ...orderIds].map((after) => from.listOrders(key, { after, limit: 2 }))),
      open: (await Array.fromAsync(from.listOpen(key))).toReversed(),
    };
  }

  it('gives what a simple model gives, by strongly consistent reads, and leaves only what the table may contain [RP-002, RP-142, RP-155, RP-156, RP-203, RP-204, RP-205, RP-206]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 50, size: 'max' }), async (calls) => {
        const { client, storeAfter } = await openImprovementTable();
        const inconsistent: unknown[] = [];
        const watched = storeAfter((operation, { ConsistentRead: isConsistent }) => {
          if (['GetItem', 'Query'].includes(operation) && isConsistent !== true) inconsistent.push(operation);
        });
        const model = createModel();
        for (const made of [...runs.map((one): Call => ({ name: 'createRun', args: [one] })), ...calls])
          expect(await make(watched, made)).toEqual(make(model.writes, made));
        for (const key of runs) expect(await shownBy(watched, key)).toEqual(model.shown(key));
        expect(new Set(await Array.fromAsync(watched.listOpen()))).toEqual(new Set(model.open()));
        expect(inconsistent).toEqual([]);
        const items = await scanImprovement(client);
        // These lineages are no digests.
        expect(undeclaredIn(items).filter((name) => name !== 'order.lineage')).toEqual([]);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});

it('calls at once of eight runs leave one live order of a lineage, the latest run’s, in one unbroken chain [RP-205]', async () => {
  const runs = await openRuns(8);
  const opened = await atOnce(8, (n) => store.openOrder(runs[n]!, order(`order_${n}`), T0 + 9));
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

it('a lineage is superseded in as many runs as one transaction can change; the others are found out before they are handed over', async () => {
  const runs = await openRuns(maxHolders + 3);
  const latest = runs.pop()!;
  for (const run of runs) await store.openOrder(run, order('order_1'), T0);
  await store.openOrder(latest, order('order_2'), T0 + 1000);
  const statuses = (await Promise.all(runs.map(onlyOrder))).map((record) => record?.status);
  expect(statuses).toEqual(['pending', 'pending', ...Array.from({ length: maxHolders }, () => 'superseded')]);
  for (const run of runs.slice(0, 2)) {
    const confirmed = await store.confirmOrder(run, order('order_1'), T0 + 1001);
    expect(confirmed).toMatchObject({ status: 'superseded', ack: null, updatedAt: T0 + 1001 });
  }
});

describe('a write that meets others', () => {
  const cancelled = (...codes: readonly string[]): TransactionCanceledException =>
    new TransactionCanceledException({
      message: 'cancelled',
      $metadata: {},
      CancellationReasons: codes.map((Code) => ({ Code })),
    });

  /** Refuses the next `count` calls of an operation. */
  function refusing(operation: 'TransactWriteItems' | 'UpdateItem', error: Error, count: number) {
    let left = count;
    const busy = table.storeAfter((name) => {
      if (name !== operation || left === 0) return;
      left -= 1;
      throw error;
    });
    return { busy, left: () => left };
  }

  it('is made again where its transaction is cancelled for them, or one is just changing its item', async () => {
    for (const code of ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']) {
      const { busy, left } = refusing('TransactWriteItems', cancelled('None', code), 9);
      const run = await busy.createRun(newRun(`run_${code}`));
      expect([code, left()]).toEqual([code, 0]);
      expect(await store.readRun(run)).toEqual(run);
    }
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    const conflict = new TransactionConflictException({ message: 'conflict', $metadata: {} });
    const { busy, left } = refusing('UpdateItem', conflict, 4);
    expect(await busy.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0)).toBe(true);
    expect(left()).toBe(0);
  });

  it.each<readonly [string, (run: RunRecord, busy: ImprovementStore) => Promise<unknown>]>([
    ['opening', (run, busy) => busy.openOrder(run, order('order_2'), T0)],
    ['ending', (run, busy) => busy.moveRun(run, { state: 'failed', completedAt: T0 }, T0)],
    ['creation', (_run, busy) => busy.createRun(newRun('run_2'))],
  ])('gives up after ten attempts, and at once for what will not pass: %s', async (_what, write) => {
    const run = await openRun('run_1');
    for (const [code, attempts] of [
      ['TransactionConflict', 10],
      ['ValidationError', 1],
    ] as const) {
      const isOutage = attempts > 1;
      const error = cancelled(code, 'None');
      const { busy, left } = refusing('TransactWriteItems', error, 20);
      await expect(write(run, busy)).rejects.toSatisfy(
        (thrown) =>
          isStoreOutage(thrown) === isOutage && (isOutage ? (thrown as Error).cause : thrown) === error,
      );
      expect(20 - left()).toBe(attempts);
    }
    expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
    expect(await allOpen()).toHaveLength(1);
  });
});

describe('a large run', () => {
  /** 255 characters that no compression shortens much. */
  const noise = (): string => randomBytes(192).toString('base64url').slice(0, 255);
  const noisyPin = () => ({ ref: noise(), sha256: randomBytes(32).toString('hex') });
  const sources = () =>
    Array.from({ length: maxSources }, () => ({
      sourceKey: noise(),
      ...{ crosswalk: noisyPin(), comparison: noisyPin() },
    }));
  const openLarge = (): Promise<RunRecord> =>
    store.createRun({ ...newRun('run_1'), pins: { ...pins, sources: sources() } });

  it('is read whole over several pages, with as many sources as there can be; those with ordinary ids are one item', async () => {
    const run = await openLarge();
    const ids = Array.from(
      { length: 240 },
      (_, n) => `order_${String(n).padStart(3, '0')}${'x'.repeat(900)}`,
    );
    const evidence = `source:${'s'.repeat(255)}` as const;
    for (const id of ids) await store.openOrder(run, { ...order(id, id + 'y'.repeat(1000)), evidence }, T0);
    let pages = 0;
    const counted = table.storeAfter((operation) => (pages += operation === 'Query' ? 1 : 0));
    const progress = await counted.readProgress(run);
    expect(pages).toBeGreaterThan(1);
    expect(progress?.run).toEqual(run);
    expect(progress?.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(ids);
    expect(await store.listOrders(run, { limit: 1000 })).toEqual(progress?.orders);
    expect(await store.listOrders(run, { limit: 239 })).toEqual(progress?.orders.slice(0, 239));

    const ordinary = Array.from({ length: maxSources }, (_, n) => ({
      sourceKey: `assessment-${n}`,
      crosswalk: pin(`https://content.example/crosswalks/${n}/${'x'.repeat(200)}`),
      comparison: 'missing' as const,
    }));
    await store.createRun({ ...newRun('run_2'), pins: { ...pins, sources: ordinary } });
    const items = await scanImprovement(table.client);
    const parts = items.filter(
      (item) => item['pins'] !== undefined && item['pk']?.S === `run#${tenantId}#run_2`,
    );
    expect(parts).toHaveLength(1);
  });

  it('that ends while it is read is never shown as ended, nor an evidence as evaluated, without all records', async () => {
    const run = await openLarge();
    await atOnce(220, (n) =>
      store.putEvidence(run, { key: `source:${n}${'f'.repeat(900)}`, evaluatedAt: T0 }),
    );
    let queries = 0;
    const interrupted = table.storeAfter(async (operation) => {
      queries += operation === 'Query' ? 1 : 0;
      if (queries !== 2) return;
      await store.openOrder(run, order('order_1'), T0);
      await store.putEvidence(run, { key: 'source:late', evaluatedAt: T0 });
      await store.moveRun(run, { state: 'completed', completedAt: T0, receipt }, T0);
    });
    const progress = await interrupted.readProgress(run);
    expect(queries).toBeGreaterThan(1);
    expect(progress?.run.state).toBe('queued');
    expect(progress?.evidence.at(-1)?.key).toBe('source:late');
    expect(progress?.orders).toHaveLength(1);
    expect((await store.readProgress(run))?.run.state).toBe('completed');
  });
});

describe('a stored item', () => {
  type Columns = Readonly<Record<string, AttributeValue | undefined>>;
  let run: RunRecord;
  beforeEach(async () => {
    run = await store.createRun({
      ...newRun('run_1'),
      classSourcedId: 'class-1',
      schoolSourcedId: 'school-1',
    });
    const later = await openRun('run_2', T0 + 1);
    await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0, receipt, comparisonOmitted: false });
    await store.openOrder(run, order('order_1'), T0);
    await store.moveOrder(run, 'order_1', { status: 'blocked_upstream' }, T0);
    await store.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0);
    await store.openOrder(later, order('order_2'), T0);
    for (const one of [run, later]) await store.moveRun(one, { state: 'blocked_upstream' }, T0);
    await store.beginRun(run, 100_000, T0);
  });

  /** The names of the reads that refuse the table. */
  async function refusedBy(): Promise<readonly string[]> {
    const reads = {
      readProgress: ['run_1', 'run_2'].map((improvementRunId) =>
        store.readProgress({ ...run, improvementRunId }),
      ),
      readSummary: ['run_1', 'run_2'].map((improvementRunId) =>
        store.readSummary({ ...run, improvementRunId }),
      ),
      listOpen: [allOpen()],
      confirmOrder: [store.confirmOrder({ ...run, improvementRunId: 'run_2' }, order('order_2'), T0)],
    };
    const refusals = Object.entries(reads).map(async ([name, calls]) =>
      (await Promise.allSettled(calls)).some(({ status }) => status === 'rejected') ? [name] : [],
    );
    return (await Promise.all(refusals)).flat();
  }

  async function damaging(item: Columns, columns: Columns): Promise<readonly string[]> {
    const write = async (changed: Columns): Promise<unknown> => {
      const kept = Object.entries(changed).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      );
      const Item = Object.fromEntries(kept) as Record<string, AttributeValue>;
      return table.client.send(new PutItemCommand({ TableName: localTableName('improvement'), Item }));
    };
    await write({ ...item, ...columns });
    const refused = await refusedBy();
    await write(item);
    return refused;
  }

  it('of which any column is of another type is refused by whatever reads it', async () => {
    expect(await refusedBy()).toEqual([]);
    const unread: string[] = [];
    for (const item of await scanImprovement(table.client))
      for (const name of Object.keys(item).filter((column) => column !== 'pk' && column !== 'sk'))
        if ((await damaging(item, { [name]: { NULL: true } })).length === 0)
          unread.push(`${item['sk']!.S!.replace(/#.*/, '')} ${name}`);
    // A condition reads the first; what an order of a later run superseded is read when that order comes back.
    expect(new Set(unread)).toEqual(new Set(['0-run recorded', 'former revisionOrderId']));
  });

  it.each<readonly ['readProgress' | 'readSummary', string, Columns]>([
    ['readProgress', '0-run', { state: { S: 'toString' } }],
    ['readProgress', '0-run', { sweeps: undefined }],
    ['readProgress', '0-run', { pinsParts: { N: '2' } }],
    ['readProgress', '0-run', { receiptSha256: { S: 'x' }, receiptMediaType: { S: 'text/html' } }],
    ['readProgress', '1-pins#00', { pins: { B: new Uint8Array([1, 2, 3]) } }],
    ['readProgress', '2-evidence#source:act', { key: { S: 'act' } }],
    ['readProgress', '3-order#order_1', { status: { S: 'lost' } }],
    ['readProgress', '3-order#order_1', { updatedAt: { N: '0.5' } }],
    ['readProgress', '3-order#order_1', { receiptVersion: undefined }],
    ['readSummary', '0-run', { tries: undefined }],
  ])('that this service did not write so is refused by %s: %s %o', async (read, sk, columns) => {
    const item = (await scanImprovement(table.client)).find((one) => one['sk']?.S === sk)!;
    expect(await damaging(item, columns)).toContain(read);
  });

  it('contains no member that pins do not have: a run that would bring one is not created [RP-002]', async () => {
    const more = { ...pins, observed: 0.71 };
    await expect(store.createRun({ ...newRun('run_3'), pins: more })).rejects.toThrow();
    expect(await store.readRun(newRun('run_3'))).toBeUndefined();
  });

  it('contains only ids, references, versions, digests, states, times and counts [RP-002]', async () => {
    const items = await scanImprovement(table.client);
    expect(undeclaredIn(items)).toEqual([]);
    // The check sees what it is for.
    for (const [column, value] of [
      ['observed', { N: '0.71' }],
      ['state', { S: 'learner-4711 answered B' }],
      ['sweeps', { N: '0.5' }],
    ] as const) {
      const planted = items.map((item) => (item['sk']?.S === '0-run' ? { ...item, [column]: value } : item));
      expect(undeclaredIn(planted)).toEqual([`run.${column}`]);
    }
    expect(undeclaredIn([...items, { pk: { S: 'learner#1' }, sk: { S: 'x' } }])).toEqual([
      'stray.pk',
      'stray.sk',
    ]);
  });
});
