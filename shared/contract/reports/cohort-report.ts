import * as z from 'zod';
import { when } from '../conditions.ts';
import { composed, count, instant, reference, text } from './primitives.ts';
import { sourceRef } from './source-ref.ts';

/** Entry grade levels (CEDS), as OneRoster names them; exact case. */
export const grade = z.enum([
  'IT',
  'PR',
  'PK',
  'TK',
  'KG',
  '01',
  '02',
  '03',
  '04',
  '05',
  '06',
  '07',
  '08',
  '09',
  '10',
  '11',
  '12',
  '13',
  'PS',
  'ABE',
  'ASE',
  'AdultESL',
  'UG',
  'Other',
]);

export const classScope = z.strictObject({ type: z.literal('class'), classSourcedId: reference });
export const schoolGradeScope = z.strictObject({
  type: z.literal('school_grade'),
  schoolSourcedId: reference,
  grade,
});
export const cohortScope = z.discriminatedUnion('type', [classScope, schoolGradeScope]);
export type CohortScope = z.infer<typeof cohortScope>;

/** One value of the rollup, exactly as Analytics published it. */
export const cohortMeasure = z.strictObject({ name: text, value: z.number(), unit: text });

/** A cohort as Analytics has rolled it up; the service calculates nothing in it. */
export const cohortReport = z
  .strictObject({
    object: z.literal('cohort_report'),
    scope: cohortScope,
    rollupId: reference,
    formulaVersion: text,
    asOf: instant,
    populationCount: count,
    suppression: z.strictObject({ status: z.enum(['not_suppressed', 'suppressed', 'unknown']) }),
    measures: z.array(cohortMeasure).optional(),
    source: sourceRef,
    ...composed,
  })
  .check(
    when(
      {
        if: { suppression: z.looseObject({ status: z.literal('not_suppressed') }) },
        else: { measures: z.never().optional() },
      },
      'only a snapshot that is not suppressed shows values [RP-131]',
    ),
  );
export type CohortReport = z.infer<typeof cohortReport>;
