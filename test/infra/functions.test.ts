import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import {
  deployedFunctions,
  deploymentOf,
  isRoute,
  type DeployedFunction,
} from '#shared/contract/functions.ts';
import type { Grant } from '#shared/contract/grants.ts';
import { routes } from '#shared/contract/routes.ts';
import { scheduledPurposes } from '#shared/keys/key-ring.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { variablesOf as demandedByRoute, variablesOfBackground } from '#shared/http/environment.ts';
import { accessOf } from '#lib/constructs/grants.ts';
import { App, Stack } from 'aws-cdk-lib';
import {
  deployed,
  deploymentStack,
  ofType,
  stage,
  type Deployed,
  type Resource,
  type Synthesized,
} from './deployed.ts';

const everything = deployed();
const prod = stage('prod');
const capped = deployed({
  stage: {
    ...prod,
    config: { ...prod.config, reservedConcurrency: { serveSandbox: 'none', readReadiness: 3 } },
  },
});
const stackOf = (row: DeployedFunction, of: Deployed = everything): Synthesized =>
  deploymentStack(of, deploymentOf(row));

const statement = z.object({
  Effect: z.literal('Allow'),
  Action: z.union([z.string(), z.array(z.string())]).transform((action) => [action].flat()),
  Resource: z.unknown(),
  Condition: z.unknown().optional(),
});
type Statement = z.infer<typeof statement>;
const policyDocument = z.object({ Statement: z.array(statement) });

interface Rule {
  readonly actions: readonly string[];
  /** What the resource looks like as JSON. */
  readonly on: RegExp;
  /** What the condition looks like as JSON; absent: there is none. */
  readonly if?: RegExp;
}

/** What a grant stands for: the other half of lib/constructs/grants.ts, written down independently. */
const allowed: Readonly<Record<Grant, readonly Rule[]>> = {
  'records:read': [{ actions: ['dynamodb:GetItem'], on: /^\{"Fn::GetStackOutput":.*"RecordsTableArn"\}\}$/ }],
  'control:write': [
    {
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      on: /^\{"Fn::GetStackOutput":.*"ControlTableArn"\}\}$/,
    },
  ],
  'improvement:read': [{ actions: ['dynamodb:GetItem', 'dynamodb:Query'], on: improvementTable() }],
  'improvement:write': [
    {
      actions: [
        'dynamodb:DeleteItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
      ],
      on: improvementTable(),
    },
  ],
  'improvement:queue': [{ actions: ['sqs:SendMessage'], on: runQueue() }],
  'receipts:read': [{ actions: ['s3:GetObject'], on: receiptObjects() }],
  'receipts:write': [{ actions: ['s3:PutObject'], on: receiptObjects() }],
  'receipts:link': [],
  'keys:receipt-link': keys('receipt-link'),
  'keys:continuation': keys('continuation'),
  'keys:cursor': keys('cursor'),
  'keys:idempotency': keys('idempotency'),
  'keys:pseudonym': keys('pseudonym'),
  'ring:rotate': [
    {
      actions: ['dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
      on: /^\{"Fn::GetStackOutput":.*"SettingsTableArn"\}\}$/,
      if: /^\{"ForAllValues:StringEquals":\{"dynamodb:LeadingKeys":\["key#continuation","key#cursor","key#receipt-link"\]\}\}$/,
    },
    {
      actions: ['ssm:GetParametersByPath', 'ssm:PutParameter'],
      // Of the notes of these purposes, and of no other parameter.
      on: /^(?!.*parameter\/(?!prod\/(?:key-ring|(?:key-ring|retired-keys)\/(?:continuation|cursor|receipt-link)(?:\/\*)?)")).*parameter\/prod\/key-ring"/,
    },
  ],
  'ring:wrap': [
    {
      actions: ['kms:GenerateDataKeyWithoutPlaintext'],
      on: /^\{"Fn::GetStackOutput":.*"KeyArn"\}\}$/,
      if: /^\{"StringEquals":\{"kms:EncryptionContext:stage":"prod","kms:EncryptionContext:purpose":\["continuation","cursor","receipt-link"\]\}\}$/,
    },
  ],
  'release:read': [
    {
      actions: ['dynamodb:GetItem'],
      on: /^\{"Fn::GetStackOutput":.*"SettingsTableArn"\}\}$/,
      if: /^\{"ForAllValues:StringEquals":\{"dynamodb:LeadingKeys":\["release"\]\}\}$/,
    },
  ],
  'profiles:read': [
    { actions: ['ssm:GetParameters'], on: /:ssm:.*:parameter\/prod\/profiles\/\*"/ },
    {
      actions: ['kms:Decrypt'],
      on: /^\{"Fn::GetStackOutput":.*"KeyArn"\}\}$/,
      if: /^\{"StringLike":\{"kms:EncryptionContext:PARAMETER_ARN":.*:parameter\/prod\/profiles\/\*"/,
    },
  ],
};

function improvementTable(): RegExp {
  return /^\{"Fn::GetStackOutput":.*"ImprovementTableArn"\}\}$/;
}

function runQueue(): RegExp {
  return /^\{"Fn::GetStackOutput":.*"RunQueueArn"\}\}$/;
}

/** Each object of the bucket, and not the bucket. */
function receiptObjects(): RegExp {
  return /^\{"Fn::Join":\["",\[\{"Fn::GetStackOutput":[^[\]]*"ReceiptsBucketArn"\}\},"\/\*"\]\]\}$/;
}

/** Key ring items lie under `key#<purpose>` (shared/stores/settings-table.ts). */
function keys(purpose: string): readonly Rule[] {
  return [
    {
      actions: ['dynamodb:Query'],
      on: /^\{"Fn::GetStackOutput":.*"SettingsTableArn"\}\}$/,
      if: new RegExp(`^\\{"ForAllValues:StringEquals":\\{"dynamodb:LeadingKeys":.*"key#${purpose}"`),
    },
    {
      actions: ['kms:Decrypt'],
      on: /^\{"Fn::GetStackOutput":.*"KeyArn"\}\}$/,
      if: new RegExp(`^\\{"StringEquals":\\{.*"kms:EncryptionContext:purpose":.*"${purpose}"`),
    },
  ];
}

/** What every function may do whatever its row says. */
const always: readonly Rule[] = [
  { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], on: /^\{"Fn::GetAtt":\["\w+Logs\w+","Arn"\]\}$/ },
  { actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], on: /^"\*"$/ },
];

/** What comes with what calls a function: Lambda takes messages in the worker’s name, everything else comes to the function. */
const allowedByTrigger: Readonly<Record<BackgroundFunction['trigger'], readonly Rule[]>> = {
  queue: [
    {
      actions: [
        'sqs:ChangeMessageVisibility',
        'sqs:DeleteMessage',
        'sqs:GetQueueAttributes',
        'sqs:ReceiveMessage',
      ],
      on: runQueue(),
    },
  ],
  schedule: [],
  link: [],
  sandbox: [],
};

const variablesOf: Readonly<Record<Grant, string>> = {
  'records:read': 'RECORDS_TABLE',
  'control:write': 'CONTROL_TABLE',
  'improvement:read': 'IMPROVEMENT_TABLE',
  'improvement:write': 'IMPROVEMENT_TABLE',
  'improvement:queue': 'IMPROVEMENT_QUEUE_URL',
  'receipts:read': 'RECEIPTS_BUCKET',
  'receipts:write': 'RECEIPTS_BUCKET',
  'receipts:link': 'RECEIPTS_URL',
  'keys:receipt-link': 'SETTINGS_TABLE',
  'keys:continuation': 'SETTINGS_TABLE',
  'keys:cursor': 'SETTINGS_TABLE',
  'keys:idempotency': 'SETTINGS_TABLE',
  'keys:pseudonym': 'SETTINGS_TABLE',
  'profiles:read': 'PROFILES_PATH',
  'release:read': 'SETTINGS_TABLE',
  'ring:rotate': 'SETTINGS_TABLE',
  'ring:wrap': 'KEY_ARN',
};
/** Who waits for gates looks whether they still are open; its row does not say so twice. */
const grantsOf = ({ gates, lambda }: DeployedFunction): readonly Grant[] =>
  gates.length > 0 ? [...lambda.grants, 'release:read'] : lambda.grants;
const tokenVariables = ['TOKEN_ISSUER', 'TOKEN_AUDIENCE', 'TOKEN_JWKS_URL', 'TOKEN_ALGORITHMS'];
/** What a function reads whatever its grants are: only a route verifies tokens, and only who answers a caller names problems. */
const commonVariables: Readonly<Record<'route' | BackgroundFunction['trigger'], readonly string[]>> = {
  route: ['STAGE', 'LOG_LEVEL', 'PROBLEMS_URL', ...tokenVariables],
  link: ['STAGE', 'LOG_LEVEL', 'PROBLEMS_URL'],
  sandbox: ['STAGE', 'LOG_LEVEL', 'PROBLEMS_URL'],
  queue: ['STAGE', 'LOG_LEVEL'],
  schedule: ['STAGE', 'LOG_LEVEL'],
};

function functionOf(row: DeployedFunction, of = stackOf(row)): Resource {
  const found = ofType(of, 'AWS::Lambda::Function').find(
    ([, { Properties }]) => Properties['FunctionName'] === `mastery-reports-prod-${row.operationId}`,
  );
  if (!found) throw new Error(`no function of ${row.operationId}`);
  return found[1];
}

/** Every statement of a function’s role, inline or attached. */
function statementsOf(row: DeployedFunction): readonly Statement[] {
  const roleId = z
    .object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) })
    .parse(functionOf(row).Properties['Role'])['Fn::GetAtt'][0];
  const role = z
    .object({
      Policies: z.array(z.object({ PolicyDocument: policyDocument })),
      ManagedPolicyArns: z.undefined(),
    })
    .parse({ ManagedPolicyArns: undefined, ...stackOf(row).resources[roleId]?.Properties });
  const attached = ofType(stackOf(row), 'AWS::IAM::Policy')
    .map(([, { Properties }]) =>
      z
        .object({ PolicyDocument: policyDocument, Roles: z.array(z.object({ Ref: z.string() })) })
        .parse(Properties),
    )
    .filter(({ Roles }) => Roles.some(({ Ref }) => Ref === roleId));
  return [...role.Policies, ...attached].flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

function matches({ Action, Resource: on, Condition }: Statement, rule: Rule): boolean {
  return (
    Action.toSorted().join() === rule.actions.join() &&
    rule.on.test(JSON.stringify(on)) &&
    (rule.if === undefined ? Condition === undefined : rule.if.test(JSON.stringify(Condition)))
  );
}

it.each(['mastery', 'reports', 'sandbox'] as const)(
  'there is one function for each row of %s, the check of their versions, and no other',
  (name) => {
    expect(ofType(deploymentStack(everything, name), 'AWS::Lambda::Function')).toHaveLength(
      deployedFunctions.filter((row) => deploymentOf(row) === name).length + 1,
    );
  },
);

describe.each(['mastery', 'reports', 'sandbox'] as const)('a release of %s', (name) => {
  const { resources, template } = deploymentStack(everything, name);
  const rows = deployedFunctions.filter((row) => deploymentOf(row) === name);
  const roleOf = (prefix: string): readonly Statement[] => {
    const [, role] = Object.entries(resources).find(([id]) => id.startsWith(prefix)) ?? [];
    const { Policies } = z
      .object({ Policies: z.array(z.object({ PolicyDocument: policyDocument })) })
      .parse(role?.Properties);
    return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  };
  const names = (resource: unknown): readonly string[] =>
    [JSON.stringify(resource).matchAll(/mastery-reports-prod-(\w+)/g)].flatMap((found) =>
      [...found].map(([, operation = '']) => operation),
    );

  it('is checked by a function that may call the versions of the stack and report, and nothing else', () => {
    const [logs, invoke, revision, groups, ...others] = roleOf('RolloutCheckRole');
    expect(others).toStrictEqual([]);
    expect(logs?.Action).toStrictEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    expect(revision?.Action).toStrictEqual(['codedeploy:GetApplicationRevision']);
    expect(groups?.Action).toStrictEqual([
      'codedeploy:GetDeployment',
      'codedeploy:PutLifecycleEventHookExecutionStatus',
    ]);
    expect(invoke?.Action).toStrictEqual(['lambda:InvokeFunction']);
    // A version, never what has none.
    expect(
      JSON.stringify(invoke?.Resource)
        .match(/:function:[^"]*/g)
        ?.every((arn) => arn.endsWith(':*')),
    ).toBe(true);
    for (const { Resource: on } of [invoke, groups].filter((found) => found !== undefined))
      expect(names(on).toSorted()).toStrictEqual(rows.map(({ operationId }) => operationId).toSorted());
  });

  it('moves every alias by CodeDeploy, in steps exactly where learners wait', () => {
    const groups = ofType({ ...deploymentStack(everything, name) }, 'AWS::CodeDeploy::DeploymentGroup');
    const steps = Object.fromEntries(
      groups.map(([, { Properties }]) => [
        String(Properties['DeploymentGroupName']).replace('mastery-reports-prod-', ''),
        [Properties['DeploymentConfigName'], 'AlarmConfiguration' in Properties],
      ]),
    );
    expect(steps).toStrictEqual(
      Object.fromEntries(
        rows.map((row) => [
          row.operationId,
          isRoute(row) && row.learnersWait === true
            ? ['CodeDeployDefault.LambdaCanary10Percent5Minutes', true]
            : ['CodeDeployDefault.LambdaAllAtOnce', false],
        ]),
      ),
    );
    template.allResourcesProperties('AWS::Lambda::Alias', { Name: 'live' });
  });
});

it('learners wait for the steps of a test and for its report', () => {
  expect(
    routes.filter(({ learnersWait }) => learnersWait).map(({ operationId }) => operationId),
  ).toStrictEqual([
    'startAdaptiveRun',
    'inspectAdaptiveRun',
    'advanceAdaptiveRun',
    'readAttemptReport',
    'materializeAttemptReport',
  ]);
});

describe.each(deployedFunctions.map((row) => [row.operationId, row] as const))('%s', (_, row) => {
  it('runs as its row says', () => {
    expect(functionOf(row).Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: row.lambda.memoryMb,
      Timeout: row.lambda.timeoutSeconds,
      TracingConfig: { Mode: 'Active' },
    });
  });

  it('shares the account’s executions, unless anyone may call it or the stage says otherwise', () => {
    const reserved = (of: Synthesized): unknown =>
      functionOf(row, of).Properties['ReservedConcurrentExecutions'];
    expect(reserved(stackOf(row))).toBe(row.operationId === 'serveSandbox' ? 10 : undefined);
    expect(reserved(stackOf(row, capped))).toBe(row.operationId === 'readReadiness' ? 3 : undefined);
  });

  it('logs to a group of its own that forgets after the stage’s retention', () => {
    const { LogGroup } = z
      .object({ LogGroup: z.object({ Ref: z.string() }) })
      .parse(functionOf(row).Properties['LoggingConfig']);
    expect(stackOf(row).resources[LogGroup.Ref]).toMatchObject({
      Type: 'AWS::Logs::LogGroup',
      Properties: { RetentionInDays: stage('prod').config.logRetentionDays },
    });
  });

  it('may do what its grants name, where they name it, and nothing else', () => {
    const expected = [
      ...always,
      ...grantsOf(row).flatMap((grant) => allowed[grant]),
      ...(isRoute(row) ? [] : allowedByTrigger[row.trigger]),
    ];
    const unexplained = statementsOf(row).filter((found) => !expected.some((rule) => matches(found, rule)));
    const missing = expected.filter((rule) => !statementsOf(row).some((found) => matches(found, rule)));
    expect({ unexplained, missing }).toStrictEqual({ unexplained: [], missing: [] });
  });

  it('has no wildcard among its actions', () => {
    expect(
      statementsOf(row)
        .flatMap(({ Action }) => Action)
        .filter((action) => action.includes('*')),
    ).toStrictEqual([]);
  });

  it('decrypts, or has keys made, only under the purposes that its grants name', () => {
    const purposes = statementsOf(row).flatMap(({ Condition }) =>
      [
        z
          .object({
            StringEquals: z.object({
              'kms:EncryptionContext:purpose': z.union([z.string(), z.array(z.string())]),
            }),
          })
          .safeParse(Condition).data?.StringEquals['kms:EncryptionContext:purpose'] ?? [],
      ].flat(),
    );
    const named = [
      ...row.lambda.grants
        .filter((grant) => grant.startsWith('keys:'))
        .map((grant) => grant.slice('keys:'.length)),
      ...(row.lambda.grants.includes('ring:wrap') ? scheduledPurposes : []),
    ];
    expect(purposes.toSorted()).toStrictEqual(named.toSorted());
  });

  it('gets exactly the variables that it needs', () => {
    const { Variables } = z
      .object({ Variables: z.record(z.string(), z.unknown()) })
      .parse(functionOf(row).Properties['Environment']);
    const common = commonVariables[isRoute(row) ? 'route' : row.trigger];
    const expected = new Set([
      ...common,
      ...grantsOf(row).map((grant) => variablesOf[grant]),
      ...(row.gates.length > 0 ? ['RELEASE_KEY'] : []),
      ...(row.lambda.grants.includes('ring:rotate') ? ['KEY_ROTATION_DAYS'] : []),
      ...(row.lambda.grants.includes('profiles:read') ? ['APPROVED_HOSTS'] : []),
    ]);
    expect(Object.keys(Variables).toSorted()).toStrictEqual([...expected].toSorted());
    expect(Object.keys(Variables)).toEqual(
      expect.arrayContaining([...(isRoute(row) ? demandedByRoute(row) : variablesOfBackground(row))]),
    );
  });

  it('is called by nothing but its own caller', () => {
    const name = ofType(stackOf(row), 'AWS::Lambda::Alias').find(([id]) =>
      id.startsWith(`${row.operationId}FunctionLive`),
    )?.[0];
    const callers = ofType(stackOf(row), 'AWS::Lambda::Permission')
      .filter(([, { Properties }]) => JSON.stringify(Properties['FunctionName']).includes(`"${name}"`))
      .map(([, { Properties }]) => Properties['Principal']);
    const caller =
      isRoute(row) || row.trigger === 'link' || row.trigger === 'sandbox'
        ? 'apigateway.amazonaws.com'
        : 'events.amazonaws.com';
    // The sandbox serves all of its routes by one function.
    const times = isRoute(row) || row.trigger !== 'sandbox' ? 1 : Object.keys(sandboxRoutes).length;
    expect(callers).toStrictEqual(!isRoute(row) && row.trigger === 'queue' ? [] : Array(times).fill(caller));
  });
});

describe.each(routes.map((route) => [route.operationId, route] as const))('%s', (_, route) => {
  it('is invoked by its own method and path only', () => {
    const permissions = ofType(stackOf(route), 'AWS::Lambda::Permission').filter(([, { Properties }]) =>
      JSON.stringify(Properties['SourceArn']).includes(
        `/prod/${route.method}${route.path.replaceAll(/\{\w+\}/g, '*')}"`,
      ),
    );
    expect(permissions).toHaveLength(1);
    expect(permissions[0]?.[1].Properties).toMatchObject({
      Principal: 'apigateway.amazonaws.com',
      Action: 'lambda:InvokeFunction',
    });
  });
});

it.each(Object.keys(allowed) as Grant[])(
  'a function with nothing but %s gets nothing of another grant',
  (grant) => {
    const stack = new Stack(new App(), 'Probe');
    const named = (name: string): { name: string; arn: string; url: string } => ({
      name,
      arn: `arn:${name}`,
      url: `https://${name}.example`,
    });
    const { statements } = accessOf(stack, [grant], 'prod', {
      records: named('records'),
      control: named('control'),
      settings: named('settings'),
      improvement: named('improvement'),
      keyArn: 'arn:key',
      runs: named('runs'),
      deadLetters: named('deadLetters'),
      receipts: named('receipts'),
      receiptsUrl: 'https://receipts.example',
    });
    expect(statements.map(({ actions }) => actions.toSorted())).toStrictEqual(
      allowed[grant].map(({ actions }) => [...actions]),
    );
  },
);
