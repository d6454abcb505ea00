import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { DESIGN, policies, policyNames } from './recovery/conditions.ts';
import { exposureMethodNames, fittedMethods } from './recovery/exposure.ts';
import { htmlReport } from './recovery/html-report.ts';
import { exposureJson, resultsJson, runStudy, type StudySettings } from './recovery/study.ts';
import { textReport } from './recovery/text-report.ts';
import {
  decimal,
  examples,
  exits,
  integer,
  program,
  run,
  text,
  UsageError,
} from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { makeFolder } from '#tools/terminal/make-folder.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { openProgress } from '#tools/terminal/progress.ts';
import { paintFor } from '#tools/terminal/paint.ts';

/** The sizes of a simulation: enough for the second decimal of the aims, or enough to detect an aim missed by a wide margin. */
const FULL = { worlds: 10, learners: 200 };
const QUICK = { worlds: 4, learners: 100 };

/** The largest world is the benchmark's, far larger than any real test. */
const MOST_ITEMS = 10_000;
const MOST_KCS = 500;
const MOST_ADMINISTERED = 200;

const command = program(
  'npm run recovery --',
  'Gives the adaptive test to simulated learners whose abilities and KCs are known, and reports how well it recovers them (docs/recovery.md).\n' +
    'Exits with 1 when an aim is missed, except where its line states otherwise. Equal arguments give equal figures.',
)
  .option(
    '--quick',
    `${QUICK.worlds} worlds with ${QUICK.learners} learners each instead of ${FULL.worlds} with ${FULL.learners}`,
  )
  .option('--worlds <N>', 'how many worlds are simulated', integer(1, 1000))
  .option(
    '--learners <N>',
    'simulated learners per world; rows that only compare use a third of them',
    integer(2, 100_000),
  )
  .option('--items <N>', 'items per world', integer(1, MOST_ITEMS), DESIGN.items)
  .option('--kcs <N>', 'knowledge components (KCs) per world', integer(1, MOST_KCS), DESIGN.kcs)
  .option('--length <N>', 'items that each learner is given', integer(1, MOST_ADMINISTERED), DESIGN.length)
  .addOption(
    new Option(
      '--policy <POLICY>',
      `how items are selected in the first row: ${policyNames.map((name) => policies[name].description).join('; ')}`,
    )
      .choices(policyNames)
      .default('plain' as const),
  )
  .addOption(
    new Option(
      '--exposure <METHODS...>',
      `adds one row per method of exposure control, each with aims of its own; only those of ${fittedMethods.join(', ')} affect the exit code`,
    ).choices(exposureMethodNames),
  )
  .option('--seed <N>', 'selects other worlds and other learners', integer(0, 1_000_000_000), 1)
  .option(
    '--bar <FACTOR>',
    'makes the aims this many times as strict; below 1, laxer',
    decimal('from 0.01 to 1000', (factor) => factor >= 0.01 && factor <= 1000),
    1,
  )
  .option(
    '--out <DIR>',
    `writes report.html, results.json and, for ${fittedMethods.join(', ')}, exposure.json into this folder`,
    text,
  )
  .addHelpText(
    'after',
    examples(
      'npm run recovery -- --quick',
      'npm run recovery -- --quick --out .local/recovery',
      'npm run recovery -- --quick --bar 3        # three times as strict: exits with 1',
      'npm run recovery -- --quick --exposure sympson_hetter --out .local/recovery',
      'npm run recovery -- --kcs 8 --items 120 --length 15',
    ),
  );

async function main(
  values: ReturnType<typeof command.opts>,
): Promise<Result<undefined, string | UsageError>> {
  const { items, kcs, length, policy, exposure, seed, bar, out } = values;
  // Each KC has an item of its own, and a run never offers an item twice.
  if (items < kcs)
    return err(new UsageError(`--items must not be below --kcs: ${items} items cannot measure ${kcs} KCs`));
  if (items < length)
    return err(
      new UsageError(
        `--items must not be below --length: a test of ${length} items needs more than ${items}`,
      ),
    );
  const amount = values.quick === true ? QUICK : FULL;
  const settings: StudySettings = {
    items,
    kcs,
    length,
    policy,
    exposure,
    seed,
    bar,
    worlds: values.worlds ?? amount.worlds,
    learners: values.learners ?? amount.learners,
  };
  // An unusable folder must fail before the long computation, not after it.
  const folder = out === undefined ? ok(undefined) : await makeFolder(out);
  if (!folder.ok) return folder;
  const progress = openProgress(() => performance.now());
  const study = await withLiveLine(process.stderr, (show) =>
    runStudy(settings, (done, what) => {
      show(progress(done, what));
    }),
  );
  console.log(textReport(study, paintFor(process.stdout, process.env)));
  if (out !== undefined) {
    const files = [
      ['report.html', htmlReport(study)],
      ['results.json', resultsJson(study)],
      ...(study.tables.size === 0 ? [] : [['exposure.json', exposureJson(study)] as const]),
    ] as const;
    for (const [name, content] of files) {
      const written = await write(join(out, name), content);
      if (!written.ok) return written;
    }
    console.log(`\n${files.map(([name]) => join(out, name)).join('\n')}`);
  }
  const deciding = study.aims.filter(({ decides }) => decides);
  const missed = deciding.filter(({ met }) => !met);
  return missed.length === 0
    ? ok(undefined)
    : err(`${missed.length} of ${deciding.length} aims missed: ${missed.map(({ name }) => name).join(', ')}`);
}

async function write(path: string, content: string): Promise<Result<undefined, string>> {
  try {
    await writeFile(path, content);
    return ok(undefined);
  } catch (error) {
    return err(`cannot write ${path}: ${fileFailure(error)}`);
  }
}

await run(command.action(exits(main)));
