import { describe, expect, it } from 'vitest';
import type { ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import { ok } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { KcComponentsRequest } from '#shared/platform/owners/results.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import { componentId, completionEventIri, offerKey, producerResultId } from '../names.ts';
import { statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Findings } from '../diagnosis.ts';
import { publish } from './publish.ts';

const RECORD = 'record-1';

const state: AdaptiveRunState = { ...exampleState, stopReason: 'max_items' };
const conformance: AdaptiveRunState = { ...state, runMode: 'owner_conformance' };
delete conformance.resultsStudentId;

const findings: Findings = {
  stopReason: 'max_items',
  scale: {
    limitations: ['Test data.'],
    scaleId: 'scale',
    scaleScore: 512.5,
    standardError: 20,
  } as ScaleResult,
  classifications: ['kc-1', 'kc-2'].map((caseCompetencyGuid) => ({
    caseCompetencyGuid,
    caseFrameworkGuid: 'framework',
    caseMappingVersion: 'mapping',
    classification: 'gap',
    posteriorProbability: 0.1,
    evidenceItemRefs: [],
  })),
  outcomes: [],
  lastOutcome: exampleOutcome,
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
    tenantId: state.tenantId,
    pause: () => Promise.resolve(),
    trace: () => [],
    call: (operation: { readonly id: string }, { body }: { readonly body?: unknown }) => {
      asked.push(operation.id);
      if (operation.id === operations.writeKcComponents.id) components.push(body as KcComponentsRequest);
      if (operation.id === operations.emitEvent.id) [event] = (body as { data: unknown[] }).data;
      const shown =
        operation.id === operations.readEvidenceAck.id ? { eventIri: completionEventIri(state), event } : {};
      const value = {
        tenantId: state.tenantId,
        ...shown,
        ...acknowledgements[operation.id],
        ...otherwise[operation.id],
      };
      return Promise.resolve(
        ok({ value, etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: '' }),
      );
    },
  } as unknown as Platform;
  return { platform, asked, components, event: () => event as CaliperEvent };
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

describe('the completion event', () => {
  it.each([
    ['grades a learner by a software actor and publishes the score', state, true],
    ['names no person and no score when the run is synthetic', conformance, false],
  ])(
    '%s, at the time of the last attempt and with the same bytes at every retry [MA-013, MA-037, MA-202]',
    async (_, run, isLearner) => {
      const { platform, event } = owners();
      await publish(platform, run, findings);
      const sent = event();
      expect(caliperEnvelope.safeParse(envelopeOf(sent)).success).toBe(true);
      expect(sent).toMatchObject({
        id: completionEventIri(run),
        eventTime: '2026-03-01T08:00:00.000Z',
        actor: { type: 'SoftwareApplication' },
        ...(isLearner
          ? {
              type: 'GradeEvent',
              object: {
                type: 'Attempt',
                assignee: { type: 'Person', id: expect.stringContaining('student-1') as string },
              },
              generated: { type: 'Score', scoreGiven: 512.5 },
            }
          : { type: 'Event', action: 'Completed' }),
      });
      const text = JSON.stringify(sent);
      for (const secret of ['Person', 'student-1', '512.5']) expect(text.includes(secret)).toBe(isLearner);
      expect(text).not.toContain(run.candidateRef);
      await publish(platform, run, findings);
      expect(JSON.stringify(event())).toBe(text);
    },
  );
});

it('names of what a run publishes are distinct per purpose, tenant and run, and equal for the same run', () => {
  const names = (run: Pick<AdaptiveRunState, 'tenantId' | 'runSeed'>): string[] => [
    ...[offerKey(run, 1), offerKey(run, 2), producerResultId(run)],
    ...[componentId(run, 'kc-1'), componentId(run, 'kc-2'), completionEventIri(run)],
  ];
  const all = [state, { ...state, tenantId: 'tenant b' }, { ...state, runSeed: 'c'.repeat(64) }].flatMap(
    names,
  );
  expect(new Set(all).size).toBe(all.length);
  expect(names({ tenantId: state.tenantId, runSeed: state.runSeed })).toEqual(names(state));
});
