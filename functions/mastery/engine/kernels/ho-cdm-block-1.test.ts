import { describe, expect, it } from 'vitest';
import { drawSimulatedLearner } from '../simulation.ts';
import { compileModel, estimate, type CompiledModel } from '../model.ts';
import type { CalibratedParameters, Outcome, PriorBlock } from '../types.ts';

const kc = (guid: string, slope: number, location: number) => ({ guid, slope, location });

/** KCs in one block of each form and one outside them; items link the blocks. */
const golden: CalibratedParameters = {
  theta: { nodes: 7, min: -3, max: 3, mean: 0.1, sd: 1.1 },
  kcs: [
    kc('a', 3.642108, 0.003427),
    kc('b', 2.521983, -1.238287),
    kc('c', 1.474477, -1.656477),
    kc('d', 2.631885, -0.378627),
    ...['e', 'f', 'g', 'h'].map((guid) => ({ guid })),
    kc('i', 1.25, 0.75),
    kc('j', 2.25, -0.5),
    kc('k', 1.75, 0.125),
  ],
  items: [
    { artifactVersionId: 'i0', kcs: ['a', 'b'], probabilities: [0.036478, 0.036478, 0.036478, 0.903382] },
    { artifactVersionId: 'i1', kcs: ['b'], probabilities: [0.128348, 0.747395] },
    { artifactVersionId: 'i2', kcs: ['c', 'e'], probabilities: [0.1, 0.35, 0.2, 0.8] },
    { artifactVersionId: 'i3', kcs: ['g'], probabilities: [0.22439, 0.88882] },
    {
      artifactVersionId: 'i4',
      kcs: ['d', 'i', 'h'],
      probabilities: [0.05, 0.2, 0.15, 0.4, 0.1, 0.45, 0.3, 0.9],
    },
    { artifactVersionId: 'i5', kcs: ['j', 'k'], probabilities: [0.2, 0.2, 0.2, 0.95] },
  ],
  scale: [100, 180, 240, 300, 365, 440, 560],
  blocks: [
    { form: 'hierarchy', kcs: ['c', 'b', 'a'], prerequisites: [[], ['c'], ['b']] },
    { form: 'saturated', kcs: ['e', 'f'], slope: 0.8, weights: [0.4, 0.1, 0, 0.5] },
    {
      form: 'table',
      kcs: ['h', 'g'],
      probabilities: Array.from({ length: 7 }, (_, g) => [0.7 - 0.1 * g, 0.1, 0.1, 0.1 + 0.1 * g]),
    },
    { form: 'strand', kcs: ['k', 'i', 'j'], correlation: 0.75 },
  ],
};

const answers: readonly Outcome[] = [
  { item: 1, correct: true },
  { item: 0, correct: false },
  { item: 3, correct: true },
  { item: 2, correct: false },
  { item: 5, correct: true },
];

function compiled(parameters: CalibratedParameters): CompiledModel {
  const model = compileModel(parameters, 'ho-cdm-block-1');
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

function figuresOf(model: CompiledModel) {
  const posterior = estimate(model, answers);
  const gains = new Float64Array(model.itemIds.length);
  model.core.informationGains(posterior, new Uint8Array(gains.length).fill(1), gains, Infinity);
  return {
    kcs: [...posterior.kcPosteriors],
    theta: [...posterior.thetaPosterior],
    scaleScore: posterior.scaleScore,
    standardError: posterior.standardError,
    gains: [...gains],
    knownScale: model.core.knownScale([
      { kc: 0, probability: 0.25 },
      { kc: 2, probability: 0.875 },
      { kc: 3, probability: 1 },
      { kc: 9, probability: 0.5 },
    ]),
  };
}

describe('the kernel of blocks', () => {
  it('gives the golden vectors to the last bit', () => {
    expect(figuresOf(compiled(golden))).toStrictEqual(GOLDEN);
  });

  it('is the same to the last bit in any order of the answers, and whatever it has kept before', () => {
    const model = compiled(golden);
    const first = figuresOf(model);
    expect(figuresOf(model)).toStrictEqual(first);
    const { kcPosteriors, thetaPosterior } = estimate(model, answers.toReversed());
    expect([[...kcPosteriors], [...thetaPosterior]]).toStrictEqual([first.kcs, first.theta]);
  });

  it('does not depend on the order of KCs, of blocks, and of the KCs in a block without one', () => {
    const kcs = golden.kcs.toReversed();
    const turned = compiled({
      ...golden,
      kcs,
      blocks: golden
        .blocks!.toReversed()
        .map((block): PriorBlock =>
          block.form === 'strand' ? { ...block, kcs: block.kcs.toReversed() } : block,
        ),
    });
    const [expected, actual] = [estimate(compiled(golden), answers), estimate(turned, answers)];
    golden.kcs.forEach(({ guid }, k) => {
      const other = actual.kcPosteriors[turned.kcIndex.get(guid)!]!;
      expect(Math.abs(other - expected.kcPosteriors[k]!)).toBeLessThan(1e-14);
    });
    expect(actual.scaleScore).toBeCloseTo(expected.scaleScore, 10);
  });

  it('has no more doubt about a prerequisite, measured or not, than about what needs it', () => {
    const model = compiled(golden);
    for (const outcomes of [[], [{ item: 0, correct: true }], [{ item: 1, correct: false }], answers]) {
      const [a = NaN, b = NaN, c = NaN] = estimate(model, outcomes).kcPosteriors;
      expect(a).toBeLessThanOrEqual(b + 1e-15);
      expect(b).toBeLessThanOrEqual(c + 1e-15);
    }
  });
});

describe('extreme answers', () => {
  const repeat = (count: number, item: number, correct: boolean): Outcome[] =>
    Array.from({ length: count }, () => ({ item, correct }));

  it.each([
    ['60 wrong in a row', repeat(60, 0, false)],
    ['600 wrong in a row', repeat(600, 3, false)],
    ['hundreds that contradict each other', [...repeat(300, 0, true), ...repeat(300, 1, false)]],
  ])('leave finite numbers: %s', (_, outcomes) => {
    const { kcPosteriors, thetaPosterior, scaleScore } = estimate(compiled(golden), outcomes);
    for (const p of [...kcPosteriors, ...thetaPosterior]) expect(p >= 0 && p <= 1).toBe(true);
    expect(scaleScore).toBeGreaterThan(0);
  });

  it('leave them where the prior makes patterns impossible at some nodes, and likelihood hides all others there', () => {
    const rare = 2 ** -40;
    const model = compiled({
      ...golden,
      kcs: ['a', 'b'].map((guid) => ({ guid })),
      items: ['a', 'b'].map((guid) => ({
        artifactVersionId: guid,
        kcs: [guid],
        probabilities: [rare, 1 - rare],
      })),
      // At the lowest node no KC is ever mastered; at the others, both or none.
      blocks: [
        {
          form: 'table',
          kcs: ['a', 'b'],
          probabilities: golden.scale.map((__, g) => [1 - g / 10, 0, 0, g / 10]),
        },
      ],
    });
    const { kcPosteriors, thetaPosterior } = estimate(model, repeat(80, 0, true));
    for (const posterior of kcPosteriors) expect(posterior).toBeGreaterThan(1 - 1e-15);
    expect(thetaPosterior[0]).toBe(0);
    const torn = estimate(model, [...repeat(80, 0, true), ...repeat(80, 1, false)]);
    // The two answers weigh the same: only the prior remains.
    expect(torn.kcPosteriors[0]).toBeCloseTo(estimate(model, []).kcPosteriors[0]!, 9);
    expect(torn.thetaPosterior[0]).toBeCloseTo(estimate(model, []).thetaPosterior[0]!, 9);
  });
});

/** Two KCs in each block; single-KC items with the first KCs of the blocks. */
function pairs(
  blocks: readonly PriorBlock[],
  probabilities: readonly number[] = [1e-6, 1 - 1e-6],
): CalibratedParameters {
  return {
    ...golden,
    kcs: blocks.flatMap(({ kcs }) => kcs.map((guid) => ({ guid }))),
    items: blocks.map(({ kcs: [guid = ''] }) => ({ artifactVersionId: guid, kcs: [guid], probabilities })),
    blocks,
  };
}

describe('the edge of the range of doubles', () => {
  const rare = (kcs: readonly string[], weight: number): PriorBlock => ({
    form: 'saturated',
    kcs,
    slope: 1,
    weights: [1, 0, 0, weight],
  });
  const right = (items: number): Outcome[] =>
    Array.from({ length: 60 * items }, (_, n) => ({ item: n % items, correct: true }));

  it.each([1e-250, 1e-280, 1e-290])(
    'does not matter where several blocks have answers that their prior hardly admits: weight %d',
    (weight) => {
      const blocks = ['a', 'c', 'e'].map((guid) => [guid, `${guid}2`]);
      const [few, many] = [1e-30, weight].map((value) =>
        estimate(compiled(pairs(blocks.map((kcs) => rare(kcs, value)))), right(3)),
      );
      // The answers leave no doubt about the patterns, so that their weight no longer matters.
      for (const p of many!.kcPosteriors) expect(p).toBeCloseTo(1, 12);
      many!.thetaPosterior.forEach((p, g) => expect(p).toBeCloseTo(few!.thetaPosterior[g]!, 12));
    },
  );

  it('does not matter where answers have the least probabilities that there are', () => {
    const { kcPosteriors } = estimate(compiled(pairs([rare(['a', 'b'], 1)], [5e-324, 1e-323])), right(1));
    for (const p of kcPosteriors) expect(p).toBeCloseTo(1, 12);
  });
});

describe('KCs that are never mastered together', () => {
  const never = Array.from(golden.scale, () => [0.25, 0, 0.75, 0]);
  const both = { artifactVersionId: 'both', kcs: ['a', 'b'], probabilities: [0.2, 0.2, 0.2, 0.8] };
  const gainsOf = (block: PriorBlock): readonly number[] => {
    const parameters = pairs([block]);
    const model = compiled({ ...parameters, items: [...parameters.items, both] });
    const gains = new Float64Array(2);
    model.core.informationGains(estimate(model, []), Uint8Array.of(1, 1), gains, Infinity);
    return [...gains];
  };

  it('make an item that needs them all tell nothing', () => {
    const [one, two] = gainsOf({ form: 'saturated', kcs: ['a', 'b'], slope: 1, weights: [1, 1, 1, 0] });
    expect(one).toBeGreaterThan(0.1);
    expect(two).toBe(0);
  });

  it('may be one KC, whose probability is 0 before and after any answer', () => {
    const table: PriorBlock = { form: 'table', kcs: ['a', 'b'], probabilities: never };
    expect(gainsOf(table)).toStrictEqual([0, 0]);
    const model = compiled(pairs([table]));
    expect(estimate(model, []).kcPosteriors[0]).toBe(0);
    expect(estimate(model, right(model)).kcPosteriors[0]).toBe(0);
  });

  function right({ itemIds }: CompiledModel): Outcome[] {
    return itemIds.map((_, item) => ({ item, correct: true }));
  }
});

const DRAWS = 2500;

describe('a learner drawn from blocks', () => {
  const model = compiled(golden);
  const draw = (known: Parameters<typeof drawSimulatedLearner>[2]) =>
    Array.from({ length: DRAWS }, (_, n) => drawSimulatedLearner(model, `synthetic:${n}`, known));

  it('has the joint probabilities of the prior', () => {
    const learners = draw([]);
    const prior = estimate(model, []);
    for (const kcs of [[0], [6], [2, 1], [4, 5], [6, 7], [8, 9, 10], [1, 4, 8], [3, 10]]) {
      const share = learners.filter(({ mastered }) => kcs.every((k) => mastered[k] === 1)).length / DRAWS;
      expect(Math.abs(share - prior.joint!.allMastered(kcs, 0, (1 << kcs.length) - 1))).toBeLessThan(0.03);
    }
    // A prerequisite is never missing, and the pattern of weight 0 never occurs.
    expect(learners.every(({ mastered: [a = 0, b = 0, c = 0] }) => a <= b && b <= c)).toBe(true);
    expect(learners.some(({ mastered }) => mastered[4] === 0 && mastered[5] === 1)).toBe(false);
  });

  it('has known KCs with their probabilities as far as the prior admits them together', () => {
    // Of the four combinations of a (.5) and b (.8), that with a and without b is impossible: .4, .4 and .1 remain.
    const learners = draw([
      { kc: 0, probability: 0.5 },
      { kc: 1, probability: 0.8 },
      { kc: 3, probability: 1 },
    ]);
    const share = (is: (mastered: Uint8Array) => boolean): number =>
      learners.filter(({ mastered }) => is(mastered)).length / DRAWS;
    expect(share((mastered) => mastered[0] === 1)).toBeCloseTo(4 / 9, 1);
    expect(share((mastered) => mastered[1] === 1)).toBeCloseTo(8 / 9, 1);
    expect(share((mastered) => mastered[2] === 1 || mastered[1] === 0)).toBe(1);
    expect(share((mastered) => mastered[3] === 1)).toBe(1);
  });

  it('has ability from what is known: in proportion to the prior and the geometric mean of the patterns’ probabilities', () => {
    const known = [
      { kc: 1, probability: 0.25 },
      { kc: 2, probability: 0.5 },
    ];
    // Patterns of (b, c): none .375, c alone .375, both .125; b without c cannot be.
    const shares = [3 / 7, 3 / 7, 1 / 7];
    const prior = model.core.knownTheta([]);
    const weights = Array.from(prior, (weight, g) => {
      const both = model.core.masteryAt(1, g);
      const any = model.core.masteryAt(2, g);
      const logs = [1 - any, any - both, both].map((p, i) => shares[i]! * Math.log(p));
      return weight * Math.exp(logs.reduce((sum, value) => sum + value, 0));
    });
    const total = weights.reduce((sum, value) => sum + value, 0);
    model.core.knownTheta(known).forEach((weight, g) => {
      expect(Math.abs(weight - weights[g]! / total)).toBeLessThan(1e-13);
    });
    expect(
      model.core.admits!([
        { kc: 1, probability: 1 },
        { kc: 2, probability: 0 },
      ]),
    ).toBe(false);
    expect(model.core.admits!(known)).toBe(true);
  });

  it('may have known probabilities whose product is too small for a double', () => {
    const rows = Array.from(golden.scale, (_, g) => (g === 0 ? [0.5, 0.25, 0.25, 0] : [0.4, 0.2, 0.2, 0.2]));
    const model = compiled(pairs([{ form: 'table', kcs: ['a', 'b'], probabilities: rows }]));
    expect(model.core.admits!([0, 1].map((kc) => ({ kc, probability: 1e-200 })))).toBe(true);
  });
});

/** Made by this kernel and checked against brute force when it was written. */
const GOLDEN = {
  gains: [
    0.3951124389377345, 0.13793746236189353, 0.1555840922296432, 0.25952206438593817, 0.2773985880210478,
    0.4476899054858481,
  ],
  kcs: [
    0.15350114593312572, 0.8686932409317875, 0.9037985141950718, 0.5806516789047194, 0.31870676441747686,
    0.2699954428386822, 0.7820153679188517, 0.6590101208169716, 0.3605738988911103, 0.7997108434331422,
    0.7092113854305951,
  ],
  knownScale: 300.96446509950255,
  scaleScore: 290.858006825185,
  standardError: 50.41367898731808,
  theta: [
    0.0010436775932256435, 0.025305454800678664, 0.2911043937913554, 0.544890143963514, 0.10624408788817444,
    0.029194900631099984, 0.0022173413319518825,
  ],
};
