import { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { rotateKeys } from '#shared/contract/background.ts';
import {
  deployedFunctions,
  deploymentOf,
  isRoute,
  type DeployedFunction,
} from '#shared/contract/functions.ts';
import type { Grant } from '#shared/contract/grants.ts';
import { routes } from '#shared/contract/routes.ts';
import { variablesOf as demandedBy } from '#shared/http/environment.ts';
import { stackIds, stackRegion, type StackId } from '#shared/stage/stack-names.ts';
import { appOf, canary, deployed, policiesOf, propertiesOf, resourcesOf, templateOf } from './deployed.ts';
import type { Found, RoleStatement } from './deployed.ts';

const all = deployed();
const certificate = 'arn:aws:acm:us-east-1:111122223333:certificate/1';
const topic = 'arn:aws:sns:us-east-1:111122223333:alarms';
/** A stage with other settings of what is looked at here. */
const changed = deployed({
  settings: {
    reservedConcurrency: { serveSandbox: 'none', readReadiness: 3 },
    systemRecordTenants: ['a', 'b'],
    runsAtOnce: 20,
    keyRotationDays: 90,
    documentation: { domain: 'docs.school.org', certificateArn: certificate },
    alarmsTopicArn: { page: topic, ticket: topic },
    requestsPerTenant: 40,
    canary,
  },
});

/** A statement as a line: `<actions> on <resources> if <condition>`. */
function lineOf({ Effect, Action, Resource, Condition }: RoleStatement): string {
  const condition = Condition === undefined ? '' : ` if ${JSON.stringify(Condition)}`;
  const denied = Effect === 'Allow' ? '' : `${Effect} `;
  return `${denied}${[Action].flat().toSorted().join()} on ${[Resource].flat().toSorted().join()}${condition}`;
}

const leading = (...keys: readonly string[]) =>
  ` if {"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":${JSON.stringify(keys)}}}`;
const encrypted = (purposes: readonly string[]) =>
  ` if {"StringEquals":{"kms:EncryptionContext:stage":"prod","kms:EncryptionContext:purpose":${JSON.stringify(purposes)}}}`;
const parameter = (path: string) => `arn:AWS-Partition:ssm:AWS-Region:AWS-AccountId:parameter/prod/${path}`;
/** The purposes of all keys. */
const purposes = ['continuation', 'cursor', 'idempotency', 'pseudonym', 'receipt-link'];
/** The purposes of the keys that a schedule rotates. */
const scheduled = ['continuation', 'cursor', 'receipt-link'];

/** What a grant stands for: the other half of shared/stage/permissions.ts, written down independently. Grants of keys are below. */
const allowed: Readonly<Partial<Record<Grant, readonly string[]>>> = {
  'records:read': ['dynamodb:GetItem on Records.Arn'],
  'control:write': ['dynamodb:GetItem,dynamodb:PutItem,dynamodb:UpdateItem on Control.Arn'],
  'control:count': [
    'dynamodb:UpdateItem on Control.Arn if {"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["rate#*"]}}',
  ],
  'improvement:read': ['dynamodb:Query on Improvement.Arn'],
  'improvement:read-part': ['dynamodb:GetItem on Improvement.Arn'],
  'improvement:create': ['dynamodb:PutItem on Improvement.Arn'],
  'improvement:change': ['dynamodb:DeleteItem,dynamodb:UpdateItem on Improvement.Arn'],
  'improvement:queue': ['sqs:SendMessage on Runs.Arn'],
  'receipts:read': ['s3:GetObject on Receipts.Arn/*'],
  'receipts:write': ['s3:PutObject on Receipts.Arn/*'],
  'receipts:link': [],
  'release:read': [`dynamodb:GetItem on Settings.Arn${leading('release')}`],
  'ring:rotate': [
    `dynamodb:PutItem,dynamodb:Query,dynamodb:UpdateItem on Settings.Arn${leading(...scheduled.map((purpose) => `key#${purpose}`))}`,
    `ssm:GetParametersByPath on ${['key-ring', ...scheduled.map((purpose) => `retired-keys/${purpose}`)].map(parameter).join()}`,
    `ssm:PutParameter on ${scheduled
      .flatMap((purpose) => [`key-ring/${purpose}`, `retired-keys/${purpose}/*`])
      .map(parameter)
      .toSorted()
      .join()}`,
  ],
  'stage:watch': [
    `dynamodb:Query on Settings.Arn${leading(...purposes.map((purpose) => `key#${purpose}`))}`,
    'dynamodb:Scan on Settings.Arn if {"ForAllValues:StringEquals":{"dynamodb:Attributes":["pk","sk","credentialExpiresAt"]},"StringEquals":{"dynamodb:Select":"SPECIFIC_ATTRIBUTES"}}',
    `ssm:GetParametersByPath on ${['gates', 'key-ring'].map(parameter).join()}`,
    `ssm:GetParameter on ${parameter('gates-manifest')}`,
    's3:GetObject on Receipts.Arn/release.manifests/*',
    'kms:DescribeKey on Key.Arn',
    `cloudformation:DescribeStacks on ${stackIds.map((id) => `arn:AWS-Partition:cloudformation:${stackRegion(id, 'AWS-Region')}:AWS-AccountId:stack/mastery-reports-prod-${id}/*`).join()}`,
    `apigateway:GET on ${['/account', '/restapis', '/restapis/*/stages/prod'].map((path) => `arn:AWS-Partition:apigateway:AWS-Region::${path}`).join()}`,
    'sns:ListSubscriptionsByTopic on arn:AWS-Partition:sns:AWS-Region:AWS-AccountId:mastery-reports-prod-operations-*,arn:AWS-Partition:sns:us-east-1:AWS-AccountId:mastery-reports-prod-documentation-*',
    'lambda:GetAccountSettings on *',
  ],
  'ring:wrap': [`kms:GenerateDataKeyWithoutPlaintext on Key.Arn${encrypted(scheduled)}`],
  'profiles:read': [
    'dynamodb:GetItem on Settings.Arn if {"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["profile#*"]}}',
    `kms:Decrypt on Key.Arn${encrypted(['profile'])}`,
    // For the versions of the former release, which have the same role.
    `ssm:GetParameters on ${parameter('profiles/*')}`,
    `kms:Decrypt on Key.Arn if {"StringLike":{"kms:EncryptionContext:PARAMETER_ARN":"${parameter('profiles/*')}"}}`,
  ],
};

/** A route's function counts requests, and one that waits for gates looks whether they still are open; their rows do not repeat it. */
const grantsOf = (row: DeployedFunction): readonly Grant[] => [
  ...row.lambda.grants,
  ...(isRoute(row) ? (['control:count'] as const) : []),
  ...(row.gates.length > 0 ? (['release:read'] as const) : []),
];

/** Everything that a function may do. */
function expectedStatements(row: DeployedFunction): readonly string[] {
  const grants = grantsOf(row);
  const purposes = grants.filter((grant) => grant.startsWith('keys:')).map((grant) => grant.slice(5));
  return [
    `logs:CreateLogStream,logs:PutLogEvents on ${row.operationId}Logs.Arn`,
    'xray:PutTelemetryRecords,xray:PutTraceSegments on *',
    ...grants.flatMap((grant) => allowed[grant] ?? []),
    ...(purposes.length === 0
      ? []
      : [
          `dynamodb:Query on Settings.Arn${leading(...purposes.map((purpose) => `key#${purpose}`))}`,
          `kms:Decrypt on Key.Arn${encrypted(purposes)}`,
        ]),
    // Lambda takes messages in the worker's name; everything else comes to the function.
    ...(!isRoute(row) && row.trigger === 'queue'
      ? [
          'sqs:ChangeMessageVisibility,sqs:DeleteMessage,sqs:GetQueueAttributes,sqs:ReceiveMessage on Runs.Arn',
        ]
      : []),
  ];
}

/** Every action on every resource of lines, each as a line: the CDK joins statements. */
const apart = (lines: readonly string[]): readonly string[] =>
  lines
    .flatMap((line) => {
      const [, actions = '', resources = '', condition = ''] = /^(\S+) on (\S+)(.*)$/.exec(line) ?? [];
      return actions
        .split(',')
        .flatMap((action) => resources.split(',').map((resource) => `${action} on ${resource}${condition}`));
    })
    .toSorted();

const statementsOf = (role: string, stackId: StackId): readonly string[] =>
  apart(policiesOf(all, role, stackId).map(lineOf));

const functionsOf = (stacks: typeof all): Readonly<Record<string, Found['properties']>> =>
  Object.fromEntries(
    propertiesOf(stacks, 'AWS::Lambda::Function').map((properties) => [
      String(properties['FunctionName']).replace('mastery-reports-prod-', ''),
      properties,
    ]),
  );
const functions = functionsOf(all);
const variablesIn = (stacks: typeof all, operationId: string): Readonly<Record<string, unknown>> =>
  (functionsOf(stacks)[operationId]?.['Environment'] as { Variables: Record<string, unknown> }).Variables;

describe.each(deployedFunctions.map((row) => [row.operationId, row] as const))('%s', (operationId, row) => {
  it('runs as its row says, in the account’s pool unless anyone may call it or the stage says otherwise', () => {
    expect(functions[operationId]).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: row.lambda.memoryMb,
      Timeout: row.lambda.timeoutSeconds,
      TracingConfig: { Mode: 'Active' },
      LoggingConfig: { LogGroup: `${operationId}Logs` },
      Role: `${operationId}Role.Arn`,
    });
    const reserved = [all, changed].map(
      (stacks) => functionsOf(stacks)[operationId]?.['ReservedConcurrentExecutions'],
    );
    expect(reserved).toStrictEqual([
      operationId === 'serveSandbox' ? 10 : undefined,
      operationId === 'readReadiness' ? 3 : undefined,
    ]);
  });

  it('may do what its grants name, where they name it, under their purposes, and nothing else', () => {
    expect(statementsOf(`${operationId}Role`, deploymentOf(row))).toStrictEqual(
      apart(expectedStatements(row)),
    );
  });

  it('gets the variables that it demands and, besides its log level, only what it can do without', () => {
    const optional = [
      'LOG_LEVEL',
      ...(!isRoute(row) && row.trigger === 'sandbox' ? ['STAGE', 'PROBLEMS_URL'] : []),
      ...(row.lambda.grants.includes('profiles:read') ? ['SETTINGS_TABLE', 'APPROVED_HOSTS'] : []),
    ];
    expect(Object.keys(variablesIn(all, operationId)).toSorted()).toStrictEqual(
      [...new Set([...demandedBy(row), ...optional])].toSorted(),
    );
  });
});

it('the watcher may look at the certificates and topics that the settings name, and its settings fit into an environment', () => {
  const lines = apart(policiesOf(changed, 'watchStageRole', 'reports').map(lineOf));
  expect(lines).toContain(`acm:DescribeCertificate on ${certificate}`);
  expect(lines).toContain(`sns:ListSubscriptionsByTopic on ${topic}`);
  const settings = String(variablesIn(changed, 'watchStage')['STAGE_SETTINGS']);
  expect(JSON.parse(settings)).toMatchObject({ production: true, alarmsTopicArn: { page: topic } });
  // Lambda takes 4 KB of variables.
  expect(settings.length).toBeLessThan(3_000);
});

it('links to receipts begin with the address of their API', () => {
  const linking = routes.filter(({ lambda }) => lambda.grants.includes('receipts:link'));
  expect(linking).not.toHaveLength(0);
  for (const { operationId } of linking)
    expect(variablesIn(all, operationId)['RECEIPTS_URL']).toBe(
      'https://ReceiptsApi.execute-api.AWS-Region.AWS-URLSuffix/prod',
    );
});

it('a tenant may use half of the throttle, unless the stage says otherwise', () => {
  const boundOf = (stacks: typeof all) => variablesIn(stacks, 'readReadiness')['REQUESTS_PER_TENANT'];
  // 500 requests per second, in ten seconds.
  expect([boundOf(all), boundOf(changed)]).toEqual(['2500', '40']);
});

it('the canary may read one parameter and knows its test only where the stage names one; routes of learners know its tenant', () => {
  expect(apart(policiesOf(changed, 'runCanaryRole', 'reports').map(lineOf))).toStrictEqual(
    apart([
      'logs:CreateLogStream,logs:PutLogEvents on runCanaryLogs.Arn',
      'xray:PutTelemetryRecords,xray:PutTraceSegments on *',
      `ssm:GetParameter on ${parameter('canary/token')}`,
    ]),
  );
  expect(variablesIn(all, 'runCanary')).toStrictEqual({
    LOG_LEVEL: 'info',
    STAGE: 'prod',
    SANDBOX_URL: 'https://Distribution.DomainName/sandbox',
  });
  const { CANARY_RUN, ...others } = variablesIn(changed, 'runCanary');
  expect(JSON.parse(String(CANARY_RUN))).toStrictEqual(canary.run);
  expect(others).toMatchObject({ CANARY_TENANT: canary.tenantId, MASTERY_URL: expect.any(String) as string });
  const knowing = routes.filter(({ operationId }) => 'CANARY_TENANT' in variablesIn(changed, operationId));
  expect(knowing).toStrictEqual(routes.filter(({ learnersWait }) => learnersWait));
});

it('the worker may have the system’s records of the stage’s tenants alone', () => {
  expect(variablesIn(changed, 'analyzeImprovementRun')['SYSTEM_RECORD_TENANTS']).toBe('a,b');
});

describe.each(['mastery', 'reports', 'sandbox'] as const)('a release of %s', (name) => {
  const rows = deployedFunctions.filter((row) => deploymentOf(row) === name);
  const arns = (service: string, arn: (operationId: string) => string): string =>
    rows
      .map(({ operationId }) => `arn:AWS-Partition:${service}:AWS-Region:AWS-AccountId:${arn(operationId)}`)
      .toSorted()
      .join();

  it('is checked by a function that may call the versions of the stack and report, and nothing else', () => {
    expect(statementsOf('RolloutCheckRole', name)).toStrictEqual(
      apart([
        'logs:CreateLogStream,logs:PutLogEvents on RolloutCheckLogs.Arn',
        'xray:PutTelemetryRecords,xray:PutTraceSegments on *',
        // A version, never what has none.
        `lambda:InvokeFunction on ${arns('lambda', (id) => `function:mastery-reports-prod-${id}:*`)}`,
        'codedeploy:GetApplicationRevision on arn:AWS-Partition:codedeploy:AWS-Region:AWS-AccountId:application:RolloutApplication',
        `codedeploy:GetDeployment,codedeploy:PutLifecycleEventHookExecutionStatus on ${arns(
          'codedeploy',
          (id) => `deploymentgroup:RolloutApplication/mastery-reports-prod-${id}`,
        )}`,
      ]),
    );
  });

  const waiting = [
    ...['startAdaptiveRun', 'inspectAdaptiveRun', 'advanceAdaptiveRun'],
    ...['readAttemptReport', 'materializeAttemptReport'],
  ];

  it('moves every alias by CodeDeploy, in steps exactly where learners wait', () => {
    const steps = propertiesOf(all, 'AWS::CodeDeploy::DeploymentGroup', name).map((properties) => [
      String(properties['DeploymentGroupName']).replace('mastery-reports-prod-', ''),
      [properties['DeploymentConfigName'], 'AlarmConfiguration' in properties],
    ]);
    expect(Object.fromEntries(steps)).toStrictEqual(
      Object.fromEntries(
        rows.map(({ operationId }) => [
          operationId,
          waiting.includes(operationId)
            ? ['CodeDeployDefault.LambdaCanary10Percent5Minutes', true]
            : ['CodeDeployDefault.LambdaAllAtOnce', false],
        ]),
      ),
    );
  });

  it('moves two functions at a time, those that may take minutes last', () => {
    const aliases = Object.entries(templateOf(all, name).Resources).filter(
      ([, { Type }]) => Type === 'AWS::Lambda::Alias',
    );
    const operationOf = (alias: string): string =>
      rows.find(({ operationId }) => alias.startsWith(operationId))?.operationId ?? alias;
    const isAlias = (id: string): boolean => aliases.some(([alias]) => alias === id);
    const before = new Map(
      aliases.map(([id, { DependsOn = [] }]) => [id, [DependsOn].flat().filter(isAlias)]),
    );
    // Two chains: two begin, and none waits for two or is waited for by two.
    const waitedFor = [...before.values()].flat();
    expect(aliases).toHaveLength(rows.length);
    expect([...before.values()].map(({ length }) => length).toSorted()).toEqual(
      rows.map((_, index) => (index < 2 ? 0 : 1)),
    );
    expect(new Set(waitedFor).size).toBe(waitedFor.length);
    for (const [id, [earlier]] of before)
      if (earlier !== undefined && waiting.includes(operationOf(earlier)))
        expect(waiting, id).toContain(operationOf(id));
  });

  it('takes a new version back by what its own callers get and its own lines say', () => {
    const alarms = propertiesOf(all, 'AWS::CloudWatch::Alarm', name);
    const watched = rows.filter(({ operationId }) => waiting.includes(operationId));
    expect(alarms).toHaveLength(watched.length);
    const metric = (Namespace: string, MetricName: string, dimensions: Record<string, unknown>): unknown => ({
      MetricStat: {
        Metric: {
          Namespace,
          MetricName,
          Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
        },
      },
    });
    for (const { operationId } of watched) {
      const own = `mastery-reports-prod-${operationId}`;
      const version: unknown = expect.stringMatching(`:function:${own}:\\w+\\.Version$`);
      const ofVersion = { ExecutedVersion: version, FunctionName: own, Resource: `${own}:live` };
      const ofLines = { function_version: version, operation: operationId, stage: 'prod' };
      expect(
        alarms.find(({ AlarmDescription }) => String(AlarmDescription).includes(` ${operationId} `)),
      ).toMatchObject({
        Metrics: [
          { Expression: 'SUM([failed, lines])' },
          metric('AWS/Lambda', 'Errors', ofVersion),
          metric('mastery-reports', 'ReleaseFaults', ofLines),
        ],
        // A figure comes up to three minutes late.
        EvaluationPeriods: 5,
        DatapointsToAlarm: 1,
      });
    }
  });
});

it('the sandbox is a stack of its own, which waits for no other, refers to none and holds nothing [RP-033]', () => {
  const sandbox = templateOf(all, 'sandbox');
  expect(Stack.of(appOf().node.findChild('Sandbox')).dependencies).toStrictEqual([]);
  expect(JSON.stringify(sandbox)).not.toMatch(/GetStackOutput|ImportValue|"security"/);
  const services = new Set(Object.values(sandbox.Resources).map(({ Type }) => Type.split('::')[1]));
  expect([...services].toSorted()).toStrictEqual([
    ...['ApiGateway', 'CodeDeploy', 'IAM', 'Lambda', 'Logs', 'SecretsManager', 'WAFv2'],
  ]);
});

describe('what runs behind the routes', () => {
  it.each([
    [2, all],
    [20, changed],
  ] as const)('one message per call of the worker, and %j runs at once', (atOnce, stacks) => {
    expect(propertiesOf(stacks, 'AWS::Lambda::EventSourceMapping')).toMatchObject([
      {
        BatchSize: 1,
        // It reports itself which message it could not do.
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: atOnce },
      },
    ]);
  });

  it.each([
    ['sweepImprovementRuns', '5 minutes', 300],
    ['rotateKeys', '1 hour', 3600],
    ['watchStage', '1 hour', 3600],
    ['runCanary', '15 minutes', 900],
  ])('%s is called every %s, and a call that fails is left to the next', (operationId, every, seconds) => {
    const once = { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: seconds };
    const [rule, asynchronous] = ['AWS::Events::Rule', 'AWS::Lambda::EventInvokeConfig'].map(
      (type) => resourcesOf(all, type).find(({ id }) => id.startsWith(operationId))?.properties,
    );
    expect(rule).toMatchObject({
      ScheduleExpression: `rate(${every})`,
      State: 'ENABLED',
      Targets: [{ Input: '{}', RetryPolicy: once }],
    });
    const FunctionName = `mastery-reports-prod-${operationId}`;
    expect(asynchronous).toMatchObject({ ...once, FunctionName, Qualifier: 'live' });
  });

  it.each([
    [30, all],
    [90, changed],
  ] as const)(
    'the rotation of keys knows for how many days the stage lets a key seal: %j',
    (days, stacks) => {
      expect(variablesIn(stacks, rotateKeys.operationId)['KEY_ROTATION_DAYS']).toBe(String(days));
      const alarm = propertiesOf(stacks, 'AWS::CloudWatch::Alarm').find(
        ({ MetricName }) => MetricName === 'activeKeyAgeDays',
      );
      const Dimensions = [{ Name: 'stage', Value: 'prod' }];
      expect(alarm).toMatchObject({
        ...{ Namespace: 'mastery-reports', Dimensions, Threshold: days + 2 },
      });
    },
  );
});
