import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Principal } from '#shared/http/operation.ts';
import { anyPrincipal, confusableId, principalWith } from '#test/support/principal.ts';
import {
  authorizationOf,
  mayReadAdministration,
  mayReadCandidate,
  mayReadClass,
  mayReadSchool,
} from './claims.ts';

const lists = ['studentIds', 'classSourcedIds', 'schoolSourcedIds', 'administrationIds'] as const;
const rules = [
  ['a candidate', mayReadCandidate, 'studentIds'],
  ['a class', mayReadClass, 'classSourcedIds'],
  ['a school', mayReadSchool, 'schoolSourcedIds'],
] as const;

describe.each(rules)('%s', (_, mayRead, claim) => {
  it('is read by a caller with exactly its id in the claim for it, and by no other [RP-005, RP-313, RP-314]', () => {
    fc.assert(
      fc.property(anyPrincipal, confusableId, (principal, id) => {
        expect(mayRead(principal, id)).toBe(principal[claim].some((listed) => listed === id));
        expect(mayRead({ ...principal, [claim]: [...principal[claim], id] }, id)).toBe(true);
      }),
    );
  });
});

it('an administration is read by a caller with its own id, its class or its school in the claim for it, and by no other [RP-314]', () => {
  const known = fc.option(confusableId);
  fc.assert(
    fc.property(anyPrincipal, confusableId, known, known, (principal, administrationId, ...scope) => {
      const [classSourcedId, schoolSourcedId] = scope;
      const isListed =
        principal.administrationIds.some((id) => id === administrationId) ||
        principal.classSourcedIds.some((id) => id === classSourcedId) ||
        principal.schoolSourcedIds.some((id) => id === schoolSourcedId);
      const administration = { administrationId, classSourcedId, schoolSourcedId };
      expect(mayReadAdministration(principal, administration)).toBe(isListed);
    }),
  );
});

describe('the authorization that a cursor is bound to', () => {
  const textOf = (principal: Principal): string => JSON.stringify(authorizationOf(principal));
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    a.every((value) => b.includes(value)) && b.every((value) => a.includes(value));

  /** The same authorization, in another order and with repetitions. */
  const reordered = (principal: Principal): fc.Arbitrary<Principal> => {
    const repeated = (values: readonly string[]): fc.Arbitrary<string[]> => {
      const all = [...values, ...values.slice(0, 1)];
      return fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length });
    };
    const claims = ['scopes' as const, ...lists].map((name) => [name, repeated(principal[name])] as const);
    return fc.record(Object.fromEntries(claims)).map((changed) => ({ ...principal, ...changed }));
  };

  it('is the same exactly where everything is that a caller is known by or may read, in whatever order and however often claims say it [RP-303]', () => {
    const two = anyPrincipal.chain((a) => fc.tuple(fc.constant(a), fc.oneof(reordered(a), anyPrincipal)));
    fc.assert(
      fc.property(two, ([a, b]) => {
        const isSame =
          a.tenantId === b.tenantId &&
          a.sub === b.sub &&
          a.role === b.role &&
          same(a.scopes, b.scopes) &&
          lists.every((name) => same(a[name], b[name]));
        expect(textOf(a) === textOf(b)).toBe(isSame);
      }),
      { numRuns: 200 },
    );
  });

  it('counts each claim for itself, and where an id ends [RP-303]', () => {
    const changes: readonly Partial<Principal>[] = [
      {},
      { tenantId: 'tenant-b' },
      { sub: 'user-2' },
      { role: 'Teacher' },
      { scopes: ['id'] },
      ...lists.map((name) => ({ [name]: ['id'] })),
      { studentIds: ['i', 'd'] },
      { studentIds: ['i,d'] },
      { studentIds: ['ID'] },
    ];
    const fingerprints = changes.map((change) => textOf(principalWith(change)));
    expect(new Set(fingerprints).size).toBe(changes.length);
  });
});
