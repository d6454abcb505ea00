import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referencePosterior, type ReferenceModel } from '#psychometrics/reference/higher-order-cdm.ts';
import { pairedQ, simulateAnswers, simulateResponses } from '#test/support/simulate-study.ts';
import { fit } from './em.ts';
import { eachRow, expectedCounts, logLikelihoodOf } from './expectation.ts';
import { levelSets } from './faces.ts';
import { isMonotone } from './isotonic.ts';
import {
  collapse,
  createDesign,
  latentPrior,
  randomParameters,
  SLOPE_RANGE,
  startingParameters,
  theta,
} from './model.ts';
import type { Design, ItemModel, Parameters, Penalty, Responses } from './model.ts';
import { uniformFrom } from './numbers.ts';
import { penaltyOf } from './penalty.ts';
import { freeParameters, standardErrors } from './standard-errors.ts';

const q = [[0], [1], [0, 1], [0, 2], [0, 1, 2]];
const models: readonly ItemModel[] = ['dina', 'gdina'];

function designOf(
  model: ItemModel,
  penalty: Penalty = 'none',
  kcsOf: readonly (readonly number[])[] = q,
): Design {
  return createDesign(model, Math.max(...kcsOf.flat()) + 1, kcsOf, { bound: 0.001, penalty });
}

/** The fitted model in the words of the brute-force oracle. */
function reference(design: Design, { tables, slopes, locations }: Parameters): ReferenceModel {
  return {
    ...theta,
    kcs: Array.from(slopes, (slope, k) => ({ slope, location: locations[k]! })),
    items: design.items.map(({ kcs }, j) => ({ kcs, success: [...tables[j]!] })),
    scale: [...design.points],
  };
}

/** The largest difference of any probability, location or slope. */
function largestDifference(a: Parameters, b: Parameters): number {
  const all = ({ tables, slopes, locations }: Parameters): number[] => [
    ...tables.flatMap((table) => [...table]),
    ...slopes,
    ...locations,
  ];
  const other = all(b);
  return Math.max(...all(a).map((value, n) => Math.abs(value - other[n]!)));
}

describe('the E-step', () => {
  it.each(models)('is that of brute force over nodes and patterns, missing answers included: %s', (model) => {
    const uniform = uniformFrom(3);
    const design = designOf(model);
    const parameters = randomParameters(design, uniform);
    const answers = simulateAnswers(design, parameters, 12, uniform, 0.2);
    const counts = expectedCounts(design, parameters, collapse(answers, q.length));
    const oracle = reference(design, parameters);
    let logLikelihood = 0;
    const mastered = [0, 0, 0];
    const correctOfFirst = [0, 0];
    const answeredFirst = [0, 0];
    for (let learner = 0; learner < 12; learner += 1) {
      const own = [...answers.subarray(learner * q.length, (learner + 1) * q.length)];
      const given = own.flatMap((answer, item) => (answer < 0 ? [] : [{ item, correct: answer === 1 }]));
      const posterior = referencePosterior(oracle, given);
      logLikelihood += posterior.logLikelihood;
      posterior.kcs.forEach((p, k) => (mastered[k]! += p));
      if (own[0]! < 0) continue;
      answeredFirst[1]! += posterior.kcs[0]!;
      answeredFirst[0]! += 1 - posterior.kcs[0]!;
      if (own[0] === 1) correctOfFirst[1]! += posterior.kcs[0]!;
      if (own[0] === 1) correctOfFirst[0]! += 1 - posterior.kcs[0]!;
    }
    expect(counts.logLikelihood).toBeCloseTo(logLikelihood, 9);
    expect(logLikelihoodOf(design, parameters, collapse(answers, q.length))).toBeCloseTo(logLikelihood, 9);
    mastered.forEach((count, k) => {
      const sum = counts.everybody.reduce((total, n, pattern) => total + ((pattern >>> k) & 1) * n, 0);
      expect(sum).toBeCloseTo(count, 9);
    });
    [0, 1].forEach((pattern) => {
      expect(counts.answered[0]![pattern]).toBeCloseTo(answeredFirst[pattern]!, 9);
      expect(counts.correct[0]![pattern]).toBeCloseTo(correctOfFirst[pattern]!, 9);
    });
  });
});

describe('EM', () => {
  it('never lowers the objective, and keeps tables monotone and inside their bounds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        fc.constantFrom<Penalty>('weak', 'none'),
        fc.integer({ min: 1, max: 1e6 }),
        fc.constantFrom(0, 0.3),
        (model, penalty, seed, missing) => {
          const uniform = uniformFrom(seed);
          const design = designOf(model, penalty);
          const responses = simulateResponses(
            design,
            randomParameters(design, uniform),
            60,
            uniform,
            missing,
          );
          const { history, parameters, objective } = fit(
            design,
            responses,
            randomParameters(design, uniform),
            {
              maximumIterations: 60,
              tolerance: 1e-6,
            },
          );
          for (const { change } of history) expect(change).toBeGreaterThan(-1e-8);
          expect(objective).toBe(history.at(-1)!.objective);
          for (const table of parameters.tables) {
            expect(isMonotone(table)).toBe(true);
            expect(table.every((p) => p >= 0.001 && p <= 0.999)).toBe(true);
          }
          expect(parameters.slopes.every((slope) => slope > 0)).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });
});

/** Derivative of the objective per step of the logit, log slope or location, in one direction of the tables and curves. */
type Direction = (parameters: Parameters, by: number) => void;

const shiftLogit = (p: number, by: number): number => 1 / (1 + Math.exp(-Math.log(p / (1 - p)) - by));

/** The sets of a level set that stay closed when a KC is added: they generate the directions in which a monotone table may move. */
function upperSets(level: readonly number[]): number[][] {
  return Array.from({ length: 2 ** level.length }, (_, code) =>
    level.filter((__, n) => (code >>> n) & 1),
  ).filter((set) => set.length > 0 && set.every((s) => level.every((t) => (t & s) !== s || set.includes(t))));
}

/** Every direction out of a point that stays feasible, and generates all others. */
function feasibleDirections(design: Design, { tables, slopes, locations }: Parameters): Direction[] {
  const directions: Direction[] = [];
  tables.forEach((table, j) => {
    const move =
      (set: readonly number[], sign: number): Direction =>
      (parameters, by) => {
        for (const s of set) parameters.tables[j]![s] = shiftLogit(table[s]!, sign * by);
      };
    const last = table.length - 1;
    const isPooled = table[0] === table[last];
    const below = [...table.keys()].slice(0, last);
    const levels =
      design.model === 'gdina' ? levelSets(table) : isPooled ? [[...table.keys()]] : [below, [last]];
    for (const level of levels) {
      const uppers = design.model === 'gdina' ? upperSets(level) : isPooled ? [[last], level] : [level];
      for (const upper of uppers) {
        if (table[level[0]!]! < 1 - design.bound) directions.push(move(upper, 1));
        const lower = level.filter((s) => upper.length === level.length || !upper.includes(s));
        if (table[level[0]!]! > design.bound) directions.push(move(lower, -1));
      }
    }
  });
  for (const sign of [1, -1]) {
    slopes.forEach((slope, k) => {
      if (sign > 0 ? slope < SLOPE_RANGE.max : slope > SLOPE_RANGE.min)
        directions.push((parameters, by) => (parameters.slopes[k] = slope * Math.exp(sign * by)));
    });
    locations.forEach((location, k) => {
      if (sign > 0 ? location < theta.max : location > theta.min)
        directions.push((parameters, by) => (parameters.locations[k] = location + sign * by));
    });
  }
  return directions;
}

/** The steepest ascent of the objective in any of these directions, by finite differences. */
function steepest(design: Design, parameters: Parameters, responses: Responses): number {
  const objective = (at: Parameters): number =>
    logLikelihoodOf(design, at, responses) + penaltyOf(design, at);
  const here = objective(parameters);
  const step = 1e-5;
  return Math.max(
    ...feasibleDirections(design, parameters).map((move) => {
      const moved = {
        tables: parameters.tables.map((table) => Float64Array.from(table)),
        slopes: Float64Array.from(parameters.slopes),
        locations: Float64Array.from(parameters.locations),
      };
      move(moved, step);
      return (objective(moved) - here) / step;
    }),
  );
}

describe('convergence', () => {
  it('is at a point from which no feasible direction rises: bounds, pooled patterns and all', () => {
    let bound = 0;
    let pooled = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        fc.constantFrom<Penalty>('weak', 'none'),
        fc.integer({ min: 1, max: 1e6 }),
        fc.constantFrom(0, 0.3),
        (model, penalty, seed, missing) => {
          const uniform = uniformFrom(seed);
          const design = designOf(model, penalty, [...q, [0], [1], [2]]);
          const truth = randomParameters(design, uniform);
          const responses = simulateResponses(design, truth, 120, uniform, missing);
          const { parameters, converged, scoreLength } = fit(design, responses, startingParameters(design), {
            maximumIterations: 2000,
            tolerance: 1e-3,
          });
          expect(converged).toBe(true);
          expect(scoreLength).toBeLessThan(1e-3);
          expect(steepest(design, parameters, responses)).toBeLessThan(0.02);
          const values = parameters.tables.flatMap((table) => [...table]);
          bound += values.filter((p) => p <= 0.001 || p >= 0.999).length;
          bound += parameters.slopes.filter((slope) => slope >= SLOPE_RANGE.max).length;
          if (model === 'gdina') pooled += values.length - freeParameters(design, parameters).length;
          // Elsewhere some direction rises.
          expect(steepest(design, startingParameters(design), responses)).toBeGreaterThan(1);
        },
      ),
      { numRuns: 30, seed: 1 },
    );
    expect(bound).toBeGreaterThan(0);
    expect(pooled).toBeGreaterThan(0);
  });
});

describe('recovery of known parameters', () => {
  it.each(models)('%s: from any start within four standard errors, as large as the errors', (model) => {
    const uniform = uniformFrom(2024);
    const design = designOf(model, 'none', pairedQ(3));
    const truth: Parameters = {
      tables: design.items.map(({ kcs, size }) =>
        Float64Array.from({ length: size }, (_, s) => {
          const share = [0, 1].slice(0, kcs.length).filter((bit) => (s >>> bit) & 1).length / kcs.length;
          return 0.15 + 0.7 * (model === 'dina' ? Number(share === 1) : share);
        }),
      ),
      slopes: Float64Array.of(1.5, 2, 2.5),
      locations: Float64Array.of(-0.6, 0, 0.5),
    };
    const responses = simulateResponses(design, truth, 4000, uniform);
    const [end, other] = [startingParameters(design), randomParameters(design, uniform)].map((start) =>
      fit(design, responses, start, { maximumIterations: 3000, tolerance: 1e-3 }),
    );
    const { parameters } = end!;
    expect([end!.converged, other!.converged]).toEqual([true, true]);
    expect(largestDifference(other!.parameters, parameters)).toBeLessThan(0.01);
    const errors = standardErrors(design, parameters, responses);
    expect(errors.rank).toBe(errors.free);
    const z = [
      ...parameters.tables.flatMap((table, j) =>
        [...table].map((p, s) => (p - truth.tables[j]![s]!) / (errors.tables[j]![s] ?? NaN)),
      ),
      ...[...parameters.slopes].map((slope, k) => (slope - truth.slopes[k]!) / (errors.slopes[k] ?? NaN)),
      ...[...parameters.locations].map((b, k) => (b - truth.locations[k]!) / (errors.locations[k] ?? NaN)),
    ];
    expect(Math.max(...z.map(Math.abs))).toBeLessThan(4);
    const rms = Math.sqrt(z.reduce((total, value) => total + value * value, 0) / z.length);
    expect(rms).toBeGreaterThan(0.6);
    expect(rms).toBeLessThan(1.4);
  });
});

describe('standard errors', () => {
  it.each(models)('stand on scores that numerical differentiation confirms: %s', (model) => {
    const uniform = uniformFrom(17);
    const design = designOf(model, 'none');
    const parameters = randomParameters(design, uniform);
    const responses = simulateResponses(design, parameters, 25, uniform, 0.1);
    const free = freeParameters(design, parameters);
    const size = free.length;
    const step = 1e-5;
    const rowLogs = (moved: Parameters): number[] => {
      const logs: number[] = [];
      eachRow(design, moved, latentPrior(design, moved), responses, (_row, _posterior, log) =>
        logs.push(log),
      );
      return logs;
    };
    const shifted = (n: number, by: number): Parameters => {
      const copy = {
        tables: parameters.tables.map((table) => Float64Array.from(table)),
        slopes: Float64Array.from(parameters.slopes),
        locations: Float64Array.from(parameters.locations),
      };
      const one = free[n]!;
      if (one.kind === 'table') for (const s of one.patterns) copy.tables[one.item]![s]! += by;
      else if (one.kind !== 'extra') copy[one.kind === 'slope' ? 'slopes' : 'locations'][one.kc]! += by;
      return copy;
    };
    const scores = free.map((_, n) => {
      const [up, down] = [rowLogs(shifted(n, step)), rowLogs(shifted(n, -step))];
      return up.map((value, row) => (value - down[row]!) / (2 * step));
    });
    const { covariance, rank, kept } = standardErrors(design, parameters, responses);
    expect(rank).toBeGreaterThan(size / 2);
    // On the kept rows, information (from the numerical scores) times covariance is the identity.
    const rows = free.flatMap((_, n) => (kept[n] === 1 ? [n] : []));
    const information = (i: number, j: number): number =>
      scores[i]!.reduce((total, value, row) => total + responses.counts[row]! * value * scores[j]![row]!, 0);
    for (const i of rows) {
      for (const j of rows) {
        const product = rows.reduce(
          (total, n) => total + information(i, n) * covariance.values[n * size + j]!,
          0,
        );
        expect(product).toBeCloseTo(i === j ? 1 : 0, 2);
      }
    }
  });

  it('say so when two components cannot be told apart', () => {
    const uniform = uniformFrom(4);
    const design = designOf('dina', 'none', [[0, 1], [0, 1], [0, 1], [2], [2]]);
    const parameters = startingParameters(design);
    const responses = simulateResponses(design, parameters, 400, uniform);
    const errors = standardErrors(design, parameters, responses);
    expect(errors.rank).toBeLessThan(errors.free);
    expect([...errors.slopes, ...errors.locations]).toContain(undefined);
  });

  it('count probabilities on a bound and held together as monotonicity leaves them', () => {
    const design = designOf('gdina', 'none', [[0, 1]]);
    const start = startingParameters(design);
    const tables = [Float64Array.of(0.001, 0.4, 0.4, 0.9)];
    // 0.4 twice, but neither pattern lies above the other: two parameters.
    expect(freeParameters(design, { ...start, tables }).filter(({ kind }) => kind === 'table')).toHaveLength(
      3,
    );
    const pooled = [Float64Array.of(0.4, 0.4, 0.4, 0.9)];
    expect(
      freeParameters(design, { ...start, tables: pooled }).filter(({ kind }) => kind === 'table'),
    ).toHaveLength(2);
  });
});
