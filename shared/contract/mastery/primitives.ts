import * as z from 'zod';
import { STRONG_ENTITY_TAG } from '#shared/kernel/entity-tag.ts';
import { INSTANT } from '#shared/kernel/instant.ts';
import { excluding } from '../excluding.ts';
import { boundedText, WHITE_SPACE } from '../text-forms.ts';

/** A name that its owner gives: compared and passed on unchanged, never parsed or folded. Its length is the owner's rule [MA-040]. */
export const identifier = z.string().min(1);

export const requestIdentifier = excluding(identifier);

/** Names that move from one version to the next, and so pin nothing. */
export const mutableAliases = ['latest', 'current', 'default', 'newest', 'stable'] as const;

/** The id of a released record that a request names: no alias, in any letter case [MA-051, MA-052]. */
export const recordIdentifier = excluding(
  identifier,
  `must be the id of one version, without U+FFFD; ${mutableAliases.join(', ')} are aliases`,
  `^(?:${mutableAliases.map((alias) => alias.replaceAll(/./g, (char) => `[${char.toUpperCase()}${char}]`)).join('|')})$`,
);

/** Results' reference of a student: 1 to 255 bytes of UTF-8 without surrounding white space and control characters [MA-058]. */
export const studentReference = excluding(
  boundedText(
    new RegExp(`^[^${WHITE_SPACE}](?:[\\s\\S]*[^${WHITE_SPACE}])?$`),
    255,
    'must be 1 to 255 UTF-8 bytes without surrounding white space',
  ),
  'must not contain control characters or U+FFFD',
  String.raw`[\u0000-\u001F\u007F-\u009F]`,
);

/** A probability, rounded to the `numericPrecision` of the run's calibration; JSON numbers are finite [MA-041]. */
export const probability = z.number().min(0).max(1);

/** RFC 3339 UTC instant [MA-042]. */
export const timestamp = z
  .string()
  .refine((text) => INSTANT.test(text), 'must be an RFC 3339 UTC instant ending in Z')
  .meta({ format: 'date-time', pattern: INSTANT.source, examples: ['2026-01-31T09:30:00.000Z'] });

/** 64 lower-case hexadecimal characters [MA-043]. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** RFC 9110 strong entity tag. */
export const strongEntityTag = z.string().regex(STRONG_ENTITY_TAG);
