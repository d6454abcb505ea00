import * as z from 'zod';
import { attemptReport, view } from './attempt-report.ts';
import { reference } from './primitives.ts';

/** Which attempt is written through, and how its report is to be shown. */
export const materializeRequest = z
  .strictObject({
    /** A scored QTI attempt. */
    attemptId: reference,
    /** The attempt's own administration: a second key, so that an id that has gone astray opens nothing. */
    administrationId: reference,
    view: view.default('summary'),
  })
  .meta({ id: 'MaterializeRequest' });

/** What was written is read back: the report is the one that a read would give at this moment. */
export const materializeResponse = z
  .strictObject({
    /** The same for every repetition of the request, and on every later problem of the operation [RP-138]. */
    operationId: z.string().min(1).max(128),
    report: attemptReport,
  })
  .meta({ id: 'MaterializeResponse' });
