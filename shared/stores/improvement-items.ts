import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import * as records from '#shared/improvement/records.ts';
import { bytes, type Item, type ItemKey } from './dynamo.ts';

/* The items of the table `improvement` and their keys. It stores nothing else; a function that reads an item throws if this file did not write it. */

/** DynamoDB's limit of an item is 400 KB (409,600 bytes), names and keys included. */
const PART_BYTES = 375_000;
/** More than the pins of `maxSources` sources can take; limits the unpacking of a damaged part. */
const MAX_PINS_BYTES = 16 * 1024 * 1024;

/** The prefixes of the sort keys of a run's items, in the order in which they are read: later ones are never older (RunProgress). */
const prefixes = { run: '0-run', pins: '1-pins#', evidence: '2-evidence#', order: '3-order#' } as const;
type PartOfRun = keyof typeof prefixes;

/** The partition of the list of open runs. */
export const openPartition = 'open';

/** Returns a partition. The tenant is percent-encoded, so that no tenant and id together spell another tenant's key. */
function partition(kind: 'run' | 'lineage', tenantId: string, id: string): string {
  return `${kind}#${encodeURIComponent(tenantId)}#${id}`;
}

/** Prefixes a text with its length, so that no other text's form begins with it. Shorter than percent-encoding: one key has three ids. */
function counted(id: string): string {
  return `${id.length}:${id}`;
}

export function runPartition({ tenantId, improvementRunId }: records.RunKey): string {
  return partition('run', tenantId, improvementRunId);
}

/** Returns the key of a part of a run: its id is that of evidence or an order, or the number of a part of the pins. */
export function partKey(run: records.RunKey, part: PartOfRun, id = ''): ItemKey {
  return { pk: runPartition(run), sk: prefixes[part] + id };
}

/** Returns the prefix of the sort keys of one administration's open runs, and of no other one's. */
export function openPrefix({
  tenantId,
  administrationId,
}: Omit<records.OpenRun, 'improvementRunId'>): string {
  return `${counted(tenantId)}${counted(administrationId)}`;
}

export function openKey(run: records.OpenRun): ItemKey {
  return { pk: openPartition, sk: `${openPrefix(run)}${run.improvementRunId}` };
}

export function headKey(tenantId: string, lineage: string): ItemKey {
  return { pk: partition('lineage', tenantId, lineage), sk: 'head' };
}

export function formerKey(tenantId: string, lineage: string, revisionOrderId: string): ItemKey {
  return { pk: partition('lineage', tenantId, lineage), sk: `former#${revisionOrderId}` };
}

// The columns of the items in addition to the members of their records, without the keys.

const pinsColumns = z.object({ pins: bytes });

export const receiptColumns = z.object({
  receiptSha256: z.string(),
  receiptMediaType: records.bundleRef.shape.mediaType,
});

export const formerColumns = z.object({
  revisionOrderId: z.string(),
  supersedes: z.string().exactOptional(),
});

export const ackColumns = z.object({
  receiptId: z.string(),
  receiptVersion: z.string(),
  observedAt: z.int(),
});

export const headColumns = formerColumns.extend({
  improvementRunId: z.string(),
  runCreatedAt: z.int(),
  holders: z.array(z.string()),
  version: z.int(),
});

/** Returns the items of a new run: its state, which changes, and its pins, which never do, in parts that fit into an item. */
export function runItems(run: records.RunRecord): readonly Item[] {
  const packed = gzipSync(JSON.stringify(records.runPins.parse(run.pins)), { level: 9 });
  const pins = Array.from({ length: Math.ceil(packed.byteLength / PART_BYTES) }, (_, index) => ({
    ...partKey(run, 'pins', String(index).padStart(2, '0')),
    pins: packed.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  }));
  const counts = { tries: 0, recorded: 0, pinsParts: pins.length };
  return [{ ...partKey(run, 'run'), ...records.runRecord.parse(run), ...counts }, ...pins];
}

/** Returns the run among items in the order of their keys; undefined if there is none. */
export function runOf(items: readonly Item[]): records.RunRecord | undefined {
  const item = items.find((candidate) => partOfRun(candidate) === 'run');
  if (item === undefined) return undefined;
  const { pinsParts, completedAt, ...run } = records.runRecord.extend({ pinsParts: z.int() }).parse(item);
  const parts = items.filter((candidate) => partOfRun(candidate) === 'pins');
  if (parts.length !== pinsParts) throw new TypeError('improvement table: pins are missing');
  const packed = Buffer.concat(parts.map((part) => pinsColumns.parse(part).pins));
  const pins = gunzipSync(packed, { maxOutputLength: MAX_PINS_BYTES }).toString('utf8');
  return {
    ...run,
    pins: records.runPins.parse(JSON.parse(pins)),
    ...(completedAt === undefined ? {} : { completedAt: Math.max(run.createdAt, completedAt) }),
    ...receiptOf(item),
  };
}

/** Returns which part of a run an item is; undefined for items of other partitions. */
export function partOfRun({ sk }: Item): PartOfRun | undefined {
  // SAFETY: the keys of an object are the names of its members.
  const parts = Object.keys(prefixes) as readonly PartOfRun[];
  return parts.find((part) => String(sk).startsWith(prefixes[part]));
}

/** Returns whether an item of a run or of a lineage is readable as the part that its key names. Pins are only readable together, by `runOf`. */
export function isReadable(item: Item): boolean {
  const { pk, sk } = item;
  try {
    switch (partOfRun(item)) {
      case 'run':
        return pk === runPartition(records.runSummary.parse(item));
      case 'pins':
        return pinsColumns.parse(item).pins.byteLength > 0;
      case 'evidence':
        return sk === prefixes.evidence + evidenceOf(item).key;
      case 'order':
        return sk === prefixes.order + orderOf(item).revisionOrderId;
      default:
        return sk === 'head' ? headOf(item).version >= 0 : sk === `former#${formerOf(item).revisionOrderId}`;
    }
  } catch {
    return false;
  }
}

export function evidenceAmong(items: readonly Item[]): readonly records.EvidenceRecord[] {
  return items.filter((item) => partOfRun(item) === 'evidence').map(evidenceOf);
}

export function ordersAmong(items: readonly Item[]): readonly records.OrderRecord[] {
  return items.filter((item) => partOfRun(item) === 'order').map(orderOf);
}

export function openItem(run: records.OpenRun): Item {
  return { ...openKey(run), ...records.openRun.parse(run) };
}

export function evidenceItem(run: records.RunKey, evidence: records.EvidenceRecord): Item {
  const { key, receipt } = evidence;
  const columns = receipt && columnsOfReceipt(receipt);
  return { ...partKey(run, 'evidence', key), ...records.evidenceRecord.parse(evidence), ...columns };
}

export function evidenceOf(item: Item): records.EvidenceRecord {
  return { ...records.evidenceRecord.parse(item), ...receiptOf(item) };
}

/** Returns an order as it is first recorded: without acknowledgement. */
export function orderItem(run: records.RunKey, order: records.OrderRecord): Item {
  const supersedes = order.supersedesRevisionOrderId ?? undefined;
  return { ...partKey(run, 'order', order.revisionOrderId), ...records.orderRecord.parse(order), supersedes };
}

export function orderOf(item: Item): records.OrderRecord {
  const order = records.orderRecord.parse(item);
  return {
    ...order,
    updatedAt: Math.max(order.createdAt, order.updatedAt),
    supersedesRevisionOrderId: formerOf(item).supersedesRevisionOrderId,
    ack: item['receiptId'] === undefined ? null : ackOf(item),
  };
}

export function columnsOfAck({ version: receiptVersion, ...ack }: records.OrderAck): Item {
  return ackColumns.parse({ ...ack, receiptVersion });
}

function ackOf(item: Item): records.OrderAck {
  const { receiptVersion: version, ...ack } = ackColumns.parse(item);
  return { ...ack, version };
}

/** A lineage's head with the number of its changes, by which a writer recognizes that it is unchanged since it was read. */
export interface VersionedHead {
  readonly head: LineageHead;
  readonly version: number;
}

export function headItem(tenantId: string, lineage: string, { head, version }: VersionedHead): Item {
  const { improvementRunId, createdAt: runCreatedAt } = head.run;
  const columns = { improvementRunId, runCreatedAt, holders: [...head.holders], version };
  return { ...formerItem(tenantId, lineage, head), ...headKey(tenantId, lineage), ...columns };
}

export function headOf(item: Item): VersionedHead {
  const { improvementRunId, runCreatedAt: createdAt, holders, version } = headColumns.parse(item);
  return { head: { ...formerOf(item), run: { improvementRunId, createdAt }, holders }, version };
}

export function formerItem(tenantId: string, lineage: string, former: FormerOrder): Item {
  const { revisionOrderId, supersedesRevisionOrderId } = former;
  // An order that supersedes none has no such column.
  const supersedes = supersedesRevisionOrderId ?? undefined;
  return { ...formerKey(tenantId, lineage, revisionOrderId), revisionOrderId, supersedes };
}

export function formerOf(item: Item): FormerOrder {
  const { revisionOrderId, supersedes = null } = formerColumns.parse(item);
  return { revisionOrderId, supersedesRevisionOrderId: supersedes };
}

export function columnsOfReceipt({ sha256, mediaType }: records.BundleRef): Item {
  return receiptColumns.parse({ receiptSha256: sha256, receiptMediaType: mediaType });
}

function receiptOf(item: Item): { readonly receipt?: records.BundleRef } {
  if (item['receiptSha256'] === undefined) return {};
  const { receiptSha256: sha256, receiptMediaType: mediaType } = receiptColumns.parse(item);
  return { receipt: { sha256, mediaType } };
}
