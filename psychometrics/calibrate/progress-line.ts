import type { EmStep } from './em.ts';

/** The characters of the bar. */
const BAR = 20;
/** Gains from 10^3 down to 10^-7 fill the bar. */
const FIRST_EXPONENT = 3;
const LAST_EXPONENT = -7;

/** Returns the progress line of a fit. The bar shows the order of magnitude of the last gain. */
export function progressLine(stage: string, step: EmStep | undefined): string {
  if (step === undefined) return `${stage} …`;
  const exponent = step.change > 0 ? Math.log10(step.change) : FIRST_EXPONENT;
  const share = (FIRST_EXPONENT - exponent) / (FIRST_EXPONENT - LAST_EXPONENT);
  const filled = Math.round(BAR * Math.min(1, Math.max(0, share)));
  return `${stage} [${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] iteration ${step.iteration}, log-likelihood ${step.logLikelihood.toFixed(4)}, Δ ${step.change.toExponential(1)}`;
}
