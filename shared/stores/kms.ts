import {
  DecryptCommand,
  EncryptCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  InvalidCiphertextException,
  type KMSClient,
} from '@aws-sdk/client-kms';
import type { DataKeyMaker, DataKeyOpener } from '#shared/keys/key-record.ts';

/** Unwraps data keys. Throws if KMS refuses or does not respond. Needs `kms:Decrypt`, which the role may have for single purposes. */
export function createDataKeyOpener(client: KMSClient): DataKeyOpener {
  return { open: (wrappedKey, context, signal) => decrypt(client, wrappedKey, context, signal) };
}

async function decrypt(
  client: KMSClient,
  CiphertextBlob: Uint8Array,
  EncryptionContext: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { Plaintext: plain } = await client.send(
    new DecryptCommand({ CiphertextBlob, EncryptionContext }),
    signal === undefined ? {} : { abortSignal: signal },
  );
  if (plain === undefined) throw new Error('KMS Decrypt returned no plaintext');
  return plain;
}

/** The context that a tenant's credential is bound to: KMS opens it for no other tenant. */
const credentialContext = (stage: string, tenantId: string) => ({ stage, purpose: 'profile', tenantId });

/**
 * Unwraps the credential of a tenant's profile. Returns undefined for bytes that were not wrapped for it; throws if KMS denies access or does not
 * respond. Needs `kms:Decrypt`.
 */
export async function openCredential(
  client: KMSClient,
  stage: string,
  wrapped: Uint8Array,
  tenantId: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return Buffer.from(await decrypt(client, wrapped, credentialContext(stage, tenantId), signal)).toString();
  } catch (error) {
    if (error instanceof InvalidCiphertextException) return undefined;
    throw error;
  }
}

/** Wraps the credential of a tenant's profile, at most 4,096 bytes, under a KMS key. Needs `kms:Encrypt`. */
export async function wrapCredential(
  client: KMSClient,
  { keyId: KeyId, stage, tenantId }: Readonly<Record<'keyId' | 'stage' | 'tenantId', string>>,
  credential: string,
): Promise<Uint8Array> {
  const { CiphertextBlob: wrapped } = await client.send(
    new EncryptCommand({
      KeyId,
      Plaintext: Buffer.from(credential),
      EncryptionContext: credentialContext(stage, tenantId),
    }),
  );
  if (wrapped === undefined) throw new Error('KMS Encrypt returned no ciphertext');
  return wrapped;
}

/** Creates 256-bit data keys under a KMS key (id, ARN or `alias/…`). Needs `kms:GenerateDataKeyWithoutPlaintext` only. */
export function createDataKeyMaker(client: KMSClient, keyId: string): DataKeyMaker {
  return {
    async make(context) {
      const { CiphertextBlob: wrappedKey } = await client.send(
        new GenerateDataKeyWithoutPlaintextCommand({
          KeyId: keyId,
          KeySpec: 'AES_256',
          EncryptionContext: context,
        }),
      );
      if (wrappedKey === undefined) throw new Error('KMS returned no wrapped key');
      return wrappedKey;
    },
  };
}
