import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { scenarios } from '#test/crashes/scenarios.ts';
import { explore, Explorer, smallest, tableOf, type Found, type Limits } from '#test/crashes/search.ts';
import { World } from '#test/crashes/world.ts';
import { projectRoot } from './checks/checks.ts';
import { examples, exits, integer, list, program, run, UsageError } from './terminal/command.ts';
import { fileFailure } from './terminal/file-failure.ts';
import { renderTable } from './terminal/table.ts';
import { withLiveLine } from './terminal/live-line.ts';

const names = Object.keys(scenarios);
const folder = join(projectRoot, 'build/crashes');

const saved = z.object({
  scenario: z.enum(names),
  schedule: z.array(z.tuple([z.int().min(0), z.int().min(0)])),
});

/** Runs schedules, and prints a line per scenario. Every schedule that shows a defect is printed and saved as small as it can be. */
async function search(limits: Limits): Promise<Result<undefined, string>> {
  const world = await World.open();
  const startedAt = performance.now();
  const { explorers, found } = await withLiveLine(process.stderr, (show) =>
    explore(world, limits, (ran) => show(`${ran} schedules`)),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const rows = explorers.map(({ scenario, ran, distinct, bound }) => [
    scenario,
    String(ran),
    String(distinct),
    bound < 0 ? 'none' : `all with ${bound}`,
  ]);
  console.log(renderTable([['scenario', 'schedules', 'distinct', 'choices'], ...rows]));
  const ran = explorers.reduce((sum, explorer) => sum + explorer.ran, 0);
  const distinct = explorers.reduce((sum, explorer) => sum + explorer.distinct, 0);
  console.log(
    `\n${ran} schedules, ${distinct} of them distinct, in ${seconds.toFixed(0)} s with seed ${limits.seed}: ${found.length} show a defect`,
  );
  for (const [at, one] of found.entries()) await save(world, one, `${limits.seed}-${at + 1}.json`);
  await world.close();
  return found.length === 0
    ? ok(undefined)
    : err(`${found.length} schedules show a defect; the smallest ones are in ${folder}`);
}

async function save(world: World, { scenario, schedule }: Found, name: string): Promise<void> {
  const small = await show(world, scenario, schedule);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `${JSON.stringify({ scenario, schedule: small.schedule })}\n`);
}

/** Prints the smallest schedule that one contains and that is wrong too, or the whole one if it is right. */
async function show(
  world: World,
  scenario: string,
  schedule: Found['schedule'],
): Promise<Pick<Found, 'schedule' | 'wrong'>> {
  const explorer = new Explorer(world, scenario, 0);
  const small = await smallest(explorer, schedule);
  const shown = await explorer.run(small);
  console.log(`\n${scenario} ${JSON.stringify(small)}\n${tableOf(shown)}`);
  return { schedule: small, wrong: shown.wrong };
}

async function replay(file: string): Promise<Result<undefined, string>> {
  let text: string;
  let value: unknown;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return err(`${file}: ${fileFailure(error)}`);
  }
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = saved.safeParse(value);
  if (!parsed.success) return err(`${file}: expected a schedule that this command has saved`);
  const { scenario, schedule } = parsed.data;
  const world = await World.open();
  const { wrong } = await show(world, scenario, schedule);
  await world.close();
  return wrong.length === 0 ? ok(undefined) : err('the schedule shows a defect');
}

await run(
  program(
    'npm run crashes --',
    'Runs two functions at once in many orders of their calls, those with the fewest deviations first: each may crash before or after a write, lose a request\n' +
      'or an answer, get it late, freeze, or have a wrong clock. Then everything comes to its end, and must be what it is without any of it.',
  )
    .option('--seed <S>', 'the order in which schedules are tried', integer(0, 2 ** 31), 1)
    .option('--schedules <N>', 'how many schedules to run', integer(1, 100_000_000), 2_000)
    .option('--minutes <M>', 'stops after so many minutes', integer(1, 1_440), 1_440)
    .option('--only <NAMES>', `only these scenarios, separated by commas: ${names.join(', ')}`, list)
    .option('--replay <FILE>', 'runs one saved schedule, and prints the smallest one that shows the same')
    .addHelpText(
      'after',
      examples(
        'npm run crashes -- --schedules 100000 --minutes 60',
        'npm run crashes -- --replay build/crashes/1-1.json',
      ),
    )
    .action(
      exits(({ replay: file, only = names, ...others }) => {
        const limits = { ...others, only };
        const unknown = limits.only.find((name) => !names.includes(name));
        if (unknown !== undefined)
          return Promise.resolve(
            err(new UsageError(`unknown scenario "${unknown}": expected ${names.join(', ')}`)),
          );
        return file === undefined ? search(limits) : replay(file);
      }),
    ),
);
