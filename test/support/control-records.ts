import { ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { localStage, localTableName } from '#shared/stage/local-stage.ts';
import { createControlTable } from '#shared/stores/control-table.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import type { ControlRecord } from '#shared/idempotency/control-record.ts';
import { identifyRequest, type IdentifiedRequest } from '#shared/idempotency/request-identity.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { clientsOf, type TestStack } from './stack.ts';

/** One request in the control table of a stack. */
export interface Controlled {
  /** What the table holds of it. */
  readonly record: () => Promise<ControlRecord | undefined>;
  /**
   * Lets the lease of its interrupted run end now, as it would by itself when the function's time is over: the same conditional write by
   * which a function lets go. Nobody waits for half a minute in a test.
   */
  readonly endLease: () => Promise<void>;
  /** Leaves of its record what version 0.1.0 wrote. */
  readonly writtenBefore: () => Promise<void>;
}

/** The control table of a stack, as its functions see it. */
export interface ControlRecords {
  readonly of: (request: IdentifiedRequest) => Controlled;
  /** Every record, as DynamoDB holds it; counts of requests are none. */
  readonly items: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Opens the control table of a stack. */
export function openControlRecords(stack: Pick<TestStack, 'urls' | 'defer'>): ControlRecords {
  const clients = clientsOf(stack);
  const control = createControlTable(clients.dynamo, localTableName('control'));
  const keys = createKeyRing({
    settings: createKeySettings(clients.dynamo, localTableName('settings')),
    kms: createDataKeyOpener(clients.kms),
    stage: localStage,
    purposes: ['idempotency'],
    clock: Date.now,
  });
  return {
    of(request) {
      const record: Controlled['record'] = async () =>
        control.read((await identifyRequest(keys, request)).id, Date.now());
      return {
        record,
        async endLease() {
          const standing = await record();
          if (standing === undefined) throw new Error('the request has left no control record');
          if (!(await control.release(standing, Date.now()))) throw new Error('no lease of it is open');
        },
        async writtenBefore() {
          const { id, hash, sentHash } = await identifyRequest(keys, request);
          await clients.dynamo.send(
            new UpdateItemCommand({
              TableName: localTableName('control'),
              Key: { id: { S: id } },
              UpdateExpression: 'SET #hash = :sent',
              ConditionExpression: '#hash = :checked',
              ExpressionAttributeNames: { '#hash': 'hash' },
              ExpressionAttributeValues: { ':sent': { S: sentHash }, ':checked': { S: hash } },
            }),
          );
        },
      };
    },
    async items() {
      const { Items = [] } = await clients.dynamo.send(
        new ScanCommand({ TableName: localTableName('control') }),
      );
      return Items.filter(({ hash }) => hash !== undefined);
    },
  };
}
