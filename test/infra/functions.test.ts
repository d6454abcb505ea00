import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Grant } from '#shared/contract/grants.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes, routesOf } from '#shared/contract/routes.ts';
import { variablesOf as variablesOfRoute } from '#shared/http/environment.ts';
import { accessOf } from '#lib/constructs/grants.ts';
import { App, Stack } from 'aws-cdk-lib';
import { deployed, ofType, serviceOf, stage, type Resource, type Synthesized } from './deployed.ts';

const everything = deployed();
const stackOf = ({ service }: Pick<Route, 'service'>): Synthesized => serviceOf(everything, service);

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
  'keys:continuation': keys('continuation'),
  'keys:cursor': keys('cursor'),
  'keys:idempotency': keys('idempotency'),
  'keys:pseudonym': keys('pseudonym'),
  'profiles:read': [
    { actions: ['ssm:GetParameters'], on: /:ssm:.*:parameter\/prod\/profiles\/\*"/ },
    {
      actions: ['kms:Decrypt'],
      on: /^\{"Fn::GetStackOutput":.*"KeyArn"\}\}$/,
      if: /^\{"StringLike":\{"kms:EncryptionContext:PARAMETER_ARN":.*:parameter\/prod\/profiles\/\*"/,
    },
  ],
};

/** Key ring items lie under `key#<purpose>` (shared/aws/settings-table.ts). */
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

const variablesOf: Readonly<Record<Grant, string>> = {
  'records:read': 'RECORDS_TABLE',
  'control:write': 'CONTROL_TABLE',
  'keys:continuation': 'SETTINGS_TABLE',
  'keys:cursor': 'SETTINGS_TABLE',
  'keys:idempotency': 'SETTINGS_TABLE',
  'keys:pseudonym': 'SETTINGS_TABLE',
  'profiles:read': 'PROFILES_PATH',
};
const commonVariables = [
  'STAGE',
  'TOKEN_ISSUER',
  'TOKEN_AUDIENCE',
  'TOKEN_JWKS_URL',
  'TOKEN_ALGORITHMS',
  'PROBLEMS_URL',
  'LOG_LEVEL',
];

function functionOf(route: Route): Resource {
  const found = ofType(stackOf(route), 'AWS::Lambda::Function').find(
    ([, { Properties }]) => Properties['FunctionName'] === `mastery-reports-prod-${route.operationId}`,
  );
  if (!found) throw new Error(`no function of ${route.operationId}`);
  return found[1];
}

/** Every statement of a function’s role, inline or attached. */
function statementsOf(route: Route): readonly Statement[] {
  const roleId = z
    .object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) })
    .parse(functionOf(route).Properties['Role'])['Fn::GetAtt'][0];
  const role = z
    .object({
      Policies: z.array(z.object({ PolicyDocument: policyDocument })),
      ManagedPolicyArns: z.undefined(),
    })
    .parse({ ManagedPolicyArns: undefined, ...stackOf(route).resources[roleId]?.Properties });
  const attached = ofType(stackOf(route), 'AWS::IAM::Policy')
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

it.each(['mastery', 'reports'] as const)(
  'there is one function for each route of the service %s, and no other',
  (service) => {
    expect(ofType(stackOf({ service }), 'AWS::Lambda::Function')).toHaveLength(routesOf(service).length);
  },
);

describe.each(routes.map((route) => [route.operationId, route] as const))('%s', (_, route) => {
  it('runs as its row says', () => {
    expect(functionOf(route).Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: route.lambda.memoryMb,
      Timeout: route.lambda.timeoutSeconds,
      TracingConfig: { Mode: 'Active' },
    });
  });

  it('logs to a group of its own that forgets after the stage’s retention', () => {
    const { LogGroup } = z
      .object({ LogGroup: z.object({ Ref: z.string() }) })
      .parse(functionOf(route).Properties['LoggingConfig']);
    expect(stackOf(route).resources[LogGroup.Ref]).toMatchObject({
      Type: 'AWS::Logs::LogGroup',
      Properties: { RetentionInDays: stage('prod').config.logRetentionDays },
    });
  });

  it('may do what its grants name, where they name it, and nothing else', () => {
    const expected = [...always, ...route.lambda.grants.flatMap((grant) => allowed[grant])];
    const unexplained = statementsOf(route).filter((found) => !expected.some((rule) => matches(found, rule)));
    const missing = expected.filter((rule) => !statementsOf(route).some((found) => matches(found, rule)));
    expect({ unexplained, missing }).toStrictEqual({ unexplained: [], missing: [] });
  });

  it('has no wildcard among its actions', () => {
    expect(
      statementsOf(route)
        .flatMap(({ Action }) => Action)
        .filter((action) => action.includes('*')),
    ).toStrictEqual([]);
  });

  it('decrypts only under the purposes that its grants name', () => {
    const purposes = statementsOf(route).flatMap(({ Condition }) =>
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
    const named = route.lambda.grants
      .filter((grant) => grant.startsWith('keys:'))
      .map((grant) => grant.slice('keys:'.length));
    expect(purposes.toSorted()).toStrictEqual(named.toSorted());
  });

  it('gets exactly the variables that it needs', () => {
    const { Variables } = z
      .object({ Variables: z.record(z.string(), z.unknown()) })
      .parse(functionOf(route).Properties['Environment']);
    const expected = new Set([...commonVariables, ...route.lambda.grants.map((grant) => variablesOf[grant])]);
    expect(Object.keys(Variables).toSorted()).toStrictEqual([...expected].toSorted());
    expect(Object.keys(Variables)).toEqual(expect.arrayContaining([...variablesOfRoute(route)]));
  });

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
  'a route with nothing but %s gets nothing of another grant',
  (grant) => {
    const stack = new Stack(new App(), 'Probe');
    const named = (name: string): { name: string; arn: string } => ({ name, arn: `arn:${name}` });
    const { statements } = accessOf(stack, [grant], 'prod', {
      records: named('records'),
      control: named('control'),
      settings: named('settings'),
      keyArn: 'arn:key',
    });
    expect(statements.map(({ actions }) => actions.toSorted())).toStrictEqual(
      allowed[grant].map(({ actions }) => [...actions]),
    );
  },
);
