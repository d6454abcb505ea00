import { describe, expect, it } from 'vitest';
import { bindingSubjects, isBreached, type AnalysisTrigger } from './analysis-policy.ts';

const below = 0.2 - Number.EPSILON;
const above = 0.2 + Number.EPSILON;

describe('a threshold', () => {
  const observed = [-above, -0.2, -below, 0, below, 0.2, above];

  it.each<[AnalysisTrigger['threshold']['operator'], readonly number[]]>([
    ['lt', [-above, -0.2, -below, 0, below]],
    ['lte', [-above, -0.2, -below, 0, below, 0.2]],
    ['gt', [above]],
    ['gte', [0.2, above]],
    ['outside', [-above, above]],
  ])(
    '%s is tripped beyond its boundary, or on it, as its name says [RP-199, RP-200]',
    (operator, tripping) => {
      expect(observed.filter((value) => isBreached({ operator, value: 0.2 }, value))).toEqual(tripping);
    },
  );
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
