import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { parseInstant } from '#shared/kernel/instant.ts';
import { flagsOf } from '#shared/release/release-state.ts';
import type { AppliedRelease } from '#shared/release/release-state.ts';
import { didHold, getItem, instant, itemKey } from './dynamo.ts';
import type { Item } from './dynamo.ts';

export interface ReleaseStateTable {
  /**
   * Undefined when none was ever applied. Throws when the table does not answer, or holds something else.
   * @param signal ends the wait for the table
   */
  read(signal?: AbortSignal): Promise<AppliedRelease | undefined>;
  /**
   * Takes the place of what was read before. False when somebody else has applied since: read again.
   * @param previous what `read` gave
   */
  write(applied: AppliedRelease, previous: AppliedRelease | undefined): Promise<boolean>;
}

const key = itemKey('release', 'state');

/**
 * The one item of the table `settings` (`pk` = `release`, `sk` = `state`) that says what is released, and by which proof of isolation; reads are strongly consistent. Needs
 * `dynamodb:GetItem`, which can be limited to this partition key, and `dynamodb:PutItem` to apply.
 */
export function createReleaseStateTable(client: DynamoDBClient, tableName: string): ReleaseStateTable {
  return {
    async read(signal) {
      const item = await getItem(client, tableName, key, signal);
      if (item === undefined) return undefined;
      const manifest = item['manifest']?.S;
      const flags = item['flags']?.M;
      const appliedAt = parseInstant(item['appliedAt']?.S ?? '');
      if (manifest === undefined || flags === undefined || appliedAt === undefined) {
        throw new Error('settings: the item of the release is none');
      }
      const texts = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value.S]));
      const proof = item['isolationProof']?.M;
      const digest = proof?.['digest']?.S;
      if (digest === undefined) return { manifest, flags: flagsOf(texts), appliedAt };
      const outcome = proof?.['outcome']?.S === 'proved' ? 'proved' : 'rehearsed';
      return { manifest, flags: flagsOf(texts), appliedAt, isolationProof: { digest, outcome } };
    },

    async write({ manifest, flags, appliedAt, isolationProof }, previous) {
      const item: Item = {
        ...key,
        manifest: { S: manifest },
        flags: { M: Object.fromEntries(Object.entries(flags).map(([gate, state]) => [gate, { S: state }])) },
        appliedAt: instant.encode(appliedAt),
        ...(isolationProof === undefined
          ? {}
          : {
              isolationProof: {
                M: { digest: { S: isolationProof.digest }, outcome: { S: isolationProof.outcome } },
              },
            }),
      };
      return didHold(
        client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: item,
            ...(previous === undefined
              ? { ConditionExpression: 'attribute_not_exists(pk)' }
              : {
                  ConditionExpression: 'appliedAt = :previous',
                  ExpressionAttributeValues: { ':previous': instant.encode(previous.appliedAt) },
                }),
          }),
        ),
      );
    },
  };
}
