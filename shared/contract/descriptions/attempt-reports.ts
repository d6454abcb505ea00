import {
  attemptReport,
  attemptReportPage,
  diagnosticDetail,
  gateDecision,
  itemEvidence,
  masteryRow,
  score,
  withheld,
} from '#shared/contract/reports/attempt-report.ts';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { materializeRequest, materializeResponse } from '#shared/contract/reports/materialize.ts';
import { omittedEntry, readinessEntry, readinessReport } from '#shared/contract/reports/readiness-report.ts';
import type { TestKind, View } from '#shared/contract/reports/attempt-report.ts';
import type { reportsRoutes } from '#shared/contract/reports/routes.ts';
import { compositionFields, pageFields, pageParameters, stopReasonMeanings } from './common.ts';
import { component } from './text.ts';
import type { ParameterTexts, ValueText } from './text.ts';

const unknown = 'the owner has a value that this version does not know';
const view: ValueText<View> = {
  text: 'How much of the report to return. Default: `summary`.',
  values: {
    summary: 'score, decision and sources',
    standards: 'also the standards and knowledge components',
    evidence: 'also the scored outcomes behind each of them',
  },
};
const requestableKinds = {
  mastery_gate: 'a test with a pass/fail decision',
  adaptive_diagnostic: 'an adaptive test with a scale score and a map of knowledge components',
  formative: 'a test with evidence per standard, without a decision',
} as const;
const testKind: ValueText<TestKind> = {
  text: 'The kind of the test, as its blueprint in Content defines it.',
  values: { ...requestableKinds, unknown },
};
const stated = {
  scored: 'the report is complete',
  indeterminate: 'the gate decision cannot be made; `gate.status` is `indeterminate` too',
} as const;

/** The components of the routes about attempts, readiness and form equivalence. */
export const attemptReportComponents = {
  AttemptReport: component(attemptReport, {
    about:
      'What one scored attempt shows. The service composes it from its owners for each request and calculates no score.',
    fields: {
      object: 'The type of this resource: always `attempt_report`.',
      attemptId: 'The id of the attempt in QTI.',
      qtiSessionId: 'The id of the attempt’s session in QTI. Null if QTI has no separate id for it.',
      qtiTestId: 'The id of the test form in QTI that the learner took.',
      resultRecordId: 'The id of the settled record in Results.',
      candidateSourcedId: 'The OneRoster id of the learner.',
      administrationId: 'The id of the administration that the attempt belongs to.',
      contentTestSpecId:
        'The id of the test specification (blueprint) in Content that defines criteria and crosswalk.',
      testKind,
      status: { text: 'Whether the report has all its facts.', values: { ...stated, unknown } },
      score: 'The settled score from Results.',
      mastery:
        'One row per standard and knowledge component, at most 5,000; `kind` and `caseGuid` identify a row. Empty in the view `summary`, which names it in `omitted`.',
      gate: 'The pass/fail decision. Null unless `testKind` is `mastery_gate`.',
      diagnostic: 'The diagnosis. Null unless `testKind` is `adaptive_diagnostic`.',
      sources: compositionFields.sources,
      omitted: {
        text: 'The sections that this view leaves out.',
        values: {
          mastery: 'the rows of `mastery`',
          itemEvidence: 'the field `evidence` of each row',
          readiness: 'the readiness report, which is a resource of its own',
        },
      },
      incompleteSections:
        'Why optional additions are missing, one problem document each. Empty if nothing is missing.',
      observedAt: compositionFields.observedAt,
      requestId: compositionFields.requestId,
      traceId: compositionFields.traceId,
    },
  }),
  Score: component(score, {
    about: 'A settled score.',
    fields: {
      value: 'The score, in `unit`.',
      minimum: 'The lowest possible score, in `unit`. Null if the scale has no lower bound.',
      maximum: 'The highest possible score, in `unit`. Null if the scale has no upper bound.',
      unit: {
        text: 'The unit of `value`, `minimum` and `maximum`.',
        values: {
          points: 'points of the test',
          percent: 'percent of the possible points',
          mastery_scale: 'units of the mastery scale `scaleVersion`',
          unknown,
        },
      },
      scaleVersion:
        'The version of the scale. Null if the source has no version; never null if `unit` is `mastery_scale`.',
    },
  }),
  MasteryRow: component(masteryRow, {
    about: 'What the attempt shows about one standard or knowledge component.',
    fields: {
      kind: {
        text: 'What `caseGuid` identifies.',
        values: { standard: 'a standard', knowledge_component: 'a knowledge component' },
      },
      caseGuid: 'The CASE GUID of the standard or knowledge component. Ask CASE for its text.',
      parentCaseGuid: 'The CASE GUID of the parent. Null if it has none.',
      state: {
        text: 'The decision of the policy.',
        values: {
          mastered: 'the learner has mastered it',
          not_yet: 'the evidence is not sufficient for `mastered` or `gap`; this is not a failure',
          gap: 'the learner has not mastered it',
          insufficient_evidence: 'there is too little evidence for a decision',
          unknown,
        },
      },
      estimate: 'The owner’s estimate of mastery, on the scale of `threshold`.',
      threshold: 'The value that the policy compares `estimate` with.',
      uncertainty: 'The uncertainty of `estimate`; 0 or more. `uncertaintyKind` defines its meaning.',
      uncertaintyKind: {
        text: 'What `uncertainty` is.',
        values: {
          standard_error: 'the standard error of `estimate`',
          interval_half_width: 'half the width of an interval around `estimate`',
          policy_margin: 'a margin that the policy sets',
          unknown,
        },
      },
      confidence:
        'How certain the policy must be of `mastered` or `gap`, from 0 to 1, where `estimate` is a probability. Null if Results does not state it: only the policy knows.',
      policyId: 'The id of the policy that decided.',
      policyVersion: 'The immutable version of the policy.',
      evidence:
        'The scored outcomes behind the decision, from 1 to 500. Present in the view `evidence` only.',
    },
  }),
  ItemEvidence: component(itemEvidence, {
    about: 'One scored outcome that contributed to a decision.',
    fields: {
      qtiItemId: 'The id of the item in QTI. The service returns no item content.',
      qtiOutcomeId: 'The id of the scored outcome in QTI.',
      resultComponentId:
        'The id of the outcome’s component in Results. Null if Results has no stable id for it.',
      contribution:
        'What the outcome contributed under the policy, with its sign. The owner computed it; compare it only within one policy version.',
      observedAt: 'When the outcome was determined, according to its owner.',
    },
  }),
  GateDecision: component(gateDecision, {
    about: 'The pass/fail decision of a mastery gate, made by Results.',
    fields: {
      status: {
        text: 'The decision.',
        values: {
          pass: 'passed; there are no gaps',
          fail: 'failed; `gapCaseGuids` contains every gap',
          indeterminate: 'no decision: criteria, coverage evidence or a valid measurement are missing',
          unknown,
        },
      },
      criteriaVersion: 'The immutable version of the criteria in Content.',
      achieved:
        'The measured value that was compared with `required`. Null only if `status` is `indeterminate` and there is no valid measurement.',
      required: 'The threshold of the blueprint, in the unit of `achieved`.',
      gapCaseGuids:
        'The CASE GUIDs of the gaps, without duplicates. Complete if `status` is `fail`, empty if it is `pass`.',
      coverageEvidenceId:
        'The id of the evidence that the test covers the blueprint. Null only if `status` is `indeterminate`.',
    },
  }),
  DiagnosticDetail: component(diagnosticDetail, {
    about: 'The diagnosis of an adaptive test.',
    fields: {
      scaleScore:
        'The score on the mastery scale `scaleVersion`. It resembles the score of an external vendor in form only; no vendor issued it.',
      scaleVersion: 'The immutable version of the mastery scale.',
      calibrationVersion: 'The immutable version of the scale calibration.',
      standardError: 'The standard error of `scaleScore`, in the same units; 0 or more.',
      stoppingReason: {
        text: 'Why the test stopped.',
        values: { ...stopReasonMeanings, unknown },
      },
      administeredItemCount: 'How many items the learner was given, according to QTI; 1 or more.',
      extNormsSet:
        'The label of the crosswalk to an external scale. Null if there is no crosswalk. A crosswalk is not a score that the vendor issued.',
    },
  }),
  AttemptReportPage: component(attemptReportPage, {
    about: 'One page of a learner’s reports, most recently modified first.',
    fields: {
      data: 'The reports in the view `summary`, at most `limit`. Empty if no report satisfies the filters.',
      ...pageFields,
      sources: 'One receipt per source that the page was composed from.',
      withheld:
        'How many scored attempts of this page’s range cannot be a report, by reason. Each attempt is counted on one page. Absent if there is none.',
    },
  }),
  WithheldAttempts: component(withheld, {
    about: 'Scored attempts that cannot be a report.',
    fields: {
      reason: {
        text: 'Why they cannot be a report.',
        values: {
          unsettled: 'Results has not settled a fact that the report needs',
          stale: 'a required source is stale',
          unreleased: 'reports of this test kind are not released',
          unverified:
            'an owner lacks a fact that the report needs, or facts of the owners cannot all be true; the single report names them',
        },
      },
      count: 'The number of attempts; 1 or more.',
    },
  }),
  ReadinessReport: component(readinessReport, {
    about: 'What an attempt implies for the external tests that its blueprint names.',
    fields: {
      object: 'The type of this resource: always `readiness_report`.',
      attemptId: 'The id of the attempt in QTI.',
      entries:
        'One decision per named test, from 1 to 100; `sourceTest` and `sourceVersion` identify an entry.',
      omittedEntries:
        'The named tests without a decision, because the blueprint lacks the facts for one. Absent if every named test has a decision.',
      sources: compositionFields.sources,
      observedAt: compositionFields.observedAt,
      requestId: compositionFields.requestId,
      traceId: compositionFields.traceId,
    },
  }),
  ReadinessEntry: component(readinessEntry, {
    about: 'What the attempt implies for one external test. A projection, not a result of that test.',
    fields: {
      decision: {
        text: 'The decision of the rule.',
        values: {
          projected_pass: 'the gate was passed, and the blueprint covers the test completely',
          not_ready: 'the gate was failed',
          indeterminate: 'evidence is missing or stale; `limitations` names what',
          unknown,
        },
      },
      sourceTest: 'The name of the external test.',
      sourceVersion: 'The version or publication of the external test.',
      crosswalkVersion: 'The immutable version of the crosswalk between blueprint and test.',
      coverageFraction:
        'The fraction of the test that the blueprint covers, from 0 to 1. Always 1 if `decision` is `projected_pass`.',
      dokDominance: {
        text: 'Whether the blueprint demands at least the depth of knowledge (DOK) that the test demands.',
        values: {
          satisfied: 'it does',
          not_satisfied: 'it does not',
          indeterminate: 'evidence is missing',
        },
      },
      qualifyingBlueprintSlotIds:
        'The ids of the blueprint slots that cover the test, without duplicates. Not empty if `decision` is `projected_pass`.',
      decisionRuleId: 'The id of the decision rule.',
      decisionRuleVersion: 'The version of the decision rule.',
      limitations: 'What limits the decision, in sentences for people, at most 50. Empty if nothing does.',
    },
  }),
  OmittedReadinessEntry: component(omittedEntry, {
    about: 'A named test without a decision.',
    fields: {
      sourceTest: 'The name of the external test.',
      sourceVersion: 'The version or publication of the external test.',
      reason: {
        text: 'Why there is no decision.',
        values: { coverage_missing: 'the blueprint does not state how much of the test it covers' },
      },
    },
  }),
  EquivalenceReport: component(equivalenceReport, {
    about:
      'Whether parallel test forms measure alike, as Analytics determined it. The service calculates nothing.',
    fields: {
      object: 'The type of this resource: always `equivalence_report`.',
      qtiTestId: 'The id of the form in QTI.',
      comparisonQtiTestIds:
        'The ids of the forms in QTI that it is compared with, without duplicates; at least one.',
      contentTestSpecId: 'The id of the test specification (blueprint) in Content that all the forms share.',
      coverageMatch: 'Whether the forms cover the blueprint alike.',
      dokMatch: 'Whether the forms demand the same depth of knowledge (DOK).',
      sampleSizes: 'The number of learners in the study, by form id; one entry per form.',
      method: 'The name of the statistical method.',
      analysisVersion: 'The version of the analysis.',
      statistic:
        'The value of the method’s statistic, in the method’s unit. It lies within `confidenceInterval`.',
      confidenceInterval: 'The confidence interval of `statistic`.',
      tolerance: 'The largest difference that counts as equivalent, in the method’s unit; 0 or more.',
      decision: {
        text: 'The decision of Analytics.',
        values: {
          equivalent: 'the forms measure alike',
          not_equivalent: 'the forms do not measure alike',
          insufficient_evidence: 'the study cannot decide',
          unknown,
        },
      },
      evidenceArtifactUrl:
        'The https address of the study. Null only if `decision` is `insufficient_evidence`.',
      limitations:
        'How the blueprint contradicts a decision `equivalent`, in sentences for people. Absent if it does not.',
      sources: compositionFields.sources,
      observedAt: compositionFields.observedAt,
      requestId: compositionFields.requestId,
      traceId: compositionFields.traceId,
    },
  }),
  ConfidenceInterval: component(equivalenceReport.shape.confidenceInterval, {
    about: 'A confidence interval, in the unit of its statistic.',
    fields: { lower: 'The lower bound, inclusive.', upper: 'The upper bound, inclusive.' },
  }),
  MaterializeRequest: component(materializeRequest, {
    about: 'The attempt whose settled facts are to be written to Results.',
    fields: {
      attemptId: 'The QTI id of a scored attempt.',
      administrationId:
        'The id of the attempt’s administration. If it is not the attempt’s own, the service returns 400.',
      view,
    },
  }),
  MaterializeResponse: component(materializeResponse, {
    about: 'The operation that wrote the facts, and the report that they make.',
    fields: {
      operationId:
        'The id of the operation. A repeated request has the same one; problem documents of the operation contain it too.',
      report: 'The report, composed after the service has read the written facts back.',
    },
  }),
};

const attemptId =
  'The id of a scored attempt in QTI. The list of a learner’s reports contains it. Your token must give access to the learner (`studentIds`).';

/** The parameters of these routes. */
export const attemptReportParameters = {
  readAttemptReport: { attemptId, view },
  readReadiness: { attemptId },
  listCandidateReports: {
    candidateSourcedId: 'The OneRoster id of a learner. Your token must give access to it (`studentIds`).',
    qtiTestId: 'Only reports on this test form: its QTI id. Absent: all forms.',
    testKind: { text: 'Only reports of this kind of test. Absent: all kinds.', values: requestableKinds },
    status: { text: 'Only reports with this status. Absent: both.', values: stated },
    modifiedSince:
      'Only reports whose Results record was modified at or after this instant (RFC 3339, UTC, ending in `Z`). Absent: all.',
    sort: {
      text: 'The order of the reports.',
      values: { '-modifiedAt': 'most recently modified first; ties by `attemptId`, ascending' },
    },
    ...pageParameters,
  },
  readEquivalence: {
    qtiTestId:
      'The id of a test form in QTI. Reports contain it as `qtiTestId`. Its blueprint must belong to your tenant.',
  },
} satisfies Partial<ParameterTexts<typeof reportsRoutes>>;
