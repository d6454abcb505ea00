import { describe, expect, it } from 'vitest';
import { bindingSubjects, isBreached } from './analysis-policy.ts';
import type { AnalysisTrigger } from './analysis-policy.ts';

const below = 0.2 - Number.EPSILON;
const above = 0.2 + Number.EPSILON;

describe('a threshold', () => {
  it.each<[AnalysisTrigger['threshold']['operator'], readonly [number, boolean][]]>([
    [
      'lt',
      [
        [below, true],
        [0.2, false],
        [above, false],
      ],
    ],
    [
      'lte',
      [
        [below, true],
        [0.2, true],
        [above, false],
      ],
    ],
    [
      'gt',
      [
        [below, false],
        [0.2, false],
        [above, true],
      ],
    ],
    [
      'gte',
      [
        [below, false],
        [0.2, true],
        [above, true],
      ],
    ],
    [
      'outside',
      [
        [-above, true],
        [-0.2, false],
        [-below, false],
        [0, false],
        [below, false],
        [0.2, false],
        [above, true],
      ],
    ],
  ])('%s is tripped beyond its boundary, or on it, as its name says [RP-199, RP-200]', (operator, cases) => {
    for (const [observed, isTripped] of cases)
      expect([observed, isBreached({ operator, value: 0.2 }, observed)]).toEqual([observed, isTripped]);
  });
});

describe('the subjects that an order has to name', () => {
  const demands = (name: string, threshold: AnalysisTrigger['threshold']): readonly string[] =>
    bindingSubjects({
      metric: 'alignment',
      observed: { name, unit: 'count' },
      threshold,
      targetModule: 'blueprint',
      requestedAction: 'repair_crosswalk',
      reasonCodes: ['blueprint_coverage_defect'],
      requiredSubjects: ['sourceKeys', 'caseGuids'],
    });

  it('are those that its trigger requires, but for GUIDs that what trips can lack [RP-195, RP-196]', () => {
    expect(demands('uncovered_requirements', { operator: 'gt', value: 0 })).toEqual(['sourceKeys']);
    expect(demands('alignment_percent', { operator: 'lt', value: 90 })).toEqual(['sourceKeys']);
    expect(demands('lower_dok_requirements', { operator: 'gte', value: 0 })).toEqual(['sourceKeys']);
    expect(demands('lower_dok_requirements', { operator: 'gt', value: 0 })).toEqual([
      'sourceKeys',
      'caseGuids',
    ]);
  });
});
