import * as z from 'zod';
import { httpsUrl } from './primitives.ts';

/** Every source that a receipt or a problem of the reports service may name [RP-084]. */
export const sourceService = z.enum([
  'qti',
  'results',
  'analytics',
  'content',
  'case',
  'oneroster',
  'caliper',
  'mastery_engine',
  'bank',
  'blueprint',
  'unknown',
]);
export type SourceService = z.infer<typeof sourceService>;

export const fieldError = z.strictObject({ pointer: z.string(), code: z.string(), message: z.string() });

/** The reports service's problem document: every member is present, null where it does not apply [RP-322..RP-330]. */
export const reportsProblem = z.strictObject({
  type: httpsUrl,
  title: z.string().min(1).max(120),
  status: z.int().min(400).max(599),
  detail: z.string().min(1).max(1000),
  instance: z.string().min(1),
  requestId: z.string().min(1).max(128),
  traceId: z.string().min(1).max(128),
  retryable: z.boolean(),
  dependency: sourceService.nullable(),
  fieldErrors: z.array(fieldError).max(100).nullable(),
  operationId: z.string().min(1).nullable(),
});
export type ReportsProblem = z.infer<typeof reportsProblem>;
