import * as z from 'zod';
import { analysisPolicy, targetModule } from '#shared/contract/reports/analysis-policy.ts';
import {
  judgedRows,
  metricStatus,
  runStandings,
  runStatus,
} from '#shared/contract/reports/improvement-run.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { receiptLink } from '#shared/contract/reports/receipt-link.ts';
import { orderStatus } from '#shared/contract/reports/revision-order.ts';

/*
 * The workflow records of improvement runs: ids, references, versions, digests, states and times, never a value of another owner. Times are epoch
 * milliseconds. A schema has the members that the table stores unchanged; its type adds the others.
 */

/** Immutable bytes of another owner: their id there and the SHA-256 of exactly the bytes read. */
const pin = z.strictObject({ ref: z.string(), sha256: z.string() });
export type Pin = Readonly<z.infer<typeof pin>>;

/** A metric as it was found when the run was pinned; its counts and values are read again from the artifact. */
const pinnedMetric = z.strictObject({
  metric: metricStatus.shape.metric,
  status: metricStatus.shape.status,
  reasonCode: metricStatus.shape.reasonCode,
  artifact: pin.nullable(),
  /** For an available metric: whether each of its rows can be judged under the pinned policy. Absent in the first form of pins. */
  judged: judgedRows.exactOptional(),
});
export type PinnedMetric = Readonly<z.infer<typeof pinnedMetric>>;

/**
 * A named source with its crosswalk, and whether Analytics has to compare its scores: null if not, `not_analyzed` if it has never analyzed the
 * administration, `missing` if it has to and has not.
 */
const pinnedSource = z.strictObject({
  sourceKey: z.string(),
  crosswalk: pin,
  comparison: z.union([pin, z.enum(['missing', 'not_analyzed']), z.null()]),
});
export type PinnedSource = Readonly<z.infer<typeof pinnedSource>>;
/** Why a source is not compared. */
export type NotCompared = Exclude<PinnedSource['comparison'], Pin>;

export function isCompared<T extends object>(comparison: T | NotCompared): comparison is T {
  return typeof comparison === 'object' && comparison !== null;
}

/** Everything that a run is based on, fixed when it is created. No other member is ever stored with it. */
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
  /** The form of the pins and the rules by which their run is judged (docs/improvement-runs.md). Absent in the first form, which no deployed stage has written. */
  rules: z.enum(['2', '3']).exactOptional(),
  /** Content’s list of named sources. */
  sourceSet: pin,
  /** In the order of `runMetrics`. */
  metrics: z.array(pinnedMetric).readonly(),
  /** In the order of Content’s list; at most `maxSources`. */
  sources: z.array(pinnedSource).readonly(),
});
export type RunPins = Readonly<z.infer<typeof runPins>>;

/** The most sources of a run: their pins, with ids of any length, still fit into the one transaction that creates it. */
export const maxSources = 1000;

/** Every state of a run. */
const runState = runStatus.exclude(['unknown']);
export type ImprovementRunState = z.infer<typeof runState>;

/** Returns whether a run in this state has ended: it never leaves it [RP-155]. */
export function isTerminal(state: ImprovementRunState): boolean {
  return runStandings[state] !== 'open';
}

export const openStates = runState.options.filter((state) => !isTerminal(state));

/** An immutable bundle in the bucket of receipts. */
export const bundleRef = receiptLink.pick({ sha256: true, mediaType: true });
export type BundleRef = z.infer<typeof bundleRef>;

/** A run that has not ended, as the list of open runs shows it. */
export const openRun = z.object({
  tenantId: z.string(),
  improvementRunId: z.string(),
  administrationId: z.string(),
});
export type OpenRun = Readonly<z.infer<typeof openRun>>;
export type RunKey = Omit<OpenRun, 'administrationId'>;

const standingRun = openRun.extend({
  state: runState,
  createdAt: z.int(),
  /** When a worker or the sweeper last touched or moved it. */
  touchedAt: z.int(),
  /** How often the sweeper has sent it on since a worker last began it: as many messages of it may still be waiting. */
  sweeps: z.int(),
});

export const runRecord = standingRun.extend({
  /** The class or school of the administration when the run was created. Runs recorded without have neither. */
  classSourcedId: z.string().exactOptional(),
  schoolSourcedId: z.string().exactOptional(),
  /** Only in terminal states; never before `createdAt`, however the clocks differ. */
  completedAt: z.int().exactOptional(),
});
export interface RunRecord extends Readonly<z.infer<typeof runRecord>> {
  readonly pins: RunPins;
  /** Only for complete runs. */
  readonly receipt?: BundleRef;
}

/** The members by which the sweeper judges a run: all that change, without its pins. */
export const runSummary = standingRun.extend({
  /** How many workers in a row have begun it without recording anything or ending properly. */
  tries: z.int(),
  /** When it was parked as `blocked_upstream`. */
  parkedAt: z.int().exactOptional(),
});
export type RunSummary = Readonly<z.infer<typeof runSummary>>;

/**
 * Names the basis of orders: one of the run's metrics, or one of its named sources, whose alignment and comparison are evaluated together. Written
 * `metric:<metric>` or `source:<sourceKey>`.
 */
export type EvidenceKey = `metric:${RunMetric}` | `source:${string}`;
const evidenceKey = z.custom<EvidenceKey>((key) => /^(metric|source):/.test(String(key)));

/** A piece of evidence that has been evaluated: all of its orders have records. */
export const evidenceRecord = z.object({
  key: evidenceKey,
  evaluatedAt: z.int(),
  /** For a source: whether a comparison that was due could not be shown and judged. */
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
  /** SHA-256 hex of the order's subjects and kind, independent of the evidence: later orders on the same supersede earlier ones. */
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
  /** The time of the run: orders are sorted by id. */
  createdAt: z.int(),
  /** Never before `createdAt`, however the clocks differ [RP-206]. */
  updatedAt: z.int(),
  /** When its receiver was last found missing. */
  blockedAt: z.int().exactOptional(),
});
export interface OrderRecord extends Readonly<z.infer<typeof orderRecord>> {
  readonly supersedesRevisionOrderId: string | null;
  readonly ack: OrderAck | null;
}

/** Returns whether an order still has to reach its receiver. */
export function isOpen({ status }: Pick<OrderRecord, 'status'>): boolean {
  return status === 'pending' || status === 'blocked_upstream';
}

/**
 * A whole run in one consistent read: the evidence is not older than the run, and the orders not older than the evidence. So every order of recorded
 * evidence is included, and everything of a run that has ended.
 */
export interface RunProgress {
  readonly run: RunRecord;
  readonly evidence: readonly EvidenceRecord[];
  /** Ascending by id. */
  readonly orders: readonly OrderRecord[];
}

/**
 * The table `improvement`. Every write is conditional, so that it may be repeated, concurrent or out of order: the first record stays. Every call
 * throws if the store cannot be reached or cannot store an id.
 */
export interface ImprovementStore {
  /** Creates a run as `queued` and lists it as open, both or neither. Returns the existing one, if there was one of this id. */
  createRun(
    run: Omit<RunRecord, 'state' | 'touchedAt' | 'sweeps' | 'completedAt' | 'receipt'>,
  ): Promise<RunRecord>;
  readRun(key: RunKey): Promise<RunRecord | undefined>;
  /** Reads the run without pins: a small read, however many sources the run has. */
  readSummary(key: RunKey): Promise<RunSummary | undefined>;
  readProgress(key: RunKey): Promise<RunProgress | undefined>;
  readEvidence(key: RunKey, evidence: EvidenceKey): Promise<EvidenceRecord | undefined>;
  /** Lists orders after an id, ascending by id. Returns fewer than the limit only at the end. */
  listOrders(
    key: RunKey,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly OrderRecord[]>;
  /**
   * Moves a run on: to `analyzing` when it is `queued`, to `blocked_upstream` when it is either, to a terminal state when it has not ended. Returns
   * false in any other state. If the response to a move was lost, the move may have been made although a repetition returns false: read again. A
   * terminal state removes the run from the list of open runs in the same write.
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
   * Records that a worker begins a run of which so much is `recorded`: one more try, or the first one if more is recorded than at any try before;
   * resets `sweeps`. A run that has ended does not change.
   */
  beginRun(key: RunKey, recorded: number, now: number): Promise<void>;
  /**
   * Records that a worker ended properly (`worker`: resets `tries`), or that the sweeper has sent the run on (`sweeper`, which counts). A run that
   * has ended does not change, nor one last touched at another time than `seen`: the worker may have its message before the sweeper counts it.
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
   * Returns an order as it is now, right before delivery. If its lineage has moved on, its open record first becomes `superseded`; this covers the
   * records that `openOrder` no longer remembers. Undefined if there is none.
   */
  confirmOrder(
    key: RunKey,
    order: Pick<NewOrder, 'revisionOrderId' | 'lineage'>,
    now: number,
  ): Promise<OrderRecord | undefined>;
  /**
   * Moves an order that is `pending` or `blocked_upstream`; returns false in any other state (as `moveRun`: read again). The first acknowledgement of
   * an order that was superseded meanwhile is recorded too, since its receiver has it; it stays `superseded`.
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
