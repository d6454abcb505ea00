import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { deployment, type DeploymentOptions } from '#lib/deployment.ts';
import { offlineRelease, parseGates, readRelease } from '#shared/release/read-release.ts';
import { stageNameDefect } from '#lib/names.ts';
import { checkWithNag } from '#lib/constructs/acknowledge.ts';
import { enterStage } from '#shared/stage/access.ts';
import { contextFault } from '#shared/stage/app-context.ts';
import { SANDBOX_PATH } from '#shared/stage/stage.ts';
import { domainsOf, placeholders, settingsDefect, stageNamed, type Stage } from '#shared/stage/stages.ts';
import { s3, ssm } from '#shared/stores/clients.ts';
import { readGateFlags, readGateParameter } from '#shared/stores/gate-parameters.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { MAX_MANIFEST_BYTES } from '#shared/release/manifest.ts';
import { writeSite } from '#tools/site/files.ts';
import { renderSite } from '#tools/site/render.ts';

/** The CDK app: chooses stage and gates, then builds the stacks. `cdk.json` runs it. */
const built = await build(new App());
if (!built.ok) {
  process.stderr.write(`${built.error}\n`);
  process.exitCode = 1;
}

async function build(app: App): Promise<Result<undefined, string>> {
  // SAFETY: an object whose keys are the names of the context.
  const unread = Object.keys(app.node.getAllContext() as object)
    .map(contextFault)
    .find((fault) => fault !== undefined);
  if (unread !== undefined) return err(`-c: ${unread}`);
  const named = contextText(app, 'stage');
  const stage = stageNamed(named ?? 'sandbox-dev');
  if (!stage.ok) return stage;
  const misnamed = stageNameDefect(stage.value.name);
  if (misnamed !== undefined) return err(misnamed);
  const gates = contextText(app, 'gates');
  const source =
    gates === undefined
      ? await fromStage(stage.value, contextText(app, 'first'))
      : offline(stage.value, gates);
  if (!source.ok) return source;
  const undeployable = whyUndeployable(stage.value, named, gates);
  if (gates === undefined && undeployable !== undefined)
    process.stderr.write(`CloudFormation will reject these templates: ${undeployable}\n`);
  const site = join(app.outdir, 'site');
  const { release } = source.value;
  const addresses = domainsOf(source.value.stage.config);
  await writeSite(site, await renderSite({ release, apis: { sandbox: SANDBOX_PATH }, addresses }));
  const assets = resolve(import.meta.dirname, '../build/functions');
  deployment(app, { ...source.value, undeployable, assets, site });
  checkWithNag(app);
  return ok(undefined);
}

function whyUndeployable(
  stage: Stage,
  named: string | undefined,
  gates: string | undefined,
): string | undefined {
  if (gates !== undefined) return 'synthesized with -c gates, without the account of the stage';
  const unfilled = placeholders(stage);
  if (unfilled.length > 0) return `${stage.name} still has placeholder settings: ${unfilled.join(', ')}`;
  return named === undefined ? 'no -c stage=NAME was given' : undefined;
}

/** The input of the stacks. */
type Source = Pick<DeploymentOptions, 'stage' | 'release'>;

/** Returns the release that `-c gates=…` opens. Nothing proves it. */
function offline(stage: Stage, gates: string): Result<Source, string> {
  const open = parseGates(gates);
  return open.ok
    ? ok({ stage, release: offlineRelease(open.value) })
    : err(`-c gates=${gates}: ${open.error}`);
}

/** Reads the stage's own flags and manifest in its account and region, to which the stacks are then bound. */
async function fromStage(stage: Stage, first: string | undefined): Promise<Result<Source, string>> {
  const { name, config } = stage;
  const entered = await enterStage(stage);
  if (!entered.ok)
    return err(`${entered.error}; the CDK does not pass --profile on to this app: set AWS_PROFILE as well`);
  const { account, region } = entered.value;
  const bound = { name, config: { ...config, environment: { account, region } } };
  const defect = settingsDefect(bound.config);
  if (defect !== undefined) return err(`stage ${name}: ${defect}`);
  const ofCdk = process.env['CDK_DEFAULT_ACCOUNT'];
  if (ofCdk !== undefined && ofCdk !== account) {
    return err(
      `the CDK uses credentials of account ${ofCdk}, this app those of ${account}: set AWS_PROFILE in place of --profile`,
    );
  }
  const here = `${account}/${region}`;
  process.stderr.write(`${name}: account ${account}, region ${region}\n`);
  if (first !== undefined && first !== here)
    return err(`-c first=${first}: these credentials and this stage lead to ${here}`);
  const read = await readRelease(
    { key: config.releaseKey, stage: name, now: Date.now() },
    {
      readFlags: (path) => readGateFlags(ssm(), path),
      readParameter: (parameter) => readGateParameter(ssm(), parameter),
      readManifest: (location) => readObject(s3(), location, MAX_MANIFEST_BYTES),
    },
    { isFirst: first !== undefined },
  );
  if (!read.ok) return read;
  for (const note of read.value.notes) process.stderr.write(`${note}\n`);
  return ok({ stage: bound, release: read.value.release });
}

/** Returns a text of the context: `-c` gives text; a value of another type in cdk.json cannot name a stage or gates. */
function contextText(app: App, name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(`the context ${name} must be text`);
}
