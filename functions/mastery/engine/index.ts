/** The engine's only entry for other code. It is pure and deterministic: the same arguments give the same bits on every runtime. */
export type {
  CalibratedParameters,
  Estimate,
  KnownMastery,
  ModelParameters,
  Outcome,
  PriorBlock,
} from './types.ts';
export { runtimeVersions } from './kernels/index.ts';
export { compileModel, estimate, remainingUncertainty, type CompiledModel } from './model.ts';
export { classify, type Classification, type ClassificationRule } from './classification.ts';
export type { StopCause, StoppingRules } from './stopping.ts';
export { prepareSelection, selectItem } from './selection.ts';
export type { Constraints, PoolItem, SelectionContext } from './selection.ts';
export type { Exposure } from './exposure.ts';
export { areAnswersUnusual } from './person-fit.ts';
export { feasibilityOf, losesMinimum, type UnmeetableMinimum } from './feasibility.ts';
export { nextStep, computeEvidence, type Evidence } from './run-step.ts';
export { drawSimulatedLearner, createResponder, simulateRun, simulatedRunSeed } from './simulation.ts';
export type { SimulatedRun } from './simulation.ts';
/** The frozen kernel's own elementary functions, for studies whose results must have the same bits on every runtime. */
export { exp, log, logistic, sqrt } from './kernels/ho-cdm-grid-1/arithmetic.ts';
