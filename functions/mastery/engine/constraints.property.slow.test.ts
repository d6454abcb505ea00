import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bitsOf,
  broken,
  carrying,
  caseOf,
  contextOf,
  holds,
  planOf,
  selectionByDefinition,
  soundSets,
  tagsOf,
  within,
} from '#test/reference/selection-oracle.ts';
import type { Case, Rule } from '#test/reference/selection-oracle.ts';
import { feasibilityOf } from './feasibility.ts';
import { simulateRun } from './simulation.ts';

/** A learner without earlier runs, as a simulated one is. */
const metNothing = (value: Case): Case => ({ ...value, met: [] });

const stopping = fc.record({
  kcCutScore: fc.constantFrom(0.5, 0.7),
  confidenceThreshold: fc.constantFrom(0.5, 0.6, 0.9),
  precisionTarget: fc.constantFrom(1e-9, 0.5, 0.9),
});

describe('whole runs, whatever the answers', () => {
  it('meet all that could be met at the start, break no rule, and end for want of items only when there are none', () => {
    const ended = new Map<string, number>();
    const cases = caseOf({ pool: 8, run: 4 }).map(metNothing);
    const seeds = fc.string({ minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(cases, stopping, seeds, (value, rules, runSeed) => {
        const context = contextOf(value);
        const sound = soundSets(value);
        const coverageFloors = value.minima.slice(0, 2);
        // Every way in which as many answers can turn out.
        for (let answers = 0; answers < 2 ** value.maxItems; answers += 1) {
          let step = 0;
          const { evidence, stopReason } = simulateRun(
            context,
            { ...rules, numericPrecision: 12, coverageFloors, timeBudgetSeconds: null },
            runSeed,
            () => holds(answers, step++),
          );
          ended.set(stopReason, (ended.get(stopReason) ?? 0) + 1);
          const used = evidence.outcomes.map(({ item }) => item);
          expect(new Set(used).size).toBe(used.length);
          expect(broken(value, used)).toEqual([]);
          const meets = ({ guid, items }: Rule): boolean => carrying(value, used, guid) >= items;
          switch (stopReason) {
            case 'max_items': {
              expect(value.minima.map(meets)).toEqual(
                value.minima.map((_, m) => holds(planOf(sound, []), m)),
              );
              const run = {
                used,
                runSeed,
                sequence: used.length + 1,
                met: [],
                unsettled: [],
                rule: evidence.rule,
              };
              const left = selectionByDefinition(value, context, sound, evidence.estimate, run);
              expect(left).toBeTypeOf('string');
              break;
            }
            case 'precision_target_met':
              expect(coverageFloors.every(meets)).toBe(true);
              expect(evidence.remainingUncertainty).toBeLessThanOrEqual(rules.precisionTarget + 1e-11);
              break;
            case 'classifications_complete':
              expect(evidence.classifications).not.toContain('not_yet');
              break;
            case 'time_budget':
              expect.unreachable('there is no budget');
          }
        }
      }),
      { numRuns: 400 },
    );
    for (const reason of ['max_items', 'precision_target_met', 'classifications_complete'])
      expect(ended.get(reason) ?? 0, reason).toBeGreaterThan(10);
  });
});

describe('what a pool can do for a policy', () => {
  it('names each minimum that no set of items meets, and others, none of them for nothing, that keep one from being met', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(caseOf({ pool: 8, run: 6 }).map(metNothing), (value) => {
        const sound = soundSets(value);
        const { minima } = value;
        const meetable = (wanted: readonly number[]): boolean =>
          sound.some(({ met }) => within(bitsOf(wanted), met));
        const { unmeetable, undecided } = feasibilityOf(contextOf(value));
        expect(undecided).toEqual([]);
        const named = unmeetable.map(({ minimum }) => minimum);
        expect(named).toEqual([...new Set(named)].toSorted((a, b) => a - b));
        expect(meetable([...minima.keys()].filter((m) => !named.includes(m)))).toBe(true);
        for (const { minimum, cause, items, others } of unmeetable) {
          seen.set(cause, (seen.get(cause) ?? 0) + 1);
          const { guid, items: wanted } = minima[minimum]!;
          const offered = [...value.items.keys()].filter(
            (j) => tagsOf(value, j).includes(guid) && broken(value, [j]).length === 0,
          );
          expect(items).toBe(offered.length);
          expect(cause === 'items').toBe(items < wanted);
          expect(meetable([minimum])).toBe(cause === 'together');
          expect(others.length > 0).toBe(cause === 'together');
          if (cause !== 'together') continue;
          expect(others.filter((other) => named.includes(other) || other >= minimum)).toEqual([]);
          expect(meetable(others)).toBe(true);
          expect(meetable([...others, minimum])).toBe(false);
          for (const other of others)
            expect(meetable([...others.filter((one) => one !== other), minimum])).toBe(true);
        }
      }),
      { numRuns: 4000 },
    );
    for (const cause of ['items', 'conditions', 'together'])
      expect(seen.get(cause) ?? 0, cause).toBeGreaterThan(5);
  });
});
