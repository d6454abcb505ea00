import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/contract/mastery/problem.ts';
import { problemDocument } from './document.ts';
import { problemRows } from './registry.ts';
import type { Problem } from './problem.ts';

const occurrence = {
  problemsUrl: 'https://docs.example/problems',
  requestId: '6d8f3c1e-58a7-4a0e-9a53-3f8e5d0c1b2a',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
};

const carried = {
  currentEtag: '"v1"',
  upstream: { service: 'qti', operation: 'qti.read_adaptive_pool_root' },
  dependency: 'results',
} as const;
const occurrences = fc
  .record({
    row: fc.constantFrom(...problemRows),
    retryable: fc.boolean(),
    invalidParams: fc.array(
      fc.record({
        name: fc.constant('/body/a'),
        reason: fc.constant('required'),
        message: fc.constant('is required'),
      }),
      { maxLength: 100 },
    ),
    operationId: fc.option(fc.constant('op_1')),
  })
  .map(({ row, retryable, invalidParams, operationId }): Problem => ({
    service: row.service,
    code: row.code,
    status: row.status,
    detail: row.detail,
    retryable: row.retryable === 'occurrence' ? retryable : row.retryable,
    ...Object.fromEntries(
      row.carries === undefined ? [] : [[row.carries, { ...carried, invalidParams }[row.carries]]],
    ),
    ...(row.service === 'reports' && operationId !== null ? { operationId } : {}),
  }));

describe('problem documents', () => {
  it('fit the envelope of their service: absent members there, nulls here [MA-205, MA-206, MA-019, RP-322, RP-325, RP-327, RP-329]', () => {
    fc.assert(
      fc.property(occurrences, (problem) => {
        const document = problemDocument(problem, occurrence);
        const schema = problem.service === 'mastery' ? masteryProblem : reportsProblem;
        expect(schema.parse(document)).toEqual(document);
        expect(document.status).toBe(problem.status);
        expect(document.type).toBe(`https://docs.example/problems/${problem.code}`);
        for (const status of [399, 404.5, 600])
          expect(schema.safeParse({ ...document, status }).success).toBe(false);
        if (problem.service === 'mastery') expect(JSON.stringify(document)).not.toContain('null');
        else {
          expect(document).toMatchObject({
            dependency: problem.dependency ?? null,
            operationId: problem.operationId ?? null,
            fieldErrors:
              problem.invalidParams?.map(({ name, reason, message }) => ({
                pointer: name,
                code: reason,
                message,
              })) ?? null,
          });
          const type = document.type.replace('https:', 'http:');
          expect(schema.safeParse({ ...document, type }).success).toBe(false);
        }
      }),
    );
  });

  it('never hold anything that was put on a problem beside its declared members [MA-207, MA-210, MA-213, RP-324, RP-326]', () => {
    fc.assert(
      fc.property(occurrences, fc.string({ minLength: 12, maxLength: 40 }), (problem, submitted) => {
        const canary = `canary:${submitted}`;
        const polluted = {
          ...problem,
          value: canary,
          title: canary,
          instance: canary,
          type: canary,
          cause: canary,
          ...(problem.upstream && { upstream: { ...problem.upstream, host: canary, body: canary } }),
          ...(problem.invalidParams && {
            invalidParams: problem.invalidParams.map((one) => ({ ...one, value: canary, input: canary })),
          }),
        } as Problem;
        expect(JSON.stringify(problemDocument(polluted, occurrence))).not.toContain('canary:');
      }),
    );
  });

  it('refuse a problem that no row registers', () => {
    expect(() =>
      problemDocument(
        { service: 'mastery', code: 'nope', status: 400, detail: 'x', retryable: false },
        occurrence,
      ),
    ).toThrow(TypeError);
  });
});
