import { describe, expect, it } from 'vitest';
import { compileModel, estimate } from './model.ts';
import type { CalibratedParameters, ModelParameters, PriorBlock } from './types.ts';

const sound: ModelParameters = {
  theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
  kcs: [
    { guid: 'a', slope: 1, location: 0 },
    { guid: 'b', slope: 2, location: 0.5 },
  ],
  items: [
    { artifactVersionId: 'i', kcs: ['a', 'b'], probabilities: [0.1, 0.3, 0.2, 0.9] },
    { artifactVersionId: 'j', kcs: ['b'], probabilities: [0.2, 0.8] },
  ],
  scale: [100, 200, 300],
};

const item = (kcs: string[], probabilities: number[], artifactVersionId = 'i') => ({
  artifactVersionId,
  kcs,
  probabilities,
});
const theta = (change: Partial<ModelParameters['theta']>) => ({ theta: { ...sound.theta, ...change } });

function pointers(parameters: CalibratedParameters, runtimeVersion?: string): string[] {
  const model = compileModel(parameters, runtimeVersion);
  return model.ok ? [] : model.error.map(({ pointer }) => pointer);
}

describe('compileModel', () => {
  it('accepts sound parameters and indexes them', () => {
    const model = compileModel(sound);
    if (!model.ok) throw new Error('refused');
    expect(model.value.itemKcs).toStrictEqual([[0, 1], [1]]);
    expect(model.value.kcIndex.get('b')).toBe(1);
    expect(model.value.itemIndex.get('j')).toBe(1);
    expect(model.value.runtimeVersion).toBe('ho-cdm-grid-1');
  });

  it('refuses a runtime version that the bundle does not hold', () => {
    expect(pointers(sound, 'ho-cdm-grid-0')).toStrictEqual(['']);
  });

  it.each<[string, Partial<ModelParameters>, string[]]>([
    ['an empty grid', theta({ min: 1 }), ['/theta/max']],
    ['a spread that no weight survives', theta({ mean: 5, sd: 1e-200 }), ['/theta']],
    ['a repeated KC', { kcs: [...sound.kcs, sound.kcs[0]!] }, ['/kcs/2/guid']],
    [
      'a repeated item',
      { items: [...sound.items, item(['a'], [0.1, 0.9], 'j')] },
      ['/items/2/artifactVersionId'],
    ],
    ['an unknown KC', { items: [item(['c'], [0.1, 0.9])] }, ['/items/0/kcs/0']],
    ['a KC twice in an item', { items: [item(['a', 'a'], [0.1, 0.1, 0.1, 0.9])] }, ['/items/0/kcs/1']],
    ['a table of the wrong length', { items: [item(['a', 'b'], [0.1, 0.9])] }, ['/items/0/probabilities']],
    [
      'a mastered KC that lowers success',
      { items: [item(['a', 'b'], [0.2, 0.1, 0.3, 0.9])] },
      ['/items/0/probabilities/1'],
    ],
    ['a scale of the wrong length', { scale: [1, 2] }, ['/scale']],
    ['a scale that stands still', { scale: [1, 1, 2] }, ['/scale/1']],
    ['a scale beyond measure', { scale: [1, 2, 1e200] }, ['/scale/2']],
    [
      'several things at once',
      { ...theta({ min: 2 }), scale: [3, 2, 1] },
      ['/theta/max', '/scale/1', '/scale/2'],
    ],
  ])('refuses %s', (_, change, expected) => {
    expect(pointers({ ...sound, ...change })).toStrictEqual(expected);
  });

  it('refuses strands whose parts of ability would take more memory than a kernel keeps', () => {
    const kcs = Array.from({ length: 84 }, (_, k) => ({ guid: `kc-${k}`, slope: 1, location: 0 }));
    const blocks = Array.from({ length: 7 }, (_, n) => ({
      form: 'strand' as const,
      kcs: kcs.slice(12 * n, 12 * n + 12).map(({ guid }) => guid),
      correlation: 0.5,
    }));
    const onGrid = (nodes: number): CalibratedParameters => ({
      ...theta({ nodes }),
      kcs,
      blocks,
      items: [item(['kc-0'], [0.1, 0.9])],
      scale: Array.from({ length: nodes }, (_, g) => g),
    });
    const pointersOn = (nodes: number): readonly string[] => {
      const model = compileModel(onGrid(nodes));
      return model.ok ? [] : model.error.map(({ pointer }) => pointer);
    };
    expect(pointersOn(380)).toEqual([]);
    expect(pointersOn(381)).toEqual(['/blocks/6/kcs']);
  });

  const [a, b, c] = ['a', 'b', 'c'].map((guid) => ({ guid, slope: 1, location: 0 }));
  const guids = ['a', 'b', 'c'];
  const block = (value: object, kcs: readonly string[] = guids.slice(0, 2)) =>
    ({ kcs, ...value }) as unknown as PriorBlock;
  const chain = block({ form: 'hierarchy', prerequisites: [[], ['a']] });
  const free = [{ guid: 'a' }, { guid: 'b' }, c!];

  it.each<[string, readonly PriorBlock[], CalibratedParameters['kcs'], readonly string[]]>([
    ['a chain', [chain], [a!, b!, c!], []],
    [
      'a strand with an unknown KC, and one twice',
      [block({ form: 'strand', correlation: 0.5 }, ['a', 'd', 'a'])],
      [a!, b!, c!],
      ['/kcs/1', '/kcs/2'].map((path) => `/blocks/0${path}`),
    ],
    [
      'a KC in two blocks',
      [chain, block({ form: 'hierarchy', prerequisites: [[], ['c']] }, ['c', 'b'])],
      [a!, b!, c!],
      ['/blocks/1/kcs/1'],
    ],
    [
      'a KC without a curve in a chain, and outside any block',
      [chain],
      [a!, { guid: 'b', slope: 1 }, { guid: 'c' }],
      ['/kcs/1/location', '/kcs/2/slope', '/kcs/2/location'],
    ],
    [
      'a curve where the block states the probabilities',
      [block({ form: 'saturated', slope: 1, weights: [1, 1, 1, 1] })],
      [a!, { guid: 'b' }, c!],
      ['/kcs/0/slope', '/kcs/0/location'],
    ],
    [
      'lists for too few KCs',
      [block({ form: 'hierarchy', prerequisites: [[]] })],
      [a!, b!, c!],
      ['/blocks/0/prerequisites'],
    ],
    [
      'no prerequisite at all',
      [block({ form: 'hierarchy', prerequisites: [[], []] })],
      [a!, b!, c!],
      ['/blocks/0/prerequisites'],
    ],
    [
      'prerequisites that come later, or twice',
      [block({ form: 'hierarchy', prerequisites: [['b'], ['a', 'a']] })],
      [a!, b!, c!],
      ['/blocks/0/prerequisites/0/0', '/blocks/0/prerequisites/1/1'],
    ],
    [
      'too few weights',
      [block({ form: 'saturated', slope: 1, weights: [1, 1] })],
      free,
      ['/blocks/0/weights'],
    ],
    [
      'a KC that is always mastered',
      [block({ form: 'saturated', slope: 1, weights: [0, 1, 0, 1] })],
      free,
      ['/blocks/0/weights'],
    ],
    [
      'a table of too few rows, one of them too short and one that does not sum to 1',
      [
        block({
          form: 'table',
          probabilities: [
            [1, 0],
            [0.5, 0.25, 0.125, 0],
          ],
        }),
      ],
      free,
      ['', '/0', '/1'].map((path) => `/blocks/0/probabilities${path}`),
    ],
  ])('holds blocks to their form: %s', (_, blocks, kcs, expected) => {
    const parameters = { ...sound, kcs, blocks };
    expect(pointers(parameters, 'ho-cdm-block-1')).toStrictEqual(expected);
    expect(pointers(parameters)).toStrictEqual(expected);
    expect(pointers(parameters, 'ho-cdm-grid-1')).toContain('/blocks');
  });

  it('takes a calibration of the frozen kernel as blocks of one KC', () => {
    expect(pointers(sound, 'ho-cdm-block-1')).toStrictEqual([]);
    expect(pointers({ ...sound, blocks: [] }, 'ho-cdm-grid-1')).toStrictEqual(['/blocks']);
  });

  it('refuses an item with 13 KCs and admits one with 12', () => {
    const withKcs = (count: number): ModelParameters => {
      const kcs = Array.from({ length: count }, (_, k) => ({ guid: `k${k}`, slope: 1, location: 0 }));
      const probabilities = Array.from({ length: 2 ** count }, () => 0.5);
      return {
        ...sound,
        kcs,
        items: [{ artifactVersionId: 'i', kcs: kcs.map(({ guid }) => guid), probabilities }],
      };
    };
    expect(pointers(withKcs(12))).toStrictEqual([]);
    expect(pointers(withKcs(13))).toStrictEqual(['/items/0/kcs']);
  });
});

describe('estimate', () => {
  it('throws on an item that does not exist', () => {
    const model = compileModel(sound);
    if (!model.ok) throw new Error('refused');
    for (const item of [2, -1, 0.5]) {
      expect(() => estimate(model.value, [{ item, correct: true }])).toThrow(RangeError);
    }
  });

  it('throws on answers that tie 13 KCs together', () => {
    const kcs = Array.from({ length: 13 }, (_, k) => ({ guid: `k${k}`, slope: 1, location: 0 }));
    const items = kcs.slice(1).map(({ guid }, j) => ({
      artifactVersionId: `i${j}`,
      kcs: [kcs[j]!.guid, guid],
      probabilities: [0.1, 0.1, 0.1, 0.9],
    }));
    const model = compileModel({ ...sound, kcs, items });
    if (!model.ok) throw new Error('refused');
    const outcomes = items.map((_, item) => ({ item, correct: true }));
    expect(estimate(model.value, outcomes.slice(1)).components).toHaveLength(1);
    expect(() => estimate(model.value, outcomes)).toThrow(RangeError);
  });
});

describe('knownScale', () => {
  it('weighs each node by its prior and by the profile, to the power of the known probabilities [MA-130]', () => {
    const model = compileModel(sound);
    if (!model.ok) throw new Error('refused');
    const mastery = [
      { kc: 0, probability: 0.25 },
      { kc: 1, probability: 1 },
    ];
    const weights = [-1, 0, 1].map((t, g) => {
      const [a, b] = sound.kcs.map(({ slope, location }) => 1 / (1 + Math.exp(-slope * (t - location)))) as [
        number,
        number,
      ];
      return (g === 1 ? 1 : 0.5) * Math.exp((-t * t) / 2) * a ** 0.25 * (1 - a) ** 0.75 * b;
    });
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const expected = weights.reduce((sum, weight, g) => sum + (weight / total) * sound.scale[g]!, 0);
    expect(model.value.core.knownScale(mastery)).toBeCloseTo(expected, 10);
  });
});
