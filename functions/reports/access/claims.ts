import type { Principal } from '#shared/http/operation.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';

// Who may read what, from the verified claims alone. Ids are opaque: they are compared exactly as received, letter case included [RP-005].
// An absent claim is an empty list and lets nobody in (the reading of RP-314); one claim never stands in for another, nor does a role.

/** Whether the caller may read about a candidate: its attempts, its readiness, its history [RP-313]. */
export function mayReadCandidate({ studentIds }: Principal, candidateSourcedId: string): boolean {
  return studentIds.includes(candidateSourcedId);
}

/** Whether the caller may read about a class [RP-313]. */
export function mayReadClass({ classSourcedIds }: Principal, classSourcedId: string): boolean {
  return classSourcedIds.includes(classSourcedId);
}

/** Whether the caller may read about a school [RP-313]. */
export function mayReadSchool({ schoolSourcedIds }: Principal, schoolSourcedId: string): boolean {
  return schoolSourcedIds.includes(schoolSourcedId);
}

/** Whether the claims name an administration itself: then nobody has to be asked for whom it was. */
export function namesAdministration({ administrationIds }: Principal, administrationId: string): boolean {
  return administrationIds.includes(administrationId);
}

/** An administration, and whom it was for as far as that is known. */
interface AdministrationScope extends Pick<Administration, 'administrationId'> {
  readonly classSourcedId?: string | null;
  readonly schoolSourcedId?: string | null;
}

/** Whether the caller may act on an administration: its own id, or its class or school, is in the claims (the reading of RP-314). */
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
 * A caller's authorization in its one form, a JSON value for hashing: everything that decides what the caller may read, where claims that are
 * sets stand sorted, each value once. It is made of verified claims without `iat` and `exp`, never of the token, so a refreshed token has the
 * same one.
 */
export function authorizationOf(principal: Principal): Readonly<Record<string, string | readonly string[]>> {
  const claims = Object.entries<string | readonly string[]>({ ...principal });
  return Object.fromEntries(
    claims.map(([name, claim]) => [name, typeof claim === 'string' ? claim : [...new Set(claim)].toSorted()]),
  );
}
