import { describe, expect, it } from 'vitest';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { checkCalibration, type ModelCheck } from './check-calibration.ts';
import { calibrationParameters } from './records.ts';
import { FRAMEWORK_1, sampleCalibrationFile, sampleParameters } from '#test/support/sample-files.ts';

const compiles: ModelCheck = () => [];

function pointersOf(
  document: Record<string, unknown>,
  rest: Record<string, unknown> = {},
  checkModel = compiles,
): readonly string[] {
  const checked = checkCalibration(sampleCalibrationFile(document, rest), checkModel);
  return checked.ok ? [] : checked.error.map((defect) => defect.pointer);
}

describe('checkCalibration', () => {
  it('computes the checksum over the public descriptor alone, and a hash of the parameters of their own [MA-122]', () => {
    const file = sampleCalibrationFile();
    const checked = checkCalibration(file, compiles);
    expect(checked.ok && checked.value.document.checksum).toBe(hashCanonical(file['document']));
    expect(checked.ok && checked.value.parametersHash).toBe(hashCanonical(file['parameters']));
    expect(pointersOf({}, { parametersHash: '0'.repeat(64) })).toEqual(['/parametersHash']);
    const other = { ...sampleParameters(), scale: [1, 2, 3] };
    const changed = checkCalibration(sampleCalibrationFile({}, { parameters: other }), compiles);
    expect(changed.ok && changed.value.document.checksum).toBe(checked.ok && checked.value.document.checksum);
    expect(changed.ok && changed.value.parametersHash).not.toBe(checked.ok && checked.value.parametersHash);
  });

  it('reports the model compiler’s defects inside the file, beside all others', () => {
    const defect: ModelCheck = () => [{ pointer: '/items/1/probabilities', message: 'is not monotone' }];
    expect(pointersOf({ validUntil: '2020-01-01T00:00:00Z' }, {}, defect)).toEqual([
      '/document/validUntil',
      '/parameters/items/1/probabilities',
    ]);
  });

  it('does not hand malformed parameters to the model compiler', () => {
    const forbidden: ModelCheck = () => {
      throw new Error('called');
    };
    expect(pointersOf({}, { parameters: {} }, forbidden)).toContain('/parameters/theta');
  });

  it('holds the parameters to the bounds that the model compiler counts on', () => {
    const { theta, kcs, items } = calibrationParameters.parse(sampleParameters());
    const [kc, item] = [kcs[0]!, items[0]!];
    const support = { learners: 500, bicGain: 10 };
    for (const [spoilt, pointer] of [
      ...[2, 402, 3.5].map((nodes) => [{ theta: { ...theta, nodes } }, 'theta/nodes'] as const),
      [{ theta: { ...theta, sd: 0 } }, 'theta/sd'],
      [{ theta: { ...theta, min: NaN } }, 'theta/min'],
      [{ kcs: [] }, 'kcs'],
      [{ kcs: [{ ...kc, slope: 0 }, ...kcs.slice(1)] }, 'kcs/0/slope'],
      [{ kcs: [{ ...kc, location: Infinity }, ...kcs.slice(1)] }, 'kcs/0/location'],
      ...[
        [{ form: 'strand', kcs: ['a', 'b'], correlation: 0.5 }, 'kcs'],
        [{ form: 'strand', kcs: ['a', 'b', 'c'], correlation: 1 }, 'correlation'],
        [{ form: 'table', kcs: Array.from('abcdefg'), probabilities: [] }, 'kcs'],
        [{ form: 'table', kcs: ['a', 'b'], probabilities: [[-1]] }, 'probabilities/0/0'],
        [{ form: 'saturated', kcs: ['a', 'b'], slope: 0, weights: [1], support }, 'slope'],
        [{ form: 'saturated', kcs: ['a', 'b'], slope: 1, weights: [-1], support }, 'weights/0'],
        [{ form: 'saturated', kcs: Array.from('abcdef'), slope: 1, weights: [1], support }, 'kcs'],
        [{ form: 'hierarchy', kcs: ['a', 'b'], prerequisites: [] }, 'support'],
        [{ form: 'hierarchy', kcs: ['a'], prerequisites: [], support }, 'kcs'],
      ].map((spoilt) => [{ blocks: [spoilt[0]] }, `blocks/0/${spoilt[1] as string}`] as const),
      [{ items: [] }, 'items'],
      [{ items: [{ ...item, kcs: [] }] }, 'items/0/kcs'],
      ...[0, 1].map(
        (p) => [{ items: [{ ...item, probabilities: [p] }] }, 'items/0/probabilities/0'] as const,
      ),
      [{ scale: [1, NaN, 3] }, 'scale/1'],
    ] as const)
      expect(pointersOf({}, { parameters: { ...sampleParameters(), ...spoilt } })).toEqual([
        `/parameters/${pointer}`,
      ]);
  });

  it('demands a validity that ends after it began [MA-101]', () => {
    const at = '2026-01-01T00:00:00Z';
    expect(pointersOf({ validFrom: at, validUntil: at })).toEqual(['/document/validUntil']);
    expect(pointersOf({ validFrom: at, validUntil: '2026-01-01T00:00:00.001Z' })).toEqual([]);
  });

  // In which forms such a claim is made and denied: rank-claims.property.test.ts.
  it('refuses a limitation that claims a place among others, each for itself [MA-102]', () => {
    const denial = 'Comparable within this scale only; not a percentile or a rank.';
    expect(pointersOf({ limitations: [denial] })).toEqual([]);
    expect(pointersOf({ limitations: [denial, 'Not for grade 3. Percentiles hold for grade 4.'] })).toEqual([
      '/document/limitations/1',
    ]);
  });

  it('refuses such a claim in a label too [MA-102]', () => {
    const anchor = { source: 'r90', version: '1', checksum: 'ab'.repeat(32), licenseScope: 'NCE scores' };
    const labels = { scaleId: 'national_percentile', subject: 'Reading (norm-referenced)' };
    expect(pointersOf({ ...labels, gradeCoverage: ['Top 10% of 03'], anchor })).toEqual([
      ...['/document/gradeCoverage/0', '/document/scaleId', '/document/subject'],
      '/document/anchor/licenseScope',
    ]);
  });

  it('demands a limitation [MA-102]', () => {
    expect(pointersOf({ limitations: [] })).toEqual(['/document/limitations']);
  });

  it.each([
    [{ modelFamily: 'irt' }],
    [{ modelVersion: 'ho-cdm-grid/2' }],
    [{ runtimeVersion: 'ho-cdm-grid-2' }],
  ])('refuses a model or runtime that this build does not hold: %j', (pins) => {
    expect(pointersOf(pins)).toEqual(['/document/runtimeVersion']);
  });

  it('refuses mutable names wherever a version is pinned [MA-052]', () => {
    const anchor = { source: 'r90', version: 'latest', checksum: 'ab'.repeat(32), licenseScope: 'classroom' };
    expect(
      pointersOf({ id: 'latest', scaleId: 'vertical/latest', caseMappingVersion: 'current', anchor }),
    ).toEqual([
      '/document/id',
      '/document/scaleId',
      '/document/caseMappingVersion',
      '/document/anchor/version',
    ]);
  });

  it.each(['source', 'version', 'checksum', 'licenseScope'])('demands the anchor’s %s [MA-119]', (name) => {
    const anchor: Record<string, unknown> = {
      source: 'r90',
      version: '90.1',
      checksum: 'ab'.repeat(32),
      licenseScope: 'classroom',
    };
    expect(pointersOf({ anchor: { ...anchor, [name]: null } })).toEqual([`/document/anchor/${name}`]);
    expect(pointersOf({ anchor: { ...anchor, [name]: '' } })).toEqual([`/document/anchor/${name}`]);
  });

  it.each([0, 16, 2.5])('refuses %d significant digits [MA-117]', (numericPrecision) => {
    expect(pointersOf({ numericPrecision })).toEqual(['/document/numericPrecision']);
  });

  it('demands distinct grades in ascending order [MA-118]', () => {
    expect(pointersOf({ gradeCoverage: ['05', '04'] })).toEqual(['/document/gradeCoverage/1']);
    expect(pointersOf({ gradeCoverage: ['04', '04'] })).toEqual(['/document/gradeCoverage/1']);
    expect(pointersOf({ gradeCoverage: ['KG', '01', '10'] })).toEqual([]);
    expect(pointersOf({ gradeCoverage: [] })).toEqual(['/document/gradeCoverage']);
  });

  it('refuses two knowledge components with one CASE item, and repeated accessibility tags', () => {
    const parameters = sampleParameters();
    const kcs = parameters['kcs'] as Record<string, unknown>[];
    const items = parameters['items'] as Record<string, unknown>[];
    kcs[2]!['uri'] = kcs[0]!['uri'];
    items[1]!['accessibility'] = ['braille', 'braille'];
    expect(pointersOf({}, { parameters })).toEqual([
      '/parameters/kcs/2/uri',
      '/parameters/items/1/accessibility/1',
    ]);
  });

  it('refuses a block of structure that the answers of its fit do not support', () => {
    const parameters = calibrationParameters.parse(sampleParameters());
    const kcs = parameters.kcs.map(({ guid }) => guid).slice(0, 2);
    const fitted = (bicGain: number) => ({
      parameters: {
        ...parameters,
        blocks: [
          {
            form: 'hierarchy',
            kcs,
            prerequisites: [[], kcs.slice(0, 1)],
            support: { learners: 500, bicGain },
          },
        ],
      },
    });
    expect(pointersOf({}, fitted(0))).toEqual(['/parameters/blocks/0/support/bicGain']);
    expect(pointersOf({}, fitted(0.5))).toEqual([]);
  });

  // Which form that is: check-policy.test.ts.
  it('refuses GUIDs that are not in their one form: of the framework, the components and an item [MA-026]', () => {
    const parameters = calibrationParameters.parse(sampleParameters());
    const [first, second, third] = parameters.kcs;
    const item = parameters.items[1]!;
    const spoilt = {
      ...parameters,
      kcs: [{ ...first!, guid: first!.guid.toUpperCase() }, third!, second!],
      items: parameters.items.with(1, { ...item, kcs: item.kcs.toReversed() }),
    };
    expect(pointersOf({ caseFrameworkGuid: FRAMEWORK_1.toUpperCase() }, { parameters: spoilt })).toEqual([
      '/document/caseFrameworkGuid',
      '/parameters/kcs/0/guid',
      '/parameters/kcs/2/guid',
      '/parameters/items/1/kcs/1',
    ]);
  });
});
