import { describe, expect, it } from 'vitest';
import { ok } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import {
  attemptIri,
  componentId,
  completionEventIri,
  offerKey,
  producerResultId,
  scoreIri,
} from '../names.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Findings } from '../diagnosis.ts';
import { completionEvent } from './completion-event.ts';
import { publish } from './publish.ts';

const state: AdaptiveRunState = {
  ...exampleState,
  stopReason: 'max_items',
  acknowledgements: { resultRecordId: 'record-1', caliperEventIri: completionEventIri(exampleState) },
};
const findings = {
  kcClassifications: ['kc-1', 'kc-2'].map((caseCompetencyGuid) => ({ caseCompetencyGuid })),
  scale: { scaleScore: 512.5 },
  outcomes: [exampleOutcome],
  lastOutcome: exampleOutcome,
} as unknown as Findings;
const ids = ['kc-2', 'kc-1'].map((kc) => componentId(state, kc));

it.each<[string, object, boolean]>([
  ['all of them in any order', {}, true],
  ['those of another record', { resultRecordId: 'another' }, false],
  ['one too few', { count: 1 }, false],
  ['one id too few', { componentIds: ids.slice(1) }, false],
  ['one twice', { componentIds: [ids[0], ids[0]] }, false],
])('components are acknowledged by %s: %j, %s [MA-033, MA-034, MA-169]', async (_, said, complete) => {
  const value = { resultRecordId: 'record-1', count: 2, componentIds: ids, ...said };
  const answer = { value, etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: '' };
  const platform = { call: () => Promise.resolve(ok(answer)) } as unknown as Platform;
  const { service, id: operation } = operations.writeKcComponents;
  expect(await publish(platform, state, findings)).toMatchObject(
    complete
      ? { ok: true, value: { acknowledgements: { ...state.acknowledgements, componentsAcknowledged: true } } }
      : {
          ok: false,
          error: {
            status: 424,
            code: 'finalization-incomplete',
            upstream: { service, operation, requestId: 'up-1' },
          },
        },
  );
});

describe('the completion event', () => {
  const { resultsStudentId, ...synthetic } = state;
  it.each([
    ['grades a learner by a software actor and publishes the score', { ...synthetic, resultsStudentId }],
    ['names no person and no score when the run is synthetic', synthetic],
  ])('%s, at the time of the last attempt [MA-013, MA-037, MA-202]', (_, run) => {
    const event = completionEvent(run, findings);
    const isPublished = 'resultsStudentId' in run;
    expect(caliperEnvelope.safeParse(envelopeOf(event)).success).toBe(true);
    expect(event).toMatchObject({
      id: completionEventIri(state),
      type: isPublished ? 'GradeEvent' : 'Event',
      eventTime: '2026-03-01T08:00:00.000Z',
      actor: { type: 'SoftwareApplication' },
    });
    const text = JSON.stringify(event);
    for (const secret of ['Person', 'student-1', '512.5']) expect(text.includes(secret)).toBe(isPublished);
    expect(text).not.toContain(state.candidateRef);
  });
});

it('names of what a run publishes are distinct per purpose, tenant and run', () => {
  const runs = [state, { ...state, tenantId: 'tenant b' }, { ...state, runSeed: 'c'.repeat(64) }];
  const names = runs.flatMap((run) => [
    ...[offerKey(run, 1), offerKey(run, 2), producerResultId(run).slice('mastery-'.length)],
    ...[completionEventIri, attemptIri, scoreIri].map((nameOf) => nameOf(run)),
  ]);
  expect(new Set(names).size).toBe(names.length);
});
