import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { CfItem } from '#shared/platform/owners/case.ts';
import type { SettledMastery, SettledRecord } from '#shared/platform/owners/results.ts';
import { itemId } from '#local/platform/form-items.ts';
import { once } from '#local/platform/store.ts';
import type { HeldAttempt, ReportsSeed } from '#local/platform/tenant-state.ts';
import { cfItemsOf, cfPackageOf } from '../case-framework.ts';
import { opaque } from '../ids.ts';
import { competenciesOf } from './file.ts';
import type { AttemptEntry, HistoryEntry, RecordEntry, ReportsFile } from './file.ts';
import { improvementOf } from './improvement.ts';
import { defined, openTenantFile } from './tenant-file.ts';
import type { TenantFile } from './tenant-file.ts';

type FileReports = Omit<ReportsSeed, 'engine'> & { readonly caseItems: readonly CfItem[] };

/** What the file says, as the owners of one tenant hold it. */
export function instantiateReports(file: ReportsFile, tenantId: string): FileReports {
  const tenant = openTenantFile(file, tenantId);
  const { ids } = tenant;
  const written = file.attempts.filter((entry) => !isGenerated(entry));
  const bulk = file.attempts.filter(isGenerated);
  const histories = file.histories.flatMap((history) => historyOf(tenant, history));
  const behind = [...bulk.map((entry) => plan(tenant, entry)), ...histories];
  const all = [...file.attempts.map((entry) => plan(tenant, entry)), ...histories];
  const attemptIds = new Map<string, string[]>();
  for (const { attemptId, student } of behind)
    attemptIds.set(student, [...(attemptIds.get(student) ?? []), attemptId]);
  const frameworks = [...tenant.frameworks.values()];
  const improvement = improvementOf(tenant);
  return {
    users: file.students.map(({ name, status }) => ({ user: { sourcedId: ids.student(name), status } })),
    classes: file.classes.map(({ name, status }) => ({ class: { sourcedId: ids.class(name), status } })),
    schools: file.schools.map(({ name, status }) => ({ org: { sourcedId: ids.school(name), status } })),
    ...cohortsOf(tenant),
    ...specsOf(tenant),
    administrations: file.administrations.map((entry) => ({
      tenantId,
      administrationId: ids.administration(entry.name),
      version: tenant.version('administration', entry),
      freshness: 'current',
      status: entry.status,
      ...tenant.specRef(entry.testSpec),
      classSourcedId: entry.class === undefined ? null : ids.class(entry.class),
      schoolSourcedId: entry.school === undefined ? null : ids.school(entry.school),
    })),
    packages: frameworks
      .filter(({ entry }) => entry.generated === undefined)
      .map((framework) => cfPackageOf(framework.published())),
    caseItems: frameworks
      .filter(({ entry }) => entry.generated === undefined)
      .flatMap((framework) => cfItemsOf(framework.published())),
    attempts: written.map((entry) => attemptOf(tenant, plan(tenant, entry))),
    records: written
      .filter(({ settledAtStart }) => settledAtStart)
      .flatMap((entry) => recordOf(tenant, plan(tenant, entry)) ?? []),
    unsettledRecords: written
      .filter(({ settledAtStart }) => !settledAtStart)
      .flatMap((entry) => recordOf(tenant, plan(tenant, entry)) ?? []),
    ...improvement,
    generated: {
      ...improvement.generated,
      packages: new Map(
        frameworks
          .filter(({ entry }) => entry.generated !== undefined)
          .map((framework) => [framework.guid, once(() => cfPackageOf(framework.published()))]),
      ),
      attempts: new Map(behind.map((planned) => [planned.attemptId, once(() => attemptOf(tenant, planned))])),
      records: new Map(
        behind
          .filter(({ entry }) => entry.record !== null)
          .map((planned) => [
            planned.resultRecordId,
            once(() => {
              const record = recordOf(tenant, planned);
              if (record === undefined) throw new Error('only settled attempts are made here');
              return record;
            }),
          ]),
      ),
      events: new Map(
        all.flatMap((planned) => {
          const { eventIri: id } = planned;
          return id === null ? [] : [[id, once(() => completionEvent(tenant, planned, id))]];
        }),
      ),
      attemptIds,
    },
  };
}

function cohortsOf({ file, tenantId, ids, version }: TenantFile): Pick<ReportsSeed, 'rollups'> {
  type Entry = NonNullable<ReportsFile['classes'][number]['rollup']>;
  const rollupOf = (
    rollupId: string,
    scope: ReportsSeed['rollups'][number]['scope'],
    { suppression, ...rollup }: Entry,
  ): ReportsSeed['rollups'][number] => ({
    tenantId,
    rollupId,
    version: version('rollup', { ...rollup, suppression }),
    scope,
    ...rollup,
    suppression: { status: suppression },
  });
  return {
    rollups: [
      ...file.classes.flatMap(({ name, rollup }) => {
        const classSourcedId = ids.class(name);
        if (rollup === undefined) return [];
        return [rollupOf(opaque(`rollup-${name}`, tenantId), { type: 'class', classSourcedId }, rollup)];
      }),
      ...file.schools.flatMap(({ name, grades }) =>
        grades.flatMap(({ grade, rollup }) => {
          const scope = { type: 'school_grade' as const, schoolSourcedId: ids.school(name), grade };
          if (rollup === undefined) return [];
          return [rollupOf(opaque(`rollup-${name}-${grade}`, tenantId), scope, rollup)];
        }),
      ),
    ],
  };
}

type SpecEntities = 'criteria' | 'crosswalks' | 'forms' | 'formEquivalences' | 'formEvidence';

function specsOf(tenant: TenantFile): Pick<ReportsSeed, SpecEntities> {
  const { file, tenantId, ids, version } = tenant;
  return {
    criteria: file.testSpecs.map((spec) => {
      const framework = defined(tenant.frameworks.get(spec.framework));
      const { contentTestSpecId: testSpecId, contentTestSpecVersion } = tenant.specRef(spec.name);
      return {
        tenantId,
        testSpecId,
        version: contentTestSpecVersion,
        freshness: spec.freshness,
        testKind: spec.testKind,
        caseFrameworkGuid: framework.guid,
        caseFrameworkChangedAt: framework.entry.changedAt,
        criteria: criteriaOf(tenant, spec.criteria),
        qualifyingCoverage: spec.qualifyingCoverage,
        externalScale: spec.externalNorms === null ? null : { normsSet: spec.externalNorms },
      };
    }),
    crosswalks: file.testSpecs.map((spec) => {
      const { contentTestSpecId: testSpecId, contentTestSpecVersion } = tenant.specRef(spec.name);
      return {
        tenantId,
        testSpecId,
        testSpecVersion: contentTestSpecVersion,
        crosswalkSetId: opaque(`crosswalks-${spec.name}`, tenantId),
        version: version('crosswalks', spec.crosswalks),
        freshness: 'current',
        entries: spec.crosswalks.map(({ slots, ...entry }) => ({
          ...entry,
          qualifyingBlueprintSlotIds: slots.map((slot) => tenant.slotId(spec.name, slot)),
        })),
      };
    }),
    forms: file.testSpecs.flatMap((spec) =>
      spec.forms.map((form) => ({
        tenantId,
        qtiTestId: ids.form(form),
        version: version('form', { form, spec }),
        freshness: 'current' as const,
        ...tenant.specRef(spec.name),
      })),
    ),
    formEquivalences: file.equivalences.map((entry) => ({
      tenantId,
      equivalenceId: opaque(`equivalence-${entry.form}`, tenantId),
      version: version('equivalence', entry),
      freshness: entry.freshness,
      qtiTestId: ids.form(entry.form),
      comparisonQtiTestIds: entry.comparedWith.map(ids.form),
      ...tenant.specRef(defined(tenant.specOfForm.get(entry.form)).name),
      sampleSizes: Object.fromEntries(
        Object.entries(entry.sampleSizes).map(([form, size]) => [ids.form(form), size]),
      ),
      method: entry.method,
      analysisVersion: entry.analysisVersion,
      statistic: entry.statistic,
      confidenceInterval: entry.confidenceInterval,
      tolerance: entry.tolerance,
      decision: entry.decision,
      evidenceArtifactUrl: entry.evidenceArtifact
        ? `https://analytics.platform.example/artifacts/${opaque(entry.form, tenantId, 'artifact')}`
        : null,
    })),
    formEvidence: file.equivalences.map(({ form, comparedWith, coverageMatch, dokMatch }) => {
      const spec = tenant.specRef(defined(tenant.specOfForm.get(form)).name);
      return {
        tenantId,
        testSpecId: spec.contentTestSpecId,
        testSpecVersion: spec.contentTestSpecVersion,
        formEvidenceId: opaque(`form-evidence-${form}`, tenantId),
        version: version('form-evidence', { form, comparedWith, coverageMatch, dokMatch }),
        freshness: 'current',
        qtiTestId: ids.form(form),
        comparisonQtiTestIds: comparedWith.map(ids.form),
        coverageMatch,
        dokMatch,
      };
    }),
  };
}

function criteriaOf(
  { tenantId }: TenantFile,
  criteria: { readonly version: string; readonly required: number | null } | null,
): { criteriaVersion: string; required: number | null } | null {
  if (criteria === null) return null;
  return { criteriaVersion: opaque(criteria.version, tenantId, 'criteria'), required: criteria.required };
}

/** What of an attempt is known before its facts are made. */
interface Planned {
  readonly entry: AttemptEntry;
  readonly attemptId: string;
  readonly resultRecordId: string;
  /** Of the event that has published the record; null when none did. */
  readonly eventIri: string | null;
  readonly student: string;
  readonly form: string;
  readonly submittedAt: string;
  /** Of the record, if there is one. */
  readonly modifiedAt: string;
  /** Which copy of the entry it is; undefined for the entry itself. */
  readonly copy: number | undefined;
}

function plan({ tenantId, ids }: TenantFile, entry: AttemptEntry): Planned {
  return {
    entry,
    attemptId: ids.attempt(entry.name),
    resultRecordId: opaque(`result-${entry.name}`, tenantId),
    eventIri: eventIri(entry, tenantId),
    student: ids.student(entry.student),
    form: entry.form,
    submittedAt: entry.submittedAt,
    modifiedAt: entry.record?.modifiedAt ?? entry.submittedAt,
    copy: undefined,
  };
}

function eventIri({ name, record }: AttemptEntry, ...parts: readonly string[]): string | null {
  if (record?.published !== true) return null;
  return `urn:uuid:${deterministicUuid('completion', name, ...parts)}`;
}

function isGenerated({ record }: AttemptEntry): boolean {
  return record?.generatedMastery !== undefined;
}

/**
 * A history: copies of the templates by turns, on the forms of their test specs by turns, ten a day. Of each ten, the first three are
 * modified at the very same instant, the next three a microsecond and nanoseconds later, the others minutes apart.
 */
function historyOf(tenant: TenantFile, { student, attempts, templates, since }: HistoryEntry): Planned[] {
  const { tenantId, ids } = tenant;
  const attemptId = opaque(`attempt-of-${student}`, tenantId);
  const resultRecordId = opaque(`result-of-${student}`, tenantId);
  const start = Date.parse(since);
  return Array.from({ length: attempts }, (_, at) => {
    const name = templates[at % templates.length];
    const entry = defined(tenant.file.attempts.find((candidate) => candidate.name === name));
    const { forms } = defined(tenant.specOfForm.get(entry.form));
    const day = start + Math.floor(at / 10) * 86_400_000;
    const number = String(at + 1).padStart(String(attempts).length, '0');
    return {
      entry,
      attemptId: `${attemptId}-${number}`,
      resultRecordId: `${resultRecordId}-${number}`,
      eventIri: eventIri(entry, tenantId, student, number),
      student: ids.student(student),
      form: defined(forms[Math.floor(at / templates.length) % forms.length]),
      submittedAt: formatInstant(day - 3_600_000 + (at % 10) * 1_000),
      modifiedAt: instantOfDay(day, at % 10),
      copy: at,
    };
  });
}

function instantOfDay(day: number, at: number): string {
  const fraction = ['000', '000000', '000', '000001', '000000001', '00000001'][at];
  if (fraction === undefined) return formatInstant(day + at * 60_000);
  return `${formatInstant(day).slice(0, 19)}.${fraction}Z`;
}

function attemptOf(tenant: TenantFile, planned: Planned): HeldAttempt {
  const { entry, attemptId, submittedAt } = planned;
  const qtiTestId = tenant.ids.form(planned.form);
  const spec = defined(tenant.specOfForm.get(planned.form));
  const isSettled = entry.record !== null && entry.settledAtStart;
  return {
    tenantId: tenant.tenantId,
    attemptId,
    version: versionOf(tenant, 'attempt', planned),
    freshness: 'current',
    status: entry.status,
    qtiSessionId: entry.session ? `${attemptId}-session` : null,
    qtiTestId,
    candidateSourcedId: planned.student,
    administrationId: tenant.ids.administration(entry.administration),
    ...tenant.specRef(spec.name),
    resultRecordId: isSettled ? planned.resultRecordId : null,
    resultRecordVersion: isSettled ? versionOf(tenant, 'record', planned) : null,
    administeredItemCount: entry.items,
    outcomes:
      entry.status !== 'scored'
        ? []
        : Array.from({ length: entry.items }, (_, at) => ({
            qtiItemId: itemId(qtiTestId, at + 1),
            qtiOutcomeId: outcomeId(attemptId, at + 1),
            scoredAt: formatInstant(Date.parse(submittedAt) + (at + 1) * 1_000),
          })),
    submittedAt,
  };
}

function versionOf(tenant: TenantFile, kind: 'attempt' | 'record', { entry, copy }: Planned): string {
  const version = tenant.version(kind, entry);
  return copy === undefined ? version : `${version}-${copy + 1}`;
}

function outcomeId(attemptId: string, number: number): string {
  return `${attemptId}-outcome-${number}`;
}

function recordOf(tenant: TenantFile, planned: Planned): SettledRecord | undefined {
  const { tenantId } = tenant;
  const { record } = planned.entry;
  if (record === null) return undefined;
  const spec = defined(tenant.specOfForm.get(planned.form));
  const { guidOf } = defined(tenant.frameworks.get(spec.framework));
  const { scale, ...score } = record.score;
  const gateCriteria = criteriaOf(tenant, record.gate?.criteria ?? spec.criteria);
  return {
    tenantId,
    resultRecordId: planned.resultRecordId,
    version: versionOf(tenant, 'record', planned),
    freshness: record.freshness,
    settled: true,
    attemptId: planned.attemptId,
    candidateSourcedId: planned.student,
    ...tenant.specRef(spec.name),
    testKind: spec.testKind,
    modifiedAt: planned.modifiedAt,
    score: { ...score, scaleVersion: scale === null ? null : scaleVersion(tenant, scale) },
    gate:
      record.gate === null
        ? null
        : {
            status: record.gate.status,
            criteriaVersion: gateCriteria?.criteriaVersion ?? null,
            achieved: record.gate.achieved,
            required: gateCriteria?.required ?? null,
            gapCaseGuids: record.gate.gaps.map(guidOf),
            coverageEvidenceId: record.gate.coverageEvidence
              ? opaque('coverage', tenantId, planned.resultRecordId)
              : null,
          },
    diagnostic:
      record.diagnostic === null
        ? null
        : {
            scaleScore: record.diagnostic.scaleScore,
            scaleVersion: scaleVersion(tenant, record.diagnostic.scale),
            calibrationVersion: opaque(record.diagnostic.calibration, tenantId, 'calibration'),
            standardError: record.diagnostic.standardError,
            stoppingReason: record.diagnostic.stoppingReason,
          },
    completionEventIri: planned.eventIri,
    mastery: masteryOf(tenant, planned, record),
  };
}

function scaleVersion({ tenantId }: TenantFile, scale: string): string {
  return opaque(scale, tenantId, 'scale');
}

function masteryOf(tenant: TenantFile, planned: Planned, record: RecordEntry): SettledMastery[] {
  const spec = defined(tenant.specOfForm.get(planned.form));
  const { entry: framework, guidOf } = defined(tenant.frameworks.get(spec.framework));
  const qtiTestId = tenant.ids.form(planned.form);
  const competencies = competenciesOf(framework);
  const parents = new Map(competencies.map(({ code, parent }) => [code, parent]));
  const rows = record.mastery ?? generatedRows(competencies, planned.entry.items, record);
  return rows.map(({ standard, kc, evidence, ...row }, at) => {
    const code = standard ?? kc ?? '';
    const parent = parents.get(code);
    return {
      kind: kc === undefined ? 'standard' : 'knowledge_component',
      caseGuid: guidOf(code),
      parentCaseGuid: parent === undefined ? null : guidOf(parent),
      ...row,
      policyId: opaque(record.policy.name, tenant.tenantId, 'policy'),
      policyVersion: opaque(record.policy.version, tenant.tenantId, 'policy-version'),
      evidence: evidence.map(({ item, contribution, component }) => ({
        qtiItemId: itemId(qtiTestId, item),
        qtiOutcomeId: outcomeId(planned.attemptId, item),
        resultComponentId: component ? `${planned.resultRecordId}-component-${at + 1}` : null,
        contribution,
      })),
    };
  });
}

const generatedStates = ['mastered', 'not_yet', 'gap'] as const;

/** A row for every competency; states by turns, items by turns, as many as each row needs. */
function generatedRows(
  competencies: readonly { readonly code: string; readonly kind: SettledMastery['kind'] }[],
  items: number,
  { generatedMastery }: RecordEntry,
): NonNullable<RecordEntry['mastery']> {
  const evidencePerRow = generatedMastery?.evidencePerRow ?? 0;
  return competencies.map(({ code, kind }, at) => {
    const state = generatedStates[at % generatedStates.length] ?? 'not_yet';
    return {
      ...(kind === 'standard' ? { standard: code } : { kc: code }),
      state,
      estimate: { mastered: 0.875, not_yet: 0.5, gap: 0.125 }[state],
      threshold: 0.5,
      uncertainty: 0.125,
      uncertaintyKind: 'standard_error' as const,
      evidence: Array.from({ length: evidencePerRow }, (_, row) => ({
        item: ((at * evidencePerRow + row) % items) + 1,
        contribution: state === 'gap' ? -0.25 : 0.25,
        component: true,
      })),
    };
  });
}

/** What Caliper holds of a published record: the grading of the attempt by a program. */
function completionEvent({ tenantId }: TenantFile, planned: Planned, id: string): CaliperEvent {
  const { attemptId, entry, student } = planned;
  const iri = (kind: string, value: string): string =>
    `urn:platform:${tenantId}:${kind}:${encodeURIComponent(value)}`;
  const actor = { id: 'urn:platform:results', type: 'SoftwareApplication' };
  return {
    '@context': CALIPER_CONTEXT,
    id,
    type: 'GradeEvent',
    profile: 'GradingProfile',
    actor,
    action: 'Graded',
    object: {
      id: iri('attempt', attemptId),
      type: 'Attempt',
      assignee: { id: iri('student', student), type: 'Person' },
      count: 1,
    },
    generated: {
      id: iri('score', attemptId),
      type: 'Score',
      attempt: iri('attempt', attemptId),
      scoreGiven: entry.record?.score.value,
      scoredBy: actor,
    },
    eventTime: formatInstant(Date.parse(planned.modifiedAt)),
  };
}
