import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { ModelParameters } from '../types.ts';
import { binaryEntropy, exp, log, logistic, sqrt } from './ho-cdm-grid-1/arithmetic.ts';
import { hoCdmGrid1 } from './ho-cdm-grid-1/kernel.ts';
import { compileParameters } from './ho-cdm-grid-1/model.ts';
import { findKernel, runtimeVersions } from './index.ts';

/** Distance in units in the last place. */
function ulps(a: number, b: number): number {
  const words = new BigInt64Array(Float64Array.of(a, b).buffer);
  return Number(words[0]! - words[1]!);
}

describe('arithmetic from basic operations', () => {
  // The platform's functions are themselves within an ulp of the truth, so that two may lie apart.
  it('has exp within two ulps of the platform, over the whole range', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -700, max: 709, noNaN: true }),
        (x) => Math.abs(ulps(exp(x), Math.exp(x))) <= 2,
      ),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(
        fc.double({ min: -1, max: 1, noNaN: true }),
        (x) => Math.abs(ulps(exp(x), Math.exp(x))) <= 2,
      ),
      { numRuns: 5000 },
    );
    expect([exp(0), exp(-Infinity), exp(Infinity), exp(710), exp(-746), exp(NaN)]).toStrictEqual([
      1,
      0,
      Infinity,
      Infinity,
      0,
      NaN,
    ]);
    expect(exp(-740)).toBeCloseTo(Math.exp(-740), 320);
    expect(exp(-740)).toBeGreaterThan(0);
    expect(ulps(exp(709.7), Math.exp(709.7))).toBe(0);
  });

  it('has log within two ulps of the platform, subnormal numbers included', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 5e-324, noNaN: true, noDefaultInfinity: true }),
        (x) => Math.abs(ulps(log(x), Math.log(x))) <= 2,
      ),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        (x) => Math.abs(ulps(log(x), Math.log(x))) <= 2,
      ),
      { numRuns: 5000 },
    );
    expect([log(1), log(0), log(-1), log(NaN), log(Infinity)]).toStrictEqual([
      0,
      -Infinity,
      NaN,
      NaN,
      Infinity,
    ]);
  });

  it('has sqrt within an ulp of the platform, and exact on squares', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 5e-324, noNaN: true, noDefaultInfinity: true }),
        (x) => Math.abs(ulps(sqrt(x), Math.sqrt(x))) <= 1,
      ),
      { numRuns: 10_000 },
    );
    fc.assert(fc.property(fc.nat(67_108_864), (x) => sqrt(x * x) === x));
    expect([sqrt(0), sqrt(4), sqrt(2), sqrt(Infinity), sqrt(-1)]).toStrictEqual([
      0,
      2,
      Math.SQRT2,
      Infinity,
      NaN,
    ]);
  });

  it('has a logistic function without overflow, and entropy in bits', () => {
    expect([logistic(0), logistic(-1000), logistic(1000), logistic(Infinity)]).toStrictEqual([0.5, 0, 1, 1]);
    expect([binaryEntropy(0), binaryEntropy(0.5), binaryEntropy(1)]).toStrictEqual([0, 1, 0]);
    expect(binaryEntropy(0.11)).toBeCloseTo(0.499915958164528, 14);
  });
});

describe('the capacity of an item', () => {
  it('bounds what the item tells in any state, and is reached where the state is one bit', () => {
    const probability = fc.double({ min: 0.001, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(probability, { minLength: 4, maxLength: 4 }),
        fc.array(probability, { minLength: 4, maxLength: 4 }),
        (success, weights) => {
          const table = success.toSorted((a, b) => a - b);
          const model = compileParameters({
            ...golden,
            items: [{ id: 'i', kcs: ['a', 'b'], probabilities: table }],
          });
          const total = weights.reduce((a, b) => a + b, 0);
          const told = (shares: readonly number[]): number =>
            binaryEntropy(shares.reduce((sum, share, s) => sum + share * table[s]!, 0)) -
            shares.reduce((sum, share, s) => sum + share * binaryEntropy(table[s]!), 0);
          expect(told(weights.map((weight) => weight / total))).toBeLessThan(model.capacity[0]!);
          const between = Array.from({ length: 1001 }, (_, i) => told([1 - i / 1000, 0, 0, i / 1000]));
          expect(Math.max(...between)).toBeLessThan(model.capacity[0]!);
          expect(Math.max(...between)).toBeGreaterThan(model.capacity[0]! - 1e-5);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('puts the items in order, and is nothing for an item whose answer says nothing', () => {
    const model = compileParameters({
      ...golden,
      items: [
        { id: 'flat', kcs: ['a'], probabilities: [0.3, 0.3] },
        { id: 'sharp', kcs: ['b'], probabilities: [0.1, 0.9] },
        { id: 'dull', kcs: ['b'], probabilities: [0.4, 0.6] },
        { id: 'sharp too', kcs: ['c'], probabilities: [0.1, 0.9] },
      ],
    });
    expect([...model.byCapacity]).toStrictEqual([1, 3, 2, 0]);
    expect(model.capacity[0]).toBeLessThan(1e-8);
    // 1 - h(0.1), the capacity of the binary symmetric channel.
    expect(model.capacity[1]).toBeCloseTo(0.5310044064107189, 8);
  });
});

describe('gains of the best items alone', () => {
  /** Items that need all of one to three KCs, many of them nearly as good as the best. */
  const crowds = fc.record({
    kcs: fc.array(
      fc.record({
        slope: fc.double({ min: 0.5, max: 3, noNaN: true }),
        location: fc.double({ min: -2.5, max: 2.5, noNaN: true }),
      }),
      { minLength: 6, maxLength: 6 },
    ),
    items: fc.array(
      fc.record({
        kcs: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }),
        low: fc.constantFrom(0.1, 0.12, 0.2),
        high: fc.constantFrom(0.85, 0.88, 0.9),
      }),
      { minLength: 20, maxLength: 60 },
    ),
    answers: fc.array(fc.boolean(), { maxLength: 6 }),
    keep: fc.integer({ min: 1, max: 5 }),
  });

  it('are those of a pass over all, and none that could win is missing', () => {
    let spared = 0;
    fc.assert(
      fc.property(crowds, ({ kcs, items, answers, keep }) => {
        const model = hoCdmGrid1.compile({
          theta: { nodes: 9, min: -4, max: 4, mean: 0, sd: 1 },
          kcs: kcs.map((kc, k) => ({ guid: `kc-${k}`, ...kc })),
          items: items.map((item, j) => ({
            id: `item-${j}`,
            kcs: item.kcs.map((k) => `kc-${k}`),
            probabilities: Array.from({ length: 2 ** item.kcs.length }, (_, s) =>
              s === 2 ** item.kcs.length - 1 ? item.high : item.low,
            ),
          })),
          scale: Array.from({ length: 9 }, (_, g) => g),
        });
        const posterior = model.estimate(answers.map((correct, item) => ({ item, correct })));
        const eligible = new Uint8Array(items.length).fill(1);
        const [all, some] = [new Float64Array(items.length), new Float64Array(items.length)];
        model.informationGains(posterior, eligible, all, Infinity);
        model.informationGains(posterior, eligible, some, keep);
        const last = [...all].sort((a, b) => b - a)[keep - 1]!;
        some.forEach((gain, j) => {
          if (Number.isNaN(gain)) {
            spared += 1;
            expect(all[j]).toBeLessThan(last);
          } else expect(gain).toBe(all[j]);
        });
      }),
      { numRuns: 500 },
    );
    expect(spared).toBeGreaterThan(1000);
  });
});

describe('the frozen kernel', () => {
  it('has the source that its hash names: a released kernel is followed by another, never edited', () => {
    const folder = join(import.meta.dirname, 'ho-cdm-grid-1');
    const files = readdirSync(folder).sort();
    const text = files.map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}\n`).join('');
    expect(findKernel('ho-cdm-grid-1')?.sourceHash).toBe(sha256Hex(text));
  });

  it('is found by its runtime version alone', () => {
    expect(runtimeVersions()).toStrictEqual(['ho-cdm-grid-1']);
    expect(findKernel('ho-cdm-grid-1')?.kernel).toBe(hoCdmGrid1);
    expect(findKernel('ho-cdm-grid-2')).toBeUndefined();
  });

  it('gives the golden vectors to the last bit', () => {
    const model = hoCdmGrid1.compile(golden);
    const posterior = model.estimate([
      { item: 1, correct: true },
      { item: 0, correct: false },
      { item: 3, correct: true },
      { item: 2, correct: false },
    ]);
    const gains = new Float64Array(5);
    model.informationGains(posterior, new Uint8Array(5).fill(1), gains, Infinity);
    expect({
      kcs: [...posterior.kcPosteriors],
      theta: [...posterior.thetaPosterior],
      scaleScore: posterior.scaleScore,
      standardError: posterior.standardError,
      gains: [...gains],
      knownScale: model.knownScale([
        { kc: 0, probability: 1 },
        { kc: 2, probability: 0.3 },
      ]),
    }).toStrictEqual(GOLDEN);
  });
});

/** KCs a, b tied by two items, c by one of those, d alone and only in an item that spans. */
const golden: ModelParameters = {
  theta: { nodes: 7, min: -3, max: 3, mean: 0.1, sd: 1.1 },
  kcs: [
    { guid: 'a', slope: 3.642108, location: 0.003427 },
    { guid: 'b', slope: 2.521983, location: -1.238287 },
    { guid: 'c', slope: 1.474477, location: -1.656477 },
    { guid: 'd', slope: 2.631885, location: -0.378627 },
  ],
  items: [
    { id: 'i0', kcs: ['a', 'b'], probabilities: [0.036478, 0.036478, 0.036478, 0.903382] },
    { id: 'i1', kcs: ['b'], probabilities: [0.128348, 0.747395] },
    { id: 'i2', kcs: ['c', 'a'], probabilities: [0.1, 0.35, 0.2, 0.8] },
    { id: 'i3', kcs: ['c'], probabilities: [0.22439, 0.88882] },
    { id: 'i4', kcs: ['d', 'c', 'b'], probabilities: [0.05, 0.2, 0.15, 0.4, 0.1, 0.45, 0.3, 0.9] },
  ],
  scale: [100, 180, 240, 300, 365, 440, 560],
};

/** Made by this kernel and checked against the oracle in tools/reference when it was released. */
const GOLDEN = {
  kcs: [0.050780240224247125, 0.9444688606153714, 0.9259859641219504, 0.5031075656178926],
  theta: [
    0.0008206413867347507, 0.029853843341377754, 0.38501038453420194, 0.5312699349906228,
    0.044560456858082034, 0.00794930861312803, 0.0005354302758526051,
  ],
  scaleScore: 277.30133222297053,
  standardError: 41.398047426741556,
  gains: [
    0.1613961495201056, 0.06398542183757328, 0.0473845291349978, 0.11211138968206835, 0.3303765317821278,
  ],
  knownScale: 323.8099511681523,
};
