import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { recordIdentifier } from '../primitives.ts';
import { readRoute, readLambda } from '../route-defaults.ts';
import { selectionPolicy } from '../selection-policy.ts';

export const readSelectionPolicy = defineRoute({
  ...readRoute,
  operationId: 'readSelectionPolicy',
  path: '/v1/selection-policies/{policyId}',
  summary: 'Get a selection policy',
  description:
    'Returns one immutable version by its exact id. For a policy of another tenant the service returns 404, as for a policy that does not exist. A deprecated version does not change; the response headers announce the deprecation.',
  request: { path: z.strictObject({ policyId: recordIdentifier }) },
  success: { schema: selectionPolicy, headers: ['Deprecation', 'Sunset', 'Link'], example: examples.policy },
  lambda: { ...readLambda, impact: 'Clients cannot read a selection policy. Tests continue.' },
});
