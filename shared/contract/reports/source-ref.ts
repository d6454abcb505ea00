import * as z from 'zod';
import { sourceService } from './problem.ts';
import { instant, reference, text } from './primitives.ts';

/** Freshness of one source. Every required source of a success is `current` [RP-087]. */
const sourceStatus = z.enum(['current', 'stale', 'unavailable', 'unknown']);

/** The receipt of one consulted upstream resource [RP-006, RP-085, RP-086]. */
export const sourceRef = z.strictObject({
  service: sourceService,
  resourceId: reference,
  observedAt: instant,
  version: text.nullable(),
  status: sourceStatus,
});
export type SourceRef = z.infer<typeof sourceRef>;

export const sources = z.array(sourceRef).min(1).max(32);
