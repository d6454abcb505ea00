import { InvalidArgumentError } from '@commander-js/extra-typings';
import { localStage } from '#shared/stage/local-stage.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { s3 } from '#shared/stores/clients.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { gates } from '#shared/contract/gates.ts';
import type { GateName } from '#shared/contract/gates.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ManifestUse } from '#shared/release/manifest.ts';
import { applyManifest, withdraw } from '#ops/gates/apply.ts';
import {
  checkManifest,
  claimedStage,
  readKeyFile,
  readManifestFile,
  receiptFaults,
  renderReceipts,
} from '#ops/gates/check-manifest.ts';
import { showGates } from '#ops/gates/show.ts';
import { sign } from '#ops/gates/sign.ts';
import { appliedGates, releaseStore } from '#ops/gates/stage-places.ts';
import { enterLocalStack } from './reach-stage.ts';
import { awsFailure } from '#tools/terminal/aws-failure.ts';
import { examples, exits, list, program, run, text, UsageError } from '#tools/terminal/command.ts';

/** Where things of a stage are: what several subcommands take. */
const stageOption = '--stage <S>';
const tableOption = [
  '--table <T>',
  'name of the settings table; default: that of the deployed stage',
] as const;
const trustedKey =
  'the trusted public key, a JWK or PEM, in place of the stage’s own; of any stage but local only to look';

/** Where receipts are looked up; those in files have the manifest's folder besides. */
const places = {
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  readObject: (location: string, maxBytes: number) => readObject(s3(), location, maxBytes),
};

const print = (line: string): void => {
  console.log(line);
};

const command = program(
  'npm run gates --',
  'Opens and closes the gates of a release (docs/release.md).',
).addHelpText(
  'after',
  examples(
    'npm run gates -- show --stage prod',
    'npm run gates -- verify manifest.jws --stage prod',
    'npm run gates -- apply manifest.jws --stage prod --dry-run',
    'npm run gates -- apply --stage prod --withdraw C',
  ),
);

command
  .command('show')
  .description('what is open, why, what it still holds back, and what opens next')
  .option(stageOption, 'which deployment; local is the one that npm start runs here', stageName, localStage)
  .option('--key <FILE>', trustedKey, text)
  .option(...tableOption, text)
  .option('--receipts <DIR>', 'the folder of receipts in files, to look at them too', text)
  .action(exits((values) => explained(() => show(values))));
command
  .command('verify')
  .description('checks a signed manifest, and every receipt that it names, without changing anything')
  .argument('<MANIFEST>')
  .option(stageOption, 'which deployment; default the one that the manifest names', stageName)
  .option('--key <FILE>', trustedKey, text)
  .action(exits((manifest, values) => explained(() => verify(manifest, values))));
command
  .command('apply')
  .description(
    'the same, then writes the manifest, the flags, and what deployed functions go by; with --withdraw and no manifest only closes gates',
  )
  .argument('[MANIFEST]')
  .requiredOption(
    stageOption,
    'which deployment; local is the one that npm start runs here (required)',
    stageName,
  )
  .option('--key <FILE>', trustedKey, text)
  .option('--withdraw <C,D>', 'close these gates first, and whatever becomes of the manifest', gatesNamed)
  .option('--dry-run', 'only says what would be written')
  .option(...tableOption, text)
  .action(
    exits((manifest, values) =>
      manifest === undefined && values.withdraw === undefined
        ? err(new UsageError('missing argument: MANIFEST (or --withdraw, to close gates only)'))
        : explained(
            () => apply(manifest, values),
            '\nwhat was written stays, and the rest follows: run it again',
          ),
    ),
  );
command
  .command('sign')
  .description(
    'signs a manifest, for rehearsals; a real key is held elsewhere: --digest, --signature. Exactly one of the three says how',
  )
  .argument('<DRAFT>')
  .option('--key <FILE>', 'the private key, PEM', text)
  .option('--digest <FILE>', 'write the SHA-256 that a key elsewhere has to sign', text)
  .option('--signature <FILE>', 'take the DER signature that such a key has made', text)
  .option('--out <FILE>', 'where the signed manifest goes; default standard output', text)
  .action(
    exits((draft, values) => {
      const { key, digest, signature } = values;
      return [key, digest, signature].filter((file) => file !== undefined).length === 1
        ? sign(draft, { key, digest, signature, out: values.out, print })
        : err(
            new UsageError(
              'say how: --key PEM signs here; --digest FILE and then --signature FILE let another key sign',
            ),
          );
    }),
  );

await run(command);

/** Does something, and says in a sentence what AWS has against it. @param hint what there is to do then */
async function explained(
  work: () => Promise<Result<undefined, string>>,
  hint = '',
): Promise<Result<undefined, string>> {
  try {
    return await work();
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(`${message}${hint}`);
  }
}

/** A stage as `--stage` names it: one that is known. */
function stageName(value: string): string {
  const known = value === localStage ? ok(value) : stageNamed(value);
  if (!known.ok) throw new InvalidArgumentError(`${known.error}.`);
  return value;
}

/** Gates as `--withdraw` names them. */
function gatesNamed(value: string): ReadonlySet<GateName> {
  const names = list(value);
  const unknown = names.find((name) => !gates.some((gate) => gate === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown}: is no gate; known are ${gates.join(', ')}.`);
  return new Set(gates.filter((gate) => names.includes(gate)));
}

/**
 * The stage and whose signature it trusts; the local one trusts the key that its stack was started with. A key in a file stands in for that
 * one, and for any other in a mere look.
 */
async function useOf(
  stage: string,
  keyFile: string | undefined,
  mayStandIn: boolean,
): Promise<Result<ManifestUse, string>> {
  const known = stage === localStage ? undefined : stageNamed(stage);
  if (known !== undefined && !known.ok) return known;
  if (keyFile !== undefined && known !== undefined && !mayStandIn)
    return err(`${stage} trusts the releaseKey of shared/stage/stages.ts and no other: leave --key out`);
  if (keyFile === undefined && known !== undefined)
    return ok({ stage, key: { ...known.value.config.releaseKey }, now: Date.now() });
  if (keyFile === undefined) {
    const stack = await enterLocalStack();
    return stack.ok
      ? ok({ stage, key: stack.value.releaseKey, now: Date.now() })
      : err(`${stack.error}, or say whose signature counts with --key`);
  }
  const key = await readKeyFile(keyFile);
  return key.ok ? ok({ stage, key: key.value, now: Date.now() }) : key;
}

/** Where receipts of a stage are looked up: what the local stage has in a bucket, nobody asks AWS for. */
async function placesOf(stage: string): Promise<typeof places> {
  if (stage !== localStage || (await enterLocalStack()).ok) return places;
  return { ...places, readObject: () => Promise.resolve(undefined) };
}

async function verify(
  path: string,
  values: { readonly stage?: string | undefined; readonly key?: string | undefined },
): Promise<Result<undefined, string>> {
  const jws = await readManifestFile(path);
  if (!jws.ok) return jws;
  const stage = values.stage ?? claimedStage(jws.value);
  if (stage === undefined)
    return err(`${path} is no prerequisite manifest: a compact JWS as docs/release.md describes it`);
  const use = await useOf(stage, values.key, true);
  if (!use.ok) return use;
  const checked = await checkManifest(path, jws.value, use.value, await placesOf(stage));
  if (!checked.ok) return checked;
  const { manifest, receipts } = checked.value;
  print(
    `${path} is signed for ${stage}${manifest.rehearsal ? ', as a rehearsal' : ''}, good until ${manifest.expiresAt}\n`,
  );
  if (receipts.length > 0) print(renderReceipts(receipts));
  const failing = receiptFaults(receipts).length;
  return failing === 0
    ? ok(undefined)
    : err(
        `\n${failing} of ${receipts.length} receipts prove nothing: gate E stays closed, and so does every other`,
      );
}

interface ApplyOptions {
  readonly stage: string;
  readonly key?: string | undefined;
  readonly withdraw?: ReadonlySet<GateName> | undefined;
  readonly dryRun?: boolean | undefined;
  readonly table?: string | undefined;
}

async function apply(
  path: string | undefined,
  { stage, key, withdraw: withdrawn = new Set(), dryRun = false, table }: ApplyOptions,
): Promise<Result<undefined, string>> {
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  } else {
    const known = stageNamed(stage);
    if (!known.ok) return known;
  }
  const store = await releaseStore(stage, table);
  if (!store.ok) return store;
  const applying = { stage, now: Date.now(), dryRun, print };
  if (withdrawn.size > 0) {
    // Before anything about a manifest can go wrong.
    const done = await withdraw(store.value, withdrawn, applying);
    if (!done.ok) return done;
  }
  if (path === undefined) return ok(undefined);
  const refused = (reason: string): Result<undefined, string> =>
    err(`${reason}\nnothing of the manifest was applied`);
  const jws = await readManifestFile(path);
  if (!jws.ok) return refused(jws.error);
  const use = await useOf(stage, key, false);
  if (!use.ok) return refused(use.error);
  const checked = await checkManifest(path, jws.value, use.value, places);
  if (!checked.ok) return refused(checked.error);
  const faults = receiptFaults(checked.value.receipts);
  if (faults.length > 0) return refused(faults.join('\n'));
  return applyManifest(store.value, checked.value, withdrawn, applying);
}

interface ShowOptions {
  readonly stage: string;
  readonly key?: string | undefined;
  readonly table?: string | undefined;
  readonly receipts?: string | undefined;
}

async function show({ stage, key, table, receipts }: ShowOptions): Promise<Result<undefined, string>> {
  const use = await useOf(stage, key, true);
  if (!use.ok) return use;
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  }
  const store = await releaseStore(stage, table);
  if (!store.ok) return store;
  const shown = await showGates({
    use: use.value,
    applied: appliedGates(),
    state: store.value.state,
    places: { ...places, folder: receipts },
    routes,
  });
  if (!shown.ok) return shown;
  print(shown.value);
  return ok(undefined);
}
