import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import { improvementRunStates, runPins } from '#shared/improvement/records.ts';
import type {
  BundleRef,
  EvidenceKey,
  EvidenceRecord,
  OpenRun,
  OrderAck,
  OrderRecord,
  RunKey,
  RunRecord,
  RunSummary,
} from '#shared/improvement/records.ts';
import { bytes, flag, integer, itemKey, text, textOf, texts } from './dynamo.ts';
import type { Item, ItemKey } from './dynamo.ts';

/*
 * The items of the table `improvement` and their keys. Nothing else is stored in it; every function that reads an item throws when this
 * file did not write it.
 */

/** DynamoDB's limit of an item is 400 KB (409,600 bytes), names and keys included. */
const PART_BYTES = 375_000;
/** More than the pins of `maxSources` sources can take; stops a damaged part from unpacking without end. */
const MAX_PINS_BYTES = 16 * 1024 * 1024;

// In the order in which a run is read: what comes later is never older (RunProgress).
const RUN = '0-run';
const PINS = '1-pins#';
const EVIDENCE = '2-evidence#';
const ORDER = '3-order#';

/** The partition of the list of open runs. */
export const openPartition = 'open';

/** The tenant is percent-encoded, so that no tenant and id together spell another tenant's key. */
function partition(kind: 'run' | 'lineage', tenantId: string, id: string): string {
  return `${kind}#${encodeURIComponent(tenantId)}#${id}`;
}

/** A text behind its length: no other text's form begins like it. Shorter than percent-encoding, for three ids must fit into one key. */
function counted(id: string): string {
  return `${id.length}:${id}`;
}

export function runPartition({ tenantId, improvementRunId }: RunKey): string {
  return partition('run', tenantId, improvementRunId);
}

export function runKey(run: RunKey): ItemKey {
  return itemKey(runPartition(run), RUN);
}

export function evidenceKey(run: RunKey, key: string): ItemKey {
  return itemKey(runPartition(run), `${EVIDENCE}${key}`);
}

export function orderKey(run: RunKey, revisionOrderId: string): ItemKey {
  return itemKey(runPartition(run), `${ORDER}${revisionOrderId}`);
}

/** What the sort keys of one administration's open runs begin with, and of no other one's. */
export function openPrefix({ tenantId, administrationId }: Omit<OpenRun, 'improvementRunId'>): string {
  return `${counted(tenantId)}${counted(administrationId)}`;
}

export function openKey(run: OpenRun): ItemKey {
  return itemKey(openPartition, `${openPrefix(run)}${run.improvementRunId}`);
}

export function headKey(tenantId: string, lineage: string): ItemKey {
  return itemKey(partition('lineage', tenantId, lineage), 'head');
}

export function formerKey(tenantId: string, lineage: string, revisionOrderId: string): ItemKey {
  return itemKey(partition('lineage', tenantId, lineage), `former#${revisionOrderId}`);
}

/** The end of a prefix's sort keys: `$` is the character after `#`, and no key has it there. */
function endOf(prefix: string): string {
  return prefix.replace('#', '$');
}

/** The sort keys of a run's items: the run with its pins, or all of them. */
export const runOnly = { from: RUN, to: endOf(PINS) };
export const wholeRun = { from: RUN, to: endOf(ORDER) };

/** The sort keys of the orders after an id. */
export function ordersAfter(id: string | undefined): { from: string; to: string } {
  const from = id === undefined ? ORDER : `${ORDER}${id}\u0000`;
  return { from, to: endOf(ORDER) };
}

// The columns of each kind of item, without its key.

const openColumns = z.object({ tenantId: text, improvementRunId: text, administrationId: text });

const standingColumns = openColumns.extend({
  state: textOf(z.enum(improvementRunStates)),
  createdAt: integer,
  touchedAt: integer,
  sweeps: integer,
});

const summaryColumns = standingColumns.extend({ tries: integer, parkedAt: integer.exactOptional() });

const runColumns = standingColumns.extend({
  classSourcedId: text.exactOptional(),
  schoolSourcedId: text.exactOptional(),
  pinsParts: integer,
  completedAt: integer.exactOptional(),
});

/** What only `RunSummary` and the table's conditions know of a run. */
const newRunColumns = runColumns.extend({ tries: integer, recorded: integer });

const pinsColumns = z.object({ pins: bytes });

const bundleColumns = z.object({
  receiptSha256: text,
  receiptMediaType: textOf(z.enum(['application/zip', 'application/json'])),
});

const evidenceName = textOf(z.custom<EvidenceKey>((name) => /^(metric|source):/.test(String(name))));

const evidenceColumns = z.object({
  key: evidenceName,
  evaluatedAt: integer,
  comparisonOmitted: flag.exactOptional(),
});

const formerColumns = z.object({ revisionOrderId: text, supersedes: text.exactOptional() });

const orderColumns = formerColumns.extend({
  evidence: evidenceName,
  targetModule: textOf(z.enum(['bank', 'blueprint'])),
  lineage: text,
  status: textOf(z.enum(['pending', 'accepted', 'replayed', 'blocked_upstream', 'rejected', 'superseded'])),
  createdAt: integer,
  updatedAt: integer,
  blockedAt: integer.exactOptional(),
});

const ackColumns = z.object({ receiptId: text, receiptVersion: text, observedAt: integer });

const headColumns = formerColumns.extend({
  improvementRunId: text,
  runCreatedAt: integer,
  holders: texts,
  version: integer,
});

/** The items of a new run: its state, which moves, and its pins, which never do, in parts that fit into an item. */
export function runItems(run: RunRecord): readonly Item[] {
  const packed = gzipSync(JSON.stringify(runPins.parse(run.pins)), { level: 9 });
  const pins = Array.from({ length: Math.ceil(packed.byteLength / PART_BYTES) }, (_, index) => ({
    ...itemKey(runPartition(run), `${PINS}${String(index).padStart(2, '0')}`),
    ...pinsColumns.encode({ pins: packed.subarray(index * PART_BYTES, (index + 1) * PART_BYTES) }),
  }));
  const columns = newRunColumns.encode({ ...run, tries: 0, recorded: 0, pinsParts: pins.length });
  return [{ ...runKey(run), ...columns }, ...pins];
}

/** The run among items in the order of their keys; undefined when there is none. */
export function runOf(items: readonly Item[]): RunRecord | undefined {
  const item = items.find((candidate) => partOfRun(candidate) === 'run');
  if (item === undefined) return undefined;
  const { pinsParts, completedAt, ...run } = runColumns.parse(item);
  const parts = items.filter((candidate) => partOfRun(candidate) === 'pins');
  if (parts.length !== pinsParts) throw new TypeError('improvement table: pins are missing');
  const packed = Buffer.concat(parts.map((part) => pinsColumns.parse(part).pins));
  const pins = gunzipSync(packed, { maxOutputLength: MAX_PINS_BYTES }).toString('utf8');
  return {
    ...run,
    pins: runPins.parse(JSON.parse(pins)),
    ...(completedAt === undefined ? {} : { completedAt: Math.max(run.createdAt, completedAt) }),
    ...receiptOf(item),
  };
}

/** What the sweeper judges a run by, of its first item alone. */
export function summaryOf(item: Item): RunSummary {
  return summaryColumns.parse(item);
}

/** Which part of a run an item is; undefined for items of other partitions. */
export function partOfRun(item: Item): 'run' | 'pins' | 'evidence' | 'order' | undefined {
  const key = item['sk']?.S ?? '';
  if (key === RUN) return 'run';
  if (key.startsWith(PINS)) return 'pins';
  if (key.startsWith(EVIDENCE)) return 'evidence';
  return key.startsWith(ORDER) ? 'order' : undefined;
}

/** Whether an item of a run or of a lineage can be read as what its key names. Pins are only readable together: `runOf` reads them. */
export function isReadable(item: Item): boolean {
  const key = item['sk']?.S ?? '';
  try {
    switch (partOfRun(item)) {
      case 'run':
        return item['pk']?.S === runPartition(summaryOf(item));
      case 'pins':
        return pinsColumns.parse(item).pins.byteLength > 0;
      case 'evidence':
        return key === `${EVIDENCE}${evidenceOf(item).key}`;
      case 'order':
        return key === `${ORDER}${orderOf(item).revisionOrderId}`;
      default:
        return key === 'head'
          ? headOf(item).version >= 0
          : key === `former#${formerOf(item).revisionOrderId}`;
    }
  } catch {
    return false;
  }
}

export function evidenceAmong(items: readonly Item[]): readonly EvidenceRecord[] {
  return items.filter((item) => partOfRun(item) === 'evidence').map(evidenceOf);
}

export function ordersAmong(items: readonly Item[]): readonly OrderRecord[] {
  return items.filter((item) => partOfRun(item) === 'order').map(orderOf);
}

/** The entry of a run in the list of open runs. */
export function openItem(run: OpenRun): Item {
  return { ...openKey(run), ...openColumns.encode(run) };
}

export function openRunOf(item: Item): OpenRun {
  return openColumns.parse(item);
}

export function evidenceItem(run: RunKey, evidence: EvidenceRecord): Item {
  const { receipt } = evidence;
  return {
    ...evidenceKey(run, evidence.key),
    ...evidenceColumns.encode(evidence),
    ...(receipt === undefined ? {} : receiptColumns(receipt)),
  };
}

export function evidenceOf(item: Item): EvidenceRecord {
  return { ...evidenceColumns.parse(item), ...receiptOf(item) };
}

/** An order as it is first recorded: without acknowledgement. */
export function orderItem(run: RunKey, order: OrderRecord): Item {
  return { ...orderKey(run, order.revisionOrderId), ...orderColumns.encode(withSupersedes(order)) };
}

export function orderOf(item: Item): OrderRecord {
  const { supersedes = null, ...order } = orderColumns.parse(item);
  return {
    ...order,
    updatedAt: Math.max(order.createdAt, order.updatedAt),
    supersedesRevisionOrderId: supersedes,
    ack: item['receiptId'] === undefined ? null : ackOf(item),
  };
}

export function ackColumnsOf({ version: receiptVersion, ...ack }: OrderAck): Item {
  return ackColumns.encode({ ...ack, receiptVersion });
}

function ackOf(item: Item): OrderAck {
  const { receiptVersion: version, ...ack } = ackColumns.parse(item);
  return { ...ack, version };
}

/** A lineage's head with the number of its changes, by which a writer knows that it is still the one it read. */
export interface VersionedHead {
  readonly head: LineageHead;
  readonly version: number;
}

export function headItem(tenantId: string, lineage: string, { head, version }: VersionedHead): Item {
  const { improvementRunId, createdAt: runCreatedAt } = head.run;
  const columns = { improvementRunId, runCreatedAt, holders: [...head.holders], version };
  return { ...headKey(tenantId, lineage), ...headColumns.encode({ ...withSupersedes(head), ...columns }) };
}

export function headOf(item: Item): VersionedHead {
  const { improvementRunId, runCreatedAt: createdAt, holders, version } = headColumns.parse(item);
  return { head: { ...formerOf(item), run: { improvementRunId, createdAt }, holders }, version };
}

export function formerItem(tenantId: string, lineage: string, former: FormerOrder): Item {
  const key = formerKey(tenantId, lineage, former.revisionOrderId);
  return { ...key, ...formerColumns.encode(withSupersedes(former)) };
}

export function formerOf(item: Item): FormerOrder {
  const { revisionOrderId, supersedes = null } = formerColumns.parse(item);
  return { revisionOrderId, supersedesRevisionOrderId: supersedes };
}

/** An order that supersedes none has no column of it. */
function withSupersedes<T extends FormerOrder>(order: T): T & { readonly supersedes?: string } {
  const { supersedesRevisionOrderId: supersedes } = order;
  return { ...order, ...(supersedes === null ? {} : { supersedes }) };
}

export function receiptColumns({ sha256, mediaType }: BundleRef): Item {
  return bundleColumns.encode({ receiptSha256: sha256, receiptMediaType: mediaType });
}

function receiptOf(item: Item): { readonly receipt?: BundleRef } {
  if (item['receiptSha256'] === undefined) return {};
  const { receiptSha256: sha256, receiptMediaType: mediaType } = bundleColumns.parse(item);
  return { receipt: { sha256, mediaType } };
}
