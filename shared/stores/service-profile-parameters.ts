import {
  DeleteParameterCommand,
  GetParametersCommand,
  paginateGetParametersByPath,
  ParameterNotFound,
  PutParameterCommand,
  type Parameter,
  type SSMClient,
} from '@aws-sdk/client-ssm';
import { profileParameters } from '#shared/platform/service-profiles.ts';
import type { ProfileParameter, ProfileParameters } from '#shared/platform/service-profiles.ts';

/** What an operator has provisioned for a tenant. */
export interface ProvisionedProfile {
  readonly parameters: ProfileParameters;
  /** Which value the credential's parameter has: another one has another text. Empty without one. */
  readonly source: string;
}

/** The parameters of profiles, for operators only: functions read what `npm run release -- profile` has stored. Throws SSM's errors. */
export interface ServiceProfileParameters {
  /** Returns what exists of a tenant's profile. */
  read(tenantId: string): Promise<ProvisionedProfile>;
  /** Returns all profiles by the names of their folders, their credentials encrypted. */
  list(): Promise<ReadonlyMap<string, ProvisionedProfile>>;
  /** Writes a tenant's profile over an earlier one; it writes the credential last, so that a new profile is complete when it appears. */
  write(tenantId: string, profile: ProfileParameters): Promise<void>;
  /** Deletes a tenant's profile, beginning with its credential. */
  remove(tenantId: string): Promise<void>;
}

/**
 * Opens the service profiles in Systems Manager, below `{path}/{base64url(tenantId)}`: `PLATFORM_TENANT` and `PLATFORM_URL` (String), `PLATFORM_JWT`
 * (SecureString), `ANALYSIS_POLICY_ID` (String) if improvement runs are analyzed, and `RESULTS_KC_COMPONENTS` (String) if Results accepts KC
 * components. The encoding keeps every tenant id within the characters of a parameter's name and within its own path. Reading is one call by name: it
 * needs `ssm:GetParameters` (and `kms:Decrypt` of the parameter's key), listing `ssm:GetParametersByPath`, writing `ssm:PutParameter`, removing
 * `ssm:DeleteParameter`.
 * @param key the KMS key under which credentials are written; absent: the account's own for parameters
 */
export function createServiceProfileParameters(
  ssm: SSMClient,
  path: string,
  key?: string,
): ServiceProfileParameters {
  const base = path.replace(/\/+$/, '');
  const nameOf = (tenantId: string, parameter: ProfileParameter): string =>
    `${base}/${folderOf(tenantId)}/${parameter}`;

  return {
    async read(tenantId) {
      if (tenantId === '') return provisioned([]);
      const Names = profileParameters.map((parameter) => nameOf(tenantId, parameter));
      const { Parameters: found = [] } = await ssm.send(
        new GetParametersCommand({ Names, WithDecryption: true }),
      );
      return provisioned(found);
    },
    async list() {
      const found: Parameter[] = [];
      for await (const page of paginateGetParametersByPath({ client: ssm }, { Path: base, Recursive: true }))
        found.push(...(page.Parameters ?? []));
      const folders = Map.groupBy(found, ({ Name = '' }) => Name.split('/').at(-2) ?? '');
      return new Map([...folders].map(([folder, its]) => [folder, provisioned(its)]));
    },
    async write(tenantId, profile) {
      if (tenantId === '') throw new TypeError('a service profile belongs to a tenant');
      for (const parameter of profileParameters) {
        const [Name, Value] = [nameOf(tenantId, parameter), profile[parameter]];
        if (Value === undefined) continue;
        const Type = parameter === 'PLATFORM_JWT' ? 'SecureString' : 'String';
        const KeyId = Type === 'SecureString' ? key : undefined;
        await ssm.send(new PutParameterCommand({ Name, Value, Type, KeyId, Overwrite: true }));
      }
    },
    async remove(tenantId) {
      for (const parameter of profileParameters.toReversed()) {
        try {
          await ssm.send(new DeleteParameterCommand({ Name: nameOf(tenantId, parameter) }));
        } catch (error) {
          if (!(error instanceof ParameterNotFound)) throw error;
        }
      }
    },
  };
}

/** Returns the name of a tenant's folder. */
export function folderOf(tenantId: string): string {
  return Buffer.from(tenantId).toString('base64url');
}

function provisioned(found: readonly Parameter[]): ProvisionedProfile {
  const named = new Map(found.map((parameter) => [parameter.Name?.split('/').at(-1), parameter]));
  const { Version, LastModifiedDate } = named.get('PLATFORM_JWT') ?? {};
  return {
    parameters: Object.fromEntries(profileParameters.map((name) => [name, named.get(name)?.Value])),
    source: Version === undefined ? '' : `${Version} ${LastModifiedDate?.toISOString() ?? ''}`,
  };
}
