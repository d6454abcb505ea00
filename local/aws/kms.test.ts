import {
  AlreadyExistsException,
  CreateAliasCommand,
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  IncorrectKeyException,
  InvalidCiphertextException,
  NotFoundException,
  SignCommand,
} from '@aws-sdk/client-kms';
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
  it('opens what it sealed, in any order of the same context, without being told the key', async () => {
    const sealed = await encrypt('secret');
    expect(Buffer.from(sealed).includes('secret')).toBe(false);
    expect(await decrypt(sealed, { kid: 'k1', purpose: 'continuation', stage: 'local' })).toBe('secret');
    expect(Buffer.from(await encrypt('secret')).equals(Buffer.from(sealed))).toBe(false);
  });

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

  it('generates data keys, with and without their plaintext', async () => {
    const shown = await test.kms.send(
      new GenerateDataKeyCommand({ KeyId: localKeyAlias, KeySpec: 'AES_256', EncryptionContext }),
    );
    expect(shown.Plaintext).toHaveLength(32);
    const opened = await test.kms.send(
      new DecryptCommand({ CiphertextBlob: shown.CiphertextBlob, EncryptionContext }),
    );
    expect(Buffer.from(opened.Plaintext!).equals(Buffer.from(shown.Plaintext!))).toBe(true);

    const hidden = await test.kms.send(
      new GenerateDataKeyWithoutPlaintextCommand({
        KeyId: localKeyAlias,
        NumberOfBytes: 16,
        EncryptionContext,
      }),
    );
    expect(hidden).not.toHaveProperty('Plaintext');
    const opened16 = await test.kms.send(
      new DecryptCommand({ CiphertextBlob: hidden.CiphertextBlob, EncryptionContext }),
    );
    expect(opened16.Plaintext).toHaveLength(16);
    await expect(
      test.kms.send(new GenerateDataKeyCommand({ KeyId: localKeyAlias, EncryptionContext })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('finds a key by id, ARN and alias, and refuses the wrong or an unknown one', async () => {
    const { KeyMetadata } = await test.kms.send(new CreateKeyCommand({ Description: 'second' }));
    const id = KeyMetadata!.KeyId!;
    await test.kms.send(new CreateAliasCommand({ AliasName: 'alias/second', TargetKeyId: id }));
    for (const KeyId of [id, KeyMetadata!.Arn!, 'alias/second']) {
      const described = await test.kms.send(new DescribeKeyCommand({ KeyId }));
      expect(described.KeyMetadata?.KeyId).toBe(id);
    }
    const sealed = await encrypt('secret', 'alias/second');
    await expect(
      test.kms.send(new DecryptCommand({ CiphertextBlob: sealed, KeyId: localKeyAlias, EncryptionContext })),
    ).rejects.toBeInstanceOf(IncorrectKeyException);
    await expect(encrypt('secret', 'alias/third')).rejects.toBeInstanceOf(NotFoundException);
    await expect(
      test.kms.send(new CreateAliasCommand({ AliasName: 'alias/second', TargetKeyId: id })),
    ).rejects.toBeInstanceOf(AlreadyExistsException);
  });

  it('refuses operations and members that it does not cover', async () => {
    await expect(
      test.kms.send(
        new SignCommand({ KeyId: localKeyAlias, Message: Buffer.of(1), SigningAlgorithm: 'ECDSA_SHA_256' }),
      ),
    ).rejects.toMatchObject({ name: 'UnknownOperationException' });
    await expect(
      test.kms.send(new EncryptCommand({ KeyId: localKeyAlias, Plaintext: Buffer.of(1), DryRun: true })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
  });
});
