import fc from 'fast-check';
import type { Principal } from '#shared/http/operation.ts';

/** A caller without scopes and resource claims but for the given ones. */
export function principalWith(claims: Partial<Principal> = {}): Principal {
  return {
    tenantId: 'tenant-a',
    sub: 'user-1',
    role: 'teacher',
    scopes: [],
    studentIds: [],
    classSourcedIds: [],
    schoolSourcedIds: [],
    administrationIds: [],
    ...claims,
  };
}

/** Ids that are easily taken for one another: letter case, white space, composed and decomposed letters, prefixes. */
export const confusableId: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'student-1',
    'Student-1',
    'student-1 ',
    'student-',
    'student-10',
    '\u00e9',
    'e\u0301',
    '*',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }).filter((text) => text.isWellFormed()),
);

const ids = fc.array(confusableId, { maxLength: 3 });

/** Callers that differ in little. */
export const anyPrincipal: fc.Arbitrary<Principal> = fc.record({
  tenantId: fc.constantFrom('tenant-a', 'tenant-b'),
  sub: fc.constantFrom('user-1', 'user-2'),
  role: fc.constantFrom('teacher', 'Teacher'),
  scopes: fc.subarray(['reports:read', 'reports:write']),
  studentIds: ids,
  classSourcedIds: ids,
  schoolSourcedIds: ids,
  administrationIds: ids,
});
