import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sourceService } from '#shared/contract/reports/problem.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import { problem } from '#shared/problems/registry.ts';
import { notFound, profileProblem, serviceOf, sourceProblem, together, type IdOrigin } from './problems.ts';

const fault = (kind: UpstreamFault['kind'], more: Partial<UpstreamFault> = {}): UpstreamFault => ({
  kind,
  service: 'results',
  operation: 'results.some_operation',
  transient: kind === 'unavailable',
  ...more,
});
const kindOf = (given: UpstreamFault, origin: IdOrigin): string => {
  const { status, code, dependency } = sourceProblem(given, origin);
  return `${status} ${code} ${dependency ?? '-'}`;
};

describe('a read that gave no answer', () => {
  const ours = '503 dependency-unavailable results';
  const gone = '503 dependency-incomplete results';
  const hidden = '404 not-found -';

  it.each<[UpstreamFault['kind'], Partial<UpstreamFault>, Record<IdOrigin, string>]>([
    ['unavailable', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['not-found', {}, { derived: gone, caller: hidden, confirmed: hidden }],
    ['conflict', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['malformed', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['wrong-tenant', {}, { derived: ours, caller: hidden, confirmed: ours }],
    ['forbidden', { status: 403 }, { derived: ours, caller: ours, confirmed: ours }],
    ['rejected', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['invalid', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['wrong-entity', {}, { derived: ours, caller: ours, confirmed: ours }],
    ['unauthorized', { status: 401 }, { derived: ours, caller: ours, confirmed: ours }],
    ['refused-id', { status: 422, retryAfterSeconds: 9 }, { derived: ours, caller: hidden, confirmed: ours }],
  ])('by whose id it was: %s %o is %o [RP-017, RP-316, RP-334]', (kind, more, expected) => {
    for (const origin of ['derived', 'caller', 'confirmed'] as const) {
      expect([origin, kindOf(fault(kind, more), origin)]).toEqual([origin, expected[origin]]);
      const made = sourceProblem(fault(kind, more), origin);
      if (made.status === 404) expect(made).toEqual(notFound());
      else expect([made.retryable, made.retryAfterSeconds]).toEqual([true, expect.any(Number)]);
    }
  });

  it.each([
    [30, 30],
    [0, 1],
    [86_400, 3_600],
  ])('passes the owner’s wish to wait %i s on as %i s', (asked, expected) => {
    const made = sourceProblem(fault('unavailable', { retryAfterSeconds: asked }), 'derived');
    expect(made.retryAfterSeconds).toBe(expected);
  });

  it('of the service profile waits for an operator only if it is not transient', () => {
    const waits = (['unreachable', 'missing'] as const).map(profileProblem);
    expect(waits.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([5, 300]);
  });
});

describe('the owner that receipts and problems name', () => {
  it('is a source of the answers’ schema for every operation, and the schema has no other but the engine [RP-084]', () => {
    const owners = new Set<string>(allOperations.map(serviceOf));
    expect(owners.add('mastery_engine')).toEqual(new Set(sourceService.options));
  });
});

it('reads side by side fail with one and the same problem in whatever order they are named and end, a 404 before all others [RP-316]', async () => {
  const failure = fc.oneof(
    fc.constant(notFound()),
    fc
      .constantFrom(...sourceService.options)
      .map((dependency) => problem('reports', 'dependency-unavailable', 503, { dependency })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.uniqueArray(failure, { minLength: 1, maxLength: 6, selector: ({ dependency }) => dependency }),
      fc.nat(3),
      async (scheduler, failures, successes) => {
        const results = [...failures.map((error) => err(error)), ...Array<unknown>(successes).fill(ok(1))];
        const reads = results.map((result, at) => [`${at}`, scheduler.schedule(Promise.resolve(result))]);
        const answered = together(Object.fromEntries(reads) as never);
        await scheduler.waitIdle();
        const rank = failures.map(({ dependency }) =>
          dependency === undefined ? -1 : sourceService.options.indexOf(dependency),
        );
        expect(await answered).toEqual(err(failures[rank.indexOf(Math.min(...rank))]));
      },
    ),
  );
});
