import { isUsable, type ControlRecord, type ControlTable } from '#shared/idempotency/control-record.ts';

/** A control table in memory: the same promises as the one in DynamoDB (one suite holds both to them). */
export interface MemoryControlTable extends ControlTable {
  /** Everything that is stored, expired records included. */
  records(): readonly ControlRecord[];
  /** From now on (or for this operation only) every call fails as an unreachable table does; undefined ends it. */
  fail(error: Error | undefined, only?: keyof ControlTable): void;
}

/** `pause` stands for the network: it runs before each call takes effect, so that a test can interleave calls. */
export function createMemoryControlTable(
  pause: () => Promise<void> = () => Promise.resolve(),
): MemoryControlTable {
  const stored = new Map<string, ControlRecord>();
  let fault: { error: Error; only: keyof ControlTable | undefined } | undefined;

  async function reach(operation: keyof ControlTable): Promise<void> {
    await pause();
    if (fault !== undefined && (fault.only ?? operation) === operation) throw fault.error;
  }

  function usable(id: string, now: number): ControlRecord | undefined {
    const record = stored.get(id);
    return record !== undefined && isUsable(record, now) ? record : undefined;
  }

  function stillStarted(seen: ControlRecord, now: number): ControlRecord | undefined {
    const record = usable(seen.id, now);
    return record?.state === 'started' && record.hash === seen.hash && record.createdAt === seen.createdAt
      ? record
      : undefined;
  }

  return {
    async read(id, now) {
      await reach('read');
      return usable(id, now);
    },
    async create(record, now) {
      await reach('create');
      const standing = usable(record.id, now);
      if (standing === undefined) stored.set(record.id, record);
      return standing;
    },
    async takeOver(seen, lease, now) {
      await reach('takeOver');
      const record = stillStarted(seen, now);
      if (record?.attemptId !== seen.attemptId) return false;
      stored.set(record.id, { ...record, ...lease });
      return true;
    },
    async renew(seen, leaseUntil, now) {
      await reach('renew');
      const record = stillStarted(seen, now);
      if (record?.attemptId !== seen.attemptId || record.leaseUntil === 0) return false;
      stored.set(record.id, { ...record, leaseUntil });
      return true;
    },
    async settle(seen, final, now) {
      await reach('settle');
      const record = stillStarted(seen, now);
      if (record === undefined) return false;
      stored.set(record.id, { ...record, ...final, leaseUntil: 0 });
      return true;
    },
    async release(seen, now) {
      await reach('release');
      const record = stillStarted(seen, now);
      if (record?.attemptId !== seen.attemptId) return false;
      stored.set(record.id, { ...record, leaseUntil: 0 });
      return true;
    },
    records: () => [...stored.values()],
    fail(error, only) {
      fault = error === undefined ? undefined : { error, only };
    },
  };
}
