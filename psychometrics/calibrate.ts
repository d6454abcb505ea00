import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { pointer } from '#shared/kernel/defect.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { calibrate, type Calibration } from './calibrate/calibrate.ts';
import { verdictOf, type Verdict } from './calibrate/conditions.ts';
import { FIT_MARK, fitFile } from './calibrate/fit-file.ts';
import type { ItemModel } from './calibrate/model.ts';
import { progressLine } from './calibrate/progress-line.ts';
import { missingLine, studyOf, type Study } from './calibrate/read-data.ts';
import { renderReport } from './calibrate/report/page.ts';
import { reliabilityLine, structureLine } from './calibrate/report/structure.ts';
import { verdictSentence } from './calibrate/report/verdict.ts';
import { readBlocks, type GivenBlock } from './calibrate/structure/given-blocks.ts';
import { readHierarchy, type Prerequisites } from './calibrate/structure/prerequisites.ts';
import { calibrationFile, parametersFile, readMeta, type Meta } from './calibrate/write-calibration.ts';
import {
  decimal,
  examples,
  exits,
  integer,
  needs,
  program,
  run,
  text,
  UsageError,
} from '#tools/terminal/command.ts';
import { fileFailure, readIfThere } from '#tools/terminal/file-failure.ts';
import { makeFolder } from '#tools/terminal/make-folder.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import { readTexts } from '#tools/terminal/study/files.ts';
import { studyOptions, tableOptions } from '#tools/terminal/study/options.ts';
import { inOrder, readStudyTables, writeStudyTables } from '#tools/terminal/study/tables.ts';
import type { ReadStudyTables } from '#tools/terminal/study/tables.ts';
import { understoodLines } from '#tools/terminal/study/understood.ts';
import { shorten } from '#tools/terminal/study.ts';

const command = studyOptions(
  program(
    'npm run calibrate --',
    'Fits a scale calibration to learners’ answers: a higher-order model with DINA or G-DINA items, by marginal maximum likelihood.\nHow to use your own data: docs/own-study.md. Model, figures and files: docs/calibrate.md.',
  )
    .argument('[FILES...]', 'the two tables, instead of --responses and --q-matrix: RESPONSES Q-MATRIX')
    .option(
      '--responses <CSV>',
      'learners’ answers: one row per learner and one column per item, or one row per answer',
      text,
    )
    .option(
      '--q-matrix <CSV>',
      'which knowledge components each item needs: one row per item, with one column per component or a list of them',
      text,
    ),
)
  .addOption(
    new Option('--model <MODEL>', 'item model (required)')
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
    'name of the study, part of ids and of the seed’s bank: a-z, 0-9 and -',
    studyName,
    'study',
  )
  .option(
    '--meta <FILE>',
    'JSON file with ids, framework, validity and anchor of the calibration (docs/calibrate.md)',
    text,
  )
  .addOption(
    new Option(
      '--penalty <PENALTY>',
      'weakly informative priors on the curves of the knowledge components, or none',
    )
      .choices(['weak', 'none'] as const)
      .default('weak' as const),
  )
  .option(
    '--bound <P>',
    'item probabilities stay between P and 1 - P',
    decimal('above 0 and below 0.2', (bound) => bound > 0 && bound < 0.2),
    0.001,
  )
  .option('--max-iterations <N>', 'maximum number of E-steps per start', integer(1, 1_000_000), 5000)
  .option(
    '--tolerance <T>',
    'the fit ends when no parameter is further than this many standard errors from the maximum',
    decimal('above 0 and below 1', (tolerance) => tolerance > 0 && tolerance < 1),
    1e-3,
  )
  .option(
    '--starts <N>',
    'random starts in addition to the fixed one, each run to its end; the best fit is written. Without it: five short runs where several maxima are likely, else none',
    integer(0, 1000),
  )
  .option(
    '--hierarchy <PREREQUISITES>',
    'prerequisites to compare with the answers, as A>B,B>C or in a file: B requires A',
    text,
  )
  .option(
    '--blocks <FILE>',
    'blocks of knowledge components to examine one by one, in JSON or CSV: the block of each component, and which others of the block it requires (docs/calibrate.md)',
    text,
  )
  .option(
    '--independent',
    'write a calibration of independent knowledge components even if the answers show otherwise',
  )
  .option(
    '--bootstrap <N>',
    'studies drawn for a p value of the test of structure, 99 for example',
    integer(0, 9999),
    0,
  )
  .option('--seed <N>', 'seed of the random starts and of the bootstrap', integer(0, 4_294_967_295), 1)
  .option('--with-data', 'also writes both tables into DIR, as npm run seed -- from-responses DIR needs them')
  .option(
    '--assume-equal-groups',
    'allow a scale or an anchor in --meta although nothing links some parts of the test',
  )
  .option(
    '--insist',
    'write calibration.json even if the verdict is "not releasable", its limitations then state why; and with prerequisites that the answers do not show, which the release refuses',
  )
  .option('--force', 'overwrite files in DIR that this command did not write')
  .addHelpText(
    'after',
    examples(
      'npm run calibrate -- --responses examples/study/responses.csv --q-matrix examples/study/q-matrix.csv --model dina --out .local/fit --with-data',
      'npm run calibrate -- r.csv q.csv --missing 99 --ignore age,school --model gdina --starts 10 --out .local/fit',
      'npm run calibrate -- r.csv q.csv --ignore-rows "Points Possible" --correct-from 2 --model dina --out .local/fit',
      'npm run calibrate -- log.csv q.csv --learner user_id --item task --score correct --attempts first --model dina --out .local/fit',
    ),
  );
needs(command, ({ responses, qMatrix }, files) =>
  files.length > 0
    ? []
    : [...(responses === undefined ? ['--responses'] : []), ...(qMatrix === undefined ? ['--q-matrix'] : [])],
);
type Values = ReturnType<typeof command.opts>;

function studyName(value: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be 1 to 64 of a-z, 0-9 and -, not beginning with -.');
}

async function main(
  files: readonly string[],
  values: Values,
): Promise<Result<undefined, string | UsageError>> {
  const { out, model } = values;
  const tables = await readTables(files, values);
  if (!tables.ok) return tables;
  console.log(`${understoodLines(tables.value.understood).map(plainText).join('\n')}\n`);
  const study = studyOf(tables.value);
  if (!study.ok) return err(shorten(study.error));
  const meta = await readMetaFile(values.meta, study.value);
  if (!meta.ok) return meta;
  const common = mayClaimScale(values, meta.value, study.value);
  if (!common.ok) return common;
  const free = await mayWrite(out, values.force === true);
  if (!free.ok) return free;
  const hierarchy = await readHierarchyOption(values.hierarchy, study.value);
  if (!hierarchy.ok) return hierarchy;
  const blocks = await readBlocksOption(values, study.value);
  if (!blocks.ok) return blocks;

  const calibration = await withLiveLine(process.stderr, (show) =>
    calibrate(study.value, {
      model,
      penalty: values.penalty,
      bound: values.bound,
      maximumIterations: values.maxIterations,
      tolerance: values.tolerance,
      randomStarts: values.starts,
      seed: values.seed,
      hierarchy: hierarchy.value,
      blocks: blocks.value,
      insist: values.insist,
      independent: values.independent,
      bootstrap: values.bootstrap,
      progress: (stage, step) => {
        show(progressLine(stage, step));
      },
    }),
  );
  const file = calibrationFile(calibration, { name: values.name, meta: meta.value });
  if (!file.ok) {
    const place = values.meta ?? '--meta FILE';
    const lines = file.error.map((defect) => `${place}#${defect.pointer}: ${defect.message}`);
    return err(`the calibration cannot be released: correct these values\n${plainLines(lines)}`);
  }
  const verdict = verdictOf(calibration.conditions);
  const isWritten = verdict.level !== 'not_releasable' || values.insist === true;
  const texts = {
    ...(isWritten ? { 'calibration.json': json(file.value.record) } : {}),
    'fit.json': json(fitFile(calibration)),
    'parameters.json': json(parametersFile(calibration, values.name, meta.value)),
    'report.html': renderReport(calibration, { title: values.name, placeholders: file.value.placeholders }),
    ...(values.withData === true ? writeStudyTables(tables.value) : {}),
  };
  const folder = await makeFolder(out);
  if (!folder.ok) return folder;
  try {
    // One of an earlier run would pass for this run's.
    if (!isWritten) await rm(join(out, 'calibration.json'), { force: true });
    for (const [path, content] of Object.entries(texts)) await writeFile(join(out, path), content);
  } catch (error) {
    return err(`cannot write ${out}: ${fileFailure(error)}`);
  }
  console.log(summary(calibration, isWritten ? file.value.placeholders : undefined, values, out));
  return isWritten
    ? ok(undefined)
    : err(
        'not releasable: calibration.json is not written. Remove the causes, or add --insist to write it with these conditions among its limitations.',
      );
}

/** Returns whether metadata may describe the scale: not if nothing links parts of the test, unless the caller assumes equally able groups. */
function mayClaimScale(
  { meta: path, assumeEqualGroups }: Values,
  meta: Meta,
  { conditions }: Study,
): Result<undefined, string> {
  const unlinked = conditions.find(({ code }) => code === 'unlinked_parts');
  const claims = [
    ...(meta.scale === undefined ? [] : ['/scale']),
    ...(meta.document?.anchor === undefined ? [] : ['/document/anchor']),
  ];
  if (unlinked === undefined || claims.length === 0 || assumeEqualGroups === true) return ok(undefined);
  const reason = `${unlinked.sentence} Fit each part as a study of its own, or add --assume-equal-groups.`;
  return err(shorten(claims.map((pointer) => plainText(`${path}#${pointer}: ${reason}`))));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Reads both tables. Those of `FILES` may be in either order where their names show which is which. */
async function readTables(
  files: readonly string[],
  values: Values,
): Promise<Result<ReadStudyTables, string | UsageError>> {
  const options = await tableOptions(values);
  if (!options.ok) return options;
  const isPositional = files.length > 0;
  if (isPositional && (values.responses ?? values.qMatrix) !== undefined)
    return err(new UsageError('give either two FILES, or --responses and --q-matrix'));
  if (isPositional && files.length !== 2)
    return err(new UsageError(`FILES are two, the answers and the Q-matrix: found ${files.length}`));
  const [responses = '', qMatrix = ''] = isPositional ? files : [values.responses, values.qMatrix];
  const texts = await readTexts(responses, qMatrix);
  if (!texts.ok) return texts;
  const ordered = isPositional
    ? inOrder(texts.value.responses, texts.value.qMatrix)
    : { files: texts.value, exchanged: false };
  const tables = readStudyTables(ordered.files, options.value);
  if (!tables.ok) return err(plainLines(tables.error));
  const { understood } = tables.value;
  const order = `the answers are in ${qMatrix}, the Q-matrix is in ${responses}`;
  const notes = ordered.exchanged ? [order, ...understood.notes] : understood.notes;
  return ok({ ...tables.value, understood: { ...understood, notes } });
}

/** The first defects of the tables; names and values in them are foreign text. */
function plainLines(defects: readonly string[]): string {
  return shorten(defects.map(plainText));
}

/** Reads prerequisites from a file of that name, or from the text itself. */
async function readHierarchyOption(
  value: string | undefined,
  { kcs }: Study,
): Promise<Result<Prerequisites | undefined, string>> {
  if (value === undefined) return ok(undefined);
  const file = await readIfThere(value);
  if (!file.ok) return file;
  const hierarchy = readHierarchy(file.value ?? value, kcs);
  return hierarchy.ok ? hierarchy : err(plainText(`--hierarchy: ${hierarchy.error}`));
}

/** Reads blocks of KCs from a file. They contain prerequisites, so that `--hierarchy` has no place next to them. */
async function readBlocksOption(
  { blocks: path, hierarchy, independent }: Values,
  { kcs }: Study,
): Promise<Result<readonly GivenBlock[] | undefined, string | UsageError>> {
  if (path === undefined) return ok(undefined);
  if (hierarchy !== undefined)
    return err(new UsageError('give prerequisites either with --hierarchy or in the file of --blocks'));
  if (independent === true)
    return err(new UsageError('--independent leaves no place for --blocks: give one of them'));
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    return err(`cannot read ${path}: ${fileFailure(error)}`);
  }
  const blocks = readBlocks(content.replace(/^\uFEFF/, ''), kcs);
  return blocks.ok ? blocks : err(plainLines(blocks.error.map((defect) => `${path}: ${defect}`)));
}

async function readMetaFile(path: string | undefined, study: Study): Promise<Result<Meta, string>> {
  if (path === undefined) return ok({});
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    return err(`cannot read ${path}: ${fileFailure(error)}`);
  }
  const parsed = parseStrictJson(content.replace(/^\uFEFF/, ''));
  if (!parsed.ok) {
    const { kind, path: place } = parsed.error;
    return err(`${path}${place.length === 0 ? '' : `#${pointer(...place)}`}: is not valid JSON (${kind})`);
  }
  const meta = readMeta(parsed.value, study);
  if (meta.ok) return meta;
  return err(plainLines(meta.error.map((defect) => `${path}#${defect.pointer}: ${defect.message}`)));
}

/**
 * Returns whether the command may write: only into a directory without these files, or with those of an earlier run, so that it does not overwrite a
 * `parameters.json` from elsewhere.
 */
async function mayWrite(out: string, force: boolean): Promise<Result<undefined, string>> {
  if (force) return ok(undefined);
  const own = await readIfThere(join(out, 'fit.json'));
  if (!own.ok) return own;
  if (own.value?.includes(FIT_MARK) === true) return ok(undefined);
  for (const path of ['calibration.json', 'fit.json', 'parameters.json', 'report.html']) {
    const there = await readIfThere(join(out, path));
    if (!there.ok) return there;
    if (there.value === undefined) continue;
    return err(`${join(out, path)} was not written by this command; --force overwrites it`);
  }
  return ok(undefined);
}

/** Returns what priors and monotonicity cost, where they restrict the fit. */
function priceLine({ prices: { penalty, monotonicity } }: Calibration): readonly string[] {
  const prices = [
    ...(penalty === undefined ? [] : [`${penalty.toFixed(2)} by the priors of the curves`]),
    ...(monotonicity === undefined ? [] : [`${monotonicity.toFixed(2)} by monotonicity`]),
  ];
  return prices.length === 0 ? [] : [`log-likelihood given up: ${prices.join(', ')}`];
}

function summary(
  calibration: Calibration,
  placeholders: readonly string[] | undefined,
  values: Values,
  out: string,
): string {
  const { criteria, em, study, abilities, limitedInformation: m2 } = calibration;
  const accuracies = abilities.kcs.map(({ accuracy }) => accuracy);
  const missing = missingLine(study);
  return [
    `${study.responses.learners} learners, ${study.items.length} items, ${study.kcs.length} knowledge components`,
    ...(missing === undefined ? [] : [plainText(missing)]),
    `log-likelihood ${criteria.logLikelihood.toFixed(3)}, ${criteria.parameters} parameters, AIC ${criteria.aic.toFixed(1)}, BIC ${criteria.bic.toFixed(1)}; ${em.iterations} E-steps`,
    typeof m2 === 'string'
      ? m2
      : `M2 ${m2.statistic.toFixed(1)} on ${m2.df} degrees of freedom, RMSEA2 ${m2.rmsea.toFixed(3)}`,
    reliabilityLine(calibration),
    plainText(structureLine(calibration)),
    `classification accuracy per knowledge component ${Math.min(...accuracies).toFixed(3)} to ${Math.max(...accuracies).toFixed(3)}`,
    ...priceLine(calibration),
    ...(placeholders === undefined || placeholders.length === 0
      ? []
      : [
          `! calibration.json contains ${placeholders.length} placeholder values (local use only). Supply real ones with --meta FILE (docs/calibrate.md).`,
        ]),
    '',
    join(out, 'report.html'),
    ...(placeholders === undefined
      ? []
      : [`npm run release -- calibration ${join(out, 'calibration.json')} --dry-run`]),
    ...(values.withData === true
      ? [`npm run seed -- from-responses ${out} --out ${join('.local', `${basename(out)}-seed`)}`]
      : []),
    '',
    ...verdictLines(verdictOf(calibration.conditions)),
  ].join('\n');
}

/** The most lines of the verdict in the terminal. */
const VERDICT_LINES = 10;

/** Returns the verdict and its gravest conditions; fit.json and the report have all of them. */
function verdictLines(verdict: Verdict): string[] {
  const lines = verdict.conditions.map(({ sentence }) => plainText(`! ${sentence}`));
  const shown = lines.slice(0, lines.length < VERDICT_LINES ? lines.length : VERDICT_LINES - 2);
  const more = lines.length - shown.length;
  return [verdictSentence(verdict), ...shown, ...(more > 0 ? [`  and ${more} more, in report.html`] : [])];
}

if (import.meta.main) {
  await run(command.action(exits(main)));
}
