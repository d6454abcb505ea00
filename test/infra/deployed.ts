import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { DISABLE_ASSET_STAGING_CONTEXT } from 'aws-cdk-lib/cx-api';
import * as z from 'zod';
import { bundledFunctions, deployedFunctions } from '#shared/contract/functions.ts';
import { gates as everyGate, routeGates, type Gate, type GateName } from '#shared/contract/gates.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { deployment } from '#lib/deployment.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import type { StackId } from '#shared/stage/stack-names.ts';
import type { StageConfig } from '#shared/stage/stage.ts';
import { stageNamed, type Stage } from '#shared/stage/stages.ts';
import { readStacks, type Deployment, type StackTemplate, type Template } from './template.ts';

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

/** The feature flags that the CDK command line passes on from cdk.json. */
export const context = cdkJson.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')),
).context;

/** The stage of that name, for tests. */
export function stage(name: string): Stage {
  const named = stageNamed(name);
  if (!named.ok) throw new Error(named.error);
  return named.value;
}

/** Host names of its own for every API of a stage that may have one. */
export function ownDomains(keeps?: { readonly keepsFormerAddress: true }): Required<StageConfig>['domains'] {
  const own = (api: string) => ({
    domain: `${api}.school.org`,
    certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/one' as const,
    ...keeps,
  });
  return {
    mastery: { ...own('mastery'), hostedZoneId: 'Z0123456789ABCDEFGHIJ' },
    reports: own('reports'),
    receipts: own('receipts'),
  };
}

/** A canary that takes a test. */
export const canary = {
  tenantId: 'tenant-canary',
  run: {
    selectionPolicyId: 'policy-1',
    scaleCalibrationId: 'calibration-1',
    testSpecId: 'spec-1',
    testBankId: 'bank-1',
    bankOperationId: 'operation-1',
  },
} as const satisfies StageConfig['canary'];

/** Every setting with which a stage has more resources. */
export const everySetting: Partial<StageConfig> = {
  environment: { account: '111122223333', region: 'eu-central-1' },
  alarmsTopicArn: {
    page: 'arn:aws:sns:eu-central-1:111122223333:on-call',
    ticket: 'arn:aws:sns:eu-central-1:111122223333:operators',
  },
  receiptReplica: 'arn:aws:s3:::receipts-elsewhere',
  key: 'multi-region',
  domains: ownDomains(),
  documentation: {
    domain: 'docs.school.org',
    certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/one',
  },
  allowedOrigins: ['https://app.school.example'],
  canary,
  monthlyBudgetUsd: 900,
  warmThroughput: { control: { reads: 12_000, writes: 8_000 } },
  unlimitedAddresses: ['203.0.113.0/24', '198.51.100.7/32'],
  recordWriters: {
    release: 'arn:aws:iam::111122223333:role/mastery/release',
    restore: 'arn:aws:iam::111122223333:role/restore',
  },
};

/** In place of the values that `everySetting` has. */
export const otherSettings: Partial<StageConfig> = {
  key: 'arn:aws:kms:eu-west-1:111122223333:key/mrk-1234abcd',
  receiptRetention: { years: 10, mode: 'COMPLIANCE' },
  recordWriters: { release: 'arn:aws:iam::111122223333:role/mastery/release' },
};

export interface DeployedOptions {
  /** The stage; default: production. */
  readonly stage?: Stage;
  /** Settings of the stage that differ. */
  readonly settings?: Partial<StageConfig>;
  /** Default: all. */
  readonly gates?: readonly GateName[];
  /** In place of gates. */
  readonly release?: ReleaseState;
  /** What the bundles contain; default: the same in every deployment. */
  readonly code?: string;
}

/** A folder with these files, for templates that do not look into them. */
function stubs(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'stubs-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function releaseOf({ gates = everyGate, release }: DeployedOptions): ReleaseState {
  return release ?? offlineRelease(new Set(gates));
}

/** An app with every stack of a stage; not synthesized yet. */
export function appOf(options: DeployedOptions = {}): App {
  const { stage: { name, config } = stage('prod'), settings, code = 'undefined' } = options;
  const app = new App({
    // No copy of the assets, of which no test reads a byte.
    context: { ...context, [DISABLE_ASSET_STAGING_CONTEXT]: true },
    outdir: mkdtempSync(join(tmpdir(), 'cdk-')),
    analyticsReporting: false,
  });
  deployment(app, {
    stage: { name, config: { ...config, ...settings } },
    release: releaseOf(options),
    undeployable: undefined,
    assets: stubs(
      Object.fromEntries(
        bundledFunctions.map(({ operationId }) => [
          `${operationId}/index.mjs`,
          `export const handler = ${code};`,
        ]),
      ),
    ),
    site: stubs({ '404.html': '<!doctype html>' }),
  });
  return app;
}

const known = new Map<string, readonly StackTemplate[]>();

/** The stacks that a stage deploys, in their order. Equal deployments are synthesized once. */
export function deployed(options: DeployedOptions = {}): readonly StackTemplate[] {
  const { stage: of, settings, code } = options;
  const open = deployedFunctions.filter((row) => isReleased(row, releaseOf(options)));
  const key = JSON.stringify([of, settings, code, open.map(({ operationId }) => operationId)]);
  const found = known.get(key) ?? synthesize(options);
  known.set(key, found);
  return found;
}

function synthesize(options: DeployedOptions): readonly StackTemplate[] {
  return appOf(options)
    .synth()
    .stacks.map(({ stackName, template, dependencies, environment }) => ({
      name: stackName,
      region: environment.region,
      waitsFor: dependencies.flatMap((one) => ('stackName' in one ? [String(one.stackName)] : [])),
      template: template as Template,
    }));
}

/** The template of one stack. */
export function templateOf(stacks: readonly StackTemplate[], id: StackId): Template {
  const found = stacks.find(({ name }) => name.endsWith(`-${id}`));
  if (found === undefined) throw new Error(`no stack ${id}`);
  return found.template;
}

/** Every set of the gates that open routes. */
export const gateSets: readonly (readonly Gate[])[] = routeGates.reduce<readonly (readonly Gate[])[]>(
  (sets, gate) => [...sets, ...sets.map((set) => [...set, gate])],
  [[]],
);

/** A resource of an account in which nothing else is. */
export interface Found {
  readonly stack: string;
  /** The logical id without the part that the CDK derives from the path. */
  readonly id: string;
  /** With the ids of other resources in place of references. */
  readonly properties: Readonly<Record<string, unknown>>;
}

const read = new WeakMap<readonly StackTemplate[], Deployment>();

/**
 * The resources of one type that a deployment makes, as text that a test can compare: `Records.Arn` for an attribute, `AWS-Region` for a
 * value of the account.
 */
export function resourcesOf(stacks: readonly StackTemplate[], type: string, id?: StackId): readonly Found[] {
  const deployment = read.get(stacks) ?? readStacks(stacks);
  read.set(stacks, deployment);
  return deployment.resources
    .filter((one) => one.type === type && (id === undefined || one.stack.endsWith(`-${id}`)))
    .map(({ stack, logicalId, properties }) => ({
      stack,
      id: withoutDraw(logicalId),
      properties: JSON.parse(withoutDraw(JSON.stringify(properties))) as Found['properties'],
    }));
}

/** The properties of those resources. */
export function propertiesOf(...found: Parameters<typeof resourcesOf>): readonly Found['properties'][] {
  return resourcesOf(...found).map(({ properties }) => properties);
}

/** A statement of a role as the templates have it. */
export interface RoleStatement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: unknown;
}

/** Every statement of a role, inline or attached. Fails for a managed policy, whose statements no template has. */
export function policiesOf(
  stacks: readonly StackTemplate[],
  role: string,
  id: StackId,
): readonly RoleStatement[] {
  const inline = resourcesOf(stacks, 'AWS::IAM::Role', id)
    .filter((one) => one.id === role)
    .flatMap(({ properties: { Policies, ManagedPolicyArns } }) => {
      if (ManagedPolicyArns !== undefined) throw new Error(`${role} has a managed policy`);
      return Policies as readonly { PolicyDocument: unknown }[];
    });
  const attached = resourcesOf(stacks, 'AWS::IAM::Policy', id)
    .map(({ properties }) => properties)
    .filter(({ Roles }) => (Roles as readonly string[]).includes(role));
  return [...inline, ...attached].flatMap(
    ({ PolicyDocument }) => (PolicyDocument as { Statement: readonly RoleStatement[] }).Statement,
  );
}

/** The logical ids of the resources of one type, as they stand in the templates. */
export function logicalIds(stacks: readonly StackTemplate[], type: string): readonly string[] {
  return stacks.flatMap(({ template: { Resources } }) =>
    Object.keys(Resources).filter((id) => Resources[id]?.Type === type),
  );
}

/** A text without the parts of ids that the CDK makes. */
function withoutDraw(text: string): string {
  return text.replaceAll(/(?<=[A-Za-z])[0-9A-F]{8}(?![0-9A-Za-z])/g, '');
}
