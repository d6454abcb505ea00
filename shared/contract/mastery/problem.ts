import * as z from 'zod';

export const upstreamReference = z.strictObject({
  service: z.enum(['platform_auth', 'bank', 'content', 'qti', 'case', 'results', 'caliper', 'anchor']),
  operation: z.string().min(1),
  requestId: z.string().min(1).optional(),
});

export const invalidParam = z.strictObject({ name: z.string(), reason: z.string(), message: z.string() });

/** The mastery engine's problem document: members that do not apply are absent [MA-019, MA-206]. */
export const masteryProblem = z.strictObject({
  type: z.url(),
  title: z.string().min(1),
  status: z.int().min(400).max(599),
  detail: z.string().min(1),
  instance: z.string().min(1),
  code: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
  requestId: z.string().min(1),
  retryable: z.boolean(),
  invalidParams: z.array(invalidParam).max(100).optional(),
  currentEtag: z.string().optional(),
  upstream: upstreamReference.optional(),
  receiptId: z.string().min(1).optional(),
});
export type MasteryProblem = z.infer<typeof masteryProblem>;
