import { noDependence } from '#psychometrics/calibrate/dependence.ts';
import { climb } from '#psychometrics/calibrate/em.ts';
import { collapse, createDesign, startingParameters } from '#psychometrics/calibrate/model.ts';
import type { CalibratedParameters, PriorBlock } from '#functions/mastery/engine/index.ts';
import { addTo, at, sum } from '#psychometrics/calibrate/numbers.ts';
import { curveAt, curveStep } from '#psychometrics/calibrate/structure/curves.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import { chainsIn, drawLearner, PRIOR_POPULATION } from './learners.ts';
import { kcGuid, masteryAt, parametersOf, STRAND, successOf, type World, type WorldItem } from './world.ts';

/** The engine's parameters, in place of the true ones. */
export type Knowledge =
  | { readonly kind: 'true' }
  /** Every parameter is off by up to the share (`misjudged`). */
  | { readonly kind: 'off'; readonly share: number }
  /** The share of items whose Q-matrix row is wrong. */
  | { readonly kind: 'wrong rows'; readonly share: number }
  /** Fitted to the answers of this many learners. */
  | { readonly kind: 'calibrated'; readonly learners: number }
  /** The true parameters, computed with by the kernel of blocks. */
  | { readonly kind: 'no blocks' }
  /** The true tables of chains of this length, or the nearest curves where a chain is too long for a table. */
  | { readonly kind: 'chains'; readonly length: number }
  /** Chains of this length, fitted to the answers of this many learners for whom they hold. */
  | { readonly kind: 'fitted chains'; readonly length: number; readonly learners: number };

/** Returns the parameters that the engine works with in a world. */
export function knownParameters(world: World, knowledge: Knowledge): CalibratedParameters {
  switch (knowledge.kind) {
    case 'true':
      return parametersOf(world);
    case 'off':
      return parametersOf(misjudged(world, knowledge.share));
    case 'wrong rows':
      return parametersOf(withWrongRows(world, knowledge.share));
    case 'calibrated':
      return calibrated(world, knowledge.learners, 'independent');
    case 'no blocks':
      return { ...parametersOf(world), blocks: [] };
    case 'chains':
      return withChains(world, knowledge.length);
    case 'fitted chains':
      return calibrated(world, knowledge.learners, { chainsOf: knowledge.length });
  }
}

/**
 * Returns the world with every slope, guess and slip off by up to the share, up or down, and every location by up to that share of a standard
 * deviation: a possible result of a calibration on too few answers.
 */
export function misjudged(world: World, share: number): World {
  const draw = stream(`recovery misjudged ${world.name}`);
  const off = (): number => share * (2 * draw() - 1);
  return {
    ...world,
    kcs: world.kcs.map(({ slope, location }) => ({ slope: slope * (1 + off()), location: location + off() })),
    items: world.items.map((item) => ({
      ...item,
      guess: item.guess * (1 + off()),
      slip: item.slip * (1 + off()),
    })),
  };
}

/**
 * Returns the world with a wrong Q-matrix row in a share of the items: one KC of the strand that the item needs is left out, or one that it does not
 * need is added. No row becomes empty. Guess and slip stay.
 */
export function withWrongRows(world: World, share: number): World {
  const draw = stream(`recovery wrong rows ${world.name}`);
  return {
    ...world,
    items: world.items.map((item) => {
      if (draw() >= share) return item;
      const entries = strandOf(item, world).filter((kc) => item.kcs.length > 1 || !item.kcs.includes(kc));
      const turned = entries[Math.floor(draw() * entries.length)];
      if (turned === undefined) return item;
      return {
        ...item,
        kcs: item.kcs.includes(turned) ? item.kcs.filter((kc) => kc !== turned) : [...item.kcs, turned],
      };
    }),
  };
}

/** Returns the KCs of the item's strand. */
function strandOf({ kcs: [first = 0] }: WorldItem, { kcs }: World): readonly number[] {
  const start = STRAND * Math.floor(first / STRAND);
  return Array.from({ length: Math.min(STRAND, kcs.length - start) }, (_, k) => start + k);
}

const FIT = { maximumIterations: 300, tolerance: 1e-2 } as const;

/**
 * Returns the parameters that the calibrator fits to the answers of this many learners to every item, strand by strand, with saturated monotone
 * tables: the errors of items and curves have the covariance of such a sample. Chains are known as such; each is a block.
 */
function calibrated(
  world: World,
  learners: number,
  structure: 'independent' | { readonly chainsOf: number },
): CalibratedParameters {
  const draw = stream(`recovery calibration sample ${world.name}`);
  const sample = Array.from({ length: learners }, (_, n) =>
    drawLearner(world, `calibration ${world.name} ${n}`, PRIOR_POPULATION, structure),
  );
  const chains = structure === 'independent' ? [] : chainsIn(world, structure.chainsOf);
  const known = parametersOf(world);
  const kcs = [...known.kcs];
  const items = [...known.items];
  const answers: Int8Array[] = [];
  for (let start = 0; start < world.kcs.length; start += STRAND) {
    const size = Math.min(STRAND, world.kcs.length - start);
    const own = world.items.flatMap((item, index) => {
      const [first = NaN] = item.kcs;
      if (first < start || first >= start + size) return [];
      return [{ index, item, kcs: item.kcs.map((kc) => kc - start).sort((a, b) => a - b) }];
    });
    const required = Array.from({ length: size }, (_, k) => {
      const chain = chains.find((one) => one.includes(start + k)) ?? [];
      const before = chain.slice(0, chain.indexOf(start + k));
      return before.reduce(
        (bits, kc) => (kc >= start && kc < start + size ? bits | (1 << (kc - start)) : bits),
        0,
      );
    });
    const design = createDesign(
      'gdina',
      size,
      own.map((one) => one.kcs),
      { bound: 0.001, penalty: 'weak', dependence: { ...noDependence(size), required } },
    );
    const given = sample.flatMap(({ mastered }) =>
      own.map(({ item }) =>
        Number(draw() < successOf(item, item.kcs.filter((kc) => mastered[kc] === true).length)),
      ),
    );
    const responses = collapse(Int8Array.from(given), own.length);
    const { parameters } = climb(design, responses, startingParameters(design), FIT);
    parameters.slopes.forEach((slope, k) => {
      kcs[start + k] = {
        guid: kcGuid(start + k),
        slope,
        location: parameters.locations[k] ?? NaN,
      };
    });
    own.forEach(({ index, item, kcs: row }, j) => {
      items[index] = {
        artifactVersionId: item.id,
        kcs: row.map((kc) => kcGuid(start + kc)),
        probabilities: [...(parameters.tables[j] ?? [])],
      };
      answers[index] = Int8Array.from({ length: learners }, (_, n) => given[n * own.length + j] ?? 0);
    });
  }
  if (chains.length === 0) return { ...known, kcs, items };
  const fitted = { ...known, kcs, items };
  const steps = fittedSteps(fitted, chains, answers);
  return {
    ...fitted,
    kcs: kcs.map((kc, k) => ({ ...kc, ...steps.get(k) })),
    blocks: chains.filter((chain) => chain.length > 1).map(hierarchyOf),
  };
}

/** Returns the block of a chain. */
function hierarchyOf(chain: readonly number[]): PriorBlock {
  return {
    form: 'hierarchy',
    kcs: chain.map(kcGuid),
    prerequisites: chain.map((_, n) => chain.slice(0, n).slice(-1).map(kcGuid)),
  };
}

/** The nodes of ability with the density of the prior, which the calibrator computes with. */
const { points, weights } = createDesign('dina', 1, [[0]], { bound: 0.001, penalty: 'none' });

/** A table is carried for at most this many KCs. */
const LONGEST_TABLE = 6;
/** Learners in whose place curves are fitted to probabilities, and steps of that fit. */
const MANY = 1e5;
const CURVE_STEPS = 30;
const FIRST_CURVE = [Math.log(1.7), 0] as const;

/** Returns the true parameters with the true prior of chains: at an ability, a learner has a KC as often as its curve states, or the lowest before it. */
function withChains(world: World, length: number): CalibratedParameters {
  const known = parametersOf(world);
  const chains = chainsIn(world, length);
  /** P(the first KCs of a chain mastered) at an ability. */
  const reachedOf = (chain: readonly number[], ability: number): readonly number[] => {
    let reached = 1;
    return [1, ...chain.map((kc) => (reached = Math.min(reached, masteryAt(world, kc, ability))))];
  };
  const byCurves = chains.filter((chain) => chain.length > LONGEST_TABLE);
  const steps = new Map(
    byCurves.flatMap((chain) => {
      const reached = Array.from(points, (ability) => reachedOf(chain, ability));
      return chain.map((kc, n) => {
        const reachedAt = (place: number): Float64Array =>
          weights.map((weight, g) => MANY * weight * (reached[g]?.[place] ?? NaN));
        let curve: readonly [number, number] = FIRST_CURVE;
        for (let step = 0; step < CURVE_STEPS; step += 1)
          curve = curveStep(points, { open: reachedAt(n), mastered: reachedAt(n + 1) }, curve);
        return [kc, { slope: Math.exp(curve[0]), location: curve[1] }] as const;
      });
    }),
  );
  return {
    ...known,
    kcs: known.kcs.map(({ guid, slope, location }, k) => {
      const inTable = chains.some(
        (chain) => chain.length <= LONGEST_TABLE && chain.length > 1 && chain.includes(k),
      );
      return inTable ? { guid } : { guid, slope, location, ...steps.get(k) };
    }),
    blocks: chains
      .filter((chain) => chain.length > 1)
      .map((chain): PriorBlock => {
        if (chain.length > LONGEST_TABLE) return hierarchyOf(chain);
        const probabilities = Array.from(points, (ability) => {
          const row = new Array<number>(2 ** chain.length).fill(0);
          const reached = reachedOf(chain, ability);
          reached.forEach((p, n) => {
            row[2 ** n - 1] = p - (reached[n + 1] ?? 0);
          });
          return row;
        });
        return { form: 'table', kcs: chain.map(kcGuid), probabilities };
      }),
  };
}

/** EM steps of the curves of all chains together. */
const STEPS = 30;

/**
 * Returns the curves of the steps of all chains, fitted to the answers of all learners to all items with the tables of the items held: one chain's
 * patterns do not determine slopes, several chains do. No fit with patterns of all KCs could hold them.
 */
function fittedSteps(
  { kcs, items }: CalibratedParameters,
  chains: readonly (readonly number[])[],
  answers: readonly Int8Array[],
): Map<number, { readonly slope: number; readonly location: number }> {
  const learners = answers[0]?.length ?? 0;
  const nodes = points.length;
  const likelihoods = chains.map((chain) => levelLikelihoods(items, chain, answers, learners));
  const curves = chains.map((chain) =>
    chain.map((kc): readonly [number, number] => {
      const { slope = 1, location = 0 } = kcs[kc] ?? {};
      return [Math.log(slope), location];
    }),
  );
  for (let step = 0; step < STEPS; step += 1) {
    const parts = curves.map((own, c) => {
      const levels = levelsAt(own);
      const cells = { expected: new Float64Array(levels.length), terms: new Float64Array(levels.length) };
      return { levels, ...cells, sums: new Float64Array(nodes), likelihood: likelihoods[c] ?? levels };
    });
    for (let n = 0; n < learners; n += 1) {
      const posterior = weights.slice();
      for (const { levels, terms, sums, likelihood } of parts) {
        const first = (n * levels.length) / nodes;
        sums.fill(0);
        for (let place = 0, level = first; place < levels.length; level += 1) {
          const factor = at(likelihood, level);
          for (let g = 0; g < nodes; g += 1, place += 1) {
            terms[place] = at(levels, place) * factor;
            addTo(sums, g, at(terms, place));
          }
        }
        for (let g = 0; g < nodes; g += 1) posterior[g] = at(posterior, g) * at(sums, g);
      }
      const all = sum(posterior);
      for (const { expected, terms, sums } of parts) {
        for (let g = 0; g < nodes; g += 1) sums[g] = at(posterior, g) / (all * at(sums, g));
        for (let place = 0; place < terms.length;)
          for (let g = 0; g < nodes; g += 1, place += 1)
            addTo(expected, place, at(sums, g) * at(terms, place));
      }
    }
    curves.forEach((own, c) => {
      const expected = parts[c]?.expected ?? weights;
      /** Learners who have at least the first KCs, by node. */
      const reached = own.map(() => new Float64Array(nodes)).concat(expected.slice(-nodes));
      for (let k = own.length - 1; k >= 0; k -= 1)
        reached[k] = (reached[k + 1] ?? weights).map((count, g) => count + at(expected, k * nodes + g));
      own.forEach((curve, k) => {
        const counted = { open: reached[k] ?? weights, mastered: reached[k + 1] ?? weights };
        own[k] = curveStep(points, counted, curve);
      });
    });
  }
  return new Map(
    chains.flatMap((chain, c) =>
      chain.map((kc, k) => {
        const [logSlope, location] = curves[c]?.[k] ?? FIRST_CURVE;
        return [kc, { slope: Math.exp(logSlope), location }] as const;
      }),
    ),
  );
}

/** Returns P(exactly the first n KCs of a chain | node) at n * nodes + g. */
function levelsAt(curves: readonly (readonly [number, number])[]): Float64Array {
  const nodes = points.length;
  const levels = new Float64Array((curves.length + 1) * nodes);
  let reached = new Float64Array(nodes).fill(1);
  curves.forEach((curve, k) => {
    const next = curveAt(points, curve).map((p, g) => p * at(reached, g));
    for (let g = 0; g < nodes; g += 1) levels[k * nodes + g] = at(reached, g) - at(next, g);
    reached = next;
  });
  levels.set(reached, curves.length * nodes);
  return levels;
}

/** Returns P(a learner's answers to the items of a chain | exactly its first n KCs) up to a factor, at learner * levels + n. */
function levelLikelihoods(
  items: CalibratedParameters['items'],
  chain: readonly number[],
  answers: readonly Int8Array[],
  learners: number,
): Float64Array {
  const levels = chain.length + 1;
  const logs = new Float64Array(learners * levels);
  items.forEach(({ kcs, probabilities }, j) => {
    const places = kcs.map((guid) => chain.findIndex((kc) => kcGuid(kc) === guid));
    const own = answers[j];
    if (own === undefined || places.includes(-1)) return;
    for (let level = 0; level < levels; level += 1) {
      const pattern = places.reduce((bits, place, bit) => bits | (Number(place < level) << bit), 0);
      const p = probabilities[pattern] ?? NaN;
      const [wrong, right] = [Math.log(1 - p), Math.log(p)];
      for (let n = 0; n < learners; n += 1) {
        const place = n * levels + level;
        addTo(logs, place, own[n] === 1 ? right : wrong);
      }
    }
  });
  for (let n = 0; n < learners; n += 1) {
    const own = logs.subarray(n * levels, (n + 1) * levels);
    const highest = own.reduce((a, b) => Math.max(a, b), -Infinity);
    own.set(own.map((value) => Math.exp(value - highest)));
  }
  return logs;
}
