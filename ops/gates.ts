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
import { flag, list, runCommand, text } from '#tools/terminal/command.ts';
import type { OptionValues } from '#tools/terminal/command.ts';

const commands = ['show', 'verify', 'apply', 'sign'] as const;

const options = {
  stage: text(
    'which deployment; local is the one that npm start runs here (show: default local; verify: default the one that the manifest names)',
    'S',
  ),
  key: text(
    'verify, and everything with the stage local: the trusted public key, a JWK or PEM, in place of the stage’s own; sign: the private key, PEM',
    'FILE',
  ),
  withdraw: list('apply: close these gates first, and whatever becomes of the manifest', 'C,D'),
  'dry-run': flag('apply: only says what would be written'),
  table: text('apply, show: name of the settings table; default: that of the deployed stage', 'T'),
  receipts: text('show: the folder of receipts in files, to look at them too', 'DIR'),
  digest: text('sign: write the SHA-256 that a key elsewhere has to sign', 'FILE'),
  signature: text('sign: take the DER signature that such a key has made', 'FILE'),
  out: text('sign: where the signed manifest goes; default standard output', 'FILE'),
};
type Values = OptionValues<typeof options>;

/** Where receipts are looked up; those in files have the manifest's folder besides. */
const places = {
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  readObject: (location: string, maxBytes: number) => readObject(s3(), location, maxBytes),
};

const print = (line: string): void => {
  console.log(line);
};

await runCommand(
  {
    usage: 'npm run gates --',
    summary: [
      'Opens and closes the gates of a release (docs/release.md).',
      '',
      '  show              what is open, why, what it still holds back, and what opens next',
      '  verify MANIFEST   checks a signed manifest, and every receipt that it names, without changing anything',
      '  apply MANIFEST    the same, then writes the manifest, the flags, and what deployed functions go by',
      '  apply --withdraw C,D   only closes gates: needs no manifest',
      '  sign DRAFT        signs a manifest, for rehearsals; a real key is held elsewhere: --digest, --signature',
    ].join('\n'),
    options,
    positionals: ['show|verify|apply|sign'],
    rest: 'FILE',
    examples: [
      'npm run gates -- show --stage prod',
      'npm run gates -- verify manifest.jws --stage prod',
      'npm run gates -- apply manifest.jws --stage prod --dry-run',
      'npm run gates -- apply --stage prod --withdraw C',
    ],
  },
  async (values, [word = '', ...files]) => {
    const command = commands.find((candidate) => candidate === word);
    if (command === undefined) return err(`unknown command "${word}"; known are ${commands.join(', ')}`);
    const misused = misuse(command, files, values);
    if (misused !== undefined) return err(misused);
    const [file] = files;
    try {
      switch (command) {
        case 'show':
          return await show(values);
        case 'verify':
          return await verify(file ?? '', values);
        case 'apply':
          return await apply(file, values);
        case 'sign':
          return await sign(file ?? '', { ...values, print });
      }
    } catch (error) {
      const message = awsFailure(error);
      if (message === undefined) throw error;
      return err(
        command === 'apply'
          ? `${message}\nwhat was written stays, and the rest follows: run it again`
          : message,
      );
    }
  },
);

/** What does not go together, before anything is asked; undefined when all is well. */
function misuse(
  command: (typeof commands)[number],
  files: readonly string[],
  values: Values,
): string | undefined {
  const [, surplus] = command === 'show' ? [undefined, ...files] : files;
  if (surplus !== undefined) return `unexpected argument "${surplus}"`;
  if (files.length === 0 && (command === 'verify' || command === 'sign'))
    return `missing argument: ${command === 'sign' ? 'DRAFT' : 'MANIFEST'}`;
  const own: Readonly<Record<(typeof commands)[number], readonly (keyof typeof options)[]>> = {
    show: ['stage', 'key', 'table', 'receipts'],
    verify: ['stage', 'key'],
    apply: ['stage', 'key', 'withdraw', 'dry-run', 'table'],
    sign: ['key', 'digest', 'signature', 'out'],
  };
  const names = Object.keys(options) as (keyof typeof options)[];
  const foreign = names.find((name) => Boolean(values[name]) && !own[command].includes(name));
  if (foreign !== undefined) return `--${foreign} does not go with ${command}`;
  if (command !== 'apply') return undefined;
  if (values.stage === undefined) return 'apply needs the stage: --stage S';
  return files.length === 0 && values.withdraw === undefined
    ? 'missing argument: MANIFEST (or --withdraw, to close gates only)'
    : undefined;
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

async function verify(path: string, values: Values): Promise<Result<undefined, string>> {
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

async function apply(path: string | undefined, values: Values): Promise<Result<undefined, string>> {
  const stage = values.stage ?? '';
  const withdrawn = gatesNamed(values.withdraw ?? []);
  if (!withdrawn.ok) return withdrawn;
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  } else {
    const known = stageNamed(stage);
    if (!known.ok) return known;
  }
  const store = await releaseStore(stage, values.table);
  if (!store.ok) return store;
  const applying = { stage, now: Date.now(), dryRun: values['dry-run'], print };
  if (withdrawn.value.size > 0) {
    // Before anything about a manifest can go wrong.
    const done = await withdraw(store.value, withdrawn.value, applying);
    if (!done.ok) return done;
  }
  if (path === undefined) return ok(undefined);
  const refused = (reason: string): Result<undefined, string> =>
    err(`${reason}\nnothing of the manifest was applied`);
  const jws = await readManifestFile(path);
  if (!jws.ok) return refused(jws.error);
  const use = await useOf(stage, values.key, false);
  if (!use.ok) return refused(use.error);
  const checked = await checkManifest(path, jws.value, use.value, places);
  if (!checked.ok) return refused(checked.error);
  const faults = receiptFaults(checked.value.receipts);
  if (faults.length > 0) return refused(faults.join('\n'));
  return applyManifest(store.value, checked.value, withdrawn.value, applying);
}

async function show(values: Values): Promise<Result<undefined, string>> {
  const stage = values.stage ?? localStage;
  const use = await useOf(stage, values.key, true);
  if (!use.ok) return use;
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  }
  const store = await releaseStore(stage, values.table);
  if (!store.ok) return store;
  const shown = await showGates({
    use: use.value,
    applied: appliedGates(),
    state: store.value.state,
    places: { ...places, folder: values.receipts },
    routes,
  });
  if (!shown.ok) return shown;
  print(shown.value);
  return ok(undefined);
}

function gatesNamed(names: readonly string[]): Result<ReadonlySet<GateName>, string> {
  const unknown = names.find((name) => !gates.some((gate) => gate === name));
  return unknown === undefined
    ? ok(new Set(gates.filter((gate) => names.includes(gate))))
    : err(`--withdraw ${unknown}: is no gate; known are ${gates.join(', ')}`);
}
