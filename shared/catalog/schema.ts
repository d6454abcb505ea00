import * as z from 'zod';
import { isDateTime } from './date-time.ts';

/**
 * The release catalog, schema version 6: the only definition of its form. Every listed member is required. A member whose form is not specified may
 * have any JSON value. Members beyond the listed ones are rejected where the form is closed (`strictObject`) and kept where it is open.
 */

/** Names and descriptions for the published JSON Schema (docs/catalog.schema.json). */
export const published = z.registry<{ id?: string; title?: string; description?: string; format?: string }>();

export const MAX_SOURCES = 50;

const nonEmpty = z.string().min(1);
/** Any JSON value, including null; but it must be present. */
const anyValue = z.unknown();
const positive = z.int().min(1);
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal characters');
const dateTime = z
  .string()
  .refine(isDateTime, 'must be an RFC 3339 date-time that exists')
  .register(published, { format: 'date-time' });

const catalogState = z.enum(['blocked_pending_reviewer_credential_preflight', 'ready']);
const sourceState = z.enum(['blocked_missing_public_inventory_bindings', 'ready']);
const manifestState = z.enum(['blocked_missing_owner_approved_bindings', 'ready']);

export const testedStandard = z
  .looseObject({
    source_standard_code: nonEmpty,
    label: nonEmpty,
    dok: z.literal([1, 2, 3, 4, 'unstated']),
    evidence_locator: nonEmpty,
    runtime_mapping_disposition: nonEmpty,
  })
  .register(published, { id: 'TestedStandard', description: 'A standard that the source assessment tests.' });

export const cellBinding = z
  .strictObject({
    source_key: nonEmpty,
    public_row_code: nonEmpty,
    content_test_spec_id: nonEmpty,
    content_version_id: nonEmpty,
    source_case_guid: nonEmpty,
    source_dok: z.literal([1, 2, 3, 4]),
    source_cell_count: positive,
    binding_authority: nonEmpty,
    binding_authority_version: nonEmpty,
    approved_by: nonEmpty,
    approved_at: dateTime,
    evidence_ref: nonEmpty,
  })
  .register(published, {
    id: 'PublicInventoryCellBinding',
    description: 'A row of the public inventory, bound by its owner to content cells.',
  });

const manifestOf = <B extends z.ZodType>(binding: B) =>
  z.strictObject({
    state: manifestState,
    authority: z.string().nullable(),
    authority_version: z.string().nullable(),
    expected_public_row_count: positive,
    expected_positive_content_cell_count: positive,
    bindings: z.array(binding),
  });

const expectedIdentity = z.strictObject({
  tenant_id: nonEmpty,
  source_key: nonEmpty,
  content_test_spec_id: nonEmpty,
  content_version_id: nonEmpty,
  calibration_target_id: nonEmpty,
});

const binding = z
  .looseObject({
    native_reference_id: z.string().nullable(),
    receipt_ref: z.string().nullable(),
    expected_identity: expectedIdentity,
    dereference_route: anyValue,
    credential_slot: anyValue,
    state: anyValue,
  })
  .register(published, {
    id: 'Binding',
    description: 'What one owner knows of the calibration target, and what it must be about.',
  });

const calibration = z
  .looseObject({
    calibration_target_id: anyValue,
    calibration_policy_version: anyValue,
    scoring_policy_ref: anyValue,
    approval: anyValue,
    metric: z.literal('equivalent_raw_score_percent'),
    target_value: z.literal(100),
    relation: z.literal('mastery_implies_at_least'),
    empirical_revision_bindings: z.strictObject({ results: binding, analytics: binding }),
  })
  .register(published, { id: 'Calibration', description: 'The calibration target of the source.' });

const sourceOf = <S extends z.ZodType, B extends z.ZodType>(standard: S, manifest: B) =>
  z.looseObject({
    tenant_id: z.string(),
    source_key: z.string(),
    content_test_spec_id: z.string(),
    content_version_id: z.string(),
    release_state: sourceState,
    tested_standard_inventory: z.array(standard).min(1),
    public_inventory_cell_binding_manifest: manifest,
    calibration,
  });

const source = sourceOf(
  testedStandard,
  manifestOf(cellBinding).register(published, {
    id: 'BindingManifest',
    description:
      'The bindings between public inventory rows and content cells, and how many of each there are to be.',
  }),
).register(published, { id: 'Source', description: 'A governed source assessment.' });

const catalogOf = <S extends z.ZodType>(entry: S) =>
  z.looseObject({
    schema_version: z.literal(6),
    release_state: catalogState,
    catalog_revision_hash: hash,
    catalog_revision_hash_scope: nonEmpty,
    calibration_lifecycle_contract: z.looseObject({
      identity_fields: anyValue,
      initial_creation_evidence: anyValue,
      empirical_revision_owners: z.tuple([z.literal('results'), z.literal('analytics')]),
      cardinality: anyValue,
      promotion_rule: anyValue,
    }),
    source_assessments: z.array(entry).min(2).max(MAX_SOURCES),
    release_behavior: z.looseObject({
      create_http_status: z.literal([202, 503]),
      operation_created: z.boolean(),
      quickstart_state: anyValue,
      ready_gate: anyValue,
      failure_atomicity: anyValue,
      empirical_revision_trigger: anyValue,
    }),
  });

/** The whole record [RC-001]. */
export const releaseCatalog = catalogOf(source).register(published, {
  title: 'Release catalog, schema version 6',
  description:
    'Governed source assessments, their tested-standard inventory, owner-approved bindings and calibration targets. What holds between members is checked by `npm run catalog -- check`.',
});
export type ReleaseCatalog = z.infer<typeof releaseCatalog>;

/** The schemas of the catalog and of a source, around lists whose entries are checked singly, so that a long list cannot become as many issues. */
export const catalogFrame = catalogOf(z.unknown());
export const sourceFrame = sourceOf(z.unknown(), manifestOf(z.unknown()));
