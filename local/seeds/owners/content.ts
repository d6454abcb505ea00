import { digestWith, entityText } from '#local/platform/entity-text.ts';
import { once } from '#local/platform/store.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { generatedRequirements } from '../generated-rows.ts';
import { opaque } from '../ids.ts';
import { sourceNamesOf, type Requirements } from '../reports-file.ts';
import type { Entities, FileSpec, Tenant } from '../tenant.ts';

/** Returns what Content holds: blueprints and adaptive banks, the report settings of test specs, and how they align with external assessments. */
export function contentEntities(
  tenant: Tenant,
): Entities<
  | 'blueprints'
  | 'bankMembers'
  | 'criteria'
  | 'crosswalks'
  | 'formEvidence'
  | 'alignmentSources'
  | 'alignmentCrosswalks',
  'alignmentSources' | 'alignmentCrosswalks'
> {
  const { tenantId, banks, specs, file, ids, specOf, specOfForm, version } = tenant;
  const alignments = file.testSpecs
    .filter(({ alignment }) => alignment !== undefined)
    .map(({ name }) => alignmentOf(tenant, specOf(name)));
  const written = alignments.filter(({ isGenerated }) => !isGenerated);
  const generated = alignments.filter(({ isGenerated }) => isGenerated);
  return {
    blueprints: banks.map(({ content: { bank }, spec, ids: { standard } }) => ({
      tenantId,
      itemId: spec.ref.contentTestSpecId,
      role: 'spec',
      version: spec.ref.contentTestSpecVersion,
      title: bank.title,
      subject: bank.subject,
      gradeLevels: bank.grades,
      caseFrameworkGuid: spec.framework.guid,
      slots: bank.standards.map(({ name }, at) => ({
        slotId: spec.slotId(String(at + 1)),
        caseGuids: [standard(name)],
      })),
    })),
    bankMembers: banks.map(({ testBankId, spec, directory, version: bankVersion }) => ({
      tenantId,
      bankId: testBankId,
      specId: spec.ref.contentTestSpecId,
      role: 'bank',
      membershipRule: 'qti_adaptive_selection',
      updateVersion: opaque('update', tenantId, directory, bankVersion),
      data: [],
    })),
    criteria: specs.map(({ entry, framework, ref }) => ({
      tenantId,
      testSpecId: ref.contentTestSpecId,
      version: ref.contentTestSpecVersion,
      freshness: entry.freshness,
      testKind: entry.testKind,
      caseFrameworkGuid: framework.guid,
      caseFrameworkChangedAt: framework.changedAt,
      criteria: criteriaOf(tenant, entry.criteria),
      qualifyingCoverage: entry.qualifyingCoverage,
      externalScale: entry.externalNorms === null ? null : { normsSet: entry.externalNorms },
    })),
    crosswalks: specs.map(({ entry, ref, crosswalks, slotId }) => ({
      tenantId,
      testSpecId: ref.contentTestSpecId,
      testSpecVersion: ref.contentTestSpecVersion,
      ...crosswalks,
      freshness: 'current',
      entries: entry.crosswalks.map(({ slots, ...crosswalk }) => ({
        ...crosswalk,
        qualifyingBlueprintSlotIds: slots.map(slotId),
      })),
    })),
    formEvidence: file.equivalences.map(({ form, comparedWith, coverageMatch, dokMatch }) => ({
      tenantId,
      testSpecId: specOfForm(form).ref.contentTestSpecId,
      testSpecVersion: specOfForm(form).ref.contentTestSpecVersion,
      formEvidenceId: opaque(`form-evidence-${form}`, tenantId),
      version: version('form-evidence', { form, comparedWith, coverageMatch, dokMatch }),
      freshness: 'current',
      qtiTestId: ids.form(form),
      comparisonQtiTestIds: comparedWith.map(ids.form),
      coverageMatch,
      dokMatch,
    })),
    alignmentSources: written.map(({ sources }) => sources()),
    alignmentCrosswalks: written.flatMap(({ crosswalks }) => crosswalks.map(({ crosswalk }) => crosswalk())),
    generated: {
      alignmentSources: new Map(generated.map(({ testSpecId, sources }) => [testSpecId, once(sources)])),
      // Rendered, all of them would be a hundred megabytes: each is made, and rendered, anew for every request.
      alignmentCrosswalks: new Map(
        generated.flatMap(({ crosswalks }) =>
          crosswalks.map(({ head, crosswalk }) => [head.crosswalkId, crosswalk] as const),
        ),
      ),
    },
  };
}

/** Returns the criteria of a mastery gate under the tenant's own version. */
export function criteriaOf(
  { tenantId }: Tenant,
  criteria: { readonly version: string; readonly required: number | null } | null,
): { criteriaVersion: string; required: number | null } | null {
  if (criteria === null) return null;
  return { criteriaVersion: opaque(criteria.version, tenantId, 'criteria'), required: criteria.required };
}

/** Content's list of a test spec's sources, and the crosswalks that it names. */
function alignmentOf(tenant: Tenant, spec: FileSpec) {
  const { tenantId, ids } = tenant;
  const { name, alignment } = spec.entry;
  const { contentTestSpecId: testSpecId, contentTestSpecVersion } = spec.ref;
  const crosswalks = sourcesOf(tenant, spec).map(
    ({ key, assessment, version, ofPreviousVersion, ...source }) => {
      const crosswalkId = opaque(`alignment-${name}-${key}`, tenantId, contentTestSpecVersion);
      const head = {
        tenantId,
        testSpecId,
        testSpecVersion: ofPreviousVersion ? `${contentTestSpecVersion}-previous` : contentTestSpecVersion,
        crosswalkId,
        version: opaque('alignment-version', crosswalkId),
        sourceKey: ids.sourceKey(key),
        sourceAssessment: assessment,
        sourceVersion: version,
      };
      const { list, text } = source.requirements;
      return {
        head,
        crosswalk: (): AlignmentCrosswalk => ({ ...head, requirements: list() }),
        digest: () => digestWith(head, 'requirements', text()),
      };
    },
  );
  const sources = (): AlignmentSources => ({
    tenantId,
    testSpecId,
    testSpecVersion: contentTestSpecVersion,
    sourceSetId: opaque(`alignment-${name}`, tenantId),
    version: tenant.version('alignment', alignment),
    ...targetsOf(spec, crosswalks),
    sources: crosswalks.map(({ head, digest }) => ({
      sourceKey: head.sourceKey,
      sourceAssessment: head.sourceAssessment,
      sourceVersion: head.sourceVersion,
      crosswalkId: head.crosswalkId,
      sha256: digest(),
    })),
  });
  return { testSpecId, isGenerated: alignment?.generated !== undefined, crosswalks, sources };
}

/** Returns the slots and GUIDs of the blueprint: everything to which its crosswalks map, but for what it lacks. */
function targetsOf(
  { entry: { alignment }, guidOf, slotId }: FileSpec,
  crosswalks: readonly { readonly crosswalk: () => AlignmentCrosswalk }[],
): Pick<AlignmentSources, 'slotIds' | 'caseGuids'> {
  const { slots = [], codes = [] } = alignment?.lacks ?? {};
  // Generated crosswalks share their lists.
  const lists = new Set(crosswalks.map(({ crosswalk }) => crosswalk().requirements));
  const mappings = [...lists].flatMap((list) => list.flatMap((row) => row.mappings));
  const without = (ids: readonly string[], lacking: readonly string[]) =>
    [...new Set(ids)].filter((id) => !lacking.includes(id));
  return {
    slotIds: without(
      mappings.flatMap(({ blueprintSlotId }) => blueprintSlotId ?? []),
      slots.map(slotId),
    ),
    caseGuids: without(
      mappings.map(({ caseGuid }) => caseGuid),
      codes.map(guidOf),
    ),
  };
}

/** Returns a test spec's sources; the generated ones share two lists of requirements. */
function sourcesOf({ tenantId, ids }: Tenant, spec: FileSpec) {
  const { name, alignment } = spec.entry;
  const { sources, generated } = alignment ?? {};
  if (sources !== undefined)
    return sources.map(({ requirements, ...source }) => ({
      ...source,
      requirements: requirementsOf(spec, ids.sourceKey(source.key), () => requirements),
    }));
  const prefix = opaque(`requirements-${name}`, tenantId);
  const codes = spec.competencies.map(({ code }) => code);
  // More standards than one revision order can name, and a few.
  const [many, few] = ([7, 200] as const).map((lowerOnceIn) =>
    requirementsOf(spec, prefix, () =>
      generatedRequirements(codes, generated?.requirements ?? 0, lowerOnceIn),
    ),
  ) as [RenderedRequirements, RenderedRequirements];
  return sourceNamesOf(spec.entry).map((key, at) => ({
    key,
    assessment: `Generated assessment ${at + 1}`,
    version: '2026',
    ofPreviousVersion: false,
    requirements: at % 25 === 0 ? many : few,
  }));
}

/** The requirements of a crosswalk, and how the emulator writes them; both are made when they are first needed. */
interface RenderedRequirements {
  readonly list: () => AlignmentCrosswalk['requirements'];
  readonly text: () => string;
}

function requirementsOf(
  { guidOf, slotId }: FileSpec,
  prefix: string,
  entries: () => Requirements,
): RenderedRequirements {
  const list = once(() =>
    entries().map(({ id, weight, dok, mappings }) => ({
      sourceRequirementId: `${prefix}:${id}`,
      weight,
      sourceDok: dok,
      mappings: mappings.map((mapping) => ({
        caseGuid: guidOf(mapping.code),
        blueprintSlotId: mapping.slot === null ? null : slotId(mapping.slot),
        targetDok: mapping.dok,
        status: mapping.status,
      })),
    })),
  );
  return { list, text: once(() => entityText(list())) };
}
