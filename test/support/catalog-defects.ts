import fc from 'fast-check';
import { pointer } from '#shared/kernel/defect.ts';
import { blockedCatalog, withHash } from './catalog.ts';
import { changed } from './changed.ts';

type Catalog = Readonly<Record<string, unknown>>;

/** A catalog with defects of its form, and the places of all of them. */
interface Defective {
  readonly record: Catalog;
  readonly pointers: readonly string[];
}

/** Members that may hold anything. */
const untyped = new Set([
  'identity_fields',
  'initial_creation_evidence',
  'cardinality',
  'promotion_rule',
  'quickstart_state',
  'ready_gate',
  'failure_atomicity',
  'empirical_revision_trigger',
  'calibration_policy_version',
  'scoring_policy_ref',
  'approval',
  'dereference_route',
  'credential_slot',
]);

type Path = readonly string[];

interface Place {
  readonly path: Path;
  readonly kind: 'object' | 'array' | 'leaf';
}

function isUntyped(path: Path): boolean {
  const name = path.at(-1) ?? '';
  // A binding's state and a calibration's target may hold anything; a manifest's state and an expected identity's target may not.
  if (name === 'state') return path.includes('empirical_revision_bindings');
  if (name === 'calibration_target_id') return !path.includes('expected_identity');
  return untyped.has(name);
}

/** Every place below a value whose form is told. */
function placesOf(value: unknown, path: Path = []): readonly Place[] {
  if (path.length > 0 && isUntyped(path)) return [];
  const kind =
    typeof value !== 'object' || value === null ? 'leaf' : Array.isArray(value) ? 'array' : 'object';
  const inside =
    kind === 'leaf'
      ? []
      : Object.entries(value as object).flatMap(([name, member]) => placesOf(member, [...path, name]));
  return path.length === 0 ? inside : [{ path, kind }, ...inside];
}

const wrong = {
  object: fc.constantFrom<unknown>(null, [], 'x', 7, true),
  array: fc.constantFrom<unknown>(null, {}, 'x', 7, true),
  leaf: fc.constantFrom<unknown>({}, [], ['x'], { length: 1 }),
};

const places = placesOf(blockedCatalog());
const closedObjects = places
  .map(({ path }) => path)
  .filter((path) => {
    const [last, before] = [path.at(-1), path.at(-2)];
    const closed = [
      'public_inventory_cell_binding_manifest',
      'empirical_revision_bindings',
      'expected_identity',
    ];
    return closed.includes(last ?? '') || before === 'bindings';
  });
const members = new Set(places.map(({ path }) => path.at(-1)));

/** One change that makes one defect. */
const oneDefect: fc.Arbitrary<{ readonly path: Path; readonly to: unknown }> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...places).chain(({ path, kind }) => wrong[kind].map((to) => ({ path, to }))),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...places.filter(({ path }) => !/^\d+$/.test(path.at(-1) ?? '')))
      .map(({ path }) => ({ path, to: undefined })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...closedObjects),
        // `changed` takes a path with slashes and assigns by name.
        fc
          .string({ maxLength: 8 })
          .filter((name) => !name.includes('/') && name !== '__proto__' && !members.has(name)),
        fc.jsonValue({ maxDepth: 1 }),
      )
      .map(([path, name, to]) => ({ path: [...path, name], to })),
  },
);

/** Sound but for one to twelve defects, none of which lies inside another. */
export const defectiveCatalog: fc.Arbitrary<Defective> = fc
  .array(oneDefect, { minLength: 1, maxLength: 12 })
  .map((changes) =>
    changes.filter(({ path }, index) =>
      changes.slice(0, index).every((earlier) => areApart(path, earlier.path)),
    ),
  )
  .map((changes) => {
    const record = changes.reduce<unknown>(
      (catalog, { path, to }) => changed(catalog, path.join('/'), to),
      blockedCatalog(),
    ) as Catalog;
    return {
      record: changes.some(({ path }) => path[0] === 'catalog_revision_hash') ? record : withHash(record),
      pointers: changes.map(({ path }) => pointer(...path)),
    };
  });

function areApart(one: Path, other: Path): boolean {
  const shorter = Math.min(one.length, other.length);
  return one.slice(0, shorter).some((step, index) => step !== other[index]);
}
