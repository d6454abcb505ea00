import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptFacts, equivalenceFacts } from '#test/support/report-facts.ts';
import type { EquivalenceFacts } from './facts.ts';
import { disagreement, equivalenceDisagreement } from './versions.ts';

// What becomes of an attempt whose owners hold different versions: test/lemmas/contradictions.contract.test.ts.

it('the versions of an attempt’s sources agree when every owner answers the version that the attempt pins, whatever one of them does not hold', () => {
  fc.assert(
    fc.property(attemptFacts(), ({ evidence, record, criteria }) => {
      expect(disagreement(evidence.value, record.value, criteria.value)).toBeUndefined();
    }),
  );
});

describe('the versions of an equivalence’s sources', () => {
  it('agree when all speak of the form’s test spec and of the same forms, in any order', () => {
    fc.assert(
      fc.property(equivalenceFacts, (facts) => {
        expect(equivalenceDisagreement(facts)).toBeUndefined();
      }),
    );
  });

  const changes: Record<string, [string, (facts: EquivalenceFacts) => void]> = {
    'the analysis of another test spec': [
      'analytics',
      ({ equivalence }) => (equivalence.value.contentTestSpecId += '+'),
    ],
    'the analysis of another version': [
      'analytics',
      ({ equivalence }) => (equivalence.value.contentTestSpecVersion += '+'),
    ],
    'criteria of another test spec': ['content', ({ criteria }) => (criteria.value.testSpecId += '+')],
    'criteria of another version': ['content', ({ criteria }) => (criteria.value.version += '+')],
    'form evidence of another test spec': [
      'blueprint',
      ({ formEvidence }) => (formEvidence.value.testSpecId += '+'),
    ],
    'form evidence of another version': [
      'blueprint',
      ({ formEvidence }) => (formEvidence.value.testSpecVersion += '+'),
    ],
    'a form that only Analytics compared': [
      'analytics',
      ({ equivalence }) => equivalence.value.comparisonQtiTestIds.push('form +'),
    ],
    'a form that only the blueprint names': [
      'analytics',
      ({ formEvidence }) => formEvidence.value.comparisonQtiTestIds.push('form +'),
    ],
    'another form in the place of one': [
      'analytics',
      ({ formEvidence }) => (formEvidence.value.comparisonQtiTestIds[0] = 'form +'),
    ],
  };

  it.each(Object.entries(changes))('disagree on %s', (_, [owner, change]) => {
    fc.assert(
      fc.property(equivalenceFacts, (facts) => {
        const other = structuredClone(facts);
        change(other);
        expect(equivalenceDisagreement(other)).toBe(owner);
      }),
      { numRuns: 20 },
    );
  });
});
