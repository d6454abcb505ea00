import * as z from 'zod';
import { reference, text } from '#shared/contract/reports/primitives.ts';
import { parseUtcInstant } from '#shared/kernel/instant.ts';

const MAX_ID_BYTES = 1_024;

/**
 * An opaque, case-sensitive id of an owner: passed on byte for byte [MA-040]. It has at most 1,024 bytes of UTF-8, so that a token can contain the ids
 * of a whole run; a longer one makes the answer invalid.
 */
export const ownerId = z
  .string()
  .min(1)
  .refine((id) => Buffer.byteLength(id) <= MAX_ID_BYTES);

/** 64 lower-case hexadecimal characters [MA-043]. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An RFC 3339 UTC instant, as responses show it [MA-042, RP-051]. */
export { instant } from '#shared/contract/reports/primitives.ts';

/** A UTC instant as owners write it to the mastery engine, also with `+00:00` [MA-042]. Responses never show it. */
export const utcInstant = z
  .string()
  .refine((text) => parseUtcInstant(text) !== undefined, 'must be an RFC 3339 UTC instant');

/** How current an owner declares its answer to be: a required fact counts only while it is `current`. */
export const freshness = z.enum(['current', 'stale', 'unknown']);
export type Freshness = z.infer<typeof freshness>;

/** The owner's version of an answer, as a receipt can contain it. */
export const version = text;

/** The state of an answer. */
export const versioned = { version, freshness };

/** The version of the test spec that governs the subject of an answer. */
export const governed = { contentTestSpecId: reference, contentTestSpecVersion: version };
