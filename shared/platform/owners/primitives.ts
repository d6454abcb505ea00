import * as z from 'zod';
import { parseInstant } from '#shared/kernel/instant.ts';

/** An owner's opaque, case-sensitive id: passed on byte for byte [MA-040]. */
export const ownerId = z.string().min(1);

/** 64 lower-case hexadecimal characters [MA-043]. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** RFC 3339 UTC instant [MA-042]. */
export const instant = z
  .string()
  .refine((text) => parseInstant(text) !== undefined, 'must be an RFC 3339 UTC instant');

/** What an owner says of how current its answer is: a required fact counts only while it is `current`. */
export const freshness = z.enum(['current', 'stale', 'unknown']);
export type Freshness = z.infer<typeof freshness>;

/** An owner's version of what it answers: at most what a receipt can carry. */
export const version = z.string().min(1).max(255);
