import * as z from 'zod';
import { proportion, reference, text } from '#shared/contract/reports/primitives.ts';
import { LARGE, safeRead } from '#shared/platform/operation.ts';
import { freshness, instant, ownerId, sha256, version, versioned } from './primitives.ts';

/**
 * Content: the blueprint projection of a test spec. Loose, because the *complete* projection is hashed [MA-022]: what Content adds
 * tomorrow must change the hash, not vanish from it.
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

/** Content: the identity of an adaptive bank. `data` are Content members, of which an adaptive bank has none [MA-023]. */
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

/** Content: what one version of a test spec says about reports on its attempts. */
export const reportCriteria = z.object({
  tenantId: ownerId,
  testSpecId: reference,
  ...versioned,
  testKind: z.string(),
  caseFrameworkGuid: reference,
  /** The state of the CASE framework that the spec was built on; an older package is stale. */
  caseFrameworkChangedAt: instant,
  /** The immutable criteria of a mastery gate. */
  criteria: z
    .object({
      criteriaVersion: text,
      required: z.number().nullable(),
      /** Of which standards and knowledge components the criteria speak. Absent: of all. */
      governedCaseGuids: z.array(reference).optional(),
    })
    .nullable(),
  /** Whether the blueprint carries coverage evidence that qualifies for claims beyond the single standard. */
  qualifyingCoverage: z.boolean(),
  /** The norms of an external scale to which the blueprint has a crosswalk. */
  externalScale: z.object({ normsSet: text }).nullable(),
});
export type ReportCriteria = z.infer<typeof reportCriteria>;

/** The version of a blueprint that the answer is about. */
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
      /** Null or absent while there is no evidence of coverage, or of the depth of knowledge. */
      coverageFraction: proportion.nullish(),
      dokDominance: z.string().nullish(),
      qualifyingBlueprintSlotIds: z.array(reference),
      freshness,
      limitations: z.array(z.string().min(1).max(500)),
    }),
  ),
});
export type ReadinessCrosswalks = z.infer<typeof readinessCrosswalks>;

/** Content: what the blueprint says about a form beside the forms that it is compared with. */
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
  /** The slots of the blueprint, and the CASE GUIDs that they are about: what a crosswalk can map to. Absent from lists of earlier releases. */
  slotIds: z.array(reference).optional(),
  caseGuids: z.array(reference).optional(),
  sources: z.array(
    z.object({
      ...externalSource,
      crosswalkId: reference,
      /** Of the crosswalk’s bytes. */
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
      /** Candidates: none is no mapping, several are none that is unambiguous. */
      mappings: z.array(
        z.object({
          caseGuid: reference,
          blueprintSlotId: reference.nullable(),
          targetDok: dok.nullable(),
          /** `current`, or `stale` when the standard has changed since. */
          status: z.string(),
        }),
      ),
    }),
  ),
});
export type AlignmentCrosswalk = z.infer<typeof alignmentCrosswalk>;

export const readTestSpec = safeRead({
  id: 'content.read_test_spec',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/blueprint',
  status: 'bound',
  answer: blueprint,
  uses: ['start', 'run'],
  echo: { itemId: 'testSpecId' },
  namedAt: '/body/testSpecId',
  maxAnswerBytes: LARGE,
  rule: 'The role is `spec`; the complete normalized projection is hashed.',
});

export const validateAdaptiveBankIdentity = safeRead({
  id: 'content.validate_adaptive_bank_identity',
  path: '/tenants/{tenantId}/core/content/items/{testBankId}/bank-members',
  status: 'bound',
  answer: bankMembers,
  uses: ['start', 'run'],
  echo: { bankId: 'testBankId' },
  namedAt: '/body/testBankId',
  rule: 'Bank and spec match, the membership rule is `qti_adaptive_selection`, and there is no Content member.',
});

export const readReportCriteria = safeRead({
  id: 'content.read_report_criteria',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/report-criteria',
  query: ['version'],
  status: 'gap',
  answer: reportCriteria,
  uses: ['report'],
  echo: { testSpecId: 'testSpecId' },
  rule: 'Exactly the version that is asked for: test kind, criteria and framework of reports.',
  assumed:
    'The criteria speak of every mastery row, unless `governedCaseGuids` names the GUIDs of which they speak.',
});

export const readReadinessCrosswalks = safeRead({
  id: 'content.read_readiness_crosswalks',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/readiness-crosswalks',
  query: ['version'],
  status: 'gap',
  answer: readinessCrosswalks,
  uses: ['report'],
  echo: { testSpecId: 'testSpecId' },
  maxAnswerBytes: LARGE,
  rule: 'The blueprint’s crosswalks to named external tests, for exactly the version that is asked for; none is an empty list.',
});

export const readFormEvidence = safeRead({
  id: 'content.read_form_evidence',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/form-evidence/{qtiTestId}',
  query: ['version'],
  status: 'gap',
  answer: formEvidence,
  uses: ['report'],
  echo: { testSpecId: 'testSpecId', qtiTestId: 'qtiTestId' },
  rule: 'What the blueprint, in exactly the version that is asked for, says of coverage and depth of knowledge of a form beside the forms that Analytics compared.',
});

export const readAlignmentSources = safeRead({
  id: 'content.read_alignment_sources',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources',
  query: ['version'],
  status: 'gap',
  answer: alignmentSources,
  uses: ['report'],
  echo: { testSpecId: 'testSpecId' },
  maxAnswerBytes: LARGE,
  rule: 'The named external assessments of exactly the version that is asked for, each with the SHA-256 of its crosswalk’s bytes, and the slots and CASE GUIDs to which a mapping can lead: without these lists there is no new run. Immutable: a run pins the bytes that it has read.',
});

export const readAlignmentCrosswalk = safeRead({
  id: 'content.read_alignment_crosswalk',
  path: '/tenants/{tenantId}/core/content/items/{testSpecId}/alignment-sources/{crosswalkId}',
  query: ['version'],
  status: 'gap',
  answer: alignmentCrosswalk,
  uses: ['report'],
  echo: { testSpecId: 'testSpecId', crosswalkId: 'crosswalkId' },
  maxAnswerBytes: LARGE,
  rule: 'Complete and immutable: the same bytes as long as anybody asks for them. Checked against the pinned SHA-256.',
});
