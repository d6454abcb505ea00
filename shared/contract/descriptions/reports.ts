import { attemptReportParameters, attemptReportSchemas } from './attempt-reports.ts';
import { cohortReportParameters, cohortReportSchemas } from './cohort-reports.ts';
import { pageParameters, reportsCommonSchemas } from './common.ts';
import { improvementRunParameters, improvementRunSchemas } from './improvement-runs.ts';
import type { Descriptions } from './text.ts';

/** The texts of the documents of the reports service and of its sandbox. */
export const reportsDescriptions: Descriptions = {
  schemas: {
    ...reportsCommonSchemas,
    ...attemptReportSchemas,
    ...cohortReportSchemas,
    ...improvementRunSchemas,
  },
  parameters: {
    ...pageParameters,
    ...attemptReportParameters,
    ...cohortReportParameters,
    ...improvementRunParameters,
  },
};
