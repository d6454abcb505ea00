import * as z from 'zod';
import { attemptReport, view } from './attempt-report.ts';
import { requestReference } from './primitives.ts';

/** Which attempt is written through, and how its report is to be shown. */
export const materializeRequest = z.strictObject({
  attemptId: requestReference,
  administrationId: requestReference,
  view: view.default('summary'),
});

/** What was written is read back: the report is the one that a read would give at this moment. */
export const materializeResponse = z.strictObject({
  operationId: z.string().min(1).max(128),
  report: attemptReport,
});
