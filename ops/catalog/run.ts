import { checkCatalog, checkCatalogForm } from '#shared/catalog/check.ts';
import { catalogHash, isHashVerifiable } from '#shared/catalog/hash.ts';
import { readCatalog, readJson } from '#shared/catalog/read.ts';
import { valueAt, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readFrom } from '#tools/terminal/file-failure.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import { explain } from './explain.ts';

export interface CatalogRuntime {
  /** Reads a file; if it is too large, at least one byte more than the limit. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly print: (line: string) => void;
  readonly paint: Paint;
}

const commands = { check, hash, explain: explainFile };

export type CatalogAction = keyof typeof commands;

/** `catalog check|hash|explain FILE`. @returns err: a sentence, followed by one line per defect of a record. */
export async function runCatalog(
  runtime: CatalogRuntime,
  action: CatalogAction,
  path: string,
): Promise<Result<undefined, string>> {
  const bytes = await readFrom(path, runtime.readFile);
  return bytes.ok ? commands[action](runtime, plainText(path), bytes.value) : err(plainText(bytes.error));
}

function check({ print }: CatalogRuntime, path: string, bytes: Uint8Array): Result<undefined, string> {
  const catalog = readCatalog(bytes);
  if (!catalog.ok) return err(refusal(path, catalog.error));
  const { source_assessments: sources, release_state: state } = catalog.value;
  print(`${path} is a valid release catalog: ${state}, ${sources.length} sources`);
  print(isHashVerifiable(catalog.value) ? 'hash verified' : notVerified);
  return ok(undefined);
}

const notVerified =
  'hash not verified: catalog_revision_hash_scope describes another hash than this command computes';

/** Returns the hash that the record should contain; its present hash does not matter. */
function hash({ print }: CatalogRuntime, path: string, bytes: Uint8Array): Result<undefined, string> {
  const record = readJson(bytes);
  if (!record.ok) return err(refusal(path, record.error));
  const stated = record.value;
  const hashed = isObject(stated) ? { ...stated, catalog_revision_hash: catalogHash(stated) } : stated;
  const checked = checkCatalog(hashed);
  if (!checked.ok) return err(refusal(path, checked.error));
  const { catalog_revision_hash: computed } = checked.value;
  if (!isHashVerifiable(checked.value)) print(notVerified);
  else if (valueAt(stated, ['catalog_revision_hash']) === computed) print('hash verified');
  else print(`${path} does not contain this hash yet`);
  print(computed);
  return ok(undefined);
}

/** Explains a record with a valid schema even if its members contradict each other; the command then fails anyway. */
function explainFile(
  { print, paint }: CatalogRuntime,
  path: string,
  bytes: Uint8Array,
): Result<undefined, string> {
  const record = readJson(bytes);
  const formed = record.ok ? checkCatalogForm(record.value) : record;
  if (!formed.ok) return err(refusal(path, formed.error));
  for (const line of explain(formed.value, paint)) print(line);
  const checked = checkCatalog(formed.value);
  return checked.ok ? ok(undefined) : err(refusal(path, checked.error));
}

/** Longer pointers come from excessively long member names. */
const MAX_POINTER = 300;

function refusal(path: string, defects: readonly Defect[]): string {
  const count = defects.length === 1 ? 'one defect' : `${defects.length} defects`;
  const lines = defects.map(({ pointer, message }) => {
    const shown = pointer.length > MAX_POINTER ? `${pointer.slice(0, MAX_POINTER)}…` : pointer;
    return `  ${shown === '' ? '(root)' : plainText(shown)}: ${plainText(message)}`;
  });
  return [`${path} is not a valid release catalog: ${count}`, ...lines].join('\n');
}

/** Returns whether a JSON value is an object; only an object has a hash without one of its members. */
function isObject(record: unknown): record is Readonly<Record<string, unknown>> {
  return typeof record === 'object' && record !== null && !Array.isArray(record);
}
