import { describe, expect, it } from 'vitest';
import { mutableAliases } from '#shared/contract/mastery/primitives.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import type { Result } from '#shared/kernel/result.ts';
import {
  sampleAnalysisPolicyFile,
  sampleCalibrationFile,
  samplePolicyFile,
} from '#test/support/sample-files.ts';
import { checkAnalysisPolicy } from './check-analysis-policy.ts';
import { checkCalibration } from './check-calibration.ts';
import { checkPolicy } from './check-policy.ts';

// What the files of all records have in common.

interface Kind {
  readonly kind: string;
  readonly sample: typeof samplePolicyFile;
  readonly check: (
    file: unknown,
  ) => Result<{ readonly document: { readonly checksum: string } }, readonly Defect[]>;
}
const kinds: readonly Kind[] = [
  { kind: 'a selection policy', sample: samplePolicyFile, check: checkPolicy },
  {
    kind: 'a calibration',
    sample: sampleCalibrationFile,
    check: (file) => checkCalibration(file, () => []),
  },
  { kind: 'an analysis policy', sample: sampleAnalysisPolicyFile, check: checkAnalysisPolicy },
];

describe.each(kinds)('the file of $kind', ({ sample, check }) => {
  const defectsOf = (file: unknown): readonly string[] => {
    const checked = check(file);
    return checked.ok ? [] : checked.error.map(({ pointer, message }) => `${pointer} ${message}`);
  };
  /** Where a sample is refused after a change. */
  const pointersOf = (
    document: Readonly<Record<string, unknown>>,
    rest: Readonly<Record<string, unknown>> = {},
  ): readonly string[] => defectsOf(sample(document, rest)).map((line) => line.replace(/ .*/, ''));

  it('has the checksum of its document without the checksum, and no other [MA-115, MA-122]', () => {
    const computed = hashCanonical(sample()['document']);
    expect(check(sample())).toMatchObject({ ok: true, value: { document: { checksum: computed } } });
    expect(pointersOf({ checksum: computed })).toEqual([]);
    expect(defectsOf(sample({ checksum: '0'.repeat(64) }))).toEqual([
      `/document/checksum is not the document's checksum, which is ${computed}`,
    ]);
  });

  it('has an id that does not move and that a key and a path can hold [MA-051]', () => {
    for (const id of ['latest-2026.1', 'current-events-3', 'relatest', 'a/b', 'ß'])
      expect(pointersOf({ id }), id).toEqual([]);
    const aliases = [...mutableAliases, 'LATEST', 'Default', 'x@latest', 'x:current', 'a/stable', 'head'];
    for (const id of [...aliases, '.', '..', 'ß'.repeat(1024)])
      expect([...new Set(pointersOf({ id }))], id).toEqual(['/document/id']);
  });

  it('names the owner of a tenant record, and none of a system record [MA-104]', () => {
    expect(pointersOf({ visibility: 'tenant' })).toEqual(['/tenantId']);
    expect(pointersOf({ visibility: 'tenant' }, { tenantId: 'tenant-1' })).toEqual([]);
    expect(pointersOf({ visibility: 'system' }, { tenantId: 'tenant-1' })).toEqual(['/tenantId']);
  });

  it('has no sunset before its deprecation, and none without [MA-050]', () => {
    const deprecatedAt = '2026-06-01T00:00:00Z';
    expect(pointersOf({}, { deprecatedAt, sunsetAt: '2026-05-31T23:59:59Z' })).toEqual(['/sunsetAt']);
    expect(pointersOf({}, { deprecatedAt, sunsetAt: deprecatedAt })).toEqual([]);
    expect(pointersOf({}, { sunsetAt: deprecatedAt })).toEqual(['/sunsetAt']);
  });

  it('has defects, never an exception, whatever JSON it is', () => {
    const odd = [undefined, null, 7, 'x', [], {}, { document: { triggers: {} } }];
    for (const file of odd) expect(defectsOf(file).length, JSON.stringify(file)).toBeGreaterThan(0);
  });
});
