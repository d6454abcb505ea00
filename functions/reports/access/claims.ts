import type { Principal } from '#shared/http/operation.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';

// Decides who may read what, from the verified claims only. Ids are opaque: they are compared exactly as received, including letter case [RP-005]. An
// absent claim is an empty list and admits no caller (the reading of RP-314). No claim replaces another one, nor does a role.

/** Returns whether the caller may read about a candidate: its attempts, its readiness, its history [RP-313]. */
export function mayReadCandidate({ studentIds }: Principal, candidateSourcedId: string): boolean {
  return studentIds.includes(candidateSourcedId);
}

/** Returns whether the caller may read about a class [RP-313]. */
export function mayReadClass({ classSourcedIds }: Principal, classSourcedId: string): boolean {
  return classSourcedIds.includes(classSourcedId);
}

/** Returns whether the caller may read about a school [RP-313]. */
export function mayReadSchool({ schoolSourcedIds }: Principal, schoolSourcedId: string): boolean {
  return schoolSourcedIds.includes(schoolSourcedId);
}

/** Returns whether the claims name an administration itself: then no owner has to be asked for its class or school. */
export function namesAdministration({ administrationIds }: Principal, administrationId: string): boolean {
  return administrationIds.includes(administrationId);
}

/** An administration with its class or school, as far as they are known. */
interface AdministrationScope extends Pick<Administration, 'administrationId'> {
  readonly classSourcedId?: string | null;
  readonly schoolSourcedId?: string | null;
}

/** Returns whether the caller may act on an administration: its own id, or its class or school, is in the claims (the reading of RP-314). */
export function mayReadAdministration(
  principal: Principal,
  { administrationId, classSourcedId = null, schoolSourcedId = null }: AdministrationScope,
): boolean {
  return (
    namesAdministration(principal, administrationId) ||
    (classSourcedId !== null && mayReadClass(principal, classSourcedId)) ||
    (schoolSourcedId !== null && mayReadSchool(principal, schoolSourcedId))
  );
}

/**
 * Returns a caller's authorization in canonical form, a JSON value for hashing: everything that decides what the caller may read. Claims that are
 * sets are sorted, each value once. It derives from verified claims without `iat` and `exp`, never from the token, so that a refresh does not change
 * it.
 */
export function authorizationOf(principal: Principal): Readonly<Record<string, string | readonly string[]>> {
  const claims = Object.entries<string | readonly string[]>({ ...principal });
  return Object.fromEntries(
    claims.map(([name, claim]) => [name, typeof claim === 'string' ? claim : [...new Set(claim)].toSorted()]),
  );
}
