import { expect, it } from 'vitest';
import type { EquivalenceFacts } from './facts.ts';
import { equivalenceDisagreement } from './versions.ts';

const ofForm = { contentTestSpecId: 'spec', contentTestSpecVersion: '1' };
const ofSpec = { testSpecId: 'spec', version: '1', testSpecVersion: '1', comparisonQtiTestIds: [] };

// An owner that answers another version than it was asked for; everything else: test/lemmas/contradictions.
it.each([
  [{}, undefined],
  [{ formEvidence: { testSpecVersion: '2' } }, 'blueprint'],
  [{ formEvidence: { testSpecId: 'other' } }, 'blueprint'],
  [{ criteria: { version: '2' } }, 'content'],
  [{ criteria: { testSpecId: 'other' } }, 'content'],
])('owners that speak of one form, but for %j, are apart: %s [RP-028]', (changes, owner) => {
  const { criteria, formEvidence } = { criteria: {}, formEvidence: {}, ...changes };
  const facts = {
    form: { value: ofForm },
    equivalence: { value: { ...ofForm, comparisonQtiTestIds: [] } },
    criteria: { value: { ...ofSpec, ...criteria } },
    formEvidence: { value: { ...ofSpec, ...formEvidence } },
  };
  // SAFETY: all that it looks at.
  expect(equivalenceDisagreement(facts as unknown as EquivalenceFacts)).toBe(owner);
});
