import { dynamo, kms, ssm } from '#shared/stores/clients.ts';

/** What the import of a bundle is compared with: a handler that makes the SDK's clients and does nothing. */
export const handler = (): readonly unknown[] => [dynamo(), kms(), ssm()];
