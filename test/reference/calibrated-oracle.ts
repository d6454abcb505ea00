import type { CalibrationParameters } from '#shared/records/records.ts';
import { referenceBlocks, referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';

export interface Oracle {
  /** P(mastered) by CASE GUID, of every knowledge component of the calibration. */
  readonly kcs: ReadonlyMap<string, number>;
  readonly scaleScore: number;
  readonly standardError: number;
}

/** How many knowledge components brute force can take at once. */
const FEASIBLE = 8;

/**
 * What a released calibration says about answers, by brute force over the components that were asked about: given theta all others are as
 * the prior has them. Undefined where even those are too many; with blocks, where all of the calibration's are.
 */
export function oracleOf(
  { theta, kcs: calibrated, items, scale, blocks = [] }: CalibrationParameters,
  answers: readonly { readonly artifactVersionId: string; readonly correct: boolean }[],
): Oracle | undefined {
  const kcs = calibrated.map(({ guid, slope = NaN, location = NaN }) => ({ guid, slope, location }));
  const asked = answers.map(({ artifactVersionId, correct }) => {
    const item = items.find((candidate) => candidate.artifactVersionId === artifactVersionId)!;
    return { item, correct };
  });
  const touched = kcs.filter(
    ({ guid }) => kcs.length <= FEASIBLE || asked.some(({ item }) => item.kcs.includes(guid)),
  );
  if (touched.length > FEASIBLE || (blocks.length > 0 && touched.length < kcs.length)) return undefined;
  const posterior = referencePosterior(
    {
      ...theta,
      kcs: touched,
      items: asked.map(({ item }) => ({
        kcs: item.kcs.map((guid) => touched.findIndex((kc) => kc.guid === guid)),
        success: item.probabilities,
      })),
      scale,
      blocks: referenceBlocks(
        blocks,
        touched.map(({ guid }) => guid),
      ),
    },
    asked.map(({ correct }, item) => ({ item, correct })),
  );
  const nodes = posterior.theta.map((_, g) => theta.min + (g * (theta.max - theta.min)) / (theta.nodes - 1));
  return {
    kcs: new Map(
      kcs.map(({ guid, slope, location }) => {
        const at = touched.findIndex((kc) => kc.guid === guid);
        if (at >= 0) return [guid, posterior.kcs[at]!];
        const chances = nodes.map((t) =>
          Math.min(1 - 1e-6, Math.max(1e-6, 1 / (1 + Math.exp(-slope * (t - location))))),
        );
        return [guid, posterior.theta.reduce((sum, p, g) => sum + p * chances[g]!, 0)];
      }),
    ),
    scaleScore: posterior.scaleScore,
    standardError: posterior.standardError,
  };
}
