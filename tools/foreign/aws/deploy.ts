import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { awsEnvironment, localAccount, localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { bucketParameter } from '#shared/release/applied-manifest.ts';
import { createClients } from '#shared/stores/clients.ts';
import { readGateParameter } from '#shared/stores/gate-parameters.ts';
import { provable } from '#shared/contract/gates.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import { projectRoot } from '../../checks/checks.ts';
import { buildFolder, runTool } from '../python.ts';
import type { Moto } from './moto.ts';
import { lockBucket } from './stores.ts';

const stage = 'sandbox-dev';
const folder = join(buildFolder, 'aws-deployment');
const assembly = join(projectRoot, 'cdk.out');
const place = `${localAccount}/${localRegion}`;

/** Failures that `npm run doctor` reports of a sound stage in moto, each with what moto does otherwise than AWS. */
const wrongFailures: Readonly<Record<string, RegExp>> = {
  'has no UpdateTerminationProtection': / stacks .* has no termination protection/,
  'describes no key by an alias that CloudFormation made': /^failure +kms key +not checked: /,
  'has no stage where its type is replaced': /^failure +firewall +not checked: .*Invalid stage identifier/,
};

/** A deployment, and the template of its stores. */
export interface Deployed {
  readonly differences: readonly string[];
  readonly stage: string;
  /** For what commands read and write. */
  readonly folder: string;
  readonly stores: string;
  /** Runs a command of the project against moto. @returns a line per failure */
  readonly command: (name: string, file: string, argv: readonly string[]) => Promise<readonly string[]>;
}

/** Deploys every stack of a stage with its gates closed, as a new account needs it, then again with all gates open. */
export async function deploy({ url, types }: Moto): Promise<Deployed> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const preloaded = ['test/support/filled-stages.mjs', 'tools/foreign/aws/preload.ts'];
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    TMPDIR: process.env['TMPDIR'],
    ...awsEnvironment(url),
    AWS_PROFILE: undefined,
    // moto takes a bucket's name out of an address of AWS only.
    AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION: `https://s3.${localRegion}.amazonaws.com`,
    MOTO_TYPES: JSON.stringify([...types]),
    RELEASE_KEY_OF_STAGES: JSON.stringify(publicKey.export({ format: 'jwk' })),
    NODE_OPTIONS: preloaded.map((file) => `--import=${join(projectRoot, file)}`).join(' '),
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CDK_DISABLE_VERSION_CHECK: 'true',
  };
  let commands = 0;
  const command = async (name: string, file: string, argv: readonly string[], cwd = projectRoot) => {
    commands += 1;
    const log = join(folder, `${commands}-${name.replaceAll(' ', '-')}.log`);
    const { code, stdout, stderr } = await runTool(
      process.execPath,
      [join(projectRoot, file), ...argv],
      600,
      {
        cwd,
        env,
      },
    );
    writeFileSync(log, `${stdout}${stderr}`);
    const failures = stdout.split('\n').filter((line) => line.startsWith('failure'));
    const wrong = failures.filter((line) => !Object.values(wrongFailures).some((known) => known.test(line)));
    // Only the failures that are moto's own make up its exit code.
    return code === 0 || (failures.length > 0 && wrong.length === 0)
      ? []
      : (wrong.length > 0 ? wrong : [`exit code ${code}`]).map((line) => `${name}: ${line} (${log})`);
  };
  const deployment = ['-c', `stage=${stage}`, '--yes'];
  const template = (): string => readFileSync(join(assembly, 'RecordsAndKeys.template.json'), 'utf8');
  const differences = [
    // Where no app is: it would be synthesized for nothing.
    ...(await command('bootstrap', 'node_modules/aws-cdk/bin/cdk', ['bootstrap', `aws://${place}`], folder)),
    ...(await command('doctor --fix', 'ops/doctor.ts', ['--stage', stage, '--fix'])),
    ...(await command('deploy', 'ops/deploy.ts', [...deployment, '-c', `first=${place}`])),
    ...(await openGates()),
    ...(await command('deploy again', 'ops/deploy.ts', [...deployment, ...allowed()])),
  ];
  const replaced = JSON.parse(readFileSync(join(assembly, 'replaced-types.json'), 'utf8')) as string[];
  console.log(`  replaced by a generic type: ${replaced.join(', ')}`);
  const stores = template();
  // No other command may take the replaced templates for ours.
  rmSync(assembly, { recursive: true });
  return { differences, stage, stores, folder, command };

  /** moto does not predict whether a change replaces a resource, and the command stops before an address might be lost. */
  function allowed(): readonly string[] {
    const text = readFileSync(join(assembly, 'Reports.template.json'), 'utf8');
    // SAFETY: from the CDK.
    const { Resources } = JSON.parse(text) as { Resources: Record<string, { Type: string }> };
    return Object.keys(Resources)
      .filter((id) => Resources[id]?.Type === 'AWS::ApiGateway::RestApi')
      .flatMap((id) => ['--allow-replacement', id]);
  }

  /** Signs a manifest that proves everything, and applies it. */
  async function openGates(): Promise<readonly string[]> {
    await lockBucket(url, await bucketOf(url), template());
    const file = (name: string): string => join(folder, name);
    const now = Date.now();
    const manifest: Omit<ReleaseManifest, 'receipts'> = {
      manifestVersion: 1,
      stage,
      rehearsal: false,
      issuedAt: formatInstant(now),
      expiresAt: formatInstant(now + 86_400_000),
    };
    const receipts = provable.map((proves) => ({ proves, location: 'file:proof.json', summary: 'None' }));
    writeFileSync(file('proof.json'), '{}');
    writeFileSync(file('draft.json'), JSON.stringify({ ...manifest, receipts }));
    writeFileSync(file('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const [draft, key, signed] = [file('draft.json'), file('key.pem'), file('manifest.jws')];
    return [
      ...(await command('gates sign', 'ops/gates.ts', ['sign', draft, '--key', key, '--out', signed])),
      ...(await command('gates apply', 'ops/gates.ts', ['apply', signed, '--stage', stage])),
    ];
  }
}

/** The bucket of receipts of the deployed stage. */
export async function bucketOf(url: string): Promise<string> {
  const clients = createClients({ endpoint: url, region: localRegion, credentials: localCredentials });
  const bucket = await readGateParameter(clients.ssm, bucketParameter(stage));
  clients.destroy();
  if (bucket === undefined) throw new Error(`${stage} has no bucket of receipts`);
  return bucket;
}
