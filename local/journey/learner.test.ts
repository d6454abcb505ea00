import { describe, expect, it } from 'vitest';
import type { CalibrationParameters } from '#shared/records/records.ts';
import { replayedLearner, simulatedLearner } from './learner.ts';

const parameters: CalibrationParameters = {
  theta: { nodes: 3, min: -2, max: 2, mean: 0, sd: 1 },
  kcs: [
    { guid: 'always', uri: 'https://case.example/1', slope: 1, location: -1000 },
    { guid: 'never', uri: 'https://case.example/2', slope: 1, location: 1000 },
    { guid: 'sometimes', uri: 'https://case.example/3', slope: 1, location: 0 },
  ],
  items: [
    // The pattern of a learner who masters the first component and not the second is 0b01.
    {
      artifactVersionId: 'v1',
      qtiIdentifier: 'i1',
      kcs: ['always', 'never'],
      probabilities: [1e-9, 1 - 1e-9, 1e-9, 1e-9],
    },
    { artifactVersionId: 'v2', qtiIdentifier: 'i2', kcs: ['never'], probabilities: [1e-9, 1 - 1e-9] },
    { artifactVersionId: 'v3', qtiIdentifier: 'i3', kcs: ['sometimes'], probabilities: [0.5, 0.5] },
  ],
  scale: [400, 500, 600],
};

const many = Array.from({ length: 2000 }, (_, seed) => simulatedLearner(parameters, seed));

// That it is the same for the same seed, whatever is asked first: tools/docs/journey-picture.test.ts.
describe('simulatedLearner', () => {
  it('answers by the success probability of its own pattern', () => {
    expect(many.every(({ answer }) => answer('v1') === true && answer('v2') === false)).toBe(true);
    expect(many.every(({ trueState }) => trueState?.mastered.has('always') === true)).toBe(true);
    expect(many.some(({ trueState }) => trueState?.mastered.has('never') === true)).toBe(false);
    expect(many[0]?.answer('v4')).toBeUndefined();
  });

  it('draws ability, components and answers with their probabilities', () => {
    // Prior weights of the three nodes: e^-2 / 2, 1, e^-2 / 2.
    const middle = many.filter(({ trueState }) => trueState?.scale === 500).length / many.length;
    expect(middle).toBeCloseTo(1 / (1 + Math.exp(-2)), 1);
    const mastered =
      many.filter(({ trueState }) => trueState?.mastered.has('sometimes')).length / many.length;
    expect(mastered).toBeCloseTo(0.5, 1);
    const correct = many.filter(({ answer }) => answer('v3')).length / many.length;
    expect(correct).toBeCloseTo(0.5, 1);
  });
});

it('draws components of a block together: none without its prerequisite', () => {
  const { kcs } = parameters;
  const [first, second] = [kcs[2]!, { ...kcs[2]!, guid: 'later', uri: 'https://case.example/4' }];
  const chain = {
    ...parameters,
    kcs: [...kcs.slice(0, 2), first, second],
    items: parameters.items.slice(1),
    blocks: [
      {
        form: 'hierarchy' as const,
        kcs: [first.guid, second.guid],
        prerequisites: [[], [first.guid]],
        support: { learners: 500, bicGain: 1 },
      },
    ],
  };
  const drawn = Array.from({ length: 1000 }, (_, seed) => simulatedLearner(chain, seed).trueState!.mastered);
  const share = (guid: string): number => drawn.filter((mastered) => mastered.has(guid)).length / 1000;
  expect(drawn.every((mastered) => !mastered.has('later') || mastered.has('sometimes'))).toBe(true);
  expect(share('sometimes')).toBeCloseTo(0.5, 1);
  // The mean of p squared over ability.
  expect(share('later')).toBeGreaterThan(0.24);
  expect(share('later')).toBeLessThan(0.36);
});

describe('replayedLearner', () => {
  const names = ['v1', 'v2', 'v3', 'v4'];
  const kc = { ...parameters.kcs[0]!, location: 0 };
  const items = names.map((id) => ({
    ...{ artifactVersionId: id, qtiIdentifier: id },
    ...{ kcs: [kc.guid], probabilities: [1e-9, 1 - 1e-9] },
  }));
  const bank = {
    itemNames: { v1: 'a', v2: 'b', v3: 'c', v4: 'd' },
    parameters: { ...parameters, kcs: [kc], items },
  };

  it('gives the recorded answers', () => {
    const learner = replayedLearner('ada', { a: 1, b: 0, c: 0, d: 1 }, bank);
    expect(names.map((item) => learner.answer(item))).toStrictEqual([true, false, false, true]);
    expect(names.some((item) => learner.isImputed(item))).toBe(false);
    expect(learner).toMatchObject({ description: 'replayed, ada', trueState: undefined });
    expect(learner.answer('v5')).toBeUndefined();
  });

  it.each([
    [{ a: 1, b: 1, c: 0 }, true],
    [{ a: 0, b: 0, c: 1 }, false],
  ] as const)(
    'simulates a missing answer as of a learner who agrees with most others: %j',
    (answers, last) => {
      const learner = replayedLearner('ada', answers, bank);
      expect(learner.answer('v4')).toBe(last);
      expect(names.filter((item) => learner.isImputed(item))).toEqual(['v4']);
      expect(learner.description).toContain('1 of 4 answers simulated');
    },
  );
});
