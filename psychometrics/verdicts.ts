import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { wilson } from './recovery/statistics.ts';
import {
  ANY_FINDING,
  LARGE,
  NO_FINDING,
  SOUND,
  STRUCTURES,
  designNames,
  runStudies,
  studiesFrom,
  studiesOf,
  studiesOfStructures,
} from './verdicts/run.ts';
import type { DesignName, Outcome, VerdictStudy } from './verdicts/run.ts';
import { examples, exits, list, program, run, text } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { withLiveLine } from '#tools/terminal/live-line.ts';
import { openProgress } from '#tools/terminal/progress.ts';
import { shorten } from '#tools/terminal/study.ts';
import { readTableFile } from '#tools/terminal/study/files.ts';
import { readStudyTables, type StudyTables } from '#tools/terminal/study/tables.ts';
import { renderTable } from '#tools/terminal/table.ts';

const MOST_SEEDS = 10_000;

const command = program(
  'npm run verdicts --',
  'Fits simulated studies, sound and damaged ones, and counts what their verdicts contain (docs/verdicts.md).\n' +
    'Exits with 1 when an aim is missed. Equal arguments give equal figures.',
)
  .option(
    '--designs <NAME,…>',
    `Q-matrices of real tests: ${designNames.join(', ')}; default: all for sound studies, ${LARGE} for damaged ones`,
    designList,
  )
  .option('--studies <NAME,…>', `kinds of study: ${SOUND}, damages and structures; default: all`, kindList)
  .option(
    '--data <DIR>',
    'damages the study in DIR (responses.csv, q-matrix.csv) instead of simulated ones; has no aims',
    text,
  )
  .addOption(
    new Option('--seeds <A-B>', 'seeds of the studies, one study each')
      .argParser(seedRange)
      .default(range(100, 119), '100-119'),
  )
  .addOption(
    new Option('--model <MODEL>', 'item model').choices(['dina', 'gdina'] as const).default('dina' as const),
  )
  .option('--out <FILE>', 'writes all counts as JSON into this file', text)
  .addHelpText(
    'after',
    examples(
      'npm run verdicts -- --studies sound --seeds 100-299',
      'npm run verdicts -- --designs english --studies coin_item,two_wrong_rows --out .local/verdicts.json',
    ),
  );
type Values = ReturnType<typeof command.opts>;

function designList(value: string): readonly DesignName[] {
  return list(value).map((name) => {
    const design = designNames.find((one) => one === name);
    if (design === undefined)
      throw new InvalidArgumentError(`unknown design "${name}": expected ${designNames.join(', ')}.`);
    return design;
  });
}

function kindList(value: string): readonly string[] {
  const known = [...studiesOf(LARGE), ...studiesOfStructures()].map(({ name }) => name);
  const unknown = list(value).find((name) => !known.includes(name));
  if (unknown === undefined) return list(value);
  throw new InvalidArgumentError(`unknown study "${unknown}": expected ${known.join(', ')}.`);
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

function seedRange(value: string): readonly number[] {
  const [, from = '', to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(value) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (!(from !== '' && last >= first && last - first < MOST_SEEDS))
    throw new InvalidArgumentError(`It must be one seed, or A-B with at most ${MOST_SEEDS} seeds.`);
  return range(first, last);
}

async function main(values: Values): Promise<Result<undefined, string>> {
  const studies = await chosenStudies(values);
  if (!studies.ok) return studies;
  const { seeds, model, out } = values;
  const clock = (): number => performance.now();
  const progress = openProgress(clock);
  const outcomes = await withLiveLine(process.stderr, (show) =>
    studies.value.map((study, n) =>
      runStudies(study, seeds, model, clock, (done) => {
        const share = (n + done / seeds.length) / studies.value.length;
        show(progress(share, `${study.design} ${study.name}`));
      }),
    ),
  );
  console.log(report(outcomes));
  if (out !== undefined) {
    try {
      await writeFile(out, `${JSON.stringify(outcomes, null, 2)}\n`);
    } catch (error) {
      return err(`cannot write ${out}: ${fileFailure(error)}`);
    }
  }
  const missed = values.data === undefined ? outcomes.filter((outcome) => !meetsAim(outcome)) : [];
  return missed.length === 0
    ? ok(undefined)
    : err(`${missed.length} of ${outcomes.length} lines miss their aim`);
}

async function chosenStudies(values: Values): Promise<Result<readonly VerdictStudy[], string>> {
  const isChosen = ({ name }: VerdictStudy): boolean => values.studies?.includes(name) ?? true;
  if (values.data !== undefined) {
    const tables = await readStudy(values.data);
    if (!tables.ok) return tables;
    return ok(studiesFrom(values.data, () => tables.value, true).filter(isChosen));
  }
  const ofDesigns = (values.designs ?? designNames).flatMap((design) => studiesOf(design));
  const all = values.designs === undefined ? [...ofDesigns, ...studiesOfStructures()] : ofDesigns;
  const isDefault = ({ design, name }: VerdictStudy): boolean =>
    design === LARGE || design === STRUCTURES || name === SOUND;
  return ok(all.filter((study) => isChosen(study) && (values.designs !== undefined || isDefault(study))));
}

async function readStudy(folder: string): Promise<Result<StudyTables, string>> {
  const [responses, qMatrix] = [join(folder, 'responses.csv'), join(folder, 'q-matrix.csv')];
  const [answers, needs] = [await readTableFile(responses), await readTableFile(qMatrix)];
  if (!answers.ok) return answers;
  if (!needs.ok) return needs;
  const tables = readStudyTables({
    responses: { name: responses, text: answers.value },
    qMatrix: { name: qMatrix, text: needs.value },
  });
  return tables.ok ? tables : err(shorten(tables.error));
}

function meetsAim({ aim, right, studies }: Outcome): boolean {
  return right >= Math.ceil(aim * studies);
}

function report(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome) => {
    const { design, name, expected, studies, right, alarmed, conditions, eSteps, milliseconds } = outcome;
    const { low, high } = wilson(right, studies);
    const met = Object.entries(conditions)
      .toSorted(([, a], [, b]) => b - a)
      .map(([code, count]) => `${code} ${count}`);
    return [
      design,
      name,
      expected === ANY_FINDING ? '(cannot be found)' : expected === NO_FINDING ? '(no finding)' : expected,
      expected === ANY_FINDING ? '' : `${right}/${studies}`,
      expected === ANY_FINDING ? '' : `${low.toFixed(3)}-${high.toFixed(3)}`,
      `${alarmed}/${studies}`,
      eSteps.toFixed(0),
      (milliseconds / 1000).toFixed(2),
      met.join(', '),
    ];
  });
  const head = [
    'design',
    'study',
    'expected',
    'right',
    '95 % interval',
    'findings',
    'E-steps',
    's',
    'conditions',
  ];
  return renderTable([head, ...rows]);
}

await run(command.action(exits(main)));
