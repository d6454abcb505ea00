import {
  adaptiveRun,
  continuationRequest,
  executionPins,
  kcClassification,
  offeredItem,
  scaleResult,
  startAdaptiveRunRequest,
  waitingFor,
} from '#shared/contract/mastery/adaptive-run.ts';
import {
  identifier,
  probability,
  recordIdentifier,
  requestIdentifier,
  sha256,
  strongEntityTag,
  studentReference,
  timestamp,
} from '#shared/contract/mastery/primitives.ts';
import { invalidParam, masteryProblem, upstreamReference } from '#shared/contract/mastery/problem.ts';
import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import { anchor as anchorSchema, scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import {
  recoveryError,
  scoreRecoverySimulation,
  simulationRequest,
  syntheticProfile,
} from '#shared/contract/mastery/score-recovery.ts';
import {
  contentConstraint,
  coverageFloor,
  eligibilityRules,
  progressiveExposure,
  randomesqueExposure,
  selectionPolicy,
  sympsonHetterExposure,
} from '#shared/contract/mastery/selection-policy.ts';
import type { RunMode } from '#shared/contract/mastery/adaptive-run.ts';
import type { masteryRoutes } from '#shared/contract/mastery/routes.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import { problemFields, stopReasonMeanings } from './common.ts';
import { component } from './text.ts';
import type { Descriptions, ParameterTexts, TagTexts, ValueText } from './text.ts';

const service: ValueText<NonNullable<MasteryProblem['upstream']>['service']> = {
  text: 'The owner.',
  values: {
    platform_auth:
      'the platform’s authentication, the service profile of your tenant, and the service’s own stores',
    bank: 'generation of item pools',
    content: 'blueprints and the identity of item banks',
    qti: 'item packages, delivery sessions and scored attempts',
    case: 'standards and knowledge components',
    results: 'durable result records',
    caliper: 'learning events',
    anchor: 'the external scale',
  },
};
const selectionPolicyId =
  'The exact id of a released selection policy. Your operator releases policies and knows their ids. Aliases such as `latest` are rejected.';
const scaleCalibrationId =
  'The exact id of a released scale calibration. It must be valid for the subject, grades and CASE framework of the item pool.';
const testSpecId = 'The id of the test specification (blueprint) in Content. Its role must be `spec`.';
const testBankId =
  'The id of the adaptive item bank in Content. The bank must belong to `testSpecId`, have the membership rule `qti_adaptive_selection`, and have no Content members.';
const bankOperationId =
  'The id of the finished Bank operation that generated the item pool. It must belong to your tenant and have a complete manifest.';
const receiptId =
  'The id of the redacted trace of this request in the service’s log. Quote it to your operators. No route returns the trace.';
const visibility: ValueText<SelectionPolicy['visibility']> = {
  text: 'Who can read and use this version.',
  values: { tenant: 'only the tenant that owns it', system: 'every tenant that the platform authorizes' },
};
const runMode: ValueText<RunMode> = {
  text: 'Whom the run is for.',
  values: {
    owner_conformance: 'a check of the owners with synthetic facts only; writes nothing to Results',
    production_learner: 'a learner; writes the result to Results',
  },
};
const stopReason: ValueText<StopReason> = {
  text: 'Why the run stopped offering items. Null while it may still offer one.',
  values: stopReasonMeanings,
};
const caseFrameworkGuid = 'The GUID of the CASE framework that the knowledge components belong to.';
const caseMappingVersion =
  'The immutable version of the mapping between items and knowledge components. A replay needs the same version.';
const limitations =
  'What the scale does not support, in sentences for people; at least one. Show them wherever you show a score.';
const scaleId =
  'The id of the vertical scale. Compare scores only within one `scaleId` and within the validity of their calibrations.';
const validFrom = 'From when the calibration is valid, inclusive.';
const validUntil = 'Until when the calibration is valid, exclusive; always later than `validFrom`.';
const anchor = 'The external scale that the vertical scale is tied to. Metadata only.';
const kcGuid = 'The CASE GUID of a knowledge component or standard.';

const components = {
  Identifier: component(
    identifier,
    'An id that its owner assigned. Opaque and case-sensitive: pass it on exactly as you received it, percent-encoded as one segment in a path.',
  ),
  RequestIdentifier: component(
    requestIdentifier,
    'An id that its owner assigned. Opaque and case-sensitive: pass it on exactly as you received it. It does not contain U+FFFD, which replaces bytes that are not UTF-8.',
  ),
  RecordIdentifier: component(
    recordIdentifier,
    'The exact id of one released version. Aliases such as `latest` are rejected, in any case. In a path, it is percent-encoded as one segment.',
  ),
  StudentReference: component(
    studentReference,
    'A student reference of Results: 1-255 bytes of UTF-8 without surrounding white space, without control characters, and without U+FFFD.',
  ),
  Probability: component(
    probability,
    'A probability from 0 to 1, rounded to the calibration’s `numericPrecision`.',
  ),
  Timestamp: component(timestamp, 'An instant in UTC (RFC 3339, ending in `Z`).'),
  Sha256: component(sha256, 'A SHA-256 digest: 64 lowercase hexadecimal characters.'),
  StrongEntityTag: component(
    strongEntityTag,
    'A strong entity tag (RFC 9110), with its quotation marks. Opaque.',
  ),
  StartAdaptiveRunRequest: component(startAdaptiveRunRequest, {
    about: 'What an adaptive run is started with.',
    fields: {
      selectionPolicyId,
      scaleCalibrationId,
      testSpecId,
      testBankId,
      bankOperationId,
      runMode,
      resultsStudentId:
        'The Results id of the learner, in your tenant. Required if `runMode` is `production_learner`, forbidden otherwise. The service encrypts it in the continuation token and does not store it.',
    },
  }),
  ContinuationRequest: component(continuationRequest, {
    about: 'The run to inspect or to advance.',
    fields: {
      continuationToken:
        'The `continuationToken` of the latest response for this run. It expires at `continuationExpiresAt`. Keep it secret: do not log it, and do not put it in a URL.',
    },
  }),
  AdaptiveRun: component(adaptiveRun, {
    about: 'The state of an adaptive run.',
    fields: {
      continuationToken:
        'The only handle of the run: send it with the next inspect or advance. An advance that changes the run returns a new token; then discard the old one. Opaque and encrypted.',
      continuationExpiresAt:
        'When the token expires: at most 24 hours after the service issued it, and never later than seven days after the start of the run.',
      status: {
        text: 'How far the run is.',
        values: {
          in_progress: 'the run offers items',
          finalizing:
            'the run has stopped, and an owner has not yet acknowledged the result; advance again later',
          completed: 'the run has stopped, and every owner has acknowledged the result',
        },
      },
      runMode,
      selectionPolicyId: 'The selection policy of the run, as given at its start.',
      scaleCalibrationId: 'The scale calibration of the run, as given at its start.',
      executionPins: 'The exact versions that the run uses from its start to its end.',
      offeredItem:
        'The item to deliver now. Null if the run offers no item: before the first offer, while it is finalizing, and once it is completed.',
      kcClassifications:
        'One entry per knowledge component in scope, sorted by `caseCompetencyGuid`. Empty if there is no evidence yet.',
      scaleReportability: {
        text: 'Whether the run has a scale score. Treat a value that you do not know as not reportable.',
        values: {
          pending: 'not yet: there is no evidence, or the score is not precise enough',
          reportable: '`scale` contains the score',
          anchor_unavailable:
            'no: the anchor of the scale cannot be verified, and the classifications are provisional',
        },
      },
      scale: 'The scale score. Null unless `scaleReportability` is `reportable`.',
      stopReason,
      remainingUncertainty:
        'How uncertain the classifications are: the mean entropy of the knowledge components in scope, in bits. 0 is certain, 1 is no information.',
      timeBudgetEndsAt:
        'When the time budget is over. The run does not end by itself: send an advance at that time, even if the last item is unanswered. Absent if the policy has no time budget.',
      waitingFor:
        'What the run waits for that you cannot do. Ask again after the time in `Retry-After`. Absent when the next step is yours, and at a start.',
      resultRecordRef:
        'The id of the result record in Results, which has acknowledged the record and every classification in it. Present only on a completed run of mode `production_learner`.',
      caliperEventRef:
        'The id of the completion event in Caliper. Present only on a completed run, once Caliper has acknowledged the event.',
      receiptId,
    },
  }),
  ExecutionPins: component(executionPins, {
    about:
      'The exact versions that a run or a simulation uses. The service checks them before each offer, and returns 409 if an owner has changed one.',
    fields: {
      testSpecId: 'The test specification (blueprint) in Content, as given in the request.',
      testSpecHash: 'The SHA-256 of the complete, normalized test specification.',
      testBankId: 'The adaptive item bank in Content, as given in the request.',
      testBankIdentityHash:
        'The SHA-256 of the bank’s identity: ids, role, membership rule, absence of Content members, and update version. It does not cover the items.',
      bankOperationId: 'The Bank operation that generated the item pool, as given in the request.',
      qtiPoolPackageId: 'The id of the immutable QTI package of the pool, from the Bank manifest.',
      qtiPoolArtifactId: 'The id of the pool’s assessment test in QTI.',
      qtiPoolArtifactVersionId: 'The immutable version of the pool’s assessment test in QTI.',
      qtiPoolPackageHash: 'The SHA-256 of the QTI package, from the Bank manifest.',
      qtiPoolEtag: 'The entity tag of the pool’s assessment test in QTI.',
      resolvedPoolHash:
        'The SHA-256 of the resolved pool: manifest, QTI version, and the items with their standards and knowledge components, in order.',
    },
  }),
  WaitingFor: component(waitingFor, {
    about: 'The owner that has to act before the run can continue.',
    fields: {
      service,
      operation:
        'The operation whose response ends the wait. `qti.read_candidate_runtime`: the learner has submitted the answer, and QTI has to score it or to complete its processing; inspect again. Any other: the run has stopped, and its result waits for this operation; advance again with the latest `ETag` and a new `Idempotency-Key`.',
      since: 'Since when the owner owes it, by the owner’s clock. Absent if no owner states it.',
    },
  }),
  OfferedItem: component(offeredItem, {
    about: 'The item that a run offers.',
    fields: {
      deliverySessionId:
        'The id of the QTI delivery session of this item. Pass it to the QTI player. Once QTI has scored the attempt, inspect and advance the run.',
      artifactVersionId:
        'The immutable version of the item in QTI. Equal to `rootArtifactVersionId` of the delivery session.',
      sequence: 'The position of the offer in the run. The first offer is 1.',
    },
  }),
  KcClassification: component(kcClassification, {
    about: 'What a run has found out about one knowledge component.',
    fields: {
      caseCompetencyGuid: 'The CASE GUID of the knowledge component. Ask CASE for its name.',
      caseFrameworkGuid,
      caseMappingVersion,
      classification: {
        text: 'What the evidence shows. Provisional if `scaleReportability` is `anchor_unavailable`.',
        values: {
          mastered: 'the learner has mastered it, with the confidence that the policy requires',
          gap: 'the learner has not mastered it, with the confidence that the policy requires',
          not_yet: 'the evidence is not sufficient to decide; this is not a failure',
        },
      },
      posteriorProbability:
        'The posterior probability that the learner has mastered the knowledge component, under the run’s calibration. Not a percentile and not a rank.',
      cutScore:
        'The policy’s `kcCutScore`: at or above this posterior probability a knowledge component can be `mastered`, below it a `gap`.',
      confidenceThreshold:
        'The policy’s `confidenceThreshold`: `mastered` requires a posterior probability of at least this, `gap` of at most 1 minus this, both only with evidence.',
      evidenceItemRefs:
        'The QTI ids of the items whose scored outcomes are the evidence, without duplicates, in the order of the run. Empty if there is no evidence yet.',
    },
  }),
  ScaleResult: component(scaleResult, {
    about: 'A score on the vertical mastery scale.',
    fields: {
      scaleScore:
        'The score, in units of the scale `scaleId`. It resembles the score of an external vendor in form only; no vendor issued it.',
      standardError: 'The standard error of `scaleScore`, in the same units; 0 or more.',
      scaleId,
      scaleCalibrationId: 'The calibration that defines the score.',
      anchor,
      validFrom,
      validUntil,
      limitations: `${limitations} A run may add its own to those of its calibration: an imprecise score, or answers that contradict each other.`,
    },
  }),
  Anchor: component(anchorSchema, {
    about: 'The external scale that a vertical scale is tied to, and the license for it.',
    fields: {
      source: 'The id of the external scale.',
      version: 'The immutable version of the external scale.',
      checksum: 'The SHA-256 of the anchor data.',
      licenseScope: 'What the license covers, as the licensor named it.',
    },
  }),
  SelectionPolicy: component(selectionPolicy, {
    about: 'How a run selects items and when it stops. An immutable version: a correction has a new id.',
    fields: {
      id: 'The id of this version.',
      visibility,
      algorithm: {
        text: 'How the next item is selected.',
        values: {
          constrained_information_gain:
            'the eligible item with the largest expected information gain under the constraints',
        },
      },
      kcCutScore:
        'The mastery cut: at or above this posterior probability a knowledge component can be `mastered`, below it a `gap`.',
      confidenceThreshold:
        'How certain a classification must be, above 0.5: `mastered` requires a posterior probability of at least this, `gap` of at most 1 minus this. Otherwise the classification is `not_yet`.',
      precisionTarget:
        'The run may stop once `remainingUncertainty` is at most this, in bits, and every coverage floor is met. Greater than 0.',
      maxItems: 'The most items that a run offers.',
      timeBudgetSeconds: 'The most seconds that a run may take. Null if there is no time budget.',
      coverageFloors:
        'How much evidence a run needs before it may stop for precision. One entry per GUID, sorted by GUID.',
      eligibilityRules: 'Which items a run may offer, and what it has to cover.',
      checksum: 'The SHA-256 of the policy in canonical JSON (RFC 8785), without this field.',
    },
  }),
  CoverageFloor: component(coverageFloor, {
    about: 'How many scored items one knowledge component or standard needs.',
    fields: {
      caseCompetencyGuid: kcGuid,
      minimumEvidenceItems: 'The fewest scored items before the run may stop for precision; 0 or more.',
    },
  }),
  EligibilityRules: component(eligibilityRules, {
    about: 'Which items a run may offer, and what it has to cover. Every rule is optional.',
    fields: {
      kcScope:
        'The CASE GUIDs of the knowledge components that a run classifies. Absent: all that the item pool covers.',
      contentConstraints:
        'Per CASE GUID of a knowledge component or standard, how many of the offered items measure it.',
      requiredAccessibility:
        'Accessibility tags. A run offers only items that have all of them in the calibration.',
      enemySets: 'Sets of QTI item ids. A run offers at most one item of each set.',
      excludedItems: 'QTI ids of items that a run never offers.',
      exposure:
        'How chance keeps the same few items from being offered to every learner. Absent: a run always offers the best item.',
      priorUse: {
        text: 'What happens to items that the learner was offered in earlier runs with the same bank. Absent: `allow`.',
        values: {
          allow: 'they are offered like any other item',
          avoid: 'they are offered only if no other item is eligible',
          exclude: 'they are never offered',
        },
      },
      selectionTarget: {
        text: 'What the information gain of an item refers to. Absent: `latent_state`.',
        values: {
          latent_state: 'the whole latent state',
          unsettled_components: 'only the knowledge components in scope that are still `not_yet`',
          unsettled_and_unmeasured:
            'the whole latent state, among the items that measure a knowledge component in scope that is still `not_yet`; `unmeasuredCredit` is added to it',
          settling_look_ahead:
            'as for `unsettled_and_unmeasured`; for the 16 best items, `settlingCredit` is added to it too',
        },
      },
      unmeasuredCredit:
        'What an item is credited with for each of its knowledge components in scope that has no scored item yet, in bits; greater than 0. It is present exactly with `unsettled_and_unmeasured` and `settling_look_ahead`.',
      settlingCredit:
        'What an item is credited with for each of its own knowledge components in scope that its answer is expected to settle, in bits; greater than 0. It is present exactly with `settling_look_ahead`.',
      minimumGain:
        'The least expected information gain of an item, in bits, that is worth offering it; greater than 0. It applies only after every minimum is met. Absent: no limit.',
      minimumDecisionGain:
        'A run ends if no other item is expected to give at least that much information about those of its own knowledge components in scope that are still `not_yet`, in bits; greater than 0. It applies only after every minimum is met. Absent: no limit.',
      poolMembership: {
        text: 'Where the items come from. Absent: `manifest`.',
        values: { manifest: 'only from the Bank manifest' },
      },
      blueprintCoverage: {
        text: 'Whether the slots of the blueprint are minima. Absent: `none`.',
        values: {
          slots: 'a run offers one item per slot that names a GUID',
          none: 'the slots are no minima',
        },
      },
    },
  }),
  ContentConstraint: component(contentConstraint, {
    about: 'How many of the offered items measure one knowledge component or standard.',
    fields: {
      minItems: 'The fewest items. Absent: no minimum.',
      maxItems: 'The most items. Absent: no maximum.',
    },
  }),
  RandomesqueExposure: component(randomesqueExposure, {
    about: 'Chance selects among the best items.',
    fields: {
      method: {
        text: 'The method of exposure control.',
        values: { randomesque: 'one of the best `size` items' },
      },
      size: 'Among how many of the best items chance selects; 1 or more.',
    },
  }),
  ProgressiveExposure: component(progressiveExposure, {
    about: 'Chance matters less with each offer.',
    fields: {
      method: {
        text: 'The method of exposure control.',
        values: {
          progressive:
            'only chance selects the first item; information gain matters more as the run approaches `maxItems`',
        },
      },
    },
  }),
  SympsonHetterExposure: component(sympsonHetterExposure, {
    about: 'Each item has a probability of being offered.',
    fields: {
      method: {
        text: 'The method of exposure control.',
        values: {
          sympson_hetter: 'from the best item down, the first item that passes with its own probability',
        },
      },
      tableSha256:
        'The SHA-256 of the table of probabilities in canonical JSON (RFC 8785). The table itself stays on the server.',
    },
  }),
  ScaleCalibration: component(scaleCalibration, {
    about:
      'What responses to items show about knowledge components and the scale. An immutable version: a correction has a new id. Its parameters stay on the server.',
    fields: {
      id: 'The id of this version.',
      scaleId,
      visibility,
      modelFamily: 'The family of the measurement model. Display it; do not interpret it.',
      modelVersion: 'The immutable version of the measurement model.',
      numericPrecision:
        'How many significant decimal digits the service calculates and returns for this calibration, from 1 to 15.',
      runtimeVersion:
        'The exact version of the arithmetic that the service uses, so that results can be reproduced.',
      caseFrameworkGuid,
      caseMappingVersion,
      subject: 'The subject that the calibration is valid for.',
      gradeCoverage: 'The grades that the calibration is valid for, in order; at least one.',
      validFrom,
      validUntil,
      anchor,
      recoveryTolerance:
        'The largest absolute error that a score-recovery simulation accepts, in units of the scale; 0 or more.',
      limitations,
      checksum: 'The SHA-256 of this descriptor in canonical JSON (RFC 8785), without this field.',
    },
  }),
  SimulationRequest: component(simulationRequest, {
    about: 'The test and the simulated learners of a score-recovery simulation.',
    fields: {
      selectionPolicyId,
      scaleCalibrationId,
      testSpecId,
      testBankId,
      bankOperationId,
      profiles: 'The simulated learners, from 1 to 100. Each `syntheticProfileId` occurs once.',
    },
  }),
  SyntheticProfile: component(syntheticProfile, {
    about: 'A simulated learner. Ids of real learners are rejected.',
    fields: {
      syntheticProfileId: 'A name that you choose for the simulated learner. It begins with `synthetic:`.',
      knownMastery:
        'For 1 to 500 knowledge components, by CASE GUID, the probability that the simulated learner has mastered them.',
    },
  }),
  ScoreRecoverySimulation: component(scoreRecoverySimulation, {
    about: 'How far recovered scale scores are from the known ones.',
    fields: {
      profilesTotal: 'The number of simulated learners.',
      replications:
        'How often each simulated learner took the test, from 1 to 32. The service chooses the number by the size of the request.',
      recoveryErrors: 'One entry per simulated learner, in the order of the request.',
      tolerance: 'The calibration’s `recoveryTolerance`, in units of the scale.',
      maxAbsoluteError: 'The largest `absoluteError`, in units of the scale.',
      withinTolerance: 'Whether every `absoluteError` is at most `tolerance`.',
      executionPins: 'The exact versions that the simulation used.',
      receiptId,
      eventIri: 'The IRI of the synthetic event in Caliper. The service has read the event back.',
      envelopeHash: 'The SHA-256 of the event’s envelope, as Caliper acknowledged it.',
    },
  }),
  RecoveryError: component(recoveryError, {
    about: 'How well the test recovered the score of one simulated learner.',
    fields: {
      syntheticProfileId: 'The simulated learner, as named in the request.',
      knownScale: 'The score that a perfect test would give, in units of the scale.',
      recoveredScale: 'The mean of the scores over all replications, in units of the scale.',
      absoluteError: 'The absolute difference of `knownScale` and `recoveredScale`, in units of the scale.',
      standardError:
        'The standard error of `recoveredScale`, in units of the scale. Absent if there was only one replication.',
    },
  }),
  MasteryProblem: component(masteryProblem, {
    about: 'Why a request failed (RFC 9457). A field that does not apply is absent. Branch on `code`.',
    fields: {
      ...problemFields,
      code: 'The stable code of the problem type, in kebab case. Branch on it.',
      retryable:
        'Whether the operation can succeed without a change to its input, after the recovery that the problem’s page describes.',
      invalidParams: 'The invalid places of the request, at most 100. Absent if the request was valid.',
      currentEtag:
        'The current entity tag of the run. Present with status 412 only: inspect the run, then advance with this tag and a new key.',
      upstream: 'The owner that caused the failure. Absent if the failure has nothing to do with an owner.',
      receiptId: 'The id of the redacted trace in the service’s log. Present if the item pool was refused.',
    },
  }),
  InvalidParam: component(invalidParam, {
    about: 'One invalid place of a request.',
    fields: {
      name: 'A JSON Pointer to the place, below `/path`, `/query`, `/headers` or `/body`. A name of more than 100 characters is cut and ends in `…`.',
      reason: 'A stable code for what is wrong, for example `required` or `out-of-range`.',
      message: 'What is wrong, for people. It never repeats the submitted value.',
    },
  }),
  UpstreamReference: component(upstreamReference, {
    about: 'The call to an owner that failed.',
    fields: {
      service,
      operation: 'The operation, for example `qti.read_candidate_runtime`.',
      requestId: 'The owner’s id of the call. Absent if no call was made or the owner gave no id.',
    },
  }),
};

/** The texts of the mastery engine’s document. */
export const masteryDescriptions = {
  components,
  parameters: {
    readSelectionPolicy: { policyId: 'The id of the policy. Runs return it as `selectionPolicyId`.' },
    readScaleCalibration: {
      calibrationId: 'The id of the calibration. Runs and scale scores return it as `scaleCalibrationId`.',
    },
  } satisfies ParameterTexts<typeof masteryRoutes>,
  tags: {
    'adaptive-runs':
      'Start, inspect and advance an adaptive run. A run has no id; its continuation token is its only handle.',
    'selection-policies': 'How a run selects items and when it stops. Versions are immutable.',
    'scale-calibrations':
      'What responses to items show about knowledge components and the scale. Versions are immutable; only their descriptors are public.',
    'score-recovery-simulations':
      'Check how well a test recovers the known scores of simulated learners. No real learner takes part.',
  } satisfies TagTexts<typeof masteryRoutes>,
} satisfies Descriptions;
