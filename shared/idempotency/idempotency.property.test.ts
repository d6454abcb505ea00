import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { createIdempotency } from './idempotency.ts';

const T0 = Date.UTC(2026, 0, 31);
const down = problem('mastery', 'upstream-unavailable', 424, {
  upstream: { service: 'qti', operation: 'qti.offer_selected_item' },
  retryable: true,
});

/** What becomes of one run: `dies` stops without an answer or a release, as a function that is killed. */
const fates = fc.constantFrom('succeeds', 'fails', 'dies', 'throws');

const plans = fc
  .array(fates, { minLength: 2, maxLength: 6 })
  .filter((plan) => plan.some((fate) => fate !== 'dies'));

describe('any number of identical requests in any order of their steps', () => {
  it('do their work under one operation id, and none of them is answered a conflict or a store failure [MA-190]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, async (scheduler, plan) => {
        const clock = { now: T0 };
        const step = (): Promise<void> => scheduler.schedule(Promise.resolve());
        const table = createMemoryControlTable(step);
        let seed = 0;
        const idempotency = createIdempotency({
          table,
          keys: createMemoryKeyRing(),
          now: () => clock.now,
          sleep: async (milliseconds) => {
            const until = clock.now + milliseconds;
            await step();
            clock.now = Math.max(clock.now, until);
          },
          random: (bytes) => new Uint8Array(bytes).fill(++seed),
        });

        const written = new Set<string>();
        const request = async (fate: string): Promise<Result<string, Problem> | 'thrown'> => {
          const keyed = await idempotency({
            tenantId: 'tenant-aurora',
            method: 'POST',
            canonicalPath: '/v1/adaptive-runs',
            idempotencyKey: 'k',
            ifMatch: undefined,
            body: { a: 1 },
          });
          expect(keyed.reusedBy).toBeUndefined();
          try {
            return await keyed.run<string>(
              async (control) => {
                expect(table.records()[0]?.operationId).toBe(control.operationId);
                await step();
                written.add(control.operationId);
                await step();
                if (fate === 'dies') return new Promise(() => undefined);
                if (fate === 'throws') throw new RangeError('defect');
                return fate === 'fails' ? err(down) : ok(control.operationId);
              },
              {
                successStatus: 201,
                waitUntil: clock.now + 2_000,
                leaseUntil: clock.now + 3_000,
                conflict: () => {
                  throw new Error('an identical request is never a conflict');
                },
                log: () => undefined,
              },
            );
          } catch (error) {
            // A request's own defect comes through; nothing that Powertools or the table made of it does.
            expect(error).toBeInstanceOf(RangeError);
            return 'thrown';
          }
        };

        const answers = plan.map((fate) => ({ fate, answer: request(fate) }));
        const answered = answers.filter(({ fate }) => fate !== 'dies');
        await scheduler.waitFor(Promise.all(answered.map(({ answer }) => answer)));
        for (const { fate, answer } of answered) {
          const outcome = await answer;
          if (fate === 'throws') expect(outcome).toBe('thrown');
          else expect(outcome).toEqual(fate === 'fails' ? err(down) : ok([...written][0]));
        }
        expect(table.records()).toHaveLength(1);
        expect(written).toEqual(new Set([table.records()[0]?.operationId]));
        if (plan.includes('succeeds')) expect(table.records()[0]?.state).toBe('completed');
      }),
      { numRuns: 300 },
    );
  });
});
