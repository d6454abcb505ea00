import { describe, expect, it } from 'vitest';
import { digestOutcomes } from './outcomes.ts';
import type { ScoredOutcome } from './outcomes.ts';
import { outstandingOffer, statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { Acknowledgements, AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { acknowledge, addOffer, beginFinalizing, consumeOutcome } from './transitions.ts';

/** Only the members that transitions depend on. */
const blank = {
  runMode: 'production_learner',
  offers: [],
  consumed: { count: 0, digest: digestOutcomes([]) },
  stopReason: null,
  acknowledgements: {},
} as unknown as AdaptiveRunState;

const item = { deliverySessionId: 'session-1', artifactVersionId: 'version-1' };
const outcome: ScoredOutcome = {
  sequence: 1,
  artifactVersionId: 'version-1',
  attemptId: 'attempt-1',
  attemptNumber: 1,
  correct: true,
  scoredAt: '2026-03-01T08:00:00Z',
  scoredAtMs: Date.parse('2026-03-01T08:00:00Z'),
  traceRef: 'trace-1',
  handedInMs: Date.parse('2026-03-01T08:00:00Z'),
};
const everything: Required<Acknowledgements> = {
  resultRecordId: 'record-1',
  componentsAcknowledged: true,
  caliperEventIri: 'urn:uuid:event',
};

const byMaxItems = { reason: 'max_items', cause: 'pool_exhausted' } as const;
const offered = addOffer(blank, item);
const consumed = consumeOutcome(offered, [], outcome).state;
const stopped = beginFinalizing(consumed, byMaxItems);
const completed = acknowledge(stopped, everything);
const states = { blank, offered, consumed, stopped, completed };
type StateName = keyof typeof states;

const transitions: Record<string, (state: AdaptiveRunState) => AdaptiveRunState> = {
  addOffer: (state) => addOffer(state, item),
  consumeOutcome: (state) => consumeOutcome(state, [], outcome).state,
  beginFinalizing: (state) => beginFinalizing(state, byMaxItems),
  acknowledge: (state) => acknowledge(state, { caliperEventIri: 'urn:uuid:other' }),
};

describe('the state machine of a run', () => {
  it('has the three statuses of the drawing [MA-076, MA-137, MA-138]', () => {
    const statuses = Object.fromEntries(
      Object.entries(states).map(([name, state]) => [name, statusOf(state)]),
    );
    expect(statuses).toEqual({
      blank: 'in_progress',
      offered: 'in_progress',
      consumed: 'in_progress',
      stopped: 'finalizing',
      completed: 'completed',
    });
  });

  const allowed: Record<string, readonly StateName[]> = {
    addOffer: ['blank', 'consumed'],
    consumeOutcome: ['offered'],
    beginFinalizing: ['blank', 'offered', 'consumed'],
    acknowledge: ['stopped', 'completed'],
  };
  const pairs = Object.keys(transitions).flatMap((name) =>
    (Object.keys(states) as StateName[]).map((from) => ({ name, from, goes: allowed[name]?.includes(from) })),
  );
  it.each(pairs)('$name from $from: $goes', ({ name, from, goes }) => {
    const move = (): AdaptiveRunState => transitions[name]!(states[from]);
    if (goes === true) expect(move).not.toThrow();
    else expect(move).toThrow();
  });

  it('has at most one outstanding item, numbered by its place [MA-078, MA-092]', () => {
    expect(outstandingOffer(blank)).toBeUndefined();
    expect(outstandingOffer(offered)).toEqual({ ...item, sequence: 1 });
    expect(outstandingOffer(consumed)).toBeUndefined();
    expect(outstandingOffer(addOffer(consumed, item))?.sequence).toBe(2);
  });

  it('leaves an item behind that is not answered when it stops, and keeps reason and cause [MA-111, MA-137]', () => {
    const left = beginFinalizing(addOffer(consumed, item), byMaxItems);
    expect(left).toEqual(stopped);
    expect([left.offers.length, left.stopReason, left.stopCause]).toEqual([1, 'max_items', 'pool_exhausted']);
    expect(outstandingOffer(left)).toBeUndefined();
  });

  it('keeps which attempt was consumed, its processing trace, and a digest over all of them', () => {
    expect(consumed.offers).toEqual([
      { ...item, consumedAttemptId: 'attempt-1', consumedTraceRef: 'trace-1' },
    ]);
    expect(consumed.consumed).toEqual({ count: 1, digest: digestOutcomes([outcome]) });
  });

  it('changes nothing of the state that it starts from', () => {
    expect(blank.offers).toEqual([]);
    expect(offered.offers).toEqual([item]);
    expect(consumed.stopReason).toBeNull();
    expect(stopped.acknowledgements).toEqual({});
  });

  it('only ever adds acknowledgements [MA-085, MA-086]', () => {
    expect(acknowledge(completed, { caliperEventIri: 'urn:uuid:other' }).acknowledgements).toEqual(
      everything,
    );
  });

  it('is completed in learner mode only with record, components and event, in conformance mode with the event [MA-138, MA-139]', () => {
    const names = Object.keys(everything) as (keyof Acknowledgements)[];
    for (const missing of names) {
      const rest = Object.fromEntries(Object.entries(everything).filter(([name]) => name !== missing));
      expect(statusOf(acknowledge(stopped, rest))).toBe('finalizing');
    }
    const synthetic: AdaptiveRunState = { ...stopped, runMode: 'owner_conformance' };
    expect(statusOf(synthetic)).toBe('finalizing');
    expect(statusOf(acknowledge(synthetic, { caliperEventIri: 'urn:uuid:event' }))).toBe('completed');
  });
});
