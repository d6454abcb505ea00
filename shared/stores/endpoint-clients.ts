import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SSMClient } from '@aws-sdk/client-ssm';

/** Clients of one endpoint. */
export interface EndpointClients {
  readonly dynamo: DynamoDBClient;
  readonly kms: KMSClient;
  readonly s3: S3Client;
  readonly ssm: SSMClient;
  readonly destroy: () => void;
}

/** Clients that talk to one given endpoint whatever this process's environment says: for who runs several, or must reach no other. */
export function createEndpointClients(options: {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}): EndpointClients {
  const dynamo = new DynamoDBClient(options);
  const kms = new KMSClient(options);
  const s3 = new S3Client(options);
  const ssm = new SSMClient(options);
  return {
    dynamo,
    kms,
    s3,
    ssm,
    destroy() {
      dynamo.destroy();
      kms.destroy();
      s3.destroy();
      ssm.destroy();
    },
  };
}
