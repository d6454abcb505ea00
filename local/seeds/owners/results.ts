import { itemId } from '#local/platform/form-items.ts';
import { once } from '#local/platform/store.ts';
import type { SettledMastery, SettledRecord } from '#shared/platform/owners/results.ts';
import type { SeedAttempt } from '../attempts.ts';
import { opaque } from '../ids.ts';
import type { Competency, RecordEntry } from '../reports-file.ts';
import type { Entities, Tenant } from '../tenant.ts';
import { criteriaOf } from './content.ts';
import { outcomeId } from './qti.ts';

/** Returns what Results has settled of the attempts, and what it will settle once it has an attempt's components. */
export function resultsEntities(
  tenant: Tenant,
  attempts: readonly SeedAttempt[],
): Entities<'records' | 'unsettledRecords', 'records'> {
  const all = attempts.flatMap((attempt) => {
    const { record, settledAtStart } = attempt.entry;
    return record === null
      ? []
      : [{ attempt, settledAtStart, make: () => recordOf(tenant, attempt, record) }];
  });
  const written = all.filter(({ attempt }) => !attempt.isGenerated);
  return {
    records: written.filter(({ settledAtStart }) => settledAtStart).map(({ make }) => make()),
    unsettledRecords: written.filter(({ settledAtStart }) => !settledAtStart).map(({ make }) => make()),
    generated: {
      records: new Map(
        all
          .filter(({ attempt }) => attempt.isGenerated)
          .map(({ attempt, make }) => [attempt.resultRecordId, once(make)]),
      ),
    },
  };
}

function recordOf(tenant: Tenant, attempt: SeedAttempt, record: RecordEntry): SettledRecord {
  const { tenantId } = tenant;
  const { spec, resultRecordId } = attempt;
  const { scale, ...score } = record.score;
  const scaleVersion = (name: string): string => opaque(name, tenantId, 'scale');
  const { gate, diagnostic } = record;
  const criteria = criteriaOf(tenant, gate?.criteria ?? spec.entry.criteria);
  return {
    tenantId,
    resultRecordId,
    version: attempt.version('record'),
    freshness: record.freshness,
    settled: true,
    attemptId: attempt.attemptId,
    candidateSourcedId: attempt.candidateSourcedId,
    ...spec.ref,
    testKind: spec.entry.testKind,
    modifiedAt: attempt.modifiedAt,
    score: { ...score, scaleVersion: scale === null ? null : scaleVersion(scale) },
    gate: gate && {
      status: gate.status,
      criteriaVersion: criteria?.criteriaVersion ?? null,
      achieved: gate.achieved,
      required: criteria?.required ?? null,
      gapCaseGuids: gate.gaps.map(spec.guidOf),
      coverageEvidenceId: gate.coverageEvidence ? opaque('coverage', tenantId, resultRecordId) : null,
    },
    diagnostic: diagnostic && {
      scaleScore: diagnostic.scaleScore,
      scaleVersion: scaleVersion(diagnostic.scale),
      calibrationVersion: opaque(diagnostic.calibration, tenantId, 'calibration'),
      standardError: diagnostic.standardError,
      stoppingReason: diagnostic.stoppingReason,
    },
    completionEventIri: attempt.eventIri,
    mastery: masteryOf(tenant, attempt, record),
  };
}

function masteryOf({ tenantId }: Tenant, attempt: SeedAttempt, record: RecordEntry): SettledMastery[] {
  const { spec, entry, attemptId, resultRecordId, qtiTestId } = attempt;
  const parents = new Map(spec.competencies.map(({ code, parent }) => [code, parent]));
  const rows = record.mastery ?? generatedMastery(spec.competencies, entry.items, record);
  return rows.map(({ standard, kc, evidence, ...row }, at) => {
    const code = standard ?? kc ?? '';
    const parent = parents.get(code);
    return {
      kind: kc === undefined ? 'standard' : 'knowledge_component',
      caseGuid: spec.guidOf(code),
      parentCaseGuid: parent === undefined ? null : spec.guidOf(parent),
      ...row,
      policyId: opaque(record.policy.name, tenantId, 'policy'),
      policyVersion: opaque(record.policy.version, tenantId, 'policy-version'),
      evidence: evidence.map(({ item, contribution, component }) => ({
        qtiItemId: itemId(qtiTestId, item),
        qtiOutcomeId: outcomeId(attemptId, item),
        resultComponentId: component ? `${resultRecordId}-component-${at + 1}` : null,
        contribution,
      })),
    };
  });
}

const estimates = [
  { state: 'mastered', estimate: 0.875 },
  { state: 'not_yet', estimate: 0.5 },
  { state: 'gap', estimate: 0.125 },
] as const;

/** Returns a row for every competency; states by turns, items by turns, as many as each row needs. */
function generatedMastery(
  competencies: readonly Competency[],
  items: number,
  record: RecordEntry,
): NonNullable<RecordEntry['mastery']> {
  const evidencePerRow = record.generatedMastery?.evidencePerRow ?? 0;
  return competencies.map(({ code, kind }, at) => {
    const drawn = estimates[(at % 3) as 0 | 1 | 2];
    // A gate is not passed while there is a gap.
    const { state, estimate } =
      record.gate?.status === 'pass' && drawn.state === 'gap' ? estimates[1] : drawn;
    return {
      ...(kind === 'standard' ? { standard: code } : { kc: code }),
      state,
      estimate,
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
