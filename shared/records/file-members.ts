import type * as z from 'zod';
import { mutableAliases } from '#shared/contract/mastery/primitives.ts';
import { defectIf, schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { documentChecksum } from './checksum.ts';
import { partitionKey, type RecordKey } from './record-key.ts';
import type { Lifecycle } from './table.ts';

// Checks of the members that the files of all records share.

/** The file of a record, in which the release may compute the checksum. */
interface RecordFile extends Lifecycle {
  readonly tenantId?: string;
  readonly document: {
    readonly id: string;
    readonly visibility: 'tenant' | 'system';
    readonly checksum?: string | undefined;
  };
}

/**
 * Checks a record's file before the record becomes immutable, and fills in its checksum. Returns every defect of its form at once or, if the form is
 * right, every defect of its meaning, each with a JSON Pointer into the file, which must be I-JSON (`parseStrictJson`).
 * @param defectsOfKind returns the defects of the members that only this kind has
 */
export function checkRecordFile<File extends RecordFile>(
  file: unknown,
  kind: RecordKey['kind'],
  schema: z.ZodType<File>,
  defectsOfKind: (file: File) => readonly Defect[],
): Result<File & { readonly document: { readonly checksum: string } }, readonly Defect[]> {
  const { error, data } = schema.safeParse(file);
  if (error !== undefined) return err(schemaDefects(error));
  const { document, tenantId } = data;
  const checksum = documentChecksum(document);
  const defects = [
    ...ownerDefects(data),
    ...idDefects({ kind, id: document.id, ...(tenantId === undefined ? {} : { tenantId }) }),
    ...lifecycleDefects(data),
    ...digestDefects(document.checksum, checksum, ['document', 'checksum'], "document's checksum"),
    ...defectsOfKind(data),
  ];
  return defects.length > 0 ? err(defects) : ok({ ...data, document: { ...document, checksum } });
}

const MUTABLE: ReadonlySet<string> = new Set([...mutableAliases, 'head', 'main', 'live', 'next', 'edge']);

/** Returns whether an id ends in a name that moves (`latest`, `algebra@current`): such a name pins nothing [MA-051, MA-052]. */
function isMutableAlias(id: string): boolean {
  const last = id.split(/[^\p{L}\p{N}]+/u).findLast((word) => word !== '');
  return last !== undefined && MUTABLE.has(last.toLowerCase());
}

/** Checks a pinned version, anywhere in a record: it must not be a name that moves. */
export function aliasDefects(value: string, ...path: readonly string[]): readonly Defect[] {
  return defectIf(isMutableAlias(value), path, 'is a mutable alias; name one immutable version');
}

/** Checks that a record's own id is immutable, addressable as one path segment, and short enough for a key. */
function idDefects(key: RecordKey): readonly Defect[] {
  const at = ['document', 'id'];
  return [
    ...aliasDefects(key.id, ...at),
    ...defectIf(['.', '..'].includes(key.id), at, 'is a dot segment, which clients remove from a path'),
    ...defectIf(partitionKey(key) === undefined, at, 'is too long or not well-formed Unicode'),
  ];
}

/** Checks the owner: `tenantId` names that of a tenant record, and a system record has none [MA-104]. */
function ownerDefects({ document: { visibility }, tenantId }: RecordFile): readonly Defect[] {
  const verb = visibility === 'tenant' ? 'required' : 'forbidden';
  const isRight = (tenantId !== undefined) === (visibility === 'tenant');
  return defectIf(!isRight, ['tenantId'], `is ${verb} while visibility is \`${visibility}\``);
}

/** Checks that a sunset has a deprecation and does not precede it [MA-050]. */
export function lifecycleDefects({ deprecatedAt, sunsetAt }: Lifecycle): readonly Defect[] {
  if (sunsetAt === undefined) return [];
  const at = ['sunsetAt'];
  return deprecatedAt === undefined
    ? defectIf(true, at, 'needs a deprecation as well')
    : defectIf(instant(sunsetAt) < instant(deprecatedAt), at, 'must not be earlier than the deprecation');
}

/** Parses an instant that a schema has already accepted. */
export function instant(text: string): number {
  return parseInstant(text) ?? Number.NaN;
}

/** Compares a stated digest with the computed one; an absent one is no defect, since the release fills it in. */
export function digestDefects(
  stated: string | undefined,
  computed: string,
  path: readonly string[],
  what: string,
): readonly Defect[] {
  return defectIf(
    stated !== undefined && stated !== computed,
    path,
    `is not the ${what}, which is ${computed}`,
  );
}

/** Returns each repetition in a list, at the place of the later one. */
export function repetitionDefects(
  values: readonly string[],
  path: readonly PropertyKey[],
): readonly Defect[] {
  const first = new Map<string, number>();
  return values.flatMap((value, index) => {
    const earlier = first.get(value) ?? index;
    first.set(value, earlier);
    return defectIf(earlier < index, [...path, index], `repeats entry ${earlier}`);
  });
}
