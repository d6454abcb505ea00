import type { reportsRoutes } from '#shared/contract/reports/routes.ts';
import { attemptReportComponents, attemptReportParameters } from './attempt-reports.ts';
import { cohortReportComponents, cohortReportParameters } from './cohort-reports.ts';
import { reportsCommonComponents } from './common.ts';
import { improvementRunComponents, improvementRunParameters } from './improvement-runs.ts';
import type { Descriptions, ParameterTexts, TagTexts } from './text.ts';

/** The texts of the documents of the reports service and of its sandbox. */
export const reportsDescriptions = {
  components: {
    ...reportsCommonComponents,
    ...attemptReportComponents,
    ...cohortReportComponents,
    ...improvementRunComponents,
  },
  parameters: {
    ...attemptReportParameters,
    ...cohortReportParameters,
    ...improvementRunParameters,
  } satisfies ParameterTexts<typeof reportsRoutes>,
  tags: {
    'attempt-reports':
      'Reports on one scored attempt, and what it implies for external tests. Each report has a receipt per source.',
    candidates: 'The reports of one candidate, last modified first, in pages.',
    classes: 'The roll-up of a class, as Analytics published it.',
    schools: 'The roll-up of a grade of a school, as Analytics published it.',
    forms: 'Whether parallel forms measure alike, as Analytics decided it.',
    administrations: 'Start the analysis of a scored administration.',
    'improvement-runs':
      'What an analysis found: how well the blueprint covers external assessments, and what Bank and Blueprint are asked to revise. Links to receipt bundles expire after five minutes; read the resource again to get a new link.',
  } satisfies TagTexts<typeof reportsRoutes>,
} satisfies Descriptions;
