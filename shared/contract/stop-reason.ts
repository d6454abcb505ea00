import * as z from 'zod';

/** Why a run stopped: one value per stopping rule of the engine, in the order in which the engine tries them [MA-083, MA-198]. */
export const stopReason = z.enum([
  'classifications_complete',
  'precision_target_met',
  'max_items',
  'time_budget',
]);
export type StopReason = z.infer<typeof stopReason>;
