import { describe, expect, it } from 'vitest';
import { compileModel, estimate } from '#functions/mastery/engine/index.ts';
import { noDependence } from '../dependence.ts';
import { createDesign, latentPrior, randomParameters } from '../model.ts';
import { at, uniformFrom } from '../numbers.ts';
import { blockText, dependenceOf, joinedBy, recordedPrior } from './carried.ts';

const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];
/** B before A before C, and D apart; E and F saturated. */
const required = [2, 0, 3, 0, 0, 0, 0];
const dependence = { ...noDependence(7), required, saturated: [[4, 5]] };
const design = createDesign(
  'dina',
  7,
  names.map((_, k) => [k]),
  { bound: 0.001, penalty: 'weak', dependence },
);
const parameters = randomParameters(design, uniformFrom(1));

describe('recordedPrior', () => {
  const carried = [{ kcs: [0, 1, 2], bicGain: 12.3456789 }];
  const prior = recordedPrior(design, parameters, names, carried, 300);

  it('orders a hierarchy so that prerequisites come first, and states direct ones', () => {
    expect(prior.blocks).toEqual([
      {
        form: 'hierarchy',
        kcs: ['B', 'A', 'C'],
        prerequisites: [[], ['B'], ['A']],
        support: { learners: 300, bicGain: 12.345679 },
      },
      expect.objectContaining({ form: 'saturated', kcs: ['E', 'F'] }),
    ]);
  });

  it('gives curves to all components but those with weights', () => {
    expect(prior.kcs.filter(({ slope }) => slope === undefined).map(({ guid }) => guid)).toEqual(['E', 'F']);
    expect(prior.kcs[3]).toEqual({
      guid: 'D',
      slope: parameters.slopes[3],
      location: parameters.locations[3],
    });
  });

  it('is a prior that the engine takes, with the probabilities of the fit', () => {
    const compiled = compileModel(
      {
        theta: { nodes: 61, min: -6, max: 6, mean: 0, sd: 1 },
        ...prior,
        items: names.map((guid) => ({ artifactVersionId: guid, kcs: [guid], probabilities: [0.2, 0.8] })),
        scale: [...design.points],
      },
      'ho-cdm-block-1',
    );
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
    const { kcPosteriors } = estimate(compiled.value, []);
    const { patterns } = latentPrior(design, parameters);
    names.forEach((_, k) => {
      const prevalence = patterns.reduce((total, p, a) => total + ((a >>> k) & 1) * p, 0);
      expect(at(Float64Array.from(kcPosteriors), k)).toBeCloseTo(prevalence, 9);
    });
  });

  it('has no blocks without dependence', () => {
    const independent = { dependence: noDependence(7), kcCount: 7 };
    expect(recordedPrior(independent, parameters, names, [], 300)).not.toHaveProperty('blocks');
  });
});

describe('blocks', () => {
  it('are the components that prerequisites join', () => {
    expect(joinedBy(required)).toEqual([{ kcs: [0, 1, 2], required }]);
    const forms = [
      { form: 'hierarchy' as const, kcs: [0, 1, 2], required },
      { form: 'saturated' as const, kcs: [4, 5], required: noDependence(7).required },
    ];
    expect(dependenceOf(7, forms)).toEqual(dependence);
    expect(forms.map((form) => blockText(form, names))).toEqual([
      'B → A → C',
      'one weight per pattern of E, F',
    ]);
  });
});
