import * as z from 'zod';
import { defectIf, member, type Defect } from '#shared/kernel/defect.ts';
import { cellBinding, sourceFrame } from './schema.ts';

/** What keeps one source from being released, and how far its bindings are. */
export interface SourceReadiness {
  /** Each with a pointer into the catalog; a `ready` catalog must not have any. */
  readonly blockers: readonly Defect[];
  readonly rows: Progress;
  readonly cells: Progress;
}

/** What is bound of what is expected; undefined where the record does not say it in its form. */
interface Progress {
  readonly bound: bigint | undefined;
  readonly expected: bigint | undefined;
}

const fields = sourceFrame.shape;
const manifestFields = fields.public_inventory_cell_binding_manifest.shape;
const calibrationFields = fields.calibration.shape;
const manifestName = 'public_inventory_cell_binding_manifest';
/** What a binding repeats of its source. */
const boundIdentity = ['source_key', 'content_test_spec_id', 'content_version_id'] as const;

/**
 * What still blocks `ready`, source by source. Looks only at members that have their form, so that a record with defects elsewhere is told
 * everything at once.
 */
export function readinessOf(sources: readonly unknown[]): readonly SourceReadiness[] {
  const firstWith = new Map<string, number>();
  return sources.map((source, index) => {
    const at = ['source_assessments', index];
    const key = member(source, ['source_key'], fields.source_key);
    const earlier = key === undefined ? undefined : firstWith.get(key);
    if (key !== undefined && earlier === undefined) firstWith.set(key, index);
    const repeats = `repeats the key of source ${earlier ?? ''}`;
    const repeated = defectIf(earlier !== undefined, [...at, 'source_key'], repeats);
    const { blockers, ...progress } = sourceReadiness(source, at);
    return { blockers: [...repeated, ...blockers], ...progress };
  });
}

function sourceReadiness(source: unknown, at: readonly PropertyKey[]): SourceReadiness {
  const inManifest = <S extends z.ZodType>(name: string, schema: S) =>
    member(source, [manifestName, name], schema);
  const manifestAt = [...at, manifestName];
  const bindings = inManifest('bindings', z.array(z.unknown()));
  const rows = {
    bound: bindings === undefined ? undefined : BigInt(bindings.length),
    expected: toBigInt(inManifest('expected_public_row_count', manifestFields.expected_public_row_count)),
  };
  const cells = {
    bound: bindings === undefined ? undefined : sumOfCells(bindings),
    expected: toBigInt(
      inManifest('expected_positive_content_cell_count', manifestFields.expected_positive_content_cell_count),
    ),
  };
  return {
    rows,
    cells,
    blockers: [
      ...stateBlocker([...at, 'release_state'], member(source, ['release_state'], fields.release_state)),
      ...stateBlocker([...manifestAt, 'state'], inManifest('state', manifestFields.state)),
      ...(['authority', 'authority_version'] as const).flatMap((name) =>
        authorityBlocker([...manifestAt, name], inManifest(name, manifestFields[name])),
      ),
      ...countBlocker([...manifestAt, 'expected_public_row_count'], rows, 'public rows'),
      ...countBlocker([...manifestAt, 'expected_positive_content_cell_count'], cells, 'content cells'),
      ...bindingBlockers(source, bindings ?? [], [...manifestAt, 'bindings']),
      ...empiricalBlockers(source, at),
    ],
  };
}

function stateBlocker(at: readonly PropertyKey[], state = 'ready'): readonly Defect[] {
  return defectIf(state !== 'ready', at, `is ${state}`);
}

function authorityBlocker(
  at: readonly PropertyKey[],
  authority: string | null | undefined,
): readonly Defect[] {
  const what = authority === null ? 'null' : 'empty';
  return defectIf(authority === null || authority === '', at, `is ${what}: nobody has approved the bindings`);
}

/** Bindings of another source or authority, and public rows that are bound again. */
function bindingBlockers(
  source: unknown,
  bindings: readonly unknown[],
  at: readonly PropertyKey[],
): readonly Defect[] {
  const firstWith = new Map<string, number>();
  return bindings.flatMap((binding, index) => {
    const code = member(binding, ['public_row_code'], z.string());
    const earlier = code === undefined ? undefined : firstWith.get(code);
    if (code !== undefined && earlier === undefined) firstWith.set(code, index);
    return [
      ...boundIdentity.flatMap((name) =>
        differenceBlocker(
          [...at, index, name],
          member(binding, [name], z.string()),
          member(source, [name], z.string()),
          'is not that of the source around it',
        ),
      ),
      ...defectIf(
        earlier !== undefined,
        [...at, index, 'public_row_code'],
        `repeats the row of binding ${earlier ?? ''}`,
      ),
      ...(['authority', 'authority_version'] as const).flatMap((name) =>
        differenceBlocker(
          [...at, index, `binding_${name}`],
          member(binding, [`binding_${name}`], z.string()),
          member(source, [manifestName, name], z.string().min(1)),
          'is not that of the manifest around it',
        ),
      ),
    ];
  });
}

/** Expected identities of another tenant, source or calibration target. */
function empiricalBlockers(source: unknown, at: readonly PropertyKey[]): readonly Defect[] {
  const bindingsOf = calibrationFields.empirical_revision_bindings.shape;
  return Object.entries(bindingsOf).flatMap(([owner, { shape }]) =>
    Object.keys(shape.expected_identity.shape).flatMap((name) => {
      const path = ['calibration', 'empirical_revision_bindings', owner, 'expected_identity', name];
      // The target is the calibration's own; its form is not told, and only a text can be compared.
      const ours = name === 'calibration_target_id' ? ['calibration', name] : [name];
      return differenceBlocker(
        [...at, ...path],
        member(source, path, z.string()),
        member(source, ours, z.string()),
        `is not that of the ${name === 'calibration_target_id' ? 'calibration' : 'source'} around it`,
      );
    }),
  );
}

/** Looks only at two texts: what is no text has a defect of its own, or a form that is not told. */
function differenceBlocker(
  at: readonly PropertyKey[],
  theirs: string | undefined,
  ours: string | undefined,
  message: string,
): readonly Defect[] {
  return defectIf(theirs !== undefined && ours !== undefined && theirs !== ours, at, message);
}

function countBlocker(
  at: readonly PropertyKey[],
  { bound, expected }: Progress,
  what: string,
): readonly Defect[] {
  return defectIf(
    bound !== undefined && expected !== undefined && bound !== expected,
    at,
    `is ${expected ?? ''}; bound ${what}: ${bound ?? ''}`,
  );
}

/** Exact, however many cells each binding claims. */
function sumOfCells(bindings: readonly unknown[]): bigint | undefined {
  let sum = 0n;
  for (const binding of bindings) {
    const cells = member(binding, ['source_cell_count'], cellBinding.shape.source_cell_count);
    if (cells === undefined) return undefined;
    sum += BigInt(cells);
  }
  return sum;
}

const toBigInt = (count: number | undefined): bigint | undefined =>
  count === undefined ? undefined : BigInt(count);
