import { describe, expect, it } from 'vitest';
import { bindTable, fitDefects, type SelectionRules } from './fitted-table.ts';

const policy: SelectionRules = {
  maxItems: 20,
  coverageFloors: [],
  kcCutScore: 0.5,
  confidenceThreshold: 0.9,
  eligibilityRules: {
    selectionTarget: 'unsettled_components',
    contentConstraints: { 'kc-1': { minItems: 1 } },
    exposure: { method: 'sympson_hetter', tableSha256: '0'.repeat(64) },
    priorUse: 'avoid',
  },
};
const rules = policy.eligibilityRules;
const table = bindTable({ 'item-1': 0.25 }, policy, { mean: 0, sd: 1 });
const pointers = (changed: SelectionRules): readonly string[] =>
  fitDefects(table, changed).map(({ pointer }) => pointer);

describe('a fitted table', () => {
  it.each<[string, SelectionRules]>([
    ['maxItems', { ...policy, maxItems: 21 }],
    ['coverageFloors', { ...policy, coverageFloors: [{ caseCompetencyGuid: 'a', minimumEvidenceItems: 1 }] }],
    ['kcCutScore', { ...policy, kcCutScore: 0.6 }],
    ['confidenceThreshold', { ...policy, confidenceThreshold: 0.95 }],
    ['contentConstraints', { ...policy, eligibilityRules: { ...rules, contentConstraints: undefined } }],
    ['kcScope', { ...policy, eligibilityRules: { ...rules, kcScope: ['kc-1'] } }],
    ['minimumGain', { ...policy, eligibilityRules: { ...rules, minimumGain: 0.01 } }],
    ['excludedItems', { ...policy, eligibilityRules: { ...rules, excludedItems: ['item-2'] } }],
    ['blueprintCoverage', { ...policy, eligibilityRules: { ...rules, blueprintCoverage: 'slots' } }],
  ])('fits no policy with another %s', (member, changed) => {
    expect(pointers(changed)).toEqual([`/fittedFor/selection/${member}`]);
  });

  it('fits no policy with another target, and under latent_state any confidence', () => {
    const latent = { ...policy, eligibilityRules: { ...rules, selectionTarget: undefined } };
    expect(pointers(latent)).toContain('/fittedFor/selection/selectionTarget');
    const fitted = bindTable({}, { ...latent, confidenceThreshold: 1 }, { mean: 0, sd: 1 });
    expect(fitDefects(fitted, latent)).toEqual([]);
  });

  it('fits a policy that differs only in what does not change how often items are given', () => {
    const { exposure: _exposure, priorUse: _priorUse, ...others } = rules;
    const alike = { ...others, enemySets: [], blueprintCoverage: 'none' as const };
    expect(pointers({ ...policy, eligibilityRules: alike })).toEqual([]);
  });

  it.each(['constructor', 'toString'])('names no rule %s that any object has', (name) => {
    const { population } = table.fittedFor;
    const other = {
      ...table,
      fittedFor: { selection: { ...table.fittedFor.selection, [name]: 1 }, population },
    };
    expect(fitDefects(other, policy)).toContainEqual({
      pointer: `/fittedFor/selection/${name}`,
      message: 'is 1, and absent in the policy: fit the table for this policy',
    });
  });

  it('is refused after any change of its own, with what to do', () => {
    const changed = { ...table, probabilities: { 'item-1': 0.5 } };
    expect(fitDefects(changed, policy)).toEqual([
      { pointer: '/sha256', message: expect.stringContaining('Fit it again') as string },
    ]);
    const { selection } = table.fittedFor;
    const other = { ...table, fittedFor: { selection, population: { mean: 0.1, sd: 1 } } };
    expect(fitDefects(other, policy)).toHaveLength(1);
  });
});
