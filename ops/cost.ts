import { InvalidArgumentError } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import {
  decimal,
  examples,
  exits,
  integer,
  needs,
  parsed,
  program,
  run,
  text,
  UsageError,
} from '#tools/terminal/command.ts';
import { forecastOf, renderForecast } from './cost/report.ts';
import { pricesFile, readPrices, readRecording } from './cost/recorded.ts';
import { trafficOf, type Traffic } from '#shared/scale/traffic.ts';

const MOST = 1_000_000_000_000;

const command = program(
  'npm run cost --',
  'Computes what a stage costs in a month, and which limit of AWS or of its settings its traffic meets first (docs/scale.md). It multiplies the calls that tests have recorded with a price list that you can replace, and calls nothing.',
)
  .option(
    '--learners <N>',
    'learners who take one run and have four reports read in a month; instead of the two counts below',
    integer(1, MOST),
  )
  .option('--runs-per-month <N>', 'adaptive runs per month', integer(0, MOST))
  .option('--reports-per-month <N>', 'attempt reports that are read per month', integer(0, MOST))
  .option('--items <N>', 'items per run; default: 15', integer(1, 1_000))
  .option(
    '--calls <OPERATION=N...>',
    'calls per month of another operation, for example readClassCohort=5000',
    operationCount,
  )
  .option('--owner-ms <N>', 'milliseconds that one call of an owner takes; default: 100', integer(1, 5_000))
  .option(
    '--peak <X>',
    'the busiest second, as a multiple of the mean of school hours; default: 5',
    decimal('from 1 to 1000', (value) => value >= 1 && value <= 1_000),
  )
  .option('--stage <S>', 'the stage whose settings count; default: prod', parsed(stageNamed))
  .option('--prices <FILE>', 'your region’s prices, in the form of ops/cost/prices.json', text)
  .option('--json', 'print one JSON document')
  .addHelpText(
    'after',
    examples(
      'npm run cost -- --learners 100000',
      'npm run cost -- --runs-per-month 20000 --reports-per-month 50000 --owner-ms 60',
    ),
  );
needs(command, ({ learners, runsPerMonth, reportsPerMonth, calls }) =>
  [learners, runsPerMonth, reportsPerMonth, calls].every((count) => count === undefined)
    ? ['--learners (or --runs-per-month, --reports-per-month, --calls)']
    : [],
);
command.action(exits(forecast));

if (import.meta.main) await run(command);

/** Reads `operation=count`, and adds it to those before. */
function operationCount(
  value: string,
  before: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const [operation = '', count = '', ...more] = value.split('=');
  if (more.length > 0 || Object.hasOwn(before, operation))
    throw new InvalidArgumentError('It must be one count per operation, such as readClassCohort=5000.');
  return { ...before, [operation]: integer(0, MOST)(count) };
}

function forecast(values: ReturnType<typeof command.opts>): Result<undefined, string | UsageError> {
  const recording = readRecording();
  const { learners, runsPerMonth, reportsPerMonth, calls = {}, json } = values;
  if (learners !== undefined && (runsPerMonth !== undefined || reportsPerMonth !== undefined))
    return err(new UsageError('--learners stands for the other two counts: give only one of them'));
  const unknown = Object.keys(calls).find((operation) => !Object.hasOwn(recording.calls, operation));
  if (unknown !== undefined)
    return err(
      new UsageError(
        `--calls: unknown operation ${JSON.stringify(unknown)}: expected one of ${Object.keys(recording.calls).join(', ')}`,
      ),
    );
  const traffic: Traffic = {
    ...trafficOf(learners ?? 0),
    ...(learners === undefined ? { runs: runsPerMonth ?? 0, reports: reportsPerMonth ?? 0 } : {}),
    ...(values.items === undefined ? {} : { itemsPerRun: values.items }),
    ...(values.ownerMs === undefined ? {} : { ownerMs: values.ownerMs }),
    ...(values.peak === undefined ? {} : { peak: values.peak }),
    others: calls,
  };
  const stage = values.stage?.name ?? 'prod';
  const file = values.prices ?? pricesFile;
  let prices, found;
  try {
    prices = readPrices(file);
    found = forecastOf(traffic, stage, recording, prices);
  } catch (error) {
    return err(`cannot use the prices of ${file}: ${fileFailure(error)}`);
  }
  console.log(
    json === true
      ? JSON.stringify(
          { stage, traffic, prices: { region: prices.region, asOf: prices.asOf }, ...found },
          null,
          2,
        )
      : renderForecast(found, traffic, stage, prices),
  );
  return ok(undefined);
}
