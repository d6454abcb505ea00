import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { seedFromResponses } from '#local/seeds/from-responses.ts';
import type { SeedFiles } from '#local/seeds/from-responses.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { flag, runCommand, text } from './terminal/command.ts';

const INPUTS = ['responses.csv', 'q-matrix.csv', 'parameters.json'] as const;

async function main(
  values: { readonly out: string | undefined; readonly name: string | undefined; readonly force: boolean },
  [action, directory = '']: readonly string[],
): Promise<Result<undefined, string>> {
  if (action !== 'from-responses') return err(`unknown action "${action ?? ''}"; known is from-responses`);
  if (values.out === undefined) return err('--out SEED is required: the directory to write');
  const inputs = await readInputs(directory);
  if (!inputs.ok) return inputs;
  const files = seedFromResponses(inputs.value, {
    name: values.name,
    fallbackName: basename(resolve(directory)),
  });
  if (!files.ok) return err(shorten(files.error));
  const free = await mayWrite(values.out, values.force);
  if (!free.ok) return free;
  try {
    await writeSeed(values.out, files.value);
  } catch (error) {
    return err(`${values.out} cannot be written: ${reason(error)}`);
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

async function readInputs(
  directory: string,
): Promise<Result<Record<(typeof INPUTS)[number], string>, string>> {
  const texts: string[] = [];
  for (const name of INPUTS) {
    try {
      texts.push(await readFile(join(directory, name), 'utf8'));
    } catch (error) {
      return err(`${join(directory, name)} cannot be read: ${reason(error)}`);
    }
  }
  const [responses = '', qMatrix = '', parameters = ''] = texts;
  return ok({ 'responses.csv': responses, 'q-matrix.csv': qMatrix, 'parameters.json': parameters });
}

/** A new directory, an empty one and an earlier seed may be written; anything else only with --force. */
async function mayWrite(out: string, force: boolean): Promise<Result<undefined, string>> {
  try {
    const entries = await readdir(out);
    return entries.length === 0 || entries.includes('seed.json') || force
      ? ok(undefined)
      : err(`${out} is not empty and no seed; --force writes into it all the same`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ok(undefined);
    return err(`${out} cannot be written: ${reason(error)}`);
  }
}

async function writeSeed(out: string, files: SeedFiles): Promise<void> {
  for (const [path, value] of Object.entries(files)) {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), render(path, value));
    // A generator left over from an earlier seed would win over the bank's files.
    if (path.endsWith('bank.json')) await rm(join(out, dirname(path), 'generator.json'), { force: true });
  }
}

/** Learners one a line: hundreds of them stay readable. */
function render(path: string, value: unknown): string {
  if (!path.endsWith('learners.json')) return `${JSON.stringify(value, null, 2)}\n`;
  const { learners } = value as { readonly learners: readonly unknown[] };
  return `{\n  "learners": [\n${learners.map((learner) => `    ${JSON.stringify(learner)}`).join(',\n')}\n  ]\n}\n`;
}

function shorten(lines: readonly string[]): string {
  const shown = lines.slice(0, 20);
  return [
    ...shown,
    ...(lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : []),
  ].join('\n');
}

function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    ENOTDIR: 'a part of the path is no directory',
    EISDIR: 'it is a directory',
    EACCES: 'no permission',
  };
  return known[code ?? ''] ?? (error instanceof Error ? error.message : String(error));
}

await runCommand(
  {
    usage: 'npm run seed --',
    summary:
      'Turns DIR/responses.csv, DIR/q-matrix.csv and DIR/parameters.json into a seed directory for npm start -- --seed.\nThe form of the files is in docs/seeds.md. The action is from-responses.',
    options: {
      out: text('directory to write the seed into', 'SEED'),
      name: text(
        'name of the bank: a-z, 0-9 and - (default: the name in parameters.json, else that of DIR)',
        'N',
      ),
      force: flag('writes into a directory that is not empty and no seed'),
    },
    positionals: ['from-responses', 'DIR'],
    examples: ['npm run seed -- from-responses ./study --out ./my-seed', 'npm start -- --seed ./my-seed'],
  },
  main,
);
