/** Pairs of members that may differ from a truthful answer together, with the reason why a person has accepted them. */
export interface AcceptedPairs {
  /** The answers that have the members. */
  readonly of: readonly ('report' | 'readiness' | 'cohort' | 'equivalence')[];
  readonly members: readonly string[];
  /** Default: any member. */
  readonly beside?: readonly string[];
  readonly reason: string;
}

const under = (path: string, ...names: readonly string[]): string[] => names.map((name) => `${path}/${name}`);

const receipts = under('sources/*', 'resourceId', 'version', 'observedAt');
const score = under('score', 'value', 'minimum', 'maximum', 'unit', 'scaleVersion');
const gateNames = under('gate', 'criteriaVersion', 'coverageEvidenceId');
const gate = ['gate', ...under('gate', 'status', 'achieved', 'required', 'gapCaseGuids'), ...gateNames];
const diagnosticNumbers = under(
  'diagnostic',
  'scaleScore',
  'standardError',
  'administeredItemCount',
  'stoppingReason',
);
const diagnosticNames = under('diagnostic', 'scaleVersion', 'calibrationVersion', 'extNormsSet');
const diagnostic = [...diagnosticNumbers, ...diagnosticNames];
const place = under('mastery/*', 'kind', 'caseGuid', 'parentCaseGuid');
const decisionMembers = under(
  'mastery/*',
  'state',
  'estimate',
  'threshold',
  'uncertainty',
  'uncertaintyKind',
);
const policy = under('mastery/*', 'confidence', 'policyId', 'policyVersion');
const evidence = [
  'mastery/*/evidence',
  ...under(
    'mastery/*/evidence/*',
    'qtiItemId',
    'qtiOutcomeId',
    'resultComponentId',
    'contribution',
    'observedAt',
  ),
];
const mastery = ['mastery', ...place, ...decisionMembers, ...policy, ...evidence];

export const acceptedPairs: readonly AcceptedPairs[] = [
  {
    of: ['report'],
    members: ['qtiSessionId', 'qtiTestId', 'resultRecordId', 'administrationId', 'contentTestSpecId'],
    reason: 'An id is opaque. The owners that name it were compared, and it says nothing of another member.',
  },
  {
    of: ['report', 'equivalence'],
    members: [...receipts, 'sources'],
    reason:
      'A receipt says what was read and in which version. Versions that name each other were compared, and none says what it holds.',
  },
  {
    of: ['report'],
    members: ['incompleteSections', 'sources/*/status'],
    reason:
      'Only the receipt of the event of completion may be unavailable. The report holds no fact of that event.',
  },
  {
    of: ['report'],
    members: [...gateNames, ...diagnosticNames, ...policy, 'score/scaleVersion'],
    reason:
      'A name or version is opaque, and what certainty a policy demands is its own. Where two owners give one, or two members are on one scale, the tables compare it.',
  },
  {
    of: ['report'],
    members: score,
    beside: [...gate, ...mastery],
    reason:
      'The text gives the measurement of a gate and the estimate of a row no unit: neither need be on the scale of the score.',
  },
  {
    of: ['report'],
    members: ['score/unit', 'score/minimum', 'score/maximum'],
    beside: [...score, ...diagnostic],
    reason:
      'Each scale has the bounds that its owner gives it; a percentage may be above 100, and a scale may have none.',
  },
  {
    of: ['report'],
    members: diagnosticNumbers,
    beside: [...diagnosticNumbers, ...mastery, 'score/value'],
    reason:
      'Any standard error is possible beside any score. A component outside the scope of the policy is undecided whatever stopped the test.',
  },
  {
    of: ['report'],
    members: gate,
    beside: [...decisionMembers, ...evidence],
    reason:
      'Estimates and thresholds are of the policy of a row, a measurement of the gate. Which gaps a gate lists, the tables compare.',
  },
  {
    of: ['report'],
    members: ['gate/achieved', 'gate/required'],
    beside: ['gate/gapCaseGuids', ...place, 'mastery'],
    reason:
      'Criteria may demand every gap to be closed, or a total without any: both are failed with and without gaps.',
  },
  {
    of: ['report'],
    members: ['testKind', 'mastery'],
    beside: [...score, ...mastery, 'testKind'],
    reason: 'A test of any kind has any score and any rows.',
  },
  {
    of: ['report'],
    members: evidence,
    beside: mastery,
    reason:
      'A contribution is signed by its policy and adds up to nothing that is shown; one outcome may count for several rows.',
  },
  {
    of: ['report'],
    members: place,
    beside: [...decisionMembers, 'mastery/*/kind'],
    reason: 'Where a standard stands says nothing of how well it is mastered.',
  },
  {
    of: ['readiness'],
    members: ['entries/*/limitations'],
    reason:
      'Limitations are sentences for people. That an undecided entry has one, and what a pass needs, the second composer says.',
  },
  {
    of: ['readiness'],
    members: ['sources/*/status', ...receipts],
    reason:
      'A receipt says what was read. That nothing is passed by a source which is not current, the second composer says.',
  },
  {
    of: ['readiness'],
    members: [
      ...under('entries/*', 'sourceTest', 'sourceVersion', 'crosswalkVersion'),
      'entries',
      'omittedEntries',
    ],
    reason: 'A name is opaque. That a test is named once, the schema says.',
  },
  {
    of: ['readiness'],
    members: under('entries/*', 'coverageFraction', 'dokDominance', 'qualifyingBlueprintSlotIds', 'decision'),
    beside: under('entries/*', 'coverageFraction', 'dokDominance', 'qualifyingBlueprintSlotIds', 'decision'),
    reason: 'Each is a fact of the blueprint on its own. What a pass needs of them, the schema says.',
  },
  {
    of: ['cohort'],
    members: ['rollupId', 'formulaVersion', ...under('source', 'resourceId', 'version')],
    reason: 'An id or version of Analytics is opaque, and its receipt shows the same one.',
  },
  {
    of: ['cohort'],
    members: ['suppression/status', 'asOf'],
    reason:
      'Values are shown of a snapshot that is not suppressed alone, as the schema says; a snapshot of any time may have any.',
  },
  {
    of: ['cohort'],
    members: ['populationCount', 'measures', ...under('measures/*', 'name', 'unit', 'value')],
    beside: ['populationCount', 'measures', ...under('measures/*', 'name', 'unit', 'value')],
    reason:
      'A count may be of events, and a share of a part of the population. What is known by name, the tables compare.',
  },
  {
    of: ['equivalence'],
    members: ['contentTestSpecId', 'method', 'analysisVersion', 'evidenceArtifactUrl'],
    reason: 'A name, version or link is opaque. That a decision has its evidence, the tables say.',
  },
  {
    of: ['equivalence'],
    members: ['coverageMatch', 'dokMatch', 'limitations'],
    reason:
      'What the blueprint says beside what Analytics decided: two facts of two owners, both shown, with a limitation.',
  },
  {
    of: ['equivalence'],
    members: [
      'sampleSizes',
      'comparisonQtiTestIds',
      ...under('confidenceInterval', 'lower', 'upper'),
      'statistic',
      'tolerance',
      'decision',
    ],
    beside: [
      'sampleSizes',
      ...under('confidenceInterval', 'lower', 'upper'),
      'statistic',
      'tolerance',
      'decision',
    ],
    reason:
      'The method says what an interval and a sample are of. What `equivalent` needs of them, the tables compare.',
  },
];
