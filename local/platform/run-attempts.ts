import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type { AttemptEvidence, DeliverySession } from '#shared/platform/owners/qti.ts';
import type { SettledMastery, SettledRecord } from '#shared/platform/owners/results.ts';
import { findGradeEvent } from './grade-events.ts';
import type { HeldAttempt, HeldResultRecord, TenantState } from './tenant-state.ts';

/** What the owners hold about one learner run of the mastery engine. */
export interface RunAttempt {
  readonly attempt: HeldAttempt;
  readonly record: SettledRecord;
  readonly administration: Administration;
}

/**
 * Returns the learner runs that have written record and components, each as one scored attempt. Derived at every reading from what the engine wrote
 * and QTI scored, so a change of either shows at once; docs/platform-contracts.md describes the mapping.
 */
export function runAttempts(tenant: TenantState): readonly RunAttempt[] {
  return [...tenant.resultRecords.entries()].flatMap(([, held]) => {
    if (held.components.length === 0) return [];
    const manifest = tenant.manifests.get(held.request.bankOperationId);
    const criteria = tenant.criteria.get(held.request.testSpecId);
    if (manifest?.root === undefined || criteria === undefined) return [];
    const { tenantId } = tenant;
    const attemptId = deterministicUuid('run-attempt', tenantId, held.resultRecordId);
    const spec = { contentTestSpecId: held.request.testSpecId, contentTestSpecVersion: criteria.version };
    const outcomes = scoredItems(tenant, held);
    const settled = versioned({
      tenantId,
      resultRecordId: held.resultRecordId,
      freshness: 'current' as const,
      settled: true,
      attemptId,
      candidateSourcedId: held.request.studentId,
      ...spec,
      testKind: 'adaptive_diagnostic',
      modifiedAt: held.request.scoredAt,
      ...measureOf(held),
      gate: null,
      mastery: masteryOf(tenant, held, outcomes, manifest.testSpecId),
    });
    // Which event has published it is no part of what was settled, so its version stays.
    const { studentId, scale, scoredAt } = held.request;
    const event = findGradeEvent(tenant, { studentId }, { scoreGiven: scale.scaleScore, at: scoredAt });
    const record = { ...settled, completionEventIri: event?.id ?? null };
    const administration = versioned({
      tenantId,
      administrationId: deterministicUuid('run-administration', tenantId, held.resultRecordId),
      freshness: 'current' as const,
      status: 'scored',
      ...spec,
      classSourcedId: tenant.engine.classSourcedId,
      schoolSourcedId: null,
    });
    const attempt = versioned({
      tenantId,
      attemptId,
      freshness: 'current' as const,
      status: 'scored',
      // A run has a delivery session for every item, and none of its own.
      qtiSessionId: null,
      qtiTestId: manifest.root.artifactId,
      candidateSourcedId: held.request.studentId,
      administrationId: administration.administrationId,
      ...spec,
      resultRecordId: record.resultRecordId,
      resultRecordVersion: record.version,
      administeredItemCount: outcomes.length,
      outcomes: outcomes.map(({ qtiItemId, qtiOutcomeId, scoredAt }) => ({
        qtiItemId,
        qtiOutcomeId,
        scoredAt,
      })),
      submittedAt: held.request.scoredAt,
    });
    return [{ attempt, record, administration }];
  });
}

/** Adds the version that follows from the content. */
function versioned<T extends object>(content: T): T & { readonly version: string } {
  return { ...content, version: hashCanonical(content).slice(0, 24) };
}

type ScoredItem = AttemptEvidence['outcomes'][number] & { readonly correct: boolean };

/** Returns the first scored attempt of each session that the record names, which is the one that the run has consumed. */
function scoredItems(tenant: TenantState, { request }: HeldResultRecord): readonly ScoredItem[] {
  return request.deliverySessionIds.flatMap((id) => {
    const session = tenant.sessions.get(id)?.session;
    const item = tenant.artifacts.get(session?.rootArtifactVersionId ?? '');
    const scored = session === undefined ? undefined : firstScored(session);
    if (item === undefined || typeof scored?.scoredAt !== 'string') return [];
    return [
      {
        qtiItemId: item.qtiIdentifier,
        qtiOutcomeId: scored.attemptId,
        scoredAt: scored.scoredAt,
        correct: isRight(scored.outcomes),
      },
    ];
  });
}

/** Returns whether an attempt's outcomes hold a SCORE of 1. */
function isRight(outcomes: unknown): boolean {
  return typeof outcomes === 'object' && outcomes !== null && 'SCORE' in outcomes && outcomes.SCORE === 1;
}

function firstScored({ attempts }: DeliverySession): DeliverySession['attempts'][number] | undefined {
  return attempts
    .filter(({ status }) => status === 'scored')
    .sort((a, b) => a.attemptNumber - b.attemptNumber)[0];
}

function measureOf({ request }: HeldResultRecord): Pick<SettledRecord, 'score' | 'diagnostic'> {
  const { scaleId, scaleScore, standardError } = request.scale;
  return {
    score: {
      value: scaleScore,
      minimum: null,
      maximum: null,
      unit: 'mastery_scale',
      scaleVersion: scaleId,
    },
    diagnostic: {
      scaleScore,
      scaleVersion: scaleId,
      calibrationVersion: request.scaleCalibrationId,
      standardError,
      stoppingReason: request.stopReason,
    },
  };
}

/** Returns a row for every component with evidence: a row without any would say something about nothing. */
function masteryOf(
  tenant: TenantState,
  { request, components }: HeldResultRecord,
  outcomes: readonly ScoredItem[],
  testSpecId: string,
): SettledMastery[] {
  const parents = parentsIn(tenant, testSpecId);
  const policy = tenant.engine.policies.get(request.selectionPolicyId);
  return components.flatMap((component): SettledMastery[] => {
    const { posteriorProbability: estimate, selectionPolicyId, componentId } = component;
    const evidence = outcomes.filter(({ qtiItemId }) => component.evidenceItemRefs.includes(qtiItemId));
    if (evidence.length === 0) return [];
    return [
      {
        kind: 'knowledge_component',
        caseGuid: component.caseCompetencyGuid,
        parentCaseGuid: parents.get(component.caseCompetencyGuid) ?? null,
        state: component.classification,
        estimate,
        threshold: policy?.kcCutScore ?? null,
        uncertainty: Number(Math.sqrt(estimate * (1 - estimate)).toFixed(6)),
        uncertaintyKind: 'standard_error',
        confidence: policy?.confidenceThreshold ?? null,
        policyId: selectionPolicyId,
        // A policy is immutable: its id is that of one version.
        policyVersion: selectionPolicyId,
        evidence: evidence.map(({ qtiItemId, qtiOutcomeId, correct }) => ({
          qtiItemId,
          qtiOutcomeId,
          resultComponentId: componentId,
          contribution: correct ? 1 : -1,
        })),
      },
    ];
  });
}

/** Returns the first parent of every child in the framework of a test spec. */
function parentsIn(tenant: TenantState, testSpecId: string): ReadonlyMap<string, string> {
  const framework = tenant.packages.get(tenant.criteria.get(testSpecId)?.caseFrameworkGuid ?? '');
  const parents = new Map<string, string>();
  for (const association of framework?.CFAssociations ?? []) {
    const child = association.originNodeURI.identifier;
    if (association.associationType === 'isChildOf' && !parents.has(child))
      parents.set(child, association.destinationNodeURI.identifier);
  }
  return parents;
}
