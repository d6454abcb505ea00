import type { AwsSettings } from '#shared/lambda/runtime.ts';
import { makeDynamo, makeKms, makeS3, makeSsm } from './make-clients.ts';

/** Clients that talk to one given endpoint whatever this process's environment says: for who runs several, or must reach no other. */
export function createEndpointClients(
  settings: Required<Pick<AwsSettings, 'endpoint' | 'region' | 'credentials'>>,
): EndpointClients {
  const clients = {
    dynamo: makeDynamo(settings),
    kms: makeKms(settings),
    s3: makeS3(settings),
    ssm: makeSsm(settings),
  };
  return {
    ...clients,
    destroy() {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}

/** Clients of one endpoint. */
export interface EndpointClients {
  readonly dynamo: ReturnType<typeof makeDynamo>;
  readonly kms: ReturnType<typeof makeKms>;
  readonly s3: ReturnType<typeof makeS3>;
  readonly ssm: ReturnType<typeof makeSsm>;
  readonly destroy: () => void;
}
