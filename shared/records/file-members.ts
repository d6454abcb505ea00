import { pointer } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { documentChecksum } from './checksum.ts';
import { partitionKey } from './record-key.ts';
import type { RecordKey } from './record-key.ts';

/**
 * Checks of the members that the files of all records share. A file may have defects of its form elsewhere: every check looks only
 * at members that have the right form, so that all defects are found in one pass.
 */

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
export function aliasDefects(value: string | undefined, at: string): readonly Defect[] {
  return value !== undefined && isMutableAlias(value)
    ? [{ pointer: at, message: 'is a mutable alias; name one immutable version' }]
    : [];
}

/** A record's own id must be immutable, addressable as one path segment, and short enough for a key. */
export function idDefects(
  kind: RecordKey['kind'],
  id: string | undefined,
  tenantId: string | undefined,
): readonly Defect[] {
  if (id === undefined) return [];
  const at = '/document/id';
  const defects = [...aliasDefects(id, at)];
  if (id === '.' || id === '..') {
    defects.push({ pointer: at, message: 'is a dot segment, which clients remove from a path' });
  }
  if (partitionKey({ kind, id, ...(tenantId === undefined ? {} : { tenantId }) }) === undefined) {
    defects.push({ pointer: at, message: 'is too long or not well-formed Unicode' });
  }
  return defects;
}

/** `tenantId` names the owner of a tenant record, and a system record has none [MA-104]. */
export function ownerDefects(visibility: string | undefined, file: unknown): readonly Defect[] {
  const named = typeof file === 'object' && file !== null && Object.hasOwn(file, 'tenantId');
  if (visibility === 'tenant' && !named) {
    return [{ pointer: '/tenantId', message: 'is required while visibility is `tenant`' }];
  }
  if (visibility === 'system' && named) {
    return [{ pointer: '/tenantId', message: 'is forbidden while visibility is `system`' }];
  }
  return [];
}

/** A sunset needs a deprecation and must not precede it [MA-050]. */
export function lifecycleDefects(
  lifecycle: { readonly deprecatedAt?: string | undefined; readonly sunsetAt?: string | undefined },
  prefix = '',
): readonly Defect[] {
  if (lifecycle.sunsetAt === undefined) return [];
  const at = `${prefix}/sunsetAt`;
  if (lifecycle.deprecatedAt === undefined) {
    return [{ pointer: at, message: 'needs a deprecation as well' }];
  }
  return instant(lifecycle.sunsetAt) < instant(lifecycle.deprecatedAt)
    ? [{ pointer: at, message: 'must not be earlier than the deprecation' }]
    : [];
}

/** An instant that a schema has already accepted. */
export function instant(text: string): number {
  return parseInstant(text) ?? Number.NaN;
}

/** Compares a stated checksum with the computed one; an absent one is no defect: it is filled in. */
export function checksumDefects(document: Readonly<Record<string, unknown>>): readonly Defect[] {
  const stated = document['checksum'];
  const computed = documentChecksum(document);
  return stated === undefined || stated === computed
    ? []
    : [{ pointer: '/document/checksum', message: `is not the document's checksum, which is ${computed}` }];
}

/** Each repetition in a list, at the place of the later one. Undefined stands for an entry of a wrong form, which repeats nothing. */
export function repetitionDefects(
  values: readonly (string | undefined)[],
  path: readonly PropertyKey[],
): readonly Defect[] {
  const first = new Map<string, number>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    const earlier = first.get(value);
    if (earlier === undefined) {
      first.set(value, index);
      return [];
    }
    return [{ pointer: pointer(...path, index), message: `repeats entry ${earlier}` }];
  });
}
