import * as z from 'zod';
import { VISIBLE_ASCII } from '../text-forms.ts';

/** 1-100 as plain digits: no sign, decimal point, leading zero or white space [RP-302]. */
export const limit = z
  .string()
  .refine((text) => /^(?:100|[1-9]\d?)$/.test(text), {
    message: 'must be a whole number from 1 to 100, in plain digits',
  })
  .transform(Number)
  .default(25)
  .meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, { type: 'integer', minimum: 1, maximum: 100, default: 25 });
    },
  });

/** The message for every refused cursor, for any defect [RP-303]. */
export const cursorRefusal = {
  reason: 'not-allowed',
  message: 'must be an unexpired cursor of this very list',
};

export const cursor = z
  .string()
  .refine((text) => text.length <= 2048 && VISIBLE_ASCII.test(text), {
    message: cursorRefusal.message,
    params: { reason: cursorRefusal.reason },
  })
  .meta({ minLength: 1, maxLength: 2048, pattern: VISIBLE_ASCII.source })
  .optional();
