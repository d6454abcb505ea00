import * as z from 'zod';
import { defectIf, firstOfEach, member, pointer, schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { catalogHash, isHashVerifiable } from './hash.ts';
import { decideQuickstart } from './quickstart.ts';
import { readinessOf } from './readiness.ts';
import { catalogFrame, cellBinding, MAX_SOURCES, sourceFrame, testedStandard } from './schema.ts';
import type { ReleaseCatalog } from './schema.ts';

/** The most defects that are listed; all further ones count as one, since a file can contain millions. */
export const MAX_DEFECTS = 1_000;

/**
 * Checks a catalog: its form, and if that is right, the consistency of its members, and its hash if the scope text is ours. Returns all defects of
 * the first check that fails, each with a JSON Pointer into the record. The record must be I-JSON (`readJson`); it is returned unchanged, including
 * members beyond the form.
 */
export function checkCatalog(record: unknown): Result<ReleaseCatalog, readonly Defect[]> {
  const formed = checkCatalogForm(record);
  return formed.ok ? resultOf(record, consistencyDefects(formed.value)) : formed;
}

export function checkCatalogForm(record: unknown): Result<ReleaseCatalog, readonly Defect[]> {
  return resultOf(record, formDefects(record));
}

function resultOf(record: unknown, found: Iterable<Defect>): Result<ReleaseCatalog, readonly Defect[]> {
  const defects: Defect[] = [];
  for (const defect of found) {
    if (defects.length === MAX_DEFECTS)
      return err([...defects, { pointer: '', message: `has more defects than these ${MAX_DEFECTS}` }]);
    defects.push(defect);
  }
  // SAFETY: without a defect of its form, every part has passed the schema that `ReleaseCatalog` is made of.
  return defects.length === 0 ? ok(record as ReleaseCatalog) : err(defects);
}

/** Yields what the schema rejects, part by part. */
function* formDefects(record: unknown): Generator<Defect> {
  yield* schemaDefectsAt(catalogFrame, record, []);
  for (const [index, source] of sourcesOf(record).entries()) {
    const at = ['source_assessments', index];
    yield* schemaDefectsAt(sourceFrame, source, at);
    for (const [path, schema] of [
      [['tested_standard_inventory'], testedStandard],
      [['public_inventory_cell_binding_manifest', 'bindings'], cellBinding],
    ] as const) {
      for (const [place, entry] of (member(source, path, z.array(z.unknown())) ?? []).entries()) {
        yield* schemaDefectsAt(schema, entry, [...at, ...path, place]);
      }
    }
  }
}

function schemaDefectsAt(schema: z.ZodType, value: unknown, at: readonly PropertyKey[]): readonly Defect[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  const prefix = pointer(...at);
  // Only the first issue per place: zod checks the length of any value that has one, even where a string is expected.
  return firstOfEach(schemaDefects(parsed.error, value), (defect) => defect.pointer).map((defect) => ({
    ...defect,
    pointer: prefix + defect.pointer,
  }));
}

/** Returns the sources up to the allowed number; a greater number is one defect, and the remaining sources are not checked. */
function sourcesOf(record: unknown): readonly unknown[] {
  return (member(record, ['source_assessments'], z.array(z.unknown())) ?? []).slice(0, MAX_SOURCES);
}

/** Yields the contradictions between members. */
function* consistencyDefects(catalog: ReleaseCatalog): Generator<Defect> {
  const { release_state: state, release_behavior: behavior } = catalog;
  const { status, createsOperation } = decideQuickstart(catalog);
  for (const [name, demanded] of [
    ['create_http_status', status],
    ['operation_created', createsOperation],
  ] as const) {
    yield* defectIf(
      behavior[name] !== demanded,
      ['release_behavior', name],
      `must be ${String(demanded)} while the catalog is ${state}`,
    );
  }
  if (state === 'ready') {
    for (const { blockers } of readinessOf(catalog.source_assessments)) {
      yield* blockers.map((blocker) => ({
        ...blocker,
        message: `${blocker.message}, and the catalog is ready`,
      }));
    }
  }
  if (isHashVerifiable(catalog)) {
    const computed = catalogHash(catalog);
    yield* defectIf(
      catalog.catalog_revision_hash !== computed,
      ['catalog_revision_hash'],
      `is not the hash of this catalog, which is ${computed}`,
    );
  }
}
