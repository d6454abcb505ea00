import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Need } from './policy.ts';
import { type AwsAnswer, type AwsOperation, type AwsService, operation, refuse, snapshotOf } from './wire.ts';
import { localAccount, localRegion } from '#shared/stage/local-stage.ts';

const context = z.record(z.string(), z.string()).default({});
const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));
const keyId = z.string().min(1).max(2048);

/** Strict: a member that the emulator would have to ignore is refused by name. */
const inputs = {
  DescribeKey: z.strictObject({ KeyId: keyId }),
  DisableKey: z.strictObject({ KeyId: keyId }),
  Encrypt: z.strictObject({
    KeyId: keyId,
    Plaintext: bytes.refine(({ length }) => length >= 1 && length <= 4096),
    EncryptionContext: context,
  }),
  Decrypt: z.strictObject({ CiphertextBlob: bytes, KeyId: keyId.optional(), EncryptionContext: context }),
  GenerateDataKeyWithoutPlaintext: z.strictObject({
    KeyId: keyId,
    KeySpec: z.enum(['AES_128', 'AES_256']).optional(),
    NumberOfBytes: z.int().min(1).max(1024).optional(),
    EncryptionContext: context,
  }),
};

interface Key {
  readonly id: string;
  readonly arn: string;
  readonly material: Buffer;
  readonly createdAt: number;
  readonly description: string;
  readonly state: 'Enabled' | 'Disabled';
}

type Context = Readonly<Record<string, string>>;

export interface KmsEmulator extends AwsService {
  /** Creates a symmetric key under an alias (`alias/…`). */
  createKey(alias: string): void;
  /** What the caller needs to use a named key, or the one of a ciphertext. Nothing where there is no such key, which the operation then reports. */
  readonly needToUse: (action: string, key: string | Uint8Array, context?: Context) => readonly Need[];
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
 * version, key id, nonce, tag and the encrypted bytes, so that Decrypt finds the key by itself as in KMS. No grants, and only the
 * operations that the product calls or that identify the account of the KMS.
 */
export function createKms(now: () => number): KmsEmulator {
  const keys = new Map<string, Key>();
  const aliases = new Map<string, string>();

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

  function needToUse(action: string, reference: string | Uint8Array, bound: Context = {}): readonly Need[] {
    const key = typeof reference === 'string' ? find(reference) : ownerOf(reference);
    const keys = Object.entries(bound).map(([name, value]) => [`kms:EncryptionContext:${name}`, [value]]);
    return key === undefined
      ? []
      : [
          {
            action: `kms:${action}`,
            resource: key.arn,
            context: Object.fromEntries(keys) as Need['context'] & {},
          },
        ];
  }

  const operations = new Map<string, AwsOperation>(
    Object.entries({
      DescribeKey: operation(
        inputs.DescribeKey,
        ({ KeyId }) => needToUse('DescribeKey', KeyId),
        ({ KeyId }) => {
          const key = find(KeyId);
          return key === undefined ? notFound(KeyId) : ok({ KeyMetadata: metadata(key) });
        },
      ),
      DisableKey: operation(
        inputs.DisableKey,
        ({ KeyId }) => needToUse('DisableKey', KeyId),
        ({ KeyId }) => {
          const key = find(KeyId);
          if (key === undefined) return notFound(KeyId);
          keys.set(key.id, { ...key, state: 'Disabled' });
          return ok({});
        },
      ),
      Decrypt: operation(
        inputs.Decrypt,
        ({ CiphertextBlob, EncryptionContext }) => needToUse('Decrypt', CiphertextBlob, EncryptionContext),
        ({ CiphertextBlob, KeyId, EncryptionContext }) => {
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
        },
      ),
      Encrypt: operation(
        inputs.Encrypt,
        ({ KeyId, EncryptionContext }) => needToUse('Encrypt', KeyId, EncryptionContext),
        ({ KeyId, Plaintext, EncryptionContext }) => {
          const key = find(KeyId);
          if (key === undefined) return notFound(KeyId);
          const sealed = seal(key, Plaintext, EncryptionContext);
          return ok({
            KeyId: key.arn,
            CiphertextBlob: sealed.toString('base64'),
            EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
          });
        },
      ),
      GenerateDataKeyWithoutPlaintext: operation(
        inputs.GenerateDataKeyWithoutPlaintext,
        ({ KeyId, EncryptionContext }) =>
          needToUse('GenerateDataKeyWithoutPlaintext', KeyId, EncryptionContext),
        (input) => {
          const key = find(input.KeyId);
          if (key === undefined) return notFound(input.KeyId);
          if ((input.KeySpec === undefined) === (input.NumberOfBytes === undefined)) {
            return refuse('ValidationException', 'Please specify either number of bytes or key spec.');
          }
          const material = randomBytes(input.NumberOfBytes ?? (input.KeySpec === 'AES_128' ? 16 : 32));
          const sealed = seal(key, material, input.EncryptionContext);
          return ok({ KeyId: key.arn, CiphertextBlob: sealed.toString('base64') });
        },
      ),
    }),
  );

  return {
    name: 'kms',
    targetPrefix: 'TrentService',
    contentType: 'application/x-amz-json-1.1',
    operations,
    // No operation makes or changes a key.
    snapshot: () => snapshotOf(keys),
    createKey(alias) {
      const id = keyIdOf(alias);
      const arn = keyArnOf(alias);
      keys.set(id, {
        id,
        arn,
        material: randomBytes(32),
        createdAt: now(),
        description: alias,
        state: 'Enabled',
      });
      aliases.set(alias, id);
    },
    needToUse,
    encrypt(reference, plain, bound) {
      const key = find(reference);
      return key === undefined ? undefined : seal(key, plain, bound);
    },
    decrypt: open,
  };
}

/** The id of the key that the emulator makes for an alias: policies name it before there is one. */
function keyIdOf(alias: string): string {
  return deterministicUuid('local-kms-key', alias);
}

export function keyArnOf(alias: string): string {
  return `arn:aws:kms:${localRegion}:${localAccount}:key/${keyIdOf(alias)}`;
}

function metadata(key: Key): object {
  return {
    AWSAccountId: localAccount,
    Arn: key.arn,
    KeyId: key.id,
    CreationDate: key.createdAt / 1000,
    Description: key.description,
    Enabled: key.state === 'Enabled',
    EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'],
    KeyManager: 'CUSTOMER',
    KeySpec: 'SYMMETRIC_DEFAULT',
    KeyState: key.state,
    KeyUsage: 'ENCRYPT_DECRYPT',
    MultiRegion: false,
    Origin: 'AWS_KMS',
  };
}

function notFound(reference: string): AwsAnswer {
  return refuse('NotFoundException', `Key or alias '${reference}' does not exist`);
}
