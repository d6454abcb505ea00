import type { RunRecord } from './records.ts';

/** So many runs are remembered to hold one order: their records and what else is written with them fit into one transaction of 100. */
export const maxHolders = 90;

/** Says which of two runs is the later one. */
type RunTime = Pick<RunRecord, 'improvementRunId' | 'createdAt'>;

/** The current order of a lineage. */
export interface LineageHead {
  readonly revisionOrderId: string;
  readonly supersedesRevisionOrderId: string | null;
  /** The latest of the runs that have found it. */
  readonly run: RunTime;
  /** The runs with a record of it that is not superseded, the last `maxHolders` of them. */
  readonly holders: readonly string[];
}

/** An order that has been current, or was opened beside the current one, and what it superseded: the same for ever. */
export interface FormerOrder {
  readonly revisionOrderId: string;
  readonly supersedesRevisionOrderId: string | null;
}

/** What opening an order does to its lineage. */
export interface Place {
  readonly status: 'pending' | 'superseded';
  readonly supersedesRevisionOrderId: string | null;
  /** The head afterwards; undefined when nothing of the lineage changes. */
  readonly head?: LineageHead;
  /** To be remembered, since no head names it any more. */
  readonly former?: FormerOrder;
  /** The runs whose records of the former head become `superseded`. */
  readonly supersededIn: readonly string[];
}

/**
 * Where an order stands in its lineage, all orders on the same thing [RP-205]:
 * the head's own id joins it; another id of a later run becomes the head and supersedes it; one of an earlier run comes too late and is
 * superseded at once; one of the same run stands beside it. What an order supersedes is settled when it is first opened and is the same
 * whenever it comes back: its receiver is sent the same bytes under one idempotency key.
 * @param former what this order superseded, if it has been current before and is not the head
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

/**
 * Whether an order that a run has opened is no longer to be delivered: its lineage has gone on to another one, of another run, which can only
 * be a later one.
 */
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
