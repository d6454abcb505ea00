import { gunzipSync, gzipSync } from 'node:zlib';
import { paginateScan, PutItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { parsePartitionKey, partitionKey, type RecordKey } from '#shared/records/record-key.ts';
import type { NewRecord, RecordsTable, StoredRecord } from '#shared/records/table.ts';
import { attributesOf, bytes, didHold, getItem, type Item } from './dynamo.ts';

/** DynamoDB's limit of an item is 400 KB (409,600 bytes), names and keys included. */
const PART_BYTES = 375_000;
/** A document up to this size is stored as readable text, a larger one compressed. */
const TEXT_BYTES = 200_000;
/** More than a calibration can need; limits the unpacking of a damaged part. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/** A record that does not fit into the table even if compressed. The release command reports it. */
export class RecordTooLargeError extends RangeError {
  override readonly name = 'RecordTooLargeError';
}

/**
 * Opens the table `records` in DynamoDB. One record is one partition: `document` (public document, written last and only once),
 * `parameters#<hash>#<n>` (gzip, in parts that fit an item) and `lifecycle`. Parts carry the hash of their content in their key, so that two
 * competing writers of one id never mix their parts. Functions need `dynamodb:GetItem` and nothing else.
 */
export function createRecordsTable(client: DynamoDBClient, TableName: string): RecordsTable {
  const get = (pk: string, sk: string): Promise<Item | undefined> => getItem(client, TableName, { pk, sk });
  const put = (item: Item, condition?: string) =>
    client.send(new PutItemCommand({ TableName, Item: attributesOf(item), ConditionExpression: condition }));

  return {
    async read(key) {
      const pk = partitionKey(key);
      if (pk === undefined) return undefined;
      const [document, lifecycle] = await Promise.all([get(pk, 'document'), get(pk, 'lifecycle')]);
      return document === undefined ? undefined : storedRecord(document, lifecycle);
    },

    async readLifecycle(key) {
      return lifecycleColumns.parse((await get(storableKey(key), 'lifecycle')) ?? {});
    },

    async readParameters(key, reference) {
      const pk = partitionKey(key);
      if (pk === undefined) return undefined;
      const items = await Promise.all(
        Array.from({ length: reference.parts }, (_, index) => get(pk, partKey(reference.hash, index))),
      );
      return joinParts(items);
    },

    async writeOnce(key, record) {
      const pk = storableKey(key);
      const parts = partItems(pk, record.parameters);
      const document = documentItem(pk, record, parts.length);
      for (const part of parts) await put(part);
      return (await didHold(put(document, 'attribute_not_exists(pk)'))) ? 'written' : 'exists';
    },

    async changeLifecycle(key, change) {
      const pk = storableKey(key);
      for (;;) {
        const before: Item = lifecycleColumns.parse((await get(pk, 'lifecycle')) ?? {});
        const changed = Object.entries({ ...before, ...change });
        const after = Object.fromEntries(changed.filter(([, value]) => value !== null));
        // The table's policy refuses updates, so the item is written as a whole, and must not undo another change.
        const columns = Object.keys(lifecycleColumns.shape);
        const unchanged = new PutItemCommand({
          TableName,
          Item: attributesOf({ pk, sk: 'lifecycle', ...after }),
          ConditionExpression: columns
            .map((name) =>
              before[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :${name}`,
            )
            .join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(columns.map((name) => [`#${name}`, name])),
          ...(Object.keys(before).length === 0
            ? {}
            : {
                ExpressionAttributeValues: attributesOf(
                  Object.fromEntries(Object.entries(before).map(([name, value]) => [`:${name}`, value])),
                ),
              }),
        });
        if (await didHold(client.send(unchanged))) return;
      }
    },
  };
}

/** Returns the record among the items of its partition, with the text of its parameters; undefined if there is no document. */
export function recordAmong(
  items: readonly Item[],
): { readonly stored: StoredRecord; readonly parameters: string | undefined } | undefined {
  const bySortKey = new Map(items.map((item) => [item['sk'], item]));
  const document = bySortKey.get('document');
  if (document === undefined) return undefined;
  const stored = storedRecord(document, bySortKey.get('lifecycle'));
  const reference = stored.parameters;
  if (reference === undefined || reference.parts > items.length) return { stored, parameters: undefined };
  const parts = Array.from({ length: reference.parts }, (_, index) =>
    bySortKey.get(partKey(reference.hash, index)),
  );
  return { stored, parameters: joinParts(parts) };
}

/** Joins the text of parts; returns undefined if one is missing or cannot be unpacked. */
function joinParts(items: readonly (Item | undefined)[]): string | undefined {
  const parts = z.array(partColumns).safeParse(items).data;
  return parts && unpack(Buffer.concat(parts.map(({ content }) => content)));
}

function storableKey(key: RecordKey): string {
  const pk = partitionKey(key);
  if (pk === undefined) throw new RangeError('the record key is longer than a partition key may be');
  return pk;
}

function partKey(hash: string, index: number): string {
  return `parameters#${hash}#${String(index).padStart(4, '0')}`;
}

function partItems(pk: string, parameters: NewRecord['parameters']): readonly Item[] {
  if (parameters === undefined) return [];
  const packed = pack(parameters.text);
  return Array.from({ length: Math.ceil(packed.byteLength / PART_BYTES) }, (_, index) => ({
    pk,
    sk: partKey(parameters.hash, index),
    content: packed.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  }));
}

interface BlockedRecord extends RecordKey {
  readonly blockedAt: string;
  readonly because: string;
}

/** Returns the blocked records with the reasons, in no order. Reads the whole table, so it is for operators. Needs `dynamodb:Scan`. */
export async function listBlockedRecords(
  client: DynamoDBClient,
  TableName: string,
): Promise<readonly BlockedRecord[]> {
  const found: BlockedRecord[] = [];
  const pages = paginateScan(
    { client },
    {
      ...{ TableName, FilterExpression: 'attribute_exists(blockedAt)' },
      ProjectionExpression: 'pk, blockedAt, blockedBecause',
    },
  );
  for await (const { Items: items = [] } of pages)
    for (const item of items) {
      const { pk, ...columns } = unmarshall(item);
      const { data: { blockedAt = '', blockedBecause = '' } = {} } = lifecycleColumns.safeParse(columns);
      const key = parsePartitionKey(String(pk));
      if (key !== undefined) found.push({ ...key, blockedAt, because: blockedBecause });
    }
  return found;
}

const partColumns = z.object({ content: bytes });

const documentColumns = z.object({
  document: z.string().exactOptional(),
  documentGzip: bytes.exactOptional(),
  parametersHash: z.string().exactOptional(),
  parametersParts: z.int().exactOptional(),
});

const lifecycleColumns = z.object({
  deprecatedAt: z.string().exactOptional(),
  sunsetAt: z.string().exactOptional(),
  blockedAt: z.string().exactOptional(),
  blockedBecause: z.string().exactOptional(),
});

function documentItem(pk: string, { document, parameters }: NewRecord, parts: number): Item {
  const packed = Buffer.byteLength(document) <= TEXT_BYTES ? undefined : pack(document);
  if (packed !== undefined && packed.byteLength > PART_BYTES) {
    throw new RecordTooLargeError(
      `the document takes ${packed.byteLength} bytes compressed, and ${PART_BYTES} is the most that one item holds`,
    );
  }
  return {
    pk,
    sk: 'document',
    ...(packed === undefined ? { document } : { documentGzip: packed }),
    ...(parameters === undefined ? {} : { parametersHash: parameters.hash, parametersParts: parts }),
  };
}

/** Returns a stored record. An unreadable document becomes an empty text, which no checksum matches: the store reports it as damaged. */
function storedRecord(item: Item, lifecycle: Item = {}): StoredRecord {
  const { data = {} } = documentColumns.safeParse(item);
  const { document, documentGzip: packed, parametersHash: hash, parametersParts: parts = 0 } = data;
  return {
    document: (packed === undefined ? document : unpack(packed)) ?? '',
    ...(hash !== undefined && parts > 0 ? { parameters: { hash, parts } } : {}),
    lifecycle: lifecycleColumns.parse(lifecycle),
  };
}

function pack(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}

/** Unpacks bytes; returns undefined if they are not gzip. */
function unpack(packed: Uint8Array): string | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: MAX_TEXT_BYTES }).toString('utf8');
  } catch {
    return undefined;
  }
}
