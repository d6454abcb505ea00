import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { pointer, schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readFrom } from './file-failure.ts';
import { readTexts } from './study/files.ts';
import type { TableOptions } from './study/options.ts';
import { readStudyTables, withAnswers, type LearnerAnswers, type StudyTables } from './study/tables.ts';

/*
 * A study on disk: learners' answers, the items' knowledge components and fitted parameters. The seed command and the replay read it,
 * `npm run calibrate` writes it.
 */

/** The ability grid of a model: `nodes` equally spaced points from `min` to `max` under a normal prior. */
export const thetaGrid = z.strictObject({
  nodes: z.int().min(3).max(401),
  min: z.number(),
  max: z.number(),
  mean: z.number(),
  sd: z.number().positive(),
});

/** What an item's entry must contain: a union's own message does not have it. */
export const oneModel =
  'needs "item" and either "guess" and "slip" or "probabilities", each number above 0 and below 1';

const name = z.string().min(1).max(128);
const support = z.strictObject({ learners: z.int().positive(), bicGain: z.number() });

const blockKcs = (least: number, most: number) => z.array(name).min(least).max(most);

/** Blocks of a calibration, by the names of its knowledge components in place of their GUIDs. */
export const namedBlocks = z
  .array(
    z.discriminatedUnion('form', [
      z.strictObject({
        form: z.literal('hierarchy'),
        kcs: blockKcs(2, 12),
        prerequisites: z.array(z.array(name)),
        support,
      }),
      z.strictObject({
        form: z.literal('strand'),
        kcs: blockKcs(3, 12),
        correlation: z.number().gt(0).lt(1),
      }),
      z.strictObject({
        form: z.literal('saturated'),
        kcs: blockKcs(2, 5),
        slope: z.number().positive(),
        weights: z.array(z.number().nonnegative()),
        support,
      }),
    ]),
  )
  .exactOptional();

const success = z.number().gt(0).lt(1);
const itemFields = { item: name, kcs: z.array(name).min(1).max(12), stem: z.string().min(1).optional() };

/** `parameters.json` of a fitted model. */
const parametersFile = z.strictObject({
  name: z.string().min(1).optional(),
  title: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  subject: z.string().min(1).optional(),
  grades: z.array(z.string().min(1)).min(1).optional(),
  theta: thetaGrid,
  kcs: z
    .array(
      z.strictObject({
        kc: name,
        /** The curve; absent where a block states the probabilities. */
        slope: z.number().positive().exactOptional(),
        location: z.number().exactOptional(),
        label: z.string().min(1).optional(),
      }),
    )
    .min(1),
  blocks: namedBlocks,
  items: z
    .array(
      z.union(
        [
          z.strictObject({ ...itemFields, guess: success, slip: success }),
          z.strictObject({ ...itemFields, probabilities: z.array(success).min(2) }),
        ],
        `${oneModel}; "kcs" with 1 to 12 names; optionally "stem"`,
      ),
    )
    .min(1),
  link: z.string().optional(),
  fit: z.string().optional(),
});
export type StudyParameters = z.output<typeof parametersFile>;

/** The texts of the three files. */
export interface ResponseFiles {
  readonly 'responses.csv': string;
  readonly 'q-matrix.csv': string;
  readonly 'parameters.json': string;
}

/** A study whose three files agree; items in the order of the Q-matrix. */
export interface Study {
  readonly parameters: StudyParameters;
  readonly items: readonly string[];
  /** The learners with at least one answer. */
  readonly learners: readonly LearnerAnswers[];
  /** How many learners have none. */
  readonly leftOut: number;
}

/** The texts of a study's three files; the error names the first that cannot be read, and why. */
export async function readResponseFiles(directory: string): Promise<Result<ResponseFiles, string>> {
  const texts = await readTexts(join(directory, 'responses.csv'), join(directory, 'q-matrix.csv'));
  if (!texts.ok) return texts;
  const parameters = await readFrom(join(directory, 'parameters.json'), (path) => readFile(path, 'utf8'));
  if (!parameters.ok) return parameters;
  return ok({
    'responses.csv': texts.value.responses.text,
    'q-matrix.csv': texts.value.qMatrix.text,
    'parameters.json': parameters.value,
  });
}

/** The study of three files that agree with each other; else every defect, one line each. */
export function readStudy(files: ResponseFiles, options?: TableOptions): Result<Study, readonly string[]> {
  const parameters = readParameters(files['parameters.json']);
  const tables = readStudyTables(
    {
      responses: { name: 'responses.csv', text: files['responses.csv'] },
      qMatrix: { name: 'q-matrix.csv', text: files['q-matrix.csv'] },
    },
    options,
  );
  if (!parameters.ok || !tables.ok) {
    return err([
      ...(parameters.ok ? [] : parameters.error.map((defect) => `parameters.json${defect}`)),
      ...(tables.ok ? [] : tables.error),
    ]);
  }
  const defects = [...parameterDefects(parameters.value), ...qMatrixDefects(parameters.value, tables.value)];
  if (defects.length > 0) return err(defects);
  const learners = withAnswers(tables.value.learners);
  return ok({
    parameters: parameters.value,
    items: tables.value.items,
    learners,
    leftOut: tables.value.learners.length - learners.length,
  });
}

function readParameters(text: string): Result<StudyParameters, readonly string[]> {
  const json = parseStrictJson(text.replace(/^\uFEFF/, ''));
  if (!json.ok) {
    const place = json.error.path.length === 0 ? '' : `#${pointer(...json.error.path)}`;
    return err([`${place}: ${text.trim() === '' ? 'is empty' : `is not valid JSON (${json.error.kind})`}`]);
  }
  const parsed = parametersFile.safeParse(json.value);
  if (parsed.success) return ok(parsed.data);
  return err(schemaDefects(parsed.error).map((defect) => `#${defect.pointer}: ${defect.message}`));
}

/** A table over the patterns of an item's components: bit i of the index means that the item's i-th one is mastered. */
export function checkTable(
  probabilities: readonly number[],
  size: number,
  path: readonly PropertyKey[],
): readonly Defect[] {
  if (probabilities.length !== 2 ** size) {
    const message = `found ${probabilities.length} numbers; the item's ${size} knowledge components need ${2 ** size}`;
    return [{ pointer: pointer(...path), message }];
  }
  const falling = probabilities.findIndex((value, pattern) =>
    Array.from({ length: size }, (_, bit) => 1 << bit).some(
      (bit) => (pattern & bit) !== 0 && value < (probabilities[pattern ^ bit] ?? value),
    ),
  );
  return falling < 0
    ? []
    : [
        {
          pointer: pointer(...path, falling),
          message: 'must not be lower than with one knowledge component fewer',
        },
      ];
}

/** Names that repeat, components that do not exist, tables of the wrong length. */
function parameterDefects({ kcs, items, blocks = [] }: StudyParameters): string[] {
  const known = new Set(kcs.map((kc) => kc.kc));
  const stated = new Set(blocks.flatMap(({ form, kcs: own }) => (form === 'saturated' ? own : [])));
  return [
    ...kcs.flatMap(({ kc, slope, location }, at) =>
      (slope === undefined || location === undefined) && !stated.has(kc)
        ? [`parameters.json#/kcs/${at}: needs "slope" and "location"`]
        : [],
    ),
    ...blocks.flatMap((block, at) =>
      block.kcs
        .filter((kc) => !known.has(kc))
        .map((kc) => `parameters.json#/blocks/${at}/kcs: "${kc}" is not listed under kcs`),
    ),
    ...repetitions(
      kcs.map((kc) => kc.kc),
      (kc) => `parameters.json: the knowledge component "${kc}" is listed twice`,
    ),
    ...repetitions(
      items.map((item) => item.item),
      (item) => `parameters.json: the item "${item}" is listed twice`,
    ),
    ...items.flatMap((item, at) => {
      const place = `parameters.json#/items/${at}`;
      return [
        ...item.kcs
          .filter((kc) => !known.has(kc))
          .map((kc) => `${place}/kcs: "${kc}" is not listed under kcs`),
        ...repetitions(item.kcs, (kc) => `${place}/kcs: "${kc}" is listed twice`),
        ...('probabilities' in item
          ? checkTable(item.probabilities, item.kcs.length, ['items', at, 'probabilities']).map(
              (defect) => `parameters.json#${defect.pointer}: ${defect.message}`,
            )
          : []),
        ...('guess' in item && item.guess >= 1 - item.slip ? [`${place}/guess: must be below 1 - slip`] : []),
      ];
    }),
  ];
}

function qMatrixDefects({ kcs, items }: StudyParameters, tables: StudyTables): string[] {
  return [
    ...differences(
      kcs.map((kc) => kc.kc),
      tables.kcs,
      (kc) => `knowledge component "${kc}"`,
    ),
    ...differences(
      items.map((item) => item.item),
      tables.items,
      (item) => `item "${item}"`,
    ),
    ...items.flatMap((item) => {
      const own = tables.kcsOf[tables.items.indexOf(item.item)];
      if (own === undefined) return [];
      return tables.kcs.flatMap((kc, k) => {
        if (own.includes(k) === item.kcs.includes(kc)) return [];
        const [marked, listed] = own.includes(k) ? ['1', 'does not list it'] : ['0', 'lists it'];
        return [
          `q-matrix.csv: item "${item.item}", column "${kc}": found ${marked}, but parameters.json ${listed}`,
        ];
      });
    }),
  ];
}

/** Names of only one of the two files. */
function differences(
  ofParameters: readonly string[],
  ofTable: readonly string[],
  describe: (name: string) => string,
): string[] {
  return [
    ...ofParameters
      .filter((name) => !ofTable.includes(name))
      .map((name) => `q-matrix.csv: ${describe(name)} of parameters.json is missing`),
    ...ofTable
      .filter((name) => !ofParameters.includes(name))
      .map((name) => `parameters.json: ${describe(name)} of q-matrix.csv is missing`),
  ];
}

function repetitions(names: readonly string[], say: (name: string) => string): string[] {
  return [...new Set(names.filter((item, at) => names.indexOf(item) !== at))].map(say);
}

/** The first defects of a study, and how many more there are. */
export function shorten(lines: readonly string[]): string {
  const shown = lines.slice(0, 20);
  return [
    ...shown,
    ...(lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : []),
  ].join('\n');
}
