import type { ReportFacts } from '#functions/reports/facts/facts.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { SettledGate, SettledMastery, SettledRecord } from '#shared/platform/owners/results.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import { observed, receipt, tenantId } from './report-facts.ts';
import { wholeRelease } from './release.ts';

/** A mastered standard with one piece of evidence. */
export const soundRow: SettledMastery = {
  kind: 'standard',
  caseGuid: 'fractions',
  parentCaseGuid: null,
  state: 'mastered',
  estimate: 0.8,
  threshold: 0.7,
  uncertainty: 0.05,
  uncertaintyKind: 'policy_margin',
  confidence: null,
  policyId: 'mastery',
  policyVersion: '2',
  evidence: [
    { qtiItemId: 'item-1', qtiOutcomeId: 'SCORE', resultComponentId: 'component-1', contribution: 0.5 },
  ],
};

/** A component under it, with evidence of two items. */
export const soundChild: SettledMastery = {
  ...soundRow,
  kind: 'knowledge_component',
  caseGuid: 'adding',
  parentCaseGuid: 'fractions',
  evidence: ['item-1', 'item-2'].map((qtiItemId) => ({
    qtiItemId,
    qtiOutcomeId: 'SCORE',
    resultComponentId: null,
    contribution: -0.25,
  })),
};

/** The facts of one attempt, each of which a test may change. */
interface SoundAttempt {
  evidence: { value: AttemptEvidence; receipt: SourceRef };
  record: { value: SettledRecord; receipt: SourceRef };
  criteria: { value: ReportCriteria; receipt: SourceRef };
  candidate: SourceRef;
  framework: {
    value: { changedAt: string; guids: Set<string>; parents: Map<string, string[]> };
    receipt: SourceRef;
  };
  enrichments: ReportFacts['enrichments'];
  proved: ReportFacts['proved'];
}

/** A settled gate that was passed, on which all owners agree, with names that a table of rules can use. Each call makes new facts. */
export function soundGate(): SoundAttempt {
  const ids = { attemptId: 'attempt-1', candidateSourcedId: 'learner-1', contentTestSpecId: 'spec-1' };
  const evidence: AttemptEvidence = {
    tenantId,
    ...ids,
    qtiSessionId: 'session-1',
    qtiTestId: 'form-1',
    administrationId: 'administration-1',
    version: 'q5',
    freshness: 'current',
    status: 'scored',
    contentTestSpecVersion: 'c12',
    resultRecordId: 'record-1',
    resultRecordVersion: 'r3',
    administeredItemCount: 3,
    outcomes: [
      { qtiItemId: 'item-1', qtiOutcomeId: 'SCORE', scoredAt: '2026-03-02T09:00:00Z' },
      { qtiItemId: 'item-2', qtiOutcomeId: 'SCORE', scoredAt: '2026-03-02T09:05:00Z' },
    ],
  };
  const gate: SettledGate = {
    status: 'pass',
    criteriaVersion: '4',
    achieved: 61,
    required: 60,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
  };
  const record: SettledRecord = {
    tenantId,
    ...ids,
    resultRecordId: 'record-1',
    version: 'r3',
    freshness: 'current',
    settled: true,
    contentTestSpecVersion: 'c12',
    testKind: 'mastery_gate',
    modifiedAt: '2026-03-02T09:30:00Z',
    score: { value: 61, minimum: 0, maximum: 100, unit: 'percent', scaleVersion: null },
    gate,
    diagnostic: null,
    completionEventIri: null,
    mastery: [soundRow, soundChild],
  };
  const criteria: ReportCriteria = {
    tenantId,
    testSpecId: ids.contentTestSpecId,
    version: 'c12',
    freshness: 'current',
    testKind: 'mastery_gate',
    caseFrameworkGuid: 'framework-1',
    caseFrameworkChangedAt: '2026-01-10T00:00:00Z',
    criteria: { criteriaVersion: '4', required: 60 },
    qualifyingCoverage: true,
    externalScale: null,
  };
  return structuredClone({
    evidence: observed('qti', ids.attemptId, evidence),
    record: observed('results', 'record-1', record),
    criteria: observed('content', ids.contentTestSpecId, criteria),
    candidate: receipt('oneroster', ids.candidateSourcedId, null),
    framework: {
      value: {
        changedAt: '2026-01-10T00:00:00Z',
        guids: new Set(['fractions', 'adding', 'decimals']),
        parents: new Map([['adding', ['fractions', 'decimals']]]),
      },
      receipt: receipt('case', 'framework-1', '"package"'),
    },
    enrichments: [],
    proved: wholeRelease.proved,
  });
}

/** Other facts of one attempt. */
export type Change<Facts = SoundAttempt> = (facts: Facts) => void;

/** An owner says something else. */
export function says<Name extends 'evidence' | 'record' | 'criteria' | 'framework'>(
  name: Name,
  change: Partial<SoundAttempt[Name]['value']>,
): Change {
  return (facts) => void Object.assign(facts[name].value, change);
}

export const nothing: Change = () => undefined;
export const rows = (...mastery: SettledMastery[]): Change => says('record', { mastery });
export const decided = (change: Partial<SettledGate>): Change => {
  return ({ record }) => void Object.assign(record.value.gate!, change);
};
export const ofKind = (testKind: string): Change =>
  both(says('record', { testKind }), says('criteria', { testKind }));

export function both<Facts>(...changes: readonly Change<Facts>[]): Change<Facts> {
  return (facts) => changes.forEach((change) => change(facts));
}

/** The rows of a table that has what is expected, then by a title what it is expected of. */
export function rowsOf<Of>(
  table: Readonly<Record<string, Readonly<Record<string, Of>>>>,
): [expected: string, title: string, of: Of][] {
  return Object.entries(table).flatMap(([expected, cases]) =>
    Object.entries(cases).map(([title, of]): [string, string, Of] => [expected, title, of]),
  );
}

/** A 503 that says of which owner the facts fall short, and perhaps why: `results unsettled`. */
export function shortfall(of: string): object {
  const [dependency, reason] = of.split(' ');
  return {
    ok: false,
    error: { status: 503, code: 'dependency-incomplete', dependency, ...(reason && { reason }) },
  };
}
