import { analyzeAdministration } from './routes/analyze-administration.ts';
import { listCandidateReports } from './routes/list-candidate-reports.ts';
import { listRevisionOrders } from './routes/list-revision-orders.ts';
import { materializeAttemptReport } from './routes/materialize-attempt-report.ts';
import { readAlignmentReport } from './routes/read-alignment-report.ts';
import { readAttemptReport } from './routes/read-attempt-report.ts';
import { readClassCohort } from './routes/read-class-cohort.ts';
import { readEquivalence } from './routes/read-equivalence.ts';
import { readImprovementRun } from './routes/read-improvement-run.ts';
import { readReadiness } from './routes/read-readiness.ts';
import { readSchoolGradeCohort } from './routes/read-school-grade-cohort.ts';

/** The routes of the reports service by their operation ids, in the order of its document. */
export const reportsRoutes = {
  readAttemptReport,
  listCandidateReports,
  readClassCohort,
  readSchoolGradeCohort,
  readEquivalence,
  readReadiness,
  materializeAttemptReport,
  analyzeAdministration,
  readImprovementRun,
  readAlignmentReport,
  listRevisionOrders,
} as const;
