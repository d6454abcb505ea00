import { gunzipSync, gzipSync } from 'node:zlib';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { FormerOrder, LineageHead } from '#shared/improvement/lineage.ts';
import { parsePins, writePins } from '#shared/improvement/pins-text.ts';
import { improvementRunStates } from '#shared/improvement/records.ts';
import type {
  BundleRef,
  EvidenceKey,
  EvidenceRecord,
  OpenRun,
  OrderRecord,
  RunKey,
  RunPins,
  RunRecord,
  RunSummary,
} from '#shared/improvement/records.ts';

/*
 * The items of the table `improvement` and their keys. Nothing else is stored in it; every function that reads an item throws when this
 * file did not write it.
 */

export type Item = Readonly<Record<string, AttributeValue>>;

/** The key of one item. */
export type ItemKey = Readonly<Record<'pk' | 'sk', AttributeValue>>;

/** DynamoDB's limits of a partition key and a sort key, in bytes of UTF-8. */
const MAX_PARTITION_BYTES = 2048;
const MAX_SORT_BYTES = 1024;

/** DynamoDB's limit of an item is 400 KB (409,600 bytes), names and keys included. */
const PART_BYTES = 375_000;
/** More than the pins of `maxSources` sources can take; stops a damaged part from unpacking without end. */
const MAX_PINS_BYTES = 16 * 1024 * 1024;

// In the order in which a run is read: what comes later is never older (RunProgress).
const RUN = '0-run';
const PINS = '1-pins#';
const EVIDENCE = '2-evidence#';
const ORDER = '3-order#';

/** The end of a prefix's sort keys: `$` is the character after `#`, and no key has it there. */
function endOf(prefix: string): string {
  return prefix.replace('#', '$');
}

/** The sort keys of a run's items: the run with its pins, or all of them. */
export const runOnly = { from: RUN, to: endOf(PINS) };
export const wholeRun = { from: RUN, to: endOf(ORDER) };

/** The sort keys of the orders after an id; undefined when no order can have this id. */
export function ordersAfter(id: string | undefined): { from: string; to: string } | undefined {
  const from = id === undefined ? ORDER : sortKey(`${ORDER}${id}\u0000`);
  return from === undefined ? undefined : { from, to: endOf(ORDER) };
}

/** The partition of a run, or undefined when no stored run can have this key. */
export function runPartition({ tenantId, improvementRunId }: RunKey): string | undefined {
  return partitionKey('run', tenantId, improvementRunId);
}

/** The partition of a lineage. */
export function lineagePartition(tenantId: string, lineage: string): string | undefined {
  return partitionKey('lineage', tenantId, lineage);
}

/** The partition of the list of open runs. */
export const openPartition = 'open';

/** What the sort keys of one administration's open runs begin with, and of no other one's; undefined when there can be none. */
export function openPrefix(of: Pick<OpenRun, 'tenantId' | 'administrationId'>): string | undefined {
  return sortKey(`${counted(of.tenantId)}${counted(of.administrationId)}`);
}

export function runKey(partition: string): ItemKey {
  return itemKey(partition, RUN);
}

export function evidenceKey(partition: string, key: string): ItemKey | undefined {
  return optionalKey(partition, `${EVIDENCE}${key}`);
}

export function orderKey(partition: string, revisionOrderId: string): ItemKey | undefined {
  return optionalKey(partition, `${ORDER}${revisionOrderId}`);
}

export function openKey(run: OpenRun): ItemKey | undefined {
  return optionalKey(
    openPartition,
    `${counted(run.tenantId)}${counted(run.administrationId)}${run.improvementRunId}`,
  );
}

export function headKey(partition: string): ItemKey {
  return itemKey(partition, 'head');
}

export function formerKey(partition: string, revisionOrderId: string): ItemKey | undefined {
  return optionalKey(partition, `former#${revisionOrderId}`);
}

/** The tenant is percent-encoded, so that no tenant and id together spell another tenant's key. */
function partitionKey(kind: 'run' | 'lineage', tenantId: string, id: string): string | undefined {
  if (!tenantId.isWellFormed() || !id.isWellFormed()) return undefined;
  const text = `${kind}#${encodeURIComponent(tenantId)}#${id}`;
  return Buffer.byteLength(text) <= MAX_PARTITION_BYTES ? text : undefined;
}

function sortKey(text: string): string | undefined {
  return text.isWellFormed() && Buffer.byteLength(text) <= MAX_SORT_BYTES ? text : undefined;
}

/** A text behind its length: no other text's form begins like it. Shorter than percent-encoding, for three ids must fit into one key. */
function counted(text: string): string {
  return `${text.length}:${text}`;
}

function itemKey(pk: string, sk: string): ItemKey {
  return { pk: { S: pk }, sk: { S: sk } };
}

function optionalKey(pk: string, text: string): ItemKey | undefined {
  const sk = sortKey(text);
  return sk === undefined ? undefined : itemKey(pk, sk);
}

/** The items of a run: its state, which moves, and its pins, which never do, in parts that fit into an item. */
export function runItems(
  partition: string,
  run: RunRecord,
): { readonly run: Item; readonly pins: readonly Item[] } {
  const packed = gzipSync(writePins(run.pins), { level: 9 });
  const pins = Array.from({ length: Math.ceil(packed.byteLength / PART_BYTES) }, (_, index) => ({
    ...itemKey(partition, `${PINS}${String(index).padStart(2, '0')}`),
    pins: { B: packed.subarray(index * PART_BYTES, (index + 1) * PART_BYTES) },
  }));
  return {
    run: {
      ...runKey(partition),
      tenantId: { S: run.tenantId },
      improvementRunId: { S: run.improvementRunId },
      administrationId: { S: run.administrationId },
      ...textColumn('classSourcedId', run.classSourcedId),
      ...textColumn('schoolSourcedId', run.schoolSourcedId),
      state: { S: run.state },
      createdAt: number(run.createdAt),
      touchedAt: number(run.touchedAt),
      sweeps: number(run.sweeps),
      tries: number(0),
      recorded: number(0),
      pinsParts: number(pins.length),
    },
    pins,
  };
}

/** The run among items in the order of their keys; undefined when there is none. */
export function runOf(items: readonly Item[]): RunRecord | undefined {
  const item = items.find((candidate) => candidate['sk']?.S === RUN);
  if (item === undefined) return undefined;
  const read = reader(item);
  const standing = standingOf(item);
  const { createdAt } = standing;
  const parts = items.filter((candidate) => candidate['sk']?.S?.startsWith(PINS) === true);
  if (parts.length !== read.integer('pinsParts')) throw new TypeError('improvement table: pins are missing');
  const receipt = receiptOf(item);
  return {
    ...standing,
    ...optionalText(item, 'classSourcedId'),
    ...optionalText(item, 'schoolSourcedId'),
    pins: unpack(parts),
    ...(item['completedAt'] === undefined
      ? {}
      : { completedAt: Math.max(createdAt, read.integer('completedAt')) }),
    ...(receipt === undefined ? {} : { receipt }),
  };
}

function textColumn(name: string, value: string | undefined): Item {
  return value === undefined ? {} : { [name]: { S: value } };
}

/** A member that an item may go without. */
function optionalText<Name extends string>(item: Item, name: Name): Partial<Readonly<Record<Name, string>>> {
  // SAFETY: the one member, under its name.
  return item[name] === undefined ? {} : ({ [name]: reader(item).text(name) } as Record<Name, string>);
}

/** What the sweeper judges a run by, of its first item alone. */
export function summaryOf(item: Item): RunSummary {
  const read = reader(item);
  return {
    ...standingOf(item),
    tries: read.integer('tries'),
    ...(item['parkedAt'] === undefined ? {} : { parkedAt: read.integer('parkedAt') }),
  };
}

/** What records and summaries of a run have in common. */
function standingOf(item: Item): Omit<RunSummary, 'tries' | 'parkedAt'> {
  const read = reader(item);
  return {
    ...openRunOf(item),
    state: read.oneOf('state', improvementRunStates),
    createdAt: read.integer('createdAt'),
    touchedAt: read.integer('touchedAt'),
    sweeps: read.integer('sweeps'),
  };
}

function unpack(parts: readonly Item[]): RunPins {
  const packed = Buffer.concat(parts.map((part) => reader(part).bytes('pins')));
  return parsePins(gunzipSync(packed, { maxOutputLength: MAX_PINS_BYTES }).toString('utf8'));
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
      case 'run': {
        const { tenantId, improvementRunId } = summaryOf(item);
        return item['pk']?.S === runPartition({ tenantId, improvementRunId });
      }
      case 'pins':
        return reader(item).bytes('pins').byteLength > 0;
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

/** The evidence among the items of a run. */
export function evidenceAmong(items: readonly Item[]): readonly EvidenceRecord[] {
  return items.filter((item) => item['sk']?.S?.startsWith(EVIDENCE) === true).map(evidenceOf);
}

/** The orders among the items of a run. */
export function ordersAmong(items: readonly Item[]): readonly OrderRecord[] {
  return items.filter((item) => item['sk']?.S?.startsWith(ORDER) === true).map(orderOf);
}

export function openItem(key: ItemKey, run: OpenRun): Item {
  return {
    ...key,
    tenantId: { S: run.tenantId },
    improvementRunId: { S: run.improvementRunId },
    administrationId: { S: run.administrationId },
  };
}

export function openRunOf(item: Item): OpenRun {
  const read = reader(item);
  return {
    tenantId: read.text('tenantId'),
    improvementRunId: read.text('improvementRunId'),
    administrationId: read.text('administrationId'),
  };
}

export function evidenceItem(key: ItemKey, evidence: EvidenceRecord): Item {
  return {
    ...key,
    key: { S: evidence.key },
    evaluatedAt: number(evidence.evaluatedAt),
    ...(evidence.receipt === undefined ? {} : receiptColumns(evidence.receipt)),
    ...(evidence.comparisonOmitted === undefined
      ? {}
      : { comparisonOmitted: { BOOL: evidence.comparisonOmitted } }),
  };
}

export function evidenceOf(item: Item): EvidenceRecord {
  const read = reader(item);
  const receipt = receiptOf(item);
  return {
    key: read.evidence('key'),
    evaluatedAt: read.integer('evaluatedAt'),
    ...(receipt === undefined ? {} : { receipt }),
    ...(item['comparisonOmitted'] === undefined ? {} : { comparisonOmitted: read.flag('comparisonOmitted') }),
  };
}

/** An order as it is first recorded: without acknowledgement. */
export function orderItem(key: ItemKey, order: OrderRecord): Item {
  return {
    ...key,
    revisionOrderId: { S: order.revisionOrderId },
    evidence: { S: order.evidence },
    targetModule: { S: order.targetModule },
    lineage: { S: order.lineage },
    status: { S: order.status },
    createdAt: number(order.createdAt),
    updatedAt: number(order.updatedAt),
    ...supersedesColumn(order.supersedesRevisionOrderId),
  };
}

export function orderOf(item: Item): OrderRecord {
  const read = reader(item);
  const createdAt = read.integer('createdAt');
  return {
    revisionOrderId: read.text('revisionOrderId'),
    evidence: read.evidence('evidence'),
    targetModule: read.oneOf('targetModule', ['bank', 'blueprint']),
    lineage: read.text('lineage'),
    status: read.oneOf('status', orderStatuses),
    supersedesRevisionOrderId: supersedesOf(item),
    ack:
      item['receiptId'] === undefined
        ? null
        : {
            receiptId: read.text('receiptId'),
            version: read.text('receiptVersion'),
            observedAt: read.integer('observedAt'),
          },
    createdAt,
    updatedAt: Math.max(createdAt, read.integer('updatedAt')),
    ...(item['blockedAt'] === undefined ? {} : { blockedAt: read.integer('blockedAt') }),
  };
}

// An object, so that a status that is missing here does not compile.
const orderStatuses = Object.keys({
  pending: true,
  accepted: true,
  replayed: true,
  blocked_upstream: true,
  rejected: true,
  superseded: true,
} satisfies Readonly<Record<OrderRecord['status'], true>>) as readonly OrderRecord['status'][];

/** A lineage's head with the number of its changes, by which a writer knows that it is still the one it read. */
export interface VersionedHead {
  readonly head: LineageHead;
  readonly version: number;
}

export function headItem(partition: string, { head, version }: VersionedHead): Item {
  return {
    ...headKey(partition),
    revisionOrderId: { S: head.revisionOrderId },
    ...supersedesColumn(head.supersedesRevisionOrderId),
    improvementRunId: { S: head.run.improvementRunId },
    runCreatedAt: number(head.run.createdAt),
    holders: { L: head.holders.map((id) => ({ S: id })) },
    version: number(version),
  };
}

export function headOf(item: Item): VersionedHead {
  const read = reader(item);
  return {
    head: {
      revisionOrderId: read.text('revisionOrderId'),
      supersedesRevisionOrderId: supersedesOf(item),
      run: { improvementRunId: read.text('improvementRunId'), createdAt: read.integer('runCreatedAt') },
      holders: read.texts('holders'),
    },
    version: read.integer('version'),
  };
}

export function formerItem(key: ItemKey, former: FormerOrder): Item {
  return {
    ...key,
    revisionOrderId: { S: former.revisionOrderId },
    ...supersedesColumn(former.supersedesRevisionOrderId),
  };
}

export function formerOf(item: Item): FormerOrder {
  return {
    revisionOrderId: reader(item).text('revisionOrderId'),
    supersedesRevisionOrderId: supersedesOf(item),
  };
}

export function receiptColumns(receipt: BundleRef): Item {
  return { receiptSha256: { S: receipt.sha256 }, receiptMediaType: { S: receipt.mediaType } };
}

function receiptOf(item: Item): BundleRef | undefined {
  if (item['receiptSha256'] === undefined) return undefined;
  const read = reader(item);
  return {
    sha256: read.text('receiptSha256'),
    mediaType: read.oneOf('receiptMediaType', ['application/zip', 'application/json']),
  };
}

function supersedesColumn(id: string | null): Item {
  return id === null ? {} : { supersedes: { S: id } };
}

function supersedesOf(item: Item): string | null {
  return item['supersedes'] === undefined ? null : reader(item).text('supersedes');
}

export function number(value: number): AttributeValue {
  return { N: String(value) };
}

/** Reads the columns of an item; throws on what has another type than this file writes. */
function reader(item: Item) {
  const refuse = (name: string): never => {
    throw new TypeError(`improvement table: ${name} is not what was written`);
  };
  const text = (name: string): string => item[name]?.S ?? refuse(name);
  return {
    text,
    integer(name: string): number {
      const value = Number(item[name]?.N);
      return Number.isSafeInteger(value) ? value : refuse(name);
    },
    bytes: (name: string): Uint8Array => item[name]?.B ?? refuse(name),
    flag: (name: string): boolean => item[name]?.BOOL ?? refuse(name),
    texts: (name: string): readonly string[] =>
      (item[name]?.L ?? refuse(name)).map((value) => value.S ?? refuse(name)),
    oneOf<T extends string>(name: string, values: readonly T[]): T {
      const value = text(name);
      return values.find((known) => known === value) ?? refuse(name);
    },
    evidence(name: string): EvidenceKey {
      const value = text(name);
      return isEvidenceKey(value) ? value : refuse(name);
    },
  };
}

function isEvidenceKey(text: string): text is EvidenceKey {
  return text.startsWith('metric:') || text.startsWith('source:');
}
