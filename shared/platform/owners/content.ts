import * as z from 'zod';
import { proportion, reference, text } from '#shared/contract/reports/primitives.ts';
import { LARGE, reportRead, runRead } from '#shared/platform/operation.ts';
import { freshness, instant, ownerId, sha256, version, versioned } from './primitives.ts';

/**
 * Content: the blueprint projection of a test spec. It is loose because the *complete* projection is hashed [MA-022]: a member that Content adds later
 * must change the hash.
 */
export const blueprint = z.looseObject({
  tenantId: ownerId,
  itemId: ownerId,
  role: z.string(),
  version: ownerId,
  subject: z.string().min(1),
  gradeLevels: z.array(z.string().min(1)).min(1),
  caseFrameworkGuid: ownerId,
  slots: z.array(z.looseObject({ slotId: ownerId, caseGuids: z.array(ownerId).min(1) })),
});
export type Blueprint = z.infer<typeof blueprint>;

/** Content: the identity of an adaptive bank. `data` lists Content members, of which an adaptive bank has none [MA-023]. */
export const bankMembers = z.looseObject({
  tenantId: ownerId,
  bankId: ownerId,
  specId: ownerId,
  role: z.string(),
  membershipRule: z.string(),
  updateVersion: ownerId,
  data: z.array(z.unknown()),
});
export type BankMembers = z.infer<typeof bankMembers>;

/** Content: the rules of one version of a test spec for reports on its attempts. */
export const reportCriteria = z.object({
  tenantId: ownerId,
  testSpecId: reference,
  ...versioned,
  testKind: z.string(),
  caseFrameworkGuid: reference,
  /** When the CASE framework of the spec last changed; an older package is stale. */
  caseFrameworkChangedAt: instant,
  /** The immutable criteria of a mastery gate. */
  criteria: z
    .object({
      criteriaVersion: text,
      required: z.number().nullable(),
      /** The standards and knowledge components that the criteria cover. Absent: all. */
      governedCaseGuids: z.array(reference).optional(),
    })
    .nullable(),
  /** Whether the blueprint has coverage evidence for claims beyond the single standard. */
  qualifyingCoverage: z.boolean(),
  /** The norms of an external scale to which the blueprint has a crosswalk. */
  externalScale: z.object({ normsSet: text }).nullable(),
});
export type ReportCriteria = z.infer<typeof reportCriteria>;

/** The blueprint and the version that an answer is about. */
const ofSpec = { tenantId: ownerId, testSpecId: reference, testSpecVersion: version };

/** Content: the crosswalks from one version of a blueprint to named external tests. */
export const readinessCrosswalks = z.object({
  ...ofSpec,
  crosswalkSetId: reference,
  ...versioned,
  entries: z.array(
    z.object({
      sourceTest: text,
      sourceVersion: text,
      crosswalkVersion: text,
      /** Null or absent until there is evidence of coverage, or of the depth of knowledge. */
      coverageFraction: proportion.nullish(),
      dokDominance: z.string().nullish(),
      qualifyingBlueprintSlotIds: z.array(reference),
      freshness,
      limitations: z.array(z.string().min(1).max(500)),
    }),
  ),
});
export type ReadinessCrosswalks = z.infer<typeof readinessCrosswalks>;

/** Content: the blueprint's evidence on a form and the forms that it is compared with. */
export const formEvidence = z.object({
  ...ofSpec,
  formEvidenceId: reference,
  ...versioned,
  qtiTestId: reference,
  comparisonQtiTestIds: z.array(reference),
  coverageMatch: z.boolean(),
  dokMatch: z.boolean(),
});
export type FormEvidence = z.infer<typeof formEvidence>;

/** An external assessment, as a blueprint names it. */
const externalSource = { sourceKey: text, sourceAssessment: text, sourceVersion: text };

/** Content: the external assessments that one version of a blueprint names, each with its immutable crosswalk. */
export const alignmentSources = z.object({
  ...ofSpec,
  sourceSetId: reference,
  version,
  /** The slots of the blueprint and their CASE GUIDs, to which a crosswalk can map. Absent from lists of earlier releases. */
  slotIds: z.array(reference).optional(),
  caseGuids: z.array(reference).optional(),
  sources: z.array(
    z.object({
      ...externalSource,
      crosswalkId: reference,
      /** The digest of the crosswalk’s bytes. */
      sha256,
    }),
  ),
});
export type AlignmentSources = z.infer<typeof alignmentSources>;

const dok = z.int().min(1).max(4);

/** Content: how every requirement of one external assessment maps to one version of a blueprint. */
export const alignmentCrosswalk = z.object({
  ...ofSpec,
  crosswalkId: reference,
  version,
  ...externalSource,
  requirements: z.array(
    z.object({
      sourceRequirementId: reference,
      weight: z.number().positive(),
      sourceDok: dok,
      /** The candidates: none means no mapping, several mean an ambiguous one. */
      mappings: z.array(
        z.object({
          caseGuid: reference,
          blueprintSlotId: reference.nullable(),
          targetDok: dok.nullable(),
          /** `current`, or `stale` if the standard has changed since. */
          status: z.string(),
        }),
      ),
    }),
  ),
});
export type AlignmentCrosswalk = z.infer<typeof alignmentCrosswalk>;

export const readTestSpec = runRead({
  id: 'content.read_test_spec',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/blueprint',
  status: 'bound',
  answer: blueprint,
  echo: { itemId: 'testSpecId' },
  namedAt: '/body/testSpecId',
  maxAnswerBytes: LARGE,
  rule: 'The role is `spec`; the complete normalized projection is hashed.',
});

export const validateAdaptiveBankIdentity = runRead({
  id: 'content.validate_adaptive_bank_identity',
  path: '/tenants/{tenantId}/core/content/items/{testBankId}/bank-members',
  status: 'bound',
  answer: bankMembers,
  echo: { bankId: 'testBankId' },
  namedAt: '/body/testBankId',
  rule: 'Bank and spec match, the membership rule is `qti_adaptive_selection`, and there is no Content member.',
});

export const readReportCriteria = reportRead({
  id: 'content.read_report_criteria',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/report-criteria',
  query: ['version'],
  answer: reportCriteria,
  rule: 'Exactly the version that is asked for: test kind, criteria and framework of reports.',
  assumed:
    'The criteria speak of every mastery row, unless `governedCaseGuids` names the GUIDs of which they speak.',
});

export const readReadinessCrosswalks = reportRead({
  id: 'content.read_readiness_crosswalks',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/readiness-crosswalks',
  query: ['version'],
  answer: readinessCrosswalks,
  maxAnswerBytes: LARGE,
  rule: 'The blueprint’s crosswalks to named external tests, for exactly the version that is asked for; none is an empty list.',
});

export const readFormEvidence = reportRead({
  id: 'content.read_form_evidence',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/form-evidence/{qtiTestId}',
  query: ['version'],
  answer: formEvidence,
  rule: 'What the blueprint, in exactly the version that is asked for, says of coverage and depth of knowledge of a form beside the forms that Analytics compared.',
});

export const readAlignmentSources = reportRead({
  id: 'content.read_alignment_sources',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources',
  query: ['version'],
  answer: alignmentSources,
  maxAnswerBytes: LARGE,
  rule: 'The named external assessments of exactly the version that is asked for, each with the SHA-256 of its crosswalk’s bytes, and the slots and CASE GUIDs to which a mapping can lead: without these lists there is no new run. Immutable: a run pins the bytes that it has read.',
});

export const readAlignmentCrosswalk = reportRead({
  id: 'content.read_alignment_crosswalk',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources/{crosswalkId}',
  query: ['version'],
  answer: alignmentCrosswalk,
  maxAnswerBytes: LARGE,
  rule: 'Complete and immutable: the same bytes as long as anybody asks for them. Checked against the pinned SHA-256.',
});
