import { GetParametersCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import type { SSMClient } from '@aws-sdk/client-ssm';
import type { ProfileParameterReader, ProfileParameters } from '#shared/platform/service-profiles.ts';

const parameterNames = [
  'PLATFORM_TENANT',
  'PLATFORM_URL',
  'PLATFORM_JWT',
  'ANALYSIS_POLICY_ID',
  'RESULTS_KC_COMPONENTS',
] as const;
type ParameterName = (typeof parameterNames)[number];

/** `read`: undefined when the tenant has no profile, or not all of it yet; throws when the parameter store does not answer. */
interface ServiceProfileStore extends ProfileParameterReader {
  /** Writes a tenant's profile over an earlier one; the credential goes last, so that a new profile is complete when it appears. */
  write(tenantId: string, profile: ProfileParameters): Promise<void>;
}

/**
 * Service profiles in Systems Manager, below `{path}/{base64url(tenantId)}`: `PLATFORM_TENANT` and `PLATFORM_URL` (String),
 * `PLATFORM_JWT` (SecureString), `ANALYSIS_POLICY_ID` (String) where improvement runs are analyzed, and `RESULTS_KC_COMPONENTS` (String)
 * where Results takes KC components. The encoding keeps every tenant id within the characters of a parameter's name and within its own path.
 * Reading is one call by name: it needs `ssm:GetParameters` (and `kms:Decrypt` of the parameter's key), writing `ssm:PutParameter`.
 */
export function createServiceProfileParameters(ssm: SSMClient, path: string): ServiceProfileStore {
  const base = path.replace(/\/+$/, '');
  const folder = (tenantId: string): string => `${base}/${Buffer.from(tenantId).toString('base64url')}`;

  return {
    async read(tenantId) {
      if (tenantId === '') return undefined;
      const name = (parameter: string): string => `${folder(tenantId)}/${parameter}`;
      const { Parameters: parameters = [] } = await ssm.send(
        new GetParametersCommand({ Names: parameterNames.map(name), WithDecryption: true }),
      );
      const value = (parameter: ParameterName): string | undefined =>
        parameters.find((found) => found.Name === name(parameter))?.Value;
      const tenant = value('PLATFORM_TENANT');
      const jwt = value('PLATFORM_JWT');
      const url = value('PLATFORM_URL');
      if (tenant === undefined || jwt === undefined || url === undefined) return undefined;
      const analysisPolicyId = value('ANALYSIS_POLICY_ID');
      const resultsKcComponents = value('RESULTS_KC_COMPONENTS');
      return { tenant, jwt, url, analysisPolicyId, resultsKcComponents };
    },
    async write(tenantId, { tenant, jwt, url, analysisPolicyId, resultsKcComponents }) {
      if (tenantId === '') throw new TypeError('a service profile belongs to a tenant');
      const values: readonly (readonly [ParameterName, string | undefined])[] = [
        ['PLATFORM_TENANT', tenant],
        ['PLATFORM_URL', url],
        ['ANALYSIS_POLICY_ID', analysisPolicyId],
        ['RESULTS_KC_COMPONENTS', resultsKcComponents],
        ['PLATFORM_JWT', jwt],
      ];
      for (const [name, value] of values) {
        if (value === undefined) continue;
        const Type = name === 'PLATFORM_JWT' ? 'SecureString' : 'String';
        const Name = `${folder(tenantId)}/${name}`;
        await ssm.send(new PutParameterCommand({ Name, Value: value, Type, Overwrite: true }));
      }
    },
  };
}
