import { describe, expect, it } from 'vitest';
import type { KcClassification, ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import { ok } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { KcComponentsRequest } from '#shared/platform/owners/results.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { componentId, completionEventIri, producerResultId } from '../names.ts';
import { statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Findings } from './findings.ts';
import { publish } from './publish.ts';

const HASH = 'a'.repeat(64);
const RECORD = 'record-1';

const conformance = {
  tenantId: 'tenant-a',
  runSeed: HASH,
  runMode: 'owner_conformance',
  pins: { testSpecId: 'spec', testBankId: 'bank', bankOperationId: 'operation' },
  offers: [],
  stopReason: 'max_items',
  acknowledgements: {},
} as unknown as AdaptiveRunState;
const state: AdaptiveRunState = {
  ...conformance,
  runMode: 'production_learner',
  resultsStudentId: 'student-1',
};

const findings: Findings = {
  stopReason: 'max_items',
  scale: { limitations: ['Test data.'], scaleId: 'scale', scaleScore: 500, standardError: 20 } as ScaleResult,
  classifications: ['kc-1', 'kc-2'].map(
    (caseCompetencyGuid) =>
      ({
        caseCompetencyGuid,
        classification: 'gap',
        posteriorProbability: 0.1,
        evidenceItemRefs: [],
      }) as unknown as KcClassification,
  ),
  outcomes: [],
  lastOutcome: {
    sequence: 1,
    artifactVersionId: 'item@1',
    attemptId: 'attempt-1',
    attemptNumber: 1,
    correct: true,
    scoredAt: '2026-03-01T08:30:00.000Z',
    scoredAtMs: Date.parse('2026-03-01T08:30:00.000Z'),
    traceRef: 'trace-1',
    handedInMs: Date.parse('2026-03-01T08:30:00.000Z'),
  },
};

/** What the owners acknowledge when all is well. */
const acknowledgements: Readonly<Record<string, object>> = {
  [operations.writeResultRecord.id]: {
    resultRecordId: RECORD,
    producerResultId: producerResultId(state),
  },
  [operations.writeKcComponents.id]: {
    resultRecordId: RECORD,
    count: 2,
    componentIds: [componentId(state, 'kc-2'), componentId(state, 'kc-1')],
  },
};

/** Owners that acknowledge, but for what a test says otherwise; Caliper shows back what it was sent. */
function owners(otherwise: Readonly<Record<string, object>> = {}) {
  const asked: string[] = [];
  const components: KcComponentsRequest[] = [];
  let event: unknown;
  const platform = {
    tenantId: 'tenant-a',
    pause: () => Promise.resolve(),
    trace: () => [],
    call: (operation: { readonly id: string }, { body }: { readonly body?: unknown }) => {
      asked.push(operation.id);
      if (operation.id === operations.writeKcComponents.id) components.push(body as KcComponentsRequest);
      if (operation.id === operations.emitEvent.id) [event] = (body as { data: unknown[] }).data;
      const shown =
        operation.id === operations.readEvidenceAck.id ? { eventIri: completionEventIri(state), event } : {};
      const value = {
        tenantId: 'tenant-a',
        ...shown,
        ...acknowledgements[operation.id],
        ...otherwise[operation.id],
      };
      return Promise.resolve(
        ok({ value, etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: HASH }),
      );
    },
  } as unknown as Platform;
  return { platform, asked, components };
}

describe('publish', () => {
  it('completes a learner’s run once record, components and event are acknowledged, in this order [MA-033, MA-034, MA-138, MA-202]', async () => {
    const { platform, asked, components } = owners();
    const published = await publish(platform, state, findings);
    if (!published.ok) throw new Error(published.error.code);
    expect(statusOf(published.value)).toBe('completed');
    expect(published.value.acknowledgements).toEqual({
      resultRecordId: RECORD,
      componentsAcknowledged: true,
      caliperEventIri: completionEventIri(state),
    });
    expect(asked).toEqual([
      operations.writeResultRecord.id,
      operations.writeKcComponents.id,
      operations.emitEvent.id,
      operations.readEvidenceAck.id,
    ]);
    expect(components.map((request) => request.components.map((kc) => kc.caseCompetencyGuid))).toEqual([
      ['kc-1', 'kc-2'],
    ]);
  });

  it('writes nothing to Results in conformance [MA-013, MA-139]', async () => {
    const { platform, asked } = owners();
    const published = await publish(platform, conformance, findings);
    expect(published.ok && statusOf(published.value)).toBe('completed');
    expect(asked).toEqual([operations.emitEvent.id, operations.readEvidenceAck.id]);
  });

  it.each<[string, string, object]>([
    ['a record under another producer result id', 'writeResultRecord', { producerResultId: 'another' }],
    ['components of another record', 'writeKcComponents', { resultRecordId: 'another' }],
    ['one component too few', 'writeKcComponents', { count: 1 }],
    ['one component id too few', 'writeKcComponents', { componentIds: [componentId(state, 'kc-1')] }],
    [
      'one component twice',
      'writeKcComponents',
      { componentIds: [componentId(state, 'kc-1'), componentId(state, 'kc-1')] },
    ],
    ['another event', 'readEvidenceAck', { eventIri: 'urn:uuid:another' }],
  ])(
    'takes %s for no acknowledgement, and goes no further [MA-033, MA-034, MA-038, MA-169]',
    async (_, name, said) => {
      const operation = operations[name as keyof typeof operations];
      const { platform, asked } = owners({ [operation.id]: said });
      const published = await publish(platform, state, findings);
      expect(published).toMatchObject({
        ok: false,
        error: {
          status: 424,
          code: 'finalization-incomplete',
          upstream: { service: operation.service, operation: operation.id, requestId: 'up-1' },
        },
      });
      expect(asked.at(-1)).toBe(operation.id);
    },
  );
});
