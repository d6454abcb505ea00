import type { EmStep } from './em.ts';

/** Where progress goes: a terminal, or anything else that takes text. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

const BAR = 20;
/** Gains from 10^3 down to 10^-7 fill the bar. */
const FIRST_EXPONENT = 3;
const LAST_EXPONENT = -7;

/** One line on a terminal that rewrites itself; nothing elsewhere. The bar shows the order of magnitude of the last gain. */
export function showProgress(stream: ProgressStream): {
  readonly show: (stage: string, step?: EmStep) => void;
  readonly clear: () => void;
} {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  const clear = (): void => void stream.write('\r\u001B[K');
  return {
    show: (stage, step) => {
      clear();
      stream.write(line(stage, step).slice(0, (stream.columns ?? 80) - 1));
    },
    clear,
  };
}

function line(stage: string, step: EmStep | undefined): string {
  if (step === undefined) return `${stage} …`;
  const exponent = step.change > 0 ? Math.log10(step.change) : FIRST_EXPONENT;
  const share = (FIRST_EXPONENT - exponent) / (FIRST_EXPONENT - LAST_EXPONENT);
  const filled = Math.round(BAR * Math.min(1, Math.max(0, share)));
  return `${stage} [${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] iteration ${step.iteration}, log-likelihood ${step.logLikelihood.toFixed(4)}, Δ ${step.change.toExponential(1)}`;
}
