/** Simulated studies whose truth is known: sound ones, and what damages and structures are made from. Deterministic by their seed. */
import { logistic, uniformFrom } from '#psychometrics/calibrate/numbers.ts';
import { normal } from '#psychometrics/recovery/learners.ts';
import type { StudyTables } from '#tools/terminal/study-tables.ts';

/** Draws one learner's pattern of mastery: bit k is set if KC k is mastered. */
export type PatternSource = (uniform: () => number) => number;

/** What a study is drawn from. */
export interface StudyPlan {
  readonly learners: number;
  readonly kcs: number;
  /** For each item the ascending indices of its KCs. */
  readonly kcsOf: readonly (readonly number[])[];
  /** Absent: KCs are independent given a normal ability, slopes 1 to 2.5, locations -1 to 1. */
  readonly patterns?: PatternSource;
  readonly seed: number;
}

/** Ranges of the DINA items that are drawn. */
const GUESS = { min: 0.1, max: 0.25 } as const;
const SLIP = { min: 0.05, max: 0.2 } as const;

/** Returns a study of DINA items, without missing answers. */
export function simulateStudy({ learners, kcs, kcsOf, patterns, seed }: StudyPlan): StudyTables {
  const uniform = uniformFrom(seed);
  const between = (range: { readonly min: number; readonly max: number }): number =>
    range.min + (range.max - range.min) * uniform();
  const items = kcsOf.map((own) => ({
    needs: own.reduce((bits, k) => bits | (1 << k), 0),
    guess: between(GUESS),
    success: 1 - between(SLIP),
  }));
  const draw = patterns ?? higherOrder(kcs, uniform);
  return {
    items: kcsOf.map((_, j) => `I${j + 1}`),
    kcs: Array.from({ length: kcs }, (_, k) => `K${k + 1}`),
    kcsOf,
    learners: Array.from({ length: learners }, (_, n) => {
      const pattern = draw(uniform);
      return {
        name: `L${n + 1}`,
        answers: Int8Array.from(items, ({ needs, guess, success }) =>
          Number(uniform() < ((pattern & needs) === needs ? success : guess)),
        ),
      };
    }),
  };
}

/** Returns the model that is fitted: one normal ability, a curve for each KC, independent KCs given ability. */
function higherOrder(kcs: number, uniform: () => number): PatternSource {
  const curves = Array.from({ length: kcs }, () => ({
    slope: 1 + 1.5 * uniform(),
    location: 2 * uniform() - 1,
  }));
  return (draw) => {
    const ability = normal(draw);
    return curves.reduce(
      (pattern, { slope, location }, k) =>
        draw() < logistic(slope * (ability - location)) ? pattern | (1 << k) : pattern,
      0,
    );
  };
}
