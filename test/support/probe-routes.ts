import * as z from 'zod';
import { defineRoute, type Route, type ServiceName, type Transfer } from '#shared/contract/route.ts';
import type { Operation } from '#shared/http/operation.ts';
import { ok, type Ok } from '#shared/kernel/result.ts';
import { testLambda, type TestLambda, type TestLambdaOptions, type TestRequest } from './lambda.ts';

/**
 * Rows for tests of the pipeline: one of each kind a service has. Their schemas are small, but have every feature that a stage decides on.
 */

/** RP: 1-255 UTF-8 bytes without white space or control characters, as a reports path id. */
const reference = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= 255 && !/[\s\p{Cc}]/u.test(text) && text.isWellFormed());

type ProbePath = z.ZodObject<{ probeId: z.ZodType<string> }, z.core.$strict>;
const probePath = (service: ServiceName): ProbePath =>
  z.strictObject({ probeId: service === 'mastery' ? z.string().min(1) : reference });
const probeBody = z.strictObject({
  attemptId: z.string().min(1),
  view: z.enum(['summary', 'standards', 'evidence']).optional(),
  counts: z
    .array(z.strictObject({ n: z.int().min(0).max(9) }))
    .max(3)
    .optional(),
  weights: z.record(z.string(), z.number()).optional(),
});

const lambda = { memoryMb: 128, timeoutSeconds: 29, grants: [], impact: 'Nobody.' } as const;
const probeAnswer = z.strictObject({
  seen: z.record(z.string(), z.unknown()),
  operation: z.string().optional(),
});
const example = { seen: {} };

/** GET /v1/probes/{probeId}: an id, two query parameters, no body. */
export function readProbe(service: ServiceName): Route<ProbePath, undefined, typeof probeAnswer> {
  return defineRoute({
    service,
    operationId: 'readProbe',
    method: 'GET',
    path: '/v1/probes/{probeId}',
    summary: 'A probe.',
    description: 'A probe.',
    scope: service === 'mastery' ? 'mastery:read' : 'reports:read',
    request: {
      path: probePath(service),
      query: z.strictObject({
        view: z.enum(['summary', 'standards', 'evidence']).default('summary'),
        sort: z.enum(['-modifiedAt']).optional(),
      }),
      filters: {},
      body: undefined,
      maxBodyBytes: 0,
      idempotencyKey: false,
      ifMatch: false,
    },
    success: {
      schema: probeAnswer,
      headers: ['ETag', 'Deprecation', 'Sunset', 'Link'],
      example,
    },
    problems: [],
    budget: { calls: 0, depth: 0 },
    lambda,
  });
}

/** GET /v1/probes/{probeId} of the reports service, whose answer is streamed. */
export function streamedProbe(): ReturnType<typeof readProbe> {
  const row = readProbe('reports');
  return {
    ...row,
    operationId: 'readStreamedProbe',
    success: { ...row.success, transfer: 'stream', headers: ['Link'] },
  };
}

/** A row for tests of what reads no more of it than its name, method, path and transfer. */
export function gatewayRow(
  operationId: string,
  method: 'GET' | 'POST',
  path: `/v1/${string}`,
  transfer: Transfer = 'buffered',
): Route {
  const row = readProbe('mastery');
  return { ...row, operationId, method, path, success: { ...row.success, transfer } };
}

/** POST /v1/probes/{probeId}:act: a key, an If-Match, a strict body with nested and counted parts, at most 512 bytes. */
export function actOnProbe(
  service: ServiceName,
  operationId = 'actOnProbe',
  path: `/v1/${string}` = '/v1/probes/{probeId}:act',
): Route<ProbePath, typeof probeBody, typeof probeAnswer> {
  return defineRoute({
    service,
    operationId,
    method: 'POST',
    path,
    summary: 'A probe.',
    description: 'A probe.',
    scope: service === 'mastery' ? 'mastery:run' : 'reports:write',
    request: {
      path: probePath(service),
      query: z.strictObject({}),
      filters: {},
      body: probeBody,
      maxBodyBytes: 512,
      idempotencyKey: true,
      ifMatch: true,
    },
    success: {
      status: 201,
      schema: probeAnswer,
      headers: service === 'mastery' ? ['ETag'] : ['Idempotent-Replayed'],
      example,
    },
    problems:
      service === 'mastery'
        ? ['409 stream-conflict', '412 stream-conflict', '422 calibration-invalid']
        : ['409 source-version-conflict', '503 dependency-incomplete'],
    budget: { calls: 2, depth: 2 },
    lambda,
  });
}

/** What a probe answers without looking at its request. */
export const seen = (): Promise<Ok<{ body: { seen: Record<string, unknown> } }>> =>
  Promise.resolve(ok({ body: { seen: {} } }));

/** The function of a probe. Its requests name a probe and, where the row takes one, have a body. */
export async function testProbe<R extends ReturnType<typeof readProbe> | ReturnType<typeof actOnProbe>>(
  row: R,
  operation: Operation<R>,
  options?: TestLambdaOptions,
): Promise<TestLambda> {
  const lambda = await testLambda(row, operation, options);
  const sound: TestRequest = {
    path: { probeId: 'p' },
    ...(row.request.body === undefined ? {} : { body: { attemptId: 'a' } }),
  };
  return { ...lambda, invoke: (request) => lambda.invoke({ ...sound, ...request }) };
}
