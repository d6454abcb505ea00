import { attemptReportParameters, attemptReportSchemas } from './attempt-reports.ts';
import { pageParameters, reportsCommonSchemas } from './common.ts';
import type { Descriptions } from './text.ts';

/** The texts of the documents of the reports service and of its sandbox. */
export const reportsDescriptions: Descriptions = {
  schemas: { ...reportsCommonSchemas, ...attemptReportSchemas },
  parameters: { ...pageParameters, ...attemptReportParameters },
};
