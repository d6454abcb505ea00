import * as z from 'zod';
import { reference, text } from '#shared/contract/reports/primitives.ts';
import { parseUtcInstant } from '#shared/kernel/instant.ts';

const MAX_ID_BYTES = 1_024;

/**
 * An owner's opaque, case-sensitive id: passed on byte for byte [MA-040]. At most 1,024 bytes of UTF-8, so that a token can hold the ids of a
 * whole run; a longer one makes the answer malformed.
 */
export const ownerId = z
  .string()
  .min(1)
  .refine((id) => Buffer.byteLength(id) <= MAX_ID_BYTES);

/** 64 lower-case hexadecimal characters [MA-043]. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** RFC 3339 UTC instant, as answers show it [MA-042, RP-051]. */
export { instant } from '#shared/contract/reports/primitives.ts';

/** A UTC instant as an owner writes it to the mastery engine, also with `+00:00` [MA-042]. Answers never show it. */
export const utcInstant = z
  .string()
  .refine((text) => parseUtcInstant(text) !== undefined, 'must be an RFC 3339 UTC instant');

/** What an owner says of how current its answer is: a required fact counts only while it is `current`. */
export const freshness = z.enum(['current', 'stale', 'unknown']);
export type Freshness = z.infer<typeof freshness>;

/** An owner's version of what it answers: what a receipt can carry. */
export const version = text;

/** What an owner says of the state of its answer. */
export const versioned = { version, freshness };

/** The version of a test spec that governs what the answer is about. */
export const governed = { contentTestSpecId: reference, contentTestSpecVersion: version };
