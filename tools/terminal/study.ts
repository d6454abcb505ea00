import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { pointer, schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readNamedTable } from './csv.ts';
import type { NamedTable } from './csv.ts';
import { fileFailure } from './file-failure.ts';

/*
 * A study on disk: learners' responses, the items' knowledge components and fitted parameters. The seed command and the replay read it,
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

/** What an item's entry holds, in words: a union's own message says nothing. */
export const oneModel =
  'needs "item" and either "guess" and "slip" or "probabilities", each number above 0 and below 1';

const name = z.string().min(1).max(128);
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
        slope: z.number().positive(),
        location: z.number(),
        label: z.string().min(1).optional(),
      }),
    )
    .min(1),
  items: z
    .array(
      z.union(
        [
          z.strictObject({ ...itemFields, guess: success, slip: success }),
          z.strictObject({ ...itemFields, probabilities: z.array(success).min(2) }),
        ],
        `${oneModel}; "kcs" with 1 to 12 names; perhaps "stem"`,
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

/** A study whose three files agree. */
export interface Study {
  readonly parameters: StudyParameters;
  /** A row per learner; the columns are the items, each cell `0` or `1`. */
  readonly responses: NamedTable;
}

const NAMES = ['responses.csv', 'q-matrix.csv', 'parameters.json'] as const;

/** The texts of a study's three files; the error names the first that cannot be read, and why. */
export async function readResponseFiles(directory: string): Promise<Result<ResponseFiles, string>> {
  const texts: string[] = [];
  for (const name of NAMES) {
    try {
      texts.push(await readFile(join(directory, name), 'utf8'));
    } catch (error) {
      return err(`${join(directory, name)} cannot be read: ${fileFailure(error)}`);
    }
  }
  const [responses = '', qMatrix = '', parameters = ''] = texts;
  return ok({ 'responses.csv': responses, 'q-matrix.csv': qMatrix, 'parameters.json': parameters });
}

/** The study of three files that agree with each other; else every defect, one line each. */
export function readStudy(files: ResponseFiles): Result<Study, readonly string[]> {
  const parameters = readParameters(files['parameters.json']);
  const qMatrix = readNamedTable(files['q-matrix.csv']);
  const responses = readNamedTable(files['responses.csv']);
  const unread = [
    ...(parameters.ok ? [] : parameters.error.map((defect) => `parameters.json${defect}`)),
    ...(qMatrix.ok ? [] : qMatrix.error.map((defect) => `q-matrix.csv: ${defect}`)),
    ...(responses.ok ? [] : responses.error.map((defect) => `responses.csv: ${defect}`)),
  ];
  if (!parameters.ok || !qMatrix.ok || !responses.ok) return err(unread);
  const defects = [
    ...parameterDefects(parameters.value),
    ...binaryDefects(qMatrix.value, 'q-matrix.csv', 'item'),
    ...binaryDefects(responses.value, 'responses.csv', 'learner'),
    ...qMatrixDefects(parameters.value, qMatrix.value),
    ...differences(
      parameters.value.items.map((item) => item.item),
      responses.value.columns,
      (item, missing) =>
        missing
          ? `responses.csv: has no column for the item "${item}" of parameters.json`
          : `responses.csv: the column "${item}" is no item of parameters.json`,
    ),
  ];
  return defects.length === 0
    ? ok({ parameters: parameters.value, responses: responses.value })
    : err(defects);
}

function readParameters(text: string): Result<StudyParameters, readonly string[]> {
  const json = parseStrictJson(text.replace(/^\uFEFF/, ''));
  if (!json.ok) {
    const place = json.error.kind === 'duplicate-key' ? `#${json.error.pointer}` : '';
    return err([
      `${place}: ${text.trim() === '' ? 'is empty' : `is not acceptable JSON (${json.error.kind})`}`,
    ]);
  }
  const parsed = parametersFile.safeParse(json.value);
  if (parsed.success) return ok(parsed.data);
  return err(schemaDefects(parsed.error).map((defect) => `#${defect.pointer}: ${defect.message}`));
}

/** A table over the patterns of an item's components: bit i of the index says that the item's i-th one is mastered. */
export function checkTable(
  probabilities: readonly number[],
  size: number,
  path: readonly PropertyKey[],
): readonly Defect[] {
  if (probabilities.length !== 2 ** size) {
    const message = `holds ${probabilities.length} numbers; the item's ${size} knowledge components need ${2 ** size}`;
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
function parameterDefects({ kcs, items }: StudyParameters): string[] {
  const known = new Set(kcs.map((kc) => kc.kc));
  return [
    ...repetitions(
      kcs.map((kc) => kc.kc),
      (kc) => `parameters.json: the knowledge component "${kc}" stands there twice`,
    ),
    ...repetitions(
      items.map((item) => item.item),
      (item) => `parameters.json: the item "${item}" stands there twice`,
    ),
    ...items.flatMap((item, at) => {
      const place = `parameters.json#/items/${at}`;
      return [
        ...item.kcs
          .filter((kc) => !known.has(kc))
          .map((kc) => `${place}/kcs: "${kc}" is no knowledge component of the file`),
        ...repetitions(item.kcs, (kc) => `${place}/kcs: "${kc}" stands there twice`),
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

function binaryDefects(table: NamedTable, file: string, what: string): string[] {
  return table.rows.flatMap((row) =>
    row.cells.flatMap((cell, at) =>
      cell === '0' || cell === '1'
        ? []
        : [
            `${file}: row ${row.line} (${what} "${row.name}"), column "${table.columns[at] ?? ''}": must be 0 or 1, is "${cell}"`,
          ],
    ),
  );
}

function qMatrixDefects({ kcs, items }: StudyParameters, table: NamedTable): string[] {
  const rows = new Map(table.rows.map((row) => [row.name, row]));
  return [
    ...differences(
      kcs.map((kc) => kc.kc),
      table.columns,
      (kc, missing) =>
        missing
          ? `q-matrix.csv: has no column for the knowledge component "${kc}" of parameters.json`
          : `q-matrix.csv: the column "${kc}" is no knowledge component of parameters.json`,
    ),
    ...differences(
      items.map((item) => item.item),
      [...rows.keys()],
      (item, missing) =>
        missing
          ? `q-matrix.csv: has no row for the item "${item}" of parameters.json`
          : `q-matrix.csv: the row "${item}" is no item of parameters.json`,
    ),
    ...items.flatMap((item) => {
      const row = rows.get(item.item);
      if (row === undefined) return [];
      return table.columns.flatMap((kc, at) => {
        const inMatrix = row.cells[at] === '1';
        if (inMatrix === item.kcs.includes(kc)) return [];
        const disagreement = inMatrix
          ? 'is 1, but parameters.json does not list it'
          : 'is not 1, but parameters.json lists it';
        return [`q-matrix.csv: row ${row.line} (item "${item.item}"), column "${kc}": ${disagreement}`];
      });
    }),
  ];
}

function differences(
  expected: readonly string[],
  found: readonly string[],
  say: (name: string, missing: boolean) => string,
): string[] {
  return [
    ...expected.filter((item) => !found.includes(item)).map((item) => say(item, true)),
    ...found.filter((item) => !expected.includes(item)).map((item) => say(item, false)),
  ];
}

function repetitions(names: readonly string[], say: (name: string) => string): string[] {
  return [...new Set(names.filter((item, at) => names.indexOf(item) !== at))].map(say);
}

/** A study’s defects, the most of them that a reader wants to see at once. */
export function shorten(lines: readonly string[]): string {
  const shown = lines.slice(0, 20);
  return [
    ...shown,
    ...(lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : []),
  ].join('\n');
}
