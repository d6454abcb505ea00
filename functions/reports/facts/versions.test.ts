import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anExampleOf, attemptFacts, equivalenceFacts } from '#test/support/report-facts.ts';
import type { AttemptFacts, EquivalenceFacts } from './facts.ts';
import { disagreement, equivalenceDisagreement } from './versions.ts';

function ofAttempt({ evidence, record, criteria }: AttemptFacts): unknown {
  return disagreement(evidence.value, record.value, criteria.value);
}

/** A gate under criteria that both owners hold, changed by `change`. */
function changed(
  change: (facts: AttemptFacts) => void,
  kind: 'mastery_gate' | 'formative' = 'mastery_gate',
): unknown {
  const facts = anExampleOf(attemptFacts(fc.constant(kind)));
  facts.criteria.value.criteria = { criteriaVersion: 'criteria-4', required: 0.8 };
  facts.record.value.gate = {
    status: 'pass',
    criteriaVersion: 'criteria-4',
    achieved: 0.9,
    required: 0.8,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
  };
  change(facts);
  return ofAttempt(facts);
}

describe('the versions of an attempt’s sources', () => {
  it('agree when every owner answers the version that the attempt pins, whatever one of them does not hold', () => {
    fc.assert(
      fc.property(attemptFacts(), (facts) => {
        expect(ofAttempt(facts)).toBeUndefined();
      }),
    );
  });

  it('disagree at Results when it answers another record, or one under another test spec version', () => {
    expect(changed(({ record }) => (record.value.version += '+'))).toBe('results');
    expect(changed(({ record }) => (record.value.contentTestSpecVersion += '+'))).toBe('results');
    expect(changed(({ evidence }) => (evidence.value.resultRecordVersion = null))).toBe('results');
  });

  it('disagree at Content when it answers another test spec version', () => {
    expect(changed(({ criteria }) => (criteria.value.version += '+'))).toBe('content');
  });

  it('disagree at Results when it decided under other criteria than Content’s [RP-010, RP-101]', () => {
    expect(changed(({ record }) => (record.value.gate!.criteriaVersion = 'criteria-5'))).toBe('results');
    expect(changed(({ record }) => (record.value.gate!.required = 0.7))).toBe('results');
    expect(changed(({ criteria }) => (criteria.value.criteria!.required = 0))).toBe('results');
  });

  it('have no decision to disagree on where the kind shows none', () => {
    expect(changed(({ record }) => (record.value.gate!.required = 0.7), 'formative')).toBeUndefined();
  });
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
