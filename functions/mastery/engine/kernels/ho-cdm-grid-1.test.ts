import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { ModelParameters } from '../types.ts';
import { binaryEntropy, exp, log, logistic, sqrt } from './ho-cdm-grid-1/arithmetic.ts';
import { hoCdmGrid1 } from './ho-cdm-grid-1/kernel.ts';
import { findKernel, runtimeVersions } from './index.ts';

/** Distance in units in the last place. */
function ulps(a: number, b: number): number {
  const words = new BigInt64Array(Float64Array.of(a, b).buffer);
  return Number(words[0]! - words[1]!);
}

describe('arithmetic from basic operations', () => {
  const range = (min: number, max: number) => fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
  // The platform's functions are themselves within an ulp of the truth, so that two may lie apart.
  it.each([
    {
      own: exp,
      platform: Math.exp,
      most: 2,
      ranges: [range(-700, 709), range(-1, 1)],
      exact: [0, 709.7, 710],
    },
    {
      own: log,
      platform: Math.log,
      most: 2,
      ranges: [range(5e-324, Infinity), range(0.5, 2)],
      exact: [0, 1, -1],
    },
    { own: sqrt, platform: Math.sqrt, most: 1, ranges: [range(5e-324, Infinity)], exact: [0, 2, -1] },
  ])(
    'has $own.name within $most ulps of the platform, over the whole range',
    ({ own, platform, most, ranges, exact }) => {
      fc.assert(
        fc.property(fc.oneof(...ranges), (x) => Math.abs(ulps(own(x), platform(x))) <= most),
        { numRuns: 10_000 },
      );
      for (const x of [...exact, NaN, Infinity]) expect([x, own(x)]).toEqual([x, platform(x)]);
    },
  );

  it('is exact where doubles are, subnormal at their edge, and has entropy in bits', () => {
    fc.assert(fc.property(fc.nat(67_108_864), (x) => sqrt(x * x) === x));
    expect([exp(-Infinity), exp(-746)]).toEqual([0, 0]);
    expect(exp(-740)).toBeCloseTo(Math.exp(-740), 320);
    expect(exp(-740)).toBeGreaterThan(0);
    expect([logistic(0), logistic(-1000), logistic(1000), logistic(Infinity)]).toStrictEqual([0.5, 0, 1, 1]);
    expect([binaryEntropy(0), binaryEntropy(0.5), binaryEntropy(1)]).toStrictEqual([0, 1, 0]);
    expect(binaryEntropy(0.11)).toBeCloseTo(0.499915958164528, 14);
  });
});

/** The files of a kernel, and those of other kernels that they import, as paths from its own folder. */
function filesOf(folder: string): readonly string[] {
  const files = new Set(readdirSync(folder));
  for (const name of files) {
    const imports = readFileSync(join(folder, name), 'utf8').matchAll(/from '(?<path>\.{1,2}\/[^']+)'/g);
    for (const { groups } of imports) {
      const path = join(name, '..', groups!['path']!);
      if (!path.startsWith('../../')) files.add(path);
    }
  }
  return [...files].sort();
}

describe('the frozen kernel', () => {
  it.each(runtimeVersions())(
    'has the source that its hash names: a released kernel is followed by another, never edited (%s)',
    (runtimeVersion) => {
      const folder = join(import.meta.dirname, runtimeVersion);
      const text = filesOf(folder)
        .map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}\n`)
        .join('');
      expect(findKernel(runtimeVersion)?.sourceHash).toBe(sha256Hex(text));
    },
  );

  it.each(runtimeVersions())(
    'takes nothing but types from files that its hash does not cover (%s)',
    (runtimeVersion) => {
      const folder = join(import.meta.dirname, runtimeVersion);
      const imports = filesOf(folder).flatMap((name) =>
        [
          ...readFileSync(join(folder, name), 'utf8').matchAll(
            /^(?:im|ex)port (?<what>[^;]*?)'(?<path>[^']+)';$/gms,
          ),
        ].map(({ groups }) => ({ what: groups!['what']!, path: groups!['path']! })),
      );
      expect(imports.length).toBeGreaterThan(5);
      const uncovered = imports.filter(({ path }) => !/^(?:\.\/|\.\.\/ho-cdm-[^/]+\/)[^/]+\.ts$/.test(path));
      for (const { what, path } of uncovered) expect(what, path).toMatch(/^type /);
    },
  );

  it('is found by its runtime version alone', () => {
    expect(runtimeVersions()).toStrictEqual(['ho-cdm-grid-1', 'ho-cdm-block-1']);
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
    { artifactVersionId: 'i0', kcs: ['a', 'b'], probabilities: [0.036478, 0.036478, 0.036478, 0.903382] },
    { artifactVersionId: 'i1', kcs: ['b'], probabilities: [0.128348, 0.747395] },
    { artifactVersionId: 'i2', kcs: ['c', 'a'], probabilities: [0.1, 0.35, 0.2, 0.8] },
    { artifactVersionId: 'i3', kcs: ['c'], probabilities: [0.22439, 0.88882] },
    {
      artifactVersionId: 'i4',
      kcs: ['d', 'c', 'b'],
      probabilities: [0.05, 0.2, 0.15, 0.4, 0.1, 0.45, 0.3, 0.9],
    },
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
