import * as z from 'zod';
import { filteredQuery } from '../../filters.ts';
import { defineRoute } from '../../route.ts';
import { targetModule } from '../analysis-policy.ts';
import * as examples from '../examples.ts';
import { cursor, limit } from '../page-parameters.ts';
import { requestReference } from '../primitives.ts';
import { orderStatus, revisionOrderPage } from '../revision-order.ts';
import { readRoute } from '../route-defaults.ts';

/** The query of orders; a caller cannot ask for the response-only `unknown` [RP-298, RP-299]. */
const orderQuery = filteredQuery(
  {
    status: { schema: orderStatus, appliedBy: 'service', fact: 'status' },
    targetModule: { schema: targetModule, appliedBy: 'service', fact: 'targetModule' },
  },
  { limit, cursor },
);

export const listRevisionOrders = defineRoute({
  ...readRoute,
  operationId: 'listRevisionOrders',
  path: '/v1/improvement-runs/{improvementRunId}/revision-orders',
  summary: 'List the revision orders of an improvement run',
  description:
    'Returns what the run asks Bank and Blueprint to revise, with the observed value, the threshold that it breaches and the receipt of the receiver, sorted by `createdAt` and `revisionOrderId`. The service reads observed values again from the pinned artifacts. A page can have fewer orders than the limit; follow `nextCursor` until it is null.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: requestReference }), ...orderQuery },
  success: { schema: revisionOrderPage, transfer: 'stream', example: examples.revisionOrders },
  // Sources and the artifacts behind the orders of a page, at most twelve; and all of these once more.
  budget: { calls: 26, depth: 2 },
  lambda: {
    memoryMb: 1769,
    grants: ['improvement:read', 'keys:cursor', 'records:read', 'profiles:read'],
    impact: 'Clients cannot read the orders of an improvement run to Bank and Blueprint.',
  },
});
