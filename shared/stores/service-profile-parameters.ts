import { GetParametersCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import type { SSMClient } from '@aws-sdk/client-ssm';
import type { ProfileParameterReader, ProfileParameters } from '#shared/platform/service-profiles.ts';

/** The parameter of each fact, in the order in which they are written: the credential goes last. */
const parameterNames = {
  tenant: 'PLATFORM_TENANT',
  url: 'PLATFORM_URL',
  analysisPolicyId: 'ANALYSIS_POLICY_ID',
  resultsKcComponents: 'RESULTS_KC_COMPONENTS',
  jwt: 'PLATFORM_JWT',
} as const satisfies Readonly<Record<keyof ProfileParameters, string>>;
// SAFETY: the object has these keys and no other.
const facts = Object.keys(parameterNames) as readonly (keyof ProfileParameters)[];

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
  const nameOf = (tenantId: string, fact: keyof ProfileParameters): string =>
    `${base}/${Buffer.from(tenantId).toString('base64url')}/${parameterNames[fact]}`;

  return {
    async read(tenantId) {
      if (tenantId === '') return undefined;
      const { Parameters: parameters = [] } = await ssm.send(
        new GetParametersCommand({
          Names: facts.map((fact) => nameOf(tenantId, fact)),
          WithDecryption: true,
        }),
      );
      const values = new Map(parameters.map(({ Name, Value }) => [Name, Value]));
      const value = (fact: keyof ProfileParameters): string | undefined => values.get(nameOf(tenantId, fact));
      const [tenant, jwt, url] = [value('tenant'), value('jwt'), value('url')];
      if (tenant === undefined || jwt === undefined || url === undefined) return undefined;
      const [analysisPolicyId, resultsKcComponents] = [
        value('analysisPolicyId'),
        value('resultsKcComponents'),
      ];
      return { tenant, jwt, url, analysisPolicyId, resultsKcComponents };
    },
    async write(tenantId, profile) {
      if (tenantId === '') throw new TypeError('a service profile belongs to a tenant');
      for (const fact of facts) {
        if (profile[fact] === undefined) continue;
        const [Name, Type] = [nameOf(tenantId, fact), fact === 'jwt' ? 'SecureString' : 'String'] as const;
        await ssm.send(new PutParameterCommand({ Name, Value: profile[fact], Type, Overwrite: true }));
      }
    },
  };
}
