import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { DESIGN, policies, policyNames } from './recovery/conditions.ts';
import { htmlReport } from './recovery/html-report.ts';
import { progressLine } from './recovery/progress-line.ts';
import { resultsJson, runStudy } from './recovery/study.ts';
import type { StudySettings } from './recovery/study.ts';
import { textReport } from './recovery/text-report.ts';
import { choice, flag, integer, runCommand, text } from '#tools/terminal/command.ts';
import type { Option, OptionValues } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { liveLine } from '#tools/terminal/live-line.ts';
import { paintFor } from '#tools/terminal/paint.ts';

/** How much is simulated: enough for the second decimal of the aims, or, in a hurry, enough to see an aim missed by much. */
const FULL = { worlds: 10, learners: 200 };
const QUICK = { worlds: 4, learners: 100 };

/** The largest world is that of the bench, far above what a test has. */
const MOST_ITEMS = 10_000;
const MOST_KCS = 500;
const MOST_ADMINISTERED = 200;

const command = {
  usage: 'npm run recovery --',
  summary:
    'Gives the engine’s test to made-up learners who are known entirely, and says how much of them it recovers (docs/recovery.md).\n' +
    'Exit code 1 when an aim is missed. Equal arguments give equal figures.',
  options: {
    quick: flag(
      `${QUICK.worlds} worlds with ${QUICK.learners} learners instead of ${FULL.worlds} with ${FULL.learners}`,
    ),
    worlds: integer('how many worlds are made up', 'N', { min: 1, max: 1000 }),
    learners: integer('learners of each world; the rows that only compare take a third', 'N', {
      min: 2,
      max: 100_000,
    }),
    items: integer('items of a world', 'N', { min: 1, max: MOST_ITEMS }, DESIGN.items),
    kcs: integer('knowledge components of a world', 'N', { min: 1, max: MOST_KCS }, DESIGN.kcs),
    length: integer('items that a learner is given', 'N', { min: 1, max: MOST_ADMINISTERED }, DESIGN.length),
    policy: choice(
      `how items are chosen in the first row: ${policyNames.map((name) => policies[name].description).join('; ')}`,
      policyNames,
      'plain',
    ),
    seed: integer('makes other worlds and other learners', 'N', { min: 0, max: 1_000_000_000 }, 1),
    bar: factor('how many times as strict as the design the aims are: above 1 stricter, below laxer'),
    out: text('writes report.html and results.json into this folder', 'DIR'),
  },
  examples: [
    'npm run recovery -- --quick',
    'npm run recovery -- --quick --out .local/recovery',
    'npm run recovery -- --quick --bar 3        # three times as strict: exit code 1',
    'npm run recovery -- --kcs 8 --items 120 --length 15',
  ],
};

function factor(description: string): Option<number> {
  return {
    description,
    placeholder: 'FACTOR',
    fallback: 1,
    read: (value) => {
      const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
      return number >= 0.01 && number <= 1000 ? ok(number) : err('must be a number from 0.01 to 1000');
    },
  };
}

async function main(values: OptionValues<typeof command.options>): Promise<Result<undefined, string>> {
  const { items, kcs, length, policy, seed, bar, out } = values;
  // Each KC has an item of its own, and a run is given no item twice.
  if (items < kcs) return err(`--items must not be below --kcs: ${items} items cannot measure ${kcs} KCs`);
  if (items < length)
    return err(`--items must not be below --length: there are no ${length} items among ${items}`);
  const amount = values.quick ? QUICK : FULL;
  const settings: StudySettings = {
    items,
    kcs,
    length,
    policy,
    seed,
    bar,
    worlds: values.worlds ?? amount.worlds,
    learners: values.learners ?? amount.learners,
  };
  // A folder that cannot be written is found out before the waiting.
  const folder = out === undefined ? ok(undefined) : await makeFolder(out);
  if (!folder.ok) return folder;
  const live = liveLine(process.stderr);
  const study = runStudy(settings, (done, what) => {
    live.show(progressLine(done, what));
  });
  live.clear();
  console.log(textReport(study, paintFor(process.stdout, process.env)));
  if (out !== undefined) {
    for (const [name, content] of [
      ['report.html', htmlReport(study)],
      ['results.json', resultsJson(study)],
    ] as const) {
      const written = await write(join(out, name), content);
      if (!written.ok) return written;
    }
    console.log(`\n${join(out, 'report.html')}\n${join(out, 'results.json')}`);
  }
  const missed = study.aims.filter(({ met }) => !met);
  return missed.length === 0
    ? ok(undefined)
    : err(
        `${missed.length} of ${study.aims.length} aims missed: ${missed.map(({ name }) => name).join(', ')}`,
      );
}

async function makeFolder(path: string): Promise<Result<undefined, string>> {
  try {
    await mkdir(path, { recursive: true });
    return ok(undefined);
  } catch (error) {
    return err(`${path} cannot be made: ${fileFailure(error)}`);
  }
}

async function write(path: string, content: string): Promise<Result<undefined, string>> {
  try {
    await writeFile(path, content);
    return ok(undefined);
  } catch (error) {
    return err(`${path} cannot be written: ${fileFailure(error)}`);
  }
}

await runCommand(command, main);
