import * as z from 'zod';
import { defectIf, distinctDefects, member, schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { documentChecksum } from './checksum.ts';
import { partitionKey } from './record-key.ts';
import type { RecordKey } from './record-key.ts';

/*
 * Checks of what the files of all records share. A file may have defects of its form elsewhere: every check looks only at members that have
 * the right form, so that all defects are found in one pass.
 */

interface Deprecation {
  readonly deprecatedAt?: string | undefined;
  readonly sunsetAt?: string | undefined;
}

/** The file of a record, in which the checksum may be left for the release to compute. */
interface RecordFile extends Deprecation {
  readonly document: { readonly checksum?: string | undefined };
}

/** Kind and form of a record's file. */
interface FileForm<File extends RecordFile> {
  readonly kind: RecordKey['kind'];
  readonly schema: z.ZodType<File>;
  /** The members of its document that every record has. */
  readonly members: { readonly id: z.ZodType<string>; readonly visibility: z.ZodType<string> };
}

/**
 * Checks a record's file before the record becomes immutable, and fills in its checksum. Returns every defect at once, each with a JSON Pointer into
 * the file, which must be I-JSON (`parseStrictJson`).
 * @param defectsOfKind what is wrong with the members that only this kind has; the file is given where it has its form
 */
export function checkRecordFile<File extends RecordFile>(
  file: unknown,
  { kind, schema, members }: FileForm<File>,
  defectsOfKind: (parsed: File | undefined) => readonly Defect[],
): Result<File & { readonly document: { readonly checksum: string } }, readonly Defect[]> {
  const { error, data } = schema.safeParse(file);
  const id = member(file, ['document', 'id'], members.id);
  const tenantId = member(file, ['tenantId'], z.string().min(1));
  const checksum = data === undefined ? '' : documentChecksum(data.document);
  const defects = distinctDefects([
    ...(error === undefined ? [] : schemaDefects(error)),
    ...ownerDefects(member(file, ['document', 'visibility'], members.visibility), file),
    ...idDefects(kind, id, tenantId),
    ...lifecycleDefects(data ?? {}),
    ...digestDefects(data?.document.checksum, checksum, ['document', 'checksum'], "document's checksum"),
    ...defectsOfKind(data),
  ]);
  if (data === undefined || defects.length > 0) return err(defects);
  return ok({ ...data, document: { ...data.document, checksum } });
}

const MUTABLE = new Set([
  'latest',
  'current',
  'newest',
  'stable',
  'head',
  'default',
  'main',
  'live',
  'next',
  'edge',
]);

/** Whether an id ends in a name that moves (`latest`, `algebra@current`): such a name pins nothing [MA-051, MA-052]. */
function isMutableAlias(id: string): boolean {
  const last = id.split(/[^\p{L}\p{N}]+/u).findLast((word) => word !== '');
  return last !== undefined && MUTABLE.has(last.toLowerCase());
}

/** A pinned version anywhere in a record must not be a name that moves. */
export function aliasDefects(value: string | undefined, ...path: readonly string[]): readonly Defect[] {
  return defectIf(
    value !== undefined && isMutableAlias(value),
    path,
    'is a mutable alias; name one immutable version',
  );
}

/** A record's own id must be immutable, addressable as one path segment, and short enough for a key. */
function idDefects(
  kind: RecordKey['kind'],
  id: string | undefined,
  tenantId: string | undefined,
): readonly Defect[] {
  if (id === undefined) return [];
  const at = ['document', 'id'];
  const key = { kind, id, ...(tenantId === undefined ? {} : { tenantId }) };
  return [
    ...aliasDefects(id, ...at),
    ...defectIf(id === '.' || id === '..', at, 'is a dot segment, which clients remove from a path'),
    ...defectIf(partitionKey(key) === undefined, at, 'is too long or not well-formed Unicode'),
  ];
}

/** `tenantId` names the owner of a tenant record, and a system record has none [MA-104]. */
function ownerDefects(visibility: string | undefined, file: unknown): readonly Defect[] {
  const named = typeof file === 'object' && file !== null && Object.hasOwn(file, 'tenantId');
  return [
    ...defectIf(visibility === 'tenant' && !named, ['tenantId'], 'is required while visibility is `tenant`'),
    ...defectIf(visibility === 'system' && named, ['tenantId'], 'is forbidden while visibility is `system`'),
  ];
}

/** A sunset needs a deprecation and must not precede it [MA-050]. */
export function lifecycleDefects({ deprecatedAt, sunsetAt }: Deprecation): readonly Defect[] {
  if (sunsetAt === undefined) return [];
  const at = ['sunsetAt'];
  return deprecatedAt === undefined
    ? defectIf(true, at, 'needs a deprecation as well')
    : defectIf(instant(sunsetAt) < instant(deprecatedAt), at, 'must not be earlier than the deprecation');
}

/** An instant that a schema has already accepted. */
export function instant(text: string): number {
  return parseInstant(text) ?? Number.NaN;
}

/** Compares a stated digest with the computed one; an absent one is no defect: it is filled in. */
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

/** Each repetition in a list, at the place of the later one. Undefined stands for an entry of a wrong form, which repeats nothing. */
export function repetitionDefects(
  values: readonly (string | undefined)[],
  path: readonly PropertyKey[],
): readonly Defect[] {
  const first = new Map<string | undefined, number>();
  return values.flatMap((value, index) => {
    const earlier = first.get(value) ?? index;
    first.set(value, earlier);
    return defectIf(value !== undefined && earlier < index, [...path, index], `repeats entry ${earlier}`);
  });
}
