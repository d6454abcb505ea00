import { awsEnvironment, localStage, tableEnvironment } from '#local/aws/environment.ts';
import { localAlgorithm, localAudience, localIssuer } from '#local/issuer/issuer.ts';
import { variablesOfGrants } from '#shared/contract/grants.ts';
import type { GrantVariable } from '#shared/contract/grants.ts';
import type { Route } from '#shared/contract/route.ts';

/** Where local service profiles are kept in Systems Manager. */
export const localProfilesPath = `/${localStage}/profiles`;

/** Base of every problem's `type`; the gateway serves the same pages under its own `/problems`. */
export const localProblemsUrl = 'https://docs.mastery-reports.example/problems';

interface Addresses {
  readonly awsUrl: string;
  readonly gatewayUrl: string;
}

/**
 * The whole environment of a route's function: what its pipeline reads, the doubles' addresses, and of the stores exactly those that its
 * grants name, as the stacks set it. A function that reaches for more fails here too.
 */
export function variablesOf(
  route: Route,
  { awsUrl, gatewayUrl }: Addresses,
): Readonly<Record<string, string>> {
  const places: Readonly<Record<GrantVariable, string>> = {
    ...tableEnvironment(),
    PROFILES_PATH: localProfilesPath,
  };
  return {
    ...awsEnvironment(awsUrl),
    ...Object.fromEntries(
      variablesOfGrants(route.lambda.grants).map((variable) => [variable, places[variable]]),
    ),
    STAGE: localStage,
    TOKEN_ISSUER: localIssuer,
    TOKEN_AUDIENCE: localAudience,
    TOKEN_JWKS_URL: `${gatewayUrl}/.well-known/jwks.json`,
    TOKEN_ALGORITHMS: localAlgorithm,
    PROBLEMS_URL: localProblemsUrl,
    LOG_LEVEL: 'INFO',
    TZ: 'UTC',
  };
}
