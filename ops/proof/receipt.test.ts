import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { sampleProof } from '#test/support/proof-receipt.ts';
import { claimsToBeProof, proofFault, readProof, receiptBytes, type ProofReceipt } from './receipt.ts';

const faultOf = (receipt: ProofReceipt): string | undefined => {
  const read = readProof(receiptBytes(receipt));
  return read.ok ? undefined : read.error;
};
/** A sound receipt without the checks whose id has a part in it. */
const without = (part: string): ProofReceipt =>
  sampleProof({ checks: sampleProof().checks.filter(({ id }) => !id.includes(part)) });

describe('a receipt of the proof', () => {
  it('is read back from its bytes, which are canonical [RP-024]', () => {
    const receipt = sampleProof();
    expect(readProof(receiptBytes(receipt))).toEqual(ok(receipt));
    expect(faultOf(receipt)).toBeUndefined();
    const spaced = Buffer.from(JSON.stringify(receipt, null, 2));
    expect(claimsToBeProof(spaced)).toBe(true);
    expect(readProof(spaced)).toMatchObject(err(expect.stringContaining('canonical')));
    expect(readProof(Buffer.from('{"kind"'))).toEqual(err('is not valid JSON (malformed)'));
  });

  it('covers every open route, and all kinds in all views under both tenants [RP-024]', () => {
    for (const [part, said] of [
      ['anonymous.', 'anonymous callers of readAttemptReport'],
      ['denial.readAttemptReport.formative.A-B', 'the denial of readAttemptReport from A to B'],
      ['cache.readAttemptReport.formative.B-A', 'the cache of readAttemptReport from B to A'],
      ['trace.', 'the trace of readAttemptReport from A to B'],
      ['matrix.adaptive_diagnostic.evidence.B', 'adaptive_diagnostic in the view evidence under B'],
    ] as const)
      expect([part, faultOf(without(part))]).toEqual([part, `has no passed check of ${said}`]);
    const opened = sampleProof({ routes: sampleProof().routes.map((route) => ({ ...route, open: true })) });
    expect(faultOf(opened)).toBe('has no passed check of anonymous callers of readEquivalence');
  });

  it('contradicts itself in nothing', () => {
    const { checks, tenants, digests } = sampleProof();
    const [first, ...rest] = checks;
    expect(faultOf({ ...sampleProof(), digests: { ...digests, checks: 'f'.repeat(64) } })).toBe(
      'contains checks that do not match their digest',
    );
    expect(faultOf(sampleProof({ checks: [...checks, first!] }))).toBe('contains a check twice');
    expect(faultOf(sampleProof({ checks: [{ ...first!, why: 'because' }, ...rest] }))).toMatch(
      /^contains a passed check with a reason/,
    );
    expect(faultOf(sampleProof({ tenants: [tenants[0], { ...tenants[0], side: 'B' }] }))).toBe(
      'is not about two tenants',
    );
    expect(faultOf(sampleProof({ finishedAt: '2029-12-01T09:00:00.000Z' }))).toBe('ended before it started');
    expect(faultOf(sampleProof({ marks: ['it is on the loopback interface'] }))).toMatch(
      /^has the marks of a rehearsal/,
    );
    const failed = sampleProof({ checks: [{ ...first!, result: 'failed' as never }, ...rest] });
    expect(faultOf(failed)).toMatch(/^is not a proof of this version: \/checks\/0\/result /);
  });

  it('is no receipt when its bytes are something else', () => {
    for (const bytes of ['', 'proof', '[]', 'null', '{"kind":"other"}', '\u0000'])
      expect(claimsToBeProof(Buffer.from(bytes))).toBe(false);
  });
});

describe('what a receipt proves in a manifest', () => {
  const fault = (receipt: ProofReceipt, proves = 'D', rehearsal = false) =>
    proofFault(receiptBytes(receipt), proves, rehearsal);
  const rehearsed = sampleProof({ rehearsal: true, marks: ['it is on the loopback interface'] });

  it('is gate D, by the reports service, and not by a rehearsal unless the manifest is one [RP-024, RP-032]', () => {
    expect(fault(sampleProof())).toBeUndefined();
    expect(fault(rehearsed)).toBe('is a rehearsal, which only a rehearsal manifest may contain');
    expect(fault(rehearsed, 'D', true)).toBeUndefined();
    expect(fault(sampleProof(), 'C')).toBe('is a two-tenant proof, which proves gate D and not C');
    expect(fault(sampleProof({ service: 'mastery' }))).toBe(
      'is a proof of the mastery engine, which opens no gate',
    );
    expect(fault(without('matrix.formative'))).toMatch(/^has no passed check of formative /);
  });
});
