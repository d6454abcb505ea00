import { CreateRoleCommand, IAMClient, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { localRoles } from '#local/aws/resources.ts';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';

/** The roles of the functions in moto's IAM. */
export interface Roles {
  /** The variables of a function's environment that lead to its own role. */
  readonly variablesOf: (operationId: string) => Readonly<Record<string, string>>;
  /** Takes an action out of a role. */
  readonly withdraw: (operationId: string, action: string) => Promise<void>;
}

/** Creates the role of each function, with the statements of the templates (`test/infra/roles.test.ts` compares them), and assumes it. From then on, moto authorizes every caller except the operator. */
export async function assumeRoles(url: string, functions: readonly DeployedFunction[]): Promise<Roles> {
  const place = { endpoint: url, region: localRegion, credentials: localCredentials };
  const [iam, sts] = [new IAMClient(place), new STSClient(place)];
  const roles = Object.values(localRoles(functions));
  const allow = (RoleName: string, withdrawn?: string) => {
    const statements = roles.find(({ name }) => name === RoleName)?.statements ?? [];
    // moto refuses every statement that has a condition, and does not know the key of a call.
    const Statement = statements.map(({ Effect, Action, Resource }) => ({
      Effect,
      Action: Action.filter((action) => action !== withdrawn),
      Resource: Action.some((action) => action.startsWith('kms:')) ? '*' : Resource,
    }));
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    return iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'grants', PolicyDocument }));
  };
  const variables = new Map<string, Readonly<Record<string, string>>>();
  for (const { name: RoleName } of roles) {
    const { Role } = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: '{}' }));
    await allow(RoleName);
    const session = { RoleArn: Role?.Arn, RoleSessionName: RoleName };
    const { Credentials } = await sts.send(new AssumeRoleCommand(session));
    variables.set(RoleName, {
      AWS_ACCESS_KEY_ID: Credentials?.AccessKeyId ?? '',
      AWS_SECRET_ACCESS_KEY: Credentials?.SecretAccessKey ?? '',
      AWS_SESSION_TOKEN: Credentials?.SessionToken ?? '',
    });
  }
  await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' });
  return {
    variablesOf: (operationId) => variables.get(operationId) ?? {},
    async withdraw(operationId, action) {
      await allow(operationId, action);
    },
  };
}
