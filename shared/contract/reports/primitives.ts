import * as z from 'zod';
import { INSTANT } from '#shared/kernel/instant.ts';
import { when } from '../conditions.ts';
import { excluding } from '../excluding.ts';
import { boundedText, VISIBLE_ASCII, WHITE_SPACE } from '../text-forms.ts';

export const MAX_COUNT = 2_147_483_647;

/** A platform reference: opaque and case-sensitive, compared and passed on byte by byte; only its length is checked [RP-049, RP-050]. */
export const reference = boundedText(
  new RegExp(`^[^${WHITE_SPACE}]+$`),
  255,
  'must be 1 to 255 UTF-8 bytes without white space',
);

export const requestReference = excluding(reference);

/** RFC 3339 UTC instant: terminal `Z`, fractional seconds accepted, no offset, no leap second [RP-051]. */
export const instant = z
  .string()
  .refine((text) => INSTANT.test(text), {
    error: 'must be an RFC 3339 UTC instant ending in Z',
    // Comparisons of instants do not run on a value that is no instant.
    abort: true,
  })
  .meta({ format: 'date-time', pattern: INSTANT.source, examples: ['2026-01-31T09:30:00.000Z'] });

/** A finite number from 0 to 1 with at most six fractional digits [RP-052]. */
export const proportion = z
  .number()
  .min(0)
  .max(1)
  .refine((value) => Number(value.toFixed(6)) === value, 'must have at most six fractional digits');

/** A count of a snapshot, never inferred from an omitted array [RP-053]. */
export const count = z.int().min(0).max(MAX_COUNT);

/** A name or version that its owner gives. Text that is not well-formed UTF-16 has no UTF-8 form, and so no digest. */
export const text = z
  .string()
  .min(1)
  .max(255)
  .refine((value) => value.isWellFormed(), 'must be well-formed');

export const httpsUrl = z.url({ protocol: /^https$/ }).meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]:' });

/** SHA-256, 64 lower-case hexadecimal characters. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Correlation ids contain no learning facts [RP-073]. */
const correlationId = z.string().min(1).max(128);

/** When a report was composed, and for which request. */
export const composed = { observedAt: instant, requestId: correlationId, traceId: correlationId };

/** The position of a page in its list. */
export const pagePlace = {
  nextCursor: z.string().min(1).max(2048).regex(VISIBLE_ASCII).nullable(),
  hasMore: z.boolean(),
};

export const cursorWhenMore = when(
  { if: { hasMore: z.literal(true) }, then: { nextCursor: z.string() }, else: { nextCursor: z.null() } },
  'there is more exactly when there is a cursor [RP-136, RP-208]',
);

export function areUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

/** Returns the schema of a list that contains each member once. */
export function uniqueListOf<T extends z.ZodType<string>>(member: T): z.ZodArray<T> {
  return z.array(member).refine(areUnique, 'every one is named once').meta({ uniqueItems: true });
}
