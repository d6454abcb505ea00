import { performance } from 'node:perf_hooks';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { mayBeAbsent } from './foreign/may-be-absent.ts';
import type { Part } from './foreign/part.ts';
import { examples, exits, list, program, run, UsageError } from './terminal/command.ts';

/** Loaded one by one, so that `--only` waits for nothing else. */
const parts: Readonly<Record<string, () => Promise<Part>>> = {
  templates: async () => (await import('./foreign/templates.ts')).templates,
  contract: async () => (await import('./foreign/contract.ts')).contract,
  aws: async () => (await import('./foreign/aws.ts')).aws,
};
const names = Object.keys(parts);

/** A row of the table, and whether the command may pass with it. */
interface Row {
  readonly cells: readonly string[];
  readonly isGood: boolean;
}

/** Runs one part and prints what it found. */
async function runPart(name: string, load: () => Promise<Part>, all: boolean): Promise<Row> {
  const startedAt = performance.now();
  const row = (tried: string, differences: string, outcome: string, isGood: boolean): Row => {
    const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
    return { cells: [name, tried, differences, seconds, outcome], isGood };
  };
  try {
    const part = await load();
    console.log(`${name}: ${part.about} …`);
    const done = await part.run({ all });
    if (!done.ok) {
      const reason = mayBeAbsent[name];
      console.log(
        `${name} did not run: ${done.error}${reason === undefined ? '' : ` (accepted: ${reason})`}`,
      );
      return row('', '', 'not run', reason !== undefined);
    }
    const { tried, differences } = done.value;
    for (const difference of differences) console.log(`  ${difference}`);
    const isGood = differences.length === 0;
    return row(tried, String(differences.length), isGood ? 'passed' : 'failed', isGood);
  } catch (error) {
    console.log(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    return row('', '', 'failed', false);
  }
}

/** Runs parts one after another, since each is busy enough, and prints a table of them. */
async function runParts(
  only: readonly string[],
  all: boolean,
): Promise<Result<undefined, string | UsageError>> {
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return err(new UsageError(`unknown part "${unknown}": expected ${names.join(', ')}`));
  const rows: Row[] = [];
  for (const [name, load] of Object.entries(parts))
    if (only.includes(name)) rows.push(await runPart(name, load, all));
  const head = ['part', 'tried', 'differences', 'time', 'outcome'];
  const lines = [head, ...rows.map(({ cells }) => cells)];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const table = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  console.log(`\n${table.map((line) => line.trimEnd()).join('\n')}`);
  const bad = rows.filter(({ isGood }) => !isGood).length;
  return bad === 0 ? ok(undefined) : err(`${bad} of ${rows.length} parts did not pass`);
}

await run(
  program(
    'npm run foreign --',
    'Runs tools from outside this project against the product, and ends with a table. Installs what they need into build/foreign when it is first needed.\n' +
      'A part whose tool cannot be had counts as “not run”, and then the command fails, unless tools/foreign/may-be-absent.ts names a reason.',
  )
    .option('--only <NAMES>', `only these parts, separated by commas: ${names.join(', ')}`, list, names)
    .option('--all', 'also what takes too long for CI')
    .addHelpText('after', examples('npm run foreign', 'npm run foreign -- --only templates'))
    .action(exits(({ only, all = false }) => runParts(only, all))),
);
