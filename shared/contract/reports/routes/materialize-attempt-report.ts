import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { materializeRequest, materializeResponse } from '../materialize.ts';
import { RECORD_MEMORY_MB, writeRoute } from '../route-defaults.ts';

export const materializeAttemptReport = defineRoute({
  ...writeRoute,
  operationId: 'materializeAttemptReport',
  path: '/v1/attempt-reports:materialize',
  summary: 'Settle and publish a scored attempt',
  description:
    'Writes the scored outcomes of an attempt to Results, emits the Caliper event of the settled score, reads Results back and returns the report. If you retry within 24 hours with the same key and body, nothing is written twice: the response has the same `operationId` and the current report, and the header `Idempotent-Replayed: true` if the first request had succeeded. A problem after the first write contains the `operationId`; retry with the same key until the request succeeds.',
  gates: ['B', 'C', 'D'],
  request: { body: materializeRequest },
  success: {
    schema: materializeResponse,
    transfer: 'stream',
    headers: ['Idempotent-Replayed'],
    example: examples.materialized,
  },
  requestExample: {
    attemptId: examples.failedGate.attemptId,
    administrationId: examples.failedGate.administrationId,
    view: 'summary',
  },
  problems: ['409 source-version-conflict'],
  // Lookup; administration; criteria, while a kind is not released; components; event; then the reads of a report, lookup, record and criteria
  // twice. The reads of the report once more, if the facts cannot all be true.
  budget: { calls: 23, depth: 13 },
  learnersWait: true,
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    grants: ['control:write', 'keys:idempotency', 'profiles:read'],
    impact: 'Clients cannot settle and publish a scored attempt. Reports can still be read.',
  },
});
