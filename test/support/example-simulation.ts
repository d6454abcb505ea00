import {
  compileModel,
  prepareSelection,
  type CompiledModel,
  type PriorBlock,
} from '#functions/mastery/engine/index.ts';
import type { KnownProfile, SimulatedTest } from '#functions/mastery/simulation/recovery.ts';

// A small test and profiles for it, made of whole numbers and their quotients; only tests import it.

const NODES = 21;
const KCS = 6;
const ITEMS = 60;

/** @param shape `tiedKcs`: how many KCs every third item ties together; `areAlike`: items of one KC all have the same table; `blocks`: for the kernel that takes them */
export function exampleModel({
  items = ITEMS,
  tiedKcs = 2,
  areAlike = false,
  blocks,
}: {
  readonly items?: number;
  readonly tiedKcs?: number;
  readonly areAlike?: boolean;
  readonly blocks?: readonly PriorBlock[];
} = {}): CompiledModel {
  const guid = (k: number): string => `kc-${k % KCS}`;
  const model = compileModel(
    {
      theta: { nodes: NODES, min: -4, max: 4, mean: 0, sd: 1 },
      kcs: Array.from({ length: KCS }, (_, k) => ({ guid: guid(k), slope: 1.5, location: (k - 2) / 2 })),
      items: Array.from({ length: items }, (_, j) =>
        j % 3 === 0
          ? {
              artifactVersionId: `v-${j}`,
              kcs: Array.from({ length: tiedKcs }, (__, k) => guid(j + k)),
              probabilities: tiedKcs === 2 ? [0.1, 0.3, 0.4, 0.9] : graded(tiedKcs),
            }
          : {
              artifactVersionId: `v-${j}`,
              kcs: [guid(j)],
              probabilities: [0.15, 0.8 + (areAlike ? 0 : j / (10 * items))],
            },
      ),
      scale: Array.from({ length: NODES }, (_, g) => 300 + 20 * g),
      blocks,
    },
    blocks === undefined ? 'ho-cdm-grid-1' : 'ho-cdm-block-1',
  );
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

/** The more KCs are mastered, the better. */
function graded(kcs: number): number[] {
  return Array.from({ length: 2 ** kcs }, (_, pattern) => {
    const mastered = pattern.toString(2).replaceAll('0', '').length;
    return 0.1 + (0.8 * mastered) / kcs;
  });
}

export function exampleTest({
  maxItems = 20,
  numericPrecision = 12,
}: {
  readonly maxItems?: number;
  readonly numericPrecision?: number;
} = {}): SimulatedTest {
  const model = exampleModel();
  const pool = model.itemIds.map((artifactVersionId, item) => ({
    item,
    artifactVersionId,
    qtiIdentifier: `q-${item}`,
    tags: [],
    accessibility: [],
  }));
  return {
    selection: prepareSelection(model, pool, {
      scope: [...model.kcGuids.keys()],
      maxItems,
      minima: [],
      maxima: [],
      exposure: { method: 'randomesque', size: 3 },
    }),
    rules: {
      kcCutScore: 0.5,
      confidenceThreshold: 0.99,
      precisionTarget: 0.001,
      numericPrecision,
      coverageFloors: [],
      timeBudgetSeconds: 1,
    },
    pinsHash: 'pins',
  };
}

/** Profiles of rising mastery. */
export function exampleProfiles(count: number): readonly KnownProfile[] {
  return Array.from({ length: count }, (_, n) => ({
    syntheticProfileId: `synthetic:${n}`,
    known: Array.from({ length: KCS }, (__, kc) => ({ kc, probability: ((n * 7 + kc * 5) % 11) / 10 })),
  }));
}
