import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settledComponentsAck, settledComponentsRequest } from '#shared/platform/owners/results.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import { attemptFacts } from '#test/support/report-facts.ts';
import { componentsOf, isAcknowledged } from './components.ts';
import type { ComponentSet } from './components.ts';

const evidences = attemptFacts().map(({ evidence }): AttemptEvidence => evidence.value);

function setOf(evidence: AttemptEvidence): ComponentSet {
  const set = componentsOf(evidence);
  if (!set.ok) throw new Error(set.error.code);
  return set.value;
}

function ackOf(evidence: AttemptEvidence, change: Partial<SettledComponentsAck> = {}): SettledComponentsAck {
  const { components } = setOf(evidence).body;
  return settledComponentsAck.parse({
    tenantId: evidence.tenantId,
    attemptId: evidence.attemptId,
    resultRecordId: evidence.resultRecordId,
    version: '7',
    count: components.length,
    componentIds: components.map(({ componentId }) => componentId),
    score: { value: 1, minimum: null, maximum: null, unit: 'points', scaleVersion: null },
    settledAt: '2026-03-01T09:00:00Z',
    ...change,
  });
}

describe('the components of an attempt', () => {
  it('are QTI’s outcomes byte for byte, each once, and a request that Results takes [RP-005, RP-027]', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const { body } = setOf(evidence);
        expect(settledComponentsRequest.parse(body)).toEqual(body);
        const told = body.components.map(({ qtiItemId, qtiOutcomeId, scoredAt }) => ({
          qtiItemId,
          qtiOutcomeId,
          scoredAt,
        }));
        expect(told).toHaveLength(evidence.outcomes.length);
        expect(told).toEqual(expect.arrayContaining([...evidence.outcomes]));
      }),
    );
  });

  it('have the same bytes and the same key whatever order QTI lists them in [RP-220]', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const turned = { ...evidence, outcomes: evidence.outcomes.toReversed() };
        expect(JSON.stringify(setOf(turned))).toBe(JSON.stringify(setOf(evidence)));
      }),
    );
  });

  it('have ids of one tenant and one attempt alone, and another key for another content', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const idsIn = (one: AttemptEvidence): readonly string[] =>
          setOf(one).body.components.map(({ componentId }) => componentId);
        const others = [
          { ...evidence, tenantId: `${evidence.tenantId}-2` },
          { ...evidence, attemptId: `${evidence.attemptId}-2` },
        ];
        for (const other of others)
          expect(idsIn(other).filter((id) => idsIn(evidence).includes(id))).toEqual([]);
        const newer = { ...evidence, version: `${evidence.version}-2` };
        expect(idsIn(newer)).toEqual(idsIn(evidence));
        const keys = [evidence, newer, ...others].map((one) => setOf(one).idempotencyKey);
        expect(new Set(keys).size).toBe(4);
      }),
    );
  });

  it('are QTI’s gap where it has none, or names one twice [RP-258]', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        for (const outcomes of [[], [...evidence.outcomes, evidence.outcomes[0]!]])
          expect(componentsOf({ ...evidence, outcomes })).toMatchObject({
            error: { status: 503, code: 'dependency-incomplete', dependency: 'qti' },
          });
      }),
    );
  });
});

describe('an acknowledgement', () => {
  it('names attempt, record, count and every component, in any order [RP-288]', () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const set = setOf(evidence);
        const whole = ackOf(evidence);
        const turned = { ...whole, componentIds: whole.componentIds.toReversed() };
        expect(isAcknowledged(set, evidence, turned)).toBe(true);
        expect(isAcknowledged(set, { resultRecordId: null }, whole)).toBe(true);
        const [first = '', ...rest] = whole.componentIds;
        for (const broken of [
          { attemptId: `${evidence.attemptId}x` },
          { resultRecordId: `${evidence.resultRecordId ?? ''}x` },
          { count: whole.count + 1 },
          { count: whole.count - 1, componentIds: rest },
          { componentIds: rest },
          { componentIds: [...rest, `${first}x`] },
          { componentIds: [...whole.componentIds, first] },
        ])
          expect(isAcknowledged(set, evidence, { ...whole, ...broken })).toBe(false);
      }),
    );
  });
});
