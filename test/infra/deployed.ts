import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { backgroundFunctions, type BackgroundFunction } from '#shared/contract/background.ts';
import {
  deployedFunctions,
  versionCheck,
  type DeployedFunction,
  type DeploymentName,
} from '#shared/contract/functions.ts';
import { gates, routeGates, type Gate, type GateName } from '#shared/contract/gates.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { deployment } from '#lib/deployment.ts';
import { offlineRelease } from '#shared/release/read-release.ts';
import type { ApiDomain } from '#shared/stage/stage.ts';
import { stageNamed, type Stage } from '#shared/stage/stages.ts';
import type { StackTemplate } from './cloudformation.ts';

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

/** The feature flags that the CDK command line passes on from cdk.json. */
export const context = cdkJson.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')),
).context;

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
});
export type Resource = z.infer<typeof resource>;

/** One stack's template: resources by logical id, and the outputs' names. */
export interface Synthesized {
  readonly template: Template;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: readonly string[];
}

export interface Deployed {
  readonly stores: Synthesized;
  readonly services: ReadonlyMap<ServiceName, Synthesized>;
  readonly sandbox: Synthesized;
  readonly operations: Synthesized;
  readonly documentation: Synthesized;
  /** All of them in the order in which the CDK deploys them. */
  readonly stacks: readonly StackTemplate[];
}

export interface DeployedOptions {
  readonly routes?: readonly Route[];
  readonly background?: readonly BackgroundFunction[];
  /** Default: all that the routes stand behind. */
  readonly gates?: readonly GateName[];
  /** In place of gates. */
  readonly release?: ReleaseState;
  readonly stage?: Stage;
  readonly undeployable?: string;
  /** What the bundles contain; default: the same in every deployment. */
  readonly code?: string;
}

/** The stage of that name, for tests. */
export function stage(name: string): Stage {
  const named = stageNamed(name);
  if (!named.ok) throw new Error(named.error);
  return named.value;
}

/** The production stage under host names of its own. */
export function withDomains(keepsFormerAddress?: true): Stage {
  const { name, config } = stage('prod');
  const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/one';
  const own = (api: string): ApiDomain => ({
    domain: `${api}.school.org`,
    certificateArn,
    ...(keepsFormerAddress && { keepsFormerAddress }),
  });
  const domains = {
    mastery: { ...own('mastery'), hostedZoneId: 'Z0123456789ABCDEFGHIJ' },
    reports: own('reports'),
    receipts: own('receipts'),
    sandbox: own('sandbox'),
  };
  return { name, config: { ...config, domains } };
}

/** Bundles that are none: a template does not look into them. */
function stubbedAssets(of: readonly Pick<DeployedFunction, 'operationId'>[], code: string): string {
  const assets = mkdtempSync(join(tmpdir(), 'assets-'));
  for (const { operationId } of of) {
    mkdirSync(join(assets, operationId));
    writeFileSync(join(assets, operationId, 'index.mjs'), `export const handler = ${code};`);
  }
  return assets;
}

/** A site of one page. */
function stubbedSite(): string {
  const site = mkdtempSync(join(tmpdir(), 'site-'));
  writeFileSync(join(site, '404.html'), '<!doctype html>');
  return site;
}

/** An app with every stack of a stage; not synthesized yet. */
export function appOf(options: DeployedOptions = {}): {
  readonly app: App;
  readonly stacks: ReturnType<typeof deployment>;
} {
  const served = options.routes ?? routes;
  const functions = [...served, ...(options.background ?? backgroundFunctions), serveSandbox];
  const app = new App({ context, outdir: mkdtempSync(join(tmpdir(), 'cdk-')), analyticsReporting: false });
  const stacks = deployment(app, {
    stage: options.stage ?? stage('prod'),
    release:
      options.release ?? offlineRelease(new Set(options.gates ?? served.flatMap(({ gates }) => gates))),
    functions,
    undeployable: options.undeployable,
    assets: stubbedAssets([...functions, versionCheck], options.code ?? 'undefined'),
    site: stubbedSite(),
  });
  return { app, stacks };
}

const known = new Map<string, Deployed>();

/** What a stage deploys. Releases that open the same functions of the registry are synthesized once. */
export function deployed(options: DeployedOptions = {}): Deployed {
  const { routes: served, background, stage: of, code, ...opened } = options;
  if ([served, background, of, code].some((option) => option !== undefined)) return synthesize(options);
  const release = opened.release ?? offlineRelease(new Set(opened.gates ?? gates));
  const key = deployedFunctions
    .filter((row) => isReleased(row, release))
    .map(({ operationId }) => operationId)
    .join();
  const found = known.get(key) ?? synthesize({ release });
  known.set(key, found);
  return found;
}

function synthesize(options: DeployedOptions): Deployed {
  const { app, stacks } = appOf(options);
  if (stacks.sandbox === undefined) throw new Error('no stack of the sandbox');
  const synthesized = (of: (typeof stacks)['stores']): Synthesized => {
    const template = Template.fromStack(of);
    const json = z
      .object({
        Resources: z.record(z.string(), resource).default({}),
        Outputs: z.record(z.string(), z.unknown()).default({}),
      })
      .parse(template.toJSON());
    return { template, resources: json.Resources, outputs: Object.keys(json.Outputs) };
  };
  return {
    stores: synthesized(stacks.stores),
    services: new Map([...stacks.services].map(([name, of]) => [name, synthesized(of)])),
    sandbox: synthesized(stacks.sandbox),
    operations: synthesized(stacks.operations),
    documentation: synthesized(stacks.documentation),
    stacks: app.synth().stacks.map(({ stackName, template }) => ({
      name: stackName,
      template: template as StackTemplate['template'],
    })),
  };
}

/** Every set of the gates that open routes. */
export const gateSets: readonly (readonly Gate[])[] = routeGates.reduce<readonly (readonly Gate[])[]>(
  (sets, gate) => [...sets, ...sets.map((set) => [...set, gate])],
  [[]],
);

/** The resources of one type. */
export function ofType({ resources }: Synthesized, type: string): readonly (readonly [string, Resource])[] {
  return Object.entries(resources).filter(([, { Type }]) => Type === type);
}

/** The template of a service that must be there. */
export function serviceOf({ services }: Deployed, name: ServiceName): Synthesized {
  const found = services.get(name);
  if (found === undefined) throw new Error(`no stack of the service ${name}`);
  return found;
}

/** The template of a service that must be there, or of the sandbox. */
export function deploymentStack(of: Deployed, name: DeploymentName): Synthesized {
  return name === 'sandbox' ? of.sandbox : serviceOf(of, name);
}
