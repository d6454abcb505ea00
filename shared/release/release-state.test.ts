import { describe, expect, it } from 'vitest';
import type { Gate, Provable } from '#shared/contract/gates.ts';
import { listCandidateReports, materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import { closed, flagsOf, isReleased } from './release-state.ts';

const release = (open: readonly Gate[], proved: readonly Provable[] = []) => ({
  open: new Set(open),
  proved: new Set(proved),
});

describe('isReleased', () => {
  it('needs every gate of the row [RP-020, RP-021]', () => {
    expect(isReleased({ gates: [] }, closed)).toBe(true);
    for (const open of [[], ['B', 'C'], ['B', 'D'], ['A', 'C', 'D', 'F']] as const)
      expect(isReleased(materializeAttemptReport, release(open))).toBe(false);
    expect(isReleased(materializeAttemptReport, release(['B', 'C', 'D']))).toBe(true);
  });

  it('keeps the candidate list closed under C and D until the candidate/attempt index is proved [RP-023]', () => {
    expect(isReleased(listCandidateReports, release(['C', 'D'], ['C', 'D']))).toBe(false);
    expect(isReleased(listCandidateReports, release(['C', 'D'], ['candidate_attempt_index']))).toBe(true);
    expect(isReleased(listCandidateReports, release(['D'], ['C', 'candidate_attempt_index']))).toBe(false);
  });
});

describe('flagsOf', () => {
  it('takes for open what is plainly open, and no other name for a gate', () => {
    expect(flagsOf({ A: 'open', B: 'OPEN', C: '', D: undefined, G: 'open', a: 'open' })).toStrictEqual({
      A: 'open',
      B: 'closed',
      C: 'closed',
    });
  });
});
