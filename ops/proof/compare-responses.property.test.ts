import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { withRandomIds, randomId } from './random-ids.ts';
import type { Reply } from './target.ts';
import { compareResponses } from './compare-responses.ts';

/** A denial as the service writes it, of one request. */
function denial(
  changes: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const requestId = randomUUID();
  return {
    status: 404,
    headers: new Headers({
      'Content-Type': 'application/problem+json',
      'X-Request-Id': requestId,
      Date: new Date().toUTCString(),
      ...headers,
    }),
    text: JSON.stringify({
      type: 'https://problems.school.org/not-found',
      detail: 'No such resource is visible to this caller.',
      instance: `urn:uuid:${requestId}`,
      requestId,
      traceId: randomUUID().replaceAll('-', ''),
      fieldErrors: null,
      ...changes,
    }),
  };
}

describe('compareResponses', () => {
  it('finds nothing between two occurrences of one denial [RP-316, MA-214]', () => {
    expect(compareResponses(denial(), denial())).toEqual([]);
    expect(compareResponses(denial({}, { Via: '1.1 a' }), denial({}, { Via: '1.1 b' }))).toEqual([]);
  });

  it('finds a header that only one has, whatever its value, and a value that differs [RP-316]', () => {
    expect(compareResponses(denial(), denial({}, { Age: '3' }))).toEqual([
      'only one of the two has the header age',
    ]);
    expect(compareResponses(denial(), denial({}, { Via: '1.1 a' }))).toEqual([
      'only one of the two has the header via',
    ]);
    expect(compareResponses(denial({}, { Vary: 'a' }), denial({}, { Vary: 'b' }))).toEqual([
      'the header vary differs',
    ]);
  });

  it('finds any other byte of the body, and names its place without its value [RP-316, RP-324]', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('detail', 'type', 'fieldErrors', 'another'),
        fc.string({ minLength: 1 }),
        (name, value) => {
          const found = compareResponses(denial(), denial({ [name]: value }));
          expect(found).toEqual([`the bodies differ at /${name}`]);
        },
      ),
    );
    const one = denial();
    expect(compareResponses(one, { ...one, text: `${one.text}\n` })).toEqual([
      'the bodies have the same members but different bytes',
    ]);
    expect(compareResponses({ ...one, text: 'a' }, { ...one, text: 'b' })).toEqual([
      'the bodies have the same members but different bytes',
    ]);
  });

  it('finds an occurrence that is named in another form: it tells as much as any text [RP-326, MA-207]', () => {
    for (const changes of [
      { instance: `urn:uuid:${randomUUID()}#tenant` },
      { requestId: randomUUID().toUpperCase().replaceAll(/\d/g, 'Z') },
      { traceId: 'short' },
      { traceId: undefined },
    ])
      expect(compareResponses(denial(), denial(changes))).not.toEqual([]);
  });
});

describe('randomId', () => {
  it('keeps length and form, and is another id [RP-316]', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uuid(), fc.stringMatching(/^[a-z]+-[0-9]{1,6}$/), fc.stringMatching(/^[\w.-]{8,60}$/)),
        (id) => {
          fc.pre(/[A-Za-z0-9]/.test(id));
          const other = randomId(id);
          expect(other).not.toBe(id);
          const formOf = (text: string): string =>
            text
              .replaceAll(/[0-9]/g, '0')
              .replaceAll(/[a-f]/g, 'a')
              .replaceAll(/[g-z]/g, 'g')
              .replaceAll(/[A-F]/g, 'A')
              .replaceAll(/[G-Z]/g, 'G');
          expect(formOf(other)).toBe(formOf(id));
        },
      ),
    );
  });

  it('is put in place of ids only', () => {
    const path = { schoolSourcedId: 'school-0123', grade: '05', sourceKey: 'state-5' };
    const made = withRandomIds({ route: readAttemptReport, path, query: { view: 'evidence' } });
    expect(made).toMatchObject({ path: { grade: '05', sourceKey: 'state-5' }, query: { view: 'evidence' } });
    expect(made.path?.['schoolSourcedId']).not.toBe('school-0123');
  });
});
