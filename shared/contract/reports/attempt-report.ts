import * as z from 'zod';
import { when } from '../conditions.ts';
import { stopReason } from '../stop-reason.ts';
import {
  areUnique,
  composed,
  cursorWhenMore,
  instant,
  pagePlace,
  reference,
  text,
  uniqueListOf,
} from './primitives.ts';
import { reportsProblem } from './problem.ts';
import { receipts, sources } from './source-ref.ts';

/** The kinds that a client may ask for; responses may also contain `unknown` [RP-060]. */
export const requestableTestKind = z.enum(['mastery_gate', 'adaptive_diagnostic', 'formative']);
export const testKind = z.enum([...requestableTestKind.options, 'unknown']);
export type TestKind = z.infer<typeof testKind>;

/** Projections of one and the same composition [RP-074, RP-075]. */
export const view = z.enum(['summary', 'standards', 'evidence']);
export type View = z.infer<typeof view>;

export const score = z
  .strictObject({
    value: z.number(),
    minimum: z.number().nullable(),
    maximum: z.number().nullable(),
    unit: z.enum(['points', 'percent', 'mastery_scale', 'unknown']),
    scaleVersion: z.string().min(1).max(128).nullable(),
  })
  .check(
    z.refine(
      ({ value, minimum, maximum }) => (minimum ?? value) <= value && value <= (maximum ?? value),
      'the value lies between minimum and maximum [RP-081]',
    ),
    when(
      { if: { unit: z.literal('mastery_scale') }, then: { scaleVersion: z.string() } },
      'a mastery scale has a version [RP-083]',
    ),
  );
export type Score = z.infer<typeof score>;

export const itemEvidence = z.strictObject({
  qtiItemId: reference,
  qtiOutcomeId: reference,
  resultComponentId: reference.nullable(),
  contribution: z.number(),
  observedAt: instant,
});
export type ItemEvidence = z.infer<typeof itemEvidence>;

/** Item evidence of one mastery row, at most. */
export const MAX_ROW_EVIDENCE = 500;

/** `evidence` is absent in the view `standards`, never empty [RP-079, RP-095]. */
export const masteryRow = z.strictObject({
  kind: z.enum(['standard', 'knowledge_component']),
  caseGuid: reference,
  parentCaseGuid: reference.nullable(),
  state: z.enum(['mastered', 'not_yet', 'gap', 'insufficient_evidence', 'unknown']),
  estimate: z.number(),
  threshold: z.number(),
  uncertainty: z.number().min(0),
  uncertaintyKind: z.enum(['standard_error', 'interval_half_width', 'policy_margin', 'unknown']),
  confidence: z.number().min(0).max(1).nullable(),
  policyId: text,
  policyVersion: text,
  evidence: z.array(itemEvidence).min(1).max(MAX_ROW_EVIDENCE).optional(),
});
export type MasteryRow = z.infer<typeof masteryRow>;

export const gateDecision = z
  .strictObject({
    status: z.enum(['pass', 'fail', 'indeterminate', 'unknown']),
    criteriaVersion: text,
    achieved: z.number().nullable(),
    required: z.number(),
    gapCaseGuids: uniqueListOf(reference),
    coverageEvidenceId: reference.nullable(),
  })
  .check(
    when(
      {
        if: { status: z.literal('indeterminate') },
        else: { achieved: z.number(), coverageEvidenceId: z.string() },
      },
      'only an indeterminate gate lacks its measurement or coverage evidence [RP-011, RP-102]',
    ),
    when(
      { if: { status: z.literal('pass') }, then: { gapCaseGuids: z.array(z.unknown()).max(0) } },
      'a pass has no gaps [RP-105]',
    ),
  );
export type GateDecision = z.infer<typeof gateDecision>;

export const diagnosticDetail = z.strictObject({
  scaleScore: z.number(),
  scaleVersion: text,
  calibrationVersion: text,
  standardError: z.number().min(0),
  stoppingReason: z.enum([...stopReason.options, 'unknown']),
  administeredItemCount: z.int().min(1),
  extNormsSet: text.nullable(),
});
export type DiagnosticDetail = z.infer<typeof diagnosticDetail>;

export const omission = z.enum(['mastery', 'itemEvidence', 'readiness']);
export type Omission = z.infer<typeof omission>;

/**
 * The members that each view omits. Readiness is its own resource, so every view lists it [RP-065, RP-070, RP-077; the readings of RP-078, RP-079].
 */
export const omittedBy: Readonly<Record<View, readonly Omission[]>> = {
  summary: ['mastery', 'itemEvidence', 'readiness'],
  standards: ['itemEvidence', 'readiness'],
  evidence: ['readiness'],
};

/** Mastery rows of one report, at most. */
export const MAX_MASTERY_ROWS = 5_000;

/** The status of a report is that of its gate only if no decision is made or known (the reading of RP-104). */
const statusOfGate = (['indeterminate', 'unknown'] as const).flatMap((status) => {
  const [ofReport, ofGate] = [z.literal(status), z.looseObject({ status: z.literal(status) })];
  const said = `report and gate are ${status} together [RP-104]`;
  return [
    when({ if: { gate: ofGate }, then: { status: ofReport } }, said),
    when({ if: { status: ofReport }, then: { gate: ofGate } }, said),
  ];
});

/** One report on one scored attempt, composed live from the owners of its facts. */
export const attemptReport = z
  .strictObject({
    object: z.literal('attempt_report'),
    attemptId: reference,
    qtiSessionId: reference.nullable(),
    qtiTestId: reference,
    resultRecordId: reference,
    candidateSourcedId: reference,
    administrationId: reference,
    contentTestSpecId: reference,
    testKind,
    status: z.enum(['scored', 'indeterminate', 'unknown']),
    score,
    mastery: z.array(masteryRow).max(MAX_MASTERY_ROWS),
    gate: gateDecision.nullable(),
    diagnostic: diagnosticDetail.nullable(),
    sources,
    omitted: uniqueListOf(omission),
    incompleteSections: z.array(reportsProblem),
    ...composed,
  })
  .check(
    when(
      {
        if: { testKind: z.literal('mastery_gate') },
        then: { gate: z.looseObject({}) },
        else: { gate: z.null() },
      },
      'a gate exactly for a mastery gate [RP-066]',
    ),
    when(
      {
        if: { testKind: z.literal('adaptive_diagnostic') },
        then: { diagnostic: z.looseObject({}) },
        else: { diagnostic: z.null() },
      },
      'a diagnostic exactly for an adaptive diagnostic [RP-068]',
    ),
    ...statusOfGate,
    z.refine(
      ({ mastery }) => areUnique(mastery.map(({ kind, caseGuid }) => `${kind} ${caseGuid}`)),
      'mastery rows are unique by kind and CASE GUID [RP-064]',
    ),
    z.refine(
      ({ omitted, mastery }) => !omitted.includes('mastery') || mastery.length === 0,
      'an omitted section is empty [RP-065]',
    ),
  );
export type AttemptReport = z.infer<typeof attemptReport>;

/**
 * Why a scored attempt is on no page yet: a settled fact that the summary needs is missing; a required source is stale; reports of its kind are not
 * released; an owner's response lacks another fact, or facts of the summary cannot all be true.
 */
export const withheldReason = z.enum(['unsettled', 'stale', 'unreleased', 'unverified']);
export type WithheldReason = z.infer<typeof withheldReason>;

/** The number of scored attempts that a page has skipped, by reason. */
export const withheld = z.strictObject({ reason: withheldReason, count: z.int().min(1) });

/** One page of a candidate's reports, newest modification first. */
export const attemptReportPage = z
  .strictObject({
    data: z
      .array(attemptReport)
      .max(100)
      .refine((rows) => areUnique(rows.map(({ attemptId }) => attemptId)), 'every attempt has one row'),
    ...pagePlace,
    observedAt: instant,
    /** As many as the rows have owners: a page of 100 attempts may depend on 100 test specs. */
    sources: receipts,
    withheld: z
      .array(withheld)
      .min(1)
      .refine((counts) => areUnique(counts.map(({ reason }) => reason)), 'every reason is named once')
      .optional(),
  })
  .check(cursorWhenMore);
export type AttemptReportPage = z.infer<typeof attemptReportPage>;
