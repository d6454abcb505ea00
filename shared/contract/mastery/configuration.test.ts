import { describe, expect, it } from 'vitest';
import { readScaleCalibration, readSelectionPolicy } from './routes.ts';

const policy = readSelectionPolicy.success;
const calibration = readScaleCalibration.success;

describe('a selection policy', () => {
  it('has the one algorithm of version 1 [MA-106]', () => {
    for (const algorithm of ['random', 'CONSTRAINED_INFORMATION_GAIN', '', null, undefined])
      expect(policy.schema.safeParse({ ...policy.example, algorithm }).success).toBe(false);
    expect(policy.schema.safeParse(policy.example).success).toBe(true);
  });

  it.each(['kcCutScore', 'confidenceThreshold'])('has a probability as %s [MA-107]', (name) => {
    for (const value of [0, 0.5, 1])
      expect(policy.schema.safeParse({ ...policy.example, [name]: value }).success).toBe(true);
    for (const value of [-0.001, 1.001, NaN, Infinity, '0.5', null, undefined])
      expect(policy.schema.safeParse({ ...policy.example, [name]: value }).success).toBe(false);
  });
});

describe.each([
  ['a selection policy', policy],
  ['a scale calibration', calibration],
] as const)('%s', (_, { schema, example }) => {
  it('has a checksum of 64 lower-case hexadecimal characters [MA-043]', () => {
    const hash = '0123456789abcdef'.repeat(4);
    expect(schema.safeParse({ ...example, checksum: hash }).success).toBe(true);
    for (const checksum of [hash.toUpperCase(), hash.slice(1), `${hash}0`, `g${hash.slice(1)}`, '', null])
      expect(schema.safeParse({ ...example, checksum }).success).toBe(false);
  });
});

describe('a scale calibration', () => {
  it('tolerates an error of nothing or more in recovery [MA-121]', () => {
    for (const recoveryTolerance of [0, 0.25, 1_000])
      expect(calibration.schema.safeParse({ ...calibration.example, recoveryTolerance }).success).toBe(true);
    for (const recoveryTolerance of [-0.001, NaN, Infinity, '25', null, undefined])
      expect(calibration.schema.safeParse({ ...calibration.example, recoveryTolerance }).success).toBe(false);
  });
});
