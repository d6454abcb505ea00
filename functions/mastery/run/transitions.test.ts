import { describe, expect, it } from 'vitest';
import { digestOutcomes } from './outcomes.ts';
import { outstandingOffer, statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { Acknowledgements, AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { exampleOutcome, exampleState as blank } from '#test/support/example-run.ts';
import { acknowledge, addOffer, beginFinalizing, consumeOutcome } from './transitions.ts';

const item = { deliverySessionId: 'session-1', artifactVersionId: 'version-1' };
const session = { deliverySessionId: 'session-1', rootArtifactVersionId: 'version-1' };
const everything: Required<Acknowledgements> = {
  resultRecordId: 'record-1',
  componentsAcknowledged: true,
  caliperEventIri: 'urn:uuid:event',
};
const byMaxItems = { reason: 'max_items', cause: 'pool_exhausted' } as const;
const offered = addOffer(blank, session);
const consumed = consumeOutcome(offered, [], exampleOutcome).state;
const stopped = beginFinalizing(consumed, byMaxItems);
const completed = acknowledge(stopped, everything);

describe('the state machine of a run', () => {
  it('has the three statuses of the drawing, and changes no state that it starts from [MA-076, MA-137, MA-138]', () => {
    expect([blank, offered, consumed, stopped, completed].map(statusOf)).toEqual([
      ...['in_progress', 'in_progress', 'in_progress'],
      ...['finalizing', 'completed'],
    ]);
    expect(blank.offers).toEqual([]);
    expect(offered.offers).toEqual([item]);
    expect([consumed.stopReason, stopped.acknowledgements]).toEqual([null, {}]);
  });

  it('has at most one outstanding item, numbered by its place [MA-078, MA-092]', () => {
    expect([blank, consumed].map(outstandingOffer)).toEqual([undefined, undefined]);
    expect(outstandingOffer(offered)).toEqual({ ...item, sequence: 1 });
    expect(outstandingOffer(addOffer(consumed, session))?.sequence).toBe(2);
  });

  it('leaves an item behind that is not answered when it stops, and keeps reason and cause [MA-111, MA-137]', () => {
    const left = beginFinalizing(addOffer(consumed, session), byMaxItems);
    expect(left).toEqual(stopped);
    expect([left.offers.length, left.stopReason, left.stopCause]).toEqual([1, 'max_items', 'pool_exhausted']);
    expect(outstandingOffer(left)).toBeUndefined();
  });

  it('keeps which attempt was consumed, its processing trace, and a digest over all of them', () => {
    expect(consumed).toMatchObject({
      offers: [{ ...item, consumedAttemptId: 'attempt-1', consumedTraceRef: 'trace-1' }],
      consumed: { count: 1, digest: digestOutcomes([exampleOutcome]) },
    });
  });

  it('only ever adds acknowledgements [MA-085, MA-086]', () => {
    const again = acknowledge(completed, { caliperEventIri: 'urn:uuid:other' });
    expect(again.acknowledgements).toEqual(everything);
  });

  it('is completed in learner mode only with record, components and event, in conformance mode with the event [MA-138, MA-139]', () => {
    for (const missing of Object.keys(everything)) {
      const rest = Object.fromEntries(Object.entries(everything).filter(([name]) => name !== missing));
      expect(statusOf(acknowledge(stopped, rest))).toBe('finalizing');
    }
    const synthetic: AdaptiveRunState = { ...stopped, runMode: 'owner_conformance' };
    expect(statusOf(synthetic)).toBe('finalizing');
    expect(statusOf(acknowledge(synthetic, { caliperEventIri: 'urn:uuid:event' }))).toBe('completed');
  });
});
