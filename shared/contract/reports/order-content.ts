import * as z from 'zod';
import { reasonCode, requestedAction, targetModule, threshold, unit } from './analysis-policy.ts';
import { sourceKey } from './improvement-run.ts';
import { reference, text, uniqueListOf } from './primitives.ts';

/** The most GUIDs, or source keys, that one order can name [RP-196]. */
export const MAX_SUBJECTS = 1000;

/** The content of an order: its request and its grounds. Runs with the same findings have the same content, byte for byte [RP-190..RP-201]. */
export const orderContent = z.strictObject({
  revisionOrderId: text,
  administrationId: reference,
  targetModule,
  requestedAction,
  qtiItemId: reference.nullable(),
  qtiFormId: reference.nullable(),
  qtiTestId: reference.nullable(),
  contentTestSpecId: reference,
  contentTestSpecVersion: text,
  caseGuids: uniqueListOf(reference).max(MAX_SUBJECTS),
  sourceKeys: uniqueListOf(sourceKey).max(MAX_SUBJECTS),
  reasonCodes: uniqueListOf(reasonCode).min(1).max(20),
  observedMetric: z.strictObject({ name: text, value: z.number(), unit }),
  threshold,
  analysisPolicyId: text,
  analysisPolicyVersion: text,
});
export type OrderContent = z.infer<typeof orderContent>;
