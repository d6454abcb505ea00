import { GetCallerIdentityCommand, STSClient, type STSClientConfig } from '@aws-sdk/client-sts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { ssm, useSettings } from '#shared/stores/clients.ts';
import { ownCredentials } from './app-context.ts';
import { awsFailure } from './aws-failure.ts';
import type { Stage } from './stages.ts';

/** An account and a region, and the identity that calls them. */
export interface Place {
  readonly account: `${number}`;
  readonly region: string;
  readonly credentials: NonNullable<STSClientConfig['credentials']>;
}

/**
 * Enters a deployed stage: every command calls this before its first AWS call, and then takes its clients from `shared/stores/clients.ts`. The region
 * is the stage's, regardless of the shell's. It asks STS for the account of the credentials that all later calls use, which must be the stage's. A
 * stage without an account of its own (`agnostic`) follows the credentials and their region.
 * @param profile a profile of the shared configuration files, in place of the shell's credentials
 */
export async function enterStage(
  { name, config: { environment } }: Stage,
  profile?: string,
): Promise<Result<Place, string>> {
  // The SDK would warn about these if a profile is named, and a later version would prefer them.
  if (profile !== undefined) for (const name of ownCredentials) Reflect.deleteProperty(process.env, name);
  useSettings({
    ...(environment !== 'agnostic' && { region: environment.region }),
    ...(profile !== undefined && { profile }),
  });
  const { config } = ssm();
  try {
    const region = await config.region();
    const { credentials } = config;
    useSettings({ region, credentials });
    // This call needs no permission.
    const { Account } = await new STSClient({ region, credentials }).send(new GetCallerIdentityCommand({}));
    if (!isAccount(Account)) return err('AWS cannot be reached: STS returned no account');
    return environment !== 'agnostic' && Account !== environment.account
      ? err(
          `${name} belongs to account ${environment.account}, but these credentials are of account ${Account}: choose the stage’s with --profile or AWS_PROFILE`,
        )
      : ok({ account: Account, region, credentials });
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(message);
  }
}

const isAccount = (id = ''): id is Place['account'] => /^\d{12}$/.test(id);
