import { defectIf, type Defect } from '#shared/kernel/defect.ts';
import type { ReleaseCatalog } from './schema.ts';

/** What prevents the release of one source, and the progress of its bindings. */
export interface SourceReadiness {
  /** Each with a pointer into the catalog; a `ready` catalog must not have any. */
  readonly blockers: readonly Defect[];
  readonly rows: Progress;
  readonly cells: Progress;
}

/** How much is bound, and how much is expected. */
interface Progress {
  readonly bound: bigint;
  readonly expected: bigint;
}

type Source = ReleaseCatalog['source_assessments'][number];

const manifestName = 'public_inventory_cell_binding_manifest';
/** The members that a binding repeats from its source. */
const boundIdentity = ['source_key', 'content_test_spec_id', 'content_version_id'] as const;
const authorities = ['authority', 'authority_version'] as const;

/** Returns what still blocks `ready`, per source. */
export function readinessOf(sources: readonly Source[]): readonly SourceReadiness[] {
  const firstWith = firstPlaces(sources.map(({ source_key: key }) => key));
  return sources.map((source, index) => {
    const at = ['source_assessments', index];
    const manifest = source[manifestName];
    const rows = {
      bound: BigInt(manifest.bindings.length),
      expected: BigInt(manifest.expected_public_row_count),
    };
    const cells = {
      // The sum is exact, however many cells each binding claims.
      bound: manifest.bindings.reduce((sum, { source_cell_count: count }) => sum + BigInt(count), 0n),
      expected: BigInt(manifest.expected_positive_content_cell_count),
    };
    const first = firstWith.get(source.source_key) ?? index;
    const blockers = [
      ...defectIf(first !== index, [...at, 'source_key'], `repeats the key of source ${first}`),
      ...stateBlocker([...at, 'release_state'], source.release_state),
      ...manifestBlockers(source, [...at, manifestName]),
      ...countBlocker([...at, manifestName, 'expected_public_row_count'], rows, 'public rows'),
      ...countBlocker([...at, manifestName, 'expected_positive_content_cell_count'], cells, 'content cells'),
      ...bindingBlockers(source, [...at, manifestName, 'bindings']),
      ...empiricalBlockers(source, [...at, 'calibration', 'empirical_revision_bindings']),
    ];
    return { blockers, rows, cells };
  });
}

function stateBlocker(at: readonly PropertyKey[], state: string): readonly Defect[] {
  return defectIf(state !== 'ready', at, `is ${state}`);
}

function manifestBlockers(source: Source, at: readonly PropertyKey[]): readonly Defect[] {
  const manifest = source[manifestName];
  return [
    ...stateBlocker([...at, 'state'], manifest.state),
    ...authorities.flatMap((name) => {
      const what = manifest[name] === null ? 'null' : 'empty';
      return defectIf(!manifest[name], [...at, name], `is ${what}: nobody has approved the bindings`);
    }),
  ];
}

function countBlocker(
  at: readonly PropertyKey[],
  { bound, expected }: Progress,
  what: string,
): readonly Defect[] {
  return defectIf(bound !== expected, at, `is ${expected}; bound ${what}: ${bound}`);
}

/** Yields bindings of another source or authority, and public rows that are bound again. */
function bindingBlockers(source: Source, at: readonly PropertyKey[]): readonly Defect[] {
  const { bindings, ...manifest } = source[manifestName];
  const firstWith = firstPlaces(bindings.map(({ public_row_code: code }) => code));
  return bindings.flatMap((binding, index) => {
    const first = firstWith.get(binding.public_row_code) ?? index;
    return [
      ...boundIdentity.flatMap((name) =>
        defectIf(binding[name] !== source[name], [...at, index, name], 'is not that of the source around it'),
      ),
      ...defectIf(first !== index, [...at, index, 'public_row_code'], `repeats the row of binding ${first}`),
      ...authorities.flatMap((name) =>
        defectIf(
          Boolean(manifest[name]) && binding[`binding_${name}`] !== manifest[name],
          [...at, index, `binding_${name}`],
          'is not that of the manifest around it',
        ),
      ),
    ];
  });
}

/** Yields expected identities of another tenant, source or calibration target. */
function empiricalBlockers(source: Source, at: readonly PropertyKey[]): readonly Defect[] {
  const { calibration_target_id: target, empirical_revision_bindings: owners } = source.calibration;
  return Object.entries(owners).flatMap(([owner, { expected_identity: expected }]) =>
    Object.entries(expected).flatMap(([name, theirs]) => {
      const isTarget = name === 'calibration_target_id';
      const ours = isTarget ? target : source[name];
      // The form of the target is not specified, and only a string can be compared.
      return defectIf(
        typeof ours === 'string' && theirs !== ours,
        [...at, owner, 'expected_identity', name],
        `is not that of the ${isTarget ? 'calibration' : 'source'} around it`,
      );
    }),
  );
}

function firstPlaces(values: readonly string[]): ReadonlyMap<string, number> {
  return new Map(values.map((value, index) => [value, index] as const).toReversed());
}
