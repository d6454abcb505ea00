import { availableParallelism, cpus } from 'node:os';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { flag, list, runCommand } from '#tools/terminal/command.ts';
import { liveLine } from '#tools/terminal/live-line.ts';
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

const command = {
  usage: 'npm run bench --',
  summary:
    'Measures what the product promises to be quick at, and prints the figures beside their aims.\n' +
    'Aims are the design’s; guards are ratios of our own, with some room above what they are today.',
  options: {
    only: list(`only these parts: ${names.join(', ')}`, 'NAME'),
    check: flag('exit 1 when a ratio or a bundle misses its aim or guard'),
  },
  examples: ['npm run bench -- --only next-item,replay', 'npm run bench -- --check'],
};

async function main(only: readonly string[] | undefined, check: boolean): Promise<Result<undefined, string>> {
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) return err(`there is no part "${unknown}"; known are ${names.join(', ')}`);
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  console.log(
    [
      'Times vary by machine and with what else it does. p50 and p95: all calls. CPU: of the thread, with its garbage collection. best: the',
      'median call at the best of several rounds; ratios are of these, unless they name CPU. Ratios and sizes count for --check; an import,',
      'where its time and its ratio both miss; no other time.',
    ].join('\n'),
  );
  const { stderr } = process;
  const live = liveLine(stderr);
  const missed: string[] = [];
  for (const part of parts) {
    if (only?.includes(part.name) === false) continue;
    // Elsewhere than on a terminal, a line for each part.
    if (!stderr.isTTY) stderr.write(`${part.name} …\n`);
    const report = await part.run((text) => {
      live.show(`${part.name}: ${text}`);
    });
    live.clear();
    console.log(`\n${part.title}\n${report.text}`);
    missed.push(...report.missed);
  }
  console.log(
    missed.length === 0
      ? '\nNothing that is held to an aim or guard misses it.'
      : `\nMissed:\n${missed.join('\n')}`,
  );
  return missed.length > 0 && check ? err(`missed: ${missed.length}`) : ok(undefined);
}

await runCommand(command, ({ only, check }) => main(only, check));
