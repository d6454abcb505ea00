import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { deployment, type Deployment } from '#lib/deployment.ts';
import { parseGates, readGates, type OpenGates } from '#lib/gates.ts';
import { checkWithNag } from '#lib/nag.ts';
import { stageNamed, type Stage } from '#lib/stage-config/stages.ts';
import { ssm } from '#shared/aws/clients.ts';
import { readGateFlags } from '#shared/aws/gate-flags.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';

/** The CDK app: which stage, which gates, then the stacks. `cdk.json` runs it. */
const built = await build(new App());
if (!built.ok) {
  process.stderr.write(`${built.error}\n`);
  process.exitCode = 1;
}

async function build(app: App): Promise<Result<Deployment, string>> {
  const stage = stageNamed(contextText(app, 'stage') ?? 'sandbox-dev');
  if (!stage.ok) return stage;
  const gates = await openGates(app, stage.value);
  if (!gates.ok) return gates;
  const assets = resolve(import.meta.dirname, '../build/functions');
  const missing = routes.filter(({ operationId }) => !existsSync(join(assets, operationId, 'index.mjs')));
  if (missing.length > 0) {
    return err(
      `no bundle of ${missing.map(({ operationId }) => operationId).join(', ')}: run npm run build (npm run synth does)`,
    );
  }
  const stacks = deployment(app, { stage: stage.value, gates: gates.value, routes, assets });
  checkWithNag(app);
  return ok(stacks);
}

/** `-c gates=…`, or else the stage's own flags, which only its own account may answer. */
async function openGates(app: App, { name, config }: Stage): Promise<Result<OpenGates, string>> {
  const offline = contextText(app, 'gates');
  if (offline !== undefined) return parseGates(offline);
  const account = process.env['CDK_DEFAULT_ACCOUNT'];
  if (config.environment !== 'agnostic' && account !== config.environment.account) {
    return err(
      `${name} belongs to account ${config.environment.account}, the caller's is ${account ?? 'unknown'}`,
    );
  }
  return readGates(name, (path) => readGateFlags(ssm(), path), new Set());
}

/** Context given by `-c` is text; a value of another type in cdk.json cannot name a stage or gates. */
function contextText(app: App, name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(`the context ${name} must be text`);
}
