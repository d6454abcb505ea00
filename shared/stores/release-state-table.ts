import { PutItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { flagsOf, type AppliedRelease } from '#shared/release/release-state.ts';
import { attributesOf, didHold, getItem, instant } from './dynamo.ts';

export interface ReleaseStateTable {
  /**
   * Returns undefined if none was ever applied. Throws if the table does not respond, or contains another item.
   * @param signal ends the wait for the table
   */
  read(signal?: AbortSignal): Promise<AppliedRelease | undefined>;
  /**
   * Replaces the release that was read before. Returns false if another operator has applied one since: read again.
   * @param previous what `read` returned
   */
  write(applied: AppliedRelease, previous: AppliedRelease | undefined): Promise<boolean>;
}

const key = { pk: 'release', sk: 'state' };

/**
 * Opens the item of the table `settings` (`pk` = `release`, `sk` = `state`) with what is released, and by which proof of isolation; reads are
 * strongly consistent. Needs `dynamodb:GetItem`, which can be limited to this partition key, and `dynamodb:PutItem` to apply.
 */
export function createReleaseStateTable(client: DynamoDBClient, TableName: string): ReleaseStateTable {
  return {
    async read(signal) {
      const item = await getItem(client, TableName, key, signal);
      if (item === undefined) return undefined;
      const { success, data } = released.safeParse(item);
      if (!success) throw new Error('settings: the item of the release is malformed');
      // The proof appears only in receipts: an unreadable one closes nothing, and counts as none.
      const proof = isolationProof.safeParse(item['isolationProof']);
      return {
        ...data,
        flags: flagsOf(data.flags),
        ...(proof.success ? { isolationProof: proof.data } : {}),
      };
    },

    async write(applied, previous) {
      const condition =
        previous === undefined
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : {
              ConditionExpression: 'appliedAt = :previous',
              ExpressionAttributeValues: attributesOf({ ':previous': instant.encode(previous.appliedAt) }),
            };
      const Item = attributesOf({ ...key, ...releaseColumns.encode(applied) });
      return didHold(client.send(new PutItemCommand({ TableName, Item, ...condition })));
    },
  };
}

const released = z.object({
  manifest: z.string(),
  flags: z.record(z.string(), z.string()),
  appliedAt: instant,
});
const isolationProof = z.object({ digest: z.string(), outcome: z.enum(['proved', 'rehearsed']) });
/** The columns of a release's item in addition to its key in the table. */
export const releaseColumns = released.extend({ isolationProof: isolationProof.exactOptional() });
