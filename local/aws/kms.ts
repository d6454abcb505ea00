import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { ok } from '#shared/kernel/result.ts';
import type { AwsAnswer, AwsOperation, AwsService } from './wire.ts';
import { operation, refuse, snapshotOf } from './wire.ts';
import { localAccount, localRegion } from '#shared/stage/local-stage.ts';

const context = z.record(z.string(), z.string()).default({});
const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));
const keyId = z.string().min(1).max(2048);
const plaintext = bytes.refine((value) => value.length >= 1 && value.length <= 4096, '1 to 4096 bytes');

const dataKeyInput = z.strictObject({
  KeyId: keyId,
  KeySpec: z.enum(['AES_128', 'AES_256']).optional(),
  NumberOfBytes: z.int().min(1).max(1024).optional(),
  EncryptionContext: context,
});

/** Strict: a member that the emulator would have to ignore is refused by name. */
const inputs = {
  CreateKey: z.strictObject({ Description: z.string().optional() }),
  CreateAlias: z.strictObject({
    AliasName: z.string().regex(/^alias\/(?!aws\/)[a-zA-Z0-9/_-]+$/),
    TargetKeyId: keyId,
  }),
  DescribeKey: z.strictObject({ KeyId: keyId }),
  Encrypt: z.strictObject({ KeyId: keyId, Plaintext: plaintext, EncryptionContext: context }),
  Decrypt: z.strictObject({ CiphertextBlob: bytes, KeyId: keyId.optional(), EncryptionContext: context }),
  GenerateDataKey: dataKeyInput,
  GenerateDataKeyWithoutPlaintext: dataKeyInput,
};

interface Key {
  readonly id: string;
  readonly arn: string;
  readonly material: Buffer;
  readonly createdAt: number;
  readonly description: string;
}

export interface KmsEmulator extends AwsService {
  /** Creates a symmetric key under an alias (`alias/…`) and returns the key's id. */
  createKey(alias: string): string;
  /** The service's own use of a key, as Systems Manager makes it. Undefined when there is no such key. */
  encrypt(
    keyId: string,
    plaintext: Uint8Array,
    context: Readonly<Record<string, string>>,
  ): Buffer | undefined;
  /** Undefined for a ciphertext that is not of this KMS or not of this context. */
  decrypt(ciphertext: Uint8Array, context: Readonly<Record<string, string>>): Buffer | undefined;
}

const VERSION = 1;
const KEY_ID_LENGTH = 36;
const IV_LENGTH = 12;
const TAG_LENGTH = 16;
const HEADER_LENGTH = 1 + KEY_ID_LENGTH + IV_LENGTH + TAG_LENGTH;

/**
 * KMS in memory: symmetric keys, AES-256-GCM with the encryption context as additional authenticated data. A ciphertext is
 * version, key id, nonce, tag and the encrypted bytes, so that Decrypt finds the key by itself as in KMS. No policies, no grants.
 */
export function createKms(now: () => number): KmsEmulator {
  const keys = new Map<string, Key>();
  const aliases = new Map<string, string>();

  function addKey(description: string): Key {
    const id = randomUUID();
    const key = {
      id,
      arn: `arn:aws:kms:${localRegion}:${localAccount}:key/${id}`,
      material: randomBytes(32),
      createdAt: now(),
      description,
    };
    keys.set(id, key);
    return key;
  }

  function find(reference: string): Key | undefined {
    const name = reference.startsWith('arn:') ? reference.split(':').slice(5).join(':') : reference;
    const id = name.startsWith('alias/') ? aliases.get(name) : name.replace(/^key\//, '');
    return id === undefined ? undefined : keys.get(id);
  }

  function seal(key: Key, plain: Uint8Array, bound: Readonly<Record<string, string>>): Buffer {
    const iv = randomBytes(IV_LENGTH);
    const cipher = createCipheriv('aes-256-gcm', key.material, iv);
    cipher.setAAD(Buffer.from(canonicalJson(bound)));
    const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id), iv, cipher.getAuthTag(), encrypted]);
  }

  function ownerOf(ciphertext: Uint8Array): Key | undefined {
    if (ciphertext.length <= HEADER_LENGTH || ciphertext[0] !== VERSION) return undefined;
    return keys.get(Buffer.from(ciphertext.subarray(1, 1 + KEY_ID_LENGTH)).toString());
  }

  function open(ciphertext: Uint8Array, bound: Readonly<Record<string, string>>): Buffer | undefined {
    const key = ownerOf(ciphertext);
    if (key === undefined) return undefined;
    const iv = ciphertext.subarray(1 + KEY_ID_LENGTH, 1 + KEY_ID_LENGTH + IV_LENGTH);
    const decipher = createDecipheriv('aes-256-gcm', key.material, iv, { authTagLength: TAG_LENGTH });
    decipher.setAAD(Buffer.from(canonicalJson(bound)));
    decipher.setAuthTag(ciphertext.subarray(HEADER_LENGTH - TAG_LENGTH, HEADER_LENGTH));
    try {
      return Buffer.concat([decipher.update(ciphertext.subarray(HEADER_LENGTH)), decipher.final()]);
    } catch {
      // A wrong context and a changed byte look alike, as in KMS.
      return undefined;
    }
  }

  function dataKey(input: z.output<typeof inputs.GenerateDataKey>, withPlaintext: boolean): AwsAnswer {
    const key = find(input.KeyId);
    if (key === undefined) return notFound(input.KeyId);
    if ((input.KeySpec === undefined) === (input.NumberOfBytes === undefined)) {
      return refuse('ValidationException', 'Please specify either number of bytes or key spec.');
    }
    const material = randomBytes(input.NumberOfBytes ?? (input.KeySpec === 'AES_128' ? 16 : 32));
    return ok({
      KeyId: key.arn,
      CiphertextBlob: seal(key, material, input.EncryptionContext).toString('base64'),
      ...(withPlaintext ? { Plaintext: material.toString('base64') } : {}),
    });
  }

  const operations = new Map<string, AwsOperation>([
    [
      'CreateKey',
      operation(inputs.CreateKey, (input) => ok({ KeyMetadata: metadata(addKey(input.Description ?? '')) })),
    ],
    [
      'CreateAlias',
      operation(inputs.CreateAlias, ({ AliasName, TargetKeyId }) => {
        const key = find(TargetKeyId);
        if (key === undefined) return notFound(TargetKeyId);
        if (aliases.has(AliasName)) {
          return refuse('AlreadyExistsException', `An alias with the name ${AliasName} already exists`);
        }
        aliases.set(AliasName, key.id);
        return ok({});
      }),
    ],
    [
      'DescribeKey',
      operation(inputs.DescribeKey, ({ KeyId }) => {
        const key = find(KeyId);
        return key === undefined ? notFound(KeyId) : ok({ KeyMetadata: metadata(key) });
      }),
    ],
    [
      'Encrypt',
      operation(inputs.Encrypt, ({ KeyId, Plaintext, EncryptionContext }) => {
        const key = find(KeyId);
        if (key === undefined) return notFound(KeyId);
        return ok({
          KeyId: key.arn,
          CiphertextBlob: seal(key, Plaintext, EncryptionContext).toString('base64'),
          EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
        });
      }),
    ],
    [
      'Decrypt',
      operation(inputs.Decrypt, ({ CiphertextBlob, KeyId, EncryptionContext }) => {
        const owner = ownerOf(CiphertextBlob);
        if (KeyId !== undefined) {
          const named = find(KeyId);
          if (named === undefined) return notFound(KeyId);
          if (owner !== undefined && named.id !== owner.id) {
            return refuse(
              'IncorrectKeyException',
              'The key ID in the request does not identify a CMK that can perform this operation.',
            );
          }
        }
        const plain = open(CiphertextBlob, EncryptionContext);
        if (owner === undefined || plain === undefined) return refuse('InvalidCiphertextException', '');
        return ok({
          KeyId: owner.arn,
          Plaintext: plain.toString('base64'),
          EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
        });
      }),
    ],
    ['GenerateDataKey', operation(inputs.GenerateDataKey, (input) => dataKey(input, true))],
    [
      'GenerateDataKeyWithoutPlaintext',
      operation(inputs.GenerateDataKeyWithoutPlaintext, (input) => dataKey(input, false)),
    ],
  ]);

  return {
    name: 'kms',
    targetPrefix: 'TrentService',
    contentType: 'application/x-amz-json-1.1',
    operations,
    snapshot() {
      const restores = [snapshotOf(keys), snapshotOf(aliases)];
      return () => {
        for (const restore of restores) void restore();
      };
    },
    createKey(alias) {
      const key = addKey(alias);
      aliases.set(alias, key.id);
      return key.id;
    },
    encrypt(reference, plain, bound) {
      const key = find(reference);
      return key === undefined ? undefined : seal(key, plain, bound);
    },
    decrypt: open,
  };
}

function metadata(key: Key): object {
  return {
    AWSAccountId: localAccount,
    Arn: key.arn,
    KeyId: key.id,
    CreationDate: key.createdAt / 1000,
    Description: key.description,
    Enabled: true,
    EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'],
    KeyManager: 'CUSTOMER',
    KeySpec: 'SYMMETRIC_DEFAULT',
    KeyState: 'Enabled',
    KeyUsage: 'ENCRYPT_DECRYPT',
    MultiRegion: false,
    Origin: 'AWS_KMS',
  };
}

function notFound(reference: string): AwsAnswer {
  return refuse('NotFoundException', `Key or alias '${reference}' does not exist`);
}
