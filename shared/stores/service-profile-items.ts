import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  paginateScan,
  PutItemCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import type { StoredProfile } from '#shared/platform/service-profiles.ts';
import { expiryAttributes } from './tables.ts';
import { attributesOf, bytes, getItem, instant, type ItemKey } from './dynamo.ts';

/** A profile with what its watchers need to know. Times are epoch milliseconds. */
export interface ProfileItem extends StoredProfile {
  readonly writtenAt: number;
  /** Which value of the credential's parameter was wrapped: another one has another text. */
  readonly source: string;
}

const PREFIX = 'profile#';
/** The value of a time that the credential does not show. */
const UNKNOWN = 'unknown';

/** The most bytes that KMS unwraps. */
const MAX_WRAPPED_BYTES = 6_144;

/** The columns of a profile's item in addition to its key in the table. */
const profileColumns = z.object({
  parameters: z.record(z.string(), z.string()),
  // KMS refuses other lengths as an invalid request, which would pass for an outage.
  wrappedCredential: bytes.refine(({ length }) => length > 0 && length <= MAX_WRAPPED_BYTES),
  credentialExpiresAt: z.union([z.literal(UNKNOWN), instant]),
  writtenAt: instant,
  source: z.string(),
});

function keyOf(tenantId: string): ItemKey {
  return { pk: PREFIX + Buffer.from(tenantId).toString('base64url'), sk: 'profile' };
}

/** Returns the tenant whose profile has this key; undefined for an item of another kind. */
function tenantOf(pk: string): string | undefined {
  return pk.startsWith(PREFIX) ? Buffer.from(pk.slice(PREFIX.length), 'base64url').toString() : undefined;
}

/**
 * Reads the profile of a tenant from the table `settings`: `pk` = `profile#<base64url(tenantId)>`, `sk` = `profile`; strongly consistent. Needs
 * `dynamodb:GetItem`, which can be limited to partition keys that begin with `profile#`. Throws if the table does not respond.
 */
export async function readProfileItem(
  client: DynamoDBClient,
  TableName: string,
  tenantId: string,
  signal?: AbortSignal,
): Promise<ProfileItem | 'invalid' | undefined> {
  const item = await getItem(client, TableName, keyOf(tenantId), signal);
  if (item === undefined) return undefined;
  const { success, data } = profileColumns.safeParse(item);
  if (!success) return 'invalid';
  const { credentialExpiresAt, ...rest } = data;
  return { ...rest, ...(credentialExpiresAt === UNKNOWN ? {} : { credentialExpiresAt }) };
}

/**
 * Writes the profile of a tenant, unless it is another one than the caller has seen. Returns false then. Needs `dynamodb:PutItem`.
 * @param seen what `readProfileItem` returned; a damaged item is written over, but not stored again once it was removed
 */
export async function writeProfileItem(
  client: DynamoDBClient,
  TableName: string,
  tenantId: string,
  item: ProfileItem,
  seen: ProfileItem | 'invalid' | undefined,
): Promise<boolean> {
  const columns = profileColumns.encode({
    ...item,
    credentialExpiresAt: item.credentialExpiresAt ?? UNKNOWN,
  });
  const unchanged =
    seen === 'invalid'
      ? { ConditionExpression: 'attribute_exists(pk)' }
      : seen === undefined
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            ConditionExpression: 'writtenAt = :seen',
            ExpressionAttributeValues: attributesOf({
              ':seen': profileColumns.shape.writtenAt.encode(seen.writtenAt),
            }),
          };
  try {
    await client.send(
      new PutItemCommand({ TableName, Item: attributesOf({ ...keyOf(tenantId), ...columns }), ...unchanged }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Removes the profile of a tenant. Returns false if there was none. Needs `dynamodb:DeleteItem`. */
export async function removeProfileItem(
  client: DynamoDBClient,
  TableName: string,
  tenantId: string,
): Promise<boolean> {
  const command = new DeleteItemCommand({
    TableName,
    Key: attributesOf(keyOf(tenantId)),
    ReturnValues: 'ALL_OLD',
  });
  return (await client.send(command)).Attributes !== undefined;
}

/**
 * Returns when the credential of each tenant expires, in epoch milliseconds; undefined: it does not show, or its item is damaged. Needs `dynamodb:Scan`
 * for only these attributes, so that the caller's role can be without every credential.
 */
export async function listCredentialExpiries(
  client: DynamoDBClient,
  TableName: string,
): Promise<ReadonlyMap<string, number | undefined>> {
  const found = new Map<string, number | undefined>();
  const pages = paginateScan(
    { client },
    {
      ...{ TableName, ConsistentRead: true, Select: 'SPECIFIC_ATTRIBUTES' },
      ProjectionExpression: expiryAttributes.join(', '),
    },
  );
  for await (const { Items: items = [] } of pages)
    for (const item of items) {
      const { pk, credentialExpiresAt } = unmarshall(item);
      const tenant = tenantOf(String(pk));
      const expiry = profileColumns.shape.credentialExpiresAt.safeParse(credentialExpiresAt).data;
      if (tenant !== undefined) found.set(tenant, expiry === UNKNOWN ? undefined : expiry);
    }
  return found;
}

/** Returns the tenants that have an item, in no order. Needs `dynamodb:Scan`. */
export async function listProfileItems(
  client: DynamoDBClient,
  TableName: string,
): Promise<ReadonlySet<string>> {
  const tenants = new Set<string>();
  const pages = paginateScan({ client }, { TableName, ConsistentRead: true, ProjectionExpression: 'pk' });
  for await (const { Items: items = [] } of pages)
    for (const item of items) {
      const tenant = tenantOf(String(unmarshall(item)['pk']));
      if (tenant !== undefined) tenants.add(tenant);
    }
  return tenants;
}
