import { describe, expect, it } from 'vitest';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { completionEvent } from './completion-event.ts';
import { completionEventIri, componentId, offerKey, producerResultId } from '../names.ts';

const HASH = 'b'.repeat(64);
const COMPLETED = Date.parse('2026-03-01T08:30:00Z');

const state = {
  tenantId: 'tenant a',
  runSeed: HASH,
  runMode: 'production_learner',
  pins: { testBankId: 'bank/1', resolvedPoolHash: HASH, qtiPoolPackageHash: HASH },
  selectionPolicyChecksum: HASH,
  scaleCalibrationChecksum: HASH,
  candidateRef: 'candidate-pseudonym',
  resultsStudentId: 'student-1',
} as unknown as AdaptiveRunState;

const learner = {
  state,
  completedAt: COMPLETED,
  administeredItemCount: 7,
  learner: { studentId: 'student-1', scaleScore: 512.5 },
};
const conformance = {
  ...learner,
  state: { ...state, runMode: 'owner_conformance' as const },
  learner: undefined,
};

describe('completion event', () => {
  it('is a valid Caliper 1.2 envelope in both modes, with the time of the last attempt and not of the clock [MA-037]', () => {
    for (const completion of [learner, conformance]) {
      const envelope = envelopeOf(completionEvent(completion));
      expect(caliperEnvelope.safeParse(envelope).success).toBe(true);
      expect(envelope.sendTime).toBe('2026-03-01T08:30:00.000Z');
      expect(envelope.data[0]?.eventTime).toBe(envelope.sendTime);
    }
  });

  it('is the same event, byte for byte, at every retry [MA-202]', () => {
    const envelope = (): string => JSON.stringify(envelopeOf(completionEvent(learner)));
    expect(envelope()).toBe(envelope());
    expect(completionEvent(learner).id).toBe(completionEventIri(state));
  });

  it('grades a learner by a software actor and publishes the score', () => {
    expect(completionEvent(learner)).toMatchObject({
      type: 'GradeEvent',
      profile: 'GradingProfile',
      action: 'Graded',
      actor: { type: 'SoftwareApplication' },
      object: {
        type: 'Attempt',
        assignee: { type: 'Person', id: expect.stringContaining('student-1') as string },
      },
      generated: { type: 'Score', scoreGiven: 512.5 },
    });
  });

  it('names no person and no score when the run is synthetic: hashes and counts only [MA-013]', () => {
    const text = JSON.stringify(completionEvent(conformance));
    expect(completionEvent(conformance)).toMatchObject({ type: 'Event', action: 'Completed' });
    for (const secret of ['Person', 'student-1', '512.5', 'candidate-pseudonym'])
      expect(text).not.toContain(secret);
  });
});

describe('names of what a run publishes', () => {
  it('are distinct per purpose, tenant and run, and equal for the same run', () => {
    const names = (run: Pick<AdaptiveRunState, 'tenantId' | 'runSeed'>): string[] => [
      offerKey(run, 1),
      offerKey(run, 2),
      producerResultId(run),
      componentId(run, 'kc-1'),
      componentId(run, 'kc-2'),
      completionEventIri(run),
    ];
    const all = [
      ...names(state),
      ...names({ ...state, tenantId: 'tenant b' }),
      ...names({ ...state, runSeed: 'c'.repeat(64) }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(names(state)).toEqual(names({ tenantId: state.tenantId, runSeed: state.runSeed }));
  });
});
