import {
  awsEnvironment,
  localBucketName,
  localQueueUrl,
  localStage,
  tableEnvironment,
} from '#shared/stage/local-stage.ts';
import { accessKeyOf, localKeyArn } from '#local/aws/resources.ts';
import { localAlgorithm, localAudience, localIssuer } from '#shared/stage/local-issuer.ts';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import { grantsOf, isGated, rotatesKeys, variablesOfGrants, watchesStage } from '#shared/contract/grants.ts';
import type { GrantVariable } from '#shared/contract/grants.ts';
import type { Route } from '#shared/contract/route.ts';
import { DEFAULT_KEY_ROTATION_DAYS } from '#shared/stage/stage.ts';
import type { WatchedSettings } from '#shared/stage/checks.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';

/** Base of every problem's `type`; the gateway serves the same pages under its own `/problems`. */
export const localProblemsUrl = 'https://docs.mastery-reports.example/problems';

/** `{receipts_url}` of a gateway: where the links of receipts lead. */
export function receiptsUrlOf(gatewayUrl: string): string {
  return `${gatewayUrl}/receipts`;
}

interface LocalSettings {
  readonly awsUrl: string;
  readonly gatewayUrl: string;
  /** The key whose signature opens gates here. */
  readonly releaseKey: ReleaseKey;
  /** Origins of pages that may read responses. */
  readonly allowedOrigins?: readonly string[];
  /** Default: more than a machine serves. */
  readonly requestsPerTenant?: number;
}

/**
 * The whole environment of a function: what the code around it reads, the emulators' addresses, and of the stores exactly those that its grants
 * name, as the stacks set it, with credentials for its own role. A function that reaches for more fails here too. Only a route's function verifies tokens, and the sandbox, which
 * may touch nothing, does not even get the addresses of the emulators.
 */
export function variablesOf(
  row:
    | Pick<Route, 'operationId' | 'gates' | 'lambda'>
    | Pick<BackgroundFunction, 'operationId' | 'gates' | 'lambda' | 'trigger'>,
  { awsUrl, gatewayUrl, releaseKey, allowedOrigins = [], requestsPerTenant = 100_000 }: LocalSettings,
): Readonly<Record<string, string>> {
  const places: Readonly<Record<GrantVariable, string>> = {
    ...tableEnvironment(),
    IMPROVEMENT_QUEUE_URL: localQueueUrl(awsUrl),
    RECEIPTS_BUCKET: localBucketName,
    RECEIPTS_URL: receiptsUrlOf(gatewayUrl),
    KEY_ARN: localKeyArn,
    SANDBOX_URL: `${gatewayUrl}/sandbox`,
    MASTERY_URL: `${gatewayUrl}/mastery`,
  };
  return {
    ...('trigger' in row && row.trigger === 'sandbox' ? {} : awsEnvironment(awsUrl, accessKeyOf(row))),
    ...Object.fromEntries(variablesOfGrants(grantsOf(row)).map((variable) => [variable, places[variable]])),
    ...('trigger' in row
      ? {}
      : { ...tokenVariables(gatewayUrl), REQUESTS_PER_TENANT: String(requestsPerTenant) }),
    ...(allowedOrigins.length === 0 ? {} : { ALLOWED_ORIGINS: allowedOrigins.join(',') }),
    ...(rotatesKeys(row) ? { KEY_ROTATION_DAYS: String(DEFAULT_KEY_ROTATION_DAYS) } : {}),
    ...(isGated(row) ? { RELEASE_KEY: JSON.stringify(releaseKey) } : {}),
    ...(watchesStage(row) ? { STAGE_SETTINGS: JSON.stringify(watchedSettings(releaseKey)) } : {}),
    STAGE: localStage,
    PROBLEMS_URL: localProblemsUrl,
    LOG_LEVEL: 'INFO',
    TZ: 'UTC',
  };
}

/** The settings that the watcher compares: here no stack is deployed, and no alarm has a reader. */
const watchedSettings = (releaseKey: ReleaseKey): WatchedSettings => ({
  releaseKey,
  problemsUrl: localProblemsUrl,
  throttle: { ratePerSecond: 10_000, burst: 5_000 },
});

function tokenVariables(gatewayUrl: string): Readonly<Record<string, string>> {
  return {
    TOKEN_ISSUER: localIssuer,
    TOKEN_AUDIENCE: localAudience,
    TOKEN_JWKS_URL: `${gatewayUrl}/.well-known/jwks.json`,
    TOKEN_ALGORITHMS: localAlgorithm,
  };
}
