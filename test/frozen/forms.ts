import { openListCursor, type ListCursor } from '#functions/reports/cursor/cursor.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import type { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { localBucketName, localTableName } from '#shared/stage/local-stage.ts';
import { createControlTable } from '#shared/stores/control-table.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { createReleaseStateTable, type ReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { createKeyNotes, type KeyNotes } from '#shared/stores/key-notes.ts';
import { listProfileItems, readProfileItem, writeProfileItem } from '#shared/stores/service-profile-items.ts';
import type { ProfileItem } from '#shared/stores/service-profile-items.ts';
import { createServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import type { ServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import type { TableDefinition } from '#shared/stores/tables.ts';
import type { Principal } from '#shared/http/operation.ts';
import type { ControlTable } from '#shared/idempotency/control-record.ts';
import type { IdentifiedRequest } from '#shared/idempotency/request-identity.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import type { ImprovementStore } from '#shared/improvement/records.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { keyPurposes, type KeyRing } from '#shared/keys/key-ring.ts';
import type { WritableKeySettings } from '#shared/keys/key-record.ts';
import type { RecordsTable } from '#shared/records/table.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';
import type { TestAws } from '#test/support/aws.ts';

/*
 * Frozen forms: everything that the product stores or seals, as one version of it wrote it. `v1` was written once, by version 0.1.0, and is
 * never written again. A stored form that changes after a release gets a new folder (`freeze.ts`), and the readers go on reading the old ones. `readers.mjs`
 * in a folder are the readers of that release (`freeze-readers.ts`), which must read what is written now: docs/change.md has the steps.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** An item of DynamoDB as its API writes it: bytes as base64 text. */
export type FrozenItem = Readonly<Record<string, Json>>;

export type TableName = TableDefinition['name'];

/** A cursor with the list, the request and the caller that it was sealed for. `query` is what stood in the URL. */
export interface FrozenCursor {
  readonly list: 'listCandidateReports' | 'listRevisionOrders';
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly principal: Principal;
  readonly keyset: readonly string[];
  readonly token: string;
}

/** One version of everything that is stored or sealed. */
export interface FrozenForms {
  /** Test keys: they have never protected anything. */
  readonly keys: {
    readonly note: string;
    /** Stands for KMS: which data key opens from which wrapped bytes (base64) under which encryption context. */
    readonly dataKeys: readonly {
      readonly context: Readonly<Record<string, string>>;
      readonly wrapped: string;
      readonly key: string;
    }[];
    /** The public half of the key that signed the manifest. The private half was thrown away. */
    readonly releaseKey: ReleaseKey;
  };
  readonly tokens: {
    readonly continuations: Readonly<Record<string, string>>;
    readonly cursors: Readonly<Record<string, FrozenCursor>>;
    readonly receiptLinks: Readonly<Record<string, string>>;
  };
  /** What the idempotency records in `items.control` were written for. */
  readonly requests: Readonly<Record<string, IdentifiedRequest>>;
  readonly items: Readonly<Record<TableName, readonly FrozenItem[]>>;
  /** Objects in the bucket of receipts: UTF-8 text by key. */
  readonly objects: Readonly<Record<string, { readonly contentType: string; readonly text: string }>>;
  /** Parameters of Systems Manager; a SecureString as it is decrypted. */
  readonly parameters: Readonly<
    Record<string, { readonly type: 'String' | 'SecureString'; readonly value: string }>
  >;
  /** Bodies of messages of the queue of improvement runs. */
  readonly messages: readonly string[];
  /** Files that commands write: the receipt of the two-tenant proof. */
  readonly files: Readonly<Record<string, string>>;
}

/** The value of each name, one after the other. */
export async function each<T, R>(
  values: Readonly<Record<string, T>>,
  of: (value: T, name: string) => R,
): Promise<Record<string, Awaited<R>>> {
  const results: Record<string, Awaited<R>> = {};
  for (const [name, value] of Object.entries(values)) results[name] = await of(value, name);
  return results;
}

/** The stage that everything was written for. */
export const STAGE = 'frozen';
/** The tenant that everything was written for: its id needs every kind of encoding. */
export const TENANT = 'tenant ü/#1.a';
/** When everything was written, in epoch milliseconds. */
export const WRITTEN_AT = Date.parse('2026-01-31T09:30:00.000Z');
/** When everything is read: before the first token has expired. */
export const READ_AT = WRITTEN_AT + 60_000;

const profilesPath = `/${STAGE}/profiles`;

/** The stores of the product. */
export interface Stores {
  readonly control: ControlTable;
  readonly improvement: ImprovementStore;
  readonly records: RecordsTable;
  readonly keys: WritableKeySettings;
  readonly retired: KeyNotes;
  readonly release: ReleaseStateTable;
  readonly receipts: ReceiptStore;
  readonly profiles: Pick<ServiceProfileParameters, 'read' | 'write'>;
  readonly storedProfiles: {
    readonly list: () => Promise<ReadonlySet<string>>;
    readonly read: (tenantId: string) => ReturnType<typeof readProfileItem>;
    readonly write: (tenantId: string, item: ProfileItem) => Promise<void>;
  };
}

/** The stores over an AWS emulator, as functions and commands open them. */
export function openStores({ dynamo, s3, ssm }: TestAws): Stores {
  const profiles = createServiceProfileParameters(ssm, profilesPath);
  const settings = localTableName('settings');
  return {
    control: createControlTable(dynamo, localTableName('control')),
    improvement: createImprovementTable(dynamo, localTableName('improvement'), {
      sleep: () => Promise.resolve(),
      random: (bytes) => new Uint8Array(bytes),
    }),
    records: createRecordsTable(dynamo, localTableName('records')),
    keys: createWritableKeySettings(dynamo, localTableName('settings')),
    retired: createKeyNotes(ssm, STAGE),
    release: createReleaseStateTable(dynamo, localTableName('settings')),
    receipts: createReceiptBucket(s3, localBucketName),
    profiles: {
      read: (tenantId) => profiles.read(tenantId),
      write: (tenantId, profile) => profiles.write(tenantId, profile),
    },
    storedProfiles: {
      list: () => listProfileItems(dynamo, settings),
      read: (tenantId) => readProfileItem(dynamo, settings, tenantId),
      write: async (tenantId, item) => {
        await writeProfileItem(dynamo, settings, tenantId, item, undefined);
      },
    },
  };
}

/** The key ring of a stored form, over its own table and a KMS that knows its wrapped keys. */
export function openRing(
  settings: Stores['keys'],
  dataKeys: FrozenForms['keys']['dataKeys'],
  now: () => number,
): KeyRing {
  return createKeyRing({
    settings,
    kms: createDataKeyOpener(kmsOf(dataKeys)),
    stage: STAGE,
    purposes: keyPurposes,
    clock: now,
  });
}

/** A KMS that opens these wrapped keys, each under exactly its own context. */
export function kmsOf(dataKeys: FrozenForms['keys']['dataKeys']): KMSClient {
  const nameOf = (wrapped: string, context: Readonly<Record<string, string>> = {}): string =>
    JSON.stringify([wrapped, Object.entries(context).toSorted()]);
  const known = new Map(dataKeys.map(({ context, wrapped, key }) => [nameOf(wrapped, { ...context }), key]));
  const send = (command: DecryptCommand) => {
    const { CiphertextBlob: blob = new Uint8Array(), EncryptionContext: context } = command.input;
    const key = known.get(nameOf(Buffer.from(blob).toString('base64'), context));
    return key === undefined
      ? Promise.reject(new Error('InvalidCiphertextException'))
      : Promise.resolve({ Plaintext: new Uint8Array(Buffer.from(key, 'base64')) });
  };
  // SAFETY: the opener sends this one command and nothing else.
  return { send } as unknown as KMSClient;
}

/** An item as JSON, bytes as base64. */
export function freezeItem(item: Readonly<Record<string, AttributeValue>>): FrozenItem {
  return JSON.parse(
    JSON.stringify(item, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    ),
  ) as FrozenItem;
}

/** An item as the SDK takes it. `B` at the top level is the only place where bytes are stored. */
export function thawItem(item: FrozenItem): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const bytes = (value as { readonly B?: string }).B;
      // SAFETY: `freezeItem` wrote it.
      return [
        name,
        bytes === undefined ? (value as unknown as AttributeValue) : { B: Buffer.from(bytes, 'base64') },
      ];
    }),
  );
}

/** The place in its list of the request that a frozen cursor was sealed for. Throws when the cursor is refused. */
export async function placeInList(
  keys: KeyRing,
  { list, path, query, principal, keyset }: FrozenCursor,
  receivedAt: number,
  cursor?: string,
): Promise<ListCursor<string>> {
  const route = list === 'listCandidateReports' ? listCandidateReports : listRevisionOrders;
  const asked = { ...route.request.query.parse(query), cursor };
  const place = await openListCursor(keys, route, keyset, { principal, path, query: asked, receivedAt });
  if (!place.ok) throw new Error(`a frozen cursor is refused: ${JSON.stringify(place.error)}`);
  return place.value;
}
