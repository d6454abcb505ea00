import * as z from 'zod';

/** A name of this file: ids are made of it. */
export const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and -, not beginning with -');

/** A code of a standard or knowledge component. */
export const code = z.string().min(1).max(64);
