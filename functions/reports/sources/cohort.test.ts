import { describe, expect, it } from 'vitest';
import type { CohortScope } from '#shared/contract/reports/cohort-report.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script } from '#test/support/scripted-owners.ts';
import { readCohort } from './cohort.ts';
import { createSourceReader } from './reader.ts';
import { notFound } from './problems.ts';

const classScope: CohortScope = { type: 'class', classSourcedId: 'class-1' };
const gradeScope: CohortScope = { type: 'school_grade', schoolSourcedId: 'school-1', grade: '05' };

const rollup = (scope: object) => ({
  value: {
    tenantId: 'tenant-1',
    rollupId: 'rollup-1',
    version: '3',
    freshness: 'current',
    scope,
    formulaVersion: 'formula-1',
    asOf: '2026-01-01T00:00:00Z',
    populationCount: 12,
    suppression: { status: 'not_suppressed' },
    measures: [],
  },
});

const script = {
  readClass: { value: { class: { sourcedId: 'class-1', status: 'active' } } },
  readSchool: { value: { org: { sourcedId: 'school-1', status: 'active' } } },
  readClassRollup: rollup(classScope),
  readSchoolGradeRollup: rollup(gradeScope),
} satisfies Script;

async function read(scope: CohortScope, changes: Script = {}) {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const result = await readCohort(reader, scope);
  const said = result.ok
    ? 'facts'
    : [result.error.status, result.error.code, result.error.dependency ?? '-'].join(' ');
  return { owners, result, said };
}

describe('a cohort', () => {
  it.each([
    [classScope, ['readClass', 'readClassRollup'], { classSourcedId: 'class-1' }],
    [gradeScope, ['readSchool', 'readSchoolGradeRollup'], { schoolSourcedId: 'school-1', grade: '05' }],
  ] as const)(
    'is what Analytics says of it, beside what the roster says: %j [RP-004, RP-130]',
    async (scope, names, path) => {
      const { owners, result } = await read(scope);
      expect(owners.names()).toEqual(names);
      expect(owners.asked.at(1)?.call.path).toEqual(path);
      expect(result).toMatchObject({
        ok: true,
        value: {
          scope,
          rollup: {
            receipt: { service: 'analytics', resourceId: 'rollup-1', version: '3', status: 'current' },
          },
        },
      });
    },
  );

  it.each<[string, Script]>([
    ['not on the roster', { readClass: { kind: 'not-found' } }],
    [
      'about to leave the roster',
      { readClass: { value: { class: { sourcedId: 'class-1', status: 'tobedeleted' } } } },
    ],
    [
      'not on the roster, while Analytics is down',
      { readClass: { kind: 'not-found' }, readClassRollup: { kind: 'unavailable' } },
    ],
    ['never analysed by Analytics', { readClassRollup: { kind: 'not-found' } }],
  ])('that is %s is the one 404 [RP-240, RP-316]', async (_, changes) => {
    expect((await read(classScope, changes)).result).toEqual({ ok: false, error: notFound() });
  });

  it.each<[Script, string]>([
    [{ readClassRollup: { kind: 'rejected', status: 403 } }, '503 dependency-unavailable analytics'],
    [{ readClassRollup: { kind: 'wrong-tenant' } }, '503 dependency-unavailable analytics'],
    [{ readClass: { kind: 'unavailable' } }, '503 dependency-unavailable oneroster'],
    [
      { readClass: { kind: 'unavailable' }, readClassRollup: { kind: 'unavailable' } },
      '503 dependency-unavailable analytics',
    ],
    [
      { readClass: { value: { class: { sourcedId: 'class-2', status: 'active' } } } },
      '503 dependency-unavailable oneroster',
    ],
  ])('is none, and no 404, where an owner has no answer: %j is %s [RP-017]', async (changes, expected) => {
    expect((await read(classScope, changes)).said).toBe(expected);
  });

  it.each([
    [classScope, { type: 'class', classSourcedId: 'class-2' }],
    [classScope, gradeScope],
    [gradeScope, { ...gradeScope, schoolSourcedId: 'school-2' }],
    [gradeScope, { ...gradeScope, grade: '06' }],
    [gradeScope, classScope],
  ])('%j is not what Analytics says of %j [RP-028, RP-129]', async (scope, other) => {
    const changes = { readClassRollup: rollup(other), readSchoolGradeRollup: rollup(other) };
    expect((await read(scope, changes)).said).toBe('503 dependency-unavailable analytics');
  });
});
