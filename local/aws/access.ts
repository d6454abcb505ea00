import type { Statement } from '#shared/stage/permissions.ts';
import { err } from '#shared/kernel/result.ts';
import { localAccount, localCredentials } from '#shared/stage/local-stage.ts';
import { decide, grantedBy, readPolicy, type Need, type Principal } from './policy.ts';
import { type AwsServiceName, type Caller, type Refusal, type Restore, unrestricted } from './wire.ts';

/** The role of one function. */
export interface LocalRole {
  readonly name: string;
  readonly statements: readonly Statement[];
}

/** For tests that lose or damage what the policies protect from everyone: no policy applies to it. */
export const damagingCredentials = { accessKeyId: 'LOCALDAMAGE', secretAccessKey: 'local-double' } as const;

/** What roles were used for. Failures on demand come before it, and are not in it. */
export interface AccessRecord {
  /** The parts of a role that its function has used, and all that it has. */
  readonly of: (roleName: string) => {
    readonly used: readonly string[];
    readonly granted: readonly string[];
  };
  /** What a role or a resource's policy has denied a function, each as AWS words it. */
  readonly denials: () => readonly string[];
}

export interface Access extends AccessRecord {
  /** The caller with this access key, or one who may do everything that no policy of a resource denies. */
  readonly callerOf: (accessKeyId: string, account: string, service: AwsServiceName) => Caller;
  /** Whether it is a key of the emulator's own account. */
  readonly isKnown: (accessKeyId: string) => boolean;
  readonly snapshot: () => Restore;
}

/**
 * Authorizes calls.
 * @param roles by access key id
 * @param policies those of resources, by the resource's ARN; a key without one has AWS's default
 * @throws TypeError for a policy that the evaluator does not know
 */
export function createAccess(
  roles: Readonly<Record<string, LocalRole>>,
  policies: Readonly<Record<string, readonly Statement[]>>,
): Access {
  const known = new Map(
    Object.entries(roles).map(([accessKeyId, { name, statements }]) => [
      accessKeyId,
      { name, policy: readPolicy('identity-based', statements, localAccount) },
    ]),
  );
  const ofResources = new Map(
    Object.entries(policies).map(([arn, statements]) => [
      arn,
      readPolicy('resource-based', statements, localAccount),
    ]),
  );
  const ofKeys = readPolicy('resource-based', defaultKeyPolicy(localAccount), localAccount);
  const none = readPolicy('resource-based', [], localAccount);
  const policyOf = ({ action, resource }: Need) =>
    // An object is under the policy of its bucket.
    ofResources.get(action.startsWith('s3:') ? (resource.split('/')[0] ?? '') : resource) ??
    (action.startsWith('kms:') ? ofKeys : none);

  const operators: readonly string[] = [localCredentials.accessKeyId, damagingCredentials.accessKeyId];
  const used = new Map<string, Set<string>>();
  const denied: string[] = [];
  return {
    isKnown: (accessKeyId) => known.has(accessKeyId) || operators.includes(accessKeyId),
    callerOf(accessKeyId, account, service) {
      if (accessKeyId === damagingCredentials.accessKeyId) return unrestricted;
      const role = known.get(accessKeyId);
      const principal: Principal = {
        arn: `arn:aws:iam::${account}:${role === undefined ? 'user/local' : `role/${role.name}`}`,
        account,
        policy: role?.policy ?? 'everything',
      };
      return {
        may: (need) => decide(principal, need, policyOf(need)).allowed,
        authorize(needs) {
          for (const need of needs) {
            const decision = decide(principal, need, policyOf(need));
            if (decision.allowed) {
              if (role === undefined) continue;
              const uses = used.get(role.name) ?? new Set();
              for (const use of decision.uses) uses.add(use);
              used.set(role.name, uses);
              continue;
            }
            const who =
              role === undefined
                ? principal.arn
                : `arn:aws:sts::${account}:assumed-role/${role.name}/${role.name}`;
            const message = `User: ${who} is not authorized to perform: ${need.action} on resource: ${need.resource} ${decision.reason}`;
            if (role !== undefined) denied.push(message);
            return denial(service, message);
          }
          return undefined;
        },
      };
    },
    of(roleName) {
      const role = [...known.values()].find(({ name }) => name === roleName);
      return {
        used: [...(used.get(roleName) ?? [])].toSorted(),
        granted: role === undefined ? [] : [...new Set(grantedBy(role.policy))].toSorted(),
      };
    },
    denials: () => [...denied],
    snapshot() {
      const [before, { length }] = [new Map([...used].map(([name, uses]) => [name, [...uses]])), denied];
      return () => {
        used.clear();
        for (const [name, uses] of before) used.set(name, new Set(uses));
        denied.length = length;
      };
    },
  };
}

/** The policy that AWS and the CDK give to a key: its account's roles decide. */
export function defaultKeyPolicy(account: string): readonly Statement[] {
  const Principal = { AWS: `arn:aws:iam::${account}:root` };
  return [{ Effect: 'Allow', Principal, Action: ['kms:*'], Resource: ['*'] }];
}

/** Services of the JSON protocols have one code for what is denied, those of the query protocol and S3 another. */
function denial(service: AwsServiceName, message: string): Refusal {
  switch (service) {
    case 'acm':
    case 'dynamodb':
    case 'kms':
    case 'ssm':
      return err({ status: 400, type: 'AccessDeniedException', message });
    case 'apigateway':
    case 'lambda':
      return err({ status: 403, type: 'AccessDeniedException', message });
    case 'cloudformation':
    case 'iam':
    case 's3':
    case 'sns':
    case 'sqs':
    case 'sts':
      return err({ status: 403, type: 'AccessDenied', message });
  }
}
