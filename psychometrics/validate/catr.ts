import { compileModel, estimate } from '#functions/mastery/engine/index.ts';
import type { CatrCase } from './reference.ts';

/** catR's quadrature of the cases. */
const GRID = { nodes: 41, min: -4, max: 4, mean: 0, sd: 1 };

/**
 * Returns the engine's result for the answers of one case. Each 4PL item is a knowledge component of its own, mastered at ability t with probability
 * 1/(1 + exp(-a(t - b))), and answered correctly with probability d if mastered, c if not; the scale is ability itself. The posterior mean and
 * standard deviation are then catR's EAP and its standard error.
 * @param runtimeVersion of the kernel
 */
export function eapOf(
  { it, x }: CatrCase,
  runtimeVersion: string,
): { readonly eap: number; readonly sem: number } {
  const parameters = {
    theta: GRID,
    kcs: it.map(([slope, location], j) => ({ guid: `kc-${j}`, slope, location })),
    items: it.map(([, , low, high], j) => ({
      artifactVersionId: `item-${j}`,
      kcs: [`kc-${j}`],
      probabilities: [low, high],
    })),
    scale: Array.from(
      { length: GRID.nodes },
      (_, g) => GRID.min + ((GRID.max - GRID.min) * g) / (GRID.nodes - 1),
    ),
  };
  const model = compileModel(parameters, runtimeVersion);
  if (!model.ok)
    throw new Error(model.error.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'));
  const { scaleScore, standardError } = estimate(
    model.value,
    x.map((answer, item) => ({ item, correct: answer === 1 })),
  );
  return { eap: scaleScore, sem: standardError };
}
