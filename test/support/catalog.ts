import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalog } from '#shared/catalog/check.ts';
import { catalogHash } from '#shared/catalog/hash.ts';
import type { ReleaseCatalog } from '#shared/catalog/schema.ts';
import { changed } from './changed.ts';

type Catalog = Readonly<Record<string, unknown>>;

/** The example of docs/catalog.md: a blocked catalog, its first source ready and its second not. */
export function blockedCatalog(): Catalog {
  const path = join(import.meta.dirname, '../../docs/catalog.example.json');
  return JSON.parse(readFileSync(path, 'utf8')) as Catalog;
}

/** The same catalog once its second source has all its bindings and the catalog is released. */
export function readyCatalog(): Catalog {
  const manifest = 'source_assessments/1/public_inventory_cell_binding_manifest';
  const { source_assessments: sources } = blockedCatalog() as unknown as ReleaseCatalog;
  const [binding] = sources[1]!.public_inventory_cell_binding_manifest.bindings;
  return [
    ['release_state', 'ready'],
    ['release_behavior/create_http_status', 202],
    ['release_behavior/operation_created', true],
    ['source_assessments/1/release_state', 'ready'],
    [`${manifest}/state`, 'ready'],
    [`${manifest}/authority_version`, '2026.2'],
    [`${manifest}/expected_public_row_count`, 2],
    [`${manifest}/bindings/1`, { ...binding, public_row_code: 'RR4-2', source_cell_count: 4 }],
  ].reduce<Catalog>((catalog, [path, to]) => withChange(catalog, path as string, to), blockedCatalog());
}

/** The catalog with another value at a path (undefined removes it), and the hash of what it has become, unless the hash itself is changed. */
export function withChange(catalog: Catalog, path: string, to: unknown): Catalog {
  return path.startsWith('catalog_revision_hash')
    ? (changed(catalog, path, to) as Catalog)
    : withHash(changed(catalog, path, to) as Catalog);
}

/** The catalog with the hash of what it is. */
export function withHash(catalog: Catalog): Catalog {
  return { ...catalog, catalog_revision_hash: catalogHash(catalog) };
}

/** What is wrong with a record, as pointers, in the order in which it is told. */
export function pointersOf(record: unknown): readonly string[] {
  const checked = checkCatalog(record);
  return checked.ok ? [] : checked.error.map(({ pointer }) => pointer);
}
