import { isOvertaken, placeInLineage } from '#shared/improvement/lineage.ts';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import { isOpen, isTerminal } from '#shared/improvement/records.ts';
import type {
  EvidenceRecord,
  ImprovementStore,
  OrderRecord,
  RunKey,
  RunRecord,
  RunSummary,
} from '#shared/improvement/records.ts';

/** An improvement table in memory: the same promises as the one in DynamoDB (one suite holds both to them). */
export interface MemoryImprovementStore extends ImprovementStore {
  /** From now on (or for this operation only) every call fails as an unreachable table does; undefined ends it. */
  fail(error: Error | undefined, only?: keyof ImprovementStore): void;
}

/** A run with everything that is stored of it; without `run` where evidence was put of a run that there is not. */
interface Stored {
  run?: RunRecord;
  /** What its summary says beyond its record. */
  tries: number;
  recorded: number;
  parkedAt?: number;
  readonly evidence: Map<string, EvidenceRecord>;
  readonly orders: Map<string, OrderRecord>;
}

interface Lineage {
  head?: LineageHead;
  readonly former: Map<string, FormerOrder>;
}

/** `pause` stands for the network: it runs before each call takes effect, so that a test can interleave calls. */
export function createMemoryImprovementStore(
  pause: () => Promise<void> = () => Promise.resolve(),
): MemoryImprovementStore {
  const runs = new Map<string, Stored>();
  const lineages = new Map<string, Lineage>();
  let fault: { error: Error; only: keyof ImprovementStore | undefined } | undefined;

  async function reach(operation: keyof ImprovementStore): Promise<void> {
    await pause();
    if (fault !== undefined && (fault.only ?? operation) === operation) throw fault.error;
  }

  function find(key: RunKey): Stored | undefined {
    return runs.get(nameOf(key));
  }

  function storedOf(key: RunKey): Stored {
    const stored = find(key) ?? {
      tries: 0,
      recorded: 0,
      evidence: new Map<string, never>(),
      orders: new Map<string, never>(),
    };
    runs.set(nameOf(key), stored);
    return stored;
  }

  return {
    async createRun(created) {
      const { tenantId, improvementRunId, administrationId, createdAt } = created;
      await reach('createRun');
      demandKey(tenantId, improvementRunId, administrationId);
      const stored = storedOf({ tenantId, improvementRunId });
      stored.run ??= {
        ...created,
        state: 'queued',
        touchedAt: createdAt,
        sweeps: 0,
      };
      return stored.run;
    },

    async readRun(key) {
      await reach('readRun');
      return find(key)?.run;
    },

    async readSummary(key): Promise<RunSummary | undefined> {
      await reach('readSummary');
      const stored = find(key);
      if (stored?.run === undefined) return undefined;
      const { tenantId, improvementRunId, administrationId, state, createdAt, touchedAt, sweeps } =
        stored.run;
      const { tries, parkedAt } = stored;
      return {
        tenantId,
        improvementRunId,
        administrationId,
        state,
        createdAt,
        touchedAt,
        sweeps,
        tries,
        ...(parkedAt === undefined ? {} : { parkedAt }),
      };
    },

    async readProgress(key) {
      await reach('readProgress');
      const stored = find(key);
      return stored?.run === undefined
        ? undefined
        : {
            run: stored.run,
            evidence: inOrder(stored.evidence),
            orders: inOrder(stored.orders),
          };
    },

    async readEvidence(key, evidence) {
      await reach('readEvidence');
      return find(key)?.evidence.get(evidence);
    },

    async listOrders(key, { after, limit }) {
      await reach('listOrders');
      if (after !== undefined && !isKey(after)) return [];
      const orders = inOrder(find(key)?.orders ?? new Map<string, OrderRecord>());
      return orders
        .filter(({ revisionOrderId }) => after === undefined || compareBytes(revisionOrderId, after) > 0)
        .slice(0, limit);
    },

    async moveRun(key, from, to, now) {
      await reach('moveRun');
      const stored = find(key);
      const run = stored?.run;
      if (stored === undefined || run === undefined || isTerminal(run.state) || !from.includes(run.state)) {
        return false;
      }
      const ended = 'completedAt' in to ? { completedAt: Math.max(run.createdAt, to.completedAt) } : {};
      stored.run = { ...run, ...to, ...ended, touchedAt: now };
      if (to.state === 'blocked_upstream') stored.parkedAt = now;
      return true;
    },

    async beginRun(key, recorded, now) {
      await reach('beginRun');
      const stored = find(key);
      const run = stored?.run;
      if (stored === undefined || run === undefined || isTerminal(run.state)) return;
      stored.run = { ...run, touchedAt: now, sweeps: 0 };
      stored.tries = recorded > stored.recorded ? 1 : stored.tries + 1;
      stored.recorded = Math.max(stored.recorded, recorded);
    },

    async touchRun(key, by, now, seen) {
      await reach('touchRun');
      const stored = find(key);
      const run = stored?.run;
      if (stored === undefined || run === undefined || isTerminal(run.state)) return;
      if (seen !== undefined && run.touchedAt !== seen) return;
      stored.run = { ...run, touchedAt: now, sweeps: run.sweeps + (by === 'sweeper' ? 1 : 0) };
      if (by === 'worker') stored.tries = 0;
    },

    async putEvidence(key, evidence) {
      await reach('putEvidence');
      demandKey(key.tenantId, key.improvementRunId, evidence.key);
      const records = storedOf(key).evidence;
      if (!records.has(evidence.key)) records.set(evidence.key, evidence);
    },

    async openOrder(run, order, now) {
      await reach('openOrder');
      const { revisionOrderId, evidence, targetModule, lineage: lineageId } = order;
      demandKey(run.tenantId, run.improvementRunId, revisionOrderId, lineageId);
      const { orders } = storedOf(run);
      const standing = orders.get(revisionOrderId);
      if (standing !== undefined) return standing;
      const name = JSON.stringify([run.tenantId, lineageId]);
      const lineage = lineages.get(name) ?? { former: new Map<string, FormerOrder>() };
      lineages.set(name, lineage);
      const { head } = lineage;
      const place = placeInLineage(head, lineage.former.get(revisionOrderId), run, revisionOrderId);
      for (const improvementRunId of place.supersededIn) {
        const held = find({ tenantId: run.tenantId, improvementRunId })?.orders;
        const old = head === undefined ? undefined : held?.get(head.revisionOrderId);
        if (held === undefined || old === undefined) throw new Error('a holder does not hold its order');
        held.set(old.revisionOrderId, {
          ...old,
          status: 'superseded',
          updatedAt: Math.max(old.createdAt, now),
        });
      }
      if (place.head !== undefined) lineage.head = place.head;
      if (place.former !== undefined) lineage.former.set(place.former.revisionOrderId, place.former);
      const record: OrderRecord = {
        revisionOrderId,
        evidence,
        targetModule,
        lineage: lineageId,
        status: place.status,
        supersedesRevisionOrderId: place.supersedesRevisionOrderId,
        ack: null,
        createdAt: run.createdAt,
        updatedAt: Math.max(run.createdAt, now),
      };
      orders.set(revisionOrderId, record);
      return record;
    },

    async confirmOrder(key, { revisionOrderId, lineage }, now) {
      await reach('confirmOrder');
      const orders = find(key)?.orders;
      const record = orders?.get(revisionOrderId);
      const head = lineages.get(JSON.stringify([key.tenantId, lineage]))?.head;
      if (orders === undefined || record === undefined || head === undefined) return record;
      if (!isOpen(record) || !isOvertaken(head, key, revisionOrderId)) return record;
      const superseded = {
        ...record,
        status: 'superseded',
        updatedAt: Math.max(record.createdAt, now),
      } as const;
      orders.set(revisionOrderId, superseded);
      return superseded;
    },

    async moveOrder(key, revisionOrderId, to, now) {
      await reach('moveOrder');
      const orders = find(key)?.orders;
      const order = orders?.get(revisionOrderId);
      if (order === undefined) return false;
      const isLate = 'ack' in to && order.status === 'superseded' && order.ack === null;
      if (!isOpen(order) && !isLate) return false;
      orders?.set(revisionOrderId, {
        ...order,
        ...to,
        ...(isLate ? { status: 'superseded' } : {}),
        updatedAt: Math.max(order.createdAt, now),
        ...('ack' in to ? {} : { blockedAt: now }),
      });
      return true;
    },

    async *listOpen(of) {
      await reach('listOpen');
      const open = [...runs.values()].flatMap(({ run }) => (run === undefined ? [] : [run]));
      for (const { tenantId, administrationId, improvementRunId, state } of open) {
        if (isTerminal(state)) continue;
        if (of !== undefined && (of.tenantId !== tenantId || of.administrationId !== administrationId))
          continue;
        yield { tenantId, administrationId, improvementRunId };
      }
    },

    fail(error, only) {
      fault = error === undefined ? undefined : { error, only };
    },
  };
}

function nameOf({ tenantId, improvementRunId }: RunKey): string {
  return JSON.stringify([tenantId, improvementRunId]);
}

/** Whether an id can be a key: well-formed, and not longer than the shortest of DynamoDB's limits leaves room for. */
function isKey(id: string): boolean {
  return id.isWellFormed() && Buffer.byteLength(id) <= 1000;
}

function demandKey(...ids: readonly string[]): void {
  if (!ids.every(isKey)) throw new RangeError('an id that no key can hold');
}

/** The records in the order in which DynamoDB keeps their ids: of their bytes. */
function inOrder<T>(records: ReadonlyMap<string, T>): readonly T[] {
  return [...records].toSorted(([a], [b]) => compareBytes(a, b)).map(([, record]) => record);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
