import {
  alignmentContribution,
  alignmentReport,
  predictedActualComparison,
} from '#shared/contract/reports/alignment-report.ts';
import { threshold } from '#shared/contract/reports/analysis-policy.ts';
import { improvementRun, metricStatus, sourceKey } from '#shared/contract/reports/improvement-run.ts';
import { orderContent } from '#shared/contract/reports/order-content.ts';
import { receiptLink } from '#shared/contract/reports/receipt-link.ts';
import { revisionOrder, revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import type { reportsRoutes } from '#shared/contract/reports/routes.ts';
import { compositionFields, pageFields, pageParameters, suppressionStatus } from './common.ts';
import { component } from './text.ts';
import type { ParameterTexts } from './text.ts';

const unknown = 'a value that this version does not know';
const analysisPolicyId = 'The id of the released analysis policy that sets the thresholds.';
const analysisPolicyVersion = 'The immutable version of the analysis policy.';
const contentTestSpecVersion = 'The immutable version of the test specification.';
const expiringLink = 'A link to the immutable receipt bundle. It expires after five minutes.';

/** The components of the routes about improvement runs. */
export const improvementRunComponents = {
  SourceKey: component(
    sourceKey,
    'The key of one external assessment within an improvement run: 1-255 of the characters A-Z, a-z, 0-9, `.`, `_`, `~` and `-`. The run lists its keys in `sourceKeys`.',
  ),
  ImprovementRun: component(improvementRun, {
    about: 'The analysis of one scored administration.',
    fields: {
      object: 'Always `improvement_run`.',
      improvementRunId: 'The id of the improvement run. It never changes.',
      administrationId: 'The id of the analyzed administration.',
      contentTestSpecId: 'The id of the test specification (blueprint) in Content.',
      contentTestSpecVersion,
      status: {
        text: 'How far the analysis is.',
        values: {
          queued: 'it has not begun',
          analyzing: 'it is under way',
          completed: 'it has ended, nothing is missing, and every order was answered by its receiver',
          completed_with_omissions: 'it has ended, and `omissions` lists what is missing',
          blocked_upstream: 'a receiver of orders is unavailable; the run continues when it is back',
          failed: 'it has ended without a result',
          unknown,
        },
      },
      analysisPolicyId,
      analysisPolicyVersion,
      formulaVersion: 'The version of the alignment formula, currently `alignment-v1`.',
      metricStatuses: 'What Analytics has of each metric: exactly four entries, one per metric.',
      namedSourceCount: 'How many external assessments the blueprint’s crosswalk names.',
      sourceKeys:
        'The keys of these assessments, in the order of the blueprint, each once. Read one alignment report per key.',
      alignmentRecordCount:
        'How many alignment reports are ready. Equal to `namedSourceCount` once the run is complete.',
      revisionOrderCount: 'How many revision orders the run has. It can grow until the run has ended.',
      blockedOrderCount: 'How many of them wait for an unavailable receiver. 0 once the run is complete.',
      omissions: {
        text: 'What the analysis had to leave out, each once, at most 8 values. Empty if it left out nothing.',
        values: {
          item_difficulty: 'some or all of the difficulty of items',
          item_discrimination: 'some or all of the discrimination of items',
          distractor_distribution: 'some or all of the distribution of responses over distractors',
          form_summary: 'some or all of the summaries of forms',
          predicted_actual: 'the comparison of predicted with actual results',
        },
      },
      receipt: `${expiringLink} Null until the run has ended, and on a failed run without a bundle.`,
      createdAt: 'When the run was created.',
      completedAt: 'When the run ended, never before `createdAt`. Null until then.',
      ...compositionFields,
    },
  }),
  MetricStatus: component(metricStatus, {
    about: 'What Analytics has of one metric for an improvement run. The values stay in Analytics.',
    fields: {
      metric: {
        text: 'The metric.',
        values: {
          item_difficulty: 'how difficult the items were',
          item_discrimination: 'how well the items distinguish strong from weak test takers',
          distractor_distribution: 'how responses are distributed over the distractors',
          form_summary: 'mean and spread of the scores of a form',
        },
      },
      status: {
        text: 'Whether the run can use the metric. Only an available metric can lead to an order.',
        values: {
          available: 'the run uses it',
          unavailable: 'Analytics does not publish it, or not completely',
          suppressed: 'Analytics withholds it',
          stale: 'the artifact in Analytics is out of date',
          unknown,
        },
      },
      artifactRef:
        'The id of the immutable artifact in Analytics or Caliper. Always present if the metric is available or suppressed; null if it is unavailable.',
      populationCount:
        'How many learners were eligible. Always present if the metric is available; null if it is unavailable or suppressed.',
      sampleCount:
        'How many learners were analyzed. Always present if the metric is available; null if it is unavailable or suppressed.',
      suppressionStatus,
      suppressionRule: 'The rule by which Analytics withholds the metric. Null unless it is suppressed.',
      analysisWindow: 'Which period the metric covers.',
      formulaVersion:
        'The version of the formula that Analytics used. Always present if the metric is available or suppressed.',
      reasonCode: {
        text: 'Why the metric is not available. Null if it is.',
        values: {
          owner_artifact_missing: 'Analytics has no artifact',
          owner_field_missing:
            'the artifact lacks a field, or contradicts itself or the definition of a measure',
          suppressed: 'Analytics withholds the metric',
          stale: 'the artifact, or the analysis that names it, is out of date',
          receiver_unavailable: 'the artifact could not be read',
          unknown,
        },
      },
    },
  }),
  AnalysisWindow: component(metricStatus.shape.analysisWindow, {
    about: 'The period that a metric covers. Both ends are null or neither is; available metrics have both.',
    fields: {
      start: 'The beginning of the period. Null if it is not known.',
      end: 'The end of the period, never before `start`. Null if it is not known.',
    },
  }),
  ReceiptLink: component(receiptLink, {
    about: 'A link to an immutable receipt bundle. Anyone who has the link can use it until it expires.',
    fields: {
      mediaType: {
        text: 'The media type of the bundle.',
        values: { 'application/zip': 'a ZIP archive', 'application/json': 'one JSON document' },
      },
      sha256:
        'The SHA-256 of the bundle’s bytes: 64 lowercase hexadecimal characters. Compare it after the download.',
      downloadUrl:
        'The https address of the bundle. It needs no token: its signature is the only credential in it. Do not log it.',
      expiresAt: 'When the link expires. Read the resource again to get a new link.',
    },
  }),
  AlignmentReport: component(alignmentReport, {
    about: 'How well a blueprint covers one external assessment.',
    fields: {
      object: 'Always `alignment_report`.',
      improvementRunId: 'The id of the improvement run.',
      sourceKey: 'The key of the external assessment within the run.',
      sourceAssessment: 'The name of the external assessment.',
      sourceVersion: 'The version or publication of the external assessment.',
      contentTestSpecId: 'The id of the test specification (blueprint) in Content.',
      contentTestSpecVersion,
      crosswalkHash: 'The SHA-256 of the complete, immutable crosswalk: 64 lowercase hexadecimal characters.',
      formulaVersion: {
        text: 'The version of the alignment formula.',
        values: {
          'alignment-v1':
            'the weight of the requirements that are covered at their depth, relative to the weight of all',
        },
      },
      numerator: 'The exact sum of `weightedContribution` over all contributions; 0 or more.',
      denominator: 'The exact sum of `weight` over all contributions; greater than 0.',
      alignmentPercent:
        'The alignment: 100 × `numerator` / `denominator`, in percent from 0 to 100, rounded half up to six digits after the decimal point.',
      contributions:
        'One entry per requirement of the external assessment, from 1 to 10,000. No requirement is left out.',
      predictedActual:
        'How predicted results compare with actual results of the external assessment. Null if Analytics has no comparison. It does not change the alignment.',
      limitations:
        'What limits the report, in sentences for people, at most 100 of 1-500 characters: requirements that are not or not unambiguously mapped, have an outdated mapping or a lower depth, and suppressed evidence.',
      receipt: expiringLink,
      ...compositionFields,
    },
  }),
  AlignmentContribution: component(alignmentContribution, {
    about: 'How one requirement of an external assessment counts.',
    fields: {
      sourceRequirementId: 'The id of the requirement. Each id occurs once in a report.',
      caseGuid: 'The CASE GUID that the requirement is mapped to. Null if there is no unambiguous mapping.',
      blueprintSlotId: 'The id of the blueprint slot that covers the requirement. Null if no slot does.',
      weight: 'The weight of the requirement; greater than 0.',
      coverage:
        'Whether the blueprint covers the requirement: 1 if a valid mapping leads to a slot, otherwise 0.',
      rigor: 'Whether the slot demands enough: 1 if `targetDok` is at least `sourceDok`, otherwise 0.',
      sourceDok: 'The depth of knowledge (DOK) that the requirement demands, from 1 to 4.',
      targetDok:
        'The depth of knowledge that the slot demands, from 1 to 4. Null if no slot covers the requirement.',
      weightedContribution: '`weight` × `coverage` × `rigor`; 0 or more.',
      reasonCode: {
        text: 'Why the requirement does not count in full. Null if it does.',
        values: {
          missing_mapping: 'the crosswalk has no mapping',
          ambiguous_mapping: 'the crosswalk has several different mappings',
          stale_mapping: 'the mapping is out of date',
          lower_dok: 'the slot demands a lower depth of knowledge',
          unknown:
            'the mapping has a status or depth that is not known, or leads to a slot or CASE GUID that the blueprint does not have; or a value that this version does not know',
        },
      },
    },
  }),
  PredictedActualComparison: component(predictedActualComparison, {
    about: 'How predicted results compare with actual results, as Analytics found out.',
    fields: {
      artifactRef: 'The id of the immutable comparison in Analytics.',
      populationCount: 'How many learners were eligible, as Analytics counts them.',
      suppressionStatus,
      suppressionRule:
        'The rule by which Analytics withholds the counts. Always present if they are suppressed.',
      method: 'The name of the method, as Analytics defines it.',
      analysisVersion: 'The version of the analysis.',
      predictedPassCount:
        'For how many learners a pass was predicted, at most `populationCount`. Null unless the comparison is `not_suppressed`.',
      actualPassCount:
        'How many learners passed, at most `populationCount`. Null unless the comparison is `not_suppressed`.',
      agreementCount:
        'For how many learners prediction and result agree, at most `populationCount`. Null unless the comparison is `not_suppressed`.',
      observedAgreement:
        '`agreementCount` / `populationCount`, rounded half up to six digits. Null unless the comparison is `not_suppressed`.',
    },
  }),
  RevisionOrder: component(revisionOrder, {
    about: 'What an improvement run asks Bank or Blueprint to revise, and why.',
    fields: {
      revisionOrderId:
        'The id of the order. The same target, subjects, policy and evidence always lead to the same id.',
      improvementRunId: 'The id of the improvement run.',
      administrationId: 'The id of the analyzed administration.',
      targetModule: {
        text: 'The receiver of the order.',
        values: {
          bank: 'Bank, which revises items',
          blueprint: 'Blueprint, which revises blueprints and crosswalks',
        },
      },
      requestedAction: {
        text: 'What the receiver is asked to do.',
        values: {
          regenerate_item: 'Bank: generate the item again',
          rotate_item: 'Bank: replace the item with another one',
          review_miskey: 'Bank: check whether the item’s key is wrong',
          tag_distractor: 'Bank: tag the distractors of the item',
          apply_calibration_delta: 'Blueprint: apply a change of the calibration',
          repair_crosswalk: 'Blueprint: repair the crosswalk to the assessments in `sourceKeys`',
        },
      },
      qtiItemId:
        'The id of the item in QTI. Always present for Bank; null if the order is not about an item.',
      qtiFormId: 'The id of the form in QTI. Null if the order is not about a form.',
      qtiTestId: 'The id of the test in QTI. Null if the order is not about a test.',
      contentTestSpecId: 'The id of the test specification (blueprint) in Content that governs the order.',
      contentTestSpecVersion,
      caseGuids:
        'The CASE GUIDs that the order is about, each once, at most 1,000. Empty if it is about none.',
      sourceKeys:
        'The keys of the external assessments that the order is about, each once, at most 1,000. Empty if it is about none.',
      reasonCodes: {
        text: 'Why the revision is requested, from 1 to 20 values, each once.',
        values: {
          low_discrimination: 'the item hardly distinguishes strong from weak test takers',
          difficulty_out_of_band: 'the item or form is too easy or too difficult',
          dead_distractor: 'a distractor is hardly ever chosen',
          untagged_distractor: 'a distractor has no tag',
          miskey_evidence: 'the evidence suggests that the key is wrong',
          readiness_tolerance_breach: 'predictions differ from results by more than the tolerance',
          blueprint_coverage_defect: 'the blueprint does not cover a requirement',
          blueprint_rigor_defect: 'the blueprint demands a lower depth of knowledge than a requirement',
        },
      },
      observedMetric: 'The observed value that breaches the threshold.',
      threshold: 'The threshold of the policy. `observedMetric.value` breaches it.',
      analysisPolicyId,
      analysisPolicyVersion,
      evidenceRefs: 'The receipts of the artifacts that contain the evidence, from 1 to 32.',
      status: {
        text: 'What has become of the order.',
        values: {
          pending: 'it has not been delivered yet',
          accepted: 'the receiver has accepted it',
          replayed: 'the receiver had it already',
          blocked_upstream: 'the receiver is unavailable; the service delivers the order later',
          rejected: 'the receiver has rejected it',
          superseded: 'an order of a later run has replaced it',
          unknown,
        },
      },
      targetReceipt:
        'The receiver’s receipt of the order. Null until the receiver has answered; an accepted, replayed or rejected order has one.',
      supersedesRevisionOrderId:
        'The id of the earlier order that this one replaces. Null if it replaces none.',
      createdAt: 'When the order was created.',
      updatedAt: 'When the order last changed, never before `createdAt`.',
    },
  }),
  RevisionOrderPage: component(revisionOrderPage, {
    about: 'One page of the revision orders of an improvement run, oldest first.',
    fields: {
      data: 'The orders, at most 100. Empty if no order matches.',
      ...pageFields,
      sources: 'One receipt per source that the page was composed from.',
    },
  }),
  ObservedMetric: component(orderContent.shape.observedMetric, {
    about: 'The observed value that led to an order.',
    fields: {
      name: 'The name of the value, for example `discrimination_index`.',
      value: 'The value, in `unit`.',
      unit: {
        text: 'The unit of the value, and of the threshold.',
        values: {
          proportion: 'a proportion; differences range from -1 to 1',
          count: 'a count',
          points: 'points of the test',
          percent: 'percent',
        },
      },
    },
  }),
  Threshold: component(threshold, {
    about: 'When an observed value leads to an order.',
    fields: {
      operator: {
        text: 'How the observed value is compared with `value`.',
        values: {
          lt: 'it is less than `value`',
          lte: 'it is at most `value`',
          gt: 'it is greater than `value`',
          gte: 'it is at least `value`',
          outside: 'its absolute value is greater than `value`',
        },
      },
      value: 'The threshold, in the unit of the observed value.',
    },
  }),
};

const improvementRunId =
  'The id of the improvement run. The operation that analyzes an administration returns it.';

/** The parameters of these routes. */
export const improvementRunParameters = {
  analyzeAdministration: {
    administrationId:
      'The id of the scored administration. Attempt reports contain it. It must be in the `administrationIds` of your token, or its class or school must be in your token’s claims.',
  },
  readImprovementRun: { improvementRunId },
  readAlignmentReport: {
    improvementRunId,
    sourceKey: 'The key of the external assessment. The improvement run lists its keys in `sourceKeys`.',
  },
  listRevisionOrders: {
    improvementRunId,
    status: {
      text: 'Only orders with this status. Absent: every status.',
      values: {
        pending: 'not delivered yet',
        accepted: 'accepted by the receiver',
        replayed: 'known to the receiver already',
        blocked_upstream: 'the receiver is unavailable',
        rejected: 'rejected by the receiver',
        superseded: 'replaced by an order of a later run',
      },
    },
    targetModule: {
      text: 'Only orders to this receiver. Absent: both.',
      values: { bank: 'Bank', blueprint: 'Blueprint' },
    },
    ...pageParameters,
  },
} satisfies Partial<ParameterTexts<typeof reportsRoutes>>;
