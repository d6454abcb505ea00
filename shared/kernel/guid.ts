/** A GUID as the mastery engine takes it: a UUID of any version, in lower case (RFC 9562). */
export const CANONICAL_GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a list names GUIDs in their one form: not empty, each canonical, strictly ascending and hence without repetition [MA-026]. */
export function areCanonicalGuids(guids: readonly string[]): boolean {
  return (
    guids.length > 0 &&
    guids.every(
      (guid, index) => CANONICAL_GUID.test(guid) && (index === 0 || (guids[index - 1] ?? '') < guid),
    )
  );
}
