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
 * The workflow records of improvement runs: ids, references, versions, digests, states and times, never a value that somebody else owns.
 * Times are epoch milliseconds. A schema has the members that the table stores as they are; its type adds the others.
 */

/** Immutable bytes of another owner: their id there and the SHA-256 of exactly what was read. */
const pin = z.strictObject({ ref: z.string(), sha256: z.string() });
export type Pin = Readonly<z.infer<typeof pin>>;

/** A metric as it was found when the run was pinned; its counts and values are read again from the artifact. */
const pinnedMetric = z.strictObject({
  metric: metricStatus.shape.metric,
  status: metricStatus.shape.status,
  reasonCode: metricStatus.shape.reasonCode,
  artifact: pin.nullable(),
  /** Of an available one: whether each of its rows can be judged under the pinned policy. Absent in the first form of pins. */
  judged: judgedRows.exactOptional(),
});
export type PinnedMetric = Readonly<z.infer<typeof pinnedMetric>>;

/**
 * A named source with its crosswalk, and whether Analytics is to compare its scores: null when not, `not_analyzed` when it has never analyzed
 * the administration, `missing` when it is to and has not.
 */
const pinnedSource = z.strictObject({
  sourceKey: z.string(),
  crosswalk: pin,
  comparison: z.union([pin, z.enum(['missing', 'not_analyzed']), z.null()]),
});
export type PinnedSource = Readonly<z.infer<typeof pinnedSource>>;
/** Why a source is not compared. */
export type NotCompared = Exclude<PinnedSource['comparison'], Pin>;

/** Whether there is a comparison. */
export function isCompared<T extends object>(comparison: T | NotCompared): comparison is T {
  return typeof comparison === 'object' && comparison !== null;
}

/** Everything that a run stands on, fixed when it is created. No other member is ever stored with it. */
export const runPins = z.strictObject({
  contentTestSpecId: z.string(),
  contentTestSpecVersion: z.string(),
  /** The released policy, and whose record it is: another one of the same id may be released later. */
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

/** So many sources a run can have: their pins, whatever the ids are, still fit into the one transaction that creates it. */
export const maxSources = 1000;

/** Every state of a run. */
const runState = runStatus.exclude(['unknown']);
export type ImprovementRunState = z.infer<typeof runState>;

/** Whether a run in this state has ended: it never leaves it [RP-155]. */
export function isTerminal(state: ImprovementRunState): boolean {
  return runStandings[state] !== 'open';
}

/** The states of a run that has not ended. */
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
  /** How often the sweeper has sent it on since a worker last began on it: so many messages of it may still be waiting. */
  sweeps: z.int(),
});

export const runRecord = standingRun.extend({
  /** Whom the administration was for when the run was created. Neither is there of runs that were recorded without. */
  classSourcedId: z.string().exactOptional(),
  schoolSourcedId: z.string().exactOptional(),
  /** Of terminal states only; never before `createdAt`, however the clocks differ. */
  completedAt: z.int().exactOptional(),
});
export interface RunRecord extends Readonly<z.infer<typeof runRecord>> {
  readonly pins: RunPins;
  /** Of complete runs only. */
  readonly receipt?: BundleRef;
}

/** What the sweeper judges a run by: all of it that moves, without its pins. */
export const runSummary = standingRun.extend({
  /** How many workers in a row have begun on it, and neither recorded anything nor ended as they should. */
  tries: z.int(),
  /** When it was parked as `blocked_upstream`. */
  parkedAt: z.int().exactOptional(),
});
export type RunSummary = Readonly<z.infer<typeof runSummary>>;

/**
 * Names what orders rest on: one of the run's metrics, or one of its named sources, whose alignment and comparison are evaluated together.
 * Written `metric:<metric>` or `source:<sourceKey>`.
 */
export type EvidenceKey = `metric:${RunMetric}` | `source:${string}`;
const evidenceKey = z.custom<EvidenceKey>((key) => /^(metric|source):/.test(String(key)));

/** An evidence that has been evaluated: all of its orders have records. */
export const evidenceRecord = z.object({
  key: evidenceKey,
  evaluatedAt: z.int(),
  /** Of a source: whether a comparison that was due could not be shown and judged. */
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
  /** SHA-256 hex of what the order is about, whatever its evidence says: later orders on the same supersede earlier ones. */
  lineage: z.string(),
});
export type NewOrder = Readonly<z.infer<typeof newOrder>>;

/** What a receiver acknowledged an order with. */
export interface OrderAck {
  readonly receiptId: string;
  readonly version: string;
  /** When its answer arrived here. */
  readonly observedAt: number;
}

export const orderRecord = newOrder.extend({
  status: orderStatus,
  /** The run's: an order is found in the order of its id. */
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

/** Whether an order still has to reach its receiver. */
export function isOpen({ status }: Pick<OrderRecord, 'status'>): boolean {
  return status === 'pending' || status === 'blocked_upstream';
}

/**
 * All of a run in one consistent read: the evidence is not older than the run, and the orders not older than the evidence. So every order
 * of an evidence that is there is there too, and everything of a run that has ended.
 */
export interface RunProgress {
  readonly run: RunRecord;
  readonly evidence: readonly EvidenceRecord[];
  /** Ascending by id. */
  readonly orders: readonly OrderRecord[];
}

/**
 * The table `improvement`. Every write is conditional, so that it may be repeated, come twice at once or out of order: what has been
 * recorded first stands. Every call throws when the store cannot be reached or cannot hold an id.
 */
export interface ImprovementStore {
  /** Creates a run as `queued` and lists it as open, both or neither. Returns the one that stands, if there was one of this id. */
  createRun(
    run: Omit<RunRecord, 'state' | 'touchedAt' | 'sweeps' | 'completedAt' | 'receipt'>,
  ): Promise<RunRecord>;
  readRun(key: RunKey): Promise<RunRecord | undefined>;
  /** The same without pins: a small read, however many sources the run has. */
  readSummary(key: RunKey): Promise<RunSummary | undefined>;
  readProgress(key: RunKey): Promise<RunProgress | undefined>;
  readEvidence(key: RunKey, evidence: EvidenceKey): Promise<EvidenceRecord | undefined>;
  /** Orders after an id, ascending by id. Fewer than the limit only at the end. */
  listOrders(
    key: RunKey,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly OrderRecord[]>;
  /**
   * Moves a run on: to `analyzing` when it is `queued`, to `blocked_upstream` when it is either, to a terminal state when it has not ended.
   * False when it is in another state. A move whose answer was lost may be made and answered with false: read again. A terminal state takes
   * it off the list of open runs in the same write.
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
   * A worker begins on a run of which so much is `recorded`: one more try, and the first one when more is recorded than at any try before;
   * no sweep counts any more. A run that has ended stays as it is.
   */
  beginRun(key: RunKey, recorded: number, now: number): Promise<void>;
  /**
   * A worker has left it as it should (`worker`: no try counts any more), or the sweeper has sent it on (`sweeper`, which counts). A run that
   * has ended stays as it is, and so does one that was not touched last at `seen`: the worker may have its message before the sweeper counts it.
   */
  touchRun(key: RunKey, by: 'worker' | 'sweeper', now: number, seen?: number): Promise<void>;
  /** Records an evidence as evaluated; what was recorded before stands. */
  putEvidence(key: RunKey, evidence: EvidenceRecord): Promise<void>;
  /**
   * Records an order as `pending`, unless this run has it already. It supersedes the current order of its lineage when that one has another
   * id and is of an older run: its records become `superseded` in the same write. An order of an older run than the current one's is itself
   * recorded as `superseded`, and supersedes none. A repetition, and a later run that finds the same, get the same
   * `supersedesRevisionOrderId` (`placeInLineage` has the rules).
   */
  openOrder(run: RunRecord, order: NewOrder, now: number): Promise<OrderRecord>;
  /**
   * An order as it is now, right before it is handed over: where its lineage has gone on without it, its open record becomes `superseded`
   * first, which covers the records that `openOrder` no longer remembers. Undefined when there is none.
   */
  confirmOrder(
    key: RunKey,
    order: Pick<NewOrder, 'revisionOrderId' | 'lineage'>,
    now: number,
  ): Promise<OrderRecord | undefined>;
  /**
   * Moves an order that is `pending` or `blocked_upstream`; false when it is in another state (as `moveRun`: read again). The first
   * acknowledgement of one that was superseded meanwhile is recorded too: its receiver holds it. It stays `superseded`.
   */
  moveOrder(
    key: RunKey,
    revisionOrderId: string,
    to:
      | { readonly status: 'blocked_upstream' }
      | { readonly status: 'accepted' | 'replayed' | 'rejected'; readonly ack: OrderAck },
    now: number,
  ): Promise<boolean>;
  /** The runs that have not ended: all of them, or those of one administration. */
  listOpen(of?: { readonly tenantId: string; readonly administrationId: string }): AsyncIterable<OpenRun>;
}
