import { DecryptCommand, EncryptCommand, InvalidCiphertextException } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localKeyAlias } from '#shared/stage/local-stage.ts';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';

const EncryptionContext = { stage: 'local', purpose: 'continuation', kid: 'k1' };

let test: TestAws;
beforeAll(async () => {
  test = await startTestAws();
});
afterAll(() => test.close());

const encrypt = async (text: string, KeyId = localKeyAlias) => {
  const sealed = await test.kms.send(
    new EncryptCommand({ KeyId, Plaintext: Buffer.from(text), EncryptionContext }),
  );
  return sealed.CiphertextBlob!;
};
const decrypt = async (CiphertextBlob: Uint8Array, context: Record<string, string> = EncryptionContext) => {
  const opened = await test.kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: context }));
  return Buffer.from(opened.Plaintext!).toString();
};

describe('the KMS emulator, through the SDK client', () => {
  it.each([
    ['another value', { ...EncryptionContext, purpose: 'idempotency' }],
    ['a further pair', { ...EncryptionContext, more: '1' }],
    ['a missing pair', { stage: 'local', purpose: 'continuation' }],
    ['no context', {}],
  ])('does not open under a context with %s', async (_, context) => {
    await expect(decrypt(await encrypt('secret'), context)).rejects.toBeInstanceOf(
      InvalidCiphertextException,
    );
  });

  it('does not open a changed, cut or foreign ciphertext', async () => {
    const sealed = Buffer.from(await encrypt('secret'));
    for (const position of [0, 5, 40, 60, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[position] = changed[position]! ^ 1;
      await expect(decrypt(changed), `byte ${position}`).rejects.toBeInstanceOf(InvalidCiphertextException);
    }
    await expect(decrypt(sealed.subarray(0, 20))).rejects.toBeInstanceOf(InvalidCiphertextException);
    const other = await startTestAws();
    const opened = other.kms.send(new DecryptCommand({ CiphertextBlob: sealed, EncryptionContext }));
    await expect(opened).rejects.toBeInstanceOf(InvalidCiphertextException);
    await other.close();
  });
});
