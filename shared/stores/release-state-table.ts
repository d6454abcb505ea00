import { ConditionalCheckFailedException, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';
import { flagsOf } from '#shared/release/release-state.ts';
import type { AppliedRelease } from '#shared/release/release-state.ts';

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

const key: Readonly<Record<string, AttributeValue>> = { pk: { S: 'release' }, sk: { S: 'state' } };

/**
 * The one item of the table `settings` (`pk` = `release`, `sk` = `state`) that says what is released, and by which proof of isolation; reads are strongly consistent. Needs
 * `dynamodb:GetItem`, which can be limited to this partition key, and `dynamodb:PutItem` to apply.
 */
export function createReleaseStateTable(client: DynamoDBClient, tableName: string): ReleaseStateTable {
  return {
    async read(signal) {
      const { Item: item } = await client.send(
        new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true }),
        signal === undefined ? {} : { abortSignal: signal },
      );
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
      const item: Record<string, AttributeValue> = {
        ...key,
        manifest: { S: manifest },
        flags: { M: Object.fromEntries(Object.entries(flags).map(([gate, state]) => [gate, { S: state }])) },
        appliedAt: { S: formatInstant(appliedAt) },
        ...(isolationProof === undefined
          ? {}
          : {
              isolationProof: {
                M: { digest: { S: isolationProof.digest }, outcome: { S: isolationProof.outcome } },
              },
            }),
      };
      try {
        await client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: item,
            ...(previous === undefined
              ? { ConditionExpression: 'attribute_not_exists(pk)' }
              : {
                  ConditionExpression: 'appliedAt = :previous',
                  ExpressionAttributeValues: { ':previous': { S: formatInstant(previous.appliedAt) } },
                }),
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },
  };
}
