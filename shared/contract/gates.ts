/** Every gate of a release. E is the prerequisite manifest itself; the others open routes. */
export const gates = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
export type GateName = (typeof gates)[number];

/** A gate that a route can wait for. */
export type Gate = Exclude<GateName, 'E'>;

export const routeGates = gates.filter((gate): gate is Gate => gate !== 'E');

/**
 * Receipts finer than a gate: the candidate/attempt index, without which the candidate list stays closed even if gate C is open, and the mastery
 * engine's evidence from production learners, without which no adaptive diagnostic is shown [RP-023, RP-026].
 */
export const finerReceipts = ['candidate_attempt_index', 'mastery_engine_production_learner'] as const;
export type FinerReceipt = (typeof finerReceipts)[number];

/** Everything that a receipt of the manifest can prove. */
export const provable = [...routeGates, ...finerReceipts] as const;
export type Provable = (typeof provable)[number];
