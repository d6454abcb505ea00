import { GetParametersCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { profileParameters } from '#shared/platform/service-profiles.ts';
import type {
  ProfileParameter,
  ProfileParameterReader,
  ProfileParameters,
} from '#shared/platform/service-profiles.ts';

/** `read` returns what exists of a tenant's profile; it throws if the parameter store does not respond. */
interface ServiceProfileStore extends ProfileParameterReader {
  /** Writes a tenant's profile over an earlier one; it writes the credential last, so that a new profile is complete when it appears. */
  write(tenantId: string, profile: ProfileParameters): Promise<void>;
}

/**
 * Opens the service profiles in Systems Manager, below `{path}/{base64url(tenantId)}`: `PLATFORM_TENANT` and `PLATFORM_URL` (String), `PLATFORM_JWT`
 * (SecureString), `ANALYSIS_POLICY_ID` (String) if improvement runs are analyzed, and `RESULTS_KC_COMPONENTS` (String) if Results accepts KC
 * components. The encoding keeps every tenant id within the characters of a parameter's name and within its own path. Reading is one call by name: it
 * needs `ssm:GetParameters` (and `kms:Decrypt` of the parameter's key), writing `ssm:PutParameter`.
 * @param key the KMS key under which credentials are written; absent: the account's own for parameters
 */
export function createServiceProfileParameters(
  ssm: SSMClient,
  path: string,
  key?: string,
): ServiceProfileStore {
  const base = path.replace(/\/+$/, '');
  const nameOf = (tenantId: string, parameter: ProfileParameter): string =>
    `${base}/${Buffer.from(tenantId).toString('base64url')}/${parameter}`;

  return {
    async read(tenantId) {
      if (tenantId === '') return {};
      const Names = profileParameters.map((parameter) => nameOf(tenantId, parameter));
      const { Parameters: found = [] } = await ssm.send(
        new GetParametersCommand({ Names, WithDecryption: true }),
      );
      const values = new Map(found.map(({ Name, Value }) => [Name, Value]));
      return Object.fromEntries(
        profileParameters.map((parameter, index) => [parameter, values.get(Names[index])]),
      );
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
  };
}
