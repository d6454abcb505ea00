import { describe, expect, it } from 'vitest';
import { selectionPolicy, type SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { calibrationParameters } from '#shared/records/records.ts';
import {
  KC_A,
  KC_B,
  KC_C,
  STANDARD_1,
  sampleParameters,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import { checkFeasibility } from './feasibility.ts';

/** Two items on each of three components, and one on the first two together. */
const parameters = calibrationParameters.parse({
  ...sampleParameters(),
  items: [
    ...[KC_A, KC_B, KC_C].flatMap((kc) =>
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
      kcs: [KC_A, KC_B],
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
    const coverageFloors = [floor(KC_A, 3), floor(KC_B, 3), floor(KC_C, 2)];
    expect(findings({ kcScope: [KC_A, KC_B, KC_C] }, { coverageFloors, maxItems: 7 })).toEqual([]);
  });

  const braille = { requiredAccessibility: ['braille'], contentConstraints: { [KC_B]: { maxItems: 0 } } };
  const withoutAny = { ...braille, excludedItems: [`${KC_A}/1`, `${KC_A}/2`] };
  const two = { requiredAccessibility: ['speech'], excludedItems: [`${KC_A}/2`, 'both'] };
  it.each<[rules: object, floors: readonly object[], found: string]>([
    [{}, [floor(KC_C, 3)], `2 items on ${KC_C} may be offered, of 2 in the calibration`],
    [
      { ...two, contentConstraints: { [KC_A]: { minItems: 2 } } },
      [],
      `1 item on ${KC_A} may be offered, of 3 in the calibration (1 without the required accessibility, 1 excluded)`,
    ],
    [
      withoutAny,
      [floor(KC_A, 1)],
      `no item on ${KC_A} may be offered, of 3 in the calibration (2 without the required accessibility, 1 excluded)`,
    ],
    [
      { contentConstraints: { [KC_A]: { minItems: 3 }, [KC_B]: { maxItems: 0 } } },
      [],
      `2 items on ${KC_A} may be offered, of 3 in the calibration (1 with a component that has maxItems 0)`,
    ],
    // Enough, but not together.
    [
      { enemySets: [[`${KC_C}/1`, `${KC_C}/2`]] },
      [floor(KC_C, 2)],
      `2 items on ${KC_C} may be offered, but enemy sets`,
    ],
  ])('counts what may be offered under %j, and says what bars the rest', (rules, coverageFloors, found) => {
    const place =
      coverageFloors.length === 0
        ? `eligibilityRules/contentConstraints/${KC_A}/minItems`
        : 'coverageFloors/0/minimumEvidenceItems';
    expect(findings(rules, { coverageFloors })).toEqual([
      expect.stringContaining(`/document/${place} cannot be met: ${found}`),
    ]);
  });

  it('names the minima that cannot be met in one run, and no others', () => {
    const coverageFloors = [floor(KC_A, 1), floor(KC_B, 2), floor(KC_C, 2)];
    // Five items serve the three; in four slots one of two on B must serve A as well, which is allowed.
    expect(findings({}, { coverageFloors, maxItems: 4 })).toEqual([]);
    expect(findings({ excludedItems: ['both'] }, { coverageFloors, maxItems: 4 })).toEqual([
      `/document/coverageFloors/2/minimumEvidenceItems cannot be met in the same run as the minima of ${KC_A}, ${KC_B}, with maxItems 4`,
    ]);
    expect(
      findings(
        { contentConstraints: { [KC_B]: { maxItems: 2 } } },
        { coverageFloors: [floor(KC_A, 3), floor(KC_B, 2), floor(KC_C, 2)], maxItems: 5 },
      ),
    ).toEqual([
      `/document/coverageFloors/2/minimumEvidenceItems cannot be met in the same run as the minima of ${KC_A}, ${KC_B}, with maxItems 5`,
    ]);
  });

  it('lists all findings, scope included', () => {
    expect(
      findings(
        { kcScope: [KC_A, 'kc-x', KC_C], excludedItems: [`${KC_C}/1`, `${KC_C}/2`] },
        { coverageFloors: [floor(KC_A, 4), floor(KC_C, 1)] },
      ),
    ).toEqual([
      '/document/eligibilityRules/kcScope/1 is no component of the calibration',
      '/document/eligibilityRules/kcScope/2 can never be classified: accessibility and exclusions bar all of its items',
      expect.stringMatching(/^\/document\/coverageFloors\/0\/minimumEvidenceItems cannot be met: 3 items/),
      expect.stringMatching(/^\/document\/coverageFloors\/1\/minimumEvidenceItems cannot be met: no item/),
    ]);
  });

  it('says which component of the scope no item measures', () => {
    const unmeasured = { ...parameters, items: parameters.items.filter(({ kcs }) => !kcs.includes(KC_C)) };
    const { defects } = checkFeasibility(policy({ kcScope: [KC_C] }), unmeasured);
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
        { contentConstraints: { [STANDARD_1]: { minItems: 4 }, 'standard-2': { minItems: 0, maxItems: 1 } } },
        { coverageFloors: [floor(KC_A, 1), floor('standard-3', 2)] },
      ),
      parameters,
    );
    expect(defects).toEqual([]);
    expect(unchecked).toEqual([
      expect.stringMatching(
        /^\/document\/coverageFloors\/1\/minimumEvidenceItems: standard-3 is no component/,
      ),
      expect.stringMatching(
        new RegExp(`^/document/eligibilityRules/contentConstraints/${STANDARD_1}/minItems: ${STANDARD_1}`),
      ),
    ]);
  });
});
