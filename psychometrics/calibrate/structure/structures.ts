/**
 * Structures of knowledge: distributions of the 2^K patterns of mastery with few parameters. Each is a multinomial over the patterns of its support,
 * fitted to expected numbers of learners with each pattern.
 */
import { addTo, at, exp, log, sum } from '../numbers.ts';

/** One distribution of patterns. A vector contains its parameters without bounds, so that it can be extrapolated. */
export interface Structure {
  readonly parameters: number;
  /** The patterns that are possible, ascending. */
  readonly support: Int32Array;
  readonly start: Float64Array;
  /** Returns P(pattern) on the support. */
  readonly prior: (vector: Float64Array) => Float64Array;
  /** Returns a vector whose multinomial likelihood of the counts on the support is not below that of `from`. */
  readonly maximize: (counts: Float64Array, from: Float64Array) => Float64Array;
  /** Puts a vector back into its bounds. */
  readonly project: (vector: Float64Array) => Float64Array;
}

/** A cell is never emptier than this, so that its logarithm can be extrapolated. */
const LEAST_LOG = -40;

/** Returns probabilities of logarithms up to a constant. */
export function normalized(logs: Float64Array): Float64Array {
  const highest = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  const cells = logs.map((value) => exp(value - highest));
  const total = sum(cells);
  return cells.map((cell) => cell / total);
}

/** Returns the logarithms of a distribution, within the bound of a cell. */
function logCells(cells: Float64Array): Float64Array {
  const total = sum(cells);
  return cells.map((cell) => (cell > 0 ? Math.max(LEAST_LOG, log(cell / total)) : LEAST_LOG));
}

const projectLogs = (vector: Float64Array): Float64Array => logCells(normalized(vector));

/** Creates the saturated distribution on a support: one probability per pattern. With all patterns it contains every other structure. */
export function saturated(support: Int32Array): Structure {
  return {
    parameters: support.length - 1,
    support,
    start: projectLogs(new Float64Array(support.length)),
    prior: normalized,
    maximize: logCells,
    project: projectLogs,
  };
}

/** Passes over all pairs of KCs in one M-step. */
const SWEEPS = 2;

/**
 * Creates the log-linear distribution with main effects and all pairs of KCs, fitted by iterative proportional fitting (Deming and Stephan, 1940,
 * Annals of Mathematical Statistics 11, 427-444). A mixture of logarithms of such distributions is one again, so that the vector contains log P.
 */
export function allPairs(kcCount: number): Structure {
  const size = 2 ** kcCount;
  const pairs = Array.from({ length: kcCount }, (_, l) =>
    Array.from({ length: l }, (_unused, k) => [k, l] as const),
  ).flat();
  return {
    ...saturated(Int32Array.from({ length: size }, (_, pattern) => pattern)),
    parameters: kcCount + pairs.length,
    maximize: (counts, from) => {
      const cells = normalized(from);
      const total = sum(counts);
      for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
        for (const [k, l] of pairs) {
          const target = new Float64Array(4);
          const present = new Float64Array(4);
          for (let a = 0; a < size; a += 1) {
            const cell = ((a >>> k) & 1) | (((a >>> l) & 1) << 1);
            addTo(target, cell, at(counts, a) / total);
            addTo(present, cell, at(cells, a));
          }
          const ratio = target.map((value, cell) => (at(present, cell) > 0 ? value / at(present, cell) : 0));
          for (let a = 0; a < size; a += 1) {
            cells[a] = at(cells, a) * at(ratio, ((a >>> k) & 1) | (((a >>> l) & 1) << 1));
          }
        }
      }
      return logCells(cells);
    },
  };
}
