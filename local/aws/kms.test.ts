import {
  DecryptCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  InvalidCiphertextException,
} from '@aws-sdk/client-kms';
import { expect, it } from 'vitest';
import { localKeyAlias } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';

const EncryptionContext = { stage: 'local', purpose: 'continuation', kid: 'k1' };
const test = useTestAws();
const other = useTestAws();

it('the KMS emulator opens a ciphertext that it made, unchanged and whole, under the context of its making alone', async () => {
  const made = await test.kms.send(
    new GenerateDataKeyWithoutPlaintextCommand({
      KeyId: localKeyAlias,
      KeySpec: 'AES_256',
      EncryptionContext,
    }),
  );
  const sealed = Buffer.from(made.CiphertextBlob!);
  const opening = async (CiphertextBlob: Uint8Array, context: Record<string, string>, { kms } = test) =>
    (await kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: context }))).Plaintext;
  expect(await opening(sealed, EncryptionContext)).toHaveLength(32);
  const { kid, ...lacking } = EncryptionContext;
  for (const context of [
    { ...EncryptionContext, kid: `${kid}0` },
    { ...EncryptionContext, more: '1' },
    lacking,
    {},
  ])
    await expect(opening(sealed, context)).rejects.toBeInstanceOf(InvalidCiphertextException);
  const changed = [0, 5, 40, 60, sealed.length - 1].map((position) =>
    sealed.with(position, sealed[position]! ^ 1),
  );
  for (const bytes of [...changed, sealed.subarray(0, 20)])
    await expect(opening(bytes, EncryptionContext)).rejects.toBeInstanceOf(InvalidCiphertextException);
  const foreign = opening(sealed, EncryptionContext, other);
  await expect(foreign).rejects.toBeInstanceOf(InvalidCiphertextException);
});
