import * as z from 'zod';
import { ok } from '#shared/kernel/result.ts';
import type { KmsEmulator } from './kms.ts';
import type { Need } from './policy.ts';
import { localAccount, localRegion } from '#shared/stage/local-stage.ts';
import { type AwsAnswer, type AwsOperation, type AwsService, operation, refuse, snapshotOf } from './wire.ts';

/** A name, or a path of at most 15 levels. A version or label selector (`name:3`) is not covered. */
const name = z
  .string()
  .max(1011)
  .regex(/^\/?[a-zA-Z0-9_.-]+(\/[a-zA-Z0-9_.-]+){0,14}$/)
  .refine((text) => !/^\/?(aws|ssm)/i.test(text), 'names may not begin with aws or ssm');

const inputs = {
  PutParameter: z.strictObject({
    Name: name,
    Value: z.string().min(1),
    Type: z.enum(['String', 'StringList', 'SecureString']).optional(),
    Overwrite: z.boolean().default(false),
    KeyId: z.string().optional(),
    Description: z.string().max(1024).optional(),
    Tier: z.enum(['Standard', 'Advanced', 'Intelligent-Tiering']).default('Standard'),
  }),
  GetParameter: z.strictObject({ Name: name, WithDecryption: z.boolean().default(false) }),
  GetParameters: z.strictObject({
    Names: z.array(name).min(1).max(10),
    WithDecryption: z.boolean().default(false),
  }),
  GetParametersByPath: z.strictObject({
    Path: z.string().regex(/^\/([a-zA-Z0-9_.-]+\/?)*$/),
    Recursive: z.boolean().default(false),
    WithDecryption: z.boolean().default(false),
    MaxResults: z.int().min(1).max(10).default(10),
    NextToken: z.string().optional(),
  }),
  DeleteParameter: z.strictObject({ Name: name }),
};

interface Parameter {
  readonly name: string;
  readonly type: 'String' | 'StringList' | 'SecureString';
  /** A SecureString's ciphertext in base64; the plain text otherwise. */
  readonly stored: string;
  readonly version: number;
  readonly modifiedAt: number;
}

const STANDARD_BYTES = 4096;
const ADVANCED_BYTES = 8192;
const DEFAULT_KEY = 'alias/aws/ssm';

/**
 * The parameter store in memory. A SecureString is kept encrypted under the account's default key (or the named one) and bound to its
 * own ARN, and is returned as ciphertext unless decryption is asked for. No history, no labels, no policies.
 */
export function createSsm(kms: KmsEmulator, now: () => number): AwsService {
  const parameters = new Map<string, Parameter>();
  kms.createKey(DEFAULT_KEY);

  function show(parameter: Parameter, decrypt: boolean): object {
    const arn = arnOf(parameter.name);
    return {
      Name: parameter.name,
      Type: parameter.type,
      Value: decrypt ? plainValue(parameter, arn) : parameter.stored,
      Version: parameter.version,
      LastModifiedDate: parameter.modifiedAt / 1000,
      ARN: arn,
      DataType: 'text',
    };
  }

  function plainValue({ type, stored }: Parameter, arn: string): string {
    if (type !== 'SecureString') return stored;
    const plain = kms.decrypt(Buffer.from(stored, 'base64'), { PARAMETER_ARN: arn });
    if (plain === undefined) throw new Error('local SSM: a stored secret does not open');
    return plain.toString();
  }

  function put(input: z.output<typeof inputs.PutParameter>): AwsAnswer {
    const existing = parameters.get(input.Name);
    const type = input.Type ?? existing?.type;
    if (type === undefined) {
      return refuse('ValidationException', 'A parameter type is required when you create a parameter.');
    }
    if (existing !== undefined && !input.Overwrite) {
      return refuse(
        'ParameterAlreadyExists',
        'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.',
      );
    }
    const limit = input.Tier === 'Standard' ? STANDARD_BYTES : ADVANCED_BYTES;
    if (Buffer.byteLength(input.Value) > limit) {
      return refuse(
        'ValidationException',
        `${input.Tier} tier parameters support a maximum of ${limit} bytes.`,
      );
    }
    let stored = input.Value;
    if (type === 'SecureString') {
      const sealed = kms.encrypt(input.KeyId ?? DEFAULT_KEY, Buffer.from(input.Value), {
        PARAMETER_ARN: arnOf(input.Name),
      });
      if (sealed === undefined) return refuse('InvalidKeyId', `Invalid keyId ${input.KeyId ?? DEFAULT_KEY}`);
      stored = sealed.toString('base64');
    } else if (input.KeyId !== undefined) {
      return refuse('ValidationException', 'KeyId is required for SecureString type parameter only.');
    }
    const version = (existing?.version ?? 0) + 1;
    parameters.set(input.Name, { name: input.Name, type, stored, version, modifiedAt: now() });
    return ok({ Version: version, Tier: input.Tier === 'Advanced' ? 'Advanced' : 'Standard' });
  }

  const need = (action: string, name: string): Need => ({ action: `ssm:${action}`, resource: arnOf(name) });

  /** What the caller needs to read these; with decryption also the key of each secret, but for the account's own, which serves the parameter store for everyone in it. */
  function needsToRead(
    action: string,
    names: readonly string[],
    decrypt: boolean,
    found: readonly (Parameter | undefined)[] = names.map((one) => parameters.get(one)),
  ): readonly Need[] {
    return [
      ...names.map((one) => need(action, one)),
      ...found.flatMap((parameter) =>
        decrypt && parameter?.type === 'SecureString'
          ? needsOfKey('Decrypt', Buffer.from(parameter.stored, 'base64'), parameter.name)
          : [],
      ),
    ];
  }

  function needsOfKey(action: string, key: string | Uint8Array, name: string): readonly Need[] {
    const [ofDefault] = kms.needToUse(action, DEFAULT_KEY);
    return kms
      .needToUse(action, key, { PARAMETER_ARN: arnOf(name) })
      .filter(({ resource }) => resource !== ofDefault?.resource);
  }

  const below = (path: string): readonly Parameter[] =>
    [...parameters.values()].filter((parameter) => parameter.name.startsWith(prefixOf(path)));

  function byPath(input: z.output<typeof inputs.GetParametersByPath>): AwsAnswer {
    const prefix = prefixOf(input.Path);
    const after = input.NextToken === undefined ? '' : Buffer.from(input.NextToken, 'base64url').toString();
    const found = below(input.Path)
      .filter((parameter) => parameter.name > after)
      .filter((parameter) => input.Recursive || !parameter.name.slice(prefix.length).includes('/'))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const page = found.slice(0, input.MaxResults);
    const last = page.at(-1);
    return ok({
      Parameters: page.map((parameter) => show(parameter, input.WithDecryption)),
      ...(found.length > page.length && last !== undefined
        ? { NextToken: Buffer.from(last.name).toString('base64url') }
        : {}),
    });
  }

  const operations = new Map<string, AwsOperation>(
    Object.entries({
      PutParameter: operation(
        inputs.PutParameter,
        ({ Name, KeyId }) => [
          need('PutParameter', Name),
          ...(KeyId === undefined ? [] : needsOfKey('Encrypt', KeyId, Name)),
        ],
        put,
      ),
      GetParameter: operation(
        inputs.GetParameter,
        ({ Name, WithDecryption }) => needsToRead('GetParameter', [Name], WithDecryption),
        ({ Name, WithDecryption }) => {
          const parameter = parameters.get(Name);
          return parameter === undefined
            ? refuse('ParameterNotFound', '')
            : ok({ Parameter: show(parameter, WithDecryption) });
        },
      ),
      GetParameters: operation(
        inputs.GetParameters,
        ({ Names, WithDecryption }) => needsToRead('GetParameters', Names, WithDecryption),
        ({ Names, WithDecryption }) => {
          const known = Names.flatMap((wanted) => parameters.get(wanted) ?? []);
          return ok({
            Parameters: known.map((parameter) => show(parameter, WithDecryption)),
            InvalidParameters: Names.filter((wanted) => !parameters.has(wanted)),
          });
        },
      ),
      GetParametersByPath: operation(
        inputs.GetParametersByPath,
        ({ Path, WithDecryption }) => needsToRead('GetParametersByPath', [Path], WithDecryption, below(Path)),
        byPath,
      ),
      DeleteParameter: operation(
        inputs.DeleteParameter,
        ({ Name }) => [need('DeleteParameter', Name)],
        ({ Name }) => (parameters.delete(Name) ? ok({}) : refuse('ParameterNotFound', '')),
      ),
    }),
  );

  return {
    name: 'ssm',
    targetPrefix: 'AmazonSSM',
    contentType: 'application/x-amz-json-1.1',
    operations,
    snapshot: () => snapshotOf(parameters),
  };
}

function prefixOf(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

function arnOf(parameter: string): string {
  return `arn:aws:ssm:${localRegion}:${localAccount}:parameter${parameter.startsWith('/') ? '' : '/'}${parameter}`;
}
