import { InvalidArgumentError } from '@commander-js/extra-typings';
import { localStage } from '#shared/stage/local-stage.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { s3 } from '#shared/stores/clients.ts';
import { readObject } from '#shared/stores/proof-objects.ts';
import { gates, type GateName } from '#shared/contract/gates.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
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
import { UnreachableStageError } from '#ops/gates/dereference.ts';
import { showGates } from '#ops/gates/show.ts';
import { sign } from '#ops/gates/sign.ts';
import { appliedGates, releaseStore } from '#ops/gates/stage-places.ts';
import { enterLocalStack, reachStage, releaseKeyOf, stageName } from './reach-stage.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import {
  examples,
  exits,
  list,
  needs,
  profileOption,
  program,
  run,
  text,
  UsageError,
} from '#tools/terminal/command.ts';

const stageOption = '--stage <S>';
const tableOption = ['--table <T>', 'the settings table; default: the table of the stage'] as const;
const trustedKey =
  'a public key (JWK or PEM) to trust instead of the stage’s releaseKey; apply accepts it for local only';

/** Where receipts are looked up. Receipts in files are read from the manifest's folder. */
const places = {
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  readObject: (location: string, maxBytes: number) => readObject(s3(), location, maxBytes),
};

const print = (line: string): void => {
  console.log(line);
};

const command = program(
  'npm run gates --',
  'Opens and closes the release gates of a stage (docs/release.md).',
).addHelpText(
  'after',
  examples(
    'npm run gates -- show --stage prod',
    'npm run gates -- verify manifest.jws --stage prod',
    'npm run gates -- apply manifest.jws --stage prod --dry-run',
    'npm run gates -- apply --stage prod --withdraw C',
  ),
);

const showing = command
  .command('show')
  .description('Show which gates and routes are open, why, and which gate opens next')
  .option(stageOption, 'the stage; local: the stack that npm start runs', stageName, localStage)
  .option('--key <FILE>', trustedKey, text)
  .option(...profileOption, text)
  .option(...tableOption, text)
  .option('--receipts <DIR>', 'a folder of receipt files, to check them too', text);
showing.action(exits((values) => explained(() => show(values))));
const verifying = command
  .command('verify')
  .description('Check a signed manifest and every receipt that it names; changes nothing')
  .argument('<MANIFEST>')
  .option(stageOption, 'the stage; default: the stage that the manifest names', stageName)
  .option('--key <FILE>', trustedKey, text)
  .option(...profileOption, text);
verifying.action(exits((manifest, values) => explained(() => verify(manifest, values))));
const applying = command
  .command('apply')
  .description(
    'Check a manifest as verify does, then write it, the gate flags and the release state that deployed functions read. With --withdraw and no manifest: only close gates',
  )
  .argument('[MANIFEST]')
  .requiredOption(stageOption, 'the stage; local: the stack that npm start runs (required)', stageName)
  .option('--key <FILE>', trustedKey, text)
  .option('--withdraw <C,D>', 'close these gates first, even if the manifest is rejected', gatesNamed)
  .option('--dry-run', 'prints what would be written, and writes nothing')
  .option(...profileOption, text)
  .option(...tableOption, text);
applying.action(
  exits((manifest, values) =>
    explained(
      () => apply(manifest, values),
      '\nRun the command again: it keeps what was written and writes the rest.',
    ),
  ),
);
needs(applying, ({ withdraw }, [manifest]) =>
  manifest === undefined && withdraw === undefined ? ['MANIFEST (or --withdraw)'] : [],
);
const signing = command.command('sign');
signing
  .description(
    'Sign a manifest. --key signs here, for rehearsals; a key in an HSM or in KMS signs with --digest and then --signature',
  )
  .argument('<DRAFT>')
  .option('--key <FILE>', 'the private key (PEM)', text)
  .option('--digest <FILE>', 'write the SHA-256 digest to sign with a key that is held elsewhere', text)
  .option('--signature <FILE>', 'read the DER signature of that digest', text)
  .option('--out <FILE>', 'where to write the signed manifest; default: standard output', text)
  .action(
    exits((draft, values) => {
      const { key, digest, signature } = values;
      return [key, digest, signature].filter((file) => file !== undefined).length === 1
        ? sign(draft, { key, digest, signature, out: values.out, print })
        : err(new UsageError('use only one of --key, --digest and --signature'));
    }),
  );
needs(signing, ({ key, digest, signature }) =>
  [key, digest, signature].every((file) => file === undefined)
    ? ['one of --key, --digest and --signature']
    : [],
);

await run(command);

/** Does something, and explains a failure of AWS. @param hint what the operator can do then */
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

/** Gates as `--withdraw` names them. */
function gatesNamed(value: string): ReadonlySet<GateName> {
  const names = list(value);
  const unknown = names.find((name) => !gates.some((gate) => gate === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `unknown gate "${unknown}": expected ${gates[0]} to ${gates.at(-1) ?? ''}.`,
    );
  return new Set(gates.filter((gate) => names.includes(gate)));
}

/** Returns the stage and whose signature it trusts. A key in a file replaces that of the local stage, and any other where nothing is written. */
async function useOf(
  stage: string,
  keyFile: string | undefined,
  mayStandIn: boolean,
): Promise<Result<ManifestUse, string>> {
  const known = stage === localStage ? undefined : stageNamed(stage);
  if (known !== undefined && !known.ok) return known;
  if (keyFile !== undefined && known !== undefined && !mayStandIn)
    return err(`${stage} trusts only its releaseKey (shared/stage/stages.ts): omit --key`);
  const key = keyFile === undefined ? await releaseKeyOf(stage) : await readKeyFile(keyFile);
  return key.ok ? ok({ stage, key: key.value, now: Date.now() }) : key;
}

/** Returns where receipts of a stage are looked up. Without a running stack the local bucket has none; AWS is never asked for them. */
async function placesOf(stage: string, profile: string | undefined): Promise<typeof places> {
  if (stage !== localStage) {
    // Receipts elsewhere need no account.
    let reached: ReturnType<typeof reachStage> | undefined;
    return {
      ...places,
      readObject: async (location, maxBytes) => {
        const entered = await (reached ??= reachStage(stage, profile));
        if (!entered.ok) throw new UnreachableStageError(entered.error);
        return places.readObject(location, maxBytes);
      },
    };
  }
  if ((await enterLocalStack()).ok) return places;
  return { ...places, readObject: () => Promise.resolve(undefined) };
}

async function verify(
  path: string,
  values: ReturnType<typeof verifying.opts>,
): Promise<Result<undefined, string>> {
  const jws = await readManifestFile(path);
  if (!jws.ok) return jws;
  const stage = values.stage ?? claimedStage(jws.value);
  if (stage === undefined)
    return err(`${path} is not a prerequisite manifest: expected a compact JWS (docs/release.md)`);
  const use = await useOf(stage, values.key, true);
  if (!use.ok) return use;
  const checked = await checkManifest(path, jws.value, use.value, await placesOf(stage, values.profile));
  if (!checked.ok) return checked;
  const { manifest, receipts } = checked.value;
  print(
    `${path} is signed for ${stage}${manifest.rehearsal ? ' as a rehearsal' : ''} and valid until ${manifest.expiresAt}\n`,
  );
  if (receipts.length > 0) print(renderReceipts(receipts));
  const failing = receiptFaults(receipts).length;
  return failing === 0
    ? ok(undefined)
    : err(
        `\n${failing} of ${receipts.length} receipts are not valid: gate E and every other gate stay closed`,
      );
}

async function apply(
  path: string | undefined,
  values: ReturnType<typeof applying.opts>,
): Promise<Result<undefined, string>> {
  const { stage, key, withdraw: withdrawn = new Set(), dryRun = false, profile, table } = values;
  const reached = await reachStage(stage, profile);
  if (!reached.ok) return reached;
  const store = await releaseStore(stage, table);
  if (!store.ok) return store;
  const options = { stage, now: Date.now(), dryRun, print };
  if (withdrawn.size > 0) {
    // Before anything about a manifest can go wrong.
    const done = await withdraw(store.value, withdrawn, options);
    if (!done.ok) return done;
  }
  if (path === undefined) return ok(undefined);
  const refused = (reason: string): Result<undefined, string> =>
    err(`${reason}\nThe manifest was not applied.`);
  const jws = await readManifestFile(path);
  if (!jws.ok) return refused(jws.error);
  const use = await useOf(stage, key, false);
  if (!use.ok) return refused(use.error);
  const checked = await checkManifest(path, jws.value, use.value, places);
  if (!checked.ok) return refused(checked.error);
  const faults = receiptFaults(checked.value.receipts);
  if (faults.length > 0) return refused(faults.join('\n'));
  return applyManifest(store.value, checked.value, withdrawn, options);
}

async function show(values: ReturnType<typeof showing.opts>): Promise<Result<undefined, string>> {
  const { stage, key, profile, table, receipts } = values;
  const use = await useOf(stage, key, true);
  if (!use.ok) return use;
  const reached = await reachStage(stage, profile);
  if (!reached.ok) return reached;
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
