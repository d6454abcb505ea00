import { describe, expect, it } from 'vitest';
import { simulateStudy, type PatternSource } from '#psychometrics/verdicts/simulate.ts';
import { fit } from '../em.ts';
import { createDesign, startingParameters } from '../model.ts';
import { studyOf } from '../read-data.ts';
import { reliabilityLine } from '../report/structure.ts';
import { coarseScores, structureConditions, slopeConditions, untestedConditions } from './findings.ts';
import { chosenOf, isShown, type Candidate } from './candidates.ts';
import { ceilingUnder, testStructure, type StructureOptions } from './structure-test.ts';

const kcsOf = Array.from({ length: 12 }, (_, j) => [j % 3]);

/** Tests a study of three KCs. */
function tested(
  patterns: PatternSource | undefined,
  options: Partial<StructureOptions> = {},
  rowOf: (kcs: number[], item: number) => number[] = (kcs) => kcs,
) {
  const plan = { learners: 600, kcs: 3, kcsOf, seed: 4 };
  const study = studyOf(simulateStudy(patterns === undefined ? plan : { ...plan, patterns }));
  if (!study.ok) throw new Error(study.error.join());
  const design = createDesign('dina', 3, kcsOf.map(rowOf), { bound: 0.001, penalty: 'weak' });
  const limits = { maximumIterations: 500, tolerance: 1e-3 };
  const { parameters } = fit(design, study.value.responses, startingParameters(design), limits);
  const test = testStructure(design, parameters, study.value, {
    hierarchy: undefined,
    bootstrap: 0,
    seed: 1,
    ...options,
  });
  return { test, conditions: structureConditions(test, study.value.kcs) };
}

const chain: PatternSource = (draw) => [0, 1, 3, 7][Math.floor(4 * draw())] ?? 0;

/** The first KC excludes the others. */
const exclusive: PatternSource = (draw) => [1, 2, 4, 6][Math.floor(4 * draw())] ?? 1;

describe('testStructure', () => {
  it('accepts independent KCs, and leaves the ceiling to the calibration', () => {
    const { test, conditions } = tested(undefined);
    expect(test.chosen.kind).toBe('independent');
    expect(test.candidates.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['independent', 'all_pairs', 'saturated', 'no_components']),
    );
    expect(test.candidates.filter(({ converged }) => !converged)).toEqual([]);
    expect(test.reliabilityCeiling).toBeUndefined();
    expect(ceilingUnder(test, 0.6)).toBe(0.6);
    expect(conditions).toEqual([]);
  });

  it('gives the ceiling under a chain, which has a probability per pattern', () => {
    const { test } = tested(chain);
    expect(test.chosen.parameters).toBe(24 + 3);
    expect(test.reliabilityCeiling).toBeGreaterThan(0.3);
    // Four equal groups by one ability: 1 - E[Var(ability | quarter)] is .861, which no test of the chain exceeds.
    expect(test.reliabilityCeiling).toBeLessThan(0.87);
    expect(ceilingUnder(test, 1)).toBe(test.reliabilityCeiling);
    expect(ceilingUnder(test, 0.1)).toBe(0.1);
  });

  it('gives no ceiling to a structure without a single ability', () => {
    const { test } = tested(exclusive);
    expect(ceilingUnder(test, 0.9)).toBeUndefined();
  });

  it('finds a chain, and names its KCs', () => {
    const { test, conditions } = tested(chain);
    expect(test.chosen).toMatchObject({ kind: 'hierarchy', detail: 'K1 → K2 → K3' });
    expect(test.chosen.parameters).toBe(24 + 3);
    expect(conditions).toEqual([
      {
        code: 'prerequisites',
        subjects: ['K1', 'K2', 'K3'],
        sentence: expect.stringMatching(/^The answers show prerequisites \(K1 → K2 → K3\): /) as string,
      },
    ]);
  });

  it('names slopes on a bound as support of prerequisites, if there are any', () => {
    const { test } = tested(chain);
    const [first] = structureConditions({ ...test, slopesOnBound: [0, 2] }, ['A', 'B', 'C']);
    expect(first?.sentence).toContain(', and without priors the slope of "A", "C" is on its bound. ');
    const [none] = structureConditions({ ...test, slopesOnBound: [] }, ['A', 'B', 'C']);
    expect(none?.sentence).not.toContain('bound');
  });

  it('states rows that were replaced, and only these', () => {
    const own = tested(chain);
    expect(own.test.rows).toEqual([]);
    expect(own.conditions[0]?.sentence).not.toContain('Q-matrix');
    const replaced = tested(chain, {}, (kcs, j) => (j === 3 ? [0, 1] : kcs));
    expect(replaced.test.rows).toEqual([{ item: 'I4', kcs: ['K1', 'K2'] }]);
    expect(replaced.conditions[0]?.sentence).toMatch(
      / Tested with other components for "I4" than the Q-matrix names/,
    );
  });

  it('takes a given hierarchy without a cost for the search', () => {
    const { test } = tested(chain, { hierarchy: [0, 1, 3] });
    expect(test.chosen).toMatchObject({ kind: 'given_hierarchy', searchCost: 0 });
  });

  it('finds KCs that exclude each other, which no ability explains, as dependent', () => {
    const { test, conditions } = tested(exclusive);
    expect(['all_pairs', 'saturated']).toContain(test.chosen.kind);
    expect(test.candidates.filter(({ converged }) => !converged)).toEqual([]);
    expect(conditions.map(({ code }) => code)).toEqual(['dependent_components']);
  });

  it.each([
    ['strong evidence and a gain', 10, 0.005, 3, ['no_components_shown']],
    ['weaker evidence', 9, 0.005, 3, []],
    ['a trifle per learner', 10, 0.004, 3, []],
    ['one KC', 10, 0.005, 1, []],
  ])('prefers one ability without KCs by %s', (_, lower, gain, kcCount, codes) => {
    const { test, conditions } = tested(undefined);
    expect(conditions).toEqual([]);
    const candidates = test.candidates.map((one) =>
      one.kind === 'no_components' ? { ...one, bic: test.chosen.bic - lower, gainPerLearner: gain } : one,
    );
    const found = structureConditions({ ...test, candidates }, ['K1', 'K2', 'K3'].slice(0, kcCount));
    expect(found.map(({ code }) => code)).toEqual(codes);
  });

  it('draws the same p value for a seed', () => {
    const draw = () => tested(undefined, { bootstrap: 4 }).test.bootstrap;
    const bootstrap = draw();
    expect(bootstrap).toEqual(draw());
    // All draws of independent KCs do as well as the sound study, none as well as the other one.
    expect(bootstrap?.p).toBe(1);
    expect(tested(exclusive, { bootstrap: 4 }).test.bootstrap?.p).toBe(0.2);
  });
});

describe('the blocks that a calibration carries', () => {
  const none = [0, 0, 0];

  it('are the prerequisites shown, with their support, and its condition states it', () => {
    const { test, conditions } = tested(chain);
    const [base] = test.candidates;
    expect(test).toMatchObject({ isCarried: true, notShown: [] });
    expect(test.carried).toMatchObject([{ form: 'hierarchy', kcs: [0, 1, 2], required: [0, 1, 3] }]);
    const gain = base!.bic - test.chosen.bic - test.chosen.searchCost;
    expect(test.carried[0]!.bicGain).toBeCloseTo(gain, 8);
    expect(test.carried[0]!.bicGain).toBeGreaterThan(10);
    expect(conditions[0]?.sentence).toContain(' The calibration carries them: ');
  });

  it('are weights per pattern where components exclude each other', () => {
    const { test, conditions } = tested(exclusive);
    expect(test.carried).toMatchObject([{ form: 'saturated', kcs: [0, 1, 2], required: none }]);
    expect(conditions[0]?.sentence).toContain(
      'The calibration carries one weight per pattern of K1, K2, K3.',
    );
  });

  it('are none for independent components, and none if the caller wants none', () => {
    expect(tested(undefined).test.carried).toEqual([]);
    const { test, conditions } = tested(chain, { independent: true });
    expect(test).toMatchObject({ carried: [], isCarried: false, chosen: { kind: 'hierarchy' } });
    expect(conditions[0]?.sentence).toContain('patterns of mastery that do not occur');
  });

  it('contain no given prerequisites that the answers do not show, unless the caller insists', () => {
    const refused = tested(undefined, { hierarchy: [0, 1, 3] });
    expect(refused.test.carried).toEqual([]);
    expect(refused.conditions.map(({ code }) => code)).toEqual(['prerequisites_not_shown']);
    expect(refused.conditions[0]?.sentence).toMatch(/\(K1 → K2 → K3\): with them BIC is \d+\.\d higher/);
    const { test, conditions } = tested(undefined, { hierarchy: [0, 1, 3], insist: true });
    expect(test).toMatchObject({ isCarried: false, carried: [{ form: 'hierarchy', required: [0, 1, 3] }] });
    expect(test.carried[0]!.bicGain).toBeLessThan(0);
    expect(conditions.map(({ code }) => code)).toEqual(['prerequisites_insisted']);
  });

  it('are found block by block where blocks are given', () => {
    const blocks = [{ kcs: [0, 1, 2], required: [0, 1, 3] }];
    const { test, conditions } = tested(chain, { blocks });
    expect(test.candidates.filter(({ kind }) => kind === 'blocks').map(({ detail }) => detail)).toEqual(
      expect.arrayContaining(['K1 → K2 → K3', 'one weight per pattern of K1, K2, K3']),
    );
    expect(test.carried).toMatchObject([{ form: 'hierarchy', kcs: [0, 1, 2], required: [0, 1, 3] }]);
    expect(test.candidates).toContain(test.chosen);
    expect(conditions.map(({ code }) => code)).toContain('prerequisites');
    const wrong = tested(undefined, { blocks });
    expect(wrong.test.carried).toEqual([]);
    expect(wrong.test.chosen.kind).toBe('independent');
    expect(wrong.conditions.map(({ code }) => code)).toEqual(['prerequisites_not_shown']);
  });
});

describe('isShown', () => {
  const base: Candidate = {
    kind: 'independent',
    detail: '',
    logLikelihood: -1000,
    parameters: 20,
    bic: 2100,
    searchCost: 0,
    gainPerLearner: 0,
    converged: true,
  };
  it.each([
    ['a lower BIC by strong evidence and a gain', { bic: 2090, parameters: 21, gainPerLearner: 0.005 }, true],
    ['weaker evidence', { bic: 2091, parameters: 21, gainPerLearner: 0.005 }, false],
    ['evidence that the search outweighs', { bic: 2090, searchCost: 1, gainPerLearner: 0.005 }, false],
    ['a trifle with more parameters', { bic: 2090, parameters: 21, gainPerLearner: 0.004 }, false],
    ['fewer parameters without a gain', { bic: 2090, parameters: 19, gainPerLearner: -0.001 }, true],
  ])('judges %s', (_, changes, expected) => {
    expect(isShown({ ...base, ...changes }, base)).toBe(expected);
  });

  it('chooses by BIC with the cost of the search', () => {
    const proposed: Candidate = { ...base, kind: 'hierarchy', bic: 2080, searchCost: 8, gainPerLearner: 0.1 };
    const given: Candidate = { ...base, kind: 'given_hierarchy', bic: 2085, gainPerLearner: 0.1 };
    expect(chosenOf([base, proposed, given])).toBe(given);
    expect(chosenOf([base, proposed])).toBe(proposed);
    expect(chosenOf([base, { ...given, bic: 2095 }])).toBe(base);
  });
});

describe('facts of structure', () => {
  it('names KCs whose slope is on a bound', () => {
    const parameters = { tables: [], slopes: Float64Array.of(1, 25, 0.05), locations: new Float64Array(3) };
    expect(slopeConditions(parameters, ['A', 'B', 'C'])).toMatchObject([
      {
        code: 'slope_on_bound',
        subjects: ['B', 'C'],
        sentence: expect.stringMatching(/may cause it/) as string,
      },
    ]);
    expect(slopeConditions({ ...parameters, slopes: Float64Array.of(1, 2, 3) }, ['A', 'B', 'C'])).toEqual([]);
  });

  it.each([
    [0.85, [], 'reliability of theta 0.700, at most 0.850 on any test of these knowledge components'],
    [
      0.75,
      [expect.stringMatching(/reaches a reliability above 0\.750\.$/)],
      /at most 0\.750 .*: below 0\.80, .* too coarse/,
    ],
    [
      undefined,
      [expect.stringMatching(/^The reliability of one score cannot be stated: /)],
      /cannot be stated: .* too coarse/,
    ],
  ])('marks scores as coarse by the ceiling %s', (reliabilityCeiling, sentences, line) => {
    expect(coarseScores(reliabilityCeiling).map(({ sentence }) => sentence)).toEqual(sentences);
    const abilities = { theta: { reliability: 0.7 } };
    const stated = reliabilityLine({ abilities, structure: 'not tested', reliabilityCeiling });
    const other = { chosen: { kind: 'hierarchy' }, isCarried: false } as const;
    expect(reliabilityLine({ abilities, structure: other, reliabilityCeiling })).toMatch(
      /^reliability of theta 0\.700 as calibrated.* structure shown/,
    );
    expect(stated).toMatch(line);
    if (reliabilityCeiling === undefined) expect(stated).not.toMatch(/at most/);
  });

  it('states that too many KCs are not tested', () => {
    expect(untestedConditions(10)).toEqual([]);
    expect(untestedConditions(11)).toMatchObject([{ code: 'structure_untested' }]);
  });
});
