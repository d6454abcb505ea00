import { availableParallelism, cpus } from 'node:os';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { examples, exits, list, program, run, UsageError } from '#tools/terminal/command.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { openProgress } from '#tools/terminal/progress.ts';
import { adaptiveRequestPart } from './adaptive-request.ts';
import { alignmentPart } from './alignment.ts';
import { bundlePart } from './bundles.ts';
import { growthPart } from './engine/growth.ts';
import { nextItemPart } from './engine/next-item.ts';
import { peerPart } from './engine/peer.ts';
import { recoveryMatrixPart } from './engine/recovery-matrix.ts';
import { replayPart } from './engine/replay.ts';
import { improvementRunPart } from './improvement-run.ts';
import type { Part } from './measure.ts';
import { limitPart } from './report-limit.ts';
import { reportParts } from './reports.ts';
import { simulationPart } from './simulation.ts';
import { wireParts } from './wire.ts';

const parts: readonly Part[] = [
  nextItemPart,
  peerPart,
  replayPart,
  recoveryMatrixPart,
  growthPart,
  adaptiveRequestPart,
  simulationPart,
  ...reportParts,
  alignmentPart,
  improvementRunPart,
  limitPart,
  ...wireParts,
  bundlePart,
];
const names = parts.map(({ name }) => name);

const command = program(
  'npm run bench --',
  'Measures performance, and prints each figure with its aim.\n' +
    'Aims are from the design. Guards are ratios with some room above their present values.',
)
  .option('--only <NAME,…>', `run only these parts: ${names.join(', ')}`, list)
  .option('--check', 'exit with 1 if a ratio or a bundle misses its aim or guard')
  .addHelpText('after', examples('npm run bench -- --only next-item,replay', 'npm run bench -- --check'))
  .action(exits(main));

interface Options {
  readonly only?: readonly string[] | undefined;
  readonly check?: true | undefined;
}

async function main({ only, check }: Options): Promise<Result<undefined, string | UsageError>> {
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return err(new UsageError(`unknown part "${unknown}": expected ${names.join(', ')}`));
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  console.log(
    [
      'Times depend on the machine and its load. p50 and p95: all calls. CPU: time of the thread, with garbage collection. best: the median',
      'call of the best round; ratios compare these, unless they name CPU. --check looks at ratios and sizes, not at times.',
    ].join('\n'),
  );
  const { stderr } = process;
  const missed: string[] = [];
  const chosen = parts.filter(({ name }) => only?.includes(name) !== false);
  const progress = openProgress(() => performance.now());
  for (const [at, part] of chosen.entries()) {
    // Elsewhere than on a terminal, a line for each part.
    if (!stderr.isTTY) stderr.write(`${part.name} …\n`);
    const report = await withLiveLine(stderr, (show) =>
      part.run((text) => {
        show(progress(at / chosen.length, `${part.name}: ${text}`));
      }),
    );
    console.log(`\n${part.title}\n${report.text}`);
    missed.push(...report.missed);
  }
  console.log(
    missed.length === 0 ? '\nEvery figure meets its aim or guard.' : `\nMissed:\n${missed.join('\n')}`,
  );
  return missed.length > 0 && check === true ? err(`missed: ${missed.length}`) : ok(undefined);
}

await run(command);
