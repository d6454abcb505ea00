import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { seedFromResponses } from '#local/seeds/from-responses.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { madeHere } from '#local/seeds/made-here.ts';
import type { SeedFiles } from '#local/seeds/made-here.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { readResponseFiles, shorten } from '#tools/terminal/study.ts';

interface Options {
  readonly out: string;
  readonly name?: string | undefined;
  readonly force?: true | undefined;
}

async function main(directory: string, values: Options): Promise<Result<undefined, string>> {
  const inputs = await readResponseFiles(directory);
  if (!inputs.ok) return inputs;
  const files = seedFromResponses(inputs.value, {
    name: values.name,
    fallbackName: basename(resolve(directory)),
  });
  if (!files.ok) return err(shorten(files.error));
  try {
    const free = await mayWrite(values.out, files.value, values.force === true);
    if (!free.ok) return free;
    await writeSeed(values.out, files.value);
  } catch (error) {
    return err(`${values.out} cannot be written: ${fileFailure(error)}`);
  }
  // Read back as `npm start` will: a seed that does not load is no result.
  const loaded = await loadSeed(values.out);
  if (!loaded.ok) return err(renderDefects(loaded.error));
  for (const bank of loaded.value.banks) {
    console.log(
      `${values.out}: bank "${bank.name}" with ${bank.bank.items.length} items, ${bank.bank.kcs.length} knowledge components, ${bank.learners.length} learners`,
    );
  }
  console.log(`\nnpm start -- --seed ${values.out}`);
  return ok(undefined);
}

/**
 * A new directory and an empty one may be written; a seed, where its files are as this command wrote them (made-here.ts); anything else only
 * with --force.
 */
async function mayWrite(out: string, files: SeedFiles, force: boolean): Promise<Result<undefined, string>> {
  let entries: readonly string[];
  try {
    entries = await readdir(out);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ok(undefined);
    return err(`${out} cannot be written: ${fileFailure(error)}`);
  }
  for (const path of Object.keys(files)) {
    // It would win over the bank's files, and is not ours to delete.
    const generator = join(out, dirname(path), 'generator.json');
    if (path.endsWith('/bank.json') && (await readIfThere(generator)) !== undefined) {
      return err(
        `${generator} would win over what is written beside it: remove it, or choose another bank with --name`,
      );
    }
  }
  if (entries.length === 0 || force) return ok(undefined);
  const seed = await readIfThere(join(out, 'seed.json'));
  if (seed === undefined) return err(`${out} is not empty and no seed; --force writes into it all the same`);
  const isOurs = madeHere(seed);
  if (isOurs === undefined) {
    return err(`${out} holds a seed that this command did not write; --force overwrites it all the same`);
  }
  const kept: string[] = [];
  for (const path of Object.keys(files)) {
    const text = await readIfThere(join(out, path));
    if (text !== undefined && !isOurs(path, text)) kept.push(join(out, path));
  }
  return kept.length === 0
    ? ok(undefined)
    : err(
        `${kept.join(', ')}: not written by this command, or changed since; --force overwrites all the same`,
      );
}

/** The text of a file; undefined when there is none. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function writeSeed(out: string, files: SeedFiles): Promise<void> {
  for (const [path, value] of Object.entries(files)) {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), render(path, value));
  }
}

/** Learners one a line: hundreds of them stay readable. */
function render(path: string, value: unknown): string {
  if (!path.endsWith('learners.json')) return `${JSON.stringify(value, null, 2)}\n`;
  const { learners } = value as { readonly learners: readonly unknown[] };
  return `{\n  "learners": [\n${learners.map((learner) => `    ${JSON.stringify(learner)}`).join(',\n')}\n  ]\n}\n`;
}

const command = program(
  'npm run seed --',
  'Makes a seed directory for npm start -- --seed. The form of the files is in docs/seeds.md.',
).addHelpText(
  'after',
  examples('npm run seed -- from-responses ./study --out ./my-seed', 'npm start -- --seed ./my-seed'),
);

command
  .command('from-responses')
  .description('turns DIR/responses.csv, DIR/q-matrix.csv and DIR/parameters.json into a seed directory')
  .argument('<DIR>')
  .requiredOption('--out <SEED>', 'directory to write the seed into (required)', text)
  .option(
    '--name <N>',
    'name of the bank: a-z, 0-9 and - (default: the name in parameters.json, else that of DIR)',
    text,
  )
  .option('--force', 'overwrites also what this command did not write, and writes beside other files')
  .action(exits(main));

await run(command);
