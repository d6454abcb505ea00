import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { ssm, useSettings } from '#shared/stores/clients.ts';
import { ownCredentials } from './app-context.ts';
import { awsFailure } from './aws-failure.ts';
import type { Stage } from './stages.ts';

/** An account and a region. */
export interface Place {
  readonly account: `${number}`;
  readonly region: string;
}

/**
 * The one door to a deployed stage: every command enters it before its first call, and then takes its clients from
 * `shared/stores/clients.ts`. The region is the stage's, whatever the shell has. The account of the very credentials that all later calls
 * use is asked of STS, and must be the stage's. A stage without an account of its own (`agnostic`) follows the credentials and their region.
 * @param profile a profile of the shared configuration files, in place of the shell's credentials
 */
export async function enterStage(
  { name, config: { environment } }: Stage,
  profile?: string,
): Promise<Result<Place, string>> {
  // Beside a named profile, the SDK would warn of these, and a later version prefer them.
  if (profile !== undefined) for (const name of ownCredentials) Reflect.deleteProperty(process.env, name);
  useSettings({
    ...(environment === 'agnostic' ? {} : { region: environment.region }),
    ...(profile === undefined ? {} : { profile }),
  });
  const { config } = ssm();
  try {
    const region = await config.region();
    const { credentials } = config;
    useSettings({ region, credentials });
    const account = await askAccount(region, credentials);
    if (!account.ok) return account;
    return environment !== 'agnostic' && account.value !== environment.account
      ? err(
          `${name} belongs to account ${environment.account}, but these credentials are of account ${account.value}: choose the stage’s with --profile or AWS_PROFILE`,
        )
      : ok({ account: account.value, region });
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(message);
  }
}

/** What STS returns, as far as it is read. */
const identity = z.object({
  GetCallerIdentityResponse: z.object({
    GetCallerIdentityResult: z.object({ Account: z.string().regex(/^\d{12}$/) }),
  }),
});
const refusal = z.object({ Error: z.object({ Code: z.string(), Message: z.string() }) });

/** `GetCallerIdentity`, signed here: of the SDK only signing and credentials are installed, and a client for one call is a dependency more. */
async function askAccount(
  region: string,
  credentials: Parameters<typeof sign>[2],
): Promise<Result<Place['account'], string>> {
  const endpoint = stsEndpoint(region);
  const body = 'Action=GetCallerIdentity&Version=2011-06-15';
  const headers = await sign(endpoint, region, credentials, body);
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(30_000),
    });
    answer = JSON.parse(await response.text());
  } catch (error) {
    const { cause = error } = error instanceof Error ? error : {};
    return err(awsFailure(cause) ?? `AWS cannot be reached: no usable response from ${endpoint.host}`);
  }
  const found = identity.safeParse(answer);
  if (response.ok && found.success) {
    // SAFETY: the schema allows digits only.
    return ok(found.data.GetCallerIdentityResponse.GetCallerIdentityResult.Account as Place['account']);
  }
  const refused = refusal.safeParse(answer);
  return err(
    refused.success
      ? `AWS refused: ${refused.data.Error.Code}: ${refused.data.Error.Message}`
      : `AWS refused: STS returned ${response.status}`,
  );
}

/** Where the SDK's own clients would send it: the endpoint of the environment (local only), else that of the region. */
function stsEndpoint(region: string): URL {
  const {
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: ignored,
    AWS_ENDPOINT_URL_STS,
    AWS_ENDPOINT_URL,
  } = process.env;
  const configured = ignored === 'true' ? undefined : AWS_ENDPOINT_URL_STS || AWS_ENDPOINT_URL;
  return new URL(
    configured ?? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`,
  );
}

async function sign(
  endpoint: URL,
  region: string,
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'],
  body: string,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Hash.bind(null, 'sha256') });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: endpoint.protocol,
    hostname: endpoint.hostname,
    path: endpoint.pathname,
    headers: {
      host: endpoint.host,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    },
    body,
  });
  return headers;
}
