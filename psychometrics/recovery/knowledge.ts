import { fit } from '#psychometrics/calibrate/em.ts';
import { collapse, createDesign, startingParameters } from '#psychometrics/calibrate/model.ts';
import type { ModelParameters } from '#functions/mastery/engine/index.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import { drawLearner, PRIOR_POPULATION } from './learners.ts';
import { kcGuid, parametersOf, STRAND, successOf, type World, type WorldItem } from './world.ts';

/** The engine's parameters, in place of the true ones. */
export type Knowledge =
  | { readonly kind: 'true' }
  /** Every parameter is off by up to the share (`misjudged`). */
  | { readonly kind: 'off'; readonly share: number }
  /** The share of items whose Q-matrix row is wrong. */
  | { readonly kind: 'wrong rows'; readonly share: number }
  /** Fitted to the answers of this many learners. */
  | { readonly kind: 'calibrated'; readonly learners: number };

/** Returns the parameters that the engine works with in a world. */
export function knownParameters(world: World, knowledge: Knowledge): ModelParameters {
  switch (knowledge.kind) {
    case 'true':
      return parametersOf(world);
    case 'off':
      return parametersOf(misjudged(world, knowledge.share));
    case 'wrong rows':
      return parametersOf(withWrongRows(world, knowledge.share));
    case 'calibrated':
      return calibrated(world, knowledge.learners);
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
 * tables: the errors of items and curves have the covariance of such a sample.
 */
function calibrated(world: World, learners: number): ModelParameters {
  const draw = stream(`recovery calibration sample ${world.name}`);
  const sample = Array.from({ length: learners }, (_, n) =>
    drawLearner(world, `calibration ${world.name} ${n}`, PRIOR_POPULATION),
  );
  const known = parametersOf(world);
  const kcs = [...known.kcs];
  const items = [...known.items];
  for (let start = 0; start < world.kcs.length; start += STRAND) {
    const size = Math.min(STRAND, world.kcs.length - start);
    const own = world.items.flatMap((item, index) => {
      const [first = NaN] = item.kcs;
      if (first < start || first >= start + size) return [];
      return [{ index, item, kcs: item.kcs.map((kc) => kc - start).sort((a, b) => a - b) }];
    });
    const design = createDesign(
      'gdina',
      size,
      own.map((one) => one.kcs),
      { bound: 0.001, penalty: 'weak' },
    );
    const answers = sample.flatMap(({ mastered }) =>
      own.map(({ item }) =>
        Number(draw() < successOf(item, item.kcs.filter((kc) => mastered[kc] === true).length)),
      ),
    );
    const responses = collapse(Int8Array.from(answers), own.length);
    const { parameters } = fit(design, responses, startingParameters(design), FIT);
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
    });
  }
  return { ...known, kcs, items };
}
