import * as z from 'zod';
import { attemptReport, view } from './attempt-report.ts';
import { requestReference } from './primitives.ts';

/** The attempt to write through, and the view of its report. */
export const materializeRequest = z.strictObject({
  attemptId: requestReference,
  administrationId: requestReference,
  view: view.default('summary'),
});

/** The response is read back after the write: its report is the one that a read would return at this time. */
export const materializeResponse = z.strictObject({
  operationId: z.string().min(1).max(128),
  report: attemptReport,
});
