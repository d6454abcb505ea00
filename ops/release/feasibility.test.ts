import { describe, expect, it } from 'vitest';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { calibrationParameters } from '#shared/records/records.ts';
import { sampleParameters, samplePolicyFile } from '#test/support/sample-files.ts';
import { checkFeasibility } from './feasibility.ts';

/** Two items on each of three components, and one on the first two together. */
const parameters = calibrationParameters.parse({
  ...sampleParameters(),
  items: [
    ...['kc-a', 'kc-b', 'kc-c'].flatMap((kc) =>
      [1, 2].map((n) => ({
        artifactVersionId: `${kc}@${n}`,
        qtiIdentifier: `${kc}/${n}`,
        kcs: [kc],
        probabilities: [0.2, 0.9],
        accessibility: n === 1 ? ['speech'] : ['speech', 'braille'],
      })),
    ),
    {
      artifactVersionId: 'both@1',
      qtiIdentifier: 'both',
      kcs: ['kc-a', 'kc-b'],
      probabilities: [0.2, 0.2, 0.2, 0.9],
    },
  ],
});

function policy(rules: object, document: object = {}): SelectionPolicy {
  const file = samplePolicyFile({ coverageFloors: [], ...document, eligibilityRules: rules });
  return selectionPolicy.parse({ ...(file['document'] as object), checksum: '0'.repeat(64) });
}

const floor = (caseCompetencyGuid: string, minimumEvidenceItems: number): object => ({
  caseCompetencyGuid,
  minimumEvidenceItems,
});

function findings(rules: object, document: object = {}): readonly string[] {
  const { defects } = checkFeasibility(policy(rules, document), parameters);
  return defects.map(({ pointer, message }) => `${pointer} ${message}`);
}

describe('a policy against the items of a calibration', () => {
  it('finds nothing where everything can be met, to the last item', () => {
    const coverageFloors = [floor('kc-a', 3), floor('kc-b', 3), floor('kc-c', 2)];
    expect(findings({ kcScope: ['kc-a', 'kc-b', 'kc-c'] }, { coverageFloors, maxItems: 7 })).toEqual([]);
  });

  it('counts what may be offered, and says what bars the rest', () => {
    expect(findings({}, { coverageFloors: [floor('kc-c', 3)] })).toEqual([
      '/document/coverageFloors/0/minimumEvidenceItems cannot be met: 2 items on kc-c may be offered, of 2 in the calibration',
    ]);
    expect(
      findings({
        requiredAccessibility: ['speech'],
        excludedItems: ['kc-a/2', 'both'],
        contentConstraints: { 'kc-a': { minItems: 2 } },
      }),
    ).toEqual([
      '/document/eligibilityRules/contentConstraints/kc-a/minItems cannot be met: 1 item on kc-a may be offered, of 3 in the calibration (1 without the required accessibility, 1 excluded)',
    ]);
    expect(
      findings(
        {
          requiredAccessibility: ['braille'],
          contentConstraints: { 'kc-b': { maxItems: 0 } },
          excludedItems: ['kc-a/1', 'kc-a/2'],
        },
        { coverageFloors: [floor('kc-a', 1)] },
      ),
    ).toEqual([
      '/document/coverageFloors/0/minimumEvidenceItems cannot be met: no item on kc-a may be offered, of 3 in the calibration (2 without the required accessibility, 1 excluded)',
    ]);
    expect(findings({ contentConstraints: { 'kc-a': { minItems: 3 }, 'kc-b': { maxItems: 0 } } })).toEqual([
      '/document/eligibilityRules/contentConstraints/kc-a/minItems cannot be met: 2 items on kc-a may be offered, of 3 in the calibration (1 with a component that has maxItems 0)',
    ]);
  });

  it('sees items that are enough, but not together', () => {
    expect(findings({ enemySets: [['kc-c/1', 'kc-c/2']] }, { coverageFloors: [floor('kc-c', 2)] })).toEqual([
      expect.stringMatching(/^\/document\/coverageFloors\/0\/\S+ cannot be met: 2 items on kc-c may/),
    ]);
  });

  it('names the minima that cannot be met in one run, and no others', () => {
    const coverageFloors = [floor('kc-a', 1), floor('kc-b', 2), floor('kc-c', 2)];
    // Five items serve the three; in four slots one of two on kc-b must serve kc-a as well, which is allowed.
    expect(findings({}, { coverageFloors, maxItems: 4 })).toEqual([]);
    expect(findings({ excludedItems: ['both'] }, { coverageFloors, maxItems: 4 })).toEqual([
      '/document/coverageFloors/2/minimumEvidenceItems cannot be met in the same run as the minima of kc-a, kc-b, with maxItems 4',
    ]);
    expect(
      findings(
        { contentConstraints: { 'kc-b': { maxItems: 2 } } },
        { coverageFloors: [floor('kc-a', 3), floor('kc-b', 2), floor('kc-c', 2)], maxItems: 5 },
      ),
    ).toEqual([
      '/document/coverageFloors/2/minimumEvidenceItems cannot be met in the same run as the minima of kc-a, kc-b, with maxItems 5',
    ]);
  });

  it('lists all findings, scope included', () => {
    expect(
      findings(
        { kcScope: ['kc-a', 'kc-x', 'kc-c'], excludedItems: ['kc-c/1', 'kc-c/2'] },
        { coverageFloors: [floor('kc-a', 4), floor('kc-c', 1)] },
      ),
    ).toEqual([
      '/document/eligibilityRules/kcScope/1 is no component of the calibration',
      '/document/eligibilityRules/kcScope/2 can never be classified: accessibility and exclusions bar all of its items',
      expect.stringMatching(/^\/document\/coverageFloors\/0\/minimumEvidenceItems cannot be met: 3 items/),
      expect.stringMatching(/^\/document\/coverageFloors\/1\/minimumEvidenceItems cannot be met: no item/),
    ]);
  });

  it('says which component of the scope no item measures', () => {
    const unmeasured = { ...parameters, items: parameters.items.filter(({ kcs }) => !kcs.includes('kc-c')) };
    const { defects } = checkFeasibility(policy({ kcScope: ['kc-c'] }), unmeasured);
    expect(defects).toEqual([
      {
        pointer: '/document/eligibilityRules/kcScope/0',
        message: 'is measured by no item of the calibration',
      },
    ]);
  });

  it('does not judge demands on standards, whose items only a pool knows', () => {
    const { defects, unchecked } = checkFeasibility(
      policy(
        { contentConstraints: { 'standard-1': { minItems: 4 }, 'standard-2': { minItems: 0, maxItems: 1 } } },
        { coverageFloors: [floor('kc-a', 1), floor('standard-3', 2)] },
      ),
      parameters,
    );
    expect(defects).toEqual([]);
    expect(unchecked).toEqual([
      expect.stringMatching(
        /^\/document\/coverageFloors\/1\/minimumEvidenceItems: standard-3 is no component/,
      ),
      expect.stringMatching(
        /^\/document\/eligibilityRules\/contentConstraints\/standard-1\/minItems: standard-1/,
      ),
    ]);
  });
});
