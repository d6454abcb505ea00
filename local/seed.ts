import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { seedFromResponses } from '#local/seeds/from-responses.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { madeHere, type SeedFiles } from '#local/seeds/made-here.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { fileFailure, readIfThere } from '#tools/terminal/file-failure.ts';
import { makeFolder } from '#tools/terminal/make-folder.ts';
import { studyOptions, tableOptions, type GivenOptions } from '#tools/terminal/study/options.ts';
import { readResponseFiles, shorten } from '#tools/terminal/study.ts';

interface Options extends GivenOptions {
  readonly out: string;
  readonly name?: string | undefined;
  readonly force?: true | undefined;
}

async function main(directory: string, values: Options): Promise<Result<undefined, string>> {
  const inputs = await readResponseFiles(directory);
  if (!inputs.ok) return inputs;
  const given = { name: values.name, fallbackName: basename(resolve(directory)) };
  const options = await tableOptions(values);
  if (!options.ok) return options;
  const seed = seedFromResponses(inputs.value, given, options.value);
  if (!seed.ok) return err(shorten(seed.error));
  const { files, leftOut, complete } = seed.value;
  try {
    const free = await mayWrite(values.out, files, values.force === true);
    if (!free.ok) return free;
    const folder = await makeFolder(values.out);
    if (!folder.ok) return folder;
    await writeSeed(values.out, files);
  } catch (error) {
    return err(`cannot write ${values.out}: ${fileFailure(error)}`);
  }
  // Read back as `npm start` will: the command must not succeed with a seed that does not load.
  const loaded = await loadSeed(values.out);
  if (!loaded.ok) return err(renderDefects(loaded.error));
  for (const bank of loaded.value.banks) {
    console.log(
      `${values.out}: bank "${bank.name}" with ${bank.bank.items.length} items, ${bank.bank.kcs.length} knowledge components, ${bank.learners.length} learners`,
    );
  }
  if (leftOut > 0) console.log(`learners left out because they answered no item: ${leftOut}`);
  const learners = loaded.value.banks[0]?.learners.length ?? 0;
  if (complete.length < learners)
    console.log(
      `learners who answered every item: ${complete.length} of ${learners} (a journey simulates the missing answers of the others)`,
    );
  console.log(`\nnpm start -- --seed ${values.out}`);
  console.log(`npm run journey -- --learner ${complete[0] ?? 1}`);
  return ok(undefined);
}

/** Writes without --force only into a new or empty directory, or over the unchanged files of an earlier run (made-here.ts). */
async function mayWrite(out: string, files: SeedFiles, force: boolean): Promise<Result<undefined, string>> {
  let entries: readonly string[];
  try {
    entries = await readdir(out);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ok(undefined);
    return err(`cannot write ${out}: ${fileFailure(error)}`);
  }
  for (const path of Object.keys(files)) {
    // It would win over the bank's files, and is not ours to delete.
    const generator = join(out, dirname(path), 'generator.json');
    const found = path.endsWith('/bank.json') ? await readIfThere(generator) : ok(undefined);
    if (!found.ok) return found;
    if (found.value !== undefined) {
      return err(
        `${generator} would override the files written next to it: remove it, or choose another bank name with --name`,
      );
    }
  }
  if (entries.length === 0 || force) return ok(undefined);
  const seed = await readIfThere(join(out, 'seed.json'));
  if (!seed.ok) return seed;
  if (seed.value === undefined)
    return err(`${out} is not empty and is not a seed: choose another directory, or add --force`);
  const isOurs = madeHere(seed.value);
  if (isOurs === undefined) {
    return err(
      `${out} contains a seed that this command did not write: choose another directory, or add --force to overwrite it`,
    );
  }
  const kept: string[] = [];
  for (const path of Object.keys(files)) {
    const text = await readIfThere(join(out, path));
    if (!text.ok) return text;
    if (text.value !== undefined && !isOurs(path, text.value)) kept.push(join(out, path));
  }
  return kept.length === 0
    ? ok(undefined)
    : err(
        `${kept.join(', ')}: not written by this command, or changed since: choose another directory, or add --force to overwrite`,
      );
}

async function writeSeed(out: string, files: SeedFiles): Promise<void> {
  for (const [path, value] of Object.entries(files)) {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), render(path, value));
  }
}

/** One line per learner: hundreds of them stay readable. */
function render(path: string, value: unknown): string {
  if (!path.endsWith('learners.json')) return `${JSON.stringify(value, null, 2)}\n`;
  const { learners } = value as { readonly learners: readonly unknown[] };
  return `{\n  "learners": [\n${learners.map((learner) => `    ${JSON.stringify(learner)}`).join(',\n')}\n  ]\n}\n`;
}

const command = program(
  'npm run seed --',
  'Writes a seed directory for npm start -- --seed. docs/seeds.md describes its files; docs/own-study.md is the how-to.',
).addHelpText(
  'after',
  examples('npm run seed -- from-responses .local/fit --out .local/seed', 'npm start -- --seed .local/seed'),
);

studyOptions(
  command
    .command('from-responses')
    .description('turns DIR/responses.csv, DIR/q-matrix.csv and DIR/parameters.json into a seed directory'),
)
  .argument('<DIR>')
  .requiredOption('--out <SEED>', 'directory to write the seed into (required)', text)
  .option(
    '--name <N>',
    'name of the bank: a-z, 0-9 and - (default: the name in parameters.json, or that of DIR)',
    text,
  )
  .option('--force', 'overwrite files that this command did not write, and write next to other files')
  .action(exits(main));

await run(command);
