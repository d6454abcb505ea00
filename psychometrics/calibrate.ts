import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import { calibrate } from './calibrate/calibrate.ts';
import type { Calibration } from './calibrate/calibrate.ts';
import { FIT_MARK, fitFile } from './calibrate/fit-file.ts';
import type { ItemModel } from './calibrate/model.ts';
import { progressLine } from './calibrate/progress-line.ts';
import { MAXIMUM_FILE_BYTES, describeFault, readStudy, tooLarge } from './calibrate/read-data.ts';
import type { DataFault, Study, StudyFiles } from './calibrate/read-data.ts';
import { renderReport } from './calibrate/report/page.ts';
import { calibrationFile, parametersFile, readMeta } from './calibrate/write-calibration.ts';
import type { Meta } from './calibrate/write-calibration.ts';
import { decimal, examples, exits, integer, program, run, text } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import { shorten } from '#tools/terminal/study.ts';

const command = program(
  'npm run calibrate --',
  'Fits a scale calibration to learners’ answers: a higher-order model with DINA or G-DINA items, by marginal maximum likelihood.\nModel, figures and files: docs/calibrate.md.',
)
  .requiredOption(
    '--responses <CSV>',
    'learners’ answers: a row a learner, a column an item; 1, 0, empty or NA (required)',
    text,
  )
  .requiredOption(
    '--q-matrix <CSV>',
    'which knowledge components an item needs: a row an item, 1 or 0 (required)',
    text,
  )
  .addOption(
    new Option('--model <MODEL>', 'how the items answer to mastery (required)')
      .choices(['dina', 'gdina'] as const satisfies readonly ItemModel[])
      .makeOptionMandatory(),
  )
  .requiredOption(
    '--out <DIR>',
    'directory to write calibration.json, fit.json, report.html and parameters.json into (required)',
    text,
  )
  .option(
    '--name <NAME>',
    'what ids and the bank of a seed are named after: a-z, 0-9 and -',
    studyName,
    'study',
  )
  .option('--meta <FILE>', 'what only people know of the calibration (docs/calibrate.md)', text)
  .addOption(
    new Option('--penalty <PENALTY>', 'weakly informative priors on the curves of the components, or none')
      .choices(['weak', 'none'] as const)
      .default('weak' as const),
  )
  .option(
    '--bound <P>',
    'item probabilities stay between P and 1 - P',
    decimal('above 0 and below 0.2', (bound) => bound > 0 && bound < 0.2),
    0.001,
  )
  .option('--max-iterations <N>', 'E-steps at most, for each start', integer(1, 1_000_000), 5000)
  .option(
    '--tolerance <T>',
    'gain in log-likelihood at which a step counts as none',
    decimal('above 0 and below 1', (tolerance) => tolerance > 0 && tolerance < 1),
    1e-6,
  )
  .option('--starts <N>', 'random starts beside the fixed one; the best is written', integer(0, 1000), 0)
  .option('--seed <N>', 'of the random starts', integer(0, 4_294_967_295), 1)
  .option(
    '--with-data',
    'also copies both tables into DIR, so that npm run seed -- from-responses DIR takes it',
  )
  .option('--force', 'overwrites files in DIR that this command did not write')
  .addHelpText(
    'after',
    examples(
      'npm run calibrate -- --responses study/responses.csv --q-matrix study/q-matrix.csv --model dina --out study/dina',
      'npm run calibrate -- --responses r.csv --q-matrix q.csv --model gdina --starts 10 --seed 7 --meta meta.json --out out',
    ),
  );
type Values = ReturnType<typeof command.opts>;

function studyName(value: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 of a-z, 0-9 and -, not beginning with -.');
}

async function main(values: Values): Promise<Result<undefined, string>> {
  const { responses, qMatrix, out, model } = values;
  const names = { responses, 'q-matrix': qMatrix };
  const files = await readFiles(names);
  if (!files.ok) return files;
  const study = readStudy(files.value);
  if (!study.ok) return err(shorten(study.error.map((fault) => plainText(describeFault(fault, names)))));
  const meta = await readMetaFile(values.meta, study.value);
  if (!meta.ok) return meta;
  const free = await mayWrite(out, values.force === true);
  if (!free.ok) return free;

  const calibration = await withLiveLine(process.stderr, (show) =>
    calibrate(study.value, {
      model,
      penalty: values.penalty,
      bound: values.bound,
      maximumIterations: values.maxIterations,
      tolerance: values.tolerance,
      randomStarts: values.starts,
      seed: values.seed,
      progress: (stage, step) => {
        show(progressLine(stage, step));
      },
    }),
  );
  const file = calibrationFile(calibration, { name: values.name, meta: meta.value });
  if (!file.ok) {
    const lines = file.error.map(({ pointer, message }) => `calibration.json#${pointer}: ${message}`);
    return err(`the calibration could not be released; see --meta\n${shorten(lines)}`);
  }
  const texts = {
    'calibration.json': json(file.value.record),
    'fit.json': json(fitFile(calibration)),
    'parameters.json': json(parametersFile(calibration, values.name, meta.value)),
    'report.html': renderReport(calibration, { title: values.name, placeholders: file.value.placeholders }),
    ...(values.withData === true
      ? { 'responses.csv': files.value.responses, 'q-matrix.csv': files.value.qMatrix }
      : {}),
  };
  try {
    await mkdir(out, { recursive: true });
    for (const [path, content] of Object.entries(texts)) await writeFile(join(out, path), content);
  } catch (error) {
    return err(`${out} cannot be written: ${fileFailure(error)}`);
  }
  console.log(summary(calibration, file.value.placeholders, values, out));
  return calibration.em.converged
    ? ok(undefined)
    : err(
        `not converged after ${calibration.em.iterations} iterations; see --max-iterations and --tolerance`,
      );
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function readFiles(
  names: Readonly<Record<DataFault['file'], string>>,
): Promise<Result<StudyFiles, string>> {
  const texts: Record<DataFault['file'], string> = { responses: '', 'q-matrix': '' };
  for (const file of ['responses', 'q-matrix'] as const) {
    const path = names[file];
    try {
      if ((await stat(path)).size > MAXIMUM_FILE_BYTES) return err(describeFault(tooLarge(file), names));
      texts[file] = await readFile(path, 'utf8');
    } catch (error) {
      return err(`${path} cannot be read: ${fileFailure(error)}`);
    }
  }
  return ok({ responses: texts.responses, qMatrix: texts['q-matrix'] });
}

async function readMetaFile(path: string | undefined, study: Study): Promise<Result<Meta, string>> {
  if (path === undefined) return ok({});
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    return err(`${path} cannot be read: ${fileFailure(error)}`);
  }
  const parsed = parseStrictJson(content);
  if (!parsed.ok) return err(`${path} is not acceptable JSON (${parsed.error.kind})`);
  const meta = readMeta(parsed.value, study);
  if (meta.ok) return meta;
  return err(shorten(meta.error.map(({ pointer, message }) => plainText(`${path}#${pointer}: ${message}`))));
}

/** A directory without our files, or with those of an earlier run, may be written; a `parameters.json` of somebody else's is spared. */
async function mayWrite(out: string, force: boolean): Promise<Result<undefined, string>> {
  if (force) return ok(undefined);
  const own = await readIfThere(join(out, 'fit.json'));
  if (own?.includes(FIT_MARK) === true) return ok(undefined);
  for (const path of ['calibration.json', 'fit.json', 'parameters.json', 'report.html']) {
    if ((await readIfThere(join(out, path))) === undefined) continue;
    return err(`${join(out, path)} was not written by this command; --force overwrites it all the same`);
  }
  return ok(undefined);
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function summary(
  calibration: Calibration,
  placeholders: readonly string[],
  values: Values,
  out: string,
): string {
  const { criteria, em, study, abilities, limitedInformation: m2 } = calibration;
  const accuracies = abilities.kcs.map(({ accuracy }) => accuracy);
  return [
    `${study.responses.learners} learners, ${study.items.length} items, ${study.kcs.length} knowledge components`,
    `log-likelihood ${criteria.logLikelihood.toFixed(3)}, ${criteria.parameters} parameters, AIC ${criteria.aic.toFixed(1)}, BIC ${criteria.bic.toFixed(1)}; ${em.iterations} iterations`,
    typeof m2 === 'string'
      ? m2
      : `M2 ${m2.statistic.toFixed(1)} on ${m2.df} degrees of freedom, RMSEA2 ${m2.rmsea.toFixed(3)}`,
    `reliability of theta ${abilities.theta.reliability.toFixed(3)}; accuracy of a component’s classification ${Math.min(...accuracies).toFixed(3)} to ${Math.max(...accuracies).toFixed(3)}`,
    `reliability of theta with every component known ${abilities.theta.reliabilityCeiling.toFixed(3)}${
      abilities.theta.reliabilityCeiling < INDIVIDUAL_RELIABILITY
        ? `, below ${INDIVIDUAL_RELIABILITY}: scores will say that they are too coarse for an individual`
        : ''
    }`,
    ...calibration.warnings.map((warning) => plainText(`! ${warning}`)),
    ...(placeholders.length === 0
      ? []
      : [
          `! ${placeholders.length} members of calibration.json are placeholders, good for the local stage only; --meta supplies them (docs/calibrate.md)`,
        ]),
    '',
    join(out, 'report.html'),
    `npm run release -- calibration ${join(out, 'calibration.json')} --dry-run`,
    ...(values.withData === true
      ? [`npm run seed -- from-responses ${out} --out ${join('.local', basename(out))}`]
      : []),
  ].join('\n');
}

if (import.meta.main) {
  await run(command.action(exits(main)));
}
