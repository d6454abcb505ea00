import fc from 'fast-check';
import type { Exposure } from '#functions/mastery/engine/index.ts';
import { exposureOf } from '#functions/mastery/records/engine-rules.ts';
import type { ExposureMethod, ExposureRule } from '#shared/contract/mastery/selection-policy.ts';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import type { ExposureTable } from '#shared/records/records.ts';

/** What a definition of a method of exposure control may look at. */
export interface Offers {
  readonly runSeed: string;
  /** Sequence number of the offer to come, from 1. */
  readonly sequence: number;
  /** The share of the run's items that were offered already. */
  readonly share: number;
  /** The gain of each item of the model; NaN: none. */
  readonly gains: Float64Array;
  /** The highest gain of an item that may be offered by the rules but for the minima. */
  readonly highest: number;
  /** The items that may be offered, from the highest weight down; ties as the engine breaks them. */
  readonly inOrder: (weightOf: (item: number) => number) => readonly number[];
}

/**
 * What tests, measurements and stored examples know of a method.
 * @template Stated the rule as a policy states it
 * @template Kept the rule in the engine's vocabulary
 */
interface Row<Stated = ExposureRule, Kept = Exposure> {
  /** A rule for a bank whose items have these QTI identifiers, with the table that it names, if it names one. */
  readonly example: (qtiIdentifiers: readonly string[]) => {
    readonly rule: Stated;
    readonly table?: ExposureTable;
  };
  /** Rules for pools of items `q-0` to `q-<mostItems>`. */
  readonly arbitrary: (mostItems: number) => fc.Arbitrary<Kept>;
  /** The item that the method takes, from its definition (docs/engine.md, "Selection"). `rule` has the method of the row. */
  take(rule: Kept, offers: Offers): number | undefined;
}

type Of<Rule, Method> = Extract<Rule, { readonly method: Method }>;

/** A number below 2^48 from the hash of a text. */
const drawOf = (text: string): bigint => BigInt(`0x${sha256Hex(text).slice(0, 12)}`);

/** One row per method: what derives from the table covers a new method as soon as its row is here. */
const methods: {
  readonly [Method in ExposureMethod]: Row<Of<ExposureRule, Method>, Of<Exposure, Method>>;
} = {
  randomesque: {
    example: () => ({ rule: { method: 'randomesque', size: 5 } }),
    arbitrary: (mostItems) =>
      fc.constantFrom(1, 1, 2, 3, mostItems).map((size) => ({ method: 'randomesque', size })),
    take: ({ size }, { runSeed, sequence, gains, inOrder }) => {
      const best = inOrder((item) => gains[item]!).slice(0, size);
      const draw = drawOf(`randomesque|${runSeed}|${sequence}`);
      return best[best.length > 1 ? Number(draw % BigInt(best.length)) : 0];
    },
  },
  progressive: {
    example: () => ({ rule: { method: 'progressive' } }),
    arbitrary: () => fc.constant({ method: 'progressive' }),
    take: (_, { runSeed, sequence, share, gains, highest, inOrder }) => {
      const next = stream(`progressive|${runSeed}|${sequence}`);
      const draws = Array.from(gains, () => next());
      return inOrder((item) => (1 - share) * draws[item]! * highest + share * gains[item]!)[0];
    },
  },
  sympson_hetter: {
    example: (qtiIdentifiers) => {
      const table = Object.fromEntries(qtiIdentifiers.map((id, n) => [id, 1 / 2 ** ((n % 3) + 1)]));
      return { rule: { method: 'sympson_hetter', tableSha256: hashCanonical(table) }, table };
    },
    arbitrary: (mostItems) =>
      fc
        .dictionary(
          fc.nat(mostItems).map((j) => `q-${j}`),
          fc.constantFrom(0, 0.2, 0.6, 1),
        )
        .map((table) => ({ method: 'sympson_hetter', probabilities: new Map(Object.entries(table)) })),
    take: ({ probabilities }, { runSeed, gains, inOrder }) => {
      const byGain = inOrder((item) => gains[item]!);
      const passes = (item: number): boolean =>
        Number(drawOf(`sympson_hetter|${runSeed}|a-${item}`)) <
        (probabilities.get(`q-${item}`) ?? 1) * 2 ** 48;
      return byGain.find(passes) ?? byGain[0];
    },
  },
};

/** Every method of exposure control. */
// SAFETY: the keys of the table are the methods.
export const exposureMethods = Object.keys(methods) as readonly ExposureMethod[];

/** What tests know of a method. */
export function exposureMethod(method: ExposureMethod): Row {
  return methods[method];
}

/** The example of a method in the engine's vocabulary. */
export function engineExample(method: ExposureMethod, qtiIdentifiers: readonly string[]): Exposure {
  const { rule, table } = methods[method].example(qtiIdentifiers);
  // SAFETY: only no rule is none to the engine.
  return exposureOf(rule, table)!;
}
