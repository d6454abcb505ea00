import { describe, expect, it } from 'vitest';
import { compileModel, type CompiledModel, type ModelParameters } from './index.ts';
import { areAnswersUnusual, FEWEST_JUDGED_ANSWERS, standardizedSurprise, surpriseOf } from './person-fit.ts';
import type { Outcome } from './types.ts';

/** A bank of DINA items, each with its KCs, guess and slip. */
function bank(
  kcs: number,
  items: readonly (readonly [kcs: readonly number[], low: number, high: number])[],
): CompiledModel {
  const nodes = 21;
  const parameters: ModelParameters = {
    theta: { nodes, min: -4, max: 4, mean: 0, sd: 1 },
    kcs: Array.from({ length: kcs }, (_, k) => ({ guid: `kc-${k}`, slope: 2, location: k - (kcs - 1) / 2 })),
    items: items.map(([own, low, high], j) => ({
      artifactVersionId: `item-${j}`,
      kcs: own.map((k) => `kc-${k}`),
      probabilities: Array.from({ length: 2 ** own.length }, (_, s) =>
        s === 2 ** own.length - 1 ? high : low,
      ),
    })),
    scale: Array.from({ length: nodes }, (_, g) => g),
  };
  const model = compileModel(parameters);
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

const ofTwo = bank(
  3,
  Array.from({ length: 14 }, (_, j) => [
    j % 4 === 3 ? [j % 3, (j + 1) % 3] : [j % 3],
    0.05 + 0.01 * j,
    0.95 - 0.02 * j,
  ]),
);
const LENGTH = FEWEST_JUDGED_ANSWERS;

/** Every answer sequence of a test whose next item depends on the answers, with its probability. */
function* sequences(model: CompiledModel, next: (outcomes: readonly Outcome[]) => number) {
  // P(answers) by the mean over states, which the sequence's own predictions do not enter.
  const nodes = model.core.knownTheta([]);
  const kcs = model.kcGuids.length;
  const states = Array.from({ length: 2 ** kcs }, (_, s) =>
    Uint8Array.from({ length: kcs }, (__, k) => (s >> k) & 1),
  );
  const prior = states.map((state) =>
    nodes.reduce(
      (sum, weight, g) =>
        sum +
        weight *
          state.reduce(
            (p, has, k) => p * (has ? model.core.masteryAt(k, g) : 1 - model.core.masteryAt(k, g)),
            1,
          ),
      0,
    ),
  );
  for (let code = 0; code < 2 ** LENGTH; code += 1) {
    const outcomes: Outcome[] = [];
    for (let t = 0; t < LENGTH; t += 1)
      outcomes.push({ item: next(outcomes), correct: ((code >> t) & 1) === 1 });
    const probability = states.reduce(
      (sum, state, s) =>
        sum +
        outcomes.reduce((p, { item, correct }) => {
          const right = model.core.successProbability(item, state);
          return p * (correct ? right : 1 - right);
        }, prior[s] ?? NaN),
      0,
    );
    yield { outcomes, probability };
  }
}

/** The next item depends on the number of right answers so far, as it does in adaptive tests. */
const fixed = ({ length }: readonly Outcome[]): number => length;
const adaptive = (outcomes: readonly Outcome[]): number => {
  const used = new Set(outcomes.map(({ item }) => item));
  const right = outcomes.filter(({ correct }) => correct).length;
  const free = Array.from({ length: 14 }, (_, j) => j).filter((j) => !used.has(j));
  return free[(3 * right + outcomes.length) % free.length] ?? NaN;
};

describe('answers of learners whom the model describes', () => {
  const orders = { 'in a fixed order': fixed, 'in an order that depends on the answers': adaptive };
  it.each(Object.entries(orders).map(([name, next]) => ({ name, next })))(
    'surprise as much as it expects, and are unusual with a probability of about 1 %, over all sequences of answers $name',
    ({ next }) => {
      let [total, unusual, excess, square, variance] = [0, 0, 0, 0, 0];
      for (const { outcomes, probability } of sequences(ofTwo, next)) {
        const surprise = surpriseOf(ofTwo, outcomes);
        total += probability;
        excess += probability * surprise.excess;
        square += probability * surprise.excess * surprise.excess;
        variance += probability * surprise.variance;
        if (areAnswersUnusual(ofTwo, outcomes) === true) unusual += probability;
      }
      expect(total).toBeCloseTo(1, 12);
      // What makes it a martingale.
      expect(excess).toBeCloseTo(0, 12);
      expect(square).toBeCloseTo(variance, 12);
      expect(unusual).toBeGreaterThan(0.009);
      expect(unusual).toBeLessThan(0.013);
    },
  );
});

describe('an answer pattern', () => {
  const items = Array.from({ length: 12 }, (_, j): [readonly number[], number, number] => [
    [j % 2],
    0.1,
    0.9,
  ]);
  const model = bank(2, items);
  const answers = (text: string): readonly Outcome[] =>
    text.split('').map((c, item) => ({ item, correct: c === '1' }));

  it.each([
    ['all right', '111111111111', false],
    ['all wrong', '000000000000', false],
    ['one KC mastered', '101010101010', false],
    ['one slip', '111110111111', false],
    ['the same KC right and wrong by turns', '111100110011', true],
    ['nine answers, which are too few', '110011001', undefined],
  ])('%s: %s is unusual: %s', (_, text, expected) => {
    expect(areAnswersUnusual(model, answers(text))).toBe(expected);
  });

  it('of toss-ups are no surprise', () => {
    const flat = bank(
      1,
      Array.from({ length: 12 }, () => [[0], 0.5, 0.5]),
    );
    expect(standardizedSurprise(surpriseOf(flat, answers('000000000000')))).toBe(0);
  });

  it('of a test that would take too long to judge is measured on its first answers, if these are ten', () => {
    // 21 nodes times the KCs, for each answer.
    const judged = (kcs: number): readonly unknown[] => {
      const wide = bank(
        kcs,
        Array.from({ length: 60 }, (_, j) => [[j], 0.1, 0.9]),
      );
      const all = answers('0110'.repeat(15));
      const { answers: first, ...surprise } = surpriseOf(wide, all);
      expect(surpriseOf(wide, all.slice(0, first))).toEqual({ answers: first, ...surprise });
      return [first, areAnswersUnusual(wide, all)];
    };
    expect(judged(60)).toEqual([60, true]);
    expect(judged(20_000)).toEqual([47, true]);
    expect(judged(100_000)).toEqual([9, undefined]);
  });

  it('has a finite surprise for answers that the model all but excludes', () => {
    const sharp = bank(
      1,
      Array.from({ length: 12 }, () => [[0], 1e-300, 1 - 1e-16]),
    );
    const value = standardizedSurprise(surpriseOf(sharp, answers('101010101010')));
    expect(Number.isFinite(value)).toBe(true);
    expect(value).toBeGreaterThan(100);
  });
});
