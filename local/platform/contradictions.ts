import type * as z from 'zod';
import type { InvariantId } from '#shared/contract/reports/invariants/tables.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Rollup } from '#shared/platform/owners/analytics.ts';
import type { RecordHeader, SettledGate, SettledMastery } from '#shared/platform/owners/results.ts';

/** A change of one operation's answer. */
interface Contradiction {
  readonly operation: UpstreamOperation;
  readonly change: (answer: never) => object;
}

function changing<Answer extends z.ZodType<object>>(
  operation: UpstreamOperation<Answer, undefined>,
  change: (answer: z.output<Answer>) => z.output<Answer>,
): Contradiction {
  return { operation, change };
}

const record = (change: Parameters<typeof changing<typeof operations.readSettledRecord.answer>>[1]) => [
  changing(operations.readSettledRecord, change),
];
/** The facts that the record of an attempt and the index of a candidate's attempts share. */
const header = (change: (held: RecordHeader) => Partial<RecordHeader>) => [
  ...record((held) => ({ ...held, ...change(held) })),
  changing(operations.listCandidateAttempts, (index) => ({
    ...index,
    rows: index.rows.map((row) => ({
      ...row,
      record: row.record && { ...row.record, ...change(row.record) },
    })),
  })),
];
const gate = (change: (gate: SettledGate & { required: number }) => Partial<SettledGate>) =>
  header(({ gate: decision }) =>
    decision === null || decision.required === null
      ? {}
      : { gate: { ...decision, ...change({ ...decision, required: decision.required }) } },
  );
const firstRow = (change: (row: SettledMastery & { threshold: number }) => Partial<SettledMastery>) =>
  record((held) => ({
    ...held,
    mastery: held.mastery.map((row, at) =>
      at > 0 || row.threshold === null ? row : { ...row, ...change({ ...row, threshold: row.threshold }) },
    ),
  }));
const rollup = (change: (rollup: Rollup) => Partial<Rollup>) =>
  [operations.readClassRollup, operations.readSchoolGradeRollup].map((operation) =>
    changing(operation, (held) => ({ ...held, ...change(held) })),
  );
const analysis = (
  change: (
    held: z.output<typeof operations.readFormEquivalence.answer>,
  ) => Partial<z.output<typeof operations.readFormEquivalence.answer>>,
) => [changing(operations.readFormEquivalence, (held) => ({ ...held, ...change(held) }))];
/** Forms that Analytics and Blueprint both name, each with its sample. */
const compared = (forms: (qtiTestId: string) => string[]) => [
  ...analysis(({ qtiTestId }) => ({
    comparisonQtiTestIds: forms(qtiTestId),
    sampleSizes: Object.fromEntries([qtiTestId, ...forms(qtiTestId)].map((form) => [form, 100])),
  })),
  changing(operations.readFormEvidence, (held) => ({
    ...held,
    comparisonQtiTestIds: forms(held.qtiTestId),
  })),
];
const twice = <Row>([first, ...others]: readonly Row[]): Row[] =>
  first === undefined ? [] : [first, first, ...others];

/**
 * For each invariant, changes of the answers of owners that break it and none before it, where the answers speak of what it is about: a
 * passed or a failed gate, a diagnostic, a roll-up with measures, forms that are equivalent.
 */
export const contradictions: Readonly<Record<InvariantId, readonly Contradiction[]>> = {
  'score-within-bounds': header(({ score }) => ({
    score: score && { ...score, minimum: null, maximum: score.value - 1 },
  })),
  'one-mastery-scale': header(({ score }) => ({
    score: score && { ...score, unit: 'mastery_scale', scaleVersion: 'another' },
  })),
  'one-score-per-scale': header(({ score, diagnostic }) => ({
    score: score &&
      diagnostic && {
        ...score,
        ...{ unit: 'mastery_scale', scaleVersion: diagnostic.scaleVersion },
        ...{ value: diagnostic.scaleScore - 1, minimum: null },
      },
  })),
  'pass-not-below-required': gate(({ required }) => ({ achieved: required - 1 })),
  'pass-lists-no-gap': gate(() => ({ gapCaseGuids: ['a-gap'] })),
  'fail-has-a-cause': gate(({ required }) => ({ achieved: required, gapCaseGuids: [] })),
  'gap-listed-once': gate(({ gapCaseGuids }) => ({ gapCaseGuids: twice(gapCaseGuids) })),
  'one-test-kind': header(({ testKind }) => ({
    testKind: testKind === 'formative' ? 'mastery_gate' : 'formative',
  })),
  'one-time-of-modification': [
    changing(operations.listCandidateAttempts, (index) => ({
      ...index,
      rows: index.rows.map((row) => ({
        ...row,
        record: row.record && { ...row.record, modifiedAt: '2020-02-29T00:00:00Z' },
      })),
    })),
  ],
  'parent-as-in-case': firstRow(({ caseGuid }) => ({ parentCaseGuid: caseGuid })),
  'items-administered': [
    changing(operations.readAttemptEvidence, (held) => ({ ...held, administeredItemCount: 1 })),
  ],
  'one-row-per-standard': record((held) => ({ ...held, mastery: twice(held.mastery) })),
  'no-standard-above-itself': [
    ...record((held) => ({
      ...held,
      mastery: held.mastery.map((row) => ({
        ...row,
        parentCaseGuid: row.parentCaseGuid === null ? null : row.caseGuid,
      })),
    })),
    changing(operations.readPackage, ({ CFDocument, CFAssociations: links, ...framework }) => ({
      ...framework,
      CFDocument,
      CFAssociations: links.map((link) =>
        link.destinationNodeURI.identifier === CFDocument.identifier
          ? link
          : { ...link, destinationNodeURI: link.originNodeURI },
      ),
    })),
  ],
  'one-evidence-per-outcome': firstRow(({ evidence }) => ({ evidence: twice(evidence) })),
  'gate-lists-its-gap-rows': firstRow(({ threshold }) => ({ state: 'gap', estimate: threshold })),
  'listed-gap-not-mastered': record((held) => ({
    ...held,
    mastery: held.mastery.map((row) => ({
      ...row,
      ...(held.gate?.gapCaseGuids.includes(row.caseGuid) === true
        ? { state: 'mastered', estimate: row.threshold }
        : {}),
    })),
  })),
  'state-fits-estimate': firstRow(({ threshold }) => ({
    state: 'mastered',
    estimate: threshold - 1,
    uncertainty: 0,
    uncertaintyKind: 'policy_margin',
  })),
  'snapshot-not-ahead': rollup(() => ({ asOf: '2999-01-01T00:00:00Z' })),
  'one-value-per-measure': rollup(({ measures }) => ({ measures: twice(measures) })),
  'measure-in-range': rollup(() => ({
    measures: [{ name: 'share_proficient', value: 1.7, unit: 'proportion' }],
  })),
  'nobody-measured-nothing': rollup(() => ({ populationCount: 0 })),
  'other-forms': compared(() => []),
  'form-once': compared((qtiTestId) => [qtiTestId]),
  'one-sample-per-form': analysis(() => ({ sampleSizes: {} })),
  'statistic-in-interval': analysis(({ statistic }) => ({
    confidenceInterval: { lower: statistic + 1, upper: statistic + 2 },
  })),
  'tolerance-not-negative': analysis(() => ({ tolerance: -1 })),
  'equivalent-forms-were-sampled': analysis(({ sampleSizes }) => ({
    sampleSizes: Object.fromEntries(Object.keys(sampleSizes).map((form) => [form, 0])),
  })),
  'equivalent-within-tolerance': analysis(({ statistic }) => ({
    tolerance: Math.abs(statistic) / 2,
    statisticKind: 'difference',
  })),
  'decision-has-evidence': analysis(() => ({ evidenceArtifactUrl: null })),
  'source-named-once': [
    changing(operations.readAlignmentSources, (list) => ({ ...list, sources: twice(list.sources) })),
  ],
  'metric-named-once': [
    changing(operations.readAdministrationAnalysis, (list) => ({ ...list, metrics: twice(list.metrics) })),
  ],
  'comparison-named-once': [
    changing(operations.readAdministrationAnalysis, (list) => ({
      ...list,
      comparisons: twice(list.comparisons),
    })),
  ],
  'evidence-has-public-link': analysis(() => ({ evidenceArtifactUrl: 'https://127.0.0.1/artifact' })),
};

/** Every invariant that an answer can be made to break. */
export const invariantIds = Object.keys(contradictions) as [InvariantId, ...InvariantId[]];

/** The invariants that answers of an operation can be made to break, by its id. */
export const invariantsOf: Readonly<Record<string, readonly InvariantId[]>> = Object.fromEntries(
  Object.values(contradictions)
    .flat()
    .map(({ operation: { id } }) => [
      id,
      invariantIds.filter((invariant) => contradictionOf(invariant, id) !== undefined),
    ]),
);

/** Returns what makes an operation's answer break an invariant; undefined where the operation has no part in it. */
export function contradictionOf(
  invariant: InvariantId,
  operation: string,
): ((answer: object) => object) | undefined {
  const change = contradictions[invariant].find((one) => one.operation.id === operation)?.change;
  // SAFETY: a change takes an answer of its own operation.
  return change as ((answer: object) => object) | undefined;
}
