import { DecryptCommand, GenerateDataKeyWithoutPlaintextCommand, type KMSClient } from '@aws-sdk/client-kms';
import type { DataKeyMaker, DataKeyOpener } from '#shared/keys/key-record.ts';

/** Unwraps data keys. Throws if KMS refuses or does not respond. Needs `kms:Decrypt`, which the role may have for single purposes. */
export function createDataKeyOpener(client: KMSClient): DataKeyOpener {
  return {
    async open(wrappedKey, context, signal) {
      const { Plaintext: key } = await client.send(
        new DecryptCommand({ CiphertextBlob: wrappedKey, EncryptionContext: context }),
        signal === undefined ? {} : { abortSignal: signal },
      );
      if (key === undefined) throw new Error('KMS Decrypt returned no plaintext');
      return key;
    },
  };
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
