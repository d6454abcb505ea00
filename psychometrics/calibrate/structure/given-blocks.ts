import * as z from 'zod';
import { pointer, schemaDefects } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readCsv } from '#tools/terminal/csv.ts';
import { closure, type Edge, type Prerequisites } from './prerequisites.ts';

/** KCs that may depend on each other, with their prerequisites if the author of the file knows some. */
export interface GivenBlock {
  /** Ascending indices. */
  readonly kcs: readonly number[];
  /** For all KCs of the study; those of other blocks are 0. */
  readonly required: Prerequisites | undefined;
}

/** What the file states of one KC. */
interface Line {
  /** Where in the file. */
  readonly place: string;
  readonly kc: string;
  readonly block: string;
  readonly requires: readonly string[];
}

const jsonFile = z.record(
  z.string().min(1),
  z.strictObject({ block: z.string().min(1), requires: z.array(z.string().min(1)).optional() }),
);

const COLUMNS = ['kc', 'block', 'requires'] as const;

/**
 * Reads blocks of KCs from JSON, `{"B": {"block": "fractions", "requires": ["A"]}}`, or from CSV with the columns kc, block and, if there are
 * prerequisites, requires: several of one KC are separated by semicolons. A KC that the file does not name, or without a block, is in none.
 */
export function readBlocks(
  text: string,
  kcs: readonly string[],
): Result<readonly GivenBlock[], readonly string[]> {
  const lines = text.trimStart().startsWith('{') ? fromJson(text) : fromCsv(text);
  if (!lines.ok) return lines;
  const blockOf = new Map(lines.value.map(({ kc, block }) => [kc, block]));
  const known = kcs.join(', ');
  const defects = lines.value.flatMap(({ place, kc, block, requires }, n) => [
    ...(kcs.includes(kc)
      ? []
      : [`${place}: "${kc}" is not a knowledge component of the Q-matrix: expected ${known}`]),
    ...(lines.value.findIndex((one) => one.kc === kc) === n ? [] : [`${place}: "${kc}" is there twice`]),
    ...requires
      .filter((other) => other === kc || blockOf.get(other) !== block)
      .map((other) =>
        other === kc
          ? `${place}: "${kc}" requires itself`
          : `${place}: "${kc}" requires "${other}", which is not in the block "${block}": prerequisites are within a block`,
      ),
  ]);
  if (defects.length > 0) return err(defects);
  const edges = lines.value.flatMap(({ kc, requires }) =>
    requires.map((other): Edge => [kcs.indexOf(other), kcs.indexOf(kc)]),
  );
  const closed = closure(kcs.length, edges);
  if (!closed.ok)
    return err([
      `"${kcs[closed.error] ?? ''}" requires itself through others: remove one prerequisite of the cycle`,
    ]);
  const blocks = [...Map.groupBy(lines.value, ({ block }) => block).values()]
    .map((own) => own.map(({ kc }) => kcs.indexOf(kc)).toSorted((a, b) => a - b))
    .filter((own) => own.length > 1)
    .map((own) => {
      const required = closed.value.map((bits, k) => (own.includes(k) ? bits : 0));
      return { kcs: own, required: required.some((bits) => bits > 0) ? required : undefined };
    });
  return blocks.length > 0 ? ok(blocks) : err(['no block has two knowledge components']);
}

function fromJson(text: string): Result<readonly Line[], readonly string[]> {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) {
    const { kind, path } = parsed.error;
    return err([`${path.length === 0 ? '' : `#${pointer(...path)}: `}it is not valid JSON (${kind})`]);
  }
  const blocks = jsonFile.safeParse(parsed.value);
  if (!blocks.success)
    return err(
      schemaDefects(blocks.error, parsed.value).map((defect) => `#${defect.pointer}: ${defect.message}`),
    );
  return ok(
    Object.entries(blocks.data).map(([kc, { block, requires = [] }]) => ({
      place: `#${pointer(kc)}`,
      kc,
      block,
      requires,
    })),
  );
}

function fromCsv(text: string): Result<readonly Line[], readonly string[]> {
  const table = readCsv(text);
  if (!table.ok) return err(table.error);
  const columns = table.value.header.map((name) => name.trim().toLowerCase());
  const [kcColumn = -1, blockColumn = -1, requiresColumn = -1] = COLUMNS.map((name) => columns.indexOf(name));
  if (kcColumn < 0 || blockColumn < 0)
    return err([
      `it needs the columns ${COLUMNS.join(', ')} (the last one only for prerequisites), or JSON as in docs/calibrate.md`,
    ]);
  return ok(
    table.value.rows.flatMap(({ cells, line }) => {
      const cell = (column: number): string => (cells[column] ?? '').trim();
      const requires = cell(requiresColumn)
        .split(';')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const own = { place: `line ${line}`, kc: cell(kcColumn), block: cell(blockColumn), requires };
      return own.block === '' && requires.length === 0 ? [] : [own];
    }),
  );
}
