import type { RunRecord } from './records.ts';

/** The most runs remembered as holders of one order: their records and what else is written with them fit into one transaction of 100. */
export const maxHolders = 90;

/** What decides which of two runs is the later one. */
type RunTime = Pick<RunRecord, 'improvementRunId' | 'createdAt'>;

/** The current order of a lineage. */
export interface LineageHead extends FormerOrder {
  /** The latest of the runs that found it. */
  readonly run: RunTime;
  /** The runs with a record of it that is not superseded, the last `maxHolders` of them. */
  readonly holders: readonly string[];
}

/** An order that was current, or was opened in parallel to the current one, and what it superseded: this never changes. */
export interface FormerOrder {
  readonly revisionOrderId: string;
  readonly supersedesRevisionOrderId: string | null;
}

/** The effect of opening an order on its lineage. */
export interface Place {
  readonly status: 'pending' | 'superseded';
  readonly supersedesRevisionOrderId: string | null;
  /** The head afterwards; undefined if the lineage does not change. */
  readonly head?: LineageHead;
  /** The order to remember, since no head names it any more. */
  readonly former?: FormerOrder;
  /** The runs whose records of the former head become `superseded`. */
  readonly supersededIn: readonly string[];
}

/**
 * Places an order in its lineage, which is all orders on the same subjects [RP-205]: the head's own id joins it; another id of a later run becomes
 * the head and supersedes it; one of an earlier run is too late and superseded at once; one of the same run is parallel to it. What an order
 * supersedes is decided when it is first opened and stays the same if it recurs: its receiver gets the same bytes under one idempotency key.
 * @param former what this order superseded, if it was current before and is not the head
 */
export function placeInLineage(
  head: LineageHead | undefined,
  former: FormerOrder | undefined,
  run: RunTime,
  revisionOrderId: string,
): Place {
  const { improvementRunId, createdAt } = run;
  const own: RunTime = { improvementRunId, createdAt };
  const opened = { revisionOrderId, run: own, holders: [improvementRunId] };
  const pending = { status: 'pending', supersededIn: [] } as const;
  const supersededBefore = former?.supersedesRevisionOrderId ?? null;
  if (head === undefined)
    return {
      ...pending,
      supersedesRevisionOrderId: null,
      head: { ...opened, supersedesRevisionOrderId: null },
    };
  if (head.revisionOrderId === revisionOrderId) {
    const { supersedesRevisionOrderId } = head;
    const holders = [...head.holders, improvementRunId].slice(-maxHolders);
    const latest = isLater(run, head.run) ? own : head.run;
    return { ...pending, supersedesRevisionOrderId, head: { ...head, run: latest, holders } };
  }
  if (improvementRunId === head.run.improvementRunId) {
    const beside = { revisionOrderId, supersedesRevisionOrderId: supersededBefore };
    return { ...pending, supersedesRevisionOrderId: supersededBefore, head, former: beside };
  }
  if (!isLater(run, head.run))
    return { status: 'superseded', supersedesRevisionOrderId: supersededBefore, supersededIn: [] };
  const supersedesRevisionOrderId = former === undefined ? head.revisionOrderId : supersededBefore;
  return {
    status: 'pending',
    supersedesRevisionOrderId,
    head: { ...opened, supersedesRevisionOrderId },
    former: {
      revisionOrderId: head.revisionOrderId,
      supersedesRevisionOrderId: head.supersedesRevisionOrderId,
    },
    supersededIn: head.holders,
  };
}

/** Returns whether an opened order must not be delivered any more: its lineage has moved on to an order of another, and so later, run. */
export function isOvertaken(
  { revisionOrderId: current, run }: LineageHead,
  { improvementRunId }: Pick<RunTime, 'improvementRunId'>,
  revisionOrderId: string,
): boolean {
  return current !== revisionOrderId && run.improvementRunId !== improvementRunId;
}

function isLater(run: RunTime, other: RunTime): boolean {
  return run.createdAt === other.createdAt
    ? run.improvementRunId > other.improvementRunId
    : run.createdAt > other.createdAt;
}
