import { availableParallelism, cpus } from 'node:os';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { examples, exits, list, program, run, text, UsageError } from '#tools/terminal/command.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { openProgress } from '#tools/terminal/progress.ts';
import { compareWith } from './against.ts';
import { names, parts, type PartName } from './parts.ts';

const command = program(
  'npm run bench --',
  'Measures performance, and prints each figure with its aim.\n' +
    'Aims are from the design. Guards are ratios with some room above their present values.',
)
  .option('--only <NAME,…>', `run only these parts: ${names.join(', ')}`, list)
  .option('--check', 'exit with 1 if a ratio or a bundle misses its aim or guard')
  .option(
    '--quick',
    'run one small round of each part, as npm run test:slow does: smaller inputs, ratio guards twice as wide',
  )
  .option(
    '--against <COMMIT>',
    'compare with another commit, installed in a temporary worktree: three rounds in turn, each with the bench of its own tree. ' +
      'Compares each time and size that both print under the same part, row and column, best against best; lists what is not compared',
    text,
  )
  .addHelpText(
    'after',
    examples(
      'npm run bench -- --only next-item,replay',
      'npm run bench -- --check',
      'npm run bench -- --against HEAD~20 --only alignment',
    ),
  );
command.action(exits(main));

async function main(
  values: ReturnType<typeof command.opts>,
): Promise<Result<undefined, string | UsageError>> {
  const { only, check, quick, against } = values;
  const unknown = only?.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined)
    return err(new UsageError(`unknown part "${unknown}": expected ${names.join(', ')}`));
  if (against !== undefined && check === true)
    return err(new UsageError('--check judges this tree alone: leave it out with --against'));
  const chosen = names.filter((name) => only?.includes(name) !== false);
  if (against !== undefined) return compareWith(against, chosen, quick === true);
  return measure(chosen, quick === true, check === true);
}

/** Runs parts one after another, and prints their tables. */
async function measure(
  chosen: readonly PartName[],
  isQuick: boolean,
  isChecked: boolean,
): Promise<Result<undefined, string>> {
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  console.log(
    [
      'Times depend on the machine and its load. p50 and p95: all calls. CPU: time of the thread, with garbage collection. best: the median',
      'call of the best round; ratios compare these, unless they name CPU. --check looks at ratios and sizes, not at times.',
      ...(isQuick
        ? ['One small round: inputs are smaller than the titles say, and the figures are rough.']
        : []),
    ].join('\n'),
  );
  const { stderr } = process;
  const missed: string[] = [];
  const progress = openProgress(() => performance.now());
  for (const [at, name] of chosen.entries()) {
    const part = await parts[name]();
    // Elsewhere than on a terminal, a line for each part.
    if (!stderr.isTTY) stderr.write(`${name} …\n`);
    const report = await withLiveLine(stderr, (show) =>
      part.run((what) => {
        show(progress(at / chosen.length, `${name}: ${what}`));
      }, isQuick),
    );
    console.log(`\n${part.title}\n${report.text}`);
    missed.push(...report.missed);
  }
  console.log(
    missed.length > 0 ? `\nMissed:\n${missed.join('\n')}` : '\nEvery figure meets its aim or guard.',
  );
  return missed.length > 0 && isChecked ? err(`missed: ${missed.length}`) : ok(undefined);
}

await run(command);
