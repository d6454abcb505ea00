import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { deployment, type Deployment } from '#lib/deployment.ts';
import { offlineRelease, parseGates, readRelease } from '#shared/release/read-release.ts';
import { SANDBOX_PATH } from '#lib/stacks/documentation.ts';
import { checkWithNag } from '#lib/nag.ts';
import { stageNamed, type Stage } from '#shared/stage/stages.ts';
import { s3, ssm } from '#shared/stores/clients.ts';
import { readGateFlags, readGateParameter } from '#shared/stores/gate-parameters.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { MAX_MANIFEST_BYTES } from '#shared/release/manifest.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { writeSite } from '#tools/site/files.ts';
import { renderSite } from '#tools/site/render.ts';

/** The CDK app: which stage, which gates, then the stacks. `cdk.json` runs it. */
const built = await build(new App());
if (!built.ok) {
  process.stderr.write(`${built.error}\n`);
  process.exitCode = 1;
}

async function build(app: App): Promise<Result<Deployment, string>> {
  const stage = stageNamed(contextText(app, 'stage') ?? 'sandbox-dev');
  if (!stage.ok) return stage;
  const release = await releaseFor(app, stage.value);
  if (!release.ok) return release;
  const assets = resolve(import.meta.dirname, '../build/functions');
  const missing = deployedFunctions.filter(
    ({ operationId }) => !existsSync(join(assets, operationId, 'index.mjs')),
  );
  if (missing.length > 0) {
    return err(
      `no bundle of ${missing.map(({ operationId }) => operationId).join(', ')}: run npm run build (npm run synth does)`,
    );
  }
  const site = join(app.outdir, 'site');
  await writeSite(site, await renderSite({ release: release.value, apis: { sandbox: SANDBOX_PATH } }));
  const stacks = deployment(app, {
    stage: stage.value,
    release: release.value,
    functions: deployedFunctions,
    assets,
    site,
  });
  checkWithNag(app);
  return ok(stacks);
}

/** What `-c gates=…` says, or else the stage's own flags and manifest, which only its own account may answer. */
async function releaseFor(app: App, { name, config }: Stage): Promise<Result<ReleaseState, string>> {
  const offline = contextText(app, 'gates');
  if (offline !== undefined) {
    const open = parseGates(offline);
    return open.ok ? ok(offlineRelease(open.value)) : err(`-c gates=${offline}: ${open.error}`);
  }
  const account = process.env['CDK_DEFAULT_ACCOUNT'];
  if (config.environment !== 'agnostic' && account !== config.environment.account) {
    return err(
      `${name} belongs to account ${config.environment.account}, the caller's is ${account ?? 'unknown'}`,
    );
  }
  const read = await readRelease(
    { key: config.releaseKey, stage: name, now: Date.now() },
    {
      readFlags: (path) => readGateFlags(ssm(), path),
      readParameter: (parameter) => readGateParameter(ssm(), parameter),
      readManifest: (location) => readObject(s3(), location, MAX_MANIFEST_BYTES),
    },
  );
  if (!read.ok) return read;
  for (const note of read.value.notes) process.stderr.write(`${note}\n`);
  return ok(read.value.release);
}

/** Context given by `-c` is text; a value of another type in cdk.json cannot name a stage or gates. */
function contextText(app: App, name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(`the context ${name} must be text`);
}
