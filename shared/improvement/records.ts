import * as z from 'zod';
import { analysisPolicy, targetModule } from '#shared/contract/reports/analysis-policy.ts';
import {
  evaluableRows,
  metricStatus,
  runPhases,
  runStatus,
} from '#shared/contract/reports/improvement-run.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { receiptLink } from '#shared/contract/reports/receipt-link.ts';
import { orderStatus } from '#shared/contract/reports/revision-order.ts';

/*
 * The records of improvement runs. They contain ids, references, versions, digests, states and times, but no value of another owner. Times are epoch
 * milliseconds. Each schema contains the members that the table stores as they are; the type adds those that it stores in another form.
 */

/** A reference to immutable bytes of another owner: their id there, and the SHA-256 of the bytes that were read. */
const pinnedRef = z.strictObject({ ref: z.string(), sha256: z.string() });
export type PinnedRef = Readonly<z.infer<typeof pinnedRef>>;

/** The state of a metric when the run was created. Its counts and values are not stored: they are read again from the artifact. */
const pinnedMetric = z.strictObject({
  metric: metricStatus.shape.metric,
  status: metricStatus.shape.status,
  reasonCode: metricStatus.shape.reasonCode,
  artifact: pinnedRef.nullable(),
  /** For an available metric: whether the pinned policy's triggers can judge all of its rows or only some. Absent in the first form of pins. */
  judged: evaluableRows.exactOptional(),
});
export type PinnedMetric = Readonly<z.infer<typeof pinnedMetric>>;

/**
 * A named source, its crosswalk, and its comparison by Analytics: a pin if there is one, null if none is due, `not_analyzed` if Analytics has never
 * analyzed the administration, `missing` if one is due and absent, or the analysis is stale.
 */
const pinnedSource = z.strictObject({
  sourceKey: z.string(),
  crosswalk: pinnedRef,
  comparison: z.union([pinnedRef, z.enum(['missing', 'not_analyzed']), z.null()]),
});
export type PinnedSource = Readonly<z.infer<typeof pinnedSource>>;
/** Why there is no comparison of a source. */
export type NoComparison = Exclude<PinnedSource['comparison'], PinnedRef>;

export function isCompared<T extends object>(comparison: T | NoComparison): comparison is T {
  return typeof comparison === 'object' && comparison !== null;
}

/** The inputs of a run, fixed at its creation. The schema refuses any other member. */
export const runPins = z.strictObject({
  contentTestSpecId: z.string(),
  contentTestSpecVersion: z.string(),
  /** The released policy, and the tenant of its record: another policy with the same id may be released later. */
  analysisPolicy: z.strictObject({
    owner: analysisPolicy.shape.visibility,
    id: z.string(),
    version: z.string(),
    checksum: z.string(),
  }),
  formulaVersion: z.string(),
  /** The version of the pins' form and of the rules that judge the run (docs/improvement-runs.md). Absent in the first form, which no deployed stage has written. */
  rules: z.enum(['2', '3']).exactOptional(),
  /** Content’s list of named sources. */
  sourceSet: pinnedRef,
  /** In the order of `runMetrics`. */
  metrics: z.array(pinnedMetric).readonly(),
  /** In the order of Content’s list; at most `maxSources`. */
  sources: z.array(pinnedSource).readonly(),
});
export type RunPins = Readonly<z.infer<typeof runPins>>;

/** The most sources of a run: their pins, with ids of maximum length, fit into the transaction that creates the run. */
export const maxSources = 1000;

/** The states of a run; `unknown` exists only for clients of the API. */
const runState = runStatus.exclude(['unknown']);
export type ImprovementRunState = z.infer<typeof runState>;

/** Returns whether the state is terminal. A run never leaves a terminal state [RP-155]. */
export function isTerminal(state: ImprovementRunState): boolean {
  return runPhases[state] !== 'open';
}

export const openStates = runState.options.filter((state) => !isTerminal(state));

/** A reference to an immutable bundle in the receipts bucket. */
export const bundleRef = receiptLink.pick({ sha256: true, mediaType: true });
export type BundleRef = z.infer<typeof bundleRef>;

/** An entry in the list of open runs. */
export const openRun = z.object({
  tenantId: z.string(),
  improvementRunId: z.string(),
  administrationId: z.string(),
});
export type OpenRun = Readonly<z.infer<typeof openRun>>;
export type RunKey = Omit<OpenRun, 'administrationId'>;

const runBase = openRun.extend({
  state: runState,
  createdAt: z.int(),
  /** When a worker or the sweeper last updated the run. */
  touchedAt: z.int(),
  /** How often the sweeper has queued the run since a worker last began it. Up to this many messages of the run may still be in the queue. */
  sweeps: z.int(),
});

export const runRecord = runBase.extend({
  /** The class or school of the administration when the run was created. Both are absent from runs that were recorded without them. */
  classSourcedId: z.string().exactOptional(),
  schoolSourcedId: z.string().exactOptional(),
  /** Present only in terminal states; never before `createdAt`, even if clocks differ. */
  completedAt: z.int().exactOptional(),
});
export interface RunRecord extends Readonly<z.infer<typeof runRecord>> {
  readonly pins: RunPins;
  /** Only for complete runs. */
  readonly receipt?: BundleRef;
}

/** The members of a run that can change, without its pins. The sweeper decides by them. */
export const runSummary = runBase.extend({
  /** How many consecutive workers began the run but neither recorded anything nor ended properly. */
  tries: z.int(),
  /** When the run last moved to `blocked_upstream`. */
  parkedAt: z.int().exactOptional(),
});
export type RunSummary = Readonly<z.infer<typeof runSummary>>;

/**
 * Names the evidence of orders: one metric of the run, or one named source, whose alignment and comparison are evaluated together. Written
 * `metric:<metric>` or `source:<sourceKey>`.
 */
export type EvidenceKey = `metric:${RunMetric}` | `source:${string}`;
const evidenceKey = z.custom<EvidenceKey>((key) => /^(metric|source):/.test(String(key)));

/** Evidence that has been evaluated. All of its orders are recorded. */
export const evidenceRecord = z.object({
  key: evidenceKey,
  evaluatedAt: z.int(),
  /** For a source: whether a comparison was due but could not be shown or judged. */
  comparisonOmitted: z.boolean().exactOptional(),
});
export interface EvidenceRecord extends Readonly<z.infer<typeof evidenceRecord>> {
  /** The bundle of a source. */
  readonly receipt?: BundleRef;
}

/** An order as it is first recorded. */
const newOrder = z.object({
  revisionOrderId: z.string(),
  evidence: evidenceKey,
  targetModule,
  /** SHA-256 hex of the order's subjects and kind, independent of the evidence. A later order with the same lineage supersedes an earlier one. */
  lineage: z.string(),
});
export type NewOrder = Readonly<z.infer<typeof newOrder>>;

/** A receiver's acknowledgement of an order. */
export interface OrderAck {
  readonly receiptId: string;
  readonly version: string;
  /** When its response arrived. */
  readonly observedAt: number;
}

export const orderRecord = newOrder.extend({
  status: orderStatus,
  /** The creation time of the run. Orders are sorted by id, not by time. */
  createdAt: z.int(),
  /** Never before `createdAt`, even if clocks differ [RP-206]. */
  updatedAt: z.int(),
  /** When delivery last failed because the receiver was missing. */
  blockedAt: z.int().exactOptional(),
});
export interface OrderRecord extends Readonly<z.infer<typeof orderRecord>> {
  readonly supersedesRevisionOrderId: string | null;
  readonly ack: OrderAck | null;
}

/** Returns whether an order has not been delivered yet. */
export function isUndelivered({ status }: Pick<OrderRecord, 'status'>): boolean {
  return status === 'pending' || status === 'blocked_upstream';
}

/**
 * A run with its evidence and orders, read in this order, so each is at least as recent as the one before. It contains every order of the recorded
 * evidence, and is complete if the run has ended.
 */
export interface RunProgress {
  readonly run: RunRecord;
  readonly evidence: readonly EvidenceRecord[];
  /** Ascending by id. */
  readonly orders: readonly OrderRecord[];
}

/**
 * The table `improvement`. Every write is conditional: it may be repeated, concurrent or out of order, and the first record is kept. Every call
 * throws if the store cannot be reached or cannot store an id.
 */
export interface ImprovementStore {
  /** Creates a run as `queued` and lists it as open in one transaction. Returns the existing run with this id, if there is one. */
  createRun(
    run: Omit<RunRecord, 'state' | 'touchedAt' | 'sweeps' | 'completedAt' | 'receipt'>,
  ): Promise<RunRecord>;
  readRun(key: RunKey): Promise<RunRecord | undefined>;
  /** Reads the run without its pins: a small read for any number of sources. */
  readSummary(key: RunKey): Promise<RunSummary | undefined>;
  readProgress(key: RunKey): Promise<RunProgress | undefined>;
  readEvidence(key: RunKey, evidence: EvidenceKey): Promise<EvidenceRecord | undefined>;
  /** Lists orders after an id, ascending by id. Returns fewer than the limit only on the last page. */
  listOrders(
    key: RunKey,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly OrderRecord[]>;
  /**
   * Changes the state of a run: from `queued` to `analyzing`, from either to `blocked_upstream`, from any open state to a terminal one, which
   * removes the run from the list of open runs in the same write. Returns false in any other state, and also if an earlier call made the move but
   * its response was lost: read the run again.
   */
  moveRun(
    key: RunKey,
    to:
      | { readonly state: 'analyzing' | 'blocked_upstream' }
      | {
          readonly state: 'completed' | 'completed_with_omissions';
          readonly completedAt: number;
          readonly receipt: BundleRef;
        }
      | { readonly state: 'failed'; readonly completedAt: number },
    now: number,
  ): Promise<boolean>;
  /**
   * Records that a worker begins a run: sets `tries` to 1 if more is `recorded` than at every earlier try, else adds 1; resets `sweeps`. A run that
   * has ended does not change.
   */
  beginRun(key: RunKey, recorded: number, now: number): Promise<void>;
  /**
   * Records that a worker ended properly (`worker`: resets `tries`), or that the sweeper has queued the run (`sweeper`: adds 1 to `sweeps`). A run
   * that has ended does not change, nor one whose `touchedAt` differs from `seen`: a worker may have the message before the sweeper counts it.
   */
  touchRun(key: RunKey, by: 'worker' | 'sweeper', now: number, seen?: number): Promise<void>;
  /** Records evidence as evaluated; an earlier record stays. */
  putEvidence(key: RunKey, evidence: EvidenceRecord): Promise<void>;
  /**
   * Records an order as `pending`, unless this run has it already. It supersedes the current order of its lineage if that has another id and is of an
   * older run: its records become `superseded` in the same write. An order of an older run than the current one's is itself recorded as `superseded`,
   * and supersedes none. A repetition, and a later run with that finding, get the same `supersedesRevisionOrderId` (`placeInLineage` has the rules).
   */
  openOrder(run: RunRecord, order: NewOrder, now: number): Promise<OrderRecord>;
  /**
   * Returns the current record of an order, right before delivery; undefined if there is none. If an order of another run is now the current one of
   * its lineage, an undelivered record first becomes `superseded`, even one that `openOrder` no longer remembers.
   */
  confirmOrder(
    key: RunKey,
    order: Pick<NewOrder, 'revisionOrderId' | 'lineage'>,
    now: number,
  ): Promise<OrderRecord | undefined>;
  /**
   * Moves an order that is `pending` or `blocked_upstream`; returns false in any other state: read it again, as with `moveRun`. If the order was
   * superseded in the meantime, its first acknowledgement is still recorded, since its receiver has it; it stays `superseded`.
   */
  moveOrder(
    key: RunKey,
    revisionOrderId: string,
    to:
      | { readonly status: 'blocked_upstream' }
      | { readonly status: 'accepted' | 'replayed' | 'rejected'; readonly ack: OrderAck },
    now: number,
  ): Promise<boolean>;
  /** Lists the runs that have not ended: all of them, or those of one administration. */
  listOpen(of?: { readonly tenantId: string; readonly administrationId: string }): AsyncIterable<OpenRun>;
}
