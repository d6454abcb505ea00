import type { ModelParameters } from '#functions/mastery/engine/index.ts';

/**
 * Banks of 3 KCs and 9 conjunctive items, small enough that the best of all ways to choose items can be computed: by backward induction over all 3^9
 * states of a run, in which each item is not offered, wrong or right. The computation shares no code with the engine.
 */
export interface SmallBank {
  readonly parameters: ModelParameters;
  /** The posterior, of mastery or of its complement, at which a KC with a scored item is settled. A run ends when all are, or with its last item. */
  readonly confidence: number;
}

/** What a way to choose items leads to, on average. */
export interface Expected {
  readonly items: number;
  /** KCs that are not settled at the end. */
  readonly unsettled: number;
}

/** How many items one unsettled KC is worth. */
const UNSETTLED_COST = 10;

/** Returns the items, and what is still unsettled in items: the quantity of which the optimum has least. */
export function costOf({ items, unsettled }: Expected): number {
  return items + UNSETTLED_COST * unsettled;
}

/** The state of a run: for each item of the bank 0 (not offered), 1 (wrong) or 2 (right). */
export type State = readonly number[];

/**
 * Returns the expectation of the best way to choose items.
 * @param candidates returns the items among which to choose in a state, which must not depend on the order of the answers; default: all that are left
 */
export function bestOf(
  { parameters, confidence }: SmallBank,
  candidates: (state: State) => readonly number[] = unused,
): Expected {
  const patterns = Array.from({ length: 2 ** parameters.kcs.length }, (_, pattern) => pattern);
  const items = itemsOf(parameters, patterns);
  const state = items.map(() => 0);
  const known = new Map<number, Expected>();

  /** Returns how many KCs are not settled, given P(pattern and the answers). */
  const unsettled = (weights: readonly number[], total: number): number => {
    const measured = items.reduce((mask, item, j) => (state[j] === 0 ? mask : mask | item.kcs), 0);
    return parameters.kcs.filter((_, kc) => {
      if (((measured >>> kc) & 1) === 0) return true;
      let mastered = 0;
      for (const s of patterns) if ((s >>> kc) & 1) mastered += weights[s]! / total;
      return Math.max(mastered, 1 - mastered) < confidence;
    }).length;
  };

  /** Returns the best of what a state can lead to. */
  const solve = (weights: readonly number[]): Expected => {
    const key = state.reduce((sum, digit) => 3 * sum + digit);
    const found = known.get(key);
    if (found !== undefined) return found;
    const total = sum(weights);
    let best: Expected = { items: 0, unsettled: unsettled(weights, total) };
    if (best.unsettled > 0 && state.includes(0))
      best = candidates(state)
        .map((item) => {
          const success = items[item]!.success;
          const after = (digit: 1 | 2): readonly [share: number, after: Expected] => {
            const next = weights.map((w, s) => w * (digit === 2 ? success[s]! : 1 - success[s]!));
            state[item] = digit;
            return [sum(next) / total, solve(next)];
          };
          const [[wrong, ifWrong], [right, ifRight]] = [after(1), after(2)];
          state[item] = 0;
          return {
            items: 1 + wrong * ifWrong.items + right * ifRight.items,
            unsettled: wrong * ifWrong.unsettled + right * ifRight.unsettled,
          };
        })
        .reduce((a, b) => (costOf(b) < costOf(a) ? b : a));
    known.set(key, best);
    return best;
  };
  return solve(priorOf(parameters, patterns));
}

/** Returns the KCs of each item as a mask, and P(correct) for each pattern of all KCs: bit k of either is the bank's k-th KC. */
function itemsOf(
  parameters: ModelParameters,
  patterns: readonly number[],
): readonly { readonly kcs: number; readonly success: readonly number[] }[] {
  return parameters.items.map(({ kcs, probabilities }) => {
    const own = kcs.map((guid) => parameters.kcs.findIndex((kc) => kc.guid === guid));
    const ownPattern = (pattern: number): number => sum(own.map((kc, bit) => ((pattern >>> kc) & 1) << bit));
    return {
      kcs: sum(own.map((kc) => 1 << kc)),
      success: patterns.map((pattern) => probabilities[ownPattern(pattern)]!),
    };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** Returns the items that were not offered. */
function unused(state: State): readonly number[] {
  return [...state.keys()].filter((item) => state[item] === 0);
}

/** Returns P(pattern): the KCs are independent given ability, which is normal on its grid. */
function priorOf({ theta, kcs }: ModelParameters, patterns: readonly number[]): readonly number[] {
  const nodes = Array.from(
    { length: theta.nodes },
    (_, g) => theta.min + ((theta.max - theta.min) * g) / (theta.nodes - 1),
  );
  const density = nodes.map((node) => Math.exp(-(((node - theta.mean) / theta.sd) ** 2) / 2));
  const total = sum(density);
  return patterns.map((pattern) =>
    nodes.reduce((sum, node, g) => {
      const mastery = kcs.map(({ slope, location }) => 1 / (1 + Math.exp(-slope * (node - location))));
      const given = mastery.reduce((p, m, kc) => p * ((pattern >>> kc) & 1 ? m : 1 - m), 1);
      return sum + (given * (density[g] ?? NaN)) / total;
    }, 0),
  );
}

/** A bank's slopes and locations, and of each item its KCs, guess and slip. */
interface Drawn {
  readonly kcs: readonly (readonly [slope: number, location: number])[];
  readonly items: readonly (readonly [kcs: readonly number[], guess: number, slip: number])[];
}

const drawn: readonly Drawn[] = [
  {
    kcs: [
      [2.4435, 0.2738],
      [1.8594, -0.617],
      [2.2848, 1.2682],
    ],
    items: [
      [[0], 0.1473, 0.0725],
      [[1], 0.0971, 0.0531],
      [[1, 2], 0.1074, 0.089],
      [[0, 2], 0.0847, 0.1008],
      [[1], 0.0555, 0.075],
      [[2], 0.1167, 0.0971],
      [[0, 2], 0.134, 0.0745],
      [[1, 2], 0.0869, 0.097],
      [[2], 0.1214, 0.0898],
    ],
  },
  {
    kcs: [
      [1.66, -0.6082],
      [2.0859, 0.5547],
      [2.3238, -0.1083],
    ],
    items: [
      [[0], 0.1493, 0.0743],
      [[1, 2], 0.0846, 0.1279],
      [[1, 2], 0.1494, 0.1422],
      [[0, 1, 2], 0.109, 0.1226],
      [[1], 0.1113, 0.0554],
      [[2], 0.1073, 0.0627],
      [[0, 1, 2], 0.0994, 0.1038],
      [[1], 0.1479, 0.0796],
      [[1, 2], 0.1314, 0.0764],
    ],
  },
  {
    kcs: [
      [1.8127, 1.0805],
      [1.7243, 1.0726],
      [1.682, -1.1893],
    ],
    items: [
      [[0], 0.1201, 0.0939],
      [[1, 2], 0.124, 0.0939],
      [[2], 0.0612, 0.0753],
      [[0], 0.1422, 0.1149],
      [[0, 1], 0.1347, 0.0871],
      [[2], 0.0663, 0.0572],
      [[0, 1], 0.0509, 0.1118],
      [[1], 0.113, 0.0742],
      [[2], 0.078, 0.1347],
    ],
  },
  {
    kcs: [
      [2.3386, -1.1238],
      [2.1921, -0.3748],
      [1.7161, 0.7617],
    ],
    items: [
      [[0], 0.1145, 0.1324],
      [[1], 0.1256, 0.1325],
      [[2], 0.0984, 0.0866],
      [[0], 0.106, 0.1062],
      [[1, 2], 0.1198, 0.056],
      [[0, 2], 0.069, 0.0962],
      [[0], 0.1325, 0.137],
      [[1, 2], 0.1198, 0.0959],
      [[2], 0.1363, 0.0611],
    ],
  },
  {
    kcs: [
      [2.1382, 0.0201],
      [2.4915, -0.3107],
      [1.5967, -0.882],
    ],
    items: [
      [[0], 0.1112, 0.0785],
      [[0, 1], 0.1234, 0.0699],
      [[2], 0.1014, 0.0956],
      [[0], 0.1102, 0.1287],
      [[0, 1], 0.1302, 0.088],
      [[2], 0.1224, 0.0877],
      [[0], 0.0848, 0.1178],
      [[1, 2], 0.1007, 0.1141],
      [[0, 2], 0.1159, 0.0722],
    ],
  },
  {
    kcs: [
      [2.4824, -0.1072],
      [1.5404, 1.3933],
      [1.6228, -1.0836],
    ],
    items: [
      [[0], 0.0822, 0.0555],
      [[1], 0.0569, 0.1475],
      [[2], 0.0552, 0.1213],
      [[0], 0.1191, 0.0544],
      [[1, 2], 0.0919, 0.0593],
      [[2], 0.1197, 0.0926],
      [[0], 0.0891, 0.148],
      [[1], 0.1494, 0.1389],
      [[2], 0.0749, 0.1403],
    ],
  },
];

/** Items whose guess and slip are from 0.05 to 0.15 as drawn, or 0.15 to 0.3 and 0.1 to 0.25. */
const qualities = {
  good: (guess: number, slip: number): readonly [number, number] => [guess, slip],
  weak: (guess: number, slip: number): readonly [number, number] => [0.075 + 1.5 * guess, 0.025 + 1.5 * slip],
};

/** Returns six banks. */
export function smallBanks(quality: keyof typeof qualities, confidence: number): readonly SmallBank[] {
  return drawn.map(({ kcs, items }) => ({
    confidence,
    parameters: {
      theta: { nodes: 25, min: -4, max: 4, mean: 0, sd: 1 },
      kcs: kcs.map(([slope, location], kc) => ({ guid: `kc-${kc}`, slope, location })),
      items: items.map(([own, ...drawnOf], item) => {
        const [guess, slip] = qualities[quality](...drawnOf);
        return {
          artifactVersionId: `item-${item}`,
          kcs: own.map((kc) => `kc-${kc}`),
          probabilities: Array.from({ length: 2 ** own.length }, (_, pattern) =>
            pattern === 2 ** own.length - 1 ? 1 - slip : guess,
          ),
        };
      }),
      scale: Array.from({ length: 25 }, (_, g) => g),
    },
  }));
}
