import * as z from 'zod';
import { schemaDefects } from '#shared/kernel/defect.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readNamedTable } from './csv.ts';
import type { NamedTable } from './csv.ts';
import { markMadeHere } from './made-here.ts';
import type { SeedFiles } from './made-here.ts';
import { calibrationFile, checkTable, oneModel } from './seed.ts';

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
  theta: calibrationFile.shape.theta,
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
type Parameters = z.output<typeof parametersFile>;

/** The texts of the three files. */
export interface ResponseFiles {
  readonly 'responses.csv': string;
  readonly 'q-matrix.csv': string;
  readonly 'parameters.json': string;
}

/**
 * Turns learners' responses, the items' skills and fitted parameters into the files of a seed with one bank, whose policy stops when
 * every skill is classified with a confidence of 0.8. Answers every defect of the inputs, a line each.
 */
export function seedFromResponses(
  files: ResponseFiles,
  given: { readonly name: string | undefined; readonly fallbackName: string },
): Result<SeedFiles, readonly string[]> {
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
  const bankName = given.name ?? slugOf(parameters.value.name ?? given.fallbackName);
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(bankName)) {
    defects.push(
      `the name "${bankName}" must be 1 to 64 of a-z, 0-9 and -, not beginning with -; see --name`,
    );
  }
  return defects.length === 0 ? ok(seedFiles(parameters.value, responses.value, bankName)) : err(defects);
}

function readParameters(text: string): Result<Parameters, readonly string[]> {
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

/** Names that repeat, components that do not exist, tables of the wrong length. */
function parameterDefects({ kcs, items }: Parameters): string[] {
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

function qMatrixDefects({ kcs, items }: Parameters, table: NamedTable): string[] {
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

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}

function seedFiles(parameters: Parameters, responses: NamedTable, bankName: string): SeedFiles {
  const title = parameters.title ?? parameters.name ?? bankName;
  return markMadeHere({
    'seed.json': { name: bankName, title, banks: [{ name: bankName }] },
    [`${bankName}/bank.json`]: {
      title,
      subject: parameters.subject ?? 'general',
      grades: parameters.grades ?? ['Other'],
      framework: `${title}: competency framework`,
      standards: [{ name: bankName, statement: `Solve the tasks of ${title}` }],
      kcs: parameters.kcs.map((kc) => ({ name: kc.kc, label: kc.label ?? kc.kc })),
      items: parameters.items.map((item) => ({
        name: item.item,
        stem: item.stem ?? item.item,
        kcs: item.kcs,
        standards: [bankName],
      })),
    },
    [`${bankName}/calibration.json`]: {
      theta: parameters.theta,
      kcs: parameters.kcs.map(({ kc, slope, location }) => ({ kc, slope, location })),
      items: parameters.items.map((item) =>
        'probabilities' in item
          ? { item: item.item, probabilities: item.probabilities }
          : { item: item.item, guess: item.guess, slip: item.slip },
      ),
      scale: { name: `${bankName}-scale`, base: 500, perTheta: 100 },
      anchor: { source: 'local-anchor-study', version: '2026', licenseScope: 'local development only' },
      mappingVersion: 'mapping-1',
      numericPrecision: 12,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2036-01-01T00:00:00.000Z',
      recoveryTolerance: 100,
      limitations: [
        `Fitted to ${responses.rows.length} learners; the scale is local and linked to no other.`,
      ],
    },
    [`${bankName}/policy.json`]: {
      kcCutScore: 0.5,
      confidenceThreshold: 0.8,
      // So small that the classifications decide, not the precision.
      precisionTarget: 0.0001,
      maxItems: parameters.items.length,
      timeBudgetSeconds: null,
      coverageFloors: [],
      eligibilityRules: { priorUse: 'exclude', poolMembership: 'manifest' },
    },
    [`${bankName}/learners.json`]: {
      learners: responses.rows.map((row) => ({
        name: row.name,
        answers: Object.fromEntries(responses.columns.map((item, at) => [item, Number(row.cells[at])])),
      })),
    },
  });
}
