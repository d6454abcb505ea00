import * as z from 'zod';
import { defineRoute } from '#shared/contract/route.ts';
import type { Route, Transfer } from '#shared/contract/route.ts';

/** A row for tests of what reads rows: everything but its name, method and path is as small as it can be. */
export function gatewayRow(
  operationId: string,
  method: 'GET' | 'POST',
  path: `/v1/${string}`,
  transfer: Transfer = 'buffered',
): Route {
  return defineRoute({
    service: 'mastery',
    operationId,
    method,
    path,
    summary: 'A row for a test.',
    description: 'A row for a test.',
    scope: 'mastery:read',
    gates: [],
    handler: 'functions/mastery/endpoints/none/handler.ts',
    request: {
      path: z.strictObject({}),
      query: z.strictObject({}),
      filters: {},
      body: undefined,
      maxBodyBytes: 0,
      idempotencyKey: false,
      ifMatch: false,
    },
    success: { status: 200, schema: z.unknown(), transfer, headers: [], example: null },
    problems: [],
    budget: { calls: 0, depth: 0 },
    lambda: { memoryMb: 128, timeoutSeconds: 1, grants: [], impact: 'Nobody.' },
  });
}
