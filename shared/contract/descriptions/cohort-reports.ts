import {
  classScope,
  cohortMeasure,
  cohortReport,
  cohortScope,
  grade,
  schoolGradeScope,
} from '#shared/contract/reports/cohort-report.ts';
import type { reportsRoutes } from '#shared/contract/reports/routes.ts';
import { compositionFields, suppressionStatus } from './common.ts';
import { component } from './text.ts';
import type { ParameterTexts } from './text.ts';

/** The components of the cohort reports. */
export const cohortReportComponents = {
  Grade: component(grade, {
    text: 'A grade level, as OneRoster names it. Case-sensitive.',
    values: {
      IT: 'infant or toddler',
      PR: 'preschool',
      PK: 'prekindergarten',
      TK: 'transitional kindergarten',
      KG: 'kindergarten',
      '01': 'grade 1',
      '02': 'grade 2',
      '03': 'grade 3',
      '04': 'grade 4',
      '05': 'grade 5',
      '06': 'grade 6',
      '07': 'grade 7',
      '08': 'grade 8',
      '09': 'grade 9',
      '10': 'grade 10',
      '11': 'grade 11',
      '12': 'grade 12',
      '13': 'grade 13',
      PS: 'postsecondary',
      ABE: 'adult basic education',
      ASE: 'adult secondary education',
      AdultESL: 'adult English as a second language',
      UG: 'ungraded',
      Other: 'another level',
    },
  }),
  CohortReport: component(cohortReport, {
    about: 'The roll-up of a class or of a grade of a school, exactly as Analytics published it.',
    fields: {
      object: 'Always `cohort_report`.',
      scope: 'The class or the grade of a school.',
      rollupId: 'The id of the roll-up in Analytics.',
      formulaVersion: 'The version of the formula that Analytics used.',
      asOf: 'The time of the snapshot in Analytics.',
      populationCount: 'How many learners the snapshot covers, as Analytics counts them.',
      suppression: 'Whether Analytics withholds the values of the snapshot.',
      measures: 'The values of the roll-up. Absent unless the snapshot is `not_suppressed`.',
      source: 'The receipt of the roll-up.',
      observedAt: compositionFields.observedAt,
      requestId: compositionFields.requestId,
      traceId: compositionFields.traceId,
    },
  }),
  CohortScope: component(cohortScope, 'The cohort of a roll-up: a class, or a grade of a school.'),
  ClassScope: component(classScope, {
    about: 'The scope of a class.',
    fields: {
      type: { text: 'The kind of cohort.', values: { class: 'a class' } },
      classSourcedId: 'The OneRoster id of the class.',
    },
  }),
  SchoolGradeScope: component(schoolGradeScope, {
    about: 'The scope of a grade of a school.',
    fields: {
      type: { text: 'The kind of cohort.', values: { school_grade: 'a grade of a school' } },
      schoolSourcedId: 'The OneRoster id of the school.',
      grade: 'The grade of the school.',
    },
  }),
  CohortSuppression: component(cohortReport.shape.suppression, {
    about: 'Whether the values of a snapshot are withheld.',
    fields: { status: suppressionStatus },
  }),
  CohortMeasure: component(cohortMeasure, {
    about: 'One value of a roll-up.',
    fields: {
      name: 'The name of the value, as Analytics defines it.',
      value: 'The value, in `unit`.',
      unit: 'The unit of the value, as Analytics defines it.',
    },
  }),
};

/** The parameters of the cohort reports. */
export const cohortReportParameters = {
  readClassCohort: {
    classSourcedId: 'The OneRoster id of the class. Your token must give access to it (`classSourcedIds`).',
  },
  readSchoolGradeCohort: {
    schoolSourcedId:
      'The OneRoster id of the school. Your token must give access to it (`schoolSourcedIds`).',
    grade: 'The grade of the school.',
  },
} satisfies Partial<ParameterTexts<typeof reportsRoutes>>;
