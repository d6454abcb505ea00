import { defectIf, type Defect } from './defect.ts';

/** A GUID as the mastery engine accepts it: a UUID of any version, in lower case (RFC 9562). */
export const CANONICAL_GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns why GUIDs are not in canonical form: each canonical, strictly ascending and hence without repetition [MA-026].
 * @param path returns the path of the GUID at an index
 */
export function guidDefects(
  guids: readonly string[],
  path: (index: number) => readonly PropertyKey[],
): readonly Defect[] {
  return guids.flatMap((guid, index) => {
    const before = guids[index - 1];
    const at = path(index);
    return [
      ...defectIf(!CANONICAL_GUID.test(guid), at, 'is no UUID in lower case'),
      ...defectIf(guid === before, at, 'repeats the GUID before it'),
      ...defectIf(before !== undefined && guid < before, at, 'is not in order: sort by GUID'),
    ];
  });
}

/** Returns whether a list names at least one GUID, in canonical form [MA-026]. */
export function areCanonicalGuids(guids: readonly string[]): boolean {
  return guids.length > 0 && guidDefects(guids, (index) => [index]).length === 0;
}
